"""What the parts of a value are at a call: outputs of the Program, arguments, what is outside.

In: parts of what a function returns, of what it stores, of what Python's own functions are given. Out: leaves of a recipe,
and the symbols among them in order.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from d2s.capture.containers import by_path
from d2s.capture.forms import Later
from d2s.capture.guards import MISSING
from d2s.capture.heap import UNREAD
from d2s.capture.kinds import LEAVING, NUMPYS_NUMBERS, parts_of
from d2s.capture.result import Leaf, Recipe
from d2s.capture.result import leaves as leaves_of
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.capture.undefined import Undefined
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError

_PLAIN = (list, dict, set)


class Leaves:
    """Collects the symbols among parts; an argument handed on is the argument itself."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.known = set(map(id, _there_before(tracer.root)))
        self.outputs: list[SymbolicTensor] = []

    def leaf(self, value: Any) -> Leaf:
        if isinstance(value, Undefined):
            return "outside", MISSING  # what reads it raises
        if value is UNREAD:
            return "outside", value
        if isinstance(value, Later):
            return "object", self._output(value.handle)
        if isinstance(value, Tensor):
            value = self.tracer.lift(value)
        if isinstance(value, SymbolicTensor):
            return self._symbol(value)
        if type(value) not in LEAVING and not isinstance(value, NUMPYS_NUMBERS) and id(value) not in self.known:
            message = f"a {type(value).__name__} leaves that was made at capture: every call would return or store the same one"
            raise CaptureError(
                "D2S1003", message, hint="return and store tensors, numbers, and lists, tuples and dicts of them"
            )
        return "outside", value

    def _symbol(self, symbol: SymbolicTensor) -> Leaf:
        root = self.tracer.root
        source = root.source(symbol.value)
        if source is not None:
            return source
        for tensor, lifted in root.lifted.values():
            if lifted.value is symbol.value and id(tensor) not in root.made:
                return "outside", tensor
            if lifted.value is symbol.value and root.now(lifted) is lifted:
                return "copy", tensor
        return "output", self._output(symbol)

    def _output(self, symbol: SymbolicTensor) -> int:
        known = [s.value for s in self.outputs]
        if symbol.value not in known:
            self.outputs.append(symbol)
            return len(known)
        return known.index(symbol.value)


def found_outside(tracer: Tracer) -> dict[int, Leaf]:
    """Lists, dicts, sets and tuples that were there before, by id; those of arguments and of what calls read anew are found
    by their numbers.
    """
    root = tracer.root
    found: dict[int, Leaf] = {id(c): ("outside", c) for c in _there_before(root) if type(c) in _PLAIN or isinstance(c, tuple)}
    made = {id(record): ("record", record) for record in root.heap.records()}
    return found | {at: ("container", n) for at, n in root.containers.items()} | made


def tighten(tracer: Tracer, recipe: Recipe) -> None:
    """Has the capture depend on which tuples these are that calls hand on."""
    handed = {id(at) for kind, at in leaves_of(recipe) if kind == "outside" and isinstance(at, tuple)}
    for guard in tracer.root.guards.values() if handed else ():
        if not handed.isdisjoint(map(id, _there_before(tracer.root, [guard.kept]))):
            guard.tighten(handed | set(guard.exact))


def refuse_parted(tracer: Tracer, leaving: Collection[int]) -> None:
    """What was one container on some path leaves as one, or not at all; `leaving` are the ids of what a call makes."""
    for several in tracer.root.parted:
        found = [here for ids in several for here in [ids.intersection(leaving)] if here]
        if len(found) > 1:
            where = next((tracer.root.twins[key] for key in sorted(found[0]) if key in tracer.root.twins), "")
            message = "two names of one list, dict or object leave, which is one on some paths only"
            raise CaptureError("D2S1003", message, where=where, hint="return or store one of them, or copy it on all paths")


def _there_before(root: Tracer, among: Iterable[Any] = ()) -> Iterator[Any]:
    """What was read from outside and what was there in it, directly or not, before the capture changed it."""
    read = [*root.leaves, *(guard.kept for guard in root.guards.values()), *(c for c, _ in root.heap.given.values())]
    waiting, seen = list(among or read), set[int]()
    while waiting:
        value = waiting.pop()
        if id(value) in seen or by_path(value) or root.heap.has(value):
            continue
        seen.add(id(value))
        yield value
        waiting += parts_of(root.heap.given.get(id(value), (None, value))[1])
