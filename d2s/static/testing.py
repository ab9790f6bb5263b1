"""What `Program.clone(for_test=True)` runs: dropout hands its input on, batch norms use their running averages.

In: a recording. Out: its nodes, those that only training has replaced.

>>> from d2s.ops.dispatch import handling
>>> from d2s.types import Type, float32
>>> recording = Recording("main")
>>> x = recording.feed("x", Type(float32, (2,)))
>>> with handling(recording):
...     y = d2s.nn.functional.dropout(x)
>>> [node.op for node in as_tested(recording)][-1]
'cast'
"""

from collections.abc import Iterator

from d2s.ir.program import Node, Value
from d2s.static.recording import Recording
from d2s.static.variable import Held
from d2s.types import Type


def as_tested(recording: Recording) -> list[Node]:
    """The nodes, and of those that training only reads, none."""
    averages = dict(_averages(recording))
    missing: set[Value] = set()
    found: list[Node] = []
    made: dict[Value, Node] = {}
    for node in recording.builder.nodes:
        made.update(dict.fromkeys(node.outputs, node))
        if not missing.isdisjoint(node.inputs):
            missing.update(node.outputs)
        elif node.op == "dropped":
            found += _handed_on(node, made)
        elif node.op == "batch_norm" and node.outputs[1] in averages and node.outputs[2] in averages:
            found.append(_fixed(node, *(averages[v] for v in node.outputs[1:3])))
            missing.update(node.outputs[1:])
        else:
            found.append(node)
    return found


def _handed_on(node: Node, made: dict[Value, Node]) -> list[Node]:
    """Dropout outside of training: the input, or times 1 - p where training did not scale what it left."""
    _, _, x, p, scale = node.inputs
    likelihood, factor = (float(made[v].attrs["value"]) for v in (p, scale))
    if factor != 1.0 or likelihood == 0.0:
        return [Node("cast", (x,), node.outputs, {"dtype": x.type.dtype, "python": False}, node.where)]
    kept = Value(Type(x.type.dtype))
    attrs = {"value": 1.0 - likelihood, "dtype": x.type.dtype, "python": False}
    return [Node("constant", (), (kept,), attrs, node.where), Node("multiply", (x, kept), node.outputs, {}, node.where)]


def _fixed(node: Node, mean: Value, variance: Value) -> Node:
    x, *affine = node.inputs
    return Node("batch_norm_fixed", (x, mean, variance, *affine), node.outputs[:1], node.attrs, node.where)


def _averages(recording: Recording) -> Iterator[tuple[Value, Value]]:
    """Of what batch norms found in a batch, the input that holds the running average of it."""
    made = {v: node for node in recording.builder.nodes for v in node.outputs}
    for tensor, value in recording.assigned:
        parts = [made.get(v) for v in made[value].inputs] if value in made else []
        new = parts[1].inputs[0] if len(parts) == 2 and parts[1] is not None and parts[1].op == "multiply" else None
        if new is not None:
            yield new, next(v for v, role in recording.roles.items() if isinstance(role, Held) and role.tensor is tensor)
