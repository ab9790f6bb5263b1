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

import dataclasses
import functools
import inspect
import math
import numbers
import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from d2s import memory, types
from d2s.default_dtype import default_dtype
from d2s.errors import ArgumentError, CaptureError, DTypeError, ShapeError, brief
from d2s.extents import Extent
from d2s.ops.create import full_like
from d2s.ops.dispatch import OPS, current
from d2s.ops.op import Op
from d2s.ops.random_text import (
    PHILOX,
    POISSON,
    WIDE,
    WITH_REPLACEMENT,
    WITHOUT_REPLACEMENT,
    filled,
    minus_log_text,
    normal_text,
)
from d2s.ops.recording import Recorder
from d2s.ops.rows import extent
from d2s.ops.shapes import broadcast
from d2s.types import DType, Type, float64, int64

Public = Callable[..., Any]


# --- where draws come from ---------------------------------------------------------------------------------------------------


class Source(Protocol):
    """Takes blocks from the stream: the seed, and the counter of the first of them."""

    def __call__(self, blocks: int) -> tuple[int, int]: ...


_sources: list[Source] = []


def install(source: Source) -> None:
    """Makes `source` what draws read."""
    _sources[:] = [source]


@dataclasses.dataclass(eq=False)
class Draw(Op):
    """An op that reads a seed and a counter besides its inputs. `public` checks a user's arguments and calls `draw`."""

    public: Public = Op.__call__
    reads: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()  # its attributes in a Program

    def __post_init__(self) -> None:
        super().__post_init__()
        self.arrays, self.attributes = ("seed", "counter", *self.reads), dict.fromkeys(self.holds)
        self.signature = inspect.signature(self.public)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        handler = current()
        if isinstance(handler, Recorder) and not hasattr(handler, "stream"):
            raise _at_capture(self.name).at(handler.line())
        return _bound(self.name, self.signature, self.public, args, kwargs)

    def draw(self, blocks: Any, inputs: Sequence[Any], seed: int = 0, **attrs: Any) -> Any:
        """The next numbers of the stream; with a seed of its own, the first of that one."""
        handler = current()
        recorded = isinstance(handler, Recorder)
        state = (seed, 0) if seed else handler.stream(blocks) if recorded else _sources[0](blocks)  # type: ignore[attr-defined]
        read = [handler.constant(_signed(n), Type(int64)) if isinstance(n, int) else n for n in state]
        return handler.run(self, (*read, *inputs), attrs)


def draws(paddle: str, reads: str, holds: str = "", onnx: str | None = None) -> Callable[[Public], Draw]:
    """Declares an op that draws: Paddle's name of it, its inputs behind seed and counter, its attributes."""

    def declare(public: Public) -> Draw:
        return Draw(public.__name__, public, paddle, onnx, public=public, reads=(*reads.split(),), holds=(*holds.split(),))

    return declare


class Outside(Draw):
    """A public function that touches the stream and has no kernel of its own: in no Program, and refused by a capture."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__wrapped__ = self.public  # where doctest looks
        del OPS[self.name]


def outside(public: Public) -> Outside:
    """Declares such a function."""
    return Outside(public.__name__, public, None, public=public)


class Moving(Outside):
    """One that asks for the place of the stream, or moves it to another: refused by every capture."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        handler = current()
        if isinstance(handler, Recorder) and self.name not in getattr(handler, "at_once", ()):
            raise _at_capture(self.name).at(handler.line())
        return super().__call__(*args, **kwargs)


def moving(public: Public) -> Moving:
    """Declares such a function."""
    return Moving(public.__name__, public, None, public=public)


def _at_capture(name: str) -> CaptureError:
    message = f"'{name}' is called: its effect on the random numbers would happen once, when the function is captured"
    return CaptureError("D2S1004", message, hint="call it outside of the captured function and pass what it returns")


def _bound(name: str, signature: inspect.Signature, function: Public, args: Any, kwargs: Any) -> Any:
    """Calls a public function; where its arguments cannot be bound, says so with a code."""
    try:
        return function(*args, **kwargs)
    except TypeError:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise DTypeError("D2S0001", f"{name}{signature}: {error}") from None
        raise


