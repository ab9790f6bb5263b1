"""What a capture does, as a file has it: of fed values and stored ones, results; in training also what stored values become.

In: the capture of a method, and what its arguments are called. Out: `Body`. What a file cannot hold is refused.

>>> double = d2s.to_static(lambda x: x * 2.0)
>>> body = body_of(double.concrete_program(d2s.to_tensor([1.0])), ["x"])
>>> [node.op for node in body.program.nodes], list(body.feeds.values()), body.tensors
(['constant', 'multiply'], ['x'], [])
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from d2s import passes
from d2s.capture.heap import UNREAD
from d2s.capture.result import Choice, Leaf, Made, Recipe
from d2s.capture.result import leaves as leaves_of
from d2s.capture.stores import Target
from d2s.capture.trace import Captured
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.export.model import CHOSEN, JOINED, REPLACED, WRITTEN, outputs_of
from d2s.export.streams import for_file
from d2s.ir.program import Node, Program, Value
from d2s.jit import returned
from d2s.jit.joined_results import Joined
from d2s.jit.unsaid import shown, without_notes
from d2s.jit.variant import Variant
from d2s.nn.layer import Layer
from d2s.passes import in_words
from d2s.runtime import launch


class Body(NamedTuple):
    """A Program whose inputs are `feeds`, which it has names for, and then `tensors`; its last outputs are what changes."""

    program: Program
    feeds: dict[Value, str]
    tensors: list[Tensor]
    changes: list[tuple[Tensor, str]]
    returns: Any
    left_out: list[str]
    noted: Sequence[str] = ()  # what is done besides, which no file holds

    @property
    def results(self) -> tuple[Value, ...]:
        """The outputs that are returned."""
        return self.program.outputs[: len(self.program.outputs) - outputs_of(self.changes)]


def body_of(variant: Variant, names: Sequence[str], changing: bool = False) -> Body:
    """What a file may hold of a capture: what computes, and draws random numbers; and, where `changing`, changes tensors."""
    captured, program, noted = variant.captured, variant.captured.program, list[str]()
    if not changing:
        captured, program, noted = without_notes(captured, program)
    program = in_words.apply(_stopped(passes.prepare(program), captured))
    steps = [str(node.attrs["call"]) for node in program.every_node() if node.op == "host"]
    changed = any(kind != "stream" for kind, *_ in captured.stores) or captured.reads
    if steps or captured.told or (changed and not changing):
        targets = dict.fromkeys(shown(target) for target in captured.stores if target[0] != "stream")
        does = f"calls {steps[0]}" if steps else f"changes {', '.join(targets) or 'what was there before'}"
        raise ArgumentError("D2S0004", f"save(): '{program.name}' {does}: a file cannot hold that")
    if captured.history and captured.history.watched:
        raise ArgumentError("D2S0004", f"save(): '{program.name}' has hooks in its gradients: a file cannot hold that")
    return _Reading(captured, program).body(names)._replace(noted=noted)


def _stopped(program: Program, captured: Captured) -> Program:
    """The Program with an end of history at each gradient that has none: a file knows of no other."""
    nodes, instead = list[Node](), dict[Value, Value]()
    for node in program.nodes:
        nodes.append(Node(node.op, tuple(instead.get(v, v) for v in node.inputs), node.outputs, node.attrs, node.where))
        for value in captured.history.stopped.intersection(node.outputs) if captured.history else ():
            instead[value] = Value(value.type)
            nodes.append(Node("detached", (value,), (instead[value],), {}, node.where))
    return Program(program.name, program.inputs, tuple(nodes), tuple(instead.get(v, v) for v in program.outputs))


class _Reading:
    def __init__(self, captured: Captured, program: Program) -> None:
        self.captured, self.program = captured, program
        self.fed = dict(zip(captured.arguments, program.inputs, strict=False))
        self.state = program.inputs[len(program.inputs) - 2 * captured.draws :]
        self.held = program.inputs[len(self.fed) : len(program.inputs) - len(self.state)]
        self.tensors = [*captured.lifted, *(read.read() for read in captured.reads)]
        self.inputs = {id(t): value for t, value in zip(self.tensors, self.held, strict=True)}

    def body(self, names: Sequence[str]) -> Body:
        joined = Joined(self.program, lambda leaf: self.value(*leaf, "returns"))
        returns, leaves = returned.described(joined.recipe(self.captured.result))
        self.program = joined.program
        outputs = [self.value(*leaf, "returns") for leaf in leaves]
        changes = self.changes()
        outputs += [value for *_, values in changes for value in values]
        called = {v: names[n] for n, v in self.fed.items()}
        feeds = _used(self.program, outputs, called)
        inputs, nodes = (*feeds, *self.held, *self.state), self.program.nodes
        whole = Program(self.program.name, inputs, nodes, (*outputs, *self.left()))
        whole = for_file(whole) if self.captured.draws else whole
        left_out = [name for value, name in called.items() if value not in feeds]
        return Body(whole, feeds, self.tensors, [(tensor, how) for tensor, how, _ in changes], returns, left_out)

    def value(self, kind: str, at: Any, does: str) -> Value:
        """What a leaf of a recipe is in the Program."""
        if kind == "joined":
            return at  # type: ignore[no-any-return]
        if kind == "output":
            return self.program.outputs[at]
        if kind == "argument":
            return self.fed[at]
        if kind == "read":
            return self.held[len(self.captured.lifted) + at]
        if kind != "outside" or id(at) not in self.inputs:
            what = f"{at!r}" if kind == "outside" else f"a {at.__name__}" if kind == "object" else "a list it was given"
            raise ArgumentError("D2S0004", f"save(): '{self.program.name}' {does} {what}; a file holds tensors only")
        return self.inputs[id(at)]

    def changes(self) -> list[tuple[Tensor, str, list[Value]]]:
        """Which tensors change, how, and the outputs that say what they become."""
        assert isinstance(self.captured.stored, Made)
        pairs = zip(self.captured.stores, self.captured.stored.parts, strict=True)
        found = [(*self._changed(target), part) for target, part in pairs if target[0] != "stream"]
        listed = [(tensor, *self._becoming(how, part)) for tensor, how, part in found]
        for tensor, _, values in listed:
            if id(tensor) not in self.inputs or not values or values[-1].type != self.inputs[id(tensor)].type:
                raise _unheld(self.program.name, "something that is no tensor of it before and after")
        if len(self.inputs) < len(self.tensors) or len({id(tensor) for tensor, *_ in found}) < len(found):
            raise _unheld(self.program.name, "a tensor that it has under two names")
        return listed

    def _becoming(self, how: str, part: Recipe) -> tuple[str, list[Value]]:
        """How a tensor changes, on all paths or on some; no values where that is more than another tensor in its place."""
        if isinstance(part, Choice) and how == REPLACED and ("outside", UNREAD) in part.parts and len(part.parts) == 2:
            place = 1 - part.parts.index(("outside", UNREAD))
            _, values = self._becoming(how, part.parts[place])
            return CHOSEN[place], values and [self.value(*part.tag, "keeps"), *values]
        return how, [self.value(*part, "keeps")] if isinstance(part, tuple) else []

    def _changed(self, target: Target) -> tuple[Any, str]:
        kind, owner, *details = target
        if kind == "tensor" and owner[0] in ("outside", "read"):
            tensor = owner[1] if owner[0] == "outside" else self.tensors[len(self.captured.lifted) + owner[1]]
            return tensor, JOINED if details[0] else WRITTEN
        if kind == "attribute" and isinstance(owner, Layer):
            tensor = getattr(owner, details[0], None)
            if not isinstance(tensor, Tensor):
                raise _unheld(self.program.name, f"'{details[0]}' of a {type(owner).__name__}, which is no tensor")
            if id(tensor) not in self.inputs:  # which nothing reads
                self._take(tensor, details[0])
            return tensor, REPLACED
        what = f"'{details[0]}' of a {type(owner).__name__}" if kind == "attribute" else "what belongs to no layer"
        raise _unheld(self.program.name, what)

    def _take(self, tensor: Tensor, name: str) -> None:
        self.tensors.append(tensor)
        self.held = (*self.held, Value(launch.type_of(tensor.array), name))
        self.inputs[id(tensor)] = self.held[-1]

    def left(self) -> list[Value]:
        """Where a run that draws leaves the stream."""
        if not self.captured.draws:
            return []
        assert isinstance(self.captured.stored, Made)
        pairs = zip(self.captured.stores, self.captured.stored.parts, strict=True)
        parts: list[Leaf] = [leaf for (kind, *_), part in pairs if kind == "stream" for leaf in leaves_of(part)]
        return [self.program.outputs[at] for _, at in parts] or [self.program.inputs[-1]]


def _unheld(name: str, what: str) -> ArgumentError:
    return ArgumentError("D2S0004", f"'{name}' changes {what}: a file cannot hold that")


def _used(program: Program, outputs: Sequence[Value], names: Mapping[Value, str]) -> dict[Value, str]:
    """The inputs something depends on."""
    read = {*outputs}.union(*(node.inputs for node in program.nodes))
    needed, defined = _extents(program, outputs), set[str]()
    used = set()
    for value in sorted(names, key=lambda v: v not in read):
        extents = {d for d in value.type.shape if isinstance(d, str)}
        if value in read or extents & needed - defined:
            used.add(value)
            defined |= extents
    return {value: name for value, name in names.items() if value in used}


def _extents(program: Program, outputs: Sequence[Value]) -> set[str]:
    """The named extents a run has to know."""
    values = [*outputs, *(v for node in program.nodes for v in node.outputs)]
    return {d for v in values for d in v.type.shape if isinstance(d, str)}
