"""What ops mean where nothing is being captured: they run at once, and go on the tape where a gradient is wanted.

In: an op and tensors. Out: tensors. What an op did twice, its native door does from then on.

>>> from d2s.ops.dispatch import handlers
>>> handlers.base.run(OPS["neg"], (Tensor(np.ones(2)),), {}).tolist()
[-1.0, -1.0]
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from d2s import types
from d2s.autodiff import reads, sweep, tape, writes
from d2s.autodiff.mode import mode, recording
from d2s.eager.tensor import Tensor
from d2s.errors import GradientError
from d2s.exact import Exactly
from d2s.once import once
from d2s.ops import OPS, Op, dispatch
from d2s.runtime import launch, native_launcher
from d2s.types import DType, Type

SEEN = 4096  # kinds of calls remembered as made
TRIES = 3  # cases made of one kind of call
_EQUAL = frozenset({type(None), bool, int, str, DType})  # of attributes that are the same where they are equal: -0.0 equals 0.0


def again(edge: Any, array: np.ndarray) -> Tensor:
    """What a node was given, as a tensor a gradient of its gradient goes through."""
    if not isinstance(edge, Tensor):
        return Tensor(array, edge is None, edge)
    if edge.array is not array:
        message = "a tensor that a gradient of a gradient needs was given another array"
        raise GradientError("D2S0006", message, hint="compute the gradients before you change it")
    return edge


def refuse_changed(array: np.ndarray, after: float, said: str, line: Callable[[], str]) -> None:
    """Saved values that are no longer what they were cannot be read: says which, and both of the user's lines."""
    write = writes.of(array)
    if write is not None and write.order > after:
        raise writes.refusal(said, line(), launch.type_of(array), write.line)


class OpNode(tape.TapeNode):
    """An op's use by eager code: it saves arrays, which become tensors only when a gradient asks for them."""

    __slots__ = ("attrs", "op", "saved")

    def __init__(self, op: Op, edges: Iterable[Any], attrs: dict[str, Any], saved: Sequence[np.ndarray]) -> None:
        super().__init__(edges)
        self.op, self.attrs, self.saved = op, attrs, saved  # inputs, then results

    def pull(self, cotangents: dict[int, Any], totals: tape.Totals) -> None:
        if writes.after(self.order):
            for k in self.read():
                refuse_changed(self.saved[k], self.order, f"{self.op.name}()", lambda: self.line)
        inputs, results = self._tensors(totals.connected)
        out = results[0] if len(results) == 1 else tuple(results)
        spots = [tape.where(edge) for edge in self.edges]
        wanted = [totals.wants_at(spot) for spot in spots]
        g = tuple(map(cotangents.get, range(len(results)))) if "composed" in self.op.rules else cotangents[0]
        sweep.pull(self.op, self.attrs, g, out, inputs, wanted, lambda i, c: totals.add_at(spots[i], c))

    def blamed(self) -> tuple[str, str]:
        return f"{self.op.name}()", self.line

    def read(self) -> set[int]:
        """Which of the saved values the gradient reads."""
        given = tuple(launch.type_of(a) for a in self.saved[: len(self.edges)])
        return reads.of_gradient(self.op, given, Exactly(self.attrs), tuple(edge is not None for edge in self.edges))

    def _tensors(self, connected: bool) -> tuple[list[Tensor], list[Tensor]]:
        """Inputs and results; with their history if the sweep goes on the tape."""
        count = len(self.edges)
        if not connected:
            return [Tensor(a) for a in self.saved[:count]], [Tensor(a) for a in self.saved[count:]]
        inputs = [again(edge, a) for edge, a in zip(self.edges, self.saved, strict=False)]
        first, *others = self.saved[count:]
        return inputs, [Tensor(first, False, self), *map(Tensor, others)]

    def outlive(self, array: np.ndarray) -> None:
        """Makes the node independent of an array that is to be overwritten with the node's first result."""
        read, first = self.read(), len(self.edges)
        saved, needed = list(self.saved), [k for k in read if k < first and self.saved[k] is array]
        if needed:
            saved[needed[0]] = array.copy()
        for k in needed:
            saved[k] = saved[needed[0]]
        if first not in read:
            saved[first] = array  # not a second copy of the result
        self.saved = tuple(saved)

    def release(self) -> None:
        super().release()
        self.saved = ()