def _signed(number: int) -> int:
    """64 bits as int64 holds them."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


# --- arguments ---------------------------------------------------------------------------------------------------------------


def _sized(name: str, shape: tuple[int, ...], dtype: DType) -> tuple[int, ...]:
    if all(isinstance(d, int) for d in shape):
        memory.check(name, shape, dtype.numpy)
    return shape


def _shape(name: str, shape: Any, dtype: DType) -> tuple[int, ...]:
    """A shape: a list of extents, or an integer tensor of them."""
    held = current().type_of(shape)
    if held is not None and len(held.shape) == 1 and held.dtype.kind == "i":
        shape = shape.tolist()
    if not isinstance(shape, (list, tuple)):
        got = type(shape).__name__
        raise DTypeError("D2S0001", f"{name}(): 'shape' expects a list of ints, got {got}", hint="[n] for n numbers")
    extents: Any = tuple(d if isinstance(d, Extent) else _int(name, "shape", d) for d in shape)
    if any(isinstance(d, int) and d < 0 for d in extents) or len(extents) > 32:
        raise ArgumentError("D2S0004", f"{name}(): {list(extents)} is not a shape: up to 32 extents, none negative")
    return _sized(name, extents, dtype)


def _int(name: str, argument: str, value: Any) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)
    except (TypeError, ValueError):
        raise DTypeError("D2S0001", f"{name}(): '{argument}' expects an int, got {type(value).__name__}") from None


def _float(name: str, argument: str, value: Any, dtype: DType) -> float:
    """A finite number of a float dtype."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise DTypeError("D2S0001", f"{name}(): '{argument}' expects a number, got {type(value).__name__}")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not abs(found) <= float(np.finfo(dtype.numpy).max):
        raise ArgumentError("D2S0004", f"{name}(): '{argument}' is {brief(value)}: not a finite {dtype.name}")
    return found


def _float_dtype(name: str, dtype: Any) -> DType:
    found = default_dtype() if dtype is None else types.dtype(dtype)
    if found.kind != "f":
        raise DTypeError("D2S0003", f"{name}() draws float32 or float64, not {found.name}")
    return found


def _float_tensor(name: str, x: Any) -> tuple[Type, Any]:
    """The type of a tensor of parameters, and the tensor without its history: no gradient passes a draw."""
    held = current().type_of(x)
    if held is None:
        raise DTypeError("D2S0001", f"{name}(): 'x' expects a Tensor, got {type(x).__name__}")
    if held.dtype.kind != "f":
        raise DTypeError("D2S0003", f"{name}() does not take {held.dtype.name}")
    return held, x.detach()


def elements(x: Any, held: Type) -> Any:
    """How many elements x has, as a number of run time where only a run will tell."""
    named = [extent(x, axis) for axis, d in enumerate(held.shape) if isinstance(d, str)]
    return math.prod([*named, *(d for d in held.shape if not isinstance(d, str))])


