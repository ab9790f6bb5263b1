"""Norms and attention: gradients by differences, running averages, parity with float64, layers, refusals."""

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, D2SError, ShapeError
from tests.samples.norm import attention

F = d2s.nn.functional


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def tensors(*arrays):
    return [d2s.to_tensor(a, stop_gradient=False) for a in arrays]


def slope(function, arrays, n, at, weights, step=1e-6):
    def value(delta):
        moved = [a.copy() for a in arrays]
        moved[n][at] += delta
        return float((function(*map(d2s.to_tensor, moved)).numpy() * weights).sum())

    return (value(step) - value(-step)) / (2 * step)


X, LINE, IMAGE = (4, 7), (7,), (3, 4, 5)
NORMED = {
    "layer": (lambda x, w, b: F.layer_norm(x, 7, w, b), X, LINE),
    "layer over two axes": (lambda x, w, b: F.layer_norm(x, [4, 7], w, b), (2, 4, 7), (4, 7)),
    "layer without a weight": (lambda x, w, b: F.layer_norm(x, 7, None, b) + w * 0.0, X, LINE),
    "layer without a bias": (lambda x, w, b: F.layer_norm(x, 7, w) + b * 0.0, X, LINE),
    "rms": (lambda x, w, b: F.rms_norm(x, 7, w) + b, X, LINE),
    "group": (lambda x, w, b: F.group_norm(x, 2, 1e-5, w, b), IMAGE, (4,)),
    "group of channels last": (lambda x, w, b: F.group_norm(x, 2, 1e-5, w, b, "NLC"), (3, 5, 4), (4,)),
    "instance": (lambda x, w, b: F.instance_norm(x, weight=w, bias=b), IMAGE, (4,)),
    "batch": (lambda x, w, b: batch(x, w, b, True), IMAGE, (4,)),
    "batch of vectors": (lambda x, w, b: batch(x, w, b, True), (6, 4), (4,)),
    "batch with channels last": (lambda x, w, b: batch(x, w, b, True, "NLC"), (3, 5, 4), (4,)),
    "fixed": (lambda x, w, b: batch(x, w, b, False), IMAGE, (4,)),
    "local response": (lambda x, w, b: F.local_response_norm(x, 3, 0.5, data_format="NCL") + (w + b).sum(), IMAGE, (4,)),
}


MEAN, VARIANCE = d2s.to_tensor(numbers(4, seed=8)), d2s.to_tensor(numbers(4, seed=9) ** 2)


def batch(x, w, b, training, data_format="NCHW"):
    averages = (MEAN.clone(), VARIANCE.clone()) if training else (MEAN, VARIANCE)
    return F.batch_norm(x, *averages, w, b, training, data_format=data_format)


