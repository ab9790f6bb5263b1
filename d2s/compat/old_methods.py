"""What users ask tensors for beside their values: names that no two share, gradients as tensors, `value().get_tensor()`.

In: tensors, of which d2s names parameters only. Out: names, made when they are asked for; d2s's own code has its own.

>>> x = d2s.ones([2])
>>> value(x) is get_tensor(x) is x, x.name
(True, '')
"""

import sys
from typing import Any

from d2s import unique_name
from d2s.autodiff import tape
from d2s.compat.users import inside
from d2s.eager.tensor import Tensor
from d2s.static.variable import Variable
from d2s.types import DType


def named(given: str, computed: str) -> property:
    """The attribute `name`: what has none gets one of these, and a number."""

    def name(self: Tensor) -> str:
        if not self._name and not inside(sys._getframe(1)):
            self._name = unique_name.generate(computed if self.node else given)
        return self._name

    def call(self: Tensor, name: str) -> None:
        self._name = name

    return property(name, call)


def value(self: Tensor) -> Tensor:
    """What holds the values."""
    return self


def get_tensor(self: Tensor) -> Tensor:
    """What holds the values."""
    return self


def set(self: Tensor, array: Any, place: Any = None) -> None:
    """New values of the same shape."""
    self.set_value(array)


def _grad_ivar(self: Tensor) -> Any:
    """The gradient as a tensor, or None."""
    kept = tape.kept(self.node)
    return self.grad if kept is None else kept.total


def dtype_of_paddle(self: DType) -> str:
    """How a dtype is printed."""
    return f"paddle.{self.name}"


_KINDS = {"b": "BOOL", "f": "FP", "i": "INT"}


def dtype_of_1x(self: DType) -> str:
    """The same until 2.0: `VarType.FP32`."""
    bits = "" if self.kind == "b" else str(8 * self.size)
    return f"VarType.{'UINT8' if self.name == 'uint8' else _KINDS[self.kind] + bits}"


def shape_of_declared(self: Variable) -> Any:
    """The extents of what is declared: a tuple, as until 2.0; d2s's own code has its list."""
    extents = self.value.type.shape
    return list(extents) if inside(sys._getframe(1)) else tuple(-1 if isinstance(d, str) else d for d in extents)


METHODS = {function.__name__: function for function in (value, get_tensor, set, _grad_ivar)}
