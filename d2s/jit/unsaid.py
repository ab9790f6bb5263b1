"""What a capture does besides what its results need, and no file holds: prints, and what it notes in attributes and containers.

In: a capture and its Program. Out: both without that, and what it was.

>>> box = type("Box", (), {"calls": 0})()
>>> def count(x):
...     box.calls += 1
...     return x * 2.0
>>> made = d2s.to_static(count).concrete_program(d2s.to_tensor([1.0]))
>>> captured, program, said = without_notes(made.captured, made.captured.program)
>>> said, [node.op for node in program.nodes]
(["'calls' of a Box"], ['constant', 'multiply'])
"""

import dataclasses
from collections.abc import Iterator

from d2s.capture.result import Made
from d2s.capture.stores import Target
from d2s.capture.trace import Captured
from d2s.ir.program import Node, Program, Value
from d2s.passes import drop_dead

_QUOTE = "'"
_NOTES = ("attribute", "variable", "content", "more", "entries")  # kinds of stores


def without_notes(captured: Captured, program: Program) -> tuple[Captured, Program, list[str]]:
    """As they are where a result needs what is noted, or something else is changed, too."""
    notes = [target for target in captured.stores if target[0] != "stream"]
    if captured.draws or captured.told or not all(map(_is_note, notes)):
        return captured, program, []
    silent, said = _silent(Program(program.name, program.inputs, program.nodes, program.outputs[: captured.returned]))
    several, first = len(captured.reads), len(captured.arguments) + len(captured.lifted)
    read, results = silent.inputs[first : first + several], silent.outputs
    kept = _apart_from(silent, read)
    whole = Program(silent.name, silent.inputs, kept, results)
    asks = not set(read).isdisjoint(_used(whole)) or any(node.op == "host" for node in whole.every_node())
    if asks or any(map(_raises, set(silent.nodes).difference(kept))):
        return captured, program, []
    inputs = (*whole.inputs[:first], *whole.inputs[first + several :])
    rest = dataclasses.replace(captured, reads=[], held={}, stores=[], stored=Made(tuple, (), []))
    return rest, drop_dead.apply(Program(whole.name, inputs, whole.nodes, results)), [*map(shown, notes), *said]


def _is_note(target: Target) -> bool:
    """Whether it is nothing that belongs to the state of a layer, or to the caller."""
    kind, owner, *details = target
    if kind == "attribute":
        return details[0] not in getattr(owner, "_buffers", ())
    return kind in _NOTES and (kind == "variable" or owner[0] == "outside")


def shown(target: Target) -> str:
    """What a call changes, in words."""
    kind, owner, *details = target
    if kind == "attribute":
        return f"'{details[0]}' of a {type(owner).__name__}"
    if kind in _NOTES:
        return f"'{details[0]}'" if kind == "variable" else f"a {type(owner[1]).__name__}"
    return "the seed" if kind == "seed" else "a tensor that was there before"


def _silent(program: Program) -> tuple[Program, list[str]]:
    """The Program without steps of Python's that nothing asks for what they gave, and what these were."""
    nodes, gone, used = [], list[str](), set(_used(program))
    for node in program.nodes:
        if node.op == "host" and used.isdisjoint(node.outputs):
            gone.append(f"{str(node.attrs['call']).strip(_QUOTE)}()")
            continue
        inner = {name: _silent(region) for name, region in node.regions().items()}
        gone += [said for _, more in inner.values() for said in more]
        attrs = node.attrs | {name: region for name, (region, _) in inner.items()}
        nodes.append(Node(node.op, node.inputs, node.outputs, attrs, node.where) if inner else node)
    return Program(program.name, program.inputs, tuple(nodes), program.outputs), gone


def _apart_from(program: Program, read: tuple[Value, ...]) -> tuple[Node, ...]:
    """The nodes that the results need, and those that have nothing to do with what is read."""
    needed, noted = set(program.outputs), set(read)
    for node in reversed(program.nodes):
        if not needed.isdisjoint(node.outputs):
            needed.update(node.inputs)
    kept = []
    for node in program.nodes:
        if noted.isdisjoint(node.inputs) or not needed.isdisjoint(node.outputs):
            kept.append(node)
        else:
            noted.update(node.outputs)
    return tuple(kept)


def _raises(node: Node) -> bool:
    """Whether the user's code raises there: what is noted decides whether there is a result."""
    return node.op == "fail" or any(inner.op == "fail" for region in node.regions().values() for inner in region.every_node())


def _used(program: Program) -> Iterator[Value]:
    yield from program.outputs
    for node in program.nodes:
        yield from node.inputs
