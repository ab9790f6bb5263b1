"""Steps of Python's that may be taken behind a native call: prints, and the texts they print.

In: a Program. Out: where nothing that is computed depends on its steps, and all of it takes less than one would notice, the
Program without them, with what they are given as further outputs, and the lines that take them, in order; those of a branch
where it was taken. What fails in the native call has printed nothing yet, and goes the long way, which prints what eager code
would.

>>> static = d2s.to_static(lambda x: print("twice", x.tolist()) or x * 2.0)
>>> for k in (1.0, 2.0, 3.0):
...     _ = static(d2s.to_tensor([k]))
twice [1.0]
twice [2.0]
twice [3.0]
>>> len(static.quick)
1
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from d2s.capture.result import Made, Recipe
from d2s.capture.steps import Step, finds_nothing, finds_object
from d2s.ir.program import Node, Program, Value

Naming = Callable[[object], str]


Condition = tuple[Value, bool]


class Placed(NamedTuple):
    """A step, what it is given, and the branches it stands in: by the values they ask, and the answers."""

    node: Node
    given: tuple[Value, ...]
    conditions: tuple[Condition, ...] = ()


class Behind(NamedTuple):
    """The Program without its steps, which has what these are given among its outputs, and the steps."""

    program: Program
    steps: tuple[Placed, ...]


def behind(program: Program) -> Behind | None:
    """The Program in two parts, if it can be: none of its values depends on a step, and none of these stands in a loop."""
    if any(node.attrs.get("stores") for node in program.every_node()):
        return None
    parts = _parted(program)
    if parts is None:
        return None
    rest, steps = parts
    found = _found(steps)
    asked = [v for step in steps for v in (*step.given, *(v for v, _ in step.conditions)) if v not in found]
    outputs = (*program.outputs, *(v for v in dict.fromkeys(asked) if v not in program.outputs))
    return Behind(Program(program.name, program.inputs, rest.nodes, outputs), steps)


def _found(steps: Sequence[Placed]) -> set[Value]:
    return {v for step in steps for v in step.node.outputs}


def _parted(region: Program) -> tuple[Program, tuple[Placed, ...]] | None:
    """A region without its steps, and the steps, as they stand in that region; None where they cannot stand behind it."""
    nodes, steps = list[Node](), list[Placed]()
    for node in region.nodes:
        acts = any(inner.op == "host" for inside in node.regions().values() for inner in inside.every_node())
        if node.op == "host":
            steps.append(Placed(node, node.inputs))
        elif acts:
            arms = [_parted(arm) for arm in node.regions().values()] if node.op == "cond" else [None]
            made = _without_steps(node, *arms) if None not in arms else None
            if made is None:
                return None
            nodes.append(made[0])
            steps += made[1]
        else:
            nodes.append(node)
    found = _found(steps)
    read = {*region.outputs, *(v for node in nodes for v in node.inputs)}
    if not all(_is_apart(step.node) for step in steps) or not found.isdisjoint(read):
        return None
    return Program(region.name, region.inputs, tuple(nodes), region.outputs), tuple(steps)


def _without_steps(node: Node, then: Any, otherwise: Any) -> tuple[Node, list[Placed]] | None:
    """A `cond` that also gives what the steps of its arms are given, and the steps behind it."""
    condition, more, steps = node.inputs[0], list[Value](), list[Placed]()
    given: dict[str, list[tuple[Value, ...]]] = {"then": [], "otherwise": []}
    for name, other, (arm, inner) in (("then", "otherwise", then), ("otherwise", "then", otherwise)):
        outside = dict(zip(arm.inputs, node.inputs[1:], strict=True)) | {v: v for v in _found(inner)}
        for v in dict.fromkeys(v for step in inner for v in (*step.given, *(c for c, _ in step.conditions))):
            if v in outside:
                continue
            if v.type.grows or not all(isinstance(d, int) for d in v.type.shape):
                return None
            outside[v] = Value(v.type)
            more.append(outside[v])
            given[name].append((v,))
            given[other].append(())
        for step in inner:
            conditions = [(outside[v], answer) for v, answer in step.conditions]
            here = (condition, name == "then")
            steps.append(Placed(step.node, tuple(outside[v] for v in step.given), (here, *conditions)))
    arms = {name: _giving(arm, given[name], more) for name, (arm, _) in (("then", then), ("otherwise", otherwise))}
    return Node("cond", node.inputs, (*node.outputs, *more), node.attrs | arms, node.where), steps


def _giving(arm: Program, given: Sequence[tuple[Value, ...]], more: Sequence[Value]) -> Program:
    """An arm that also gives values; those of the other arm are holes."""
    nodes, outputs = [*arm.nodes], [*arm.outputs]
    for own, outside in zip(given, more, strict=True):
        of = outside.type
        if not own:
            own = (Value(of),)
            nodes.append(Node("hole", (), own, {"dtype": of.dtype, "shape": of.shape, "python": of.python}))
        outputs += own
    return Program(arm.name, arm.inputs, tuple(nodes), tuple(outputs))


def _is_apart(node: Node) -> bool:
    """Whether a step finds nothing, or an object that only other steps are given."""
    call = node.attrs["call"]
    return isinstance(call, Step) and call.keep in (finds_nothing, finds_object)


def lines(parts: Behind, results: list[str], named: Naming, tensor: str, wanting: Mapping[Value, str]) -> list[str] | None:
    """The steps as text; `results` are the texts of what the Program gives, `tensor` the name of `Tensor` there.

    `wanting`: texts that say of values that may want a gradient whether they do not.
    """
    places: dict[Value, str] = {}
    asked = dict[Value, str]()
    for v, text in zip(parts.program.outputs, results, strict=True):
        asked[v] = f"{text.removesuffix('.array.item()')}.array"
        places[v] = text if v.type.python else f"{tensor}({text}.array.copy(), {wanting.get(v, 'True')})"
    found = []
    for n, (node, values, conditions) in enumerate(parts.steps):
        step, given = node.attrs["call"], [places[v] for v in values]
        args, kwargs = (_text(part, given, named) for part in step.recipe.parts)
        if not args or not kwargs:
            return None
        places[node.outputs[0]] = f"step{n}_"
        call = f"{named(step.function)}(*{args}{'' if kwargs == '{}' else f', **{kwargs}'})"
        taken = [f"{'' if answer else 'not '}{asked[v]}.item()" for v, answer in conditions]
        line = call if step.keep is finds_nothing else f"step{n}_ = {call}"
        found.append(f"if {' and '.join(taken)}: {line}" if taken else line)
    return found


def _text(recipe: Recipe, given: list[str], named: Naming) -> str:
    """What a step is given, as text; empty where that takes more."""
    if isinstance(recipe, tuple):
        kind, at = recipe
        return named(at) if kind == "outside" else given[at] if kind in ("output", "object") else ""
    if not isinstance(recipe, Made) or recipe.kind not in (tuple, list, dict):
        return ""
    parts = [_text(part, given, named) for part in recipe.parts]
    if not all(parts):
        return ""
    if recipe.kind is dict:
        return "{" + ", ".join(f"{named(k)}: {part}" for k, part in zip(recipe.keys, parts, strict=True)) + "}"
    inside = "".join(f"{part}, " for part in parts)
    return f"({inside})" if recipe.kind is tuple else f"[{inside}]"
