"""What a saved model is: its inputs and outputs, ops, control flow and sizes, as a dict or as text.

In: a Model. Out: a dict that JSON takes, or lines for a terminal.

>>> from d2s.ir.text import parse
>>> model = Model(parse("program f(x: f32[n,2]) -> (f32[n,2]) { %0: f32[n,2] = tanh(x) return %0 }"), ["x"], {}, ["y"])
>>> summary(model)["ops"]
{'tanh': 1}
"""

import textwrap
from collections import Counter
from typing import Any

from d2s.export.model import Model
from d2s.ir.program import Program

_INDENT: Any = {"initial_indent": "  ", "subsequent_indent": "  "}


def summary(model: Model) -> dict[str, Any]:
    """The facts."""
    program = model.program
    fed = {value.name: str(value.type) for value in program.inputs[: len(model.feeds)]}
    ops = Counter(node.op for node in program.every_node())
    parameters = {p.structured_name: [p.array.dtype.name, list(p.array.shape), p.trainable] for p in model.parameters.values()}
    arrays = [p.array for p in model.parameters.values()]
    return {
        "name": program.name,
        "inputs": fed,
        "outputs": {name: str(v.type) for name, v in zip(model.fetches, program.outputs, strict=True)},
        "ops": dict(sorted(ops.items(), key=lambda pair: (-pair[1], pair[0]))),
        "control flow": {"if": ops["cond"], "while": ops["while_loop"], "depth": _depth(program)},
        "parameters": parameters,
        "numbers": sum(a.size for a in arrays),
        "bytes": sum(a.nbytes for a in arrays),
    }


def _depth(program: Program) -> int:
    return max((1 + _depth(region) for node in program.nodes for region in node.regions().values()), default=0)


def text(facts: dict[str, Any]) -> str:
    """The same for people."""
    flow, parameters = facts["control flow"], facts["parameters"]
    held = f"{len(parameters)} parameters of {facts['numbers']:,} numbers, {_size(facts['bytes'])}"
    lines = [f"{facts['name']}: {sum(facts['ops'].values())} ops, {held if parameters else 'no parameters'}"]
    others = [name for name in facts.get("methods", []) if name != facts["method"]]
    lines += [f"other methods: {', '.join(others)}"] if others else []
    lines += _table("inputs", facts["inputs"]) + _table("outputs", facts["outputs"])
    lines += ["ops", *textwrap.wrap(", ".join(f"{name} {count}" for name, count in facts["ops"].items()), 100, **_INDENT)]
    if flow["depth"]:
        lines += [f"control flow\n  {flow['if']} if, {flow['while']} while, nested {flow['depth']} deep"]
    shown = {name: f"{dtype}{shape}{'' if trains else ', not trained'}" for name, (dtype, shape, trains) in parameters.items()}
    return "\n".join(lines + _table("parameters", shown))


def _table(title: str, rows: dict[str, str]) -> list[str]:
    width = max(map(len, rows), default=0)
    return [title, *(f"  {name:{width}}  {what}" for name, what in rows.items())] if rows else []


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
