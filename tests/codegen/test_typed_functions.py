"""The small compiler of kernel texts against Numba, bit by bit, over what is special in every dtype."""

import ast
import ctypes

import numpy as np
import pytest

from d2s import types
from d2s.codegen import cache, emit, inlining, numba_kernel, threads, typed_functions, typed_values
from d2s.ops import OPS
from d2s.types import Type

OPERANDS = (ctypes.c_int32 * 8)(*range(8))
USES = [  # every construct of the language: conversions, mixed floats, truths, selects, loops, tables, integers of all widths
    *(("add", (d,)) for d in ("i8", "u8", "i64", "f32")),
    *(("divide", (d,)) for d in ("u8", "i8", "f64")),
    *(("remainder", (d,)) for d in ("i8", "u8", "f32")),
    *(("pow", (d,)) for d in ("i8", "f32")),
    *(("floor_divide", ("u8",)), ("floor_divide", ("f32",))),
    *(("sign", ("i8",)), ("hardswish", ("f32",)), ("log_sigmoid", ("f32",)), ("where", ("f32",)), ("bitwise_xor", ("b1",))),
    *(("exp", ("f32",)), ("tanh", ("f64",)), ("sin", ("f32",)), ("sin", ("f64",)), ("isinf", ("f32",)), ("less_than", ("u8",))),
    *(("cast", pair) for pair in (("f32", "i8"), ("f32", "u8"), ("f64", "i64"), ("u8", "f32"), ("b1", "f64"), ("i64", "b1"))),
]


def linked(data):
    symbols = cache.linked(data.hex(), lambda: data, ["kernel"], imports={"d2s_fork": threads.fork()})
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(symbols["kernel"])


def special(of):
    rng = np.random.default_rng(of.size)
    if of.kind == "b":
        return np.array([False, True])
    if of.size == 1:
        return np.arange(np.iinfo(of.name).min, np.iinfo(of.name).max + 1).astype(of.name)
    if of.kind == "i":
        low, high = np.iinfo(of.name).min, np.iinfo(of.name).max
        return np.array([low, high, 0, 1, -1, 2, -3, 7, high - 1, low + 1, *rng.integers(-40, 40, 9)], of.name)
    edges = [0.0, -0.0, 1, -1, 0.5, -1.5, 3, np.inf, -np.inf, np.nan, 1e-40, 88, -104, 720, 2.0**31, -(2.0**63), 127.5, -129]
    return np.array([*edges, *rng.normal(size=20) * 5, *np.exp(rng.normal(size=20) * 20)]).astype(of.name)


@pytest.mark.parametrize(("name", "dtypes"), USES, ids=lambda x: x if isinstance(x, str) else "-".join(x))
def test_both_compilers_give_the_same_bits(name, dtypes):
    op, of = OPS[name], types.dtype(dtypes[0])
    inputs = [Type(types.bool_ if k < op.kept else of, ("n",)) for k in range(len(op.arrays))]
    attrs = {"dtype": types.dtype(dtypes[1]), "python": False} if name == "cast" else {}
    (out,) = op.infer(inputs, attrs)
    launch = emit.lower(op, inputs, (out,), attrs)
    grid = [a.ravel().copy() for a in np.meshgrid(*(special(t.dtype) for t in inputs))]
    found = []
    for compiler in (typed_functions, numba_kernel):
        result = np.empty(grid[0].size, out.dtype.numpy)
        registers = [*(a.ctypes.data for a in grid), result.ctypes.data, result.size]
        linked(compiler.object_of(launch.text, launch.T))((ctypes.c_int64 * 8)(*registers), OPERANDS)
        found.append(result)
    bits = [r.view(f"u{r.itemsize}") for r in found]
    assert ((bits[0] == bits[1]) | ((found[0] != found[0]) & (found[1] != found[1]))).all()


