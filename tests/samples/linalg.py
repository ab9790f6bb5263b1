"""Products of matrices: what each is tried on, and what NumPy says."""

import itertools

import numpy as np

from tests.samples.sample import Listed

PAIRS = [  # as NumPy multiplies them
    ((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((2, 2, 3), (3, 4)), ((2, 2, 3), (2, 3, 4)),
    ((2, 3), (5, 3, 1)), ((1, 1, 3), (2, 3, 2)), ((2, 2, 3), (1, 3, 2)), ((3,), (2, 3, 2)), ((2, 2, 3), (3,)),
    ((2, 1, 2, 3), (3, 3, 2)),
    ((1, 1), (1, 1)), ((1, 5), (5, 1)), ((5, 1), (1, 5)), ((0, 3), (3, 2)), ((3, 0), (0, 2)), ((3, 2), (2, 0)),
    ((0, 2, 3), (3, 4)), ((2, 0), (0,)), ((17, 70), (70, 9)), ((9, 130), (130, 1)), ((1, 130), (130, 9)),
    ((2, 3, 4, 2), (3, 2, 5)), ((2, 1, 3, 2), (1, 3, 2, 2)),
]  # fmt: skip
FLIPS = [{"transpose_x": x, "transpose_y": y} for x in (False, True) for y in (False, True)]


def turned(x: np.ndarray, flip: bool) -> np.ndarray:
    return np.ascontiguousarray(np.swapaxes(x, -1, -2)) if flip and x.ndim > 1 else x


def product(x: np.ndarray, y: np.ndarray, transpose_x: bool = False, transpose_y: bool = False) -> np.ndarray:
    return np.asarray(np.matmul(turned(x, transpose_x), turned(y, transpose_y)))


def products(make):
    yield [make(2, 3), make(3, 4)], {}
    for (x, y), flips in itertools.chain(
        zip(PAIRS, itertools.cycle(FLIPS[::-1]), strict=False), itertools.product(PAIRS, FLIPS)
    ):
        yield [turned(make(*x), flips["transpose_x"]), turned(make(*y), flips["transpose_y"])], flips


def rows(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (
        x.reshape(-1, x.shape[-1]).T @ y.reshape(-1, y.shape[-1])
        if x.size and y.size
        else np.zeros((x.shape[-1], y.shape[-1]), x.dtype)
    )


SAMPLES = {
    "matmul": Listed(product, products, "if", ulps=64),
    "matmul_rows": Listed(
        rows,
        lambda make: [([make(*a, 3), make(*a, 4)], {}) for a in [(2,), (2, 5), (0,), (1,), (3, 1, 2), (2, 0)]],
        "if",
        ulps=64,
    ),
    "linear": Listed(
        lambda x, weight, bias: x @ weight + bias,
        lambda make: [
            ([make(*a, k), make(k, n), make(n)], {})
            for a, k, n in [((2,), 3, 4), ((), 3, 4), ((2, 5), 3, 1), ((7,), 9, 1), ((0,), 3, 2), ((2,), 0, 4), ((1,), 40, 70)]
        ],
        "if",
        ulps=64,
    ),
    "dot": Listed(
        lambda x, y: np.asarray((x * y).sum(-1, dtype=x.dtype)),
        lambda make: [([make(*s), make(*s)], {}) for s in [(3,), (2, 3), (0,), (0, 3), (3, 0), (1, 1), (70,)]],
        "if",
        ulps=64,
    ),
}
