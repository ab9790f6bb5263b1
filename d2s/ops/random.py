"""Random numbers: Philox 4x32-10, a cipher that turns (seed, counter) into a block of four words, and draws made of these.

Nothing is remembered from one block to the next: an element of a draw is made of words of one block, and which block that is
follows from where the draw starts and from the element's index. So any part of a draw can be computed on its own, in any
order, on any number of threads. An op that draws reads the seed and the counter it starts at like any other input. Where they
come from, `runtime/random_state.py` says: each call takes the blocks it needs from the one stream of the process.

In: a shape, the parameters of a distribution. Out: a tensor of fresh numbers. While a function is being captured, seed and
counter are values of the graph: a run takes them from the stream and moves it on as far as it has drawn.

>>> from d2s.types import float32
>>> uniform.infer([Type(int64), Type(int64), Type(float32), Type(float32)], {"shape": (2, 3), "dtype": float32})
(f32[2,3],)
>>> d2s.seed(7)
>>> x = d2s.rand([3])
>>> d2s.seed(7)
>>> (d2s.rand([3]) == x).numpy().tolist()
[True, True, True]
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s import types
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.ops.create import number_of
from d2s.ops.dispatch import OPS, current
from d2s.ops.draw import drawn_shape, draws, finite, float_dtype, held_in_memory, is_tensor, outside, signed, whole
from d2s.ops.drawn_as import by_tensor, in_shape
from d2s.ops.op import op
from d2s.ops.open_shapes import is_open
from d2s.ops.random_text import PHILOX, WIDE, filled, normal_text
from d2s.ops.rows import sizes
from d2s.ops.shapes import broadcast, tensor_type
from d2s.types import DType, Type, int64


@draws("uniform_random", "low high", "shape dtype", onnx="RandomUniform")
def uniform(shape, dtype=None, min=-1.0, max=1.0, seed=0):
    """Numbers spread evenly over [min, max). A seed other than 0 starts a stream of its own.

    >>> x = d2s.uniform([1000], min=2.0, max=3.0).numpy()
    >>> bool(x.min() >= 2), bool(x.max() < 3), x.dtype.name
    (True, True, 'float32')
    """
    dtype = float_dtype("uniform", dtype)
    shape = drawn_shape("uniform", shape, dtype)
    low, high = finite("uniform", "min", min, dtype), finite("uniform", "max", max, dtype)
    known = all(isinstance(end, float) for end in (low, high))
    if known and (low > high or high - low > float(np.finfo(dtype.numpy).max)):
        raise ArgumentError("D2S0004", f"uniform(): from {brief(min)} to {brief(max)} is no range of {dtype.name}s")
    seed = _seed("uniform", seed)
    ends = [number_of(end, dtype) for end in (low, high)]
    return in_shape(uniform, shape, dtype.size // 4, ends, seed, dtype=dtype)


def _seed(name: str, seed: Any) -> int:
    found = whole(name, "seed", seed)
    if not 0 <= found < 1 << 64:
        raise ArgumentError("D2S0004", f"{name}(): a seed is an int from 0 to 2**64 - 1, not {found}")
    return found


@uniform.rule("infer")
def _(seed, counter, low, high, shape, dtype):
    return Type(dtype, shape)


@uniform.rule("kernel")
def _(seed, counter, low, high, out, shape, dtype):
    word, unit = ("w0", "T(w0 >> 8) * T(5.9604644775390625e-08)") if dtype is types.float32 else ("w0, w1", "unit(w0, w1)")
    # rounding may take the largest numbers to the end that is left out
    value = f"""\
least = low[0]
end = high[0]

def value({word}):
    v = least + {unit} * (end - least)
    return select(v < end, v, least)
