"""What is written in vectors of the host has the same bits in those of another: here AVX2's, in a process of its own."""

import hashlib
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import d2s
from d2s.codegen import host
from d2s.nn import functional as F

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = """
from d2s.codegen import host
host.cpu = lambda: ("x86-64-v3", "+avx,+avx2,+fma")
from d2s.codegen import conv_tiles
assert conv_tiles.library("f32")["LANES"] == 8
from tests.ops.test_other_vectors import sums
print(*sums())
"""
CASES = {
    "conv": (lambda x, w: F.conv2d(x, w, padding=1), [(2, 5, 9, 37), (13, 5, 3, 3)]),
    "conv, strided": (lambda x, w: F.conv2d(x, w, stride=2), [(2, 3, 11, 21), (7, 3, 3, 3)]),
    "conv by tiles": (lambda x, w: F.conv2d(x, w, padding=1), [(5, 33, 8, 9), (130, 33, 3, 3)]),
    "depthwise": (lambda x, w: F.conv2d(x, w, padding=1, groups=3), [(2, 3, 14, 19), (3, 1, 3, 3)]),
    "depthwise, strided": (lambda x, w: F.conv2d(x, w, stride=2, padding=1, groups=3), [(2, 3, 14, 39), (3, 1, 3, 3)]),
    "max pool": (lambda x: F.max_pool2d(x, 3, 2, 1), [(2, 3, 15, 37)]),
    "average pool": (lambda x: F.avg_pool2d(x, 2), [(2, 3, 15, 37)]),
}


def sums():
    """What every case makes, and its gradients, as digests."""
    rng = np.random.default_rng(0)
    for function, shapes in CASES.values():
        given = [d2s.to_tensor(rng.standard_normal(s).astype("float32"), stop_gradient=False) for s in shapes]
        found = function(*given)
        (found * found).sum().backward()
        for t in (found, *(x.grad for x in given)):
            yield hashlib.sha256(t.numpy().tobytes()).hexdigest()


@pytest.mark.skipif("+avx2" not in host.cpu()[1].split(","), reason="this CPU has no AVX2")
def test_the_bits_are_those_of_avx2():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == list(sums())
