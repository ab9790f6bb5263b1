"""The logarithm of the gamma function, its slope, and the inverse of the error function.

>>> from d2s.types import Type, float32
>>> lgamma.infer([Type(float32, ("n", 4))], {})
(f32[n,4],)
"""

from d2s.ops import vector_math as vm
from d2s.ops.exponential import exp
from d2s.ops.op import elementwise

HALF_ROOT_PI = 0.886226925452758


@elementwise(paddle="digamma", onnx=None, dtypes="f")
def digamma(x):
    """The slope of `lgamma`; nan where that has none, at 0, -1 and so on.

    >>> d2s.digamma(d2s.to_tensor([1.0])).numpy().tolist()
    [-0.5772156715393066]
    """
    return vm.digamma(x)


@elementwise(paddle="lgamma", onnx=None, dtypes="f")
def lgamma(x):
    """The logarithm of the absolute value of the gamma function; infinite at 0, -1 and so on.

    >>> d2s.lgamma(d2s.to_tensor([1.0, 5.0, 0.0])).numpy().tolist()
    [0.0, 3.178053855895996, inf]
    """
    return vm.lgamma(x)


@lgamma.rule("vjp")
def _(g, out, x):
    return lambda: g * digamma(x)


@elementwise(paddle="erfinv", onnx=None, dtypes="f")
def erfinv(x):
    """The number whose error function this is; nan outside -1 and 1.

    >>> d2s.erfinv(d2s.to_tensor([0.0, 0.5, 1.0])).numpy().tolist()
    [0.0, 0.4769362807273865, inf]
    """
    return vm.erfinv(x)


@erfinv.rule("vjp")
def _(g, out, x):
    return lambda: g * exp(out * out) * HALF_ROOT_PI
