"""`and`, `or`, `not` and `a if c else b`, lazily, for Python values and tensors alike.

>>> and_(lambda: 1, lambda: 2), or_(lambda: 0, lambda: 3), both(lambda: 1, lambda: 2), not_(0)
(2, 3, True, True)
"""

from collections.abc import Callable
from typing import Any

from d2s.capture.symbolic import SymbolicTensor, capturing
from d2s.capture.undefined import load
from d2s.convert.if_else import if_else, refuse_truth, truth
from d2s.eager.tensor import Tensor
from d2s.ops import OPS, compare

Lazy = Callable[[], Any]


def if_exp(test: Any, then: Lazy, otherwise: Lazy) -> Any:
    tracer = capturing()
    if not (tracer and isinstance(test, SymbolicTensor | Tensor)):
        refuse_truth(tracer, test)
        return then() if test else otherwise()
    result: list[Any] = [None]

    def keep(value: Any) -> None:
        result[0] = value

    arms = lambda: keep(then()), lambda: keep(otherwise())
    if_else(test, *arms, lambda: tuple(result), lambda values: keep(values[0]), ("this expression",))
    return load(result[0], "this expression")


def and_(first: Lazy, *rest: Lazy) -> Any:
    value = first()
    return if_exp(value, lambda: and_(*rest), lambda: value) if rest else value


def or_(first: Lazy, *rest: Lazy) -> Any:
    value = first()
    return if_exp(value, lambda: value, lambda: or_(*rest)) if rest else value


def both(first: Lazy, *rest: Lazy) -> Any:
    """`and` where only the truth of it matters."""
    value = first()
    return if_exp(value, lambda: both(*rest), lambda: False) if rest else _truth(value)


def either(first: Lazy, *rest: Lazy) -> Any:
    """`or` where only the truth of it matters."""
    value = first()
    return if_exp(value, lambda: True, lambda: either(*rest)) if rest else _truth(value)


def _truth(value: Any) -> Any:
    """`bool(value)`, of a tensor as a Python bool of run time."""
    tracer = capturing()
    if not (tracer and isinstance(value, SymbolicTensor | Tensor)):
        refuse_truth(tracer, value)
        return bool(value)
    return compare.cast(truth(tracer, value), "bool", python=True)


def not_(value: Any) -> Any:
    found = _truth(value)
    return OPS["equal"](found, False) if isinstance(found, SymbolicTensor) else not found
