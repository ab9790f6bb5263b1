"""Vector math: how near it is, at every kind of float; that it vectorises; that its text says everything; and the ops on it."""

import ast
import builtins
import itertools
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import d2s
from d2s.codegen import cache, emit, numba_kernel
from d2s.errors import ArgumentError, DTypeError
from d2s.ops import OPS
from d2s.runtime import launch
from d2s.runtime.differing import same_bits
from d2s.types import TENSOR_DTYPES, Type, dtype

LONG = np.longdouble
LONG_ENOUGH = np.finfo(LONG).nmant >= 63
FLOATS = ["float32", "float64"]
TWO_BY_ROOT_PI = LONG("1.12837916709551257389615890312154517")


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):  # NumPy's references overflow and divide by 0 on purpose
        yield


def erf(x):
    """The series all terms of which have one sign."""
    x = np.clip(x, -7, 7)
    term, total = x, x
    for k in range(1, 260):
        term = term * 2 * x * x / (2 * k + 1)
        total = total + term
    return total * np.exp(-x * x) * TWO_BY_ROOT_PI


ONE = {  # op: its reference in 80 bits, and how many ULP it may be off
    "exp": (np.exp, 1),
    "log": (np.log, 1),
    "log2": (np.log2, 1),
    "log10": (np.log10, 1),
    "sqrt": (np.sqrt, 0.5),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1),
    "reciprocal": (lambda x: 1 / x, 0.5),
    "expm1": (np.expm1, 2),
    "log1p": (np.log1p, 2),
    "tanh": (np.tanh, 2),
    "sinh": (np.sinh, 2),
    "cosh": (np.cosh, 2),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), 2),
    "erf": (erf, 2),
    "sin": (np.sin, 2),
    "cos": (np.cos, 2),
    "tan": (np.tan, 2),
    "asin": (np.arcsin, 2),
    "acos": (np.arccos, 2),
    "atan": (np.arctan, 2),
    "asinh": (np.arcsinh, 2),
    "acosh": (np.arccosh, 2),
    "atanh": (np.arctanh, 2),
}
IN_FLOAT32 = {"exp", "tanh", "sigmoid", "erf"}  # the others compute a float32 in float64, and round once
VECTORISED = [*ONE, "pow", "floor", "ceil", "round", "trunc", "abs", "sign", "square", "divide", "maximum", "fmin", "isfinite"]
VECTORISED += ["gelu", "silu", "softplus", "elu", "mish", "hardsigmoid"]


def special(of):
    limits = np.finfo(of)
    least, eps = limits.smallest_subnormal, limits.eps
    edges = [
        0.0,
        np.inf,
        1.0,
        limits.max,
        limits.tiny,
        limits.tiny - least,
        least,
        3 * least,
        eps,
        1 - eps / 2,
        1 + eps,
        0.5,
        2.0,
    ]
    edges += [
        np.log(limits.max),
        np.log(least),
        -np.log(least),
        np.log(limits.tiny),
        np.pi / 2,
        np.pi,
        6381956970095103.0 * 2.0**70,
    ]
    with np.errstate(over="ignore"):
        x = np.array(edges, of)
    x = np.concatenate([x, np.nextafter(x, of(np.inf)), np.nextafter(x, of(-np.inf))])
    return np.concatenate([x, -x, [of(np.nan)]]).astype(of)


def sweep(of):
    """Floats of every size, and many where functions are steep, flat, or change their way of computing."""
    rng = np.random.default_rng(0)
    size = np.dtype(of).itemsize
    every = rng.integers(0, 1 << 8 * size, 60_000, dtype=np.uint64).astype(f"u{size}").view(of)
    ranges = [rng.uniform(-r, r, 30_000) for r in (1, 10, 110, 750, 1e6)] + [1 + rng.standard_normal(20_000) * 1e-3]
    turns = np.concatenate([np.arange(-999, 999) * (np.pi / 2), np.arange(-999, 999) * (np.log(2) / 2)])
    return np.concatenate([every, special(of), *(x.astype(of) for x in (*ranges, turns))])


