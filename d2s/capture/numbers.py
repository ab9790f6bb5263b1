"""Division and order of Python numbers of run time, as Python has them: by zero it raises, `/` makes a float, ints have no end.

In: `/`, `//` and `%` of symbols that stand for Python numbers. Out: symbols; where a run divides by zero, it raises.

>>> from d2s import types
>>> from d2s.capture.symbolic import Tracer
>>> from d2s.ops.dispatch import handling
>>> from d2s.types import Type
>>> tracer = Tracer("f")
>>> n = tracer.input(Type(types.int64, (), True), "n")
>>> with handling(tracer):
...     quotients = n // 2, 7 / n
>>> [node.op for node in tracer.builder.nodes if node.op != "constant"]
['floor_divide', 'equal', 'cond', 'cast', 'divide']
"""

import operator
from collections.abc import Callable
from typing import Any

from d2s.capture.branch import branch
from d2s.capture.symbolic import SymbolicTensor, capturing
from d2s.ops import OPS

_NUMBERS = (bool, int, float)


def _divided(function: Callable[[Any, Any], Any], plain: Any, reflected: bool) -> Any:
    def method(self: SymbolicTensor, other: Any) -> Any:
        symbolic = isinstance(other, SymbolicTensor)
        number = other.value.type.python if symbolic else type(other) in _NUMBERS
        if not (number and self.value.type.python):
            return plain(self, other)
        x, y = (other, self) if reflected else (self, other)
        refuse_zero(function, x, y)
        if function is operator.truediv:
            x, y = _as_float(x), _as_float(y)
        return _OPS[function](x, y)

    return method


def _kept_by(neutral: int, plain: Any) -> Any:
    """An int plus 0, or times 1, is that int, and still an extent if it was one."""

    def method(self: SymbolicTensor, other: Any) -> Any:
        whole = self.value.type.python and self.dtype.kind == "i"
        return self if whole and type(other) is int and other == neutral else plain(self, other)

    return method


def _beyond(function: Callable[[Any, Any], Any], plain: Any) -> Any:
    """An int of run time compares with one beyond 64 bits as 0 does."""

    def method(self: SymbolicTensor, other: Any) -> Any:
        whole = type(other) is int and self.value.type.python and self.dtype.kind != "f"
        return function(0, other) if whole and not -(1 << 63) <= other < 1 << 63 else plain(self, other)

    return method


def _as_float(value: Any) -> Any:
    return OPS["cast"](value, "float64", python=True) if isinstance(value, SymbolicTensor) else float(value)


def refuse_zero(function: Callable[[Any, Any], Any], x: Any, y: Any) -> None:
    """Python's own complaint about a divisor of 0, of the kind of number there is."""
    kind = (
        float
        if any(isinstance(v, float) or (getattr(v, "dtype", None) is not None and v.dtype.kind == "f") for v in (x, y))
        else int
    )
    if not isinstance(y, SymbolicTensor):
        if y == 0:
            function(kind(1), kind(0))
        return
    tracer = capturing()
    assert tracer is not None
    branch(tracer, OPS["equal"](y, 0), (lambda: [function(kind(1), kind(0))][:0], list))


def _is_float(value: Any) -> bool:
    return value.dtype.kind == "f" if isinstance(value, SymbolicTensor) else isinstance(value, float)


_OPS = {operator.truediv: OPS["divide"], operator.floordiv: OPS["floor_divide"], operator.mod: OPS["remainder"]}
for _spelled, _neutral in (("__add__", 0), ("__radd__", 0), ("__sub__", 0), ("__mul__", 1), ("__rmul__", 1)):
    setattr(SymbolicTensor, _spelled, _kept_by(_neutral, getattr(SymbolicTensor, _spelled)))
for _name, _function in (("truediv", operator.truediv), ("floordiv", operator.floordiv), ("mod", operator.mod)):
    for _sign in ("", "r"):
        _spelled = f"__{_sign}{_name}__"
        setattr(SymbolicTensor, _spelled, _divided(_function, getattr(SymbolicTensor, _spelled), bool(_sign)))
for _compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
    _name = f"__{_compare.__name__}__"
    setattr(SymbolicTensor, _name, _beyond(_compare, getattr(SymbolicTensor, _name)))
