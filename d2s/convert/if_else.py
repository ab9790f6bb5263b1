"""`if`: Python's where the condition is Python's, a `cond` where it is a tensor's.

In: the condition, the arms as functions that set the caller's variables, and how to read and set those. Out: the variables set.

>>> y = []
>>> if_else(True, lambda: y.append(1), lambda: y.append(2), lambda: (), lambda values: None, ())
>>> y
[1]
"""

from collections.abc import Callable, Sequence
from typing import Any

from d2s.capture.alternatives import each
from d2s.capture.branch import branch
from d2s.capture.forms import Later, OneOf
from d2s.capture.steps import truth as truth_of_object
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import refuse
from d2s.convert.loads import guard_content
from d2s.convert.methods import truth_asked
from d2s.eager.tensor import Tensor
from d2s.ops import OPS

Arm = Callable[[], None]
Get = Callable[[], tuple[Any, ...]]
Set = Callable[[tuple[Any, ...]], None]


def if_else(test: Any, then: Arm, otherwise: Arm, get: Get, set: Set, names: Sequence[str]) -> None:
    tracer, test = capturing(), truth_asked(test)
    if isinstance(test, OneOf | Later):
        test = truth_of(test)
    if tracer and isinstance(test, SymbolicTensor | Tensor):
        before = get()
        set(tuple(branch(tracer, truth(tracer, test), [_ending(arm, before, get, set) for arm in (then, otherwise)])))
        return
    guard_truth(tracer, test)
    if test:
        then()
    else:
        otherwise()


def _ending(arm: Arm, before: tuple[Any, ...], get: Get, set: Set) -> Callable[[], list[Any]]:
    """An arm as a function: it finds the variables as they were before, and gives those at its end."""

    def run() -> list[Any]:
        set(before)
        arm()
        return list(get())

    return run


def truth_of(value: Any) -> Any:
    """`bool(value)`: Python's, or of a tensor as a Python bool of run time."""
    tracer, value = capturing(), truth_asked(value)
    if isinstance(value, OneOf):
        return each(value, truth_of)
    if isinstance(value, Later):
        return truth_of_object(value)
    if not (tracer and isinstance(value, SymbolicTensor | Tensor)):
        guard_truth(tracer, value)
        return bool(value)
    found = truth(tracer, value)
    return found if found.value.type.python else OPS["cast"](found, "bool", python=True)


def guard_truth(tracer: Tracer | None, test: Any) -> None:
    """The truth of a container is its length."""
    guard_content(tracer, test)


def truth(tracer: Tracer, test: Any) -> SymbolicTensor:
    """`bool(test)` as a symbol."""
    symbol = tracer.symbol_of(test)
    assert symbol is not None
    if any(d != 1 for d in symbol.value.type.shape):
        refuse(
            "D2S1001",
            f"the truth of {symbol.value.type}: only one element can be true or false",
            "reduce it, as in `.sum() > 0`",
        )
    if symbol.value.type.shape:
        symbol = OPS["sum"](OPS["not_equal"](symbol, False if symbol.dtype.kind == "b" else 0))  # of shape [], like a bool
    return symbol if symbol.dtype.kind == "b" else OPS["not_equal"](symbol, 0)  # type: ignore[return-value]
