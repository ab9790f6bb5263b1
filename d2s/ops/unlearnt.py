"""Values that no gradient goes through: what `detach` is in a graph.

>>> x = d2s.to_tensor([2.0], stop_gradient=False)
>>> (x * unlearnt(x)).backward()
>>> x.grad.tolist()
[2.0]
"""

from typing import Any

from d2s.ops.op import elementwise

T: Any = None  # the emitter's


@elementwise(paddle=None, onnx="Identity")
def unlearnt(x):
    """The values of x, whose gradient is none.

    >>> d2s.ops.unlearnt.unlearnt(d2s.to_tensor([1, 2])).numpy().tolist()
    [1, 2]
    """
    return T(x)


@unlearnt.rule("vjp")
def _(g, out, x):
    return (None,)
