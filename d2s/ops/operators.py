"""Python's operators and the methods that are ops, once for eager and symbolic tensors.

>>> (d2s.to_tensor([1.0, 2.0]) * 2 - 1).numpy().tolist()
[1.0, 3.0]
"""

from typing import Any

import numpy as np

from d2s.errors import CaptureError
from d2s.extents import Extent
from d2s.ops import (
    argmax,
    compare,
    derived,
    einsum,
    exponential,
    extremes,
    gamma,
    linalg,
    logic,
    math,
    near,
    rearrange,
    reduce,
    rounding,
    scan,
    softmax,
    sort,
    statistics,
    trigonometry,
)
from d2s.ops.dispatch import OPS, current
from d2s.ops.op import Op
from d2s.ops.shape_methods import ShapeMethods, method_of
from d2s.types import NUMBERS, float32
from d2s.whereabouts import Whereabouts


def _operator(op: Op, reflected: bool = False) -> Any:
    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, (Operators, Extent, *NUMBERS)):
            if not isinstance(other, np.ndarray):
                return NotImplemented
            other = self._of_array(other)
        return op(other, self) if reflected else op(self, other)

    return method


def _quotient(x: Any, y: Any) -> Any:
    """`x / y`: a quotient of integers is a float32, as in Paddle."""
    types = [current().type_of(v) for v in (x, y)]
    tensors = [t for t in types if t is not None and not t.python]
    if tensors and all(t.dtype.kind != "f" for t in tensors):
        x, y = (compare.cast(v, float32) if t in tensors else v for v, t in zip((x, y), types, strict=True))
    return math.divide(x, y)


def _true_quotient(reflected: bool = False) -> Any:
    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, (Operators, Extent, *NUMBERS)):
            if not isinstance(other, np.ndarray):
                return NotImplemented
            other = self._of_array(other)
        return _quotient(other, self) if reflected else _quotient(self, other)

    return method


