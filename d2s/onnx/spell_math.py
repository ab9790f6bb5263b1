"""ONNX's words for functions it has not: the text of vector math, run on numbers that write nodes; and shifts of bits.

In: a pen at a node. Out: nodes of ONNX, of opset 18, which compute in float64.

>>> from d2s.onnx.writer import SAID
>>> "lgamma" in SAID
True
"""

import functools
import math
import types as python
from typing import Any

from d2s import types
from d2s.onnx.writer import Pen, says
from d2s.ops import vector_error, vector_gamma, vector_inverses, vector_math


class _Number:
    """A number, or a bool, of a run."""

    def __init__(self, pen: Pen, name: str) -> None:
        self.pen, self.name = pen, name

    def made(self, kind: str, *inputs: Any) -> "_Number":
        return _Number(self.pen, self.pen.write(kind, *map(self.named, inputs)))

    def named(self, one: Any) -> str:
        return one.name if isinstance(one, _Number) else self.pen.const(one, types.float64)

    def __neg__(self) -> "_Number":
        return self.made("Neg", self)

    def __eq__(self, other: object) -> "_Number":  # type: ignore[override]
        return self.made("Equal", self, other)

    def __ne__(self, other: object) -> "_Number":  # type: ignore[override]
        return self.made("Not", self == other)


def _operator(kind: str, turned: bool = False) -> Any:
    return lambda self, other: self.made(kind, *((other, self) if turned else (self, other)))


_OPERATORS = {"add": "Add", "sub": "Sub", "mul": "Mul", "truediv": "Div", "and": "And", "or": "Or"}
_OPERATORS |= {"lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual"}
for _name, _kind in _OPERATORS.items():
    setattr(_Number, f"__{_name}__", _operator(_kind))
    setattr(_Number, f"__r{_name}__", _operator(_kind, turned=True))


def _select(condition: Any, first: Any, second: Any) -> Any:
    if not isinstance(condition, _Number):
        return first if condition else second
    return condition.made("Where", condition, first, second)


def _signed(size: Any, like: Any) -> _Number:
    """A size with the sign of a number, which zeros have too."""
    negative = (like < 0.0) | (1.0 / like < 0.0)
    found: _Number = _select(negative, -size, size)
    return found


def _polynomial(coefficients: Any, z: _Number) -> Any:
    return functools.reduce(lambda total, c: total * z + c, reversed(coefficients))


def _named(kind: str, of_numbers: Any = None) -> Any:
    return lambda x: x.made(kind, x) if isinstance(x, _Number) else of_numbers(x)


_WORDS: dict[str, Any] = {}
_MODULES = (vector_math, vector_error, vector_inverses, vector_gamma)
_WORDS.update((name, value) for module in _MODULES for name, value in vars(module).items() if name.isupper())
_WORDS.update(
    (name, python.FunctionType(value.__code__, _WORDS))
    for module in _MODULES
    for name, value in vars(module).items()
    if isinstance(value, python.FunctionType)
)
_WORDS |= {
    "select": _select, "fma": lambda x, y, z: x * y + z, "polynomial": _polynomial, "sign_from": _signed,
    "abs_of": _named("Abs"), "floor_of": _named("Floor", math.floor), "nearest": _named("Round"), "sqrt_of": _named("Sqrt"),
    "sin_f64": _named("Sin"), "cos_f64": _named("Cos"), "log_short": _named("Log"),
    "log_parts": lambda x: (x.made("Log", x), 0.0), "exp_of_sum": lambda x, rest: (x + rest).made("Exp", x + rest),
    "pow_f64": lambda x, y: x.made("Pow", x, y),
}  # fmt: skip


def _computed(pen: Pen, function: Any) -> None:
    given = [_Number(pen, pen.cast(name, types.float64)) for name in pen.names]
    pen.cast(function(*given).name, pen.outputs[0].dtype, to=0)


@says("atan2 digamma erfinv lgamma")
def _(pen: Pen) -> None:
    _computed(pen, _WORDS[f"{pen.node.op}_f64"])


@says("slopes")
def _(pen: Pen) -> None:
    n = pen.attrs["n"]
    factor = (-1.0) ** (n + 1) * math.factorial(n)

    def slope(x: Any) -> _Number:
        above = x > 0.0
        up, down = _select(above, x, 1.0), _select(above, -1.0, x)
        found: _Number = factor * _select(above, _WORDS["zeta_above"](up, n + 1.0), _WORDS["zeta_below"](down, n + 1.0))
        return found

    _computed(pen, slope)


# --- bits --------------------------------------------------------------------------------------------------------------------


def _shifted(pen: Pen, bits: str, places: str, direction: str) -> str:
    """Bits of an int64, which ONNX moves in a uint64."""
    whole, by = pen.graph.shared.fresh(), pen.graph.shared.fresh()
    for name, made in ((bits, whole), (places, by)):
        pen.graph.node("Cast", [name], [made], {"to": _UINT64})
    return pen.cast(pen.write("BitShift", whole, by, direction=direction), types.int64)


_UINT64 = 13  # ONNX's number of a dtype that d2s has not


def _inside(pen: Pen, places: str, otherwise: int) -> tuple[str, str]:
    """Whether places are 0 to 63, and what is moved by: the other number where they are not."""
    low = pen.write("GreaterOrEqual", places, pen.const(0))
    fits = pen.write("And", low, pen.write("Less", places, pen.const(64)))
    return fits, pen.write("Where", fits, places, pen.const(otherwise))


@says("shifted_left")
def _(pen: Pen) -> None:
    bits, places = (pen.cast(name, types.int64) for name in pen.names)
    fits, by = _inside(pen, places, 0)
    moved = pen.write("Where", fits, _shifted(pen, bits, by, "LEFT"), pen.const(0))
    pen.cast(moved, pen.outputs[0].dtype, to=0)


@says("shifted_right")
def _(pen: Pen) -> None:
    """Copies of the sign come in: a negative number is moved as the bits it has not."""
    bits, places = (pen.cast(name, types.int64) for name in pen.names)
    negative = pen.write("Less", bits, pen.const(0))
    plain = pen.write("Where", negative, pen.write("Sub", pen.const(-1), bits), bits)
    moved = _shifted(pen, plain, _inside(pen, places, 63)[1], "RIGHT")
    pen.cast(pen.write("Where", negative, pen.write("Sub", pen.const(-1), moved), moved), pen.outputs[0].dtype, to=0)
