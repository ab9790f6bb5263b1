"""Values as keys that are equal only where the values are the same: 0.0 is not -0.0, 1 is neither True nor 1.0, nan is itself.

In: a value, of plain values and what holds them. Out: something equal, with a hash; or a key that still has the value.

>>> {0.0: "one for both"}[-0.0], told(0.0) == told(-0.0), told((1,)) == told((True,)), told(float("nan")) == told(float("nan"))
('one for both', False, False, True)
>>> Exactly({"slope": -0.0}) == Exactly({"slope": 0.0}), Exactly({"slope": -0.0}).value
(False, {'slope': -0.0})
"""

from typing import Any


def told(value: Any) -> Any:
    """A value by its class and spelling; what else there is by its class and what it is equal to."""
    kind = type(value)
    if kind is float:
        return kind, value.hex()
    if kind is tuple:
        return kind, tuple(map(told, value))
    if kind is dict:
        return kind, tuple((told(key), told(held)) for key, held in value.items())
    if kind is frozenset:
        return kind, frozenset(map(told, value))
    if kind is range:  # two are equal that count the same, wherever they would have stopped
        return kind, value, value.start, value.stop
    if kind is complex:
        return kind, value.real.hex(), value.imag.hex()
    return kind, value


class Exactly(tuple[Any, ...]):
    """A key for a value, which it has."""

    value: Any

    def __new__(cls, value: Any) -> "Exactly":
        made = super().__new__(cls, told(value))
        made.value = value
        return made
