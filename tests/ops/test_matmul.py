"""Every path of a product has the bits of the plain loop: one fma per k, in ascending k, from 0."""

import ctypes
import itertools
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import d2s
from d2s import types
from d2s.codegen import cache, emit, host, numba_kernel, numba_tiles, threads, vectors
from d2s.errors import DTypeError, ShapeError
from d2s.ir.text import parse
from d2s.ops import OPS, matmul_text
from d2s.ops.matmul import product_of
from d2s.runtime import launch
from d2s.runtime.call import Call
from d2s.runtime.differing import same_bits

FLOATS = pytest.mark.parametrize("of", [types.float32, types.float64], ids=str)
FLIPS = [(x, y) for x in (False, True) for y in (False, True)]
flips = pytest.mark.parametrize("flip", FLIPS, ids=["", "x", "y", "xy"])
_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_ORDER = (ctypes.c_int32 * 64)(*range(64))


def lowered(kernel, arrays, out):
    """A kernel rule's result as a whole text, and its extents for these arrays."""
    matmul = OPS["matmul"]
    op = SimpleNamespace(
        name="matmul", scalar=None, arrays=matmul.arrays, rules={"kernel": lambda *_: kernel},
        has=lambda kind: kind == "kernel", names=matmul.names,
    )  # fmt: skip
    found = emit.lower(op, [launch.type_of(a) for a in arrays], [launch.type_of(out)], {})
    return found, [int(np.prod(dims, dtype=int)) for dims in found.extents]


def ran(address, arrays, out, extents):
    registers = [*(a.ctypes.data for a in (*arrays, out)), *extents]
    _KERNEL(address)((ctypes.c_int64 * len(registers))(*registers), _ORDER)
    return out


def by(kernel, arrays, out):
    """What a kernel rule's result computes."""
    found, extents = lowered(kernel, arrays, out)
    return ran(cache.address(found.text, found.T), arrays, out, extents)


def empty(arrays, flip):
    inferred = OPS["matmul"].infer([launch.type_of(a) for a in arrays], dict(zip(OPS["matmul"].attributes, flip, strict=True)))
    return np.full(inferred[0].shape, 7, arrays[0].dtype)


def product(arrays, flip):
    return product_of(*(launch.type_of(a) for a in arrays), *flip)


def plain(arrays, flip):
    """The product by the plain loop in scalars."""
    return by(matmul_text.plain_text(product(arrays, flip)), arrays, empty(arrays, flip))


def tiled(arrays, flip):
    return d2s.matmul(*map(d2s.to_tensor, arrays), *flip).numpy()


def drawn(shape, of, seed=0):
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(of.numpy)


def operands(rows, inner, columns, of, flip):
    shapes = (rows, inner), (inner, columns)
    return [drawn(s[::-1] if f else s, of, n) for n, (s, f) in enumerate(zip(shapes, flip, strict=True))]


def test_the_plain_loop_is_one_fma_per_k():
    """In float64, against exact fractions rounded once per k."""
    x, y = drawn((2, 9), types.float64) * 1e3, drawn((9, 2), types.float64)
    expected = np.zeros((2, 2))
    for i, j, k in itertools.product(range(2), range(2), range(9)):
        exact = Fraction(x[i, k]) * Fraction(y[k, j]) + Fraction(expected[i, j])
        expected[i, j] = float(exact)
    assert same_bits(plain([x, y], (False, False)), expected)
    assert not same_bits(sum(np.multiply.outer(x[:, k], y[k]) for k in range(9)), expected)


ROWS, COLUMNS, INNER = (1, 2, 3, 5, 6, 7, 8, 9, 13), (1, 2, 15, 16, 17, 33, 64, 65, 129), (0, 1, 5, 17, 129)


@FLOATS
@flips
def test_small_products(of, flip):
    for rows, columns, inner in itertools.product(ROWS, COLUMNS, INNER):
        arrays = operands(rows, inner, columns, of, flip)
        assert same_bits(tiled(arrays, flip), plain(arrays, flip)), (rows, inner, columns)


LARGE = [
    (300, 70, 130),
    (521, 130, 70),
    (70, 513, 200),
    (3, 1100, 300),
    (1, 1100, 600),
    (600, 1100, 1),
    (7, 257, 400),
    (261, 0, 70),
]


