"""Looking for the first nan or infinity: each op looks at its results, eagerly, in static functions and in gradients.

In: `watch(True)`. Out: a NumericError at the op that makes one, with what it was given. While nobody watches, this costs
nothing: watching takes the native doors away from eager code, and has static functions run node by node.

>>> before = watch(True)
>>> try:
...     d2s.log(d2s.to_tensor([1.0, -1.0]))
... except NumericError as error:
...     print(error.message)
... finally:
...     _ = watch(before)
log() gives 1 nan among 2 elements
  x: f32[2] from -1.0 to 1.0, mean 0.0
"""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import Any

import numpy as np

from d2s.autodiff import tape
from d2s.autodiff.passed import each
from d2s.config import knob, set_knobs, unusual
from d2s.errors import NumericError
from d2s.flags import LISTENERS
from d2s.ir.program import Node
from d2s.ops import OPS, Op
from d2s.ops.dispatch import handlers, install
from d2s.runtime import interpreter, launch, user_lines
from d2s.types import Type

_STILL = {
    "cond",
    "while_loop",
    "call",
    "again",
    "constant",
    "hole",
    "stack",
    "push",
    "pop",
    "fail",
    "host",
    "renamed",
    "detached",
}  # what their regions do is seen there, what others hand on where it was made


See = Callable[[str, Sequence[Any], Sequence[Any], str], None]  # an op's name, what it was given and gave, and the user's line


class _Sweeping(threading.local):
    """Where the sweep of a thread is: at which node, and where the user has started it."""

    node: tape.TapeNode | None = None
    started: tuple[CodeType | None, int] = None, 0


class Seen:
    """The handler of eager ops that shows them to somebody."""

    classes = None  # no native doors

    def __init__(self, base: Any, see: See) -> None:
        self.base, self.see = base, see
        self.line, self.type_of, self.constant = base.line, base.type_of, base.constant
        self.sweeping = _Sweeping()

    def run(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        found = self.base.run(op, inputs, attrs)
        results = found if isinstance(found, tuple) else (found,)
        self.see(op.name, [x.array for x in inputs], [r.array for r in results], self.where())
        return found

    def where(self) -> str:
        """The user's line; of what a sweep computes, that of the node it has come to."""
        here, node = user_lines.here(), self.sweeping.node
        return node.line if node and here == self.sweeping.started else user_lines.spelled(*here)

    def sweep(self, node: tape.TapeNode | None) -> None:
        """Notes which node a sweep has come to."""
        self.sweeping.node, self.sweeping.started = node, user_lines.here()

    def known(self, op: Op, inputs: Sequence[Any], attrs: dict[str, Any]) -> None:
        """Nothing is done any quicker."""

    def learn(self, op: Op, inputs: Sequence[Any], attrs: dict[str, Any]) -> None:
        """Nothing is learnt."""


onlookers: list[See] = []  # who sees every op now


def changed(arrays: Sequence[np.ndarray], given: Sequence[np.ndarray], change: Callable[[], None]) -> None:
    """Shows how an optimizer's step changes arrays: a parameter, its state. Where an onlooker raises, nothing has changed."""
    before = [a.copy() for a in arrays]
    change()
    try:
        for see in onlookers:
            see("update", [before[0], given[0], *before[1:], *given[1:]], arrays, user_lines.spelled(*user_lines.here()))
    except NumericError:
        for array, held in zip(arrays, before, strict=True):
            array[...] = held
        raise


@contextlib.contextmanager
def seeing(see: See) -> Iterator[None]:
    """Shows every op to `see` in a `with` block of this, those of static functions too, in all threads."""

    def of_node(node: Node, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        if node.op not in _STILL and (not node.op.startswith("list_") or node.op == "list_stack"):
            given = [a for held in inputs for a in each(held)]
            see(node.op, given, [a for a in results if not isinstance(a, tuple)], node.where)

    base, doors, executor = handlers.base, {op: op.door for op in OPS.values()}, knob("EXECUTOR")
    install(seen := Seen(base, see))
    tape.watching.append(seen.sweep)
    for op in doors:
        op.door = None
    interpreter.seen.append(of_node)
    onlookers.append(see)
    unusual.add("seeing")
    set_knobs(EXECUTOR="interpreter")
    try:
        yield
    finally:
        set_knobs(EXECUTOR=executor)
        interpreter.seen.remove(of_node)
        onlookers.remove(see)
        tape.watching.remove(seen.sweep)
        for op, door in doors.items():
            op.door = door
        install(base)
        if not isinstance(base, Seen):
            unusual.discard("seeing")


_watching: list[Any] = []


def watch(on: bool) -> bool:
    """Begins or ends looking for nans; whether it went on before."""
    before = bool(_watching)
    if on and not before:
        _watching.append(seeing(look))
        _watching[0].__enter__()
    elif before and not on:
        _watching.pop().__exit__(None, None, None)
    return before


def look(name: str, inputs: Sequence[Any], results: Sequence[Any], where: str) -> None:
    """Raises where a result has a nan, or an infinity that no operand has."""
    for result in results:
        if not inputs or result.dtype.kind != "f" or np.isfinite(result).all():
            continue
        nans, infinities = _counts(result)
        if nans or not any(_counts(x)[1] for x in inputs):
            told = _listed(nans, infinities)
            message = f"{name}() gives {told} among {_elements(result.size)}"
            lines = [f"{n}: {_described(x)}" for n, x in zip(_names(name, len(inputs)), inputs, strict=False)]
            raise NumericError("D2S2002", "\n  ".join([message, *lines]), where=where)


def _names(op: str, count: int) -> Sequence[str]:
    return OPS[op].names(count)


def _counts(x: np.ndarray) -> tuple[int, int]:
    """How many nans and infinities there are."""
    return (0, 0) if x.dtype.kind != "f" else (int(np.isnan(x).sum()), int(np.isinf(x).sum()))


def _listed(nans: int, infinities: int) -> str:
    return " and ".join(f"{count} {what}" for count, what in ((nans, "nan"), (infinities, "inf")) if count)


def _elements(count: int) -> str:
    return f"{count} element{'' if count == 1 else 's'}"


def _described(x: np.ndarray) -> str:
    """An operand in a line: its type, the range and the mean of its finite elements, what else there is."""
    of: Type = launch.type_of(x)
    finite = x[np.isfinite(x)] if x.dtype.kind == "f" else x
    told = str(of)
    if finite.size:
        told += f" from {finite.min()} to {finite.max()}, mean {float(finite.astype(np.float64).mean())}"
    held = _listed(*_counts(x))
    return told + (f"; {held}" if held else "")


LISTENERS["FLAGS_check_nan_inf"] = lambda value: watch(bool(value))
