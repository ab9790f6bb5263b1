"""`d2s.seed(k)` in a captured function: the draws behind it read the new seed, and each call leaves it behind.

In: an int, of run time or not. Out: nothing; seed and counter are other values from here on, on this path.
"""

from typing import Any

from d2s.capture.alternatives import each
from d2s.capture.branch import branch
from d2s.capture.forms import OneOf
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.ops import OPS
from d2s.ops.dispatch import current
from d2s.ops.draw import signed
from d2s.ops.found import number
from d2s.runtime import random_state
from d2s.types import Type, int64


def begin_anew(tracer: Tracer, seed: Any) -> None:
    """`seed`."""
    if isinstance(seed, OneOf):
        return each(seed, lambda one: begin_anew(tracer, one))  # type: ignore[no-any-return]
    start = _of_run_time(tracer, seed) if isinstance(seed, SymbolicTensor | Tensor) else None
    if start is None:
        start = current().constant(signed(random_state.usable_seed(seed)), Type(int64))
    place, counter = tracer.stream_places()
    tracer.root.heap.set(place, start)
    tracer.root.heap.set(counter, current().constant(0, Type(int64)))
    return None


def _of_run_time(tracer: Tracer, seed: Any) -> Any:
    """The value of a tensor, or a number of run time; None where it is no int."""
    symbol: Any = tracer.symbol_of(seed)
    if symbol.dtype.kind != "i" or symbol.value.type.shape:
        return None

    def below_zero() -> list[Any]:
        raise ArgumentError("D2S0004", "seed(): a seed is an int from 0 to 2**64 - 1, and below 0 in this run")

    branch(tracer, OPS["less_than"](symbol, 0), (below_zero, list))
    return number(symbol)
