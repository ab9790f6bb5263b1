"""d2s: dynamic deep-learning Python, made static native code."""

from d2s import jit, nn, ops, optimizer, static
from d2s.autodiff.tape import enable_grad, no_grad
from d2s.config import config
from d2s.eager import autograd
from d2s.eager.autograd import grad
from d2s.eager.tensor import Tensor, to_tensor
from d2s.jit import to_static
from d2s.ops.compare import cast, equal, greater_equal, greater_than, less_equal, less_than, not_equal, where
from d2s.ops.exponential import erf, exp, expm1, log, log1p, log2, log10, rsqrt, sigmoid, sqrt
from d2s.ops.extremes import clip, fmax, fmin, maximum, minimum
from d2s.ops.linalg import matmul
from d2s.ops.logic import (
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
)
from d2s.ops.math import (
    abs,
    add,
    divide,
    floor_divide,
    multiply,
    neg,
    pow,
    reciprocal,
    relu,
    remainder,
    sign,
    square,
    subtract,
    tanh,
)
from d2s.ops.random import (
    bernoulli,
    multinomial,
    normal,
    poisson,
    rand,
    randint,
    randint_like,
    randn,
    randperm,
    standard_normal,
    uniform,
)
from d2s.ops.reduce import sum
from d2s.ops.rounding import ceil, floor, isfinite, isinf, isnan, round, trunc
from d2s.ops.trigonometry import acos, asin, atan, cos, cosh, sin, sinh, tan
from d2s.runtime.random_state import get_rng_state, seed, set_rng_state
from d2s.types import bool_, float32, float64, int8, int16, int32, int64, uint8

__version__ = "0.1.0"
