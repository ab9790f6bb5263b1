"""Areas, gamma and their kin; tests/ops/test_vector_math.py and test_gamma.py have their sweeps."""

import math

import numpy as np

from tests.samples.elementwise import worked
from tests.samples.sample import ONE, TWO, Sample, Structural

SLOPES = "program f(x: f64[3]) -> (f64[3]) { %0: f64[3] = slopes(x, n=1) return %0 }"
SAMPLES = {
    "asinh": Sample(lambda x: np.arcsinh(x.astype(np.longdouble)).astype(x.dtype), ONE, "f", ulps=4),
    "atan2": Sample(lambda x, y: np.arctan2(*(v.astype(np.longdouble) for v in (x, y))).astype(x.dtype), TWO, "f", ulps=4),
    "acosh": worked("acosh", "f32[3] f32[3]", [0, np.inf, np.nan], [1, np.inf, 0.5]),
    "atanh": worked("atanh", "f32[3] f32[3]", [-0.0, np.inf, np.nan], [-0.0, 1, 2]),
    "lgamma": worked("lgamma", "f64[3] f64[3]", [0, np.inf, math.log(24)], [2, -3, 5]),
    "digamma": worked("digamma", "f64[2] f64[2]", [np.nan, np.inf], [0, np.inf]),
    "slopes": Structural(SLOPES, [np.array([-1, np.inf, 1.0])], [[np.inf, 0, np.pi**2 / 6]]),
    "erfinv": worked("erfinv", "f32[3] f32[3]", [-0.0, -np.inf, np.nan], [-0.0, -1, 2]),
    "shifted_left": worked("shifted_left", "i64[3] i64[3] i64[3]", [16, 0, 0], [1, 3, 3], [4, 64, -1]),
    "shifted_right": worked("shifted_right", "i64[3] i64[3] i64[3]", [1, 0, -1], [16, 3, -3], [4, 64, -1]),
}
