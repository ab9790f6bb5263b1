"""Tensors as another dtype or shape asks for them, as methods. In: a tensor. Out: it, or a new one with its history.

>>> x = d2s.to_tensor([1.5, 2.0])
>>> x.long().tolist(), x.to("float64").dtype, x.to("cpu") is x
([1, 2], d2s.float64, True)
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from d2s import place as places
from d2s import types
from d2s.errors import ArgumentError, DTypeError, ShapeError, brief
from d2s.ops.arrange import swapaxes
from d2s.ops.compare import cast
from d2s.ops.dispatch import current
from d2s.ops.op import flag
from d2s.ops.shape import reshape, reshape_like
from d2s.ops.shapes import tensor_type
from d2s.types import DType

NAMED = {"float": "float32", "double": "float64", "int": "int32", "long": "int64", "short": "int16"}
NAMED |= {"char": "int8", "byte": "uint8", "bool": "bool", "half": "float16"}
_ARGUMENTS: dict[str, Any] = {"device": None, "dtype": None, "blocking": None, "other": None}
_ORDERS: tuple[tuple[str, ...], ...] = (("device", "dtype", "blocking"), ("dtype", "blocking"), ("other", "blocking"))


def to(x: Any, *args: Any, **kwargs: Any) -> Any:
    """x on a device, which is the CPU, and of a dtype, or of that of another tensor; x itself where it is so already.

    Called as `to(dtype)`, `to(device)`, `to(device, dtype)` or `to(other)`; each of these may have `blocking` behind it.

    >>> d2s.to_tensor([1.5]).to("cpu", "int32").tolist(), d2s.to_tensor([1.5]).to(d2s.to_tensor([1])).dtype
    ([1], d2s.int64)
    """
    given = _named(args, kwargs)
    flag(True if given["blocking"] is None else given["blocking"], "blocking")
    if given["device"] is not None:
        places.usable(given["device"], "to")
    if given["other"] is not None:
        return type_as(x, given["other"])
    return x if given["dtype"] is None else _of(x, types.dtype(given["dtype"]))


def _named(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `to` by name: the first one says which are meant."""
    first = args[0] if args else None
    order = _ORDERS[2] if current().type_of(first) is not None else _ORDERS[1] if _is_dtype(first) else _ORDERS[0]
    found = dict(zip(order, args, strict=False))
    unknown = kwargs.keys() - (_ARGUMENTS.keys() - found.keys())
    if not (args or kwargs) or len(args) > len(order) or unknown:
        raise DTypeError("D2S0001", "to(): expects a dtype, a device, both, or a tensor", hint="x.to('float64')")
    return _ARGUMENTS | found | kwargs


def _is_dtype(given: Any) -> bool:
    return isinstance(given, type | DType | np.dtype) or (isinstance(given, str) and not places.is_device(given))


def _of(x: Any, dtype: DType) -> Any:
    return x if tensor_type(x, "to", "x").dtype is dtype else cast(x, dtype)


def type_as(x: Any, other: Any) -> Any:
    """x in the dtype of another tensor.

    >>> d2s.to_tensor([1.5]).type_as(d2s.to_tensor([1])).tolist()
    [1]
    """
    return _of(x, tensor_type(other, "type_as", "other").dtype)


def view(x: Any, shape_or_dtype: Any) -> Any:
    """x in another shape, in memory of its own like all results.

    >>> d2s.to_tensor([[1.0, 2.0]]).view([2]).tolist()
    [1.0, 2.0]
    """
    if _is_dtype(shape_or_dtype):
        message = f"view(): the bits of {tensor_type(x, 'view', 'x')} as {brief(shape_or_dtype)} are not part of graphs"
        raise ArgumentError("D2S0004", message, hint="x.astype(...) converts the values")
    return reshape(x, shape_or_dtype)


def view_as(x: Any, other: Any) -> Any:
    """x in the shape of another tensor.

    >>> d2s.to_tensor([[1.0, 2.0]]).view_as(d2s.to_tensor([0, 0])).tolist()
    [1.0, 2.0]
    """
    tensor_type(x, "view_as", "x"), tensor_type(other, "view_as", "other")
    return reshape_like(x, other)


def contiguous(x: Any) -> Any:
    """x itself: all tensors lie in the order of their elements.

    >>> x = d2s.to_tensor([1.0])
    >>> x.contiguous() is x, x.is_contiguous()
    (True, True)
    """
    return x


def is_contiguous(x: Any) -> bool:
    """Whether the tensor lies in the order of its elements: yes."""
    return True


def transposed_matrices(x: Any) -> Any:
    """The last two axes in the opposite order.

    >>> d2s.zeros([2, 3, 4]).mT.shape
    [2, 4, 3]
    """
    rank = len(tensor_type(x, "mT", "x").shape)
    if rank < 2:
        raise ShapeError("D2S0002", f"mT: expects matrices, got {rank} axes")
    return swapaxes(x, rank - 2, rank - 1)


def _cast_to(name: str, dtype: str) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return _of(self, types.dtype(dtype))

    method.__name__, method.__doc__ = name, f"x as {dtype}; x itself if it is."
    return method


METHODS: dict[str, Any] = {name: _cast_to(name, dtype) for name, dtype in NAMED.items()}
METHODS |= {f.__name__: f for f in (to, type_as, view, view_as, contiguous, is_contiguous)}
METHODS["mT"] = property(transposed_matrices)