def ulps(found, exact):
    """How far results are from the reference, in units of their last place; 0 where both are the same special value."""
    of = found.dtype.type
    limits, rounded = np.finfo(of), exact.astype(of)
    size = np.abs(exact)
    exponent = np.floor(np.log2(np.where((size > 0) & np.isfinite(size), size, 1)))
    place = np.exp2(np.maximum(exponent, limits.minexp).astype(LONG) - limits.nmant)
    off = np.abs(found.astype(LONG) - exact) / place
    same = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
    return np.where(same, np.where(np.isfinite(off), np.minimum(off, 0.5), 0), np.where(np.isfinite(off), off, np.inf))


def check(name, arrays, exact, bound):
    with np.errstate(all="ignore"):
        found = OPS[name](*map(d2s.to_tensor, arrays)).numpy()
        off = ulps(found, exact)
        wrong_sign = ~np.isnan(found) & (np.signbit(found) != np.signbit(exact.astype(found.dtype)))
    worst = int(np.argmax(off))
    # a little more than half: the reference is rounded, too
    limit = bound + 0.01
    assert off[worst] <= limit, f"{name}: {off[worst]} ULP at {[a[worst] for a in arrays]}: {found[worst]}, {exact[worst]}"
    assert not wrong_sign.any(), f"{name}: the sign of {found[wrong_sign][:3]} at {[a[wrong_sign][:3] for a in arrays]}"


needs_80_bits = pytest.mark.skipif(not LONG_ENOUGH, reason="longdouble is no more than float64 here")


@needs_80_bits
@pytest.mark.parametrize("of", FLOATS)
@pytest.mark.parametrize("name", ONE)
def test_it_is_near(name, of):
    reference, bound = ONE[name]
    x = sweep(np.dtype(of).type)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(LONG))
    check(name, [x], exact, bound if of == "float64" or name in IN_FLOAT32 else 0.5)


@needs_80_bits
@pytest.mark.parametrize("of", FLOATS)
def test_powers_are_near(of):
    kind = np.dtype(of).type
    rng = np.random.default_rng(1)
    x = sweep(kind)
    edges = np.concatenate([special(kind), np.array([3, -3, 2.5, -2.5, 2**24 - 1, 1 - 2**24, 1 / 3], kind)])
    pairs = np.array(list(itertools.product(edges, edges)), kind).T
    near_one = (1 + rng.standard_normal(50_000) * 1e-3).astype(kind), (rng.standard_normal(50_000) * 3e5).astype(kind)
    middling = np.exp(rng.uniform(-20, 20, 50_000)).astype(kind), rng.uniform(-40, 40, 50_000).astype(kind)
    for a, b in ((x, rng.permutation(x)), (pairs[0].copy(), pairs[1].copy()), near_one, middling):
        with np.errstate(all="ignore"):
            exact = np.power(a.astype(LONG), b.astype(LONG))
        check("pow", [a, b], exact, 1)


@needs_80_bits
@pytest.mark.parametrize("of", FLOATS)
def test_angles_of_points_are_near(of):
    x, edges = sweep(np.dtype(of).type), special(np.dtype(of).type)
    pairs = np.array(list(itertools.product(edges, edges)), of).T
    for a, b in ((x, np.random.default_rng(1).permutation(x)), (pairs[0].copy(), pairs[1].copy())):
        check("atan2", [a, b], np.arctan2(a.astype(LONG), b.astype(LONG)), 2 if of == "float64" else 0.5)


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("sin", 1e22, -0.8522008497671888),
        ("cos", 1e22, 0.5232147853951389),
        ("sin", sys.float_info.max, 0.004961954789184062),
        ("cos", sys.float_info.max, -0.9999876894265599),
        ("cos", math.ldexp(6381956970095103.0, 797), -4.6871659242546277e-19),  # the float64 nearest to a multiple of π/2
        ("tan", math.ldexp(6381956970095103.0, 797), -2.133485385753704e18),
    ],
)
def test_angles_however_large(name, x, expected):
    found = OPS[name](d2s.to_tensor(x, "float64")).item()
    assert abs(found - expected) <= 2 * math.ulp(abs(expected))


def test_float32_angles_are_those_of_float64():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 1 << 32, 200_000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    for name in ("sin", "cos", "tan"):
        wide = OPS[name](d2s.to_tensor(x.astype("float64"))).numpy()
        with np.errstate(all="ignore"):
            assert np.mean(OPS[name](d2s.to_tensor(x)).numpy() != wide.astype("float32")) < np.mean(np.isnan(x)) + 0.02