LINES = [  # loops over lines: arrays and lanes of their own, procedures, returns out of loops, copies
    *(("sum", "f32", {"axis": 0}), ("sum", "f64", {}), ("sum", "i32", {"axis": 0}), ("prod", "f32", {"axis": 1})),
    *(("max", "f32", {"axis": 1}), ("softmax", "f32", {"axis": 1}), ("squeeze", "f32", {})),
]


@pytest.mark.parametrize(("name", "of", "attrs"), LINES, ids=lambda x: str(x) if isinstance(x, str) else "")
def test_both_compilers_give_the_same_bits_of_lines(name, of, attrs):
    op, x = OPS[name], np.random.default_rng(0).normal(size=(67, 130)) * 30
    if of[0] == "f":
        x[3, 5:7], x[4, 9] = np.nan, np.inf
    x = x.astype(types.dtype(of).numpy)
    given = [Type(types.dtype(of), x.shape)]
    known = op.canonical(given, {**op.attributes, **attrs})
    outputs = op.infer(given, known)
    launch = emit.lower(op, given, outputs, known)
    extents = [int(np.prod(dims, dtype=np.int64)) for dims in launch.extents]
    found = []
    for compiler in (typed_functions, numba_kernel):
        results = [np.empty(t.shape, t.dtype.numpy) for t in outputs]
        registers = [x.ctypes.data, *(a.ctypes.data for a in results), *extents]
        linked(compiler.object_of(launch.text, launch.T))((ctypes.c_int64 * 8)(*registers), OPERANDS)
        found.append(b"".join(np.where(np.isnan(a), 0, a).tobytes() for a in results))
    assert found[0] == found[1]


def test_functions_stand_where_they_were_called():
    """Only where they are come to each time, with names of their own; what is given is computed once."""
    text = """
@inlined
def half(x):
    x = x * 0.5
    return x
@inlined
def first(x, n):
    for k in range(n):
        if x[k] > 0:
            return half(x[k])
    return 0.0
@inlined
def fill(to, n, v):
    for k in range(n):
        to[k] = v
def kernel(r, o):
    k, x, out = 3, f64_in(r[o[0]]), f64_out(r[o[1]])
    fill(out, k, half(x[0]) + first(x, k))
    out[k] = half(x[1]) if k > 9 else 1.0
    while half(out[k]) > 0.1:
        out[k] = half(out[k])
"""
    written = ast.unparse(inlining.unfolded(text))
    assert "def half" in written and "def first" not in written and "def fill" not in written
    assert written.count("half(") == 3 and "break" in written and "else:" in written  # in its def, the `if` and the test
    scope = {"f64_in": lambda a: a, "f64_out": lambda a: a, "inlined": lambda f: f}
    out = [0.0] * 4
    exec(written, scope)
    scope["kernel"]([[6.0, 1.0, 1.0], out], [0, 1])
    assert out == [6.0, 6.0, 6.0, 0.125]


@pytest.mark.parametrize("text", ["out[0] = min(x[0], x[0])", "out[0] = [x[0]][0]", "out[0] = x[0] % x[0]", "out[0] = 1.0"])
def test_what_it_does_not_speak_it_says(text):
    body = f"def kernel(r, o):\n    x = f32_in(r[o[0]])\n    out = f32_out(r[o[1]])\n    {text}\n"
    with pytest.raises(typed_values.Unspoken):
        typed_functions.object_of(body, "f32")


def test_more_than_one_result_is_made_of_vectors_without_checks(monkeypatch):
    """No input lies in an output and no output in another: nothing is compared at run time."""
    text = "def kernel(r, o):\n" + "".join(f"    x{k} = f32_in(r[o[{k}]])\n" for k in range(6))
    text += "".join(f"    out{k} = f32_out(r[o[{6 + k}]])\n" for k in range(3)) + "    for i in range(r[o[9]]):\n"
    text += "".join(f"        out{k}[i] = x{k}[i] * x{k + 3}[i]\n" for k in range(3))
    apart = typed_functions.object_of(text, "f32")
    monkeypatch.setattr(typed_functions.Writer, "keep_apart", lambda self: None)
    assert len(apart) < len(typed_functions.object_of(text, "f32"))
