"""Decays of the learning rate: the rates of seven steps, as Paddle 1.8.5 had them, at once and declared."""

import numpy as np
import pytest

from d2s import compat
from d2s.compat import decays, declared_rates

RATES = {  # of fluid.dygraph, of fluid.layers where it is another, and its arguments
    "ExponentialDecay": ([0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025], (0.1, 3, 0.5, True)),
    "NaturalExpDecay": ([0.1, 0.084648, 0.071653, 0.060653, 0.051342, 0.04346, 0.036788], (0.1, 3, 0.5)),
    "InverseTimeDecay": ([0.1, 0.085714, 0.075, 0.066667, 0.06, 0.054545, 0.05], (0.1, 3, 0.5)),
    "PolynomialDecay": ([0.1, 0.060625, 0.0325, 0.015625, 0.01, 0.01, 0.01], (0.1, 4, 0.01, 2.0)),
    "CosineDecay": ([0.1, 0.1, 0.090451, 0.090451, 0.065451, 0.065451, 0.034549], (0.1, 2, 5)),
    "NoamDecay": ([0.015625, 0.03125, 0.046875, 0.0625, 0.055902, 0.051031, 0.047246], (64, 4)),
}
LAYERS = {"ExponentialDecay": "exponential_decay", "NaturalExpDecay": "natural_exp_decay", "CosineDecay": "cosine_decay"}
LAYERS |= {"InverseTimeDecay": "inverse_time_decay", "PolynomialDecay": "polynomial_decay", "NoamDecay": "noam_decay"}


def taken(schedule):
    found = []
    for _ in range(7):
        found.append(round(schedule(), 6))
        schedule.step()
    return found


def fetched(make):
    """The rates of seven runs, and what is computed of them."""
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        rate = make(fluid.layers)
        half = rate * 0.5
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(fluid.default_startup_program())
        found = [exe.run(fetch_list=[rate, half]) for _ in range(7)]
        assert all(r.shape == (1,) and np.allclose(h * 2.0, r) for r, h in found)
        return [round(r.item(), 6) for r, _ in found]


@pytest.mark.parametrize("name", list(RATES))
def test_rates(name):
    rates, arguments = RATES[name]
    assert taken(getattr(decays, name)(*arguments)) == rates
    assert taken(getattr(declared_rates, LAYERS[name])(*arguments)) == rates
    assert fetched(lambda layers: getattr(layers, LAYERS[name])(*arguments)) == rates


def test_rates_with_a_cycle_boundaries_a_beginning_and_a_step():
    assert taken(decays.PolynomialDecay(0.1, 4, 0.01, 1.0, True)) == [0.1, 0.0775, 0.055, 0.0325, 0.01, 0.04375, 0.0325]
    assert taken(decays.PiecewiseDecay([2, 4], [0.1, 0.05, 0.01], 0)) == [0.1, 0.1, 0.05, 0.05, 0.01, 0.01, 0.01]
    assert taken(decays.ExponentialDecay(0.1, 3, 0.5, begin=1, step=2))[:3] == [0.07937, 0.05, 0.031498]

    assert fetched(lambda layers: layers.polynomial_decay(0.1, 4, 0.01, 1.0, True))[4:] == [0.01, 0.04375, 0.0325]
    assert fetched(lambda layers: layers.piecewise_decay([2, 4], [0.1, 0.05, 0.01])) == [0.1, 0.1, 0.05, 0.05, 0.01, 0.01, 0.01]


def test_a_warmup_begins_at_once_or_with_nothing_and_goes_over_to_a_decay():
    inner = decays.ExponentialDecay(0.1, 3, 0.5)
    assert taken(decays.LinearLrWarmup(inner, 4, 0.0, 0.1)) == [0.025, 0.05, 0.075, 0.05, 0.039685, 0.031498, 0.025]
    wanted = [0.0, 0.025, 0.05, 0.075, 0.039685, 0.031498, 0.025]
    assert taken(declared_rates.linear_lr_warmup(inner, 4, 0.0, 0.1)) == wanted
    assert fetched(lambda fluid: fluid.linear_lr_warmup(fluid.exponential_decay(0.1, 3, 0.5), 4, 0.0, 0.1)) == wanted
    assert taken(declared_rates.linear_lr_warmup(0.1, 4, 0.0, 0.1)) == [0.0, 0.025, 0.05, 0.075, 0.1, 0.1, 0.1]
    assert fetched(lambda layers: layers.linear_lr_warmup(0.1, 4, 0.0, 0.1)) == [0.0, 0.025, 0.05, 0.075, 0.1, 0.1, 0.1]