def _blocks(elements: int, words: int) -> int:
    """The blocks that hold so many words for each of so many elements."""
    return -(-elements * words // 4)


# --- the ops -----------------------------------------------------------------------------------------------------------------


@draws("uniform_random", "low high", "shape dtype", onnx="RandomUniform")
def uniform(shape, dtype=None, min=-1.0, max=1.0, seed=0):
    """Numbers spread evenly over [min, max). A seed other than 0 starts a stream of its own.

    >>> x = d2s.uniform([1000], min=2.0, max=3.0).numpy()
    >>> bool(x.min() >= 2), bool(x.max() < 3), x.dtype.name
    (True, True, 'float32')
    """
    dtype = _float_dtype("uniform", dtype)
    shape = _shape("uniform", shape, dtype)
    low, high = _float("uniform", "min", min, dtype), _float("uniform", "max", max, dtype)
    if low > high or high - low > float(np.finfo(dtype.numpy).max):
        raise ArgumentError("D2S0004", f"uniform(): from {brief(min)} to {brief(max)} is no range of {dtype.name}s")
    seed = _seed("uniform", seed)
    ends = [current().constant(end, Type(dtype)) for end in (low, high)]
    return uniform.draw(_blocks(math.prod(shape), dtype.size // 4), ends, seed, shape=shape, dtype=dtype)


def _seed(name: str, seed: Any) -> int:
    found = _int(name, "seed", seed)
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


@draws("gaussian_random", "mean std", "shape dtype", onnx="RandomNormal")
def normal(mean=0.0, std=1.0, shape=None):
    """Normal numbers of a mean and a standard deviation. Where these are tensors they say the shape, and carry a gradient.

    >>> d2s.normal(10.0, 0.0, [2]).numpy().tolist()
    [10.0, 10.0]
    >>> d2s.normal(d2s.to_tensor([[1.0], [2.0]]), d2s.to_tensor([0.0, 0.0])).numpy().tolist()
    [[1.0, 1.0], [2.0, 2.0]]
    """
    held = [t for t in map(current().type_of, (mean, std)) if t is not None]
    if not held:
        return _normals("normal", mean, std, (1,) if shape is None else shape, None)
    if shape is not None:
        raise ArgumentError("D2S0004", "normal(): 'shape' is that of 'mean' and 'std' where these are tensors")
    if any(t.dtype.kind != "f" for t in held):
        raise DTypeError("D2S0003", f"normal() does not take {', '.join(map(str, held))}")
    if current().type_of(std) is not None and isinstance(current(), Recorder):
        hint = "where none is below 0: mean + std * d2s.randn(shape)"
        raise CaptureError("D2S1001", "normal(): only a run knows 'std', which must not be below 0", hint=hint)
    if current().type_of(std) is not None and not (std.numpy() >= 0).all():
        raise ArgumentError("D2S0004", "normal(): 'std' holds numbers that are below 0, or nan")
    dtype = functools.reduce(lambda x, y: x if x.size >= y.size else y, [t.dtype for t in held])
    for argument, value in (("mean", mean), ("std", std)):
        if current().type_of(value) is None:
            _spread(argument, value, dtype)
    z = _normals("normal", 0.0, 1.0, list(broadcast("normal", [t.shape for t in held])[0]), dtype)
    return OPS["add"](OPS["multiply"](z, std), mean)


def _spread(argument: str, value: Any, dtype: DType, name: str = "normal") -> float:
    """A mean, or a standard deviation, which is not below 0."""
    found = _float(name, argument, value, dtype)
    if argument == "std" and found < 0:
        raise ArgumentError("D2S0004", f"{name}(): 'std' is {brief(value)}, below 0")
    return found


def _normals(name: str, mean: Any, std: Any, shape: Any, dtype: Any) -> Any:
    dtype = _float_dtype(name, dtype)
    shape = _shape(name, shape, dtype)
    given = [_spread("mean", mean, dtype, name), _spread("std", std, dtype, name)]
    inputs = [current().constant(number, Type(dtype)) for number in given]
    return normal.draw(_blocks(math.prod(shape), dtype.size // 4), inputs, shape=shape, dtype=dtype)


@normal.rule("infer")
def _(seed, counter, mean, std, shape, dtype):
    return Type(dtype, shape)


@normal.rule("kernel")
def _(seed, counter, mean, std, out, shape, dtype):
    return [shape], filled(f"shift = mean[0]\nscale = std[0]\n\n{normal_text(dtype)}", dtype.size // 4)


@normal.rule("vjp")
def _(g, out, seed, counter, mean, std, shape, dtype):
    return None, None, None, None


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
    first, end = _int(name, "low", first), _int(name, "low" if high is None else "high", end)
    limits = np.iinfo(dtype.numpy)
    if first >= end or first < limits.min or end - 1 > limits.max:
        raise ArgumentError(
            "D2S0004", f"{name}(): from {brief(first)} up to {brief(end)}, without it, is no range of {dtype.name}s"
        )
    shape = _shape(name, shape, dtype)
    # 64 bits of chance per number, 128 for 2**32 of them or more: the likelihoods differ by a part in 2**32 at most
    wide = end - first >= 1 << 32
    inputs = [current().constant(_signed(n), Type(int64)) for n in (first, end - first)]
    return randint.draw(_blocks(math.prod(shape), 4 if wide else 2), inputs, shape=shape, dtype=dtype, wide=wide)


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


@draws("randperm", "", "n dtype")
def randperm(n, dtype="int64"):
    """The integers below n in an order by chance.

    >>> sorted(d2s.randperm(5).tolist())
    [0, 1, 2, 3, 4]
    """
    count, held = _int("randperm", "n", n), types.dtype(dtype)
    if held.kind == "b":
        raise DTypeError("D2S0003", "randperm() does not draw bool")
    largest = 1 << {"float32": 24, "float64": 53}.get(held.name, 0) if held.kind == "f" else np.iinfo(held.numpy).max
    if not 0 <= count <= min(largest + 1, 1 << 31):
        raise ArgumentError("D2S0004", f"randperm(): there are no {brief(count)} different numbers of {held.name} to mix")
    _sized("randperm", (count,), held)
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


@draws("bernoulli", "x", onnx="Bernoulli")
def bernoulli(x, p=None):
    """1 with the likelihood x says, or with likelihood p, else 0, element by element.

    >>> d2s.bernoulli(d2s.to_tensor([0.0, 1.0])).numpy().tolist()
    [0.0, 1.0]
    """
    held, x = _float_tensor("bernoulli", x if p is None else full_like(x, _float("bernoulli", "p", p, float64)))
    if not isinstance(current(), Recorder) and not ((x.numpy() >= 0) & (x.numpy() <= 1)).all():
        raise _not_a_likelihood()
    return bernoulli.draw(elements(x, held), (x,))


def _not_a_likelihood() -> ArgumentError:
    return ArgumentError("D2S0004", "bernoulli(): 'x' holds numbers outside of [0, 1]")


@bernoulli.rule("fault")
def _(value, seed, counter, x):
    return _not_a_likelihood()


@bernoulli.rule("infer")
def _(seed, counter, x):
    return x


@bernoulli.rule("kernel")
def _(seed, counter, x, out):
    body = """
for k in range(n0):
    w0, w1, w2, w3 = block(k, 0)
    if not (x[k] >= 0 and x[k] <= 1):
        r[o[fault]] = 1
    out[k] = T(1) if unit(w0, w1) < float(x[k]) else T(0)
"""
    return [x.shape], PHILOX + body


@bernoulli.rule("vjp")
def _(g, out, seed, counter, x):
    return None, None, None


@draws("multinomial", "x", "num_samples replacement", onnx="Multinomial")
def multinomial(x, num_samples=1, replacement=False):
    """Indices into the last axis of x, drawn with likelihoods in proportion to its numbers.

    >>> d2s.multinomial(d2s.to_tensor([[0.0, 3.0, 0.0], [1.0, 0.0, 0.0]]), 2, replacement=True).numpy().tolist()
    [[1, 1], [0, 0]]
    >>> sorted(d2s.multinomial(d2s.to_tensor([1.0, 0.0, 2.0]), 2).tolist())
    [0, 2]
    """
    held, x = _float_tensor("multinomial", x)
    count = _int("multinomial", "num_samples", num_samples)
    if not isinstance(replacement, (bool, np.bool_)):
        raise DTypeError("D2S0001", f"multinomial(): 'replacement' expects a bool, got {type(replacement).__name__}")
    if len(held.shape) not in (1, 2):
        raise ShapeError("D2S0002", f"multinomial(): expects a vector or a matrix, got shape {list(held.shape)}")
    if not isinstance(current(), Recorder):
        _check_weights(x.numpy(), count, bool(replacement))
    elif count < 1:
        raise _too_many(count, int(held.shape[-1]) if isinstance(held.shape[-1], int) else 1 << 31)
    rows = elements(x, dataclasses.replace(held, shape=held.shape[:-1]))
    if isinstance(rows, int):
        _sized("multinomial", (rows, count), int64)
    width = held.shape[-1] if isinstance(held.shape[-1], int) else extent(x, len(held.shape) - 1)
    return multinomial.draw(rows * (count if replacement else width), (x,), num_samples=count, replacement=bool(replacement))


def _check_weights(x: np.ndarray, count: int, replacement: bool) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        total = x.sum(-1, dtype=np.float64)
    if not (x >= 0).all() or not (np.isfinite(total) & (total > 0)).all():
        raise _no_weights()
    least = 1 << 31 if replacement else int((x > 0).sum(-1).min(initial=x.shape[-1]))
    if not 1 <= count <= least:
        raise _too_many(count, least)


def _no_weights() -> ArgumentError:
    return ArgumentError("D2S0004", "multinomial(): each row of 'x' holds numbers that are not negative, with a finite sum > 0")


def _too_many(count: int, least: int) -> ArgumentError:
    return ArgumentError("D2S0004", f"multinomial(): 'num_samples' is {count}, a row offers 1 to {least}")


@multinomial.rule("fault")
def _(value, seed, counter, x, num_samples, replacement):
    return _no_weights() if value == 1 else _too_many(num_samples, value - 2)


@multinomial.rule("infer")
def _(seed, counter, x, num_samples, replacement):
    return Type(int64, (*x.shape[:-1], num_samples))


@multinomial.rule("kernel")
def _(seed, counter, x, out, num_samples, replacement):
    race = minus_log_text("float", 11) + WITHOUT_REPLACEMENT
    return [x.shape[:-1], x.shape[-1:], (num_samples,)], f"{PHILOX}\n{WITH_REPLACEMENT if replacement else race}"


@multinomial.rule("vjp")
def _(g, out, seed, counter, x, num_samples, replacement):
    return None, None, None


@draws("poisson", "x")
def poisson(x):
    """Counts of a Poisson process, element by element; x holds the rates.

    >>> d2s.poisson(d2s.to_tensor([0.0, 0.0])).numpy().tolist()
    [0.0, 0.0]
    """
    held, x = _float_tensor("poisson", x)
    if not isinstance(current(), Recorder) and not ((x.numpy() >= 0) & (x.numpy() < np.inf)).all():
        raise _not_a_rate()
    return poisson.draw(elements(x, held), (x,))


def _not_a_rate() -> ArgumentError:
    return ArgumentError("D2S0004", "poisson(): 'x' holds numbers that are below 0, or not finite")


@poisson.rule("fault")
def _(value, seed, counter, x):
    return _not_a_rate()


@poisson.rule("infer")
def _(seed, counter, x):
    return x


@poisson.rule("kernel")
def _(seed, counter, x, out):
    limit = normal_text(types.float64).replace("T(", "float(")
    return [x.shape], f"{PHILOX}\nshift = 0.0\nscale = 1.0\n\n{limit}{POISSON}"


@poisson.rule("vjp")
def _(g, out, seed, counter, x):
    return None, None, None


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
    found = _integers("randint_like", low, high, held.shape, wanted if wanted.kind == "i" else int64)
    return found if wanted.kind == "i" else OPS["cast"](found, wanted)
