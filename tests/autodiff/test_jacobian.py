"""Matrices of derivatives against finite differences."""

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, D2SError, DTypeError


def leaf(values):
    return d2s.to_tensor(np.array(values, "float64"), stop_gradient=False)


def differences(function, values):
    """The Jacobian of a function of NumPy arrays, ys behind each other, xs behind each other."""
    values = np.array(values, "float64")
    columns = []
    for index in np.ndindex(values.shape):
        step = np.zeros_like(values)
        step[index] = 1e-6
        columns.append((np.asarray(function(values + step)) - np.asarray(function(values - step))).ravel() / 2e-6)
    return np.stack(columns, -1)


def mixed(x, matrix):
    return d2s.matmul(x.reshape([1, -1]).tanh() * x, matrix).reshape([-1])


def test_of_a_vector():
    matrix = d2s.to_tensor(np.random.default_rng(0).normal(size=(3, 4)))
    values = [0.3, -0.7, 1.5]
    x = leaf(values)
    found = d2s.autograd.jacobian(mixed(x, matrix), x)
    expected = differences(lambda v: mixed(d2s.to_tensor(v), matrix).numpy(), values)
    assert found.shape == [4, 3]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-7, atol=1e-8)
    assert found[:].numpy().tobytes() == found.numpy().tobytes() == np.asarray(found).tobytes()
    assert found[1].tolist() == found.numpy()[1].tolist()
    assert found[-1].tolist() == found.numpy()[-1].tolist()
    assert found[1, 2].item() == found.numpy()[1, 2]
    assert found[1:3, ::2].numpy().tolist() == found.numpy()[1:3, ::2].tolist()


def test_rows_are_computed_when_they_are_asked_for():
    x, asked = leaf([1.0, 2.0, 3.0]), []
    y = x * x
    y.register_hook(lambda g: asked.append(g.tolist()))
    found = d2s.autograd.jacobian(y, x)
    assert not asked
    found[1], found[1]
    assert asked == [[0.0, 1.0, 0.0]]
    found.numpy(), found.numpy()
    assert len(asked) == 3


@pytest.mark.parametrize("shapes", [((), ()), ((3,), ()), ((), (3,)), ((3,), (3,)), ((1,), (2,)), ((0,), (2,)), ((2,), (0,))])
def test_shapes(shapes):
    of_y, of_x = shapes
    x = leaf(np.full(of_x, 2.0))
    y = d2s.to_tensor(np.ones(of_y)) * (x * x).sum()
    found = d2s.autograd.jacobian(y, x)
    assert found.shape == [*of_y, *of_x] == list(found.numpy().shape)
    assert (found.numpy() == 4.0).all()


def test_several():
    x, s = leaf([1.0, 2.0]), leaf(3.0)
    by_x, by_s = d2s.autograd.jacobian(x * s, (x, s))
    assert by_x.tolist() == [[3.0, 0.0], [0.0, 3.0]] and by_s.tolist() == [1.0, 2.0]
    (a, _), (_, d) = d2s.autograd.jacobian([x * s, x * x], [x, s])
    assert a.tolist() == [[3.0, 0.0], [0.0, 3.0]] and d.tolist() == [0.0, 0.0]
    (one,) = d2s.autograd.jacobian((x * x,), x)
    assert one.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_of_a_batch():
    values = np.random.default_rng(1).normal(size=(4, 3))
    x = leaf(values)
    y = d2s.concat([x * x, (x * x * x).sum(1, keepdim=True)], 1)
    found = d2s.autograd.jacobian(y, x, batch_axis=0)
    assert found.shape == [4, 4, 3]
    for n, row in enumerate(values):
        expected = np.vstack([np.diag(2 * row), 3 * row**2])
        np.testing.assert_allclose(found.numpy()[n], expected, rtol=1e-12)
    assert d2s.autograd.jacobian(y.sum(1), x, batch_axis=0).shape == [4, 3]
    s = x.sum(1).detach()
    s.stop_gradient = False
    assert d2s.autograd.jacobian(s * s, s, batch_axis=0).tolist() == (2 * s).tolist()


