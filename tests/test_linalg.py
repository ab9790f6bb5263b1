"""Linear algebra against NumPy; gradients by finite differences; failures in words of ours."""

import inspect

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, CaptureError, D2SError, DTypeError, ShapeError
from d2s.static import InputSpec

L = d2s.linalg
RNG = np.random.default_rng(0)
SQUARE = RNG.standard_normal((2, 3, 3)) + 3 * np.eye(3)
POSITIVE = SQUARE @ SQUARE.swapaxes(-1, -2) + np.eye(3)
TALL, WIDE = RNG.standard_normal((2, 5, 3)), RNG.standard_normal((3, 5))
RIGHT = RNG.standard_normal((2, 3, 2))


def whole(x):
    """Both triangles of what a function takes as symmetric."""
    return (x + x.transpose([0, 2, 1])) * 0.5


CASES = {
    "inv": (L.inv, np.linalg.inv, [SQUARE]),
    "det": (L.det, np.linalg.det, [SQUARE]),
    "slogdet": (L.slogdet, lambda x: np.stack(np.linalg.slogdet(x)), [SQUARE]),
    "solve": (L.solve, np.linalg.solve, [SQUARE, RIGHT]),
    "solve for a vector": (L.solve, np.linalg.solve, [SQUARE[0], RIGHT[0, :, 0]]),
    "solve for all": (L.solve, lambda x, y: np.linalg.solve(x, np.broadcast_to(y, (2, 3, 2))), [SQUARE, RIGHT[0]]),
    "solve from the right": (
        lambda x, y: L.solve(x, y, left=False),
        lambda x, y: y @ np.linalg.inv(x),
        [SQUARE, RIGHT.swapaxes(1, 2).copy()],
    ),
    "cholesky": (lambda x: L.cholesky(whole(x)), np.linalg.cholesky, [POSITIVE]),
    "cholesky above": (lambda x: L.cholesky(whole(x), True), lambda x: np.linalg.cholesky(x).swapaxes(1, 2), [POSITIVE]),
    "triangular_solve": (L.triangular_solve, lambda x, y: np.linalg.solve(np.triu(x), y), [SQUARE, RIGHT]),
    "triangular_solve below": (
        lambda x, y: L.triangular_solve(x, y, upper=False, transpose=True, unitriangular=True),
        lambda x, y: np.linalg.solve((np.tril(x, -1) + np.eye(3)).swapaxes(1, 2), y),
        [SQUARE, RIGHT],
    ),
    "cholesky_solve": (
        lambda x, y: L.cholesky_solve(x, y),
        lambda x, y: np.linalg.solve(np.tril(y) @ np.tril(y).swapaxes(1, 2), x),
        [RIGHT, SQUARE],
    ),
    "eigh": (lambda x: L.eigh(whole(x))[0], lambda x: np.linalg.eigh(x)[0], [POSITIVE]),
    "eigh's vectors": (lambda x: L.eigh(whole(x))[1] ** 2, lambda x: np.linalg.eigh(x)[1] ** 2, [POSITIVE]),
    "eigvalsh": (lambda x: L.eigvalsh(whole(x), "U"), np.linalg.eigvalsh, [POSITIVE]),
    "qr": (lambda x: L.qr(x)[0], lambda x: np.linalg.qr(x)[0], [TALL]),
    "qr's triangle": (lambda x: L.qr(x, "r"), lambda x: np.linalg.qr(x)[1], [TALL]),
    "svd": (lambda x: L.svd(x)[1], lambda x: np.linalg.svd(x)[1], [TALL]),
    "svd of wide ones": (lambda x: L.svd(x)[1], lambda x: np.linalg.svd(x)[1], [WIDE]),
    "svd's U": (lambda x: L.svd(x)[0] ** 2, lambda x: np.linalg.svd(x, full_matrices=False)[0] ** 2, [TALL]),
    "svd's V": (lambda x: L.svd(x)[2] ** 2, lambda x: np.linalg.svd(x, full_matrices=False)[2] ** 2, [WIDE]),
    "pinv": (L.pinv, np.linalg.pinv, [TALL]),
    "pinv of wide ones": (L.pinv, np.linalg.pinv, [WIDE]),
    "pinv, singular values alike": (L.pinv, np.linalg.pinv, [np.eye(4)[:, :3] * 2.0]),
    "det of a singular matrix": (L.det, np.linalg.det, [np.diag([1.0, 2.0, 0.0])]),
    "matrix_power": (lambda x: L.matrix_power(x, 5), lambda x: np.linalg.matrix_power(x, 5), [SQUARE * 0.3]),
    "matrix_power of 0": (lambda x: L.matrix_power(x, 0), lambda x: np.broadcast_to(np.eye(3), (2, 3, 3)), [SQUARE]),
    "matrix_power below 0": (lambda x: L.matrix_power(x, -2), lambda x: np.linalg.matrix_power(x, -2), [SQUARE]),
}


