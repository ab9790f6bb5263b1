"""What a call changes of what was there before: where it is written, and what.

In: the places and containers that a capture changed. Out: `Store`s, each with the value a capture left there; a call describes
the value like a part of its result and writes it with `write`.

>>> import types
>>> box = types.SimpleNamespace(n=1)
>>> write(("attribute", box, "n"), 2, Run())
>>> box.n
2
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s.autodiff.mode import recording
from d2s.capture.containers import base_of, by_path, contents
from d2s.capture.guards import MISSING
from d2s.capture.heap import UNREAD, Place, restore
from d2s.capture.leaves import Leaves, found_outside, refuse_parted, tighten
from d2s.capture.result import Made, build, describe
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.capture.variables import Holder, put_in
from d2s.eager.tensor import Tensor
from d2s.runtime import random_state
from d2s.runtime.host import Run, Untold

Target = tuple[Any, ...]


class Store(NamedTuple):
    """One place and what a call leaves there."""

    target: Target
    value: Any


def stores(tracer: Tracer, arguments: dict[int, Any], changed: list[tuple[Any, Any, Any]]) -> list[Store]:
    """All that a capture changed; `arguments` are the containers that stand for those of a call, by id."""
    found = [_of_place(tracer, key, place) for key, place in tracer.heap.places.items()]
    found += [_of_container(tracer, *change, arguments.get(id(change[0]))) for change in changed]
    found += [_of_tail(c, tail) for c, tail in tracer.tails.values() if by_path(tail) or contents(tail)]
    return [store for store in found if store is not None]


def _of_place(tracer: Tracer, key: Any, place: Place) -> Store | None:
    if place.now is UNREAD or place.now is place.before or _lies_there(tracer, place):
        return None
    if place.target is not None:
        return Store(place.target, place.now)
    leaf = tracer.source(key)
    if leaf is None:
        found = (("outside", t) for t, symbol in tracer.lifted.values() if symbol.value is key and id(t) not in tracer.made)
        leaf = next(found, None)
    return None if leaf is None else Store(("tensor", leaf, place.history), place.now)


def _lies_there(tracer: Tracer, place: Place) -> bool:
    """Whether an optimizer has left it where it belongs, or it has never been anywhere else."""
    training = tracer.root.training
    if training is None or not isinstance(place.now, SymbolicTensor):
        return False
    before = {place.before.value} if isinstance(place.before, SymbolicTensor) else set()
    return not (training.written | before).isdisjoint([place.now.value, *training.lain(place.now.value)])


def _of_container(tracer: Tracer, container: Any, entered: Any, left: Any, argument: int | None) -> Store:
    """Of a container that only got more, what it got; it may hold something else at each call."""
    leaf: Any = ("outside", container) if argument is None else ("container", argument)
    if argument is None and (id(container), "content") not in tracer.guards:
        more = _more(entered, left)
        if more is not None:
            return Store(("more", leaf, len(entered)), more)
    return Store(
        ("content", leaf), list(left) if isinstance(left, tuple) else set(left) if isinstance(left, frozenset) else left
    )


def _of_tail(container: Any, tail: Any) -> Store:
    """What paths have added to a container from outside, whatever it holds by then."""
    kind = ("entries", ("outside", container)) if isinstance(container, dict) else ("more", ("outside", container), 0)
    return Store(kind, tail)


def _more(entered: Any, left: Any) -> Any:
    """What was added to a container, or None if it lost something, too."""
    if not isinstance(left, dict | frozenset | tuple):
        return None
    if isinstance(left, dict):
        kept = list(left)[: len(entered)] == list(entered)
        return {k: v for k, v in left.items() if k not in entered or entered[k] is not v} if kept else None
    if isinstance(left, frozenset):
        return set(left - entered) if entered <= left else None
    kept = len(left) >= len(entered) and all(x is y for x, y in zip(entered, left, strict=False))
    return list(left[len(entered) :]) if kept else None


class Pending:
    """What a run has changed up to some step, to be written there: the step's last inputs are what the recipe is made of.

    `joined`: some of them may be one with others, or with tensors from outside, by the path.
    """

    def __init__(self, stores: Sequence[Store], recipe: Made, python: Sequence[bool], joined: bool) -> None:
        self.targets, self.recipe, self.python = [store.target for store in stores], recipe, python
        self.joined = joined
        self.values_alone = {
            part[1]
            for (kind, *_, last), part in zip(self.targets, recipe.parts, strict=True)
            if kind == "tensor" and not last and isinstance(part, tuple) and part[0] == "output"
        }  # outputs of which a tensor gets the values, and keeps its place on the tape

    def __call__(self, run: Run, arrays: Sequence[np.ndarray]) -> None:
        if run.repeatable and (self.joined or self._has_no_place(run)):
            raise Untold
        edges: Sequence[Any] = () if all(self.python) or run.history is None else run.history()
        made: dict[int, Tensor] = {}

        def leaf(kind: str, at: Any) -> Any:
            if kind == "output" and not self.python[at] and at not in made:
                made[at] = tensor(arrays[at], edges[at][0] if edges and at not in self.values_alone else None)
            if kind == "output":
                return arrays[at].item() if self.python[at] else made[at]
            if kind == "row":
                each = edges[at] if edges else [None] * len(arrays[at])
                return [a.item() if self.python[at] else tensor(a, e) for a, e in zip(arrays[at], each, strict=True)]
            return run.objects[int(arrays[at])] if kind == "object" else run.leaf(kind, at)  # type: ignore[misc]

        def tensor(array: np.ndarray, edge: Any) -> Any:
            return edge if isinstance(edge, Tensor) else Tensor(array.copy(), edge is None, edge)

        for target, value in zip(self.targets, build(self.recipe, leaf), strict=True):
            write(target, value, run)

    def _has_no_place(self, run: Run) -> bool:
        """Whether a leaf that wants a gradient would be changed in place: eager code ends there."""
        held = [_owner(owner, run) for kind, owner, *history in self.targets if kind == "tensor" and history[0] and recording()]
        return any(tensor.node is None and not tensor.stop_gradient for tensor in held)

    def __repr__(self) -> str:
        return "'" + " ".join(target[0] for target in self.targets) + "'"


def pending(tracer: Tracer) -> tuple[list[SymbolicTensor], Pending | None]:
    """What was changed on this path so far: the symbols of it, and how to write it."""
    root = tracer.root
    found = stores(root, root.containers, root.heap.changed())
    if not found:
        return [], None
    leaves, outside = Leaves(tracer), found_outside(root)
    recipe = Made(tuple, (), [])
    seen: dict[int, Made] = {}
    recipe.parts += [describe(store.value, leaves.leaf, outside, seen) for store in found]
    tighten(tracer, recipe)
    refuse_parted(tracer, seen)
    joined = any(s.value in root.joined and not s.value.type.python for s in leaves.outputs)
    return leaves.outputs, Pending(found, recipe, [s.value.type.python for s in leaves.outputs], joined)


def write(target: Target, value: Any, run: Run) -> None:
    """Leaves a value in a place."""
    kind, owner, *details = target
    if value is not UNREAD:
        _WRITE[kind](owner, value, run, *details)


def _attribute(owner: Any, value: Any, run: Run, name: str) -> None:
    if value is not MISSING:
        setattr(owner, name, value)
    elif getattr(owner, name, MISSING) is not MISSING:
        delattr(owner, name)


def _tensor(owner: Any, value: Tensor, run: Run, history: bool) -> None:
    tensor = _owner(owner, run)
    tensor._become(value) if history else tensor._write(value.array)


def _grad(owner: Any, value: Any, run: Run) -> None:
    _owner(owner, run).grad = value


def _stop_gradient(owner: Any, value: Any, run: Run) -> None:
    _owner(owner, run).stop_gradient = value


def _stepped(owner: Callable[[Any], None], value: Any, run: Run) -> None:
    owner(value)


def _content(owner: Any, value: Any, run: Run) -> None:
    restore(_owner(owner, run), value)


def _added(owner: Any, value: Any, run: Run, count: int) -> None:
    container = _owner(owner, run)
    if isinstance(container, list):
        container[run.lengths.setdefault(id(container), len(container)) :] = value
    else:
        base_of(container).update(container, value)


def _entries(owner: Any, value: Any, run: Run) -> None:
    container = _owner(owner, run)
    for key, held in value:
        base_of(container).__setitem__(container, key, held)


def _owner(leaf: Any, run: Run) -> Any:
    return leaf[1] if leaf[0] == "outside" else run.leaf(*leaf)  # type: ignore[misc]


def _variable(owner: Holder, value: Any, run: Run, name: str) -> None:
    put_in(owner, name, value)


def _stream(owner: Any, value: Tensor, run: Run) -> None:
    random_state.move_to(value.item())


def _seed(owner: Any, value: Tensor, run: Run) -> None:
    random_state.start_from(value.item())


_WRITE: dict[str, Callable[..., None]] = {
    "attribute": _attribute,
    "tensor": _tensor,
    "grad": _grad,
    "stop_gradient": _stop_gradient,
    "stepped": _stepped,
    "content": _content,
    "more": _added,
    "entries": _entries,
    "stream": _stream,
    "seed": _seed,
    "variable": _variable,
}