@FLOATS
@flips
@pytest.mark.parametrize("n", [1, 2])
def test_large_products_on_any_threads(of, flip, n):
    """More rows than a piece has, more k than a part or a panel, pieces for several threads."""
    before = threads.get_num_threads()
    threads.set_num_threads(n)
    try:
        for rows, inner, columns in LARGE:
            arrays = operands(rows, inner, columns, of, flip)
            assert same_bits(tiled(arrays, flip), plain(arrays, flip)), (rows, inner, columns)
    finally:
        threads.set_num_threads(before)


@FLOATS
@flips
def test_nan_infinity_and_signed_zeros(of, flip):
    pool = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e38, 1e-45], of.numpy)
    for rows, inner, columns in [(3, 5, 40), (1, 2, 70), (9, 1, 9), (40, 3, 1), (2, 40, 2)]:
        rng = np.random.default_rng(5)
        arrays = [
            rng.choice(pool, a.shape, p=[0.3, 0.2, 0.2, 0.1, 0.04, 0.04, 0.04, 0.04, 0.04])
            for a in operands(rows, inner, columns, of, flip)
        ]
        assert same_bits(tiled(arrays, flip), plain(arrays, flip)), (rows, inner, columns)


BATCHES = [
    ((3,), ()),
    ((), (3,)),
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((2, 1, 3), (4, 1)),
    ((1,), (2,)),
    ((5, 2), (5, 1)),
    ((0,), ()),
]


@flips
def test_a_batch_is_its_matrices_one_by_one(flip):
    of = types.float32
    for (front_x, front_y), (rows, inner, columns) in itertools.product(
        BATCHES, [(3, 20, 70), (9, 4, 5), (1, 9, 20), (7, 9, 1)]
    ):
        x, y = operands(rows, inner, columns, of, flip)
        x, y = drawn((*front_x, *x.shape), of, 1), drawn((*front_y, *y.shape), of, 2)
        front = np.broadcast_shapes(front_x, front_y)
        wide = [np.broadcast_to(a, (*front, *a.shape[-2:])) for a in (x, y)]
        expected = np.empty((*front, rows, columns), of.numpy)
        for at in np.ndindex(*front):
            expected[at] = plain([np.ascontiguousarray(a[at]) for a in wide], flip)
        assert same_bits(tiled([x, y], flip), expected), (front_x, front_y, rows, inner, columns)


@FLOATS
def test_vectors_are_rows_on_the_left_and_columns_on_the_right(of):
    x, y, stack = drawn((40,), of), drawn((40, 70), of), drawn((3, 40, 7), of)
    assert same_bits(tiled([x, y], (True, False)), plain([x[None], y], (False, False))[0])
    assert same_bits(tiled([y.T.copy(), x], (False, True)), plain([y.T.copy(), x[:, None]], (False, False))[:, 0])
    assert same_bits(tiled([x, x], (True, True)), plain([x[None], x[:, None]], (False, False))[0, 0])
    assert same_bits(tiled([x, stack], (False, False)), np.stack([plain([x[None], m], (False, False))[0] for m in stack]))


@FLOATS
@flips
def test_without_memory_for_a_panel_the_bits_are_the_same(of, flip):
    """The kernel's text, with a `new_memory` that has none."""
    for rows, inner, columns in [(9, 150, 70), (1, 150, 70), (300, 20, 1)]:
        arrays = operands(rows, inner, columns, of, flip)
        out = empty(arrays, flip)
        found, extents = lowered(matmul_text.text_of(product(arrays, flip)), arrays, out)
        text = found.text.replace("new_memory(", "0 * (")
        assert ("free_memory(" in text) == ("turned(" in text)
        assert same_bits(ran(cache.address(text, found.T), arrays, out, extents), plain(arrays, flip))


def for_avx2(text, T, monkeypatch):
    """The address of a text's kernel, compiled for a CPU with AVX2 and no AVX-512."""

    def compiled():
        with monkeypatch.context() as patch:
            for module in (host, vectors):
                patch.setattr(module, "cpu", lambda: ("x86-64-v3", "+avx2,+fma"))
            numba_tiles.names.cache_clear()
            assert vectors.unit() == vectors.Unit(32, 16)
            return numba_kernel.object_of(text, T)

    try:
        return cache.linked(f"avx2 {T} {text}", compiled, ["kernel"], imports={"d2s_fork": threads.fork()})["kernel"]
    finally:
        numba_tiles.names.cache_clear()


