"""Softmax and losses: against NumPy in float64, on the edges, what they refuse, and the bits of static code."""

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, D2SError, DTypeError, ShapeError

F, T = d2s.nn.functional, d2s.to_tensor


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def shares(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def test_a_softmax_of_large_and_small_numbers():
    assert F.softmax(T([1e4, 1e4])).tolist() == [0.5, 0.5]
    assert F.softmax(T([0.0, -np.inf])).tolist() == [1.0, 0.0]
    np.testing.assert_allclose(F.softmax(T([0.0, -1e4])).numpy(), [1.0, np.exp(-64.0)], rtol=1e-6)
    assert F.log_softmax(T([0.0, -1e4])).tolist() == [0.0, -1e4]
    assert np.isnan(F.softmax(T([np.nan, 0.0])).numpy()).all()
    assert F.softmax(T(3.0)).item() == 1.0
    assert F.softmax(T([1.0]), dtype="float64").dtype is d2s.float64


@pytest.mark.parametrize("length", [1, 63, 64, 65, 1000, 70_000])
def test_float32_softmax_is_near_float64(length):
    x = numbers(3, length).astype("float32") * 5
    wanted = shares(x.astype("float64"), 1)
    assert (np.abs(F.softmax(T(x)).numpy() - wanted) / wanted).max() < 6e-6  # x - max(x) is rounded
    assert np.abs(F.log_softmax(T(x)).numpy() - np.log(wanted)).max() < 8e-6


def test_gradients_of_gradients_of_a_softmax():
    for function in (F.softmax, F.log_softmax):
        x, weights = T(numbers(4), stop_gradient=False), T(numbers(4, seed=1))
        (g,) = d2s.grad((function(x) * weights).sum(), [x], create_graph=True)
        (g * g).sum().backward()

        def squares(values, function=function, weights=weights):
            y = T(values, stop_gradient=False)
            (function(y) * weights).sum().backward()
            return float((y.grad.numpy() ** 2).sum())

        for k in range(4):
            step = 1e-6 * np.eye(4)[k]
            slope = (squares(x.numpy() + step) - squares(x.numpy() - step)) / 2e-6
            assert x.grad.numpy()[k] == pytest.approx(slope, abs=1e-7)


# --- cross entropy


def entropy(x, label, axis=-1, weight=None, ignore_index=-100, reduction="mean"):
    logs = np.log(shares(x, axis))
    seen = label != ignore_index
    places = np.expand_dims(np.where(seen, label, 0), axis)
    weights = seen * (1.0 if weight is None else weight[np.where(seen, label, 0)])
    losses = -np.take_along_axis(logs, places, axis).squeeze(axis) * weights
    return {"none": losses, "sum": losses.sum(), "mean": losses.sum() / max(weights.sum(), 1e-300)}[reduction]


def classes(*shape, count=5, seed=3):
    found = np.random.default_rng(seed).integers(0, count, shape)
    found.flat[0] = -100
    return found


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("shape", "axis"), [((7, 5), -1), ((2, 5, 3), 1), ((5, 6), 0)])
def test_cross_entropy_of_classes(shape, axis, weighted, reduction):
    x = numbers(*shape)
    label = classes(*np.delete(shape, axis))
    weight = np.abs(numbers(5, seed=2)) if weighted else None
    given = T(x, stop_gradient=False)
    found = F.cross_entropy(given, T(label), None if weight is None else T(weight), reduction=reduction, axis=axis)
    assert np.allclose(found.numpy(), entropy(x, label, axis, weight, reduction=reduction), rtol=1e-12)
    found.sum().backward()
    for at in list(np.ndindex(*shape))[::4]:
        step = np.zeros(shape)
        step[at] = 1e-6
        ends = [np.sum(entropy(x + s, label, axis, weight, reduction=reduction)) for s in (step, -step)]
        assert given.grad.numpy()[at] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


def test_labels_with_an_axis_of_their_own():
    x, label = T(numbers(4, 5)), T(classes(4, 1))
    assert F.cross_entropy(x, label, reduction="none").shape == [4, 1]
    assert F.cross_entropy(x, label).item() == F.cross_entropy(x, d2s.squeeze(label, 1)).item()
    loss, share = F.softmax_with_cross_entropy(x, label, return_softmax=True)
    assert (loss.shape, share.shape) == ([4, 1], [4, 5])


def test_nothing_but_ignored_labels_is_0():
    x = T(numbers(2, 5), stop_gradient=False)
    loss = F.cross_entropy(x, T([-100, -100]))
    loss.backward()
    assert loss.item() == 0.0
    assert not x.grad.numpy().any()