"""
    return [shape], filled(value, dtype.size // 4)


@uniform.rule("vjp")
def _(g, out, seed, counter, low, high, shape, dtype):
    return None, None, None, None


by_tensor(
    uniform,
    lambda dtype: dtype.size // 4,
    """
    >>> d2s.ops.OPS["uniform_as"](d2s.to_tensor(2.0), d2s.to_tensor(2.0), d2s.to_tensor([0, 0]), dtype=d2s.float32).tolist()
    [2.0, 2.0]
    """,
)


@draws("gaussian_random", "mean std", "shape dtype", onnx="RandomNormal")
def normal(mean=0.0, std=1.0, shape=None):
    """Normal numbers of a mean and a standard deviation. Where these are tensors they say the shape, and carry a gradient.

    >>> d2s.normal(10.0, 0.0, [2]).numpy().tolist()
    [10.0, 10.0]
    >>> d2s.normal(d2s.to_tensor([[1.0], [2.0]]), d2s.to_tensor([0.0, 0.0])).numpy().tolist()
    [[1.0, 1.0], [2.0, 2.0]]
    """
    given = [v for v in (mean, std) if is_tensor(v)]
    if not given:
        return _normals("normal", mean, std, (1,) if shape is None else shape, None)
    held = [tensor_type(v, "normal", "mean") for v in given]
    if shape is not None:
        raise ArgumentError("D2S0004", "normal(): 'shape' is that of 'mean' and 'std' where these are tensors")
    if any(t.dtype.kind != "f" for t in held):
        raise DTypeError("D2S0003", f"normal() does not take {', '.join(map(str, held))}")
    if is_tensor(std):
        std = as_std(std)
    dtype = functools.reduce(lambda x, y: x if x.size >= y.size else y, [t.dtype for t in held])
    for argument, value in (("mean", mean), ("std", std)):
        if not is_tensor(value):
            _spread(argument, value, dtype)
    z = _normals("normal", 0.0, 1.0, _shape_of_all(given), dtype)
    return OPS["add"](OPS["multiply"](z, std), mean)


def _spread(argument: str, value: Any, dtype: DType, name: str = "normal") -> Any:
    """A mean, or a standard deviation, which is not below 0."""
    found = finite(name, argument, value, dtype)
    if argument == "std" and isinstance(found, float) and found < 0:
        raise ArgumentError("D2S0004", f"{name}(): 'std' is {brief(value)}, below 0")
    return found


def _normals(name: str, mean: Any, std: Any, shape: Any, dtype: Any) -> Any:
    dtype = float_dtype(name, dtype)
    shape = drawn_shape(name, shape, dtype)
    given = [_spread("mean", mean, dtype, name), _spread("std", std, dtype, name)]
    inputs = [number_of(number, dtype) for number in given]
    return in_shape(normal, shape, dtype.size // 4, inputs, dtype=dtype)


@op(paddle=None)
def as_std(x):
    """Standard deviations as they are: a run in which one is below 0, or nan, ends with an error.

    >>> d2s.ops.random.as_std(d2s.to_tensor([0.5, 0.0])).tolist()
    [0.5, 0.0]
    """


@as_std.rule("infer")
def _(x):
    return x


@as_std.rule("kernel")
def _(x, out):
    lines = ["for k in range(n0):", "    if not (x[k] >= 0):", "        r[o[fault]] = 1", "    out[k] = x[k]"]
    return [x.shape], "\n".join([*lines, ""])


@as_std.rule("fault")
def _(value, x):
    return ArgumentError("D2S0004", "normal(): 'std' holds numbers that are below 0, or nan")


@as_std.rule("vjp")
def _(g, out, x):
    return lambda: g


def _shape_of_all(tensors: Sequence[Any]) -> list[Any]:
    """The shape that tensors are broadcast to."""
    shapes = [tensor_type(t, "normal", "mean").shape for t in tensors]
    known = {d: size for t, dims in zip(tensors, shapes, strict=True) for d, size in zip(dims, sizes(t), strict=True)}
    return [known[d] for d in broadcast("normal", shapes)[0]]


@normal.rule("infer")
def _(seed, counter, mean, std, shape, dtype):
    return Type(dtype, shape)


@normal.rule("kernel")
def _(seed, counter, mean, std, out, shape, dtype):
    return [shape], filled(f"shift = mean[0]\nscale = std[0]\n\n{normal_text(dtype)}", dtype.size // 4)


@normal.rule("vjp")
def _(g, out, seed, counter, mean, std, shape, dtype):
    return None, None, None, None


by_tensor(
    normal,
    lambda dtype: dtype.size // 4,
    """
    >>> d2s.ops.OPS["normal_as"](d2s.to_tensor(7.0), d2s.to_tensor(0.0), d2s.to_tensor([0, 0]), dtype=d2s.float32).tolist()
    [7.0, 7.0]
    """,
)


@draws("randint", "low span", "shape dtype wide")
def randint(low=0, high=None, shape=(1,), dtype=None):
    """Integers of [low, high), each as likely as any other; of [0, low) where no `high` is given.

    >>> x = d2s.randint(-2, 3, [1000]).numpy()
    >>> sorted(set(x.tolist())), x.dtype.name
    ([-2, -1, 0, 1, 2], 'int64')
    """
    return _integers("randint", low, high, shape, int64 if dtype is None else types.dtype(dtype))


def _integers(name: str, low: Any, high: Any, shape: Any, dtype: DType) -> Any:
    if dtype.kind != "i":
        raise DTypeError("D2S0003", f"{name}() draws integers, not {dtype.name}")
    first, end = (0, low) if high is None else (low, high)
    first, end = whole(name, "low", first), whole(name, "low" if high is None else "high", end)
    limits = np.iinfo(dtype.numpy)
    if first >= end or first < limits.min or end - 1 > limits.max:
        raise ArgumentError(
            "D2S0004", f"{name}(): from {brief(first)} up to {brief(end)}, without it, is no range of {dtype.name}s"
        )
    shape = drawn_shape(name, shape, dtype)
    # 64 bits of chance per number, 128 for 2**32 of them or more: the likelihoods differ by a part in 2**32 at most
    wide = end - first >= 1 << 32
    inputs = [current().constant(signed(n), Type(int64)) for n in (first, end - first)]
    return in_shape(randint, shape, 4 if wide else 2, inputs, dtype=dtype, wide=wide)


@randint.rule("infer")
def _(seed, counter, low, span, shape, dtype, wide):
    return Type(dtype, shape)


@randint.rule("kernel")
def _(seed, counter, low, span, out, shape, dtype, wide):
    narrow = "def value(w0, w1):\n    return T(first + part(w0, w1, n))\n"
    head = "first = low[0]\nn = span[0]\n\n"
    return [shape], filled(head + (WIDE if wide else narrow), 4 if wide else 2)


@randint.rule("vjp")
def _(g, out, seed, counter, low, span, shape, dtype, wide):
    return None, None, None, None


by_tensor(
    randint,
    lambda dtype, wide: 4 if wide else 2,
    """
    >>> drawn = d2s.ops.OPS["randint_as"](d2s.to_tensor(7), d2s.to_tensor(1), d2s.zeros([2]), dtype=d2s.int64, wide=False)
    >>> drawn.tolist()
    [7, 7]
    """,
)


@draws("randperm", "", "n dtype")
def randperm(n, dtype="int64"):
    """The integers below n in an order by chance.

    >>> sorted(d2s.randperm(5).tolist())
    [0, 1, 2, 3, 4]
    """
    held = types.dtype(dtype)
    count = n if is_open([n]) and n.dtype.kind == "i" else whole("randperm", "n", n)
    if held.kind == "b":
        raise DTypeError("D2S0003", "randperm() does not draw bool")
    largest = 1 << {"float32": 24, "float64": 53}.get(held.name, 0) if held.kind == "f" else np.iinfo(held.numpy).max
    if is_open([n]):
        return in_shape(randperm, [n], 4, (), dtype=held)
    if not 0 <= count <= min(largest + 1, 1 << 31):
        raise ArgumentError("D2S0004", f"randperm(): there are no {brief(count)} different numbers of {held.name} to mix")
    held_in_memory("randperm", (count,), held)
    return randperm.draw(count, (), n=count, dtype=held)


@randperm.rule("infer")
def _(seed, counter, n, dtype):
    return Type(dtype, (n,))


@randperm.rule("kernel")
def _(seed, counter, out, n, dtype):
    body = """
