"""The methods of tensors that move values, once for eager and symbolic tensors.

>>> d2s.to_tensor([[1, 2], [3, 4]]).T.reshape([4]).tolist()
[1, 3, 2, 4]
"""

from collections.abc import Callable
from typing import Any

from d2s.ops import (
    along_axis,
    arrange,
    conversions,
    expand,
    filling,
    gather,
    join,
    rearrange,
    scatter,
    shape,
    slices,
    slicing,
    triangle,
)
from d2s.ops.op import Op


def method_of(op: Op) -> Any:
    """The op as a method."""

    def method(self: Any, *inputs: Any, **attrs: Any) -> Any:
        return op(self, *inputs, **attrs)

    method.__name__, method.__doc__ = op.name, op.__doc__
    method.__wrapped__ = op  # type: ignore[attr-defined]  # whose arguments help() shows
    return method


_OPS: tuple[Op, ...] = (shape.reshape, shape.flatten, shape.unflatten)
_OPS += (shape.squeeze, shape.unsqueeze, arrange.transpose, arrange.flip)
_OPS += (expand.expand, expand.expand_as, expand.tile, gather.gather, triangle.tril, triangle.triu, triangle.diagonal)
_FUNCTIONS: tuple[Callable[..., Any], ...] = (arrange.moveaxis,)
_FUNCTIONS += (arrange.swapaxes, arrange.t, arrange.roll, expand.broadcast_to, triangle.diag)
_FUNCTIONS += (gather.gather_nd, gather.index_select, along_axis.index_sample, scatter.index_add, scatter.index_put)
_FUNCTIONS += (scatter.scatter, scatter.scatter_nd_add, scatter.masked_fill, along_axis.take_along_axis)
_FUNCTIONS += (along_axis.put_along_axis, slices.slice, slices.strided_slice, slicing.split, slicing.chunk)
_FUNCTIONS += (slicing.unbind, slicing.unstack, rearrange.unfold, join.concat, join.stack, scatter.scatter_nd)
_FUNCTIONS += (filling.index_fill, filling.masked_scatter, filling.fill_diagonal_tensor)


class ShapeMethods:
    """What `x.reshape([4])` means."""

    __slots__ = ()

    @property
    def T(self) -> Any:
        """All axes in the opposite order."""
        return arrange.reversed_axes(self)


for _op in _OPS:
    setattr(ShapeMethods, _op.name, method_of(_op))
for _function in _FUNCTIONS:
    setattr(ShapeMethods, _function.__name__, _function)
for _name, _method in conversions.METHODS.items():
    setattr(ShapeMethods, _name, _method)
