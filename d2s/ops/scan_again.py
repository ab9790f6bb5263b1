"""What the gradients of products and log-sums so far come to in ops that have gradients themselves.

Both add what comes from behind, scaled step by step: h[k] = a[k] + x[k + 1] * h[k + 1]. That is `linear_scan`, whose gradient
is the same the other way round. No division, so zeros are right.

>>> x = d2s.to_tensor([2.0, 0.0, 3.0], stop_gradient=False)
>>> (first,) = d2s.grad(d2s.cumprod(x, 0).sum(), x, create_graph=True)
>>> first.tolist(), d2s.grad(first.sum(), x)[0].tolist()
([1.0, 8.0, 0.0], [4.0, 6.0, 2.0])
"""

from typing import Any

from d2s.ops.arrange import roll
from d2s.ops.compare import equal, where
from d2s.ops.create import full_like
from d2s.ops.exponential import exp
from d2s.ops.op import op
from d2s.ops.scan import cumprod_, cumprod_grad, cumsum_, logcumsumexp_, logcumsumexp_grad, scanned
from d2s.ops.softmax import floats, one_axis


@op(paddle=None)
def linear_scan(a, x, axis: int, reverse: bool = False):
    """What was there before, times x, and a added; or with `reverse` what comes behind, times the x of that place.

    >>> a, x = d2s.to_tensor([1.0, 1.0, 1.0]), d2s.to_tensor([5.0, 2.0, 3.0])
    >>> scan = d2s.ops.scan_again.linear_scan
    >>> scan(a, x, 0).tolist(), scan(a, x, 0, True).tolist()
    ([1.0, 3.0, 10.0], [9.0, 4.0, 1.0])
    """


@linear_scan.rule("canonical")
def _(a, x, axis, reverse):
    return {"axis": one_axis(axis, len(x.shape), "linear_scan"), "reverse": bool(reverse)}


@linear_scan.rule("infer")
def _(a, x, axis, reverse):
    floats("linear_scan", a, x)
    return a


@linear_scan.rule("kernel")
def _(a, x, out, axis, reverse):
    forward, back = "x[k] * {so_far} if e > 0 else T(0)", "x[k + {step}] * {so_far} if e + 1 < {count} else T(0)"
    body = [f"{{so_far}} = a[k] + ({back if reverse else forward})", "out[k] = {so_far}"]
    return scanned(x, axis, {"so_far": ("local64", "T(0)")}, body, reverse)


@linear_scan.rule("vjp")
def _(g, out, a, x, axis, reverse):
    moved = linear_scan(g, x, axis, not reverse)
    return moved, lambda: _before(moved, axis, 0.0) * out if reverse else moved * _before(out, axis, 0.0)


def _before(x: Any, axis: int, first: float) -> Any:
    """The element before each along an axis; before the first a number."""
    begins = equal(cumsum_(full_like(x, 1.0), axis), 1.0)
    return where(begins, first, roll(x, 1, axis))


@cumprod_grad.rule("composed")
def _(cotangent, x, y, axis):
    return _before(cumprod_(x, axis), axis, 1.0) * linear_scan(cotangent, x, axis, True)


@logcumsumexp_grad.rule("composed")
def _(cotangent, x, y, axis):
    whole = logcumsumexp_(x, axis)
    return linear_scan(cotangent, exp(_before(whole, axis, 0.0) - whole), axis, True) * exp(x - whole)
