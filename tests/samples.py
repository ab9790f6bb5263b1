"""One line per op: what it is tried on, and what NumPy says the result is.

A `Sample` holds a NumPy reference, lists of input shapes, the kinds of dtype it takes and the attributes it is tried with.
The structural ops have no eager form: their line is a Program that uses them, its inputs and its outputs.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s import types
from d2s.types import DType

Shapes = tuple[tuple[int, ...], ...]
ONE: tuple[Shapes, ...] = tuple((s,) for s in [(), (0,), (1,), (7,), (3, 1), (2, 0, 3), (1, 1, 1), (2, 3, 4), (2, 1, 3, 1, 2)])
TWO: tuple[Shapes, ...] = (
    ((), ()),
    ((5,), (5,)),
    ((5,), ()),
    ((), (5,)),
    ((1,), (4,)),
    ((0,), (1,)),
    ((3, 1), (1, 4)),
    ((4,), (3, 4)),
    ((2, 1, 4), (3, 1)),
    ((2, 3), (1, 1, 1, 2, 3)),
    ((2, 1, 3, 1, 2), (5, 1, 2, 1)),
    ((0, 3), (3,)),
)
THREE: tuple[Shapes, ...] = (
    ((), (), ()),
    ((4,), (4,), (4,)),
    ((3, 1), (4,), ()),
    ((), (2, 1), (2, 3)),
    ((1, 3), (2, 1), (0, 1, 1)),
)
MATRICES: tuple[Shapes, ...] = tuple(
    ((n, k), (k, m)) for n, k, m in [(1, 1, 1), (2, 3, 4), (1, 5, 1), (0, 3, 2), (3, 0, 2), (17, 70, 9)]
)
FLIPS = tuple({"transpose_x": x, "transpose_y": y} for x in (False, True) for y in (False, True))
AXES = ({}, {"axis": None, "keepdim": True}, {"axis": 0}, {"axis": -1, "keepdim": True}, {"axis": (0, -1)}, {"axis": ()})


class Sample(NamedTuple):
    """An op with kernels."""

    reference: Callable[..., np.ndarray]
    shapes: Sequence[Shapes]
    kinds: str = "bif"
    attrs: Sequence[dict[str, Any]] = ({},)
    ulps: int = 0  # how far a float may be from NumPy's


class Structural(NamedTuple):
    """An op known to interpreter and plan by name: a Program, its inputs, its outputs."""

    text: str
    inputs: list[Any]
    outputs: list[Any]


def saturated(x: np.ndarray, dtype: DType) -> np.ndarray:
    """What `cast` promises: floats become the nearest value of an integer dtype, nan becomes 0; integers wrap."""
    if x.dtype.kind != "f" or dtype.kind != "i":
        return x.astype(dtype.numpy)
    limits = np.iinfo(dtype.numpy)
    low, high = x <= float(limits.min), x >= float(limits.max)
    inside = np.where(low | high | np.isnan(x), 0, x).astype(dtype.numpy)
    return np.where(high, limits.max, np.where(low, limits.min, inside)).astype(dtype.numpy)


def tree_sum(x: np.ndarray, axis: Any = None, keepdim: bool = False) -> np.ndarray:
    """The sum as it is defined: element k goes to lane k mod 64, then the lanes are halved; bit for bit."""
    axes = tuple(range(x.ndim)) if axis is None else tuple(a % x.ndim for a in np.atleast_1d(np.array(axis, int)))
    kept = [a for a in range(x.ndim) if a not in axes]
    rows = x.transpose(*kept, *sorted(axes)).reshape(
        *(x.shape[a] for a in kept), int(np.prod([x.shape[a] for a in axes], dtype=int))
    )
    rows = rows.astype(x.dtype if x.dtype.kind == "f" else np.int64)
    rows = np.pad(rows, [(0, 0)] * len(kept) + [(0, -rows.shape[-1] % 64)])
    lanes = np.zeros((*rows.shape[:-1], 64), rows.dtype)
    for start in range(0, rows.shape[-1], 64):
        lanes = lanes + rows[..., start : start + 64]
    while lanes.shape[-1] > 1:
        lanes = lanes[..., : lanes.shape[-1] // 2] + lanes[..., lanes.shape[-1] // 2 :]
    shape = [1 if a in axes else n for a, n in enumerate(x.shape)] if keepdim else lanes.shape[:-1]
    return lanes[..., 0].reshape(shape)


def product(x: np.ndarray, y: np.ndarray, transpose_x: bool, transpose_y: bool) -> np.ndarray:
    """The product in ascending k, without the fused rounding."""
    total = np.zeros((x.shape[transpose_x], y.shape[not transpose_y]), x.dtype)
    for k in range(x.shape[not transpose_x]):
        total = total + np.outer(x[k] if transpose_x else x[:, k], y[:, k] if transpose_y else y[k])
    return total


def repeated(x: np.ndarray, like: np.ndarray, axis: Any, keepdim: bool) -> np.ndarray:
    """x along the axes a sum took away."""
    axes = tuple(range(like.ndim)) if axis is None else axis
    return np.broadcast_to(x if keepdim else np.expand_dims(x, axes), like.shape)


REDUCED: tuple[Shapes, ...] = (((), (2, 3)), ((), ()), ((), (0,)))

SAMPLES: dict[str, Sample | Structural] = {
    "add": Sample(np.add, TWO),
    "subtract": Sample(np.subtract, TWO, "if"),
    "multiply": Sample(np.multiply, TWO),
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
    "sum": Sample(tree_sum, [*ONE[1:], ((130,),), ((3, 200),), ((70, 3),)], attrs=AXES),
    "spread": Sample(repeated, REDUCED, "f", attrs=[{"axis": None, "keepdim": False}]),
    "matmul": Sample(product, MATRICES, "f", attrs=FLIPS, ulps=64),
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
}
KERNELS = {name: s for name, s in SAMPLES.items() if isinstance(s, Sample)}
STRUCTURAL = {name: s for name, s in SAMPLES.items() if isinstance(s, Structural)}

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    np.inf,
    -np.inf,
    np.nan,
    3.0e38,
    -3.0e38,
    1e-40,
    127.0,
    128.0,
    255.5,
    -129.0,
    2.0**31,
    2.0**63,
]


def values(dtype: DType, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Numbers of a dtype, its extremes among them."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind == "i":
        limits = np.iinfo(dtype.numpy)
        pool = np.array([0, 1, 2, 3, 5, limits.max, limits.max - 1, limits.min, limits.min + 1], dtype.numpy)
    else:
        pool = np.array([*SPECIAL, *rng.standard_normal(20)], dtype.numpy)
    return np.asarray(rng.choice(pool, shape))


def fits(attrs: dict[str, Any], rank: int) -> bool:
    """Whether the axes an attribute names are axes of a tensor of that rank, none of them twice."""
    axis = attrs.get("axis")
    listed = [] if axis is None else list(axis) if isinstance(axis, tuple) else [axis]
    return all(-rank <= a < rank for a in listed) and len({a % rank for a in listed}) == len(listed)


def accepts(name: str) -> list[DType]:
    """The dtypes a sample is tried on."""
    return [d for d in types.TENSOR_DTYPES if d.kind in KERNELS[name].kinds]