def test_it_acts_as_a_tensor():
    x = leaf([1.0, 2.0])
    found = d2s.autograd.jacobian(x * x, x)
    assert (found + 1.0).tolist() == [[3.0, 1.0], [1.0, 5.0]]
    assert (found - found).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert (found @ found).tolist() == [[4.0, 0.0], [0.0, 16.0]]
    assert (found == found).tolist() == [[True, True], [True, True]]
    assert repr(found) == repr(found[:]) and found.sum().item() == 6.0


def penalty(x, s):
    return (x.tanh() * s).sum() + (x * x).sum() * s * s


def test_hessian():
    values = [0.5, -1.0]
    x, s = leaf(values), leaf(0.7)
    found = d2s.autograd.hessian(penalty(x, s), x)
    assert isinstance(found, d2s.autograd.Hessian) and found.shape == [2, 2]

    def slope(v):
        t = d2s.to_tensor(v, stop_gradient=False)
        return d2s.grad(penalty(t, s), t)[0].numpy()

    np.testing.assert_allclose(found.numpy(), differences(slope, values), rtol=1e-6, atol=1e-8)
    (xx, xs), (sx, ss) = d2s.autograd.hessian(penalty(x, s), (x, s))
    assert [h.shape for h in (xx, xs, sx, ss)] == [[2, 2], [2], [2], []]
    np.testing.assert_allclose(xx.numpy(), found.numpy())
    np.testing.assert_allclose(xs.numpy(), sx.numpy(), rtol=1e-12)
    np.testing.assert_allclose(ss.numpy(), 2 * (np.array(values) ** 2).sum())


def test_hessian_of_a_batch():
    x = leaf([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    y = (x * x * x).sum(1) + x.sum(1)
    for of in (y, y.reshape([3, 1])):
        found = d2s.autograd.hessian(of, x, batch_axis=0)
        assert found.tolist() == [np.diag(6.0 * row).tolist() for row in x.numpy()]


def test_hessian_of_what_is_linear_is_zero():
    x = leaf([1.0, 2.0])
    assert d2s.autograd.hessian((x * 3.0).sum(), x).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_jacobian_of_a_static_function():
    f, x = d2s.to_static(lambda x: x.tanh() * x), leaf([0.3, 0.9])
    np.testing.assert_array_equal(d2s.autograd.jacobian(f(x), x).numpy(), d2s.autograd.jacobian(x.tanh() * x, x).numpy())


def test_wrong_arguments():
    x, m = leaf([1.0, 2.0]), leaf([[1.0, 2.0]])
    cases = [
        (lambda: d2s.autograd.jacobian(m * m, m), ArgumentError, "'ys' has shape"),
        (lambda: d2s.autograd.jacobian(x * x, m), ArgumentError, "'xs' has shape"),
        (lambda: d2s.autograd.jacobian(x * x, x, batch_axis=1), ArgumentError, "'batch_axis' is 1"),
        (lambda: d2s.autograd.jacobian(x * x, x, batch_axis=True), ArgumentError, "'batch_axis'"),
        (lambda: d2s.autograd.jacobian(x.sum(), x, batch_axis=0), ArgumentError, "'ys' has shape"),
        (lambda: d2s.autograd.jacobian(x * x, m, batch_axis=0), ArgumentError, "batches of 2 'ys' and 1"),
        (lambda: d2s.autograd.jacobian(3, x), DTypeError, "'ys'"),
        (lambda: d2s.autograd.jacobian(x, [3]), DTypeError, "'xs'"),
        (lambda: d2s.autograd.hessian(x * x, x), ArgumentError, "one number"),
        (lambda: d2s.autograd.hessian(3, x), DTypeError, "'ys'"),
    ]
    for call, error, words in cases:
        with pytest.raises(error, match=words) as caught:
            call()
        assert isinstance(caught.value, D2SError)