@pytest.mark.skipif("+avx2" not in host.cpu()[1].split(","), reason="this CPU has no AVX2")
@FLOATS
@flips
def test_another_vector_unit_gives_the_same_bits(of, flip, monkeypatch):
    for rows, inner, columns in [(1, 9, 70), (2, 9, 70), (7, 300, 33), (13, 17, 65), (300, 33, 5), (40, 20, 1), (1, 600, 1)]:
        arrays = operands(rows, inner, columns, of, flip)
        out = empty(arrays, flip)
        found, extents = lowered(matmul_text.text_of(product(arrays, flip)), arrays, out)
        address = for_avx2(found.text, found.T, monkeypatch)
        assert same_bits(ran(address, arrays, out, extents), plain(arrays, flip)), (rows, inner, columns)


@pytest.mark.parametrize("of", [types.uint8, types.int8, types.int16, types.int32, types.int64], ids=str)
@flips
def test_integers_wrap_around(of, flip):
    limits = np.iinfo(of.numpy)
    for rows, inner, columns in [(3, 5, 4), (1, 70, 1), (4, 0, 2), (9, 3, 70)]:
        shapes = [a.shape for a in operands(rows, inner, columns, types.float32, flip)]
        x, y = (np.random.default_rng(n).integers(limits.min, limits.max, s, of.numpy, True) for n, s in enumerate(shapes))
        wide = (
            (x.T if flip[0] else x).astype(object) @ (y.T if flip[1] else y).astype(object)
            if inner
            else np.zeros((rows, columns), int)
        )
        expected = np.array([int(v) % (1 << 64) for v in np.asarray(wide, object).flat], np.uint64).astype(of.numpy)
        assert same_bits(tiled([x, y], flip), expected.reshape(rows, columns))


EPILOGUES = {
    "relu": ("v if v > T(0) else T(0)", lambda v, row, column: d2s.relu(v)),
    "gelu": ("T(0.5) * v * (T(1) + vm.erf(v * T(0.5)))", lambda v, row, column: 0.5 * v * (d2s.erf(v * 0.5) + 1.0)),
    "place": ("v + T(row) * T(100) + T(column)", lambda v, row, column: v + row * 100.0 + column),
}


@FLOATS
@pytest.mark.parametrize("name", EPILOGUES)
@pytest.mark.parametrize("flip", [(False, False), (False, True)], ids=["", "y"])
def test_an_epilogue_is_done_once_behind_the_last_k(of, name, flip):
    text, reference = EPILOGUES[name]
    for rows, inner, columns in [(9, 600, 70), (1, 9, 70), (300, 150, 1), (3, 0, 5)]:
        arrays = operands(rows, inner, columns, of, flip)
        found = by(matmul_text.text_of(product(arrays, flip), text), arrays, empty(arrays, flip))
        places = (d2s.to_tensor(p.astype(of.numpy)) for p in np.mgrid[:rows, :columns])
        assert same_bits(found, reference(d2s.to_tensor(tiled(arrays, flip)), *places).numpy()), (rows, inner, columns)


@FLOATS
@pytest.mark.parametrize("shape", [(40,), (1, 40), (300, 40), (2, 3, 40), (0, 40)], ids=str)
@pytest.mark.parametrize("columns", [1, 5, 70])
def test_linear_is_a_product_and_a_sum(of, shape, columns):
    given = [drawn(s, of, n) for n, s in enumerate([shape, (40, columns), (columns,)])]
    fused, apart = ([d2s.to_tensor(a, stop_gradient=False) for a in given] for _ in range(2))
    y = d2s.nn.functional.linear(*fused)
    z = d2s.matmul(*apart[:2]) + apart[2]
    assert same_bits(y.numpy(), z.numpy())
    for result in (y, z):
        result.backward(d2s.to_tensor(drawn(tuple(result.shape), of, 9)))
    assert all(same_bits(a.grad.numpy(), b.grad.numpy()) for a, b in zip(fused, apart, strict=True))


def test_linear_without_a_bias_and_with_one_that_broadcasts():
    x, w = d2s.to_tensor([[1.0, 2.0]]), d2s.to_tensor([[1.0, 0.0], [0.0, 1.0]])
    assert d2s.nn.functional.linear(x, w).numpy().tolist() == [[1.0, 2.0]]
    assert d2s.nn.functional.linear(x, w, d2s.to_tensor([5.0])).numpy().tolist() == [[6.0, 7.0]]


