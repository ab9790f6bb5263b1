"""Layers whose weight is computed of other parameters, and parameters all together; when written, equal to Paddle 2.6.2."""

import copy

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import D2SError

MAKERS = {
    "linear": (lambda: nn.Linear(3, 4), (5, 3)),
    "conv": (lambda: nn.Conv2D(2, 3, 3), (1, 2, 6, 6)),
    "transposed": (lambda: nn.Conv1DTranspose(2, 3, 3), (1, 2, 7)),
}


def values(*shape):
    return np.random.default_rng(3).standard_normal(shape).astype("float32")


@pytest.mark.parametrize("dim", [0, 1, -1, None])
@pytest.mark.parametrize("kind", MAKERS)
def test_lengths_and_directions(kind, dim):
    make, shape = MAKERS[kind]
    layer, x = make(), d2s.to_tensor(values(*shape))
    before, weight = layer(x).numpy(), layer.weight.numpy().astype("float64")
    assert nn.utils.weight_norm(layer, dim=dim) is layer
    axes = None if dim in (None, -1) else tuple(k for k in range(weight.ndim) if k != dim)
    np.testing.assert_allclose(layer.weight_g.numpy(), np.sqrt((weight**2).sum(axes)), rtol=1e-5)
    np.testing.assert_allclose(layer(x).numpy(), before, rtol=2e-4, atol=1e-5)
    layer.weight_g.set_value(layer.weight_g * 2)  # what is computed is never out of date
    np.testing.assert_allclose(layer.weight.numpy(), weight * 2, rtol=1e-5, atol=1e-6)
    assert list(nn.utils.remove_weight_norm(layer).state_dict()) == ["bias", "weight"]
    np.testing.assert_allclose(layer.weight.numpy(), weight * 2, rtol=1e-5, atol=1e-6)
    assert type(layer) is type(make())


def test_a_matrix_divided_by_its_largest_singular_value():
    layer = nn.utils.spectral_norm(nn.Linear(3, 4), n_power_iterations=30)
    for _ in range(3):
        layer(d2s.ones([1, 3]))
    largest = np.linalg.svd(layer.weight_orig.numpy().astype("float64"), compute_uv=False)[0]
    np.testing.assert_allclose(layer.weight.numpy(), layer.weight_orig.numpy() / largest, rtol=1e-4)
    layer.eval()
    kept = layer.weight_u.numpy()
    layer(d2s.ones([1, 3]))
    assert (layer.weight_u.numpy() == kept).all()


def trained(static):
    d2s.seed(1)
    net = nn.Sequential(
        nn.utils.weight_norm(nn.Linear(3, 4)),
        nn.Tanh(),
        nn.utils.spectral_norm(nn.Linear(4, 2)),
        copy.deepcopy(nn.Linear(2, 2)),
    )
    adam = d2s.optimizer.Adam(0.1, parameters=net.parameters())

    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    once = d2s.to_static(step) if static == "step" else step
    if static == "net":
        d2s.to_static(net)
    losses = [once(d2s.ones([2, 3]) * k).item() for k in range(1, 5)]
    return losses, {name: held.numpy().tobytes() for name, held in net.state_dict().items()}


def test_both_are_trained_in_all_ways_alike():
    assert trained("") == trained("net") == trained("step")


def test_a_file_computes_the_weight(tmp_path):
    layer = nn.utils.weight_norm(nn.Linear(3, 4))
    d2s.jit.save(layer, str(tmp_path / "m"), input_spec=[d2s.static.InputSpec([None, 3])])
    x = d2s.to_tensor(values(2, 3))
    loaded = d2s.jit.load(str(tmp_path / "m"))
    assert loaded(x).numpy().tobytes() == layer(x).numpy().tobytes()
    assert sorted(loaded.state_dict()) == ["bias", "weight_g", "weight_v"]


def test_a_copy_computes_its_own():
    layer = nn.utils.weight_norm(nn.Linear(3, 4))
    other = copy.deepcopy(layer)
    other.weight_g.set_value(other.weight_g * 0)
    assert layer.weight.numpy().any()
    assert not other.weight.numpy().any()


def test_parameters_as_a_vector():
    layer = nn.Linear(2, 3)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    assert vector.tolist() == [*layer.weight.numpy().ravel(), *layer.bias.numpy()]
    nn.utils.vector_to_parameters(vector * 2, layer.parameters())
    assert layer.weight.numpy().ravel().tolist() == (vector * 2).tolist()[:6]


@pytest.mark.parametrize("power", [1.0, 2.0, 3.0, float("inf")])
def test_gradients_within_a_limit_together(power):
    layer = nn.Linear(3, 4)
    (layer(d2s.ones([2, 3])) ** 2).sum().backward()
    before = np.concatenate([p.grad.numpy().ravel() for p in layer.parameters()]).astype("float64")
    total = nn.utils.clip_grad_norm_(layer.parameters(), 0.5, power)
    wanted = np.linalg.norm(before, power)
    np.testing.assert_allclose(total.item(), wanted, rtol=1e-5)
    after = np.concatenate([p.grad.numpy().ravel() for p in layer.parameters()])
    np.testing.assert_allclose(after, before * min(1.0, 0.5 / (wanted + 1e-6)), rtol=1e-5)
    nn.utils.clip_grad_value_(layer.parameters(), 0.01)
    assert max(np.abs(p.grad.numpy()).max() for p in layer.parameters()) <= np.float32(0.01)


WRONG = {
    "no layer": (lambda: nn.utils.weight_norm(3), "'layer' expects a Layer, got int"),
    "no parameter": (lambda: nn.utils.weight_norm(nn.Linear(2, 2), "wight"), "Linear has no parameter 'wight'"),
    "twice": (lambda: nn.utils.weight_norm(nn.utils.weight_norm(nn.Linear(2, 2))), "no parameter 'weight'"),
    "not there": (lambda: nn.utils.remove_weight_norm(nn.Linear(2, 2)), "not computed by weight_norm"),
    "no axis": (lambda: nn.utils.weight_norm(nn.Linear(2, 2), dim=3), "axis 3"),
    "no steps": (lambda: nn.utils.spectral_norm(nn.Linear(2, 2), n_power_iterations=0), "'n_power_iterations' is 0"),
    "another size": (
        lambda: nn.utils.vector_to_parameters(d2s.ones([5]), nn.Linear(2, 2).parameters()),
        "5 values, .* 6",
    ),
    "no vector": (lambda: nn.utils.parameters_to_vector([1.0]), "'parameters' expects Parameters, got float"),
    "no length": (lambda: nn.utils.clip_grad_norm_(nn.Linear(2, 2).parameters(), "a"), "'max_norm' expects a number"),
    "no power": (lambda: nn.utils.clip_grad_norm_(nn.Linear(2, 2).parameters(), 1.0, -1), "'norm_type' is -1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told(name):
    call, words = WRONG[name]
    with pytest.raises(D2SError, match=words):
        call()
