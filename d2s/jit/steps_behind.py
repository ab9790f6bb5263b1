"""Steps of Python's that may be taken behind a native call: prints, and the texts they print.

In: a Program. Out: where nothing that is computed depends on its steps, and all of it takes less than one would notice, the
Program without them, with what they are given as further outputs, and the lines that take them, in order. What fails in the
native call has printed nothing yet, and goes the long way, which prints what eager code would.

>>> static = d2s.to_static(lambda x: print("twice", x.tolist()) or x * 2.0)
>>> for k in (1.0, 2.0, 3.0):
...     _ = static(d2s.to_tensor([k]))
twice [1.0]
twice [2.0]
twice [3.0]
>>> len(static.quick)
1
"""

from collections.abc import Callable
from typing import NamedTuple

from d2s.capture.result import Made, Recipe
from d2s.capture.steps import Step, finds_nothing, finds_object
from d2s.ir.program import Node, Program, Value

Naming = Callable[[object], str]


class Behind(NamedTuple):
    """The Program without its steps, how many of its outputs are its own, and the steps."""

    program: Program
    steps: tuple[Node, ...]


def behind(program: Program) -> Behind | None:
    """The Program in two parts, if it can be: steps stand at its top level, and none of its values depends on one."""
    steps = tuple(node for node in program.nodes if node.op == "host")
    rest = tuple(node for node in program.nodes if node.op != "host")
    found = {v for node in steps for v in node.outputs}
    if any(node.regions() or node.attrs.get("stores") for node in program.nodes) or not all(map(_is_apart, steps)):
        return None
    if not found.isdisjoint((*program.outputs, *(v for node in rest for v in node.inputs))):
        return None
    given = dict.fromkeys(v for node in steps for v in node.inputs if v not in found)
    outputs = (*program.outputs, *(v for v in given if v not in program.outputs))
    return Behind(Program(program.name, program.inputs, rest, outputs), steps)


def _is_apart(node: Node) -> bool:
    """Whether a step finds nothing, or an object that only other steps are given."""
    call = node.attrs["call"]
    return isinstance(call, Step) and call.keep in (finds_nothing, finds_object)


def lines(parts: Behind, results: list[str], named: Naming, tensor: str) -> list[str] | None:
    """The steps as text; `results` are the texts of what the Program gives, `tensor` the name of `Tensor` there."""
    places: dict[Value, str] = {}
    for v, text in zip(parts.program.outputs, results, strict=True):
        places[v] = text if v.type.python else f"{tensor}({text}.array.copy())"
    found = []
    for n, node in enumerate(parts.steps):
        step, given = node.attrs["call"], [places[v] for v in node.inputs]
        args, kwargs = (_text(part, given, named) for part in step.recipe.parts)
        if not args or not kwargs:
            return None
        places[node.outputs[0]] = f"step{n}_"
        call = f"{named(step.function)}(*{args}{'' if kwargs == '{}' else f', **{kwargs}'})"
        found.append(call if step.keep is finds_nothing else f"step{n}_ = {call}")
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
