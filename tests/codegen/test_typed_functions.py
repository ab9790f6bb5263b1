"""The small compiler of kernel texts against Numba, bit by bit, over what is special in every dtype."""

import ast
import ctypes
import textwrap

import numpy as np
import pytest

from d2s import types
from d2s.codegen import cache, emit, inlining, numba_kernel, threads, typed_functions, typed_values
from d2s.ops import OPS, random_text
from d2s.optimizer import update
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


def both(text, T, arrays, numbers=()):
    """What either compiler's kernel leaves in the last of some arrays."""
    found = []
    for compiler in (typed_functions, numba_kernel):
        given = [a.copy() for a in arrays]
        registers = [*(a.ctypes.data for a in given), *numbers]
        operands = (ctypes.c_int32 * 32)(*range(32))
        linked(compiler.object_of(text, T))((ctypes.c_int64 * len(registers))(*registers), operands)
        found.append([a.tobytes() for a in given])
    return found


def lowered(name, given, **attrs):
    op = OPS[name]
    known = op.canonical(given, {**op.attributes, **attrs}) if op.has("canonical") else {**op.attributes, **attrs}
    outputs = op.infer(given, known)
    launch = emit.lower(op, given, outputs, known)
    return launch, outputs, [int(np.prod(dims, dtype=np.int64)) for dims in launch.extents]


TILED = [  # tiles, native functions, memory, steps of ranges, functions in a kernel
    ("linear", [("f32", (9, 33)), ("f32", (33, 70)), ("f32", (70,))], {}),
    ("matmul", [("f64", (5, 33)), ("f64", (7, 33))], {"transpose_y": True}),
    ("max_pool", [("f32", (2, 3, 9, 9))], {"kernel": (2, 2)}),
    *(("sorted", [(of, (3, 13))], {"descending": down}) for of, down in (("f32", True), ("f64", False))),
]


@pytest.mark.parametrize(("name", "of", "attrs"), TILED, ids=lambda x: x if isinstance(x, str) else "")
def test_both_compilers_give_the_same_bits_of_what_is_linked_in(name, of, attrs):
    given = [Type(types.dtype(short), shape) for short, shape in of]
    launch, outputs, extents = lowered(name, given, **attrs)
    rng = np.random.default_rng(1)
    arrays = [rng.normal(size=t.shape).astype(t.dtype.numpy) for t in given]
    arrays += [np.zeros(t.shape, t.dtype.numpy) for t in outputs]
    mine, numbas = both(launch.text, launch.T, arrays, extents)
    assert mine == numbas and any(mine[len(given)])


def test_both_compilers_step_optimizers_and_draw_alike():
    rng = np.random.default_rng(2)
    held = [rng.normal(size=100).astype("float32") for _ in range(2)] + [np.array([0.1])]
    text = update.text_of(update.Rule("rule", (), ("lr",), "p = p - lr * sqrt_of(g * g + p)\n"), types.float32)
    mine, numbas = both(text, "f32", held, [100])
    assert mine == numbas and mine[0] != held[0].tobytes()
    draw = "seed, counter, out = i64_in(r[o[0]]), i64_in(r[o[1]]), f64_out(r[o[2]])\nn0 = r[o[3]]\n"
    draw += random_text.filled("def value(w0, w1):\n    return T(part(w0, w1, 1000)) + unit(w0, w1)\n", 2)
    draw = "def kernel(r, o):\n" + textwrap.indent(draw, "    ")
    mine, numbas = both(draw, "f64", [np.array([2**60 + 5]), np.array([2**33 - 3]), np.zeros(130)], [130])
    assert mine == numbas and any(mine[2])


def test_a_function_in_a_kernel_reads_only_what_does_not_change():
    body = "    n = r[o[0]]\n    def more(k):\n        return n + k\n    n = 5\n    r[o[1]] = more(1)\n"
    with pytest.raises(typed_values.Unspoken, match="reads what changes"):
        typed_functions.object_of(f"def kernel(r, o):\n{body}", "f32")
    data = typed_functions.object_of(f"def kernel(r, o):\n{body.replace('n = 5', 'm = 5')}", "f32")
    registers = (ctypes.c_int64 * 2)(7, 0)
    linked(data)(registers, OPERANDS)
    assert list(registers) == [7, 8]


def test_a_range_may_count_down():
    body = "    for k in range(5, r[o[0]], -2):\n        r[o[1]] = r[o[1]] * 10 + k\n"
    registers = (ctypes.c_int64 * 2)(0, 0)
    linked(typed_functions.object_of(f"def kernel(r, o):\n{body}", "f32"))(registers, OPERANDS)
    assert list(registers) == [0, 531]


def test_addresses_change_in_loops_and_branches():
    body = "    n, x, y = 0, i64_out(r[o[0]]), i64_out(r[o[1]])\n    while n < r[o[2]]:\n        x[0] = x[0] * 10 + n\n"
    body += "        x, y = y, x\n        n += 1\n    if n > 4:\n        y = x\n    r[o[3]] = y[0]\n"
    data = typed_functions.object_of(f"def kernel(r, o):\n{body}", "f32")
    for times, wanted in ((4, 13), (5, 13), (6, 24)):
        held = [np.zeros(1, "int64") for _ in range(2)]
        registers = (ctypes.c_int64 * 4)(*(a.ctypes.data for a in held), times, 0)
        linked(data)(registers, OPERANDS)
        assert registers[3] == wanted
    with pytest.raises(typed_values.Unspoken, match="changes its type"):
        typed_functions.object_of(f"def kernel(r, o):\n{body.replace('x, y = y, x', 'x = f64_out(r[o[1]])')}", "f32")


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
