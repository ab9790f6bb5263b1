"""Dropping out: elements set to 0 at random, and what is left scaled up, in one pass.

Which elements go is drawn again for the gradient, from the same seed and counter: no mask is kept.

In: a tensor, a likelihood, a factor. Out: a tensor.

>>> d2s.seed(1)
>>> x = d2s.to_tensor([1.0] * 8, stop_gradient=False)
>>> y = dropped(x, 0.5, 2.0)
>>> y.sum().backward()
>>> y.tolist() == x.grad.tolist(), set(y.tolist()) <= {0.0, 2.0}
(True, True)
"""

from d2s.errors import ArgumentError, DTypeError, brief
from d2s.ops.dispatch import current
from d2s.ops.draw import draws, elements
from d2s.ops.random_text import filled
from d2s.types import Type, float64


@draws("dropout", "x p scale", onnx="Dropout")
def dropped(x, p, scale):
    """0 with the likelihood p, else `scale * x`, element by element.

    >>> d2s.ops.dropout.dropped(d2s.to_tensor([1.0, 2.0]), 0.0, 3.0).numpy().tolist()
    [3.0, 6.0]
    """
    held = current().type_of(x)
    if held is None or held.dtype.kind != "f":
        got = type(x).__name__ if held is None else held.dtype.name
        raise DTypeError("D2S0003", f"dropout(): 'x' expects a Tensor of floats, got {got}")
    if not isinstance(p, int | float) or isinstance(p, bool) or not 0 <= p <= 1:
        raise ArgumentError("D2S0004", f"dropout(): 'p' is {brief(p)}, expected a number from 0 to 1")
    numbers = [current().constant(float(p), Type(float64)), current().constant(float(scale), Type(held.dtype))]
    return dropped.draw(-(-elements(x, held) // 4), (x, *numbers))


@dropped.rule("infer")
def _(seed, counter, x, p, scale):
    return x


@dropped.rule("kernel")
def _(seed, counter, x, p, scale, out):
    kept = "limit = p[0] * 4294967296.0\nfactor = scale[0]\n\ndef value(w0):\n    return T(0) if float(w0) < limit else T(1)"
    return [x.shape], filled(kept, 1, "select(some[k] > T(0), x[base + k] * factor, T(0))")


@dropped.rule("vjp")
def _(g, out, seed, counter, x, p, scale):
    return None, None, current().run(dropped, (seed, counter, g, p, scale), {}), None, None
