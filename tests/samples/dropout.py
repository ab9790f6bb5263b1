"""Dropping out: of four ones, those whose words in block 0 of seed 0 are in the upper half stay, and become twos."""

import numpy as np

from tests.samples.sample import Structural

SAMPLES = {
    "dropped": Structural(
        "program f(seed: i64[], counter: i64[], x: f32[4], y: f64[], z: f32[]) -> (f32[4]) "
        "{ %0: f32[4] = dropped(seed, counter, x, y, z) return %0 }",
        [np.int64(0), np.int64(0), np.ones(4, "float32"), np.float64(0.5), np.float32(2)],
        [np.array([0, 2, 2, 2], "float32")],
    ),
}
