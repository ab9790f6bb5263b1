"""Logic on truth values, and on the bits of integers. In a body, `T` is the dtype computed in.

>>> from d2s.types import Type, int32
>>> logical_and.infer([Type(int32, ("n", 4)), Type(int32, (4,))], {})
(b1[n,4],)
"""

from typing import Any

from d2s.ops.create import full_like
from d2s.ops.math import of_tensors
from d2s.ops.op import elementwise
from d2s.ops.shapes import tensor_type
from d2s.types import bool_, uint8

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


@elementwise(paddle="bitwise_left_shift", onnx=None, dtypes="i")
def shifted_left(x, y):
    """The bits moved up by y places; none are left where y is 64 and more, or negative.

    >>> d2s.ops.logic.shifted_left(d2s.to_tensor([1, 3]), d2s.to_tensor([4, 64])).numpy().tolist()
    [16, 0]
    """
    return T(x << y if 0 <= y < 64 else 0)


@shifted_left.rule("vjp")
def _(g, out, x, y):
    return None, None


@elementwise(paddle="bitwise_right_shift", onnx=None, dtypes="i")
def shifted_right(x, y):
    """The bits moved down by y places behind copies of the sign, which alone is left where y is 64 and more, or negative.

    >>> d2s.ops.logic.shifted_right(d2s.to_tensor([16, -1]), d2s.to_tensor([4, 64])).numpy().tolist()
    [1, -1]
    """
    return T(x >> (y if 0 <= y < 64 else 63))


@shifted_right.rule("vjp")
def _(g, out, x, y):
    return None, None


def bitwise_left_shift(x: Any, y: Any, is_arithmetic: bool = True) -> Any:
    """The bits of integers moved up by y places.

    >>> d2s.bitwise_left_shift(d2s.to_tensor([1, 3]), d2s.to_tensor([4, 1])).numpy().tolist()
    [16, 6]
    """
    return shifted_left(x, y)


def bitwise_right_shift(x: Any, y: Any, is_arithmetic: bool = True) -> Any:
    """The bits of integers moved down by y places, behind copies of the sign, or behind zeros if not `is_arithmetic`.

    >>> d2s.bitwise_right_shift(d2s.to_tensor([16, -1]), d2s.to_tensor([4, 60]), is_arithmetic=False).numpy().tolist()
    [1, 15]
    """
    moved = shifted_right(x, y)
    if is_arithmetic:
        return moved
    have = tensor_type(x, "bitwise_right_shift", "x").dtype
    return (
        bitwise_and(moved, bitwise_not(shifted_left(full_like(moved, -1), 8 * have.size - y))) if have is not uint8 else moved
    )
