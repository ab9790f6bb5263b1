"""Ops on elements, reductions, random draws and control flow: what each is tried on, and what NumPy says.

The structural ops have no eager form: their line is a Program that uses them, its inputs and its outputs.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from d2s import types
from d2s.types import DType
from tests.samples.sample import ONE, THREE, TWO, Sample, Structural


def saturated(x: np.ndarray, dtype: DType) -> np.ndarray:
    """What `cast` promises: floats become the nearest value of an integer dtype, nan becomes 0; integers wrap."""
    if x.dtype.kind != "f" or dtype.kind != "i":
        return x.astype(dtype.numpy)
    limits = np.iinfo(dtype.numpy)
    low, high = x <= float(limits.min), x >= float(limits.max)
    inside = np.where(low | high | np.isnan(x), 0, x).astype(dtype.numpy)
    return np.where(high, limits.max, np.where(low, limits.min, inside)).astype(dtype.numpy)


def drawn(node: str, types: str, outputs: Any, *inputs: Any) -> Structural:
    """An op that draws, from block 0 of seed 0 and inputs x, y of some types: the words of that block are published."""
    read = "".join(f", {name}: {t}" for name, t in zip("xy", types.split()[:-1], strict=False))
    out = types.split()[-1]
    text = f"program f(seed: i64[], counter: i64[]{read}) -> ({out}) {{ %0: {out} = {node} return %0 }}"
    return Structural(text, [np.int64(0), np.int64(0), *inputs], [outputs])


STREAMED = "program f() -> (i64[]) { %0: i64[], %1: i64[] = stream() moved(%1) return %0 }"
DOUBLED = """program f(x: f32[2]) -> (f32[2]) {
  %0: f32[2] = call(x, carries=1, name='doubled') {
    body(x: f32[2]) -> (f32[2]) {
      %0: f32[] = constant(dtype=f32, python=False, value=8.0)
      %1: f32[] = sum(x, axis=(0,), keepdim=False)
      %2: b1[] = greater_than(%1, %0)
      %3: f32[2] = cond(%2, x) {
        then(x: f32[2]) -> (f32[2]) { return x }
        otherwise(x: f32[2]) -> (f32[2]) {
          %0: f32[2] = add(x, x)
          %1: f32[2] = again(%0, name='doubled', results=((f32,(2,),False,),))
          return %1 } }
      return %3 } }
  return %0 }"""
FIRST_BLOCK = (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)


def worked(name: str, types_of: str, output: Any, *inputs: Any) -> Structural:
    """An op that not every float, or no float, is for: tests/ops/test_vector_math.py has its dtypes, shapes and gradients."""
    *read, out = types_of.split()
    header = ", ".join(f"{n}: {t}" for n, t in zip("xy", read, strict=False))
    text = f"program f({header}) -> ({out}) {{ %0: {out} = {name}({', '.join('xy'[: len(read)])}) return %0 }}"
    arrays = [np.array(i, types.dtype(t.partition("[")[0]).numpy) for i, t in zip(inputs, read, strict=True)]
    return Structural(text, arrays, [output])


def by_kind(floats: Callable[..., np.ndarray], ints: Callable[[int, int], int]) -> Callable[..., np.ndarray]:
    """A function of two floats, and one of two ints whose results wrap around."""

    def reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype.kind == "f":
            return floats(x, y)
        wrapped = np.frompyfunc(lambda a, b: ints(int(a), int(b)) & (1 << 64) - 1, 2, 1)
        return np.asarray(wrapped(x, y), object).astype(np.uint64).astype(x.dtype)

    return reference


def in_float64(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda x, y: function(x.astype(np.float64), y.astype(np.float64)).astype(x.dtype)


def clipped(x: np.ndarray, min: Any = None, max: Any = None) -> np.ndarray:
    """Kept between bounds, whichever are given."""
    if min is not None:
        x = np.where(x < min, x.dtype.type(min if x.dtype != np.uint8 or min >= 0 else 0), x)
    return x if max is None else np.where(x > max, x.dtype.type(max), x)


SAMPLES: dict[str, Sample | Structural] = {
    "add": Sample(np.add, TWO),
    "subtract": Sample(np.subtract, TWO, "if"),
    "multiply": Sample(np.multiply, TWO),
    "detached": worked("detached", "f32[2] f32[2]", np.float32([1, -2]), np.float32([1, -2])),
    "renewed": worked("renewed", "f32[2] f32[2] f32[2]", np.float32([1, -2]), np.float32([1, -2]), np.float32([3, 4])),
    "neg": Sample(np.negative, ONE, "if"),
    "relu": Sample(lambda x: np.where(x <= 0, x.dtype.type(0), x), ONE, "if"),
    "tanh": Sample(np.tanh, ONE, "f", ulps=4),
    "equal": Sample(np.equal, TWO),
    "not_equal": Sample(np.not_equal, TWO),
    "less_than": Sample(np.less, TWO),
    "less_equal": Sample(np.less_equal, TWO),
    "greater_than": Sample(np.greater, TWO),
    "greater_equal": Sample(np.greater_equal, TWO),
    "where": Sample(np.where, THREE),
    "cast": Sample(saturated, ONE[:4], attrs=[{"dtype": d} for d in types.TENSOR_DTYPES]),
    "uniform": drawn(
        "uniform(seed, counter, x, y, dtype=f32, shape=(4,))",
        "f32[] f32[] f32[4]",
        [(w >> 8) / 2**24 for w in FIRST_BLOCK],
        np.float32(0),
        np.float32(1),
    ),
    "normal": drawn(
        "normal(seed, counter, x, y, dtype=f64, shape=(2,))", "f64[] f64[] f64[2]", [3.0, 3.0], np.float64(3), np.float64(0)
    ),
    "randint": drawn(
        "randint(seed, counter, x, y, dtype=i64, shape=(2,), wide=False)",
        "i64[] i64[] i64[2]",
        [(FIRST_BLOCK[1] >> 1) - 5, (FIRST_BLOCK[3] >> 1) - 5],
        np.int64(-5),
        np.int64(2**31),
    ),
    "randperm": drawn("randperm(seed, counter, dtype=i32, n=1)", "i32[1]", [0]),
    "uniform_as": drawn(
        "uniform_as(seed, counter, x, y, y, dtype=f32)", "f32[] f32[2] f32[2]", [2.0, 2.0], np.float32(2), np.float32([2, 2])
    ),
    "normal_as": drawn(
        "normal_as(seed, counter, x, x, y, dtype=f64)", "f64[] f64[2] f64[2]", [0.0, 0.0], np.float64(0), np.float64([3, 0])
    ),
    "randint_as": drawn(
        "randint_as(seed, counter, x, x, y, dtype=i64, wide=False)",
        "i64[] i64[2] i64[2]",
        [1, 1],
        np.int64(1),
        np.int64([0, 0]),
    ),
    "randperm_as": drawn("randperm_as(seed, counter, x, dtype=i32)", "f32[1] i32[1]", [0], np.float32([5])),
    "bernoulli": drawn("bernoulli(seed, counter, x)", "f32[3] f32[3]", [0, 1, 0], np.array([0, 1, 0], "float32")),
    "multinomial": drawn(
        "multinomial(seed, counter, x, num_samples=2, replacement=True)",
        "f32[2,2] i64[2,2]",
        [[1, 1], [0, 0]],
        np.array([[0, 1], [1, 0]], "float32"),
    ),
    "poisson": drawn("poisson(seed, counter, x)", "f64[2] f64[2]", [0, 0], np.zeros(2)),
    "constant": Structural(
        "program f() -> (f32[]) { %0: f32[] = constant(dtype=f32, python=False, value=0.5) return %0 }", [], [0.5]
    ),
    "cond": Structural(
        """program f(c: b1[], x: f32[]) -> (f32[]) {
             %0: f32[] = cond(c, x) {
               then(x: f32[]) -> (f32[]) { return x }
               otherwise(x: f32[]) -> (f32[]) { %0: f32[] = neg(x) return %0 } }
             return %0 }""",
        [np.array(False), np.float32(2)],
        [-2.0],
    ),
    "fused": Structural(
        """program f(x: f32[2], k: int) -> (f32[2], int) {
             %0: f32[2], %1: f32[2] = fused(x) {
               body(x: f32[2]) -> (f32[2], f32[2]) {
                 %0: f32[2] = neg(x) %1: i8[2] = cast(%0, dtype=i8, python=False) %2: i8[2] = add(%1, %1)
                 %3: f32[2] = cast(%2, dtype=f32, python=False) return %3, %0 } }
             %2: int = fused(k) { body(k: int) -> (int) { %0: int = multiply(k, k) %1: int = add(%0, k) return %1 } }
             %3: f32[2] = add(%0, %1) return %3, %2 }""",
        [np.array([-100, 3], "float32"), np.array(5)],
        [[44.0, -9.0], 30],
    ),
    "while_loop": Structural(
        """program f(x: f32[]) -> (f32[]) {
             %0: f32[] = while_loop(x, carries=1) {
               test(x: f32[]) -> (b1[]) {
                 %0: f32[] = constant(dtype=f32, python=False, value=9.0)
                 %1: b1[] = less_than(x, %0) return %1 }
               body(x: f32[]) -> (f32[]) { %0: f32[] = add(x, x) return %0 } }
             return %0 }""",
        [np.float32(1)],
        [16.0],
    ),
    "call": Structural(DOUBLED, [np.float32([1, 2])], [np.float32([4, 8])]),
    "again": Structural(DOUBLED, [np.float32([9, 2])], [np.float32([9, 2])]),
    "hole": Structural(
        """program f(c: b1[], x: f32[2]) -> (f32[2], int) {
             %0: f32[2], %1: int = cond(c, x) {
               then(x: f32[2]) -> (f32[2], int) {
                 %0: f32[2] = hole(dtype=f32, python=False, shape=(2,))
                 %1: int = constant(dtype=i64, python=True, value=0) return %0, %1 }
               otherwise(x: f32[2]) -> (f32[2], int) {
                 %0: int = constant(dtype=i64, python=True, value=1) return x, %0 } }
             return %0, %1 }""",
        [np.array(False), np.ones(2, "float32")],
        [[1.0, 1.0], 1],
    ),
    "fail": Structural(
        """program f(c: b1[], x: f32[]) -> (f32[]) {
             cond(c) { then() -> () { fail(error='ValueError: no') return } otherwise() -> () { return } }
             return x }""",
        [np.array(False), np.float32(2)],
        [2.0],
    ),
    "stream": Structural(STREAMED, [np.int64(7), np.int64(3)], [7, 3]),
    "moved": Structural(STREAMED, [np.int64(8), np.int64(-2)], [8, -2]),
    "host": Structural(
        """program f(x: f32[2]) -> (f32[2]) {
             %0: int = host(x, call=0, count=0, dtype=i64, python=True, shape=())
             return x }""",
        [np.float32([1, 2])],
        [np.float32([1, 2])],
    ),
    "update": Structural(
        """program f(p: f32[2], g: f32[2], numbers: f64[1]) -> (f32[2], f32[2]) {
             %0: f32[2] = neg(p)
             %1: f32[2] = update(p, g, numbers, rule='sgd', state=())
             return %1, %0 }""",
        [np.float32([1, 2]), np.float32([2, 4]), np.array([0.25])],
        [np.float32([0.5, 1]), np.float32([-1, -2])],
    ),
    "row": Structural(
        "program f(x: f32[n,2], i: i64[]) -> (f32[2]) { %0: f32[2] = row(x, i) return %0 }",
        [np.arange(6, dtype="float32").reshape(3, 2), np.int64(1)],
        [[2.0, 3.0]],
    ),
    "in_row": Structural(
        "program f(g: f32[2], x: f32[n,2], i: i64[]) -> (f32[n,2]) { %0: f32[n,2] = in_row(g, x, i) return %0 }",
        [np.ones(2, "float32"), np.ones((2, 2), "float32"), np.int64(1)],
        [[[0.0, 0.0], [1.0, 1.0]]],
    ),
    "extent": Structural(
        "program f(x: f32[n,2]) -> (int) { %0: int = extent(x, axis=0) return %0 }", [np.ones((3, 2), "float32")], [3]
    ),
    "stack": Structural("program f(x: f32[]) -> (f32[]) { %0: stack = stack() return x }", [np.float32(1)], [1.0]),
    "push": Structural(
        "program f(x: f32[]) -> (f32[]) { %0: stack = stack() %1: stack = push(%0, x) return x }", [np.float32(1)], [1.0]
    ),
    "pop": Structural(
        """program f(x: f32[2], y: f32[]) -> (f32[], f32[2]) {
             %0: stack = stack()  %1: stack = push(%0, x)  %2: stack = push(%1, y)
             %3: stack, %4: f32[] = pop(%2, dtype=f32, python=False, shape=())
             %5: stack, %6: f32[2] = pop(%3, dtype=f32, python=False, shape=(2,))
             return %4, %6 }""",
        [np.ones(2, "float32"), np.float32(3)],
        [3.0, [1.0, 1.0]],
    ),
    "divide": Sample(
        by_kind(np.divide, lambda x, y: (abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)) if y else 0), TWO, "if"
    ),
    "floor_divide": Sample(by_kind(in_float64(np.floor_divide), lambda x, y: x // y if y else 0), TWO, "if"),
    "remainder": Sample(by_kind(in_float64(np.remainder), lambda x, y: x % y if y else 0), TWO, "if"),
    "pow": worked("pow", "f32[3] f32[3] f32[3]", [8, 3, np.nan], [2, 9, -8], [3, 0.5, 1 / 3]),
    "square": Sample(np.square, ONE, "if"),
    "reciprocal": Sample(np.reciprocal, ONE, "f"),
    "abs": Sample(np.abs, ONE, "if"),
    "sign": Sample(np.sign, ONE, "if"),
    "exp": Sample(np.exp, ONE, "f", ulps=4),
    "expm1": Sample(np.expm1, ONE, "f", ulps=4),
    "log": worked("log", "f32[3] f32[3]", [0, np.inf, -np.inf], [1, np.inf, 0]),
    "bounded_log": worked("bounded_log", "f32[4] f32[4]", [0, np.float32(1e20), np.float32(-1e20), np.nan], [1, np.inf, 0, -1]),
    "log1p": worked("log1p", "f32[3] f32[3]", [0, np.inf, -np.inf], [0, np.inf, -1]),
    "log2": worked("log2", "f32[3] f32[3]", [3, -2, -np.inf], [8, 0.25, 0]),
    "log10": worked("log10", "f32[3] f32[3]", [3, 0, -np.inf], [1000, 1, 0]),
    "sqrt": worked("sqrt", "f32[3] f32[3]", [3, 0.5, np.nan], [9, 0.25, -1]),
    "rsqrt": worked("rsqrt", "f32[3] f32[3]", [0.5, 2, np.inf], [4, 0.25, 0]),
    "sigmoid": Sample(lambda x: (1 / (1 + np.exp(-x.astype(np.longdouble)))).astype(x.dtype), ONE, "f", ulps=4),
    "erf": Sample(lambda x: np.array([math.erf(v) for v in x.flat], x.dtype).reshape(x.shape), ONE, "f", ulps=4),
    "sin": Sample(np.sin, ONE, "f", ulps=4),
    "cos": Sample(np.cos, ONE, "f", ulps=4),
    "tan": Sample(np.tan, ONE, "f", ulps=8),
    "asin": worked("asin", "f32[3] f32[3]", [0, -0.0, np.nan], [0, -0.0, 2]),
    "acos": worked("acos", "f32[3] f32[3]", [0, np.nan, np.nan], [1, 2, -2]),
    "atan": Sample(np.arctan, ONE, "f", ulps=4),
    "sinh": Sample(np.sinh, ONE, "f", ulps=4),
    "cosh": Sample(np.cosh, ONE, "f", ulps=4),
    "floor": Sample(np.floor, ONE, "f"),
    "ceil": Sample(np.ceil, ONE, "f"),
    "round": Sample(lambda x: np.copysign(np.floor(np.abs(x) + 0.5 * (np.abs(x) < 2**22)), x).astype(x.dtype), ONE, "f"),
    "trunc": Sample(np.trunc, ONE, "f"),
    "isnan": worked("isnan", "f32[3] b1[3]", [0, 0, 1], [1, -np.inf, np.nan]),
    "isinf": worked("isinf", "f32[3] b1[3]", [0, 1, 0], [1, -np.inf, np.nan]),
    "isfinite": worked("isfinite", "f32[3] b1[3]", [1, 0, 0], [1, -np.inf, np.nan]),
    "maximum": Sample(lambda x, y: np.where((x >= y) | (x != x), x, y), TWO, "if"),
    "minimum": Sample(lambda x, y: np.where((x <= y) | (x != x), x, y), TWO, "if"),
    "fmax": Sample(lambda x, y: np.where((x >= y) | (y != y), x, y), TWO, "if"),
    "fmin": Sample(lambda x, y: np.where((x <= y) | (y != y), x, y), TWO, "if"),
    "clip": Sample(clipped, ONE, "if", attrs=[{}, {"min": 1}, {"max": 2.0}, {"min": -1, "max": 1}, {"min": 3, "max": 2}]),
    "logical_and": Sample(np.logical_and, TWO),
    "logical_or": Sample(np.logical_or, TWO),
    "logical_xor": Sample(np.logical_xor, TWO),
    "logical_not": worked("logical_not", "f32[3] b1[3]", [0, 1, 0], [2, 0, np.nan]),
    "bitwise_and": worked("bitwise_and", "i8[2] i8[2] i8[2]", [4, 8], [6, 12], [4, 10]),
    "bitwise_or": worked("bitwise_or", "i8[2] i8[2] i8[2]", [6, 14], [6, 12], [4, 10]),
    "bitwise_xor": worked("bitwise_xor", "i8[2] i8[2] i8[2]", [2, 6], [6, 12], [4, 10]),
    "bitwise_not": worked("bitwise_not", "i64[2] i64[2]", [-1, -6], [0, 5]),
}
