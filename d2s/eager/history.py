"""A tensor's side of the tape: gradients asked for, kept and watched.

>>> x = d2s.to_tensor([3.0], stop_gradient=False)
>>> handle = x.register_hook(lambda g: g * 10.0)
>>> (x * x).backward()
>>> x.grad.tolist(), handle.remove(), handle.remove()
([60.0], True, False)
"""

import functools
import weakref
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import numpy as np

from d2s.autodiff import tape, writes
from d2s.errors import CaptureError, DTypeError, GradientError, ShapeError
from d2s.ops.dispatch import current, handlers
from d2s.runtime import launch
from d2s.types import Type

F = TypeVar("F", bound=Callable[..., Any])


def acts(method: F) -> F:
    """A method whose effect would happen at capture only: a capture refuses it, and its errors say the user's line.

    Where a program is being declared, methods that its recorder names in `at_once` do what they do everywhere.
    """

    @functools.wraps(method)
    def refused(self: Any, *args: Any, **kwargs: Any) -> Any:
        if handlers.stack and method.__name__ not in getattr(handlers.stack[-1], "at_once", ()):
            message = f"{method.__name__}() changes a tensor, which is not part of graphs yet"
            hint = "compute a new tensor instead, or do this outside of the captured function"
            raise CaptureError("D2S1003", message, where=current().line(), hint=hint)
        return method(self, *args, **kwargs)

    return refused  # type: ignore[return-value]


class Handle:
    """A hook that was registered."""

    def __init__(self, hooks: list[Any], hook: Any) -> None:
        self._hooks, self._hook = hooks, hook

    def remove(self) -> bool:
        """Takes the hook away; whether it was still there."""
        there = self._hook in self._hooks
        if there:
            self._hooks.remove(self._hook)
        return there


class Hook:
    """A user's function that sees a gradient, a copy of it, and may give another for it."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __call__(self, total: Any) -> Any:
        found = self.function(total.clone())
        if found is None:
            return total
        check_gradient(found, launch.type_of(total.array), self.gives)
        return found

    @property
    def gives(self) -> str:
        """What errors say of what it gives."""
        return f"the hook {getattr(self.function, '__name__', self.function)!r:.60} gives"


def hook_of(tensor: Any, function: Any) -> Hook:
    """A function as a hook of a tensor."""
    if not callable(function):
        raise DTypeError("D2S0001", f"register_hook(): 'hook' expects a function, got {type(function).__name__}")
    if tensor.stop_gradient:
        message = "register_hook() of a tensor that wants no gradient: its hook would never be called"
        raise GradientError("D2S0006", message, hint="x.stop_gradient = False first")
    return Hook(function)


class _Retained:
    """The hook that keeps a gradient for the tensor it belongs to."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = weakref.ref(tensor)

    def __call__(self, total: Any) -> Any:
        tensor = self.tensor()
        if tensor is not None:
            tensor.grad = total.detach().clone()
        return total


def check_gradient(gradient: Any, want: Type, said: str) -> None:
    """A gradient has the shape and dtype of what it belongs to."""
    if not hasattr(gradient, "array"):
        refuse_other(gradient, said)
    refuse_unlike(launch.type_of(gradient.array), want, said)


def refuse_other(gradient: Any, said: str) -> NoReturn:
    """Says that something is no tensor."""
    raise DTypeError("D2S0001", f"{said} a {type(gradient).__name__}, a gradient is a Tensor")


def refuse_unlike(have: Type, want: Type, said: str) -> None:
    """Says that a gradient has another type than what it belongs to, if it has."""
    if have.dtype is not want.dtype:
        raise DTypeError("D2S0003", f"{said} {have} as the gradient of {want}")
    if have.shape != want.shape:
        raise ShapeError("D2S0002", f"{said} {have} as the gradient of {want}")