for k in range(n0):  # Fisher and Yates, from the inside out
    w0, w1, w2, w3 = block(k, 0)
    other = part(w0, w1, k + 1)
    out[k] = out[other] if other < k else T(k)
    out[other] = T(k)
"""
    return [(n,)], PHILOX + body


@randperm.rule("vjp")
def _(g, out, seed, counter, n, dtype):
    return None, None


by_tensor(
    randperm,
    lambda dtype: 4,
    """
    >>> d2s.ops.OPS["randperm_as"](d2s.to_tensor([0]), dtype=d2s.int64).tolist()
    [0]
    """,
)


# --- in other words ----------------------------------------------------------------------------------------------------------


@outside
def rand(shape, dtype=None):
    """Numbers spread evenly over [0, 1).

    >>> d2s.rand([2, 3], "float64").shape
    [2, 3]
    """
    return uniform(shape, dtype, 0.0, 1.0)


@outside
def standard_normal(shape, dtype=None):
    """Normal numbers of mean 0 and standard deviation 1.

    >>> d2s.standard_normal([2, 3]).shape
    [2, 3]
    """
    return _normals("standard_normal", 0.0, 1.0, shape, dtype)


@outside
def randn(shape, dtype=None):
    """`standard_normal` by its other name.

    >>> d2s.randn([2, 0]).shape
    [2, 0]
    """
    return _normals("randn", 0.0, 1.0, shape, dtype)


@outside
def randint_like(x, low=0, high=None, dtype=None):
    """Integers of [low, high) in the shape of x, and in its dtype where none is given.

    >>> d2s.randint_like(d2s.to_tensor([0.5, 0.5]), 1, 2).numpy().tolist()
    [1.0, 1.0]
    """
    held = current().type_of(x)
    if held is None:
        raise DTypeError("D2S0001", f"randint_like(): 'x' expects a Tensor, got {type(x).__name__}")
    wanted = held.dtype if dtype is None else types.dtype(dtype)
    found = _integers("randint_like", low, high, sizes(x), wanted if wanted.kind == "i" else int64)
    return found if wanted.kind == "i" else OPS["cast"](found, wanted)
