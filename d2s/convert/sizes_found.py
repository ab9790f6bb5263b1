"""`split`, `topk` and `kthvalue` by numbers that a run finds, and of axes of which only a run knows how long they are.

In: what these are called with. Out: what they give; a run in which the numbers do not fit raises what eager code raises.

>>> from d2s.capture.symbolic import Tracer
>>> tracer = Tracer("f")
>>> [part.tolist() for part in parts(tracer, d2s.to_tensor([1, 2, 3]), [1, 2])]
[[1], [2, 3]]
"""

import itertools
from typing import Any

from d2s.capture.branch import branch
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.convert.computing import of_ops
from d2s.convert.if_else import truth
from d2s.convert.indices import item_of_tensor
from d2s.convert.logical import either
from d2s.errors import ArgumentError
from d2s.ops import OPS
from d2s.ops.shapes import one_axis
from d2s.ops.slicing import Stretch, part, split
from d2s.ops.sort import kthvalue, sorted_, topk


def parts(tracer: Tracer, x: Any, num_or_sections: Any, axis: Any = 0) -> Any:
    """`split`."""
    sizes = list(num_or_sections) if isinstance(num_or_sections, list | tuple) else []
    whole = all(_is_found(size) or not isinstance(size, SymbolicTensor) for size in sizes)
    if not (whole and any(map(_is_found, sizes))) or not isinstance(x, SymbolicTensor) or type(axis) is not int:
        return of_ops(split, x, num_or_sections, axis)
    along = one_axis(axis, x.ndim, "split")
    sizes = [_number(size) for size in sizes]
    count = x.shape[along]
    rest = [k for k, size in enumerate(sizes) if type(size) is int and size == -1]
    if len(rest) == 1:
        sizes[rest[0]] = count - sum(size for k, size in enumerate(sizes) if k != rest[0])
    _demand(either(lambda: sum(sizes) != count, *(lambda size=size: size < 0 for size in sizes)), "split", "num_or_sections")
    ends = list(itertools.accumulate(sizes, initial=0))
    return [_part(x, along, start, stop) for start, stop in itertools.pairwise(ends)]


def most(tracer: Tracer, x: Any, k: Any, axis: Any = None, largest: Any = True, sorted: Any = True) -> Any:
    """`topk`."""
    if _is_open(x, axis) and type(k) is int and k > 0:
        along = _demanded("topk", x, k, axis)
        return tuple(_places(found, along, 0, k) for found in sorted_(x, along, largest))
    if not _is_found(k) or not isinstance(x, SymbolicTensor) or not x.ndim:
        return of_ops(topk, x, k, axis, largest, sorted)
    along = one_axis(-1 if axis is None else axis, x.ndim, "topk")
    k = _number(k)
    _demand(either(lambda: k < 1, lambda: k > x.shape[along]), "topk", "k")
    return tuple(_part(found, along, 0, k) for found in sorted_(x, along, largest))


def smallest(tracer: Tracer, x: Any, k: Any, axis: Any = None, keepdim: Any = False) -> Any:
    """`kthvalue`."""
    if not _is_open(x, axis) or type(k) is not int or k < 1:
        return of_ops(kthvalue, x, k, axis, keepdim)
    along = _demanded("kthvalue", x, k, axis)
    return tuple(_places(found, along, k - 1, 1, () if keepdim else (along,)) for found in sorted_(x, along, False))


def _is_open(x: Any, axis: Any) -> bool:
    """Whether only a run knows how many values there are along an axis, the last one if none is given."""
    if not isinstance(x, SymbolicTensor) or not x.ndim or not isinstance(axis, int | None) or isinstance(axis, bool):
        return False
    axis = -1 if axis is None else axis
    return -x.ndim <= axis < x.ndim and isinstance(x.value.type.shape[axis], str)


def _demanded(name: str, x: SymbolicTensor, k: int, axis: int | None) -> int:
    """The axis, of which a run demands that it has so many values."""
    along = one_axis(-1 if axis is None else axis, x.ndim, name)
    _demand(k > x.shape[along], name, "k")
    return along


def _places(x: SymbolicTensor, axis: int, start: int, count: int, dropped: tuple[int, ...] = ()) -> Any:
    return part(x, x.value.type.shape, {axis: Stretch(start, count)}, dropped)


def _is_found(value: Any) -> bool:
    return isinstance(value, SymbolicTensor) and not value.ndim and value.dtype.kind == "i"


def _number(value: Any) -> Any:
    """A whole number as one of Python's."""
    return value if not isinstance(value, SymbolicTensor) else OPS["cast"](value, "int64", python=True)


def _part(x: SymbolicTensor, axis: int, start: Any, stop: Any) -> Any:
    tracer = capturing()
    assert tracer is not None
    return item_of_tensor(tracer, x, (*[slice(None)] * axis, slice(start, stop)))


def _demand(wrong: Any, name: str, argument: str) -> None:
    tracer = capturing()
    assert tracer is not None

    def complain() -> list[Any]:
        raise ArgumentError("D2S0004", f"{name}(): '{argument}' does not fit the values there are along the axis")

    if isinstance(wrong, SymbolicTensor):
        branch(tracer, truth(tracer, wrong), (complain, list))
    elif wrong:
        complain()
