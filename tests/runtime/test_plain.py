"""EXECUTOR=python: plans run by plain Python, kernels by their own text, with the bits of the compiled run."""

import ctypes
import itertools
import linecache
import sys
import zlib

import numpy as np
import pytest

import d2s
from d2s import passes
from d2s.codegen import cache, emit
from d2s.codegen.plain_text import plain_kernel
from d2s.ir.text import parse
from d2s.ops import OPS
from d2s.runtime import launch, plain
from d2s.runtime.call import Call
from d2s.runtime.differing import same_bits
from d2s.runtime.plain import CompiledWarning
from tests.runtime.test_executor import PROGRAMS
from tests.samples import KERNELS, accepts, fits, values

KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
SHORT = {"while", "stacks"}  # of these the first inputs only: Python takes its time
pytestmark = [pytest.mark.filterwarnings("ignore::d2s.runtime.plain.CompiledWarning")]


def outcome(compiled, arrays):
    try:
        return compiled(arrays)
    except d2s.errors.D2SError as error:
        return str(error)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in SHORT])
def test_plans(name):
    text, cases = PROGRAMS[name]
    for lower in (lambda program: program, passes.lower):
        compiled = Call(parse(text), lower)
        for arrays in cases:
            expected = outcome(compiled, arrays)
            with d2s.config(EXECUTOR="python"):
                got = outcome(compiled, arrays)
            if isinstance(expected, str):
                assert got == expected
            else:
                assert all(same_bits(np.asarray(x), np.asarray(y)) for x, y in zip(got, expected, strict=True))


def runs(kernel, arrays, outputs, extents):
    """What a kernel makes of arrays, and the fault it reports."""
    results = [np.zeros(t.shape, t.dtype.numpy) for t in outputs]
    cells = [*(a.ctypes.data for a in (*arrays, *results)), *(int(np.prod(dims)) for dims in extents), 0]
    registers, operands = (ctypes.c_int64 * len(cells))(*cells), (ctypes.c_int32 * len(cells))(*range(len(cells)))
    kernel(ctypes.addressof(registers), ctypes.addressof(operands))
    return results, registers[len(cells) - 1]


def test_kernels():
    """Of one dtype of each kind: nothing compiled is new here."""
    found = set()
    for name in KERNELS:
        op, sample = OPS[name], KERNELS[name]
        for of, attrs in itertools.product(accepts(name), sample.attrs[:2]):
            shapes = sample.shapes[1]
            if of.short not in ("f32", "i32", "b1") or not fits(attrs, len(shapes[0])):
                continue
            kinds = [d2s.types.bool_ if n < op.kept else of for n in range(len(op.arrays))]
            seeds = (zlib.crc32(f"{name}{n}".encode()) for n in itertools.count())
            arrays = [values(d, s, seed) for d, s, seed in zip(kinds, shapes, seeds, strict=False)]
            given = [launch.type_of(a) for a in arrays]
            canonical = op.canonical(given, {**op.attributes, **attrs})
            outputs = op.infer(given, canonical)
            ready = emit.lower(op, given, outputs, canonical)
            function = plain_kernel(ready.text, ready.T)
            if function is not None:
                found.add(name)
                expected = runs(KERNEL(cache.address(ready.text, ready.T)), arrays, outputs, ready.extents)
                got = runs(function, arrays, outputs, ready.extents)
                assert all(same_bits(x, y) for x, y in zip(got[0], expected[0], strict=True)), (name, of, attrs)
                assert got[1] == expected[1], name
    assert len(found) > 0.9 * len(KERNELS)


def branching(x, w):
    while (x * x).sum() < 20.0:
        x = x * 1.5 + w if x.sum() > 0 else x - w.tanh()
    return (x * w).sum()


def test_gradients():
    found = []
    for executor in ("numba", "python"):
        static = d2s.to_static(branching)
        x, w = (d2s.to_tensor(v, stop_gradient=False) for v in ([0.5, 1.0, -0.25], [0.25, -1.0, 0.5]))
        with d2s.config(EXECUTOR=executor):
            y = static(x, w)
            y.backward()
        found.append([t.numpy().tobytes() for t in (y, x.grad, w.grad)])
    assert found[0] == found[1]


def test_lines_of_kernels_are_seen():
    """A debugger, and coverage, are at lines of the kernel's text."""
    seen = set()

    def trace(frame, event, argument):
        if frame.f_code.co_filename.startswith("<kernel"):
            seen.add(linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip())
        return trace

    static = d2s.to_static(lambda x: x.tanh() * 3.0)
    before = sys.gettrace()
    with d2s.config(EXECUTOR="python"):
        sys.settrace(trace)
        try:
            static(d2s.to_tensor([1.0, 2.0]))
        finally:
            sys.settrace(before)
    assert {"for i0 in range(lo, hi):", "out0[i0] = v1"} <= seen


def test_what_runs_compiled_is_told_once(monkeypatch):
    monkeypatch.setattr(plain, "_told", set())
    static = d2s.to_static(lambda x: x.matmul(x).cos())
    x = d2s.ones([2, 2])
    expected = static(x)
    with d2s.config(EXECUTOR="python"), pytest.warns(CompiledWarning, match=r"matmul\(\) runs compiled"):
        got = static(x)
    assert same_bits(got.array, expected.array)
