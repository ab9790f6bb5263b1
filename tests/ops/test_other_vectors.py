"""What is written in vectors of the host has the same bits in those of another, here AVX2's, and is made for NEON, too."""

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
    "conv by tiles, many channels": (lambda x, w: F.conv2d(x, w, padding=1), [(13, 132, 4, 4), (70, 132, 3, 3)]),
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


ASKED = """
from d2s.codegen import cache
asked, address = [], cache.address
cache.address = lambda *given: (asked.append(given), address(*given))[1]
from tests.ops.test_other_vectors import sums
list(sums())
print(repr(asked))
"""
FOR_ARM = """
import ast, platform, sys
platform.machine = lambda: "aarch64"
import llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
llvm.get_process_triple = lambda: "aarch64-unknown-linux-gnu"
from d2s.codegen import host
host.cpu = lambda: ("neoverse-n1", "+neon")
from d2s.codegen import conv_tiles, typed_functions
assert conv_tiles.library("f32")["LANES"] == 4
for given in ast.literal_eval(sys.stdin.read()):
    print(bytes(typed_functions.object_of(*given))[18])
"""
_AARCH64 = 183  # the machine of an object file, by the standard of ELF


def printed(program, given=""):
    command, environment = [sys.executable, "-c", program], {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True, env=environment).stdout


def test_the_kernels_are_made_for_arm():
    made = printed(FOR_ARM, printed(ASKED)).split()
    assert len(made) > 2 * len(CASES)
    assert {*made} == {str(_AARCH64)}