def moved(make_rate, feeds=None):
    """How far three runs of SGD move a parameter whose gradient is 1, from 0 on; and the rates they were fetched with."""
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        x = fluid.data("x", [None, 1])
        w = fluid.layers.create_parameter([1], "float32", name="w", default_initializer=fluid.initializer.Constant(0.0))
        sgd = fluid.optimizer.SGD(make_rate(fluid))
        sgd.minimize(fluid.layers.mean(x * w))
        exe, scope = fluid.Executor(fluid.CPUPlace()), fluid.Scope()
        exe.run(fluid.default_startup_program(), scope=scope)
        found = []
        for n in range(3):
            feed = {"x": np.ones((1, 1), "float32")} | (feeds(n) if feeds else {})
            found.append(exe.run(feed=feed, fetch_list=["w", sgd._global_learning_rate()], scope=scope))
        return [-w.item() for w, _ in found], [rate.item() for _, rate in found]


def test_a_rate_is_what_a_run_makes_of_a_variable():
    def switched(fluid):
        rate = fluid.layers.create_global_var([1], 0.0, "float32", persistable=True, name="rate")
        step = fluid.layers.autoincreased_step_counter("steps", begin=0)
        with fluid.layers.Switch() as switch:
            with switch.case(step < 1):
                fluid.layers.assign(fluid.layers.fill_constant([1], "float32", 4.0), rate)
            with switch.case(step < 2):
                fluid.layers.fill_constant([1], "float32", 2.0, out=rate)
            with switch.default():
                fluid.layers.assign(np.array([1.0], "float32"), rate)
        return rate

    assert moved(switched) == ([4.0, 6.0, 7.0], [4.0, 2.0, 1.0])
    assert moved(lambda fluid: fluid.layers.piecewise_decay([1], [4.0, 2.0]) * 0.5) == ([2.0, 3.0, 4.0], [2.0, 1.0, 1.0])
    assert moved(lambda fluid: fluid.data("rate", [1]), lambda n: {"rate": np.array([n + 1], "float32")})[0] == [1.0, 3.0, 6.0]
    assert moved(lambda fluid: fluid.dygraph.PiecewiseDecay([1], [4.0, 2.0], 0)) == ([4.0, 6.0, 8.0], [4.0, 2.0, 2.0])
    assert moved(lambda fluid: 0.5) == ([0.5, 1.0, 1.5], [0.5] * 3)


def test_a_run_of_a_declared_program_is_a_step():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        x = fluid.data("x", [None, 1])
        w = fluid.layers.create_parameter([1], "float32", name="w", default_initializer=fluid.initializer.Constant(0.0))
        sgd = fluid.optimizer.SGD(fluid.layers.piecewise_decay([1, 2], [4.0, 2.0, 1.0]))
        loss = fluid.layers.mean(x * w)
        tested = fluid.default_main_program().clone(for_test=True)
        sgd.minimize(loss)
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(fluid.default_startup_program())
        feed = {"x": np.ones((1, 1), "float32")}
        found = []
        for _ in range(3):
            exe.run(tested, feed=feed, fetch_list=[loss])
            found.append(exe.run(feed=feed, fetch_list=["w"])[0].item())
        assert found == [-4.0, -6.0, -7.0] and sgd.current_step_lr() == 1.0


def test_epochs_are_over_when_the_user_says_so():
    assert [decays.StepDecay(0.5, 2).epoch(), decays.MultiStepDecay(0.5, [1], 0.5).epoch()] == [None, None]
    halving = decays.LambdaDecay(0.5, lambda n: 0.5**n)
    halving.epoch()
    assert halving() == 0.25
    plateau = decays.ReduceLROnPlateau(0.1, patience=1, cooldown=1, decay_rate=0.5)
    found = []
    for value in (1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8):
        plateau.step(value)
        found.append(round(plateau(), 6))
    assert found == [0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025]