class History:
    """Methods of `Tensor`."""

    __slots__ = ()
    array: np.ndarray
    stop_gradient: Any
    node: Any
    hooks: Any
    _grad: Any
    _new: Callable[..., Any]

    @property
    def is_leaf(self) -> bool:
        """Whether no op on the tape made it."""
        return self.stop_gradient or self.node is None

    @property
    def inplace_version(self) -> int:
        """How often its memory was changed.

        >>> x = d2s.to_tensor([1.0])
        >>> x.fill_(2.0).inplace_version, x.detach().inplace_version
        (1, 1)
        """
        return writes.count(self.array)

    @property
    def grad(self) -> Any:
        """The gradient gathered so far, or None."""
        return self._grad

    @grad.setter
    def grad(self, gradient: Any) -> None:
        if gradient is not None:
            check_gradient(gradient, launch.type_of(self.array), "grad: given")
        self._grad = gradient

    def gradient(self) -> np.ndarray | None:
        """The gradient gathered so far as a NumPy array of its own, or None."""
        return None if self._grad is None else self._grad.numpy()

    @acts
    def backward(self, grad_tensor: Any = None, retain_graph: bool = False) -> None:
        """Adds the gradient of this tensor, weighted by `grad_tensor` (ones), to the `grad` of every leaf it depends on.

        >>> x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> (x * x).backward(d2s.to_tensor([1.0, 10.0]))
        >>> x.grad.tolist()
        [2.0, 40.0]
        """
        tape.backward([(self, self._weight(grad_tensor, "backward(): 'grad_tensor'"))], retain_graph)

    def _weight(self, given: Any, said: str) -> Any:
        """The cotangent a sweep of this tensor starts with."""
        if self.stop_gradient:
            raise GradientError("D2S0006", "backward() of a tensor that depends on nothing that wants a gradient")
        if given is None:
            return self._new(np.ones_like(self.array))
        if not hasattr(given, "array"):
            raise DTypeError("D2S0001", f"{said} expects a Tensor, got {type(given).__name__}")
        have, want = launch.type_of(given.array), launch.type_of(self.array)
        if have != want:
            raise GradientError("D2S0006", f"{said} is {have}, the tensor {want}")
        return given

    @acts
    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Takes the gradient away, or sets it to 0; none stays none.

        >>> x = d2s.to_tensor([1.0], stop_gradient=False)
        >>> (x * x).backward()
        >>> x.clear_gradient()
        >>> x.grad.tolist(), x.clear_gradient(set_to_zero=False), x.grad
        ([0.0], None, None)
        """
        if set_to_zero and self._grad is not None:
            self._grad.zero_()
        else:
            self._grad = None

    def clear_grad(self) -> None:
        """`clear_gradient()`."""
        self.clear_gradient()

    @acts
    def register_hook(self, hook: Callable[[Any], Any]) -> Handle:
        """Calls `hook` with a copy of this tensor's gradient when a sweep has it whole; a tensor it returns is taken instead.

        Hooks of one tensor are called in the order they were registered in. Those of leaves are called last in a sweep.
        """
        return self._hooked(hook_of(self, hook))

    @acts
    def retain_grads(self) -> None:
        """Keeps this tensor's gradient in `grad` at every sweep; a leaf's is kept anyway.

        >>> x = d2s.to_tensor([3.0], stop_gradient=False)
        >>> y = x * 2.0
        >>> y.retain_grads()
        >>> (y * y).backward()
        >>> y.grad.tolist()
        [12.0]
        """
        if not self.is_leaf and not self._retained():
            self._hooked(_Retained(self))

    def _hooked(self, hook: Any) -> Handle:
        hooks = tape.hooks(tape.edge(self))
        hooks.append(hook)
        return Handle(hooks, hook)

    def _retained(self) -> list[Handle]:
        """The hook that keeps this tensor's gradient, if there is one."""
        if self.is_leaf or not tape.has_hooks(self.node):
            return []
        hooks = tape.hooks(self.node)
        return [Handle(hooks, h) for h in hooks if isinstance(h, _Retained) and h.tensor() is self]

    @acts
    def detach_(self) -> Any:
        """This tensor itself, without its history."""
        self.node, self.stop_gradient = None, True
        return self
