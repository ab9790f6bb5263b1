"""Paddle's words for random numbers: each of its ops draws from a stream of Paddle's own, so none is told a place.

In: a pen at a node that draws. Out: ops of Paddle; seed and counter are numbers there that only count.

>>> from d2s.export.paddle_pen import SPELLED
>>> "normal_as" in SPELLED
True
"""

from typing import Any

from d2s import types
from d2s.export.paddle_pen import Longs, Names, Pen, refuse, spells
from d2s.export.tensors import NUMBERS
from d2s.types import Type

_INT32 = range(-(1 << 31), 1 << 31)  # what Paddle's attributes hold


@spells("stream")
def _(pen: Pen) -> None:
    for k, of in enumerate(pen.outputs):
        pen.writer.number(pen.block, pen.result(k), of, 0)


@spells("moved")
def _(pen: Pen) -> None:
    """Paddle's stream moves on by itself."""


@spells("uniform uniform_as")
def _(pen: Pen) -> None:
    low, high = (float(number) for number in _numbers(pen))
    _drawn(pen, "uniform_random", {"min": low, "max": high, "diag_num": 0, "diag_step": 0, "diag_val": 1.0})


@spells("normal normal_as")
def _(pen: Pen) -> None:
    mean, std = (float(number) for number in _numbers(pen))
    _drawn(pen, "gaussian_random", {"mean": mean, "std": std})


@spells("randint randint_as")
def _(pen: Pen) -> None:
    low, span = _numbers(pen)
    if low not in _INT32 or low + span not in _INT32:
        refuse("randint of more than 32 bits")
    _drawn(pen, "randint", {"low": low, "high": low + span})


def _numbers(pen: Pen) -> list[Any]:
    """What a distribution is told, which Paddle's attributes say."""
    found = [pen.writer.constants.get(value) for value in pen.node.inputs[2:4]]
    if None in found:
        refuse(f"{pen.node.op} of numbers that only a run knows")
    return found


def _drawn(pen: Pen, kind: str, attrs: dict[str, Any]) -> None:
    of = pen.outputs[0]
    shape = Longs(d if isinstance(d, int) else -1 for d in of.shape) if of.shape else Longs([1])
    slots: dict[str, Names] = {}
    if not all(isinstance(d, int) for d in of.shape):
        slots["ShapeTensorList"] = _shape(pen)
    attrs |= {"shape": shape, "dtype": NUMBERS[of.dtype], "seed": 0}
    if of.shape:
        pen.write(kind, slots, attrs)
    else:  # which Paddle draws with one axis at least
        one = Type(of.dtype, (1,))
        pen.reshaped(pen.write(kind, slots, attrs, one), one, (), of=None)


def _shape(pen: Pen) -> list[str]:
    """The shape of the last input, one by one: of a whole one Paddle 2.6 makes no result."""
    return [pen.dim(pen.names[-1], pen.types[-1], d) for d in pen.types[-1].shape]


@spells("randperm")
def _(pen: Pen) -> None:
    of = pen.outputs[0]
    pen.write("randperm", {}, {"n": of.shape[0], "dtype": NUMBERS[of.dtype]})


@spells("randperm_as")
def _(pen: Pen) -> None:
    """Paddle has none of a length that only a run knows: the order of so many random numbers is one."""
    of = pen.outputs[0]
    line, order = Type(types.float32, of.shape), Type(types.int64, of.shape)
    attrs: dict[str, Any] = {"min": 0.0, "max": 1.0, "diag_num": 0, "diag_step": 0, "diag_val": 1.0}
    attrs |= {"shape": Longs([-1]), "dtype": NUMBERS[types.float32], "seed": 0}
    numbers = pen.write("uniform_random", {"ShapeTensorList": _shape(pen)}, attrs, line)
    mixed = None if of.dtype is types.int64 else order
    found = pen.write("argsort", {"X": numbers}, {"axis": 0, "descending": False}, mixed, out="Indices", also={"Out": line})
    if mixed is not None:
        pen.cast(found, order, of.dtype, of=None)


@spells("bernoulli", "f32 f64", judged=2)
def _(pen: Pen) -> None:
    pen.write("bernoulli", {"X": pen.names[2]})


@spells("poisson", "f32 f64", judged=2)
def _(pen: Pen) -> None:
    pen.write("poisson", {"X": pen.names[2]}, {})


@spells("multinomial", "f32 f64", judged=2)
def _(pen: Pen) -> None:
    attrs = {"num_samples": pen.attrs["num_samples"], "replacement": pen.attrs["replacement"]}
    pen.write("multinomial", {"X": pen.names[2]}, attrs)
