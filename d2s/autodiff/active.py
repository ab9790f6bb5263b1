"""Which values of a Program a gradient passes: those that depend, through floats, on what wants one.

In: a Program, which of its inputs want a gradient, where gradients are stopped. Out: values, those in regions included.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[2], y: f32[2]) -> (f32[2]) { %0: f32[2] = tanh(x) %1: f32[2] = add(y, y) return %0 }")
>>> sorted(v.name for v in depending(program, [True, False]) if v.name)
['x']
>>> len(depending(program, [True, False])), len(depending(program, [True, True]))
(2, 4)
"""

from collections.abc import Collection, Iterable, Sequence

from d2s.autodiff.handed import leading
from d2s.ir.program import Node, Program, Value, calls_of
from d2s.ops import OPS
from d2s.types import STACK


def depending(program: Program, wanted: Sequence[int], stopped: Collection[Value] = ()) -> set[Value]:
    """The values that the gradient of wanted inputs passes through, those in regions included."""
    return active_values(program, wanted_inputs(program, wanted), stopped)


def wanted_inputs(program: Program, wanted: Sequence[int]) -> set[Value]:
    """The inputs that want a gradient and may have one."""
    return {v for v, w in zip(program.inputs, wanted, strict=True) if w and v.type.is_float}


def active_values(program: Program, active: Iterable[Value], stopped: Collection[Value] = ()) -> set[Value]:
    """`active` and all values, those in regions included, that depend on it through floats and are not `stopped`."""
    found = set(active)
    _spread(program, found, stopped)
    return found


def _spread(program: Program, active: set[Value], stopped: Collection[Value]) -> None:
    for node in program.nodes:
        if node.regions():
            _through_regions(node, active, stopped)
        elif node.op not in _HOLDS_UP and not active.isdisjoint(leading(node)):
            active |= {v for v in node.outputs[: _differentiable(node)] if v.type.is_float or v.type is STACK}
        if stopped:
            active -= {v for v in node.outputs if v in stopped}


def _through_regions(node: Node, active: set[Value], stopped: Collection[Value]) -> None:
    bound = [(region, node.inputs[node.op == "cond" :]) for region in node.regions().values()]
    before = -1
    while before != len(active):  # a loop's carries may pass activity on to each other
        before = len(active)
        for region, inputs in bound:
            active |= {inside for inside, v in zip(region.inputs, inputs, strict=True) if v in active}
            _spread(region, active, stopped)
            if node.op == "while_loop" and region is node.attrs["body"]:
                carried = zip(region.inputs, region.outputs, strict=False)
                active |= {inside for inside, v in carried if v in active}
                asked = zip(node.attrs["test"].inputs, region.inputs, strict=True)
                active |= {inside for inside, v in asked if v in active}
            if node.op == "call":
                active |= _passed_on(node, active)
            results = region.outputs if region is not node.attrs.get("test") else ()
            active |= {out for out, v in zip(node.outputs, results, strict=False) if v in active}
        if node.op == "while_loop":
            active |= {out for out, v in zip(node.outputs, node.inputs, strict=False) if v in active}


def _differentiable(node: Node) -> int:
    """How many of a node's first results a gradient flows through."""
    if node.op == "pop" or node.op.startswith("list_"):
        return 2
    return len(node.outputs) if OPS[node.op].has("composed") else 1


def _passed_on(call: Node, active: set[Value]) -> set[Value]:
    """Where a function calls itself: from what it hands over to its inputs, and from its outputs to what comes back."""
    body, found = call.attrs["body"], set[Value]()
    for again in calls_of(body, call.attrs["name"]):
        found |= {p for p, v in zip(body.inputs, again.inputs, strict=True) if v in active}
        found |= {v for v, result in zip(again.outputs, body.outputs, strict=True) if result in active}
    return found


_HOLDS_UP = ("detached", "host", "again")  # calls in a function's own body: `_passed_on`
