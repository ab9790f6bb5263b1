"""d2s: dynamic deep-learning Python, made static native code."""

import sys
from typing import TYPE_CHECKING

from d2s import arguments, autograd, later, nn, ops, optimizer, regularizer, version
from d2s.autodiff.mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from d2s.autograd import grad
from d2s.checkpoint import load, save
from d2s.codegen.threads import get_num_threads, set_num_threads
from d2s.config import config
from d2s.default_dtype import get_default_dtype, set_default_dtype
from d2s.eager import in_place_forms
from d2s.eager.assign import assign, increment
from d2s.eager.counts import bincount, histogram, unique, unique_consecutive
from d2s.eager.masks import masked_select, nonzero, tril_indices, triu_indices
from d2s.eager.shown import set_printoptions
from d2s.eager.tensor import Tensor, is_tensor, to_tensor, tolist
from d2s.flags import get_flags, set_flags
from d2s.limits import finfo, iinfo
from d2s.nn.parameter import ParamAttr
from d2s.ops.along_axis import index_sample, put_along_axis, take_along_axis
from d2s.ops.argmax import argmax, argmin
from d2s.ops.arrange import flip, moveaxis, roll, swapaxes, t, transpose
from d2s.ops.chances import bernoulli, multinomial, poisson
from d2s.ops.compare import cast, equal, greater_equal, greater_than, less_equal, less_than, not_equal, where
from d2s.ops.conversions import view, view_as
from d2s.ops.create import (
    arange,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    logspace,
    meshgrid,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from d2s.ops.derived import (
    deg2rad,
    diff,
    dist,
    heaviside,
    hypot,
    logaddexp,
    multiplex,
    rad2deg,
    reverse,
    sgn,
    take,
    trapezoid,
    vander,
    vsplit,
)
from d2s.ops.einsum import einsum, tensordot
from d2s.ops.expand import broadcast_tensors, broadcast_to, expand, expand_as, tile
from d2s.ops.exponential import erf, exp, expm1, log, log1p, log2, log10, rsqrt, sigmoid, sqrt
from d2s.ops.extremes import clip, fmax, fmin, maximum, minimum
from d2s.ops.filling import index_fill, masked_scatter
from d2s.ops.gamma import digamma, erfinv, lgamma, polygamma
from d2s.ops.gather import gather, gather_nd, index_select
from d2s.ops.join import concat, stack
from d2s.ops.linalg import addmm, bmm, dot, inner, matmul, mm, mv, outer
from d2s.ops.logic import (
    bitwise_and,
    bitwise_left_shift,
    bitwise_not,
    bitwise_or,
    bitwise_right_shift,
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
from d2s.ops.math import remainder as floor_mod
from d2s.ops.math import remainder as mod
from d2s.ops.near import allclose, equal_all, frac, isclose, lerp, logit, nan_to_num, scale, stanh
from d2s.ops.random import normal, rand, randint, randint_like, randn, randperm, standard_normal, uniform
from d2s.ops.rearrange import (
    add_n,
    clone,
    crop,
    cross,
    diag_embed,
    diagflat,
    is_floating_point,
    is_integer,
    kron,
    numel,
    rank,
    repeat_interleave,
    rot90,
    shape,
    shard_index,
    trace,
    unfold,
)
from d2s.ops.reduce import amax, amin, max, mean, min, prod, sum
from d2s.ops.rounding import ceil, floor, isfinite, isinf, isnan, round, trunc
from d2s.ops.scan import cummax, cummin, cumprod, cumsum, logcumsumexp
from d2s.ops.scatter import index_add, index_put, masked_fill, scatter, scatter_nd, scatter_nd_add
from d2s.ops.shape import flatten, reshape, squeeze, unflatten, unsqueeze
from d2s.ops.slices import slice, strided_slice
from d2s.ops.slicing import chunk, split, unbind, unstack
from d2s.ops.softmax import logsumexp
from d2s.ops.sort import (
    argsort,
    bucketize,
    kthvalue,
    median,
    mode,
    quantile,
    searchsorted,
    sort,
    topk,
)
from d2s.ops.statistics import all, any, count_nonzero, nanmean, nansum, std, var
from d2s.ops.triangle import diag, diagonal, tril, triu
from d2s.ops.trigonometry import acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, sin, sinh, tan
from d2s.place import CPUPlace, CUDAPlace, get_device, is_compiled_with_cuda, set_device
from d2s.runtime.random_state import get_rng_state, seed, set_rng_state
from d2s.types import DType as dtype
from d2s.types import bool_, float32, float64, int8, int16, int32, int64, uint8
from d2s.types import bool_ as bool
from d2s.version import full_version as __version__

if TYPE_CHECKING:
    from d2s import callbacks, dataset, debug, hapi, io, jit, linalg, metric, onnx, static, utils, vision
    from d2s.dataset import reader
    from d2s.dataset.batch import batch
    from d2s.hapi import Model, flops
    from d2s.hapi.summary import summary as summary
    from d2s.jit.to_static import to_static as to_static
    from d2s.linalg import (
        cholesky,
        cholesky_solve,
        det,
        eigh,
        eigvalsh,
        inv,
        matrix_power,
        norm,
        pinv,
        qr,
        slogdet,
        solve,
        svd,
        triangular_solve,
    )
    from d2s.static.layers import create_parameter
    from d2s.static.program import disable_static, enable_static, in_dynamic_mode
    from d2s.utils.dlpack import from_dlpack

_PACKAGES = ("callbacks", "dataset", "debug", "hapi", "io", "jit", "linalg", "metric", "onnx", "static", "utils", "vision")
_LATER = {name: f"d2s.{name}" for name in _PACKAGES}
_LATER |= {"to_static": "d2s.jit", "from_dlpack": "d2s.utils.dlpack"}
_LATER |= dict.fromkeys(("disable_static", "enable_static", "in_dynamic_mode"), "d2s.static.program")
_LATER |= {"reader": "d2s.dataset", "batch": "d2s.dataset.batch", "create_parameter": "d2s.static.layers"}
_LATER |= {"Model": "d2s.hapi", "flops": "d2s.hapi", "summary": "d2s.hapi"}
_LATER |= dict.fromkeys(("cholesky", "cholesky_solve", "eigh", "eigvalsh", "matrix_power", "norm"), "d2s.linalg")
_LATER |= dict.fromkeys(("inv", "det", "pinv", "qr", "slogdet", "solve", "svd", "triangular_solve"), "d2s.linalg")
inverse = later.function("d2s.linalg", "inv")
for _method in (add_n, broadcast_tensors, is_tensor):
    setattr(Tensor, _method.__name__, _method)
_SOLVED = ["cholesky", "cholesky_solve", "det", "eigvalsh", "matrix_power", "norm", "pinv", "qr", "slogdet", "solve", "svd"]
for _name, _function in {"inverse": "inv", **dict.fromkeys([*_SOLVED, "triangular_solve"])}.items():
    setattr(Tensor, _name, later.Method("d2s.linalg", _function or _name))
globals().update(in_place_forms.FUNCTIONS)
for _published in (sys.modules[__name__], ops.shape_methods.ShapeMethods, ops.operators.Operators, Tensor, nn.functional):
    arguments.label(_published)
__getattr__, __dir__ = later.names(__name__, _LATER)