@pytest.mark.parametrize("name", NORMED)
def test_gradients_by_differences(name):
    function, shape, affine = NORMED[name]
    arrays = [numbers(*shape), numbers(*affine, seed=1), numbers(*affine, seed=2)]
    weights, given = numbers(*shape, seed=3), tensors(*arrays)
    (function(*given) * d2s.to_tensor(weights)).sum().backward()
    for n, tensor in enumerate(given):
        for at in list(np.ndindex(tensor.array.shape))[:: max(1, tensor.size // 5)]:
            found = slope(function, arrays, n, at, weights)
            assert abs(tensor.grad.numpy()[at] - found) < 1e-6 * max(1, abs(found)), (n, at)


def test_a_large_mean_costs_no_digits():
    x = numbers(3, 500) + 1e4
    wanted = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    held = x.astype("float32")
    found = F.layer_norm(d2s.to_tensor(held), 500, epsilon=0.0).numpy()
    wide = held.astype("float64")
    wanted = (wide - wide.mean(1, keepdims=True)) / wide.std(1, keepdims=True)
    assert np.abs(found - wanted).max() < 2e-3  # the mean itself is rounded to 1e-3 of a deviation


def test_running_averages_move_in_training_and_only_there():
    layer, x = d2s.nn.BatchNorm2D(3, momentum=0.75), numbers(2, 3, 4, 5).astype("float32")
    layer(d2s.to_tensor(x))
    assert np.allclose(layer._mean.numpy(), 0.25 * x.mean((0, 2, 3)), atol=1e-6)
    assert np.allclose(layer._variance.numpy(), 0.75 + 0.25 * x.var((0, 2, 3)), atol=1e-6)
    before = layer._mean.numpy()
    layer.eval()
    found = layer(d2s.to_tensor(x)).numpy()
    mean, variance = (s.numpy().reshape(1, 3, 1, 1) for s in (layer._mean, layer._variance))
    assert np.array_equal(layer._mean.numpy(), before)
    assert np.allclose(found, (x - mean) / np.sqrt(variance + 1e-5), atol=1e-5)


def test_names_in_the_state_are_paddles():
    assert list(d2s.nn.BatchNorm2D(3).state_dict()) == ["weight", "bias", "_mean", "_variance"]
    assert list(d2s.nn.InstanceNorm2D(3).state_dict()) == ["scale", "bias"]
    assert list(d2s.nn.LayerNorm(3, bias_attr=False).state_dict()) == ["weight"]
    assert [p.name for p in d2s.nn.GroupNorm(1, 3).parameters()] != []


def test_global_statistics_are_used_in_training_if_asked_for():
    layer, x = d2s.nn.BatchNorm1D(2, use_global_stats=True, epsilon=0.0), d2s.to_tensor(numbers(4, 2).astype("float32"))
    assert np.array_equal(layer(x).numpy(), x.numpy())
    assert layer._mean.numpy().tolist() == [0.0, 0.0]


# --- attention


def heads(*lengths, dtype="float64"):
    return [numbers(2, n, 3, 4, seed=n + k).astype(dtype) for k, n in enumerate(lengths)]


def test_attention_of_many_blocks_agrees_with_float64():
    arrays = [numbers(1, 300, 2, 33, seed=k).astype("float32") for k in range(3)]
    for causal in (False, True):
        found = F.scaled_dot_product_attention(*map(d2s.to_tensor, arrays), is_causal=causal).numpy()
        assert np.abs(found - attention(*(a.astype("float64") for a in arrays), causal=causal)[0]).max() < 1e-6


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_attention_by_differences(causal):
    arrays, weights = heads(5, 5, 5), numbers(2, 5, 3, 4, seed=9)

    def function(query, key, value):
        return F.scaled_dot_product_attention(query, key, value, is_causal=causal)

    given = tensors(*arrays)
    (function(*given) * d2s.to_tensor(weights)).sum().backward()
    for n, tensor in enumerate(given):
        for at in list(np.ndindex(tensor.array.shape))[::17]:
            assert abs(tensor.grad.numpy()[at] - slope(function, arrays, n, at, weights)) < 1e-7


def test_what_a_mask_hides_has_no_influence_and_no_gradient():
    query, key, value = tensors(*heads(3, 4, 4))
    seen = np.array([True, False, True, True])
    found = F.scaled_dot_product_attention(query, key, value, d2s.to_tensor(seen))
    changed = key.numpy()
    changed[:, 1] = 1e30
    again = F.scaled_dot_product_attention(query.detach(), d2s.to_tensor(changed), value.detach(), d2s.to_tensor(seen))
    assert np.array_equal(found.numpy(), again.numpy())
    found.sum().backward()
    assert not value.grad.numpy()[:, 1].any()
    assert not key.grad.numpy()[:, 1].any()
    assert value.grad.numpy()[:, 0].all()


REFUSED = [
    (lambda x: F.layer_norm(x, 3), ShapeError, "normalized_shape"),
    (lambda x: F.layer_norm(x, 2, d2s.to_tensor([1.0])), D2SError, "layer_norm"),
    (lambda x: F.layer_norm(x, 2, epsilon=-1.0), ArgumentError, "epsilon"),
    (lambda x: F.group_norm(x, 3), ShapeError, "num_groups"),
    (lambda x: F.group_norm(x, 1, data_format="CN"), ArgumentError, "data_format"),
    (lambda x: F.batch_norm(x, d2s.to_tensor([1.0]), d2s.to_tensor([1.0])), ShapeError, "running_mean"),
    (lambda x: d2s.nn.BatchNorm2D(2)(x), ShapeError, "BatchNorm2D"),
    (lambda x: F.scaled_dot_product_attention(x, x, x), ShapeError, "batch, length, heads, size"),
    (lambda x: F.layer_norm(d2s.to_tensor([1, 2]), 2), D2SError, "int64"),
]


@pytest.mark.parametrize("n", range(len(REFUSED)))
def test_what_does_not_fit_is_refused_by_name(n):
    call, error, words = REFUSED[n]
    with pytest.raises(error, match=words):
        call(d2s.to_tensor([[1.0, 2.0], [3.0, 4.0]]))


@pytest.mark.parametrize("name", ["layer", "rms", "group", "fixed", "local response"])
def test_static_has_the_bits_of_eager(name):
    function, shape, affine = NORMED[name]
    arrays = [numbers(*shape), numbers(*affine, seed=1), numbers(*affine, seed=2)]
    found = []
    for run in (function, d2s.to_static(lambda x, w, b: function(x, w, b))):
        given = tensors(*arrays)
        y = run(*given)
        y.sum().backward()
        found.append([y.numpy(), *(t.grad.numpy() for t in given)])
    assert all(a.tobytes() == b.tobytes() for a, b in zip(*found, strict=True))
