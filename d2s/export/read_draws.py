"""What Paddle's random numbers mean: draws from the stream of the process, in the order of the ops.

In: a reading of an op. Out: symbols.

>>> from d2s.export.paddle_blocks import DRAWING
>>> from d2s.export.paddle_words import READ
>>> all(name in READ for name in DRAWING)
True
"""

from typing import Any

from d2s import types
from d2s.export.paddle_words import Reading, reads
from d2s.export.tensors import dtype_of
from d2s.ops import OPS

_WIDE = 1 << 32  # numbers from which on one takes 128 bits


@reads("uniform_random")
def _(r: Reading) -> Any:
    low, high, dtype = r.take("min", -1.0), r.take("max", 1.0), _floats(r)
    if not low <= high:
        r.fail(f"from {low} to {high}")
    return _drawn(r, "uniform", [r.constant(low, dtype), r.constant(high, dtype)], dtype=dtype)


@reads("gaussian_random")
def _(r: Reading) -> Any:
    mean, std, dtype = r.take("mean", 0.0), r.take("std", 1.0), _floats(r)
    if not std >= 0:
        r.fail(f"of deviation {std}")
    return _drawn(r, "normal", [r.constant(mean, dtype), r.constant(std, dtype)], dtype=dtype)


@reads("randint")
def _(r: Reading) -> Any:
    low, high, dtype = r.take("low", 0), r.take("high", 0), dtype_of(r.take("dtype", 3))
    if dtype.kind != "i" or not low < high:
        r.fail(f"of {dtype.name} from {low} to {high}")
    wide = high - low >= _WIDE
    return _drawn(r, "randint", [r.constant(low, types.int64), r.constant(high - low, types.int64)], dtype=dtype, wide=wide)


def _floats(r: Reading) -> Any:
    dtype = dtype_of(r.take("dtype", 5))
    if dtype.kind != "f":
        r.fail(f"of {dtype.name}")
    return dtype


def _drawn(r: Reading, name: str, numbers: list[Any], **attrs: Any) -> Any:
    r.only("ShapeTensor", "ShapeTensorList")
    if r.take("seed", 0):
        r.fail("with a seed of its own")
    dims = r.wanted("shape", "ShapeTensor", "ShapeTensorList")
    like = r.full(0, types.bool_, dims)
    return OPS[f"{name}_as"](*numbers, like, **attrs)


@reads("randperm")
def _(r: Reading) -> Any:
    count, dtype = r.take("n", -1), dtype_of(r.take("dtype", 3))
    if count < 0 or dtype.kind == "b":
        r.fail(f"of {count} numbers of {dtype.name}")
    return OPS["randperm"](count, dtype)


@reads("bernoulli poisson")
def _(r: Reading) -> Any:
    return OPS[r.op.type](r.x())


@reads("multinomial")
def _(r: Reading) -> Any:
    return OPS["multinomial"](r.x(), r.take("num_samples", 1), r.take("replacement", False))
