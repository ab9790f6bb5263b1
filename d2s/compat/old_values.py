"""What is one number, as Paddle had it before 2.5: a tensor of shape [1], and an array that converts and formats like one.

In: functions of d2s. Out: functions whose results have no shape []. While a generation is installed that has it so, the methods
of tensors give such values, too - to users; d2s's own code sees them as they are.

>>> old(d2s.mean)(d2s.to_tensor([2.0, 4.0])).shape
[1]
>>> shown = as_shown(np.array([2.3020], "float32"))
>>> float(shown) > 2.3, f"{shown:.5}"
(True, '[2.30')
"""

import contextlib
import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from d2s.autodiff import tape
from d2s.capture.symbolic import SymbolicTensor
from d2s.compat import old_methods, old_operators
from d2s.compat.generation import Generation
from d2s.compat.users import inside
from d2s.eager.tensor import Tensor
from d2s.nn.layer import Layer
from d2s.nn.parameter import Parameter
from d2s.ops.create import zeros_like
from d2s.ops.operators import Operators
from d2s.ops.shape import reshape
from d2s.static.program import Program
from d2s.static.variable import Variable
from d2s.types import DType

METHODS = [
    "sum",
    "mean",
    "prod",
    "max",
    "min",
    "amax",
    "amin",
    "logsumexp",
    "std",
    "var",
    "any",
    "all",
    "norm",
    "count_nonzero",
    "nansum",
    "nanmean",
    "median",
    "dot",
    "item_of",
    "argmax",
    "argmin",
    "trace",
    "dist",
    "matmul",
    "inner",
    "squeeze",
    "numel",
    "unbind",
    "gather_nd",
    "__getitem__",
    "__matmul__",
]
learnt: "weakref.WeakValueDictionary[int, Tensor]" = weakref.WeakValueDictionary()  # what layers learn, while it is asked for


class ShownArray(np.ndarray):
    """An array as NumPy had it when such code was written: what holds one number is that number, whatever its shape."""

    def __float__(self) -> float:
        return float(self.item() if self.size == 1 else np.asarray(self))  # type: ignore[arg-type]

    def __int__(self) -> int:
        return int(self.item() if self.size == 1 else np.asarray(self))  # type: ignore[call-overload, no-any-return]

    def __format__(self, spec: str) -> str:
        return format(str(np.asarray(self)), spec)

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __array_wrap__(self, array: np.ndarray, *_: Any) -> Any:
        return array.view(ShownArray) if array.ndim else array[()]

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()


class BackwardStrategy:
    """How gradients are added up: d2s has one order."""

    sort_sum_gradient = False


def as_shown(array: np.ndarray) -> np.ndarray:
    """An array with the conversions of old, which what is computed of it has, too."""
    return array.view(ShownArray) if array.ndim else array


def reshaped(value: Any) -> Any:
    """A result without the shape []."""
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(map(reshaped, value))
    return reshape(value, [1]) if isinstance(value, Tensor | SymbolicTensor) and value.ndim == 0 else value


