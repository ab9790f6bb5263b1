"""Values whose extents only a run knows, repeated where one comes to 1: a capture holds both, as eager code would do either.

In: a tensor, and the shape it is to have. Out: the tensor, in that shape wherever an extent of it might have been 1.

>>> widened(d2s.to_tensor([[1, 2]]), (3, 2), {}).shape
[1, 2]
"""

from collections.abc import Mapping, Sequence
from typing import Any

from d2s.ops.dispatch import OPS, current, either
from d2s.ops.expand import broadcast_tensors, expand
from d2s.ops.found import extents_of, finds_extents, length
from d2s.ops.shapes import broadcast, is_found, may_be_one, tensor_type, uncountable
from d2s.types import Dim, Shape

Counts = Mapping[Dim, tuple[Any, int]]  # open extents, as an axis of a tensor each


def widened(x: Any, shape: Shape, counts: Counts) -> Any:
    """A tensor, repeated along each axis that a run may find to be 1 where another extent is wanted."""
    have = current().type_of(x).shape  # type: ignore[union-attr]
    if not finds_extents() or len(have) > len(shape):
        return x
    for axis, (h, d) in enumerate(zip(have, shape[len(shape) - len(have) :], strict=True)):
        if h != d and is_found(h) and may_be_one(h) and (d in counts or not uncountable(d)):
            x = _along(x, axis, length(*counts[d]) if d in counts else d)
    return x


def _along(x: Any, axis: int, count: Any) -> Any:
    def repeated() -> Any:
        one = OPS["reshape"](x, [1 if k == axis else d for k, d in enumerate(extents_of(x))])
        return expand(one, wanted)

    wanted = [count if k == axis else -1 for k in range(len(tensor_type(x, "expand", "x").shape))]
    return either(OPS["equal"](length(x, axis), 1), repeated, lambda: expand(x, wanted))


def without_first(x: Any) -> Any:
    """A tensor without its first axis, which is 1, or has to turn out so; None where it is not."""
    first, *rest = current().type_of(x).shape  # type: ignore[union-attr]
    if first == 1:
        return OPS["squeeze"](x, 0)
    told = all(isinstance(d, int) and d for d in rest)  # of no values it could not be seen whether they fit
    return OPS["reshape"](x, rest) if finds_extents() and is_found(first) and told else None


def together(tensors: Sequence[Any]) -> Sequence[Any]:
    """Index tensors in one shape: they themselves, where they have it."""
    shapes = [tensor_type(x, "indexing", "index").shape for x in tensors]
    if len(set(shapes)) < 2:
        return tensors
    wanted, _ = broadcast("broadcast_tensors", shapes)
    return broadcast_tensors([widened(x, wanted, {}) for x in tensors])