class Operators(ShapeMethods, Whereabouts):
    """What `x + y` and `x.sum()` mean."""

    __slots__ = ()
    __hash__ = object.__hash__
    __array_ufunc__ = None  # NumPy hands its operators over

    __add__, __radd__ = _operator(math.add), _operator(math.add, True)
    __sub__, __rsub__ = _operator(math.subtract), _operator(math.subtract, True)
    __mul__, __rmul__ = _operator(math.multiply), _operator(math.multiply, True)
    __matmul__, __rmatmul__ = _operator(linalg.matmul), _operator(linalg.matmul, True)
    __truediv__, __rtruediv__ = _true_quotient(), _true_quotient(True)
    __floordiv__, __rfloordiv__ = _operator(math.floor_divide), _operator(math.floor_divide, True)
    __mod__, __rmod__ = _operator(math.remainder), _operator(math.remainder, True)
    __pow__, __rpow__ = _operator(math.pow), _operator(math.pow, True)
    __and__, __rand__ = _operator(logic.bitwise_and), _operator(logic.bitwise_and, True)
    __or__, __ror__ = _operator(logic.bitwise_or), _operator(logic.bitwise_or, True)
    __lshift__, __rlshift__ = _operator(logic.shifted_left), _operator(logic.shifted_left, True)
    __rshift__, __rrshift__ = _operator(logic.shifted_right), _operator(logic.shifted_right, True)
    __xor__, __rxor__ = _operator(logic.bitwise_xor), _operator(logic.bitwise_xor, True)
    __lt__, __le__ = _operator(compare.less_than), _operator(compare.less_equal)
    __gt__, __ge__ = _operator(compare.greater_than), _operator(compare.greater_equal)
    __eq__, __ne__ = _operator(compare.equal), _operator(compare.not_equal)

    def __neg__(self) -> Any:
        return math.neg(self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return math.abs(self)

    def __invert__(self) -> Any:
        return logic.bitwise_not(self)

    add, subtract, multiply, divide = map(method_of, (math.add, math.subtract, math.multiply, math.divide))
    floor_divide, remainder, pow = map(method_of, (math.floor_divide, math.remainder, math.pow))
    abs, sign, square, reciprocal = map(method_of, (math.abs, math.sign, math.square, math.reciprocal))
    exp, expm1, log, log1p = map(method_of, (exponential.exp, exponential.expm1, exponential.log, exponential.log1p))
    log2, log10, sqrt, rsqrt = map(method_of, (exponential.log2, exponential.log10, exponential.sqrt, exponential.rsqrt))
    sigmoid, erf = map(method_of, (exponential.sigmoid, exponential.erf))
    sin, cos, tan = map(method_of, (trigonometry.sin, trigonometry.cos, trigonometry.tan))
    asin, acos, atan = map(method_of, (trigonometry.asin, trigonometry.acos, trigonometry.atan))
    sinh, cosh = map(method_of, (trigonometry.sinh, trigonometry.cosh))
    asinh, acosh, atanh = map(method_of, (trigonometry.asinh, trigonometry.acosh, trigonometry.atanh))
    atan2, neg = method_of(trigonometry.atan2), method_of(math.neg)
    lgamma, digamma, erfinv = map(method_of, (gamma.lgamma, gamma.digamma, gamma.erfinv))
    polygamma = gamma.polygamma
    equal, not_equal, less_than = map(method_of, (compare.equal, compare.not_equal, compare.less_than))
    less_equal, greater_than = map(method_of, (compare.less_equal, compare.greater_than))
    greater_equal = method_of(compare.greater_equal)
    mod = floor_mod = remainder
    frac, lerp, scale, stanh, logit, nan_to_num = near.frac, near.lerp, near.scale, near.stanh, near.logit, near.nan_to_num
    isclose, allclose, equal_all = near.isclose, near.allclose, near.equal_all
    bitwise_left_shift, bitwise_right_shift = logic.bitwise_left_shift, logic.bitwise_right_shift
    floor, ceil, round, trunc = map(method_of, (rounding.floor, rounding.ceil, rounding.round, rounding.trunc))
    isnan, isinf, isfinite = map(method_of, (rounding.isnan, rounding.isinf, rounding.isfinite))
    maximum, minimum, fmax, fmin = map(method_of, (extremes.maximum, extremes.minimum, extremes.fmax, extremes.fmin))
    clip = method_of(extremes.clip)
    logical_and, logical_or = map(method_of, (logic.logical_and, logic.logical_or))
    logical_xor, logical_not = map(method_of, (logic.logical_xor, logic.logical_not))
    bitwise_and, bitwise_or = map(method_of, (logic.bitwise_and, logic.bitwise_or))
    bitwise_xor, bitwise_not = map(method_of, (logic.bitwise_xor, logic.bitwise_not))

    def astype(self, dtype: Any) -> Any:
        return compare.cast(self, dtype)

    cast = astype

    def clone(self) -> Any:
        """The same values in memory of their own; gradients pass."""
        return compare.cast(self, self.dtype)  # type: ignore[attr-defined]

    def relu(self) -> Any:
        return math.relu(self)

    def tanh(self) -> Any:
        return math.tanh(self)

    sum, mean, prod, max, min = map(method_of, (reduce.sum, reduce.mean, reduce.prod, reduce.max, reduce.min))
    amax, amin, logsumexp = map(method_of, (reduce.amax, reduce.amin, softmax.logsumexp))
    argmax, argmin = map(method_of, (argmax.argmax, argmax.argmin))
    std, var, any, all, norm = statistics.std, statistics.var, statistics.any, statistics.all, statistics.norm
    count_nonzero, nansum, nanmean = statistics.count_nonzero, statistics.nansum, statistics.nanmean
    cumsum, cumprod, cummax, cummin, logcumsumexp = scan.cumsum, scan.cumprod, scan.cummax, scan.cummin, scan.logcumsumexp
    argsort, topk, kthvalue, median, mode, quantile = (
        sort.argsort,
        sort.topk,
        sort.kthvalue,
        sort.median,
        sort.mode,
        sort.quantile,
    )
    bucketize, sort = sort.bucketize, sort.sort

    mm, bmm, mv, dot = linalg.mm, linalg.bmm, linalg.mv, method_of(linalg.dot)
    inner, outer, addmm = linalg.inner, linalg.outer, linalg.addmm
    tensordot, kron, cross, trace = einsum.tensordot, rearrange.kron, rearrange.cross, rearrange.trace
    rot90, repeat_interleave, crop = rearrange.rot90, rearrange.repeat_interleave, rearrange.crop
    diag_embed, diagflat, shard_index = rearrange.diag_embed, rearrange.diagflat, rearrange.shard_index
    numel, rank, is_floating_point, is_integer = (
        rearrange.numel,
        rearrange.rank,
        rearrange.is_floating_point,
        rearrange.is_integer,
    )

    where = method_of(compare.where)

    def matmul(self, y: Any, transpose_x: bool = False, transpose_y: bool = False) -> Any:
        return linalg.matmul(self, y, transpose_x, transpose_y)

    def multinomial(self, num_samples: int = 1, replacement: bool = False) -> Any:
        return OPS["multinomial"](self, num_samples, replacement)

    def _of_array(self, array: np.ndarray) -> Any:
        """An array that meets a tensor, as one."""
        message = "an array of NumPy meets a tensor of a graph"
        raise CaptureError("D2S1003", message, where=current().line(), hint="make a tensor of it outside: d2s.to_tensor(a)")


for _function in derived.METHODS:
    setattr(Operators, _function.__name__, _function)
Operators.sgn = Operators.sign  # type: ignore[attr-defined]
