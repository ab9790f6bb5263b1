"""What sweeps have freed on all paths that a run may take.

In: nodes, values that were freed, and those that depend on what wants a gradient. Out: these and what is made of them on every
path.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[2]) -> (f32[2]) { %0: f32[2] = tanh(x) %1: f32[2] = exp(%0) return %1 }")
>>> freed, made = (node.outputs[0] for node in program.nodes)
>>> surely_spent(program.nodes, {freed}, {freed, made}) == {freed, made}
True
"""

from collections.abc import Collection, Sequence

from d2s.autodiff.handed import leading
from d2s.ir.program import Node, Program, Value


def surely_spent(nodes: Sequence[Node], spent: set[Value], active: Collection[Value]) -> set[Value]:
    """`spent` and what has a history through it, whatever path a run takes."""
    for node in nodes:
        if node.op == "cond":
            arms = [_spent_in(arm, node.inputs[1:], spent, active) for arm in node.regions().values()]
            spent.update(v for n, v in enumerate(node.outputs) if all(arm[n] for arm in arms))
        elif node.op == "while_loop":
            body, begun = node.attrs["body"], list(node.inputs)
            while True:  # what every trip leaves spent, if it was before
                held = [v in spent for v in begun[: len(node.outputs)]]
                left = _spent_in(body, begun, spent, active)
                if not any(h and not on for h, on in zip(held, left, strict=False)):
                    break
                begun = [v if n >= len(left) or left[n] else p for n, (v, p) in enumerate(zip(begun, body.inputs, strict=True))]
            spent.update(v for v, h in zip(node.outputs, held, strict=False) if h)
        elif not spent.isdisjoint(leading(node)):
            spent.update(v for v in node.outputs if v in active)
    return spent


def _spent_in(region: Program, given: Sequence[Value], spent: Collection[Value], active: Collection[Value]) -> list[bool]:
    inside = {p for p, v in zip(region.inputs, given, strict=True) if v in spent}
    found = surely_spent(region.nodes, inside, active)
    return [v in found for v in region.outputs]
