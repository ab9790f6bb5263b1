"""A weight that a call finds in a place, and puts another one there: what was computed of the old one has its history."""

import types

import pytest

import d2s

BOX = types.SimpleNamespace()
WEIGHTS = {}
ROWS = []
HELD = None


def leaf():
    return d2s.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)


def fresh(weight):
    weight = weight.detach()
    weight.stop_gradient = False
    return weight


def attribute(x):
    y = (BOX.w * x).sum()
    BOX.w = fresh(BOX.w - 0.1)
    return y


def item(x):
    y = (WEIGHTS["w"] * x).sum()
    WEIGHTS["w"] = fresh(WEIGHTS["w"] - 0.1)
    return y


def place_of_a_list(x):
    y = (ROWS[0] * x).sum()
    ROWS[0] = fresh(ROWS[0] - 0.1)
    return y


def global_name(x):
    global HELD
    y = (HELD * x).sum()
    HELD = fresh(HELD - 0.1)
    return y


def by_the_path(x):
    y = (BOX.w * x).sum()
    other = fresh(BOX.w - 0.1)
    if x.sum() > 0:
        BOX.w = other
    return y


def made_under_an_if(x):
    y = (BOX.w * x).sum()
    if x.sum() > 0:
        BOX.w = fresh(BOX.w - 0.1)
    return y


def descends(x):
    y = (BOX.w * x).sum()
    (g,) = d2s.grad((BOX.w * BOX.w).sum(), [BOX.w])
    BOX.w = fresh(BOX.w - 0.1 * g)
    return y


def descends_in_a_loop(x):
    for _ in range(3):
        y = ((BOX.w * x) ** 2).sum()
        (g,) = d2s.grad(y, [BOX.w], retain_graph=True)
        BOX.w = fresh(BOX.w - 0.01 * g)
    return y


def all_of_a_dict(x):
    y = sum((p * x).tanh().sum() for p in WEIGHTS.values())
    gradients = d2s.grad(y * 2, list(WEIGHTS.values()), retain_graph=True)
    for key, g in zip(list(WEIGHTS), gradients, strict=True):
        WEIGHTS[key] = fresh(WEIGHTS[key] - 0.1 * g)
    return y


def goes_back(x):
    y = (BOX.w * x).sum()
    y.backward()
    BOX.w = fresh(BOX.w - 0.1)
    return (BOX.w * x).sum()


def clears(x):
    BOX.w.clear_grad()
    y = (BOX.w * x).sum()
    BOX.w = fresh(BOX.w - 0.1)
    return y


def asks(x):
    wants = BOX.w.stop_gradient
    y = (BOX.w * x).sum()
    BOX.w = fresh(BOX.w - 0.1)
    return y * (3.0 if wants else 2.0)


def gradient_of_its_own(x):
    y = (BOX.w * x).sum()
    BOX.w.grad = x * 2
    BOX.w = fresh(BOX.w - 0.1)
    return y


def in_two_places(x):
    y = (BOX.w * x * BOX.v).sum()
    (g,) = d2s.grad(y, [BOX.w], retain_graph=True)
    BOX.w, BOX.v = fresh(BOX.w - 0.1 * g), fresh(BOX.v * 2)
    return y


FUNCTIONS = [attribute, item, place_of_a_list, global_name, by_the_path, made_under_an_if, descends, descends_in_a_loop]
FUNCTIONS += [all_of_a_dict, goes_back, clears, asks, gradient_of_its_own, in_two_places]


def run(function):
    """Of calls some of which find a tensor that wants no gradient, or one tensor in two places."""
    global HELD
    BOX.w, BOX.v, WEIGHTS["w"], WEIGHTS["v"], ROWS[:], HELD = leaf(), leaf(), leaf(), leaf(), [leaf()], leaf()
    found = []
    for k in range(6):
        if k == 3:
            BOX.w.stop_gradient = WEIGHTS["w"].stop_gradient = True
        if k == 4:
            BOX.v = BOX.w
        before = [BOX.w, BOX.v, WEIGHTS["w"], WEIGHTS["v"], ROWS[0], HELD]
        (before[0] * 3).sum().backward() if k == 2 else None
        try:
            y = function(d2s.to_tensor([1.0, 2.0, -1.0 - 3 * (k % 2)]))
        except d2s.errors.GradientError as error:
            found.append(error.message)
            BOX.w.stop_gradient = WEIGHTS["w"].stop_gradient = False
            continue
        found.append((y.item(), y.stop_gradient, y.is_leaf))
        (y + sum((w * w).sum() for w in before)).backward()
        found.append([(w.tolist(), w.stop_gradient, None if w.grad is None else w.grad.tolist()) for w in before])
    return found


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_old_weight_has_the_gradient(function):
    assert run(d2s.to_static(function)) == run(function)


def test_a_sweep_into_what_was_computed_outside_is_refused():
    """Its history goes on there."""

    @d2s.to_static
    def step(x):
        BOX.w = d2s.tanh(BOX.w * x)
        BOX.w.sum().backward()
        BOX.w = BOX.w.detach()

    BOX.w = leaf() * 2.0
    with pytest.raises(d2s.errors.CaptureError, match="computed outside of the captured function"):
        step(d2s.to_tensor([1.0, 2.0, 3.0]))