def old(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose results have no shape []."""

    @functools.wraps(function)
    def with_old_values(*args: Any, **kwargs: Any) -> Any:
        return reshaped(function(*args, **kwargs))

    return with_old_values


def old_layer(kind: type[Layer]) -> type[Layer]:
    """A layer whose results have no shape []."""

    def call(self: Any, *inputs: Any, **kwargs: Any) -> Any:
        return reshaped(kind.__call__(self, *inputs, **kwargs))

    return type(kind.__name__, (kind,), {"__call__": call, "__doc__": kind.__doc__, "__module__": kind.__module__})


# --- methods of tensors ------------------------------------------------------------------------------------------------------


class Methods:
    """Other methods of tensors, for as long as a generation is installed."""

    def __init__(self, generation: Generation) -> None:
        self.before: list[tuple[type, str, Any]] = []
        words = ("generated_var", "tmp") if generation.old_values else ("generated_tensor", "eager_tmp")
        self._set(Tensor, "name", old_methods.named(*words))
        self._set(DType, "__repr__", old_methods.dtype_of_1x if generation.declarative else old_methods.dtype_of_paddle)
        if generation.declarative:
            self._set(Variable, "shape", property(old_methods.shape_of_declared))
            self._set(Program, "_lr_schedule_guard", lambda self, *_: contextlib.nullcontext())
        if generation.old_values:
            for name, method in old_methods.METHODS.items():
                self._set(Tensor, name, method)
            for owner, name in ((o, n) for o in (Variable, SymbolicTensor, Tensor) for n in METHODS if hasattr(o, n)):
                self._set(owner, name, _for_users(getattr(owner, name)))
            self._set(Tensor, "__iter__", _rows(Tensor.__iter__))
            self._set(Tensor, "numpy", _numpy(Tensor.numpy))
        tape.keeping.on = generation.keeps_gradients
        if generation.keeps_gradients:
            self._set(Tensor, "gradient", _gradient_on_the_way(Tensor.gradient))
            self._set(Tensor, "backward", _without_strategy(Tensor.backward))
            self._set(Tensor, "clear_gradient", _clearing_on_the_way(Tensor.clear_gradient))
        if generation.learns_all:
            self._set(Layer, "create_parameter", _noted(Layer.create_parameter))
        if generation.divides_as_c:
            for kind, name in ((o, n) for o in (Operators, SymbolicTensor) for n in old_operators.NAMES if n in vars(o)):
                self._set(kind, name, old_operators.of_1x(name, getattr(kind, name)))
        if generation.zeros_for_stopped:
            self._set(Tensor, "gradient", _gradient_where_stopped(Tensor.gradient))

    def _set(self, owner: type, name: str, method: Any) -> None:
        self.before.append((owner, name, owner.__dict__.get(name)))
        setattr(owner, name, method)

    def restore(self) -> None:
        """The methods as they were."""
        tape.keeping.on = False
        learnt.clear()
        for owner, name, method in reversed(self.before):
            if method is None:
                delattr(owner, name)
            else:
                setattr(owner, name, method)


def _for_users(method: Any) -> Any:
    @functools.wraps(method)
    def for_users(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = method(self, *args, **kwargs)
        return found if found is NotImplemented or inside(sys._getframe(1)) else reshaped(found)

    return for_users


def _rows(method: Any) -> Any:
    def rows(self: Tensor) -> Iterator[Any]:
        return method(self) if inside(sys._getframe(1)) else map(reshaped, method(self))

    return rows


def _noted(method: Any) -> Any:
    @functools.wraps(method)
    def create_parameter(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = method(self, *args, **kwargs)
        if found is not None:
            learnt[id(found)] = found
        return found

    return create_parameter


def _numpy(method: Any) -> Any:
    @functools.wraps(method)
    def numpy(self: Tensor) -> np.ndarray:
        return as_shown(method(self))

    return numpy


def _gradient_on_the_way(method: Any) -> Any:
    @functools.wraps(method)
    def gradient(self: Tensor) -> np.ndarray | None:
        kept = tape.kept(self.node)
        return method(self) if kept is None else kept.total.numpy()

    return gradient


def _without_strategy(method: Any) -> Any:
    @functools.wraps(method)
    def backward(self: Tensor, *args: Any, backward_strategy: Any = None, **kwargs: Any) -> None:
        method(self, *args[isinstance(next(iter(args), None), BackwardStrategy) :], **kwargs)

    return backward


def _clearing_on_the_way(method: Any) -> Any:
    @functools.wraps(method)
    def clear_gradient(self: Tensor, *args: Any, **kwargs: Any) -> None:
        kept = tape.kept(self.node)
        if kept is not None:
            kept.total = zeros_like(kept.total)
        method(self, *args, **kwargs)

    return clear_gradient


def _gradient_where_stopped(method: Any) -> Any:
    @functools.wraps(method)
    def gradient(self: Tensor) -> np.ndarray | None:
        found: np.ndarray | None = method(self)
        stopped = found is None and self.stop_gradient and not isinstance(self, Parameter)
        return np.zeros_like(self.array) if stopped else found

    return gradient