def test_soft_labels_and_smoothing():
    x, label = numbers(4, 5), shares(numbers(4, 5, seed=1), 1)
    logs = np.log(shares(x, 1))
    assert F.cross_entropy(T(x), T(label), soft_label=True).item() == pytest.approx(-(label * logs).sum(1).mean())
    places = np.array([0, 3, 2, 4])
    smooth = np.eye(5)[places] * 0.9 + 0.1 / 5
    assert F.cross_entropy(T(x), T(places), label_smoothing=0.1).item() == pytest.approx(-(smooth * logs).sum(1).mean())
    weight = np.abs(numbers(5, seed=2))
    weights = label @ weight
    found = F.cross_entropy(T(x), T(label), T(weight), soft_label=True).item()
    assert found == pytest.approx((-(label * logs).sum(1) * weights).sum() / weights.sum())
    assert F.cross_entropy(T(shares(x, 1)), T(places), use_softmax=False).item() == pytest.approx(entropy(x, places))


@pytest.mark.parametrize("soft", [False, True])
def test_the_loss_of_a_probability_of_almost_0_is_a_number_and_so_is_its_gradient(soft):
    scores = T([[200.0, 0.0, 0.0]], stop_gradient=False)
    label = T([[0.0, 1.0, 0.0]]) if soft else T([[1]])
    loss = F.cross_entropy(F.softmax(scores), label, use_softmax=False, soft_label=soft)
    loss.backward()
    assert loss.item() == 64.0
    np.testing.assert_allclose(scores.grad.numpy(), [[1.0, -1.0, np.exp(-64.0)]], rtol=1e-6)


def test_the_loss_of_a_probability_of_0_is_1e20_and_its_gradient_none_that_could_be_walked():
    shares = T([[0.0, 1.0], [0.5, 0.5]], stop_gradient=False)
    losses = F.cross_entropy(shares, T([0, 0]), use_softmax=False, reduction="none")
    losses.sum().backward()
    np.testing.assert_allclose(losses.numpy(), [1e20, np.log(2.0)], rtol=1e-6)
    assert shares.grad.tolist() == [[-np.inf, 0.0], [-2.0, 0.0]]


def test_negative_log_likelihood():
    x, label = np.log(shares(numbers(3, 5, 2), 1)), classes(3, 2)
    weight = np.abs(numbers(5, seed=2))
    for reduction in ("none", "sum", "mean"):
        found = F.nll_loss(T(x), T(label), T(weight), reduction=reduction).numpy()
        assert np.allclose(found, entropy(x, label, 1, weight, reduction=reduction))


REFUSED = [
    (lambda x: F.cross_entropy(x, T([0, 5])), ArgumentError, "none of the 5 classes"),
    (lambda x: F.cross_entropy(x, T([0, -1])), ArgumentError, "none of the 5 classes"),
    (lambda x: F.cross_entropy(x, T([0.0, 1.0])), DTypeError, "label"),
    (lambda x: F.cross_entropy(x, T([0, 1, 2])), ShapeError, "label"),
    (lambda x: F.cross_entropy(x, T([0, 1]), reduction="avg"), ArgumentError, "reduction"),
    (lambda x: F.cross_entropy(x, T([0, 1]), axis=2), ArgumentError, "axis"),
    (lambda x: F.cross_entropy(x, T([0, 1]), label_smoothing=2.0), ArgumentError, "label_smoothing"),
    (lambda x: F.nll_loss(x, T([0, 9])), ArgumentError, "none of the 5 classes"),
    (lambda x: F.softmax(T([1, 2])), DTypeError, "int64"),
    (lambda x: F.softmax(x, axis=2), D2SError, "axis"),
]


@pytest.mark.parametrize("n", range(len(REFUSED)))
def test_what_does_not_fit_is_refused_by_name(n):
    call, error, words = REFUSED[n]
    with pytest.raises(error, match=words):
        call(T(numbers(2, 5)))


def test_a_label_out_of_range_is_refused_in_static_code_too():
    loss = d2s.to_static(lambda x, label: F.cross_entropy(x, label))
    x = T(numbers(2, 5))
    assert loss(x, T([0, 1])).item() == F.cross_entropy(x, T([0, 1])).item()
    with pytest.raises(ArgumentError, match="none of the 5 classes"):
        loss(x, T([0, 7]))


# --- other losses, by their formulas


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


