"""Logic on truth values, and on the bits of integers. In a body, `T` is the dtype computed in.

>>> from d2s.types import Type, int32
>>> logical_and.infer([Type(int32, ("n", 4)), Type(int32, (4,))], {})
(b1[n,4],)
"""

from typing import Any

from d2s.ops.math import of_tensors
from d2s.ops.op import elementwise
from d2s.types import bool_

T: Any = None  # the emitter's, bound to the dtype of each kernel


@elementwise(paddle="logical_and", onnx="And(Cast(x, to='bool'), Cast(y, to='bool'))", out_dtype=bool_)
def logical_and(x, y):
    """Whether neither value is 0.

    >>> d2s.logical_and(d2s.to_tensor([True, True, False]), d2s.to_tensor([True, False, False])).numpy().tolist()
    [True, False, False]
    """
    return (x != 0) & (y != 0)


@elementwise(paddle="logical_or", onnx="Or(Cast(x, to='bool'), Cast(y, to='bool'))", out_dtype=bool_)
def logical_or(x, y):
    """Whether a value is not 0.

    >>> d2s.logical_or(d2s.to_tensor([True, True, False]), d2s.to_tensor([True, False, False])).numpy().tolist()
    [True, True, False]
    """
    return (x != 0) | (y != 0)


@elementwise(paddle="logical_xor", onnx="Xor(Cast(x, to='bool'), Cast(y, to='bool'))", out_dtype=bool_)
def logical_xor(x, y):
    """Whether one value is 0 and the other is not.

    >>> d2s.logical_xor(d2s.to_tensor([True, True, False]), d2s.to_tensor([True, False, False])).numpy().tolist()
    [False, True, False]
    """
    return (x != 0) != (y != 0)


@elementwise(paddle="logical_not", onnx="Not(Cast(x, to='bool'))", out_dtype=bool_)
def logical_not(x):
    """Whether the value is 0.

    >>> d2s.logical_not(d2s.to_tensor([True, False, False])).numpy().tolist()
    [False, True, True]
    """
    return x == 0


@elementwise(paddle="bitwise_and", onnx="b: And; i: BitwiseAnd", dtypes="bi")
def bitwise_and(x, y):
    """The bits set in both values.

    >>> d2s.bitwise_and(d2s.to_tensor([6, 12]), d2s.to_tensor([4, 10])).numpy().tolist()
    [4, 8]
    """
    return T(x & y)


@bitwise_and.rule("vjp")
def _(g, out, x, y):
    return None, None


@elementwise(paddle="bitwise_or", onnx="b: Or; i: BitwiseOr", dtypes="bi")
def bitwise_or(x, y):
    """The bits set in a value.

    >>> d2s.bitwise_or(d2s.to_tensor([6, 12]), d2s.to_tensor([4, 10])).numpy().tolist()
    [6, 14]
    """
    return T(x | y)


@bitwise_or.rule("vjp")
def _(g, out, x, y):
    return None, None


@elementwise(paddle="bitwise_xor", onnx="b: Xor; i: BitwiseXor", dtypes="bi")
def bitwise_xor(x, y):
    """The bits set in one value and not in the other.

    >>> d2s.bitwise_xor(d2s.to_tensor([6, 12]), d2s.to_tensor([4, 10])).numpy().tolist()
    [2, 6]
    """
    return T(x ^ y)


@bitwise_xor.rule("vjp")
def _(g, out, x, y):
    return None, None


@elementwise(paddle="bitwise_not", onnx="b: Not; i: BitwiseNot", dtypes="bi")
def bitwise_not(x):
    """The bits not set; of a bool, the other bool.

    >>> d2s.bitwise_not(d2s.to_tensor([0, 5])).numpy().tolist()
    [-1, -6]
    """
    return T(x ^ T(-1))


@bitwise_not.rule("infer")
def _(x):
    return of_tensors(bitwise_not, x)


@bitwise_not.rule("vjp")
def _(g, out, x):
    return None
