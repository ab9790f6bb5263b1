"""A value with a gradient that the user wrote: what a `PyLayer` becomes in a captured function.

In: a value, what its gradient is one of, and what the user's backward reads. Out: the value; in a sweep, what the backward's
Program makes of its cotangent.

>>> thrice = "Thrice", '''
... program backward(g: f32[1]) -> (f32[1]) {
...   %0: f32[] = constant(dtype=f32, value=3.0)
...   %1: f32[1] = multiply(g, %0)
...   return %1
... }''', (True,)
>>> x = d2s.to_tensor([2.0], stop_gradient=False)
>>> own_gradient(x.detach(), x, backward=thrice).backward()
>>> x.grad.tolist()
[3.0]
"""

import functools
from collections.abc import Sequence
from typing import Any

from d2s.errors import GradientError
from d2s.ir.program import Value
from d2s.ir.text import parse
from d2s.ops.dispatch import OPS, current
from d2s.ops.op import op


class Backward:
    """The Program of a backward: a cotangent and what it reads go in, a gradient for each input that has one comes out.

    A node holds it as plain values: its name, the text of its Program, and which inputs it gives gradients.
    """

    def __init__(self, name: str, text: str, gives: Sequence[bool]) -> None:
        self.name, self.program, self.gives = name, parse(text), tuple(gives)

    def gradients(self, g: Any, reads: Sequence[Any]) -> list[Any]:
        """What comes of a cotangent, by input; None where the backward gives none."""
        values: dict[Value, Any] = dict(zip(self.program.inputs, (g, *reads), strict=True))
        for node in self.program.nodes:
            inputs = [values[v] for v in node.inputs]
            values |= zip(node.outputs, _again(node, inputs, self.name), strict=True)
        found = iter(self.program.outputs)
        return [values[next(found)] if given else None for given in self.gives]


def _again(node: Any, inputs: Sequence[Any], name: str) -> Sequence[Any]:
    """What a node gives where the sweep goes on."""
    handler: Any = current()
    if node.op == "constant":
        return [handler.constant(node.attrs["value"], node.outputs[0].type)]
    if not node.regions() and node.op != "fail":
        found = handler.run(OPS[node.op], tuple(inputs), node.attrs)
        return found if isinstance(found, tuple | list) else [found]
    if not hasattr(handler, "add"):
        raise GradientError("D2S0006", f"a gradient of the gradient that '{name}' gives by an `if` or a loop on tensors")
    made: Sequence[Any] = handler.add(node.op, [handler.resolve(x) for x in inputs], [v.type for v in node.outputs], node.attrs)
    return made


@functools.lru_cache(256)
def backward_of(held: tuple[str, str, tuple[bool, ...]]) -> Backward:
    """The backward that a node holds."""
    return Backward(*held)


@op(paddle=None, onnx="Identity")
def own_gradient(y, *others, backward: Any):
    """y, whose gradient is what a backward of the user's says of the first others; it reads those behind.

    >>> same = "Same", "program b(g: f32[1]) -> (f32[1]) { return g }", (True,)
    >>> d2s.ops.own_gradient.own_gradient(d2s.ones([1]), d2s.ones([1]), backward=same).tolist()
    [1.0]
    """


@own_gradient.rule("infer")
def _(y, *others, backward):
    return y


@own_gradient.rule("kernel")
def _(y, *others_and_out, backward):
    return [y.shape], "for i in range(n0):\n    out[i] = y[i]\n"


@own_gradient.rule("vjp")
def _(g, out, y, *others, backward):
    made = backward_of(backward)
    count = len(made.gives)
    return (None, *made.gradients(g, others[count:]), *(None for _ in others[count:]))