A, B, LABEL = numbers(3, 4), numbers(3, 4, seed=1), (numbers(3, 4, seed=2) > 0).astype("float64")
SIGNS = np.array([1.0, -1.0, 1.0])
COSINE = (A * B).sum(1) / np.sqrt((A * A).sum(1) * (B * B).sum(1))
P = sigmoid(A)
BINARY = -(LABEL * np.log(P) + (1 - LABEL) * np.log(1 - P))
FORMULAS = {
    "mse_loss": (F.mse_loss, (A, B), ((A - B) ** 2).mean()),
    "l1_loss": (F.l1_loss, (A, B), np.abs(A - B).mean()),
    "square_error_cost": (F.square_error_cost, (A, B), (A - B) ** 2),
    "smooth_l1_loss": (
        lambda a, b: F.smooth_l1_loss(a, b, delta=0.5),
        (A, B),
        np.where(np.abs(A - B) < 0.5, (A - B) ** 2 / 2, 0.5 * np.abs(A - B) - 0.125).mean(),
    ),
    "kl_div": (lambda a, p: F.kl_div(a, p, "batchmean"), (A, P), (P * (np.log(P) - A)).sum() / 3),
    "kl_div of logarithms": (lambda a, b: F.kl_div(a, b, log_target=True), (A, B), (np.exp(B) * (B - A)).mean()),
    "log_loss": (F.log_loss, (P, LABEL), -LABEL * np.log(P + 1e-4) - (1 - LABEL) * np.log(1 - P + 1e-4)),
    "binary_cross_entropy": (F.binary_cross_entropy, (P, LABEL), BINARY.mean()),
    "binary_cross_entropy weighted": (F.binary_cross_entropy, (P, LABEL, B), (BINARY * B).mean()),
    "binary_cross_entropy_with_logits": (F.binary_cross_entropy_with_logits, (A, LABEL), BINARY.mean()),
    "positive weights": (
        lambda a, y, w: F.binary_cross_entropy_with_logits(a, y, pos_weight=w),
        (A, LABEL, np.array([1.0, 2.0, 3.0, 0.5])),
        -(LABEL * np.array([1.0, 2.0, 3.0, 0.5]) * np.log(P) + (1 - LABEL) * np.log(1 - P)).mean(),
    ),
    "sigmoid_focal_loss": (
        F.sigmoid_focal_loss,
        (A, LABEL),
        (BINARY * np.where(LABEL == 1, 1 - P, P) ** 2 * np.where(LABEL == 1, 0.25, 0.75)).sum(),
    ),
    "margin_ranking_loss": (
        lambda a, b, y: F.margin_ranking_loss(a, b, y, 0.1),
        (A, B, 2 * LABEL - 1),
        np.maximum(0, -(2 * LABEL - 1) * (A - B) + 0.1).mean(),
    ),
    "hinge_embedding_loss": (
        F.hinge_embedding_loss,
        (A, 2 * LABEL - 1),
        np.where(LABEL == 1, A, np.maximum(0, 1 - A)).mean(),
    ),
    "cosine_similarity": (F.cosine_similarity, (A, B), COSINE),
    "cosine_embedding_loss": (
        lambda a, b, y: F.cosine_embedding_loss(a, b, y, 0.2),
        (A, B, SIGNS),
        np.where(SIGNS == 1, 1 - COSINE, np.maximum(0, COSINE - 0.2)).mean(),
    ),
    "triplet_margin_loss": (
        F.triplet_margin_loss,
        (A, B, A[::-1]),
        np.maximum(0, np.linalg.norm(A - B + 1e-6, axis=1) - np.linalg.norm(A - A[::-1] + 1e-6, axis=1) + 1).mean(),
    ),
    "normalize": (F.normalize, (A,), A / np.linalg.norm(A, axis=1, keepdims=True)),
    "label_smooth": (lambda y: F.label_smooth(y, epsilon=0.2), (LABEL,), LABEL * 0.8 + 0.05),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_losses_by_their_formulas_and_in_static_code(name):
    function, arrays, wanted = FORMULAS[name]
    found = function(*(T(np.ascontiguousarray(a)) for a in arrays))
    assert np.allclose(found.numpy(), wanted, rtol=1e-9)
    run = d2s.to_static(lambda *given: function(*given))
    assert run(*(T(np.ascontiguousarray(a)) for a in arrays)).numpy().tobytes() == found.numpy().tobytes()


def test_dice_loss():
    x, label = shares(A, 1), np.array([[0], [3], [1]])
    marked = np.eye(4)[label[:, 0]]
    wanted = (1 - 2 * (x * marked).sum(1) / (x.sum(1) + marked.sum(1) + 1e-5)).mean()
    assert F.dice_loss(T(x), T(label)).item() == pytest.approx(wanted)


def test_binary_cross_entropy_of_certainties_is_finite():
    x = T([0.0, 1.0], stop_gradient=False)
    loss = F.binary_cross_entropy(x, T([1.0, 0.0]))
    assert loss.item() == pytest.approx(100.0)
    loss.backward()
    assert np.isfinite(x.grad.numpy()).all()


def test_layers_hold_the_settings_of_their_function():
    label = T(classes(4))
    layer = d2s.nn.CrossEntropyLoss(weight=T(np.abs(numbers(5))), reduction="sum")
    assert (
        layer(T(numbers(4, 5)), label).item()
        == F.cross_entropy(T(numbers(4, 5)), label, T(np.abs(numbers(5))), reduction="sum").item()
    )
    assert "reduction=sum" in repr(layer)
    assert d2s.nn.TripletMarginLoss(margin=0.0)(T(A), T(A), T(B)).item() == 0.0
    with pytest.raises(DTypeError, match="nope"):
        d2s.nn.MSELoss(nope=1)