def test_exact_logarithms():
    k = np.arange(-1074, 1024)
    assert np.array_equal(d2s.log2(d2s.to_tensor(np.ldexp(1.0, k))).numpy(), k)
    tens = np.array([float(f"1e{k}") for k in range(23)])
    assert np.array_equal(d2s.log10(d2s.to_tensor(tens)).numpy(), np.arange(23))


# texts and code


@pytest.mark.parametrize("of", FLOATS)
@pytest.mark.parametrize("name", VECTORISED)
def test_the_text_of_a_kernel_says_all_of_it(name, of):
    """What is no intrinsic of the compiler stands in the text, which is the key of the cache."""
    text = text_of(name, of)
    tree = ast.parse(text)
    made = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    made |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    made |= {a.arg for n in ast.walk(tree) if isinstance(n, ast.arguments) for a in n.args}
    read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - made - set(dir(builtins))
    assert read <= {*numba_kernel._namespace(), "T"}


def text_of(name, of):
    x = Type(dtype(of), ("n",))
    op = OPS[name]
    inputs, attrs = [x] * len(op.arrays), op.canonical([x] * len(op.arrays), op.attributes)
    return emit.lower(op, inputs, op.infer(inputs, attrs), attrs).text


ASSEMBLY = """
import re, sys
import llvmlite.binding as llvm
import d2s
from d2s.codegen import host, numba_kernel
from tests.ops.test_vector_math import FLOATS, VECTORISED, dtype, text_of

def machine(**options):
    target = llvm.Target.from_triple(llvm.get_process_triple())
    made = host.target_machine(**options)
    if sys.argv[1] != "host":
        made = target.create_target_machine(cpu=sys.argv[1], features="", opt=3, **options)
    made.emit_object = lambda module: made.emit_assembly(module).encode()
    return made

numba_kernel.target_machine = machine
packed = re.compile(
    r"v(fn?m(add|sub)\\d+|mul|add|sub|div|sqrt|rndscale|round|and|max|min|cmp\\w*|cvt\\w+2|pand|pternlog)(p[sd]|[dq])\\s.*%[yz]mm"
)
for of in FLOATS:
    for name in VECTORISED:
        text = numba_kernel.object_of(text_of(name, of), dtype(of).short).decode()
        called = re.findall(r"call\\w*\\s+(\\S+)", text)
        own = ("_ZN", "part", "d2s_fork")  # the kernel itself, from its C entry, and what shares it among threads
        called = [name for name in called if not name.startswith(own)]
        if not packed.search(text) or called:
            print(name, of, called)
"""


