"""Lists of a Program: one Program has all that can be done to them."""

import numpy as np

from tests.samples.sample import Structural

_ALL = Structural(
    """program f(x: f32[2], k: i64[]) -> (f32[2], f32[2], i64[], f32[2], f32[m1]) {
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
         %15: list[f32[2]], %16: f32[m0,2] = list_stack(%13, %12, finds=('m0',), behind=False)
         %17: f32[m0,2] = neg(%16)
         %18: list[f32[2]] = list_unstack(%15, %17)
         %21: i64[] = add(%12, %12)
         %19: list[f32[2]], %20: f32[m1] = list_stack(%18, %21, finds=('m1',), behind=True)
         return %5, %8, %12, %14, %20 }""",
    [np.array([1, 2], "float32"), np.int64(1)],
    [[-1.0, -2.0], [1.0, 2.0], 2, [-1.0, -2.0], [-1.0, -2.0, 1.0, 2.0]],
)
SAMPLES = dict.fromkeys(
    ("list_append", "list_full", "list_get", "list_length", "list_new", "list_pop", "list_set", "list_stack", "list_unstack"),
    _ALL,
)
