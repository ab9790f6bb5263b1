"""What the parts of a value are at a call: outputs of the Program, arguments, what is outside.

In: parts of what a function returns, of what it stores, of what Python's own functions are given. Out: leaves of a recipe,
and the symbols among them in order.
"""

from collections.abc import Sequence
from typing import Any

from d2s.capture.forms import Later
from d2s.capture.guards import MISSING
from d2s.capture.heap import UNREAD
from d2s.capture.kinds import LEAVING, NUMPYS_NUMBERS
from d2s.capture.result import Leaf
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.capture.undefined import Undefined
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError

_PLAIN = (list, dict, set)


class Leaves:
    """Collects the symbols among parts; an argument handed on is the argument itself."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.known = {id(guard.kept) for guard in tracer.root.guards.values()} | {id(leaf) for leaf in tracer.root.leaves}
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
    """Lists, dicts and sets that were there before, by id: read from somewhere, and free of what the capture made.

    So are those that have changed themselves, and what they held before.
    """
    root = tracer.root
    read = [*root.leaves, *(guard.kept for key, guard in root.guards.items() if key[1] != "content")]
    there = [c for c in read if type(c) in _PLAIN and not _holds_symbols(c)] + _held_before(root)
    found: dict[int, Leaf] = {id(c): ("outside", c) for c in there}
    made = {id(record): ("record", record) for record in root.heap.records()}
    return found | {at: ("container", n) for at, n in root.containers.items()} | made


def _held_before(root: Tracer) -> list[Any]:
    """The containers from outside that the capture has changed, and those which they held, directly or not."""
    found: dict[int, Any] = {}
    waiting = [container for container, _ in root.heap.given.values()]
    while waiting:
        container = waiting.pop()
        if id(container) not in found and not root.heap.has(container):
            found[id(container)] = container
            _, held = root.heap.given.get(id(container), (None, container))
            parts = held.values() if isinstance(held, dict) else held
            waiting += [part for part in parts if type(part) in (*_PLAIN, tuple)]
    return [container for container in found.values() if type(container) in _PLAIN]


def _holds_symbols(container: Any, around: tuple[int, ...] = ()) -> bool:
    parts: Sequence[Any] = list(container.values()) if isinstance(container, dict) else list(container)
    inside = (*around, id(container))
    containers = [x for x in parts if type(x) in (list, dict, tuple) and id(x) not in inside]
    return any(isinstance(x, SymbolicTensor) for x in parts) or any(_holds_symbols(x, inside) for x in containers)