@pytest.mark.parametrize("cpu", ["host", "x86-64-v3"])
def test_it_vectorises(cpu):
    if os.uname().machine != "x86_64":
        pytest.skip("the instructions looked for are those of x86-64")
    settings = os.environ | ({} if cpu == "host" else {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": ""})
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    run = subprocess.run(
        [sys.executable, "-c", ASSEMBLY, cpu], env=settings, cwd=root, capture_output=True, text=True, timeout=600, check=False
    )
    assert (run.stdout, run.stderr) == ("", "")


FUSED = {  # what one loop computes, and op by op
    "exp(x) * y + z": (("exp", "multiply", "add"), lambda x, y, z: d2s.exp(x) * y + z),
    "log(x * x) - tanh(y) * z": (
        ("log", "multiply", "tanh", "subtract"),
        lambda x, y, z: d2s.log(x * x) - d2s.tanh(y) * z,
    ),
    "pow(exp(x), y) / (sigmoid(z) + x)": (
        ("pow", "exp", "sigmoid", "divide", "add"),
        lambda x, y, z: d2s.pow(d2s.exp(x), y) / (d2s.sigmoid(z) + x),
    ),
    "sin(x) * cos(y) + erf(z)": (
        ("sin", "cos", "erf", "multiply", "add"),
        lambda x, y, z: d2s.sin(x) * d2s.cos(y) + d2s.erf(z),
    ),
}
NAMED = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}


class _Calls(ast.NodeTransformer):
    def visit_BinOp(self, node):
        self.generic_visit(node)
        return ast.Call(ast.Name(NAMED[type(node.op)], ast.Load()), [node.left, node.right], [])


@pytest.mark.parametrize("of", FLOATS)
@pytest.mark.parametrize("expression", FUSED)
def test_one_loop_has_the_bits_of_many(expression, of):
    names, one_by_one = FUSED[expression]
    rng = np.random.default_rng(3)
    arrays = [np.concatenate([rng.standard_normal(5000) * 3, [0.0, -0.0, np.inf, np.nan]]).astype(of) for _ in range(3)]
    short = dtype(of).short
    bodies = [text_of(name, of).split(f"# {name}(")[0] for name in names]
    call = ast.unparse(_Calls().visit(ast.parse(expression, mode="eval")))
    lines = [f"{n} = {short}_{'out' if n == 'out' else 'in'}(r[o[{k}]])" for k, n in enumerate(("x", "y", "z", "out"))]
    for n in "xyz":
        call = ast.unparse(_Indexed(n).visit(ast.parse(call, mode="eval")))
    kernel = "def kernel(r, o):\n    " + "\n    ".join([*lines, "for i in range(r[o[4]]):", f"    out[i] = {call}"]) + "\n"
    compiled = launch._KERNEL(cache.address("\n\n".join([*bodies, kernel]), short))
    out = np.empty_like(arrays[0])
    registers = np.array([*(a.ctypes.data for a in arrays), out.ctypes.data, out.size], np.int64)
    compiled(registers.ctypes.data, np.arange(5, dtype=np.int32).ctypes.data)
    assert same_bits(out, one_by_one(*map(d2s.to_tensor, arrays)).numpy())


class _Indexed(ast.NodeTransformer):
    def __init__(self, name):
        self.name = name

    def visit_Name(self, node):
        return ast.Subscript(node, ast.Name("i", ast.Load()), ast.Load()) if node.id == self.name else node


# the ops


INTS = [d.name for d in TENSOR_DTYPES if d.kind == "i"]


def wrapped(value, of):
    return np.array(value & (1 << 64) - 1, np.uint64).astype(of).item()


def cut(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def power(x, y):
    return pow(x, y, 1 << 64) if y >= 0 else x**-y if x in (1, -1) else 0


@pytest.mark.parametrize("of", INTS)
@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("divide", lambda x, y: cut(x, y) if y else 0),
        ("floor_divide", lambda x, y: x // y if y else 0),
        ("remainder", lambda x, y: x % y if y else 0),
        ("pow", power),
    ],
)
def test_integers_at_their_ends(name, exact, of):
    """Among them x / 0 and the lowest integer divided by -1, at which the processor stops a process."""
    limits = np.iinfo(of)
    ends = [0, 1, 2, 3, 7, 63, limits.max, limits.max - 1, limits.min, limits.min + 1]
    ends += [-v for v in (1, 2, 3, 7, 63)] if limits.min else []
    x, y = np.array(list(itertools.product(ends, ends)), of).T
    found = OPS[name](d2s.to_tensor(x.copy()), d2s.to_tensor(y.copy())).numpy()
    assert found.tolist() == [wrapped(exact(a, b), of) for a, b in zip(x.tolist(), y.tolist(), strict=True)]


def test_remainders_of_floats_are_pythons():
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 1 << 64, (2, 20_000), dtype=np.uint64).view(np.float64)
    x, y = (np.concatenate([v, rng.standard_normal(20_000) * s]) for v, s in ((x, 1000), (y, 1)))
    usable = np.isfinite(x) & np.isfinite(y) & (y != 0)
    x, y = x[usable], y[usable]
    a, b = d2s.to_tensor(x), d2s.to_tensor(y)
    pairs = list(zip(x.tolist(), y.tolist(), strict=True))
    assert same_bits((a % b).numpy(), np.array([p % q for p, q in pairs]))
    with np.errstate(all="ignore"):
        assert same_bits((a // b).numpy(), np.floor_divide(x, y))


def test_remainders_at_the_ends():
    x = d2s.to_tensor([7.0, -7.0, 0.0, -0.0, np.inf, np.nan, 5.0, -1.0, 1.0], "float64")
    y = d2s.to_tensor([0.0, -0.0, 0.0, 3.0, 2.0, 1.0, np.inf, np.inf, -np.inf], "float64")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal((x % y).numpy(), np.remainder(x.numpy(), y.numpy()))
        np.testing.assert_array_equal((x // y).numpy(), np.floor_divide(x.numpy(), y.numpy()))


@pytest.mark.parametrize("of", [*INTS, "bool"])
def test_bits(of):
    x, y = (np.random.default_rng(n).integers(0, 2 if of == "bool" else 100, (3, 4)).astype(of) for n in (1, 2))
    a, b = d2s.to_tensor(x), d2s.to_tensor(y)
    for found, expected in ((a & b, x & y), (a | b, x | y), (a ^ b, x ^ y), (~a, ~x)):
        assert found.dtype == of
        assert np.array_equal(found.numpy(), expected)
    assert np.array_equal((a & d2s.to_tensor(y[0])).numpy(), x & y[0])


@pytest.mark.parametrize("of", [*INTS, *FLOATS])
def test_kinds_of_numbers(of):
    numbers = [0, 1, 3] if of in INTS else [0.0, -0.0, 1.5, np.inf, -np.inf, np.nan, np.finfo(of).max]
    x = np.array(numbers, of)
    for name in ("isnan", "isinf", "isfinite", "logical_not"):
        found = OPS[name](d2s.to_tensor(x)).numpy()
        assert found.dtype == bool
        assert np.array_equal(found, getattr(np, name)(x)), name


@pytest.mark.parametrize("of", FLOATS)
def test_rounding_at_its_edges(of):
    below = np.nextafter(np.dtype(of).type(0.5), np.dtype(of).type(0))
    big = 2.0 ** (np.finfo(of).nmant)
    x = np.array(
        [0.5, -0.5, below, -below, 1.5, 2.5, -2.5, big - 0.5, big + 1, -big - 1, np.inf, -np.inf, np.nan, -0.0, 1e30], of
    )
    exact = [
        math.copysign(math.floor(abs(v) + 0.5) if abs(v) < big and abs(v) != below else abs(v) * (abs(v) != below), v)
        for v in x
    ]
    assert same_bits(d2s.round(d2s.to_tensor(x)).numpy(), np.array(exact, of))
    for name in ("floor", "ceil", "trunc"):
        assert same_bits(OPS[name](d2s.to_tensor(x)).numpy(), getattr(np, name)(x))


POSITIVE = ["log", "log1p", "log2", "log10", "sqrt", "rsqrt", "asin", "acos", "atanh"]


@pytest.mark.parametrize("shape", [(), (3,), (2, 1, 2), (0,)])
@pytest.mark.parametrize("name", POSITIVE)
def test_gradients_where_numbers_are_positive(name, shape):
    op, x = OPS[name], np.asarray(np.random.default_rng(5).uniform(0.2, 0.9, shape))
    tensor = d2s.to_tensor(x, stop_gradient=False)
    op(tensor).sum().backward()
    up, down = op(d2s.to_tensor(x + 1e-6)).numpy(), op(d2s.to_tensor(x - 1e-6)).numpy()
    np.testing.assert_allclose(tensor.grad.numpy(), (up - down) / 2e-6, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("shapes", [((), ()), ((3,), (3,)), ((2, 1), (1, 3)), ((2,), (3, 1, 1)), ((0, 2), (2,))])
def test_gradients_of_powers(shapes):
    rng = np.random.default_rng(6)
    arrays = [np.asarray(rng.uniform(0.3, 1.7, s)) for s in shapes]
    tensors = [d2s.to_tensor(a, stop_gradient=False) for a in arrays]
    d2s.pow(*tensors).sum().backward()
    for n, tensor in enumerate(tensors):
        slope = np.zeros_like(arrays[n])
        for at in np.ndindex(arrays[n].shape):
            sums = []
            for step in (1e-6, -1e-6):
                moved = [a.copy() for a in arrays]
                moved[n][at] += step
                sums.append(np.power(*moved).sum())
            slope[at] = (sums[0] - sums[1]) / 2e-6
        np.testing.assert_allclose(tensor.grad.numpy(), slope, rtol=1e-7, atol=1e-7)


def test_gradients_of_powers_at_zero():
    x = d2s.to_tensor([0.0, 0.0, 2.0], stop_gradient=False)
    y = d2s.to_tensor([2.0, 0.0, 0.0], stop_gradient=False)
    (x**y).sum().backward()
    assert x.grad.numpy().tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(y.grad.numpy(), [0.0, 0.0, math.log(2.0)], rtol=1e-6)


def test_second_gradients():
    """Gradients are ops: exp, tanh and the rest have a second derivative by the same rules."""
    x = d2s.to_tensor([0.5], "float64", stop_gradient=False)
    step = 1e-5
    for name in ("exp", "sigmoid", "sin", "erf", "log", "sqrt", "tan", "atan"):
        first = []
        for moved in (0.5 + step, 0.5 - step):
            x = d2s.to_tensor([moved], "float64", stop_gradient=False)
            OPS[name](x).backward()
            first.append(x.grad.item())
        y = d2s.to_tensor([0.5], "float64", stop_gradient=False)
        (slope,) = (f() if callable(f) else f for f in [OPS[name].vjp(d2s.to_tensor([1.0], "float64"), OPS[name](y), y)[0]])
        slope.backward()
        assert abs(y.grad.item() - (first[0] - first[1]) / (2 * step)) < 1e-6, name


def test_step_functions_pass_zero_on_whatever_comes():
    x = d2s.to_tensor([0.3, 1.7], stop_gradient=False)
    d2s.floor(x).backward(d2s.to_tensor([np.inf, np.nan]))
    assert x.grad.numpy().tolist() == [0.0, 0.0]


def test_quotients_of_integers_are_floats():
    i = d2s.to_tensor([7, -7, 1], "int32")
    zero = d2s.to_tensor([2, 2, 0], "int32")
    found = i / zero
    assert found.dtype is d2s.float32
    assert found.numpy().tolist() == [3.5, -3.5, np.inf]
    assert (i / 2).numpy().tolist() == [3.5, -3.5, 0.5]
    assert (1 / d2s.to_tensor([True])).dtype is d2s.float32
    assert d2s.divide(i, zero).numpy().tolist() == [3, -3, 0]


def test_operators():
    x, y = d2s.to_tensor([5.0, -3.0]), d2s.to_tensor([2.0, 2.0])
    a, b = x.numpy(), y.numpy()
    for found, expected in (
        (x / y, a / b), (1 / x, 1 / a), (x // y, a // b), (7 // x, 7 // a), (x % y, a % b), (7 % x, 7 % a),
        (x**y, a**b), (2**x, 2**a), (abs(x), abs(a)), (x.clip(min=0.0), a.clip(0)), (y.log().exp(), b),
    ):  # fmt: skip
        np.testing.assert_allclose(found.numpy(), expected, rtol=2e-7)
    i = d2s.to_tensor([6, 12])
    assert [(i & 4).numpy().tolist(), (5 | i).numpy().tolist(), (i ^ i).numpy().tolist(), (~i).numpy().tolist()] == [
        [4, 4], [7, 13], [0, 0], [-7, -13],
    ]  # fmt: skip
    for operator in ("__truediv__", "__rtruediv__", "__floordiv__", "__mod__", "__pow__", "__and__", "__ror__"):
        assert getattr(x, operator)("a") is NotImplemented


@pytest.mark.parametrize("name", ["divide", "pow"])
def test_python_numbers_of_run_time_are_refused(name):
    number = Type(d2s.int64, python=True)
    with pytest.raises(DTypeError, match=f"D2S1003.*{name}.*Python numbers"):
        OPS[name].infer([number, number], {})


def test_bounds_of_clip():
    x = d2s.to_tensor([-5, 0, 300], "int16")
    assert d2s.clip(x, 0.5, 1e9).numpy().tolist() == [0, 0, 300]
    assert d2s.clip(x).numpy().tolist() == [-5, 0, 300]
    assert np.isnan(d2s.clip(d2s.to_tensor([np.nan]), -math.inf, 1.0).numpy()).all()
    for bad in ("a", math.nan, [1]):
        with pytest.raises(ArgumentError, match=r"D2S0004.*clip.*'min'"):
            d2s.clip(x, bad)


def test_clip_passes_gradients_inside_its_bounds():
    x = d2s.to_tensor([-1.0, 0.5, 3.0], stop_gradient=False)
    d2s.clip(x, 0.0, 1.0).sum().backward()
    assert x.grad.numpy().tolist() == [0.0, 1.0, 0.0]
