"""Functions that are a line or two of others, against NumPy's."""

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, D2SError, IndexRangeError, ShapeError

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((2, 5)), rng.standard_normal((2, 5))
ENDS = np.array([-np.inf, -1.0, -0.0, 0.0, 2.0, np.inf, np.nan])
t = d2s.to_tensor
with np.errstate(invalid="ignore"):
    ADDED, ADDED_TO_ITSELF = np.logaddexp(ENDS, ENDS[::-1]), np.logaddexp(ENDS, ENDS)
CASES = {
    "deg2rad": (lambda: d2s.deg2rad(t(X)), np.deg2rad(X)),
    "rad2deg": (lambda: t(X).rad2deg(), np.rad2deg(X)),
    "degrees that are integers": (lambda: d2s.deg2rad(t([180])), np.array([np.pi], "float32")),
    "hypot": (lambda: d2s.hypot(t(X), t(Y)), np.hypot(X, Y)),
    "logaddexp": (lambda: d2s.logaddexp(t(X), t(Y)), np.logaddexp(X, Y)),
    "logaddexp, ends": (lambda: d2s.logaddexp(t(ENDS), t(ENDS[::-1].copy())), ADDED),
    "logaddexp, equal": (lambda: d2s.logaddexp(t(ENDS), t(ENDS)), ADDED_TO_ITSELF),
    "heaviside": (lambda: d2s.heaviside(t(ENDS), t(np.array(0.5))), np.heaviside(ENDS, 0.5)),
    "diff": (lambda: d2s.diff(t(X)), np.diff(X)),
    "diff, twice, another axis": (lambda: t(X).diff(n=2, axis=1, append=t(Y)), np.diff(X, n=2, axis=1, append=Y)),
    "diff, of none": (lambda: d2s.diff(t(np.zeros((0,)))), np.diff(np.zeros((0,)))),
    "diff, of bools": (lambda: d2s.diff(t(X > 0)), np.diff(X > 0)),
    "trapezoid": (lambda: d2s.trapezoid(t(X)), np.trapezoid(X) if hasattr(np, "trapezoid") else np.trapz(X)),
    "trapezoid, places": (
        lambda: d2s.trapezoid(t(X), t(np.arange(2.0) ** 2), axis=0),
        ((X[0] + X[1]) / 2),
    ),
    "take": (lambda: d2s.take(t(X), t([[0, -1], [9, 3]])), np.take(X, [[0, -1], [9, 3]])),
    "take, around": (lambda: t(X).take(t([12, -13]), mode="wrap"), np.take(X, [12, -13], mode="wrap")),
    "take, the ends": (lambda: d2s.take(t(X), t([12, -13]), mode="clip"), np.take(X, [12, -13], mode="clip")),
    "reverse": (lambda: d2s.reverse(t(X), [0, 1]), X[::-1, ::-1]),
    "multiplex": (lambda: d2s.multiplex([t(X), t(Y)], t(np.array([[1], [0]], "int32"))), np.stack([Y[0], X[1]])),
    "dist": (lambda: d2s.dist(t(X), t(Y), 1), np.abs(X - Y).sum()),
    "vsplit": (lambda: d2s.concat(d2s.vsplit(t(X), 2)[::-1]), X[::-1]),
    "vander": (lambda: d2s.vander(t(X[0]), 3), np.vander(X[0], 3)),
    "vander, upwards": (lambda: d2s.vander(t([2, 3]), increasing=True), np.vander([2, 3], increasing=True)),
    "vander, of whole": (lambda: d2s.vander(t([2, 3]), 0), np.vander([2, 3], 0)),
    "tril_indices": (lambda: d2s.tril_indices(3, 4, -1), np.stack(np.tril_indices(3, -1, 4))),
    "triu_indices": (lambda: d2s.triu_indices(3, dtype="int32"), np.stack(np.triu_indices(3))),
}


@pytest.mark.parametrize("name", CASES)
def test_as_numpy_has_it(name):
    call, wanted = CASES[name]
    found = call().numpy()
    assert found.shape == np.shape(wanted) and np.allclose(
        found, wanted, rtol=1e-12 if found.itemsize == 8 else 1e-6, equal_nan=True
    )


REFUSED = [
    (lambda: d2s.diff(t(X), n=-1), ArgumentError),
    (lambda: d2s.trapezoid(t(X), t(X), dx=1.0), ArgumentError),
    (lambda: d2s.take(t(X), t([10])), IndexRangeError),
    (lambda: d2s.take(t(X), t([0]), mode="x"), ArgumentError),
    (lambda: d2s.take(t(np.zeros((0,))), t([0]), mode="wrap"), ShapeError),
    (lambda: d2s.vsplit(t([1.0]), 1), ShapeError),
    (lambda: d2s.vander(t(X)), ShapeError),
    (lambda: d2s.tril_indices(-1, 2), ArgumentError),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_what_is_wrong_is_said(case):
    call, error = REFUSED[case]
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, D2SError)


def test_gradients_and_captures():
    def f(x, y):
        return d2s.logaddexp(x, y).sum() + d2s.diff(d2s.hypot(x, y)).sum() + x.take(t_of_places).sum()

    t_of_places = t([0, 7])
    x, y = t(X, stop_gradient=False), t(Y)
    f(x, y).backward()
    by_hand = np.exp(X) / (np.exp(X) + np.exp(Y))
    by_hand += X / np.hypot(X, Y) * np.array([-1, 0, 0, 0, 1]) + np.isin(np.arange(10), [0, 7]).reshape(2, 5)
    assert np.allclose(x.grad.numpy(), by_hand)
    assert d2s.to_static(f)(t(X), y).item() == f(t(X), y).item()


def gradients(function, *values):
    given = [d2s.to_tensor(np.array(v), stop_gradient=False) for v in values]
    function(*given).sum().backward()
    return [x.grad.tolist() for x in given]


def test_smooth_functions_have_their_slope_where_formulas_meet():
    f = d2s.nn.functional
    label, weights = (d2s.to_tensor(np.array(v)) for v in ([1.0, 0.0], [2.0, 2.0]))
    entropy = f.binary_cross_entropy_with_logits
    assert gradients(lambda x: entropy(x, label, reduction="none"), [0.0, 0.0]) == [[-0.5, 0.5]]
    assert gradients(lambda x: entropy(x, label, reduction="none", pos_weight=weights), [0.0, 0.0]) == [[-1.0, 0.5]]
    assert gradients(d2s.logaddexp, [1.0, -2.0], [1.0, -2.0]) == [[0.5, 0.5], [0.5, 0.5]]


def test_logaddexp_of_infinities():
    x, y = ([np.inf, -np.inf, np.inf, -np.inf], [np.inf, -np.inf, -np.inf, 1.0])
    assert d2s.logaddexp(d2s.to_tensor(x), d2s.to_tensor(y)).tolist() == [np.inf, -np.inf, np.inf, 1.0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.0, 3.0], [[0, 3, 2], [3, 0, 1], [2, 1, 0]]),
        ([0.0, 2.0, 3.0], [[0, 3, 2], [3, 0, 0], [2, 0, 0]]),
        ([0.0, 2.0, 0.0], [[0, 0, 2], [0, 0, 0], [2, 0, 0]]),
        ([0.0, 0.0, 0.0], [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
    ],
)
def test_second_derivatives_of_products_with_zeros(values, expected):
    x = d2s.to_tensor(np.array(values), stop_gradient=False)
    assert d2s.autograd.hessian(d2s.prod(x), x)[:].tolist() == expected