class _Eager:
    """The handler of ops where nothing is being captured. What an op did twice, its door does from then on natively."""

    def __init__(self) -> None:
        self.doors: dict[Op, native_launcher.Door] = {}
        self.seen: dict[tuple[Any, ...], int] = {}
        self.planned: set[Op] = set()
        self.plans: dict[tuple[Any, ...], tuple[launch.Prepared, list[Type], dict[str, Any]]] = {}

    @once
    def classes(self) -> native_launcher.Classes | None:
        """What native doors make; None where they cannot be used."""
        node = OpNode(OPS["add"], (), {}, ())
        found = native_launcher.Classes(Tensor(np.zeros(())), node, writes.clock, mode)
        return found if native_launcher.usable(found) else None

    def line(self) -> str:
        return ""

    def type_of(self, value: Any) -> Type | None:
        return launch.type_of(value.array) if isinstance(value, Tensor) else None

    def constant(self, number: bool | int | float, type: Type) -> Tensor:
        return Tensor(types.array_of(number, type.dtype))

    def run(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        arrays = [x.array for x in inputs]
        return self._made(op, inputs, arrays, attrs, launch.run(op, [launch.type_of(a) for a in arrays], arrays, attrs))

    def _made(self, op: Op, inputs: Sequence[Any], arrays: Sequence[np.ndarray], attrs: dict[str, Any], found: Any) -> Any:
        """Tensors of an op's results, with its node on the tape where a gradient is wanted."""
        results = found if isinstance(found, tuple) else (found,)
        edges = [tape.edge(x) for x in inputs] if recording() and results[0].dtype.kind == "f" else []
        live = any(edge is not None for edge in edges)
        node = OpNode(op, edges, attrs, (*arrays, *results)) if live else None
        first = Tensor(results[0], not live, node)
        if node is not None and op.has("composed"):
            return first if len(results) == 1 else (first, *_others(results, node))
        return (first, *map(Tensor, results[1:])) if isinstance(found, tuple) else first

    def known(self, op: Op, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """What no door does - any number of inputs, tuples made anew - but went well before."""
        key = _call(op, inputs, attrs) if op in self.planned else None
        plan = None if key is None else self.plans.get(key)
        if plan is None:
            return None
        ready, given, canonical = plan
        arrays = [x.array for x in inputs]
        return self._made(op, inputs, arrays, canonical, launch.using(ready, op, given, arrays, canonical))

    def learn(self, op: Op, inputs: Sequence[Any], attrs: dict[str, Any]) -> None:
        """Teaches the op's door the call that just went well the plain way, if it is one a door can do."""
        number = None if op.has("python") else _number_dtype(op, inputs)
        if number is None or not all(map(_constant, attrs.values())):
            return
        found = [self.type_of(x) or Type(number) for x in inputs]
        attributes = op.canonical(found, attrs)
        key = op, tuple(found), Exactly(attributes)
        prepared = launch.prepared(*key)
        times = self._again(key)
        if op.variadic or self.classes is None or times > TRIES:
            self._plan(op, inputs, attrs, (prepared, found, attributes))
        elif times:
            arguments, records = (*inputs, *attrs.values()), prepared.outputs[0].dtype.kind == "f"
            self._door(op).learn(
                native_launcher.Case(
                    *(arguments, prepared.address, prepared.results, prepared.extents, records, attributes, number.numpy)
                )
            )

    def _plan(self, op: Op, inputs: Sequence[Any], attrs: dict[str, Any], plan: Any) -> None:
        """Keeps what a call comes to that no door does."""
        key = _call(op, inputs, attrs)
        if key is not None:
            if len(self.plans) >= SEEN:
                self.plans.clear()
            self.plans[key] = plan
            self.planned.add(op)

    def _again(self, key: tuple[Any, ...]) -> int:
        """How often this was seen before. What happens once is not worth a case, nor what no case made of it serves.

        Doors tell attributes by identity: a call that makes its tuple of axes anew each time comes here again.
        """
        if key not in self.seen and len(self.seen) >= SEEN:
            self.seen.clear()
        self.seen[key] = times = self.seen.get(key, -1) + 1
        return times

    def _door(self, op: Op) -> native_launcher.Door:
        if op not in self.doors:
            assert self.classes is not None
            self.doors[op] = native_launcher.Door(self.classes, op, len(op.arrays))
            op.door = self.doors[op].call
        return self.doors[op]


def _others(results: Sequence[np.ndarray], node: OpNode) -> Iterator[Tensor]:
    """The results behind the first, where a gradient flows through all."""
    return (Tensor(found, False, tape.result(node, n)) for n, found in enumerate(results) if n)


def _number_dtype(op: Op, inputs: Sequence[Any]) -> DType | None:
    """The dtype Python numbers become where the op takes all else as it is; None where an input is cast or is unusual."""
    operands = inputs[op.kept :] if op.promotes else ()
    tensors = inputs[: op.kept] if op.promotes else inputs
    if not all(isinstance(x, Tensor) for x in tensors):
        return None
    if not all(isinstance(x, Tensor) or type(x) in (int, float) for x in operands):
        return None
    found = {x.dtype for x in (operands or inputs) if isinstance(x, Tensor)}
    kinds = {type(x) for x in operands if not isinstance(x, Tensor)}
    if not found or (op.promotes and len(found) > 1):
        return None
    of = next(iter(found))
    if op.whole is not None and of.kind == "i":
        return None
    return of if not kinds or of.kind == "f" or (of.kind == "i" and kinds == {int}) else None


def _call(op: Op, inputs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, ...] | None:
    """What makes two calls the same: types of the inputs, attributes by value and type (True is not 1); None: no telling."""
    given, kinds = list[Any](), list[Any]()
    for x in inputs:
        if not isinstance(x, Tensor):
            return None
        given.append((x.array.dtype.num, x.array.shape))
    for v in attrs.values():
        kind = type(v)
        if kind is tuple:
            inside = tuple(map(type, v))
            if not _EQUAL.issuperset(inside):
                return None
            kinds.append(inside)
        elif kind not in _EQUAL:
            return None
        else:
            kinds.append(kind)
    return op, tuple(given), tuple(attrs.values()), tuple(kinds)


def _constant(value: Any) -> bool:
    """Whether an attribute can be told by identity: it never changes."""
    if type(value) is tuple:
        return all(map(_constant, value))
    return isinstance(value, (type(None), bool, int, float, str, DType))


dispatch.install(_Eager())
