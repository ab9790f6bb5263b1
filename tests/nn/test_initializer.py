"""How parameters begin: means, deviations and bounds of what is drawn, against what the papers say; exact values elsewhere."""

import math

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import ArgumentError, D2SError, DTypeError, ShapeError

I = nn.initializer  # noqa: E741


def begun(initializer, shape, dtype="float32", seed=7):
    d2s.seed(seed)
    return nn.Layer().create_parameter(shape, dtype=dtype, default_initializer=initializer).numpy()


def normal_cdf(x):
    return 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


DRAWN = {  # initializer, shape, deviation, bound (None: normal)
    "uniform": (I.Uniform(-2.0, 2.0), [300, 200], 4 / math.sqrt(12), 2.0),
    "normal": (I.Normal(0.0, 0.3), [300, 200], 0.3, None),
    "xavier uniform": (I.XavierUniform(), [200, 300], math.sqrt(2 / 500), math.sqrt(6 / 500)),
    "xavier normal": (I.XavierNormal(), [200, 300], math.sqrt(2 / 500), None),
    "xavier of a convolution": (I.XavierUniform(), [50, 20, 5, 5], math.sqrt(2 / 1750), math.sqrt(6 / 1750)),
    "xavier of one axis": (I.XavierNormal(), [50_000], math.sqrt(2 / 100_000), None),
    "xavier of given fans": (I.XavierUniform(fan_in=10, fan_out=20), [200, 300], math.sqrt(2 / 30), math.sqrt(6 / 30)),
    "xavier with a gain": (I.XavierNormal(gain=3.0), [200, 300], 3 * math.sqrt(2 / 500), None),
    "kaiming uniform": (I.KaimingUniform(), [200, 300], math.sqrt(2 / 200), math.sqrt(6 / 200)),
    "kaiming normal": (I.KaimingNormal(), [200, 300], math.sqrt(2 / 200), None),
    "kaiming of a convolution": (I.KaimingNormal(), [50, 20, 5, 5], math.sqrt(2 / 500), None),
    "kaiming of gradients": (I.KaimingNormal(mode="fan_out"), [200, 300], math.sqrt(2 / 300), None),
    "kaiming of a slope": (I.KaimingNormal(10, 1.0, "leaky_relu"), [200, 300], math.sqrt(1 / 10), None),
    "linear": (None, [200, 300], math.sqrt(2 / 500), math.sqrt(6 / 500)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("what", DRAWN)
def test_distributions(what, dtype):
    initializer, shape, std, bound = DRAWN[what]
    x = np.sort(begun(initializer, shape, dtype).astype("float64").reshape(-1))
    assert abs(x.mean()) < 4 * std / math.sqrt(x.size)
    assert abs(x.std() / std - 1) < 0.02
    expected = (x + bound) / (2 * bound) if bound else normal_cdf(x / std)
    assert np.max(np.abs(expected - (np.arange(x.size) + 0.5) / x.size)) < 1.95 / math.sqrt(x.size)  # Kolmogorov, 1 in 1000
    if bound:
        assert -bound <= x[0] < -0.99 * bound
        assert 0.99 * bound < x[-1] <= bound


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_truncated_normal(dtype):
    x = np.sort(begun(I.TruncatedNormal(1.0, 2.0), [100_000], dtype).astype("float64"))
    assert -3 <= x[0] < -2.99
    assert 4.99 < x[-1] <= 5
    tail = normal_cdf(-2.0)
    expected = (normal_cdf((x - 1) / 2) - tail) / (1 - 2 * tail)
    assert np.max(np.abs(expected - (np.arange(x.size) + 0.5) / x.size)) < 1.95 / math.sqrt(x.size)


def test_a_seed_says_all():
    for initializer in (I.XavierUniform(), I.KaimingNormal(), I.TruncatedNormal(), I.Orthogonal()):
        first, again, other = (begun(initializer, [7, 5], seed=s) for s in (1, 1, 2))
        assert first.tobytes() == again.tobytes() != other.tobytes()


@pytest.mark.parametrize("shape", [[6, 4], [4, 6], [5, 5], [6, 2, 2], [2, 2, 2]])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_orthogonal(shape, dtype):
    w = begun(I.Orthogonal(2.0), shape, dtype).reshape(shape[0], -1)
    square = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(square, 4 * np.eye(len(square)), atol=1e-5 if dtype == "float32" else 1e-12)


def test_orthogonal_prefers_no_direction():
    d2s.seed(3)
    signs = [np.sign(nn.Layer().create_parameter([2, 2], default_initializer=I.Orthogonal()).numpy()[0, 0]) for _ in range(200)]
    assert abs(np.mean(signs)) < 0.3


def test_dirac():
    expected = np.zeros([4, 2, 3])
    expected[0, 0, 1] = expected[1, 1, 1] = 1
    assert begun(I.Dirac(), [4, 2, 3]).tolist() == expected.tolist()
    expected = np.zeros([4, 2, 3, 3])
    expected[[0, 1, 2, 3], [0, 1, 0, 1], 1, 1] = 1
    assert begun(I.Dirac(groups=2), [4, 2, 3, 3]).tolist() == expected.tolist()


def test_bilinear_is_paddles():
    assert begun(I.Bilinear(), [2, 1, 4, 4])[1, 0].tolist() == [
        [0.0625, 0.28125, 0.375, 0.15625],
        [0.1875, 0.65625, 0.75, 0.21875],
        [0.1875, 0.46875, 0.375, 0.09375],
        [0.0625, 0.09375, 0.0, -0.03125],
    ]


def test_values_that_are_given():
    assert begun(I.Constant(2.5), [2]).tolist() == [2.5, 2.5]
    for value in ([[1, 2]], np.array([[1.0, 2.0]]), d2s.to_tensor([[1.0, 2.0]])):
        found = begun(I.Assign(value), [1, 2])
        assert (found.tolist(), found.dtype) == ([[1.0, 2.0]], np.float32)
    given = np.ones([2], "float32")
    p = nn.Layer().create_parameter([2], default_initializer=I.Assign(given))
    given[:] = 5
    assert p.tolist() == [1.0, 1.0]


def test_an_initializer_fills_any_tensor():
    x = d2s.to_tensor([0.0, 0.0, 0.0])
    assert I.Constant(4.0)(x) is None
    assert x.tolist() == [4.0, 4.0, 4.0]


def test_one_of_the_users_own():
    class Counting(I.Initializer):
        def __call__(self, param, block=None):
            param.set_value(np.arange(param.size, dtype="float32").reshape(param.shape))

    assert nn.Linear(2, 2, weight_attr=Counting()).weight.tolist() == [[0.0, 1.0], [2.0, 3.0]]


def test_who_decides_how_a_parameter_begins():
    layer = nn.Layer()

    def value(**options):
        return layer.create_parameter([1], **options).item()

    I.set_global_initializer(I.Constant(2.0), I.Constant(3.0))
    try:
        assert value() == 2.0
        assert value(is_bias=True) == 3.0
        assert value(default_initializer=I.Constant(5.0)) == 2.0
        assert value(attr=I.Constant(7.0), default_initializer=I.Constant(5.0)) == 7.0
    finally:
        I.set_global_initializer(None)
    assert value(default_initializer=I.Constant(5.0)) == 5.0
    assert value(is_bias=True) == 0.0


def test_gains():
    assert [I.calculate_gain(n) for n in ("sigmoid", "linear", "conv2d", "conv3d_transpose")] == [1.0] * 4
    assert I.calculate_gain("tanh") == 5 / 3
    assert I.calculate_gain("relu") == math.sqrt(2)
    assert I.calculate_gain("selu") == 0.75
    assert I.calculate_gain("leaky_relu") == pytest.approx(1.4141428569978354)
    assert I.calculate_gain("leaky_relu", 0.5) == pytest.approx(1.2649110640673518)


def test_shapes_without_elements_and_without_axes():
    assert begun(None, [0, 3]).shape == (0, 3)
    assert begun(I.Normal(), []).shape == ()
    assert begun(I.TruncatedNormal(), [0]).shape == (0,)


REFUSED = {
    "text for a constant": (lambda: I.Constant("x"), DTypeError, "'value'"),
    "text for values": (lambda: I.Assign("x"), DTypeError, "'value'"),
    "values of another shape": (lambda: begun(I.Assign(np.zeros([3, 4])), [4, 3]), ShapeError, "[3, 4]"),
    "an empty range": (lambda: I.Uniform(2.0, 1.0), ArgumentError, "'low' is 2.0"),
    "a deviation below 0": (lambda: I.Normal(std=-1.0), ArgumentError, "'std'"),
    "an unknown nonlinearity": (lambda: I.KaimingNormal(nonlinearity="foo"), ArgumentError, "'foo'"),
    "an unknown mode": (lambda: I.KaimingNormal(mode="foo"), ArgumentError, "'foo'"),
    "a fan that is text": (lambda: I.XavierNormal(fan_in="x"), DTypeError, "'fan_in'"),
    "an orthogonal vector": (lambda: begun(I.Orthogonal(), [4]), ShapeError, "[4]"),
    "no groups": (lambda: I.Dirac(groups=0), ArgumentError, "'groups'"),
    "a matrix for Dirac": (lambda: begun(I.Dirac(), [4, 2]), ShapeError, "[4, 2]"),
    "groups that do not fit": (lambda: begun(I.Dirac(3), [4, 2, 3]), ShapeError, "3 groups"),
    "three axes for Bilinear": (lambda: begun(I.Bilinear(), [4, 2, 3]), ShapeError, "[4, 2, 3]"),
    "a window that is no square": (lambda: begun(I.Bilinear(), [4, 2, 3, 4]), ShapeError, "[4, 2, 3, 4]"),
    "ints": (lambda: begun(I.Normal(), [2], "int64"), DTypeError, "int64"),
    "a global one that is text": (lambda: I.set_global_initializer("x"), DTypeError, "'weight_init'"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    function, error, words = REFUSED[what]
    with pytest.raises(error) as caught:
        function()
    assert isinstance(caught.value, D2SError)
    assert words in str(caught.value)
