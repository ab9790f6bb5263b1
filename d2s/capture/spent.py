"""What sweeps free on all paths that a run may take.

In: nodes, and the values that depend on what wants a gradient. Out: what a sweep passes on every path; and of values that were
freed, these and what is made of them on every path.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[2]) -> (f32[2]) { %0: f32[2] = tanh(x) %1: f32[2] = exp(%0) return %1 }")
>>> freed, made = (node.outputs[0] for node in program.nodes)
>>> surely_spent(program.nodes, {freed}, {freed, made}) == {freed, made}
True
>>> surely_passed(program.nodes, {made}, {freed, made}) == {freed, made}
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


def surely_passed(nodes: Sequence[Node], passed: set[Value], active: Collection[Value]) -> set[Value]:
    """`passed` and what a sweep from there goes through, whatever path a run takes."""
    for node in reversed(nodes):
        if node.op == "cond":
            arms = [_passed_in(arm, node.outputs, passed, active) for arm in node.regions().values()]
            passed.update(v for n, v in enumerate(node.inputs[1:]) if v in active and all(arm[n] for arm in arms))
        elif node.op == "while_loop":
            body, held = node.attrs["body"], [v in passed for v in node.outputs]
            while True:  # what every trip passes on, if it gets it
                led = _passed_in(body, [v if h else None for v, h in zip(node.outputs, held, strict=True)], passed, active)
                if not any(h and not on for h, on in zip(held, led, strict=False)):
                    break
                held = [h and on for h, on in zip(held, led, strict=False)]
            passed.update(v for v, h in zip(node.inputs, held, strict=False) if h and v in active)
        elif not node.regions() and not passed.isdisjoint(node.outputs):
            passed.update(v for v in leading(node) if v in active)
    return passed


def _passed_in(
    region: Program, made: Sequence[Value | None], passed: Collection[Value], active: Collection[Value]
) -> list[bool]:
    inside = {v for v, out in zip(region.outputs, made, strict=False) if out in passed and v in active}
    found = surely_passed(region.nodes, inside, active)
    return [p in found for p in region.inputs]
