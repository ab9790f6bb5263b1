"""Gradients of gradients through ops whose gradient is one kernel: finite differences, the kernels' values, static calls."""

import itertools

import numpy as np
import pytest

import d2s
from d2s.errors import GradientError
from d2s.ops import OPS
from tests.ops.test_listed import cases, results
from tests.samples import LISTED, accepts

F = d2s.nn.functional
COMPOSED = sorted(name for name, op in OPS.items() if op.has("composed"))


def drawn(*shapes):
    rng = np.random.default_rng(5)
    return [rng.standard_normal(shape) for shape in shapes]


def batch_norm(x, weight, bias):
    return F.batch_norm(x, d2s.zeros([4], x.dtype), d2s.ones([4], x.dtype), weight, bias, training=True)


def fixed_norm(x, weight):
    return F.batch_norm(x, d2s.zeros([4], x.dtype), d2s.ones([4], x.dtype), weight)


def cell(kind, size):
    def states(gates, weight, start, *more):
        lengths = d2s.to_tensor([2, 3])
        return OPS["recurrent"](gates, weight, start, *more, lengths, cell=kind, reverse=kind == "gru", masked=True)[0]

    return states, drawn((2, 3, 2 * size), (2, 2 * size), (2, 2), *{"lstm": [(2, 2)], "gru": [(2 * size,)]}.get(kind, []))


LABEL = d2s.to_tensor([[1], [-100], [2]])
SMOOTH = {
    "cumprod": (lambda x: d2s.cumprod(x, 0), [np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.5], [2.0, 1.0, 4.0]])]),
    "logcumsumexp": (lambda x: d2s.logcumsumexp(x, 1), drawn((2, 4))),
    "layer norm": (lambda x, w, b: F.layer_norm(x, 4, w, b), drawn((3, 4), 4, 4)),
    "rms norm": (lambda x, w: F.rms_norm(x, 4, w), drawn((3, 4), 4)),
    "group norm": (lambda x, w, b: F.group_norm(x, 2, weight=w, bias=b), drawn((2, 4, 3), 4, 4)),
    "batch norm": (batch_norm, drawn((3, 4, 2), 4, 4)),
    "fixed norm": (fixed_norm, drawn((3, 4, 2), 4)),
    "attention": (
        lambda q, k, v, mask: F.scaled_dot_product_attention(q, k, v, mask, is_causal=True),
        drawn(*[(1, 3, 2, 2)] * 3, (1, 1, 3, 3)),
    ),
    "cross entropy": (lambda x: F.softmax_with_cross_entropy(x, LABEL), drawn((3, 4))),
    "lstm": cell("lstm", 4),
    "gru": cell("gru", 3),
    "tanh cell": cell("tanh", 1),
}


def first_order(function, tensors, create_graph):
    """The weighted sum of all gradients of a weighted sum."""
    rng = np.random.default_rng(3)
    y = function(*tensors)
    found = d2s.grad((y * d2s.to_tensor(rng.standard_normal(y.shape))).sum(), tensors, create_graph=create_graph)
    parts = [(g * d2s.to_tensor(rng.standard_normal(g.shape))).sum() for g in found]
    return sum(parts[1:], parts[0])


def slope(function, arrays, n, at, step=1e-5):
    def value(delta):
        moved = [a.copy() for a in arrays]
        moved[n][at] += delta
        return first_order(function, [d2s.to_tensor(a, stop_gradient=False) for a in moved], False).item()

    return (value(step) - value(-step)) / (2 * step)


@pytest.mark.parametrize("name", SMOOTH)
def test_they_agree_with_finite_differences(name):
    function, arrays = SMOOTH[name]
    tensors = [d2s.to_tensor(a, stop_gradient=False) for a in arrays]
    found = d2s.grad(first_order(function, tensors, True), tensors, allow_unused=True)
    for n, (array, gradient) in enumerate(zip(arrays, found, strict=True)):
        known = np.zeros_like(array) if gradient is None else gradient.numpy()
        for at in itertools.islice(np.ndindex(array.shape), 0, None, max(1, array.size // 5)):
            np.testing.assert_allclose(known[at], slope(function, arrays, n, at), rtol=1e-5, atol=1e-6, err_msg=f"{n} {at}")


@pytest.mark.parametrize("name", COMPOSED)
def test_what_a_gradient_is_composed_of_has_its_values(name):
    of = accepts(name)[-1]
    for arrays, attrs in cases(name, of)[:2]:
        tensors = [d2s.to_tensor(a) for a in arrays]
        expected = results(OPS[name](*tensors, **attrs))
        found = results(OPS[name].rules["composed"](*tensors, **attrs))
        for a, e in zip(found, expected, strict=True):
            scale = float(np.max(np.abs(e.numpy()), initial=1e-30))
            np.testing.assert_allclose(a.numpy(), e.numpy(), rtol=0, atol=LISTED[name].ulps * np.finfo(of.numpy).eps * scale)


@pytest.mark.parametrize("name", ["layer norm", "group norm"])
def test_static_functions_have_the_same_bits(name):
    function, arrays = SMOOTH[name]

    def second(*tensors):
        first = d2s.grad((function(*tensors) ** 3).sum(), list(tensors), create_graph=True)
        return d2s.grad((first[0] ** 2).sum() + (first[1] ** 2).sum(), list(tensors[:2]))

    static = d2s.to_static(second)
    for count in (2, 3, 4):  # the third size has a name
        given = [np.resize(arrays[0], (count, *arrays[0].shape[1:])), *arrays[1:]]
        tensors = [d2s.to_tensor(a, stop_gradient=False) for a in given]
        for a, e in zip(static(*tensors), second(*tensors), strict=True):
            assert np.array_equal(a.numpy(), e.numpy())


def test_the_third_order_is_right_too():
    def penalty(x):
        (first,) = d2s.grad((F.layer_norm(x, 3) ** 3).sum(), x, create_graph=True)
        (second,) = d2s.grad((first**2).sum(), x, create_graph=True)
        return (second**2).sum()

    array = drawn((2, 3))[0]
    x = d2s.to_tensor(array, stop_gradient=False)
    (found,) = d2s.grad(penalty(x), x)
    steps = [d2s.to_tensor(array + np.array([[0, 0, 0], [0, d, 0]]), stop_gradient=False) for d in (1e-5, -1e-5)]
    up, down = (penalty(moved).item() for moved in steps)
    np.testing.assert_allclose(found.numpy()[1, 1], (up - down) / 2e-5, rtol=1e-6)


def test_one_tensor_in_two_places_gets_both_parts():
    x = d2s.to_tensor(drawn((1, 3, 1, 2))[0], stop_gradient=False)
    (found,) = d2s.grad(first_order(lambda x: F.scaled_dot_product_attention(x, x, x), [x], True), [x])
    expected = slope(lambda x: F.scaled_dot_product_attention(x, x, x), [x.numpy()], 0, (0, 1, 0, 1))
    np.testing.assert_allclose(found.numpy()[0, 1, 0, 1], expected, rtol=1e-6)


def test_the_one_without_is_refused_by_name():
    scores, one = d2s.to_tensor(drawn((2, 1, 3))[0], stop_gradient=False), d2s.ones([1], "int64")
    loss = F.ctc_loss(scores, one.reshape([1, 1]), one + 1, one)
    (first,) = d2s.grad(loss, scores, create_graph=True)
    with pytest.raises(GradientError, match=r"D2S0006.*ctc_loss_grad has no gradient"):
        first.sum().backward()
