"""Tensors handed to and taken from others: NumPy, DLPack, pickle, copies.

>>> import copy, pickle
>>> x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
>>> y = pickle.loads(pickle.dumps(x))
>>> y.tolist(), y.stop_gradient, copy.deepcopy(x).is_leaf
([1.0, 2.0], False, True)
"""

import copy
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from d2s import types
from d2s.eager import dlpack
from d2s.eager.shown import Shown
from d2s.errors import ArgumentError, DTypeError, ExchangeError, brief
from d2s.ops.dispatch import current
from d2s.types import Type

_copies = itertools.count(1)


class Exchange(Shown):
    """Methods of `Tensor`."""

    __slots__ = ()
    array: np.ndarray
    stop_gradient: bool
    place: Any
    _one: Callable[[], Any]

    # --- to NumPy and others

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """A copy as a NumPy array; with copy=False the tensor's own memory, where the dtype is its own."""
        wanted = self.array.dtype if dtype is None else _numpy_dtype(dtype)
        if copy is False:
            if wanted != self.array.dtype:
                raise ArgumentError("D2S0004", f"{self.array.dtype} values cannot become {wanted} without a copy")
            return self.array.view()
        return np.array(self.array, wanted)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """NumPy's functions see copies as arrays: what they give is NumPy's, without history.

        >>> float(np.sum(d2s.to_tensor([1.0, 2.0]))), np.stack([d2s.to_tensor([1]), d2s.to_tensor([2])]).tolist()
        (3.0, [[1], [2]])
        """
        if function.__name__ in _WRITING or isinstance(kwargs.get("out"), Exchange):
            message = f"numpy.{function.__name__}() would write into a copy of the tensor"
            raise ExchangeError("D2S3003", message, hint="x.numpy() for an array, d2s.to_tensor() to have it back")
        return function(*_as_arrays(args), **_as_arrays(kwargs))

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the tensor's own memory: what one side writes the other sees. Read-only memory is copied.

        A tensor that wants a gradient is to be detached first. A new value given to the tensor (`set_value`) may be new memory.

        >>> x = d2s.to_tensor([1.0, 2.0])
        >>> y = np.from_dlpack(x)
        >>> x.set_value([5.0, 2.0])
        >>> y.tolist()
        [5.0, 2.0]
        """
        if not self.stop_gradient:
            message = "__dlpack__() of a tensor that wants a gradient: what others do with it, the tape would not see"
            raise ExchangeError("D2S3003", message, hint="x.detach()")
        return dlpack.handed_over(self.array, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CPU

    # --- copies

    def __copy__(self) -> Any:
        return restored(type(self), self.array.copy(), self._kept())

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A leaf of the same values and memory of its own, without history."""
        kept = self._kept()
        if kept["name"]:
            kept["name"] = f"{kept['name']}_deepcopy_{next(_copies)}"
        memo[id(self)] = found = restored(type(self), self.array.copy(), {})
        for name, value in copy.deepcopy(kept, memo).items():
            setattr(found, name, value)
        return found

    def __reduce_ex__(self, protocol: Any) -> Any:
        return restored, (type(self), self.array, self._kept())

    def _kept(self) -> dict[str, Any]:
        """What a copy takes along besides the values: a name, and what a kind of tensor adds to plain ones."""
        plain = _plain_class(type(self)).__mro__
        added = [
            name for of in type(self).__mro__ if of not in plain for name in vars(of).get("__slots__", ()) if name != "__dict__"
        ]
        names = ["stop_gradient", "name", *added, *getattr(self, "__dict__", ())]
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    # --- facts

    def numel(self) -> Any:
        """The number of elements, as a 0-D tensor.

        >>> d2s.to_tensor([[1.0, 2.0]]).numel().item()
        2
        """
        return current().constant(self.array.size, Type(types.int64))

    def rank(self) -> Any:
        """The number of axes, as a 0-D tensor.

        >>> d2s.to_tensor([[1.0, 2.0]]).rank().item()
        2
        """
        return current().constant(self.array.ndim, Type(types.int32))

    def __complex__(self) -> complex:
        return complex(self._one())

    def _head(self) -> str:
        held = types.dtype(self.array.dtype).name
        return f"Tensor(shape={list(self.array.shape)}, dtype={held}, place={self.place}, stop_gradient={self.stop_gradient},"


_WRITING = {"copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal"}  # into their first argument


def _as_arrays(given: Any) -> Any:
    """Arguments of a function of NumPy with copies in place of tensors, in lists, tuples and dicts, too."""
    if isinstance(given, Exchange):
        return given.__array__()
    if isinstance(given, dict):
        return {key: _as_arrays(value) for key, value in given.items()}
    return type(given)(map(_as_arrays, given)) if type(given) in (list, tuple) else given


def _numpy_dtype(dtype: Any) -> np.dtype:
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError, RecursionError):
        raise DTypeError("D2S0003", f"__array__(): {brief(dtype)} is not a dtype of NumPy") from None


def restored(kind: Any, array: np.ndarray, kept: dict[str, Any]) -> Any:
    """A leaf made of what a copy or a pickle holds; pickles name this function."""
    found = kind.__new__(kind)
    writable = not isinstance(array, np.ndarray) or array.flags.writeable  # not so where a pickle's buffers are out of band
    _plain_class(kind).__init__(found, array if writable else array.copy())
    for name, value in kept.items():
        setattr(found, name, value)
    return found


def _plain_class(kind: Any) -> Any:
    """The class of plain tensors, which a kind of tensor is or is derived from."""
    return next(c for c in kind.__mro__ if "array" in vars(c).get("__slots__", ()))
