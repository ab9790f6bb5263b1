"""Contract: nodes that give back an input bit by bit (x * 1, x + -0.0, -(-x), a cast to its own dtype) are gone.

What a Program or a region returns, or is handed a node that may return it, stays: it is memory of its own.
"""

from collections.abc import Callable

from d2s.ir.program import Node, Program, Value, in_regions
from d2s.passes.rewriting import is_plain, rebuilt

Numbers = dict[Value, bool | int | float]


def apply(program: Program) -> Program:
    instead: dict[Value, Value] = {}
    made: dict[Value, Node] = {}
    numbers: Numbers = {}
    kept = []
    returned = set(program.outputs) | {v for node in program.nodes if not is_plain(node) for v in node.inputs}
    for old in program.nodes:
        node = Node(old.op, tuple(instead.get(v, v) for v in old.inputs), old.outputs, old.attrs, old.where)
        found = _RULES.get(node.op, _none)(node, list(node.inputs), numbers, made)
        if found and found.type == node.outputs[0].type and node.outputs[0] not in returned:
            instead[node.outputs[0]] = found
            continue
        if node.op == "constant":
            numbers[node.outputs[0]] = node.attrs["value"]
        kept.append(in_regions(node, apply))
        made.update(dict.fromkeys(node.outputs, node))
    return rebuilt(program, kept, instead)


def _none(node: Node, inputs: list[Value], numbers: Numbers, made: dict[Value, Node]) -> None:
    return None


def _first(node: Node, inputs: list[Value], numbers: Numbers, made: dict[Value, Node]) -> Value:
    return inputs[0]


def _neutral(right: str, both: bool) -> Callable[..., Value | None]:
    """x where the other operand is the number that changes nothing (on the right; on either side)."""

    def rule(node: Node, inputs: list[Value], numbers: Numbers, made: dict[Value, Node]) -> Value | None:
        x, y = inputs
        wanted = right if x.type.dtype.kind == "f" else right.lstrip("-")
        if repr(float(numbers.get(y, 2.0))) == _as_float(wanted, x):
            return x
        return y if both and repr(float(numbers.get(x, 2.0))) == _as_float(wanted, y) else None

    return rule


def _as_float(number: str, of: Value) -> str:
    return repr(float(number)) if of.type.dtype.kind != "b" else ""


def _twice(node: Node, inputs: list[Value], numbers: Numbers, made: dict[Value, Node]) -> Value | None:
    inner = made.get(inputs[0])
    return inner.inputs[0] if inner and inner.op == "neg" and not inputs[0].type.python else None


_RULES: dict[str, Callable[..., Value | None]] = {
    "cast": _first,
    "expand": _first,
    "expand_as": _first,
    "spread": _first,
    "reshape": _first,
    "renewed": _first,
    "multiply": _neutral("1", both=True),
    "divide": _neutral("1", both=False),
    "add": _neutral("-0.0", both=True),
    "subtract": _neutral("0", both=False),
    "neg": _twice,
}