@pytest.mark.parametrize("name", CASES)
def test_against_numpy(name):
    function, reference, arrays = CASES[name]
    found = function(*map(d2s.to_tensor, arrays)).numpy()
    np.testing.assert_allclose(found, reference(*arrays), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    function, _, arrays = CASES[name]
    tensors = [d2s.to_tensor(a, stop_gradient=False) for a in arrays]
    found = function(*tensors)
    weights = np.random.default_rng(1).standard_normal(found.shape)
    (found * d2s.to_tensor(weights)).sum().backward()

    def total(changed):
        return float((function(*map(d2s.to_tensor, changed)).numpy() * weights).sum())

    for n, (tensor, array) in enumerate(zip(tensors, arrays, strict=True)):
        along = np.random.default_rng(2).standard_normal(array.shape)
        moved = [[a + s * 1e-6 * along if k == n else a for k, a in enumerate(arrays)] for s in (1, -1)]
        slope = (total(moved[0]) - total(moved[1])) / 2e-6
        assert (tensor.grad.numpy() * along).sum() == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    "name",
    ["inv", "det", "slogdet", "solve", "cholesky", "eigh's vectors", "qr", "svd's U", *(n for n in CASES if "pinv" in n)],
)
def test_second_order(name):
    function, _, (array, *others) = CASES[name]
    others = list(map(d2s.to_tensor, others))
    x = d2s.to_tensor(array, stop_gradient=False)
    weights = d2s.to_tensor(np.random.default_rng(3).standard_normal(function(x, *others).shape))
    (first,) = d2s.grad((function(x, *others) * weights).sum(), x, create_graph=True)
    (first * first).sum().backward()
    along, step = np.random.default_rng(4).standard_normal(array.shape), 1e-5

    def total(changed):
        y = d2s.to_tensor(changed, stop_gradient=False)
        return float((d2s.grad((function(y, *others) * weights).sum(), y)[0].numpy() ** 2).sum())

    slope = (total(array + step * along) - total(array - step * along)) / (2 * step)
    assert (x.grad.numpy() * along).sum() == pytest.approx(slope, rel=1e-4)


