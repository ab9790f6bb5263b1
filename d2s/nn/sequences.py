"""What is done with sequences of various lengths, and with beams of them.

>>> sequence_mask(d2s.to_tensor([1, 3])).tolist()
[[1, 0, 0], [1, 1, 1]]
"""

from typing import Any

from d2s.errors import ArgumentError, DTypeError, ShapeError
from d2s.ops.along_axis import take_along_axis
from d2s.ops.compare import cast, less_than
from d2s.ops.create import arange
from d2s.ops.dispatch import current
from d2s.ops.found import finds_extents, number
from d2s.ops.join import stack
from d2s.ops.open_shapes import as_extent
from d2s.ops.reduce import max
from d2s.ops.shape import unsqueeze
from d2s.ops.shapes import tensor_type, whole_number
from d2s.ops.slicing import unbind


def sequence_mask(x: Any, maxlen: Any = None, dtype: Any = "int64", name: str | None = None) -> Any:
    """1 at the steps of each sequence, by its length; so many steps, or as many as the longest has.

    >>> d2s.nn.functional.sequence_mask(d2s.to_tensor([2]), 3, "bool").tolist()
    [[True, True, False]]
    """
    held = tensor_type(x, "sequence_mask", "x")
    if held.dtype.kind != "i":
        raise DTypeError("D2S0003", f"sequence_mask(): 'x' is {held.dtype.name}, expected whole numbers")
    return cast(less_than(arange(_steps(x, maxlen)), unsqueeze(cast(x, "int64"), -1)), dtype)


def _steps(x: Any, maxlen: Any) -> Any:
    """How many there are; where a run finds that, a number of run time."""
    if finds_extents() and (maxlen is None or current().type_of(maxlen) is not None):
        return as_extent(number(max(x) if maxlen is None else maxlen), "sequence_mask", 0)
    steps = int(max(x).item()) if maxlen is None else whole_number(maxlen, "sequence_mask", "maxlen")
    if steps < 0:
        raise ArgumentError("D2S0004", f"sequence_mask(): 'maxlen' is {steps}, expected 0 or more")
    return steps


def gather_tree(ids: Any, parents: Any) -> Any:
    """The beams of a search [steps, batch, beams], read back from their ends: by whom each step came to be.

    >>> ids, parents = d2s.to_tensor([[[1, 2]], [[3, 4]]]), d2s.to_tensor([[[0, 0]], [[1, 0]]])
    >>> d2s.nn.functional.gather_tree(ids, parents).tolist()
    [[[2, 1]], [[3, 4]]]
    """
    first, second = tensor_type(ids, "gather_tree", "ids"), tensor_type(parents, "gather_tree", "parents")
    if len(first.shape) != 3 or first != second or first.dtype.kind != "i":
        message = f"gather_tree(): 'ids' is {first}, 'parents' is {second}"
        raise ShapeError("D2S0002", message, hint="whole numbers, both [steps, batch, beams]")
    steps, before = unbind(ids, 0), unbind(parents, 0)
    if not steps:
        return ids
    found, place = [steps[-1]], before[-1]
    for k in range(len(steps) - 2, -1, -1):
        found.append(take_along_axis(steps[k], place, 1))
        place = take_along_axis(before[k], place, 1)
    return stack(found[::-1], 0)