def test_extents_by_name_and_one_kernel_for_all_sizes():
    flags = {"transpose_x": False, "transpose_y": False}
    named = [types.Type(types.float32, s) for s in [("b", "n", 4), (4, "m")]]
    assert OPS["matmul"].infer(named, flags)[0].shape == ("b", "n", "m")
    assert OPS["matmul"].requires([types.Type(types.float32, s) for s in [("b", "n", "k"), ("c", 4, "m")]], flags) == [
        ("k", 4),
        ("b", "c"),
    ]
    texts = {
        emit.lower(OPS["matmul"], t, OPS["matmul"].infer(t, flags), flags).text
        for t in (named, [types.Type(types.float32, (9, 9))] * 2)
    }
    assert len(texts) == 1


def test_a_plan_computes_products_of_named_extents():
    program = parse(
        """program f(x: f32[b,n,3], y: f32[c,3,m]) -> (f32[b,n,m]) {
             %0: f32[b,n,m] = matmul(x, y, transpose_x=False, transpose_y=False) return %0 }"""
    )
    x, y = drawn((2, 5, 3), types.float32), drawn((2, 3, 4), types.float32)
    (found,) = Call(program)([x, y])
    assert same_bits(found, tiled([x, y], (False, False)))
    with pytest.raises(ShapeError, match=r"matmul\(\)"):
        Call(program)([x, drawn((3, 3, 4), types.float32)])


def tensor(*shape):
    return d2s.to_tensor(np.ones(shape, "float32"))


REFUSED = [
    (lambda: d2s.matmul(tensor(2, 3), tensor(4, 5)), ShapeError, r"'x' has 3 columns \(axis -1\), 'y' has 4 rows \(axis -2\)"),
    (
        lambda: d2s.matmul(tensor(2, 3), tensor(4, 5), True, True),
        ShapeError,
        r"2 columns \(axis -2\), 'y' has 5 rows \(axis -1\)",
    ),
    (lambda: d2s.matmul(tensor(3), tensor(4)), ShapeError, r"\[3\] and \[4\]"),
    (lambda: d2s.matmul(tensor(3, 2, 3), tensor(2, 3, 5)), ShapeError, r"before the last two.*\[3, 2, 3\] and \[2, 3, 5\]"),
    (lambda: d2s.matmul(tensor(), tensor(3)), ShapeError, r"'x' has shape \[\]"),
    (lambda: d2s.matmul(tensor(3).astype("bool"), tensor(3).astype("bool")), DTypeError, "b1"),
    (lambda: d2s.mv(tensor(3), tensor(3)), ShapeError, r"mv\(\): 'x' has shape \[3\]"),
    (lambda: d2s.bmm(tensor(1, 2, 3), tensor(2, 3, 4)), ShapeError, r"bmm\(\): 'y'"),
    (lambda: d2s.dot(tensor(2, 3), tensor(3)), ShapeError, r"dot\(\): 'y' has shape \[3\], expected \[2, 3\]"),
    (lambda: d2s.addmm(tensor(2, 2), tensor(2), tensor(2, 2)), ShapeError, r"addmm\(\): 'x'"),
    (lambda: d2s.nn.functional.linear(tensor(2, 3), tensor(3), tensor()), ShapeError, r"linear\(\): 'weight'"),
]


@pytest.mark.parametrize("n", range(len(REFUSED)))
def test_what_does_not_fit_is_refused(n):
    call, error, message = REFUSED[n]
    with pytest.raises(error, match=message):
        call()


def test_products_by_other_names():
    x, y, z = (drawn(s, types.float64) for s in [(2, 3), (4, 5, 3), (3,)])
    of = d2s.to_tensor
    assert d2s.inner(of(x), of(y)).shape == [2, 4, 5]
    np.testing.assert_allclose(d2s.inner(of(x), of(y)).numpy(), np.inner(x, y))
    np.testing.assert_allclose(d2s.inner(of(x), of(2.0, "float64")).numpy(), x * 2)
    np.testing.assert_array_equal(d2s.outer(of(x), of(z)).numpy(), np.outer(x, z))
    np.testing.assert_allclose(d2s.mm(of(x), of(x.T.copy())).numpy(), x @ x.T)
    np.testing.assert_allclose(d2s.mv(of(x), of(z)).numpy(), x @ z)
    np.testing.assert_allclose(d2s.bmm(of(y), of(y.transpose(0, 2, 1).copy())).numpy(), y @ y.transpose(0, 2, 1))
    np.testing.assert_allclose(d2s.addmm(of(z), of(x @ x.T), of(x), 0.5, 2.0).numpy(), 0.5 * z + 2 * x @ x.T @ x)
    assert of(x).mm(of(x.T.copy())).shape == [2, 2]