def test_the_rest():
    assert L.matrix_power(d2s.ones([2, 2]), 0).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert (L.det(d2s.eye(2)).shape, L.slogdet(d2s.eye(2)).shape) == ([], [2])
    assert L.matrix_rank(d2s.to_tensor([[1.0, 2.0], [2.0, 4.0]])).item() == 1
    u, s, v = L.svd(d2s.to_tensor(TALL), full_matrices=True)
    assert (u.shape, s.shape, v.shape) == ([2, 5, 5], [2, 3], [2, 3, 3])
    q, r = L.qr(d2s.to_tensor(TALL), "complete")
    np.testing.assert_allclose((q @ r).numpy(), TALL, atol=1e-12)
    assert d2s.inv(d2s.to_tensor([[2.0]])).dtype is d2s.float32


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: L.inv(d2s.ones([2, 2])), ArgumentError),
        (lambda: L.cholesky(-d2s.eye(2)), ArgumentError),
        (lambda: L.inv(d2s.ones([2, 3])), ShapeError),
        (lambda: L.det(d2s.ones([2])), ShapeError),
        (lambda: L.inv(d2s.ones([2, 2], "int64")), DTypeError),
        (lambda: L.solve(d2s.eye(2), d2s.ones([3, 1])), ShapeError),
        (lambda: L.qr(d2s.eye(2), "all"), ArgumentError),
        (lambda: L.svd(d2s.to_tensor([[float("nan")]])), ArgumentError),
        (lambda: L.matrix_power(d2s.eye(2), 1.5), D2SError),
    ],
)
def test_refusals(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("name", CASES)
def test_graphs_and_files_hold_it(name, tmp_path):
    function, _, arrays = CASES[name]
    ways = [function, d2s.to_static(function)]
    if "pinv" not in name:
        d2s.jit.save(function, str(tmp_path / "f"), [InputSpec(a.shape, "float64") for a in arrays])
        ways.append(d2s.jit.load(str(tmp_path / "f")))
    found = []
    for way in ways:
        tensors = [d2s.to_tensor(a, stop_gradient=False) for a in arrays]
        y = way(*tensors)
        (y * y).sum().backward()
        found.append([y.tolist(), *(t.grad.tolist() for t in tensors)])
    assert all(one == found[0] for one in found)


def test_a_loop_takes_matrices_apart_and_batches_may_be_open(tmp_path):
    def newton(x, n):
        for _ in range(n):
            x = (x + L.inv(x)) * 0.5 if L.det(x).sum() > 0 else x
        return x, L.eigh(whole(x))[0]

    static = d2s.to_static(newton, input_spec=[InputSpec([None, 3, 3], "float64"), InputSpec([], "int64")])
    d2s.jit.save(static, str(tmp_path / "f"))
    for x in (d2s.to_tensor(POSITIVE), d2s.to_tensor(POSITIVE[:1])):
        wanted = [t.tolist() for t in newton(x, d2s.to_tensor(3))]
        assert wanted == [t.tolist() for t in static(x, d2s.to_tensor(3))]
        assert wanted == [t.tolist() for t in d2s.jit.load(str(tmp_path / "f"))(x, d2s.to_tensor(3))]


def test_a_singular_matrix_is_refused_at_the_line_of_the_run():
    static = d2s.to_static(lambda x: L.inv(x) if x.sum() > 0 else x)
    assert static(-d2s.ones([2, 2])).tolist() == [[-1.0, -1.0], [-1.0, -1.0]]
    with pytest.raises(ArgumentError, match=r"inv\(\): singular matrix(.|\n)*test_linalg.py:"):
        static(d2s.ones([2, 2]))


def test_what_has_no_gradient_is_refused_in_graphs_by_name():
    with pytest.raises(CaptureError, match=r"qr\(\) of mode 'complete' has no gradient, and no graph holds it"):
        d2s.to_static(lambda x: L.qr(x, "complete"))(d2s.eye(2))


def test_it_shows_what_it_publishes():
    assert set(dir(L)) == set(L.__all__)


def test_methods_are_the_functions_of_linalg():
    for name in ("det", "norm", "qr", "solve", "matrix_power"):
        assert inspect.signature(getattr(d2s.Tensor, name)) == inspect.signature(getattr(d2s.linalg, name))
    x = d2s.to_tensor([[3.0, 4.0], [0.0, 0.0]])
    assert d2s.jit.to_static(lambda x: x.norm())(x).item() == x.norm().item() == 5.0
    assert d2s.jit.to_static(lambda x: x.det())(x).item() == x.det().item() == 0.0
