"""Lists of a Program: one Program has all that can be done to them."""

import numpy as np

from tests.samples.sample import Structural

_ALL = Structural(
    """program f(x: f32[2], k: i64[]) -> (f32[2], f32[2], i64[], f32[2]) {
         %0: list[f32[2]] = list_new(dtype=f32, python=False, shape=(2,))
         %1: list[f32[2]] = list_append(%0, x)
         %2: f32[2] = neg(x)
         %3: list[f32[2]] = list_append(%1, %2)
         %4: list[f32[2]], %5: f32[2] = list_get(%3, k)
         %6: list[f32[2]] = list_set(%4, k, x)
         %7: list[f32[2]], %8: f32[2] = list_pop(%6)
         %9: list[f32[2]] = list_full(k, x)
         %10: list[f32[2]] = list_append(%9, %5)
         %11: list[f32[2]], %12: i64[] = list_length(%10)
         %13: list[f32[2]], %14: f32[2] = list_get(%11, k)
         return %5, %8, %12, %14 }""",
    [np.array([1, 2], "float32"), np.int64(1)],
    [[-1.0, -2.0], [1.0, 2.0], 2, [-1.0, -2.0]],
)
SAMPLES = dict.fromkeys(
    ("list_append", "list_full", "list_get", "list_length", "list_new", "list_pop", "list_set"),
    _ALL,
)
