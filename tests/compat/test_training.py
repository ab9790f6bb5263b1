"""Training as Paddle 1.8.5 did it: parameters of one name, optimizers; the numbers are 1.8.5's own."""

import operator

import numpy as np
import pytest

import d2s
from d2s import compat


def test_parameters_of_one_name_are_one_and_begin_as_the_first_says():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        def attr(value):
            return fluid.ParamAttr(name="shared", initializer=fluid.initializer.Constant(value))

        x = fluid.data("x", [1, 1])
        first = fluid.layers.fc(x, 1, param_attr=attr(1.0), bias_attr=False)
        second = fluid.layers.fc(x, 1, param_attr=attr(5.0), bias_attr=False)
        fluid.optimizer.Adagrad(1.0).minimize(fluid.layers.reduce_sum(first + second))
        assert [p.name for p in fluid.default_main_program().all_parameters()] == ["shared"]
        other = fluid.Program()
        with fluid.program_guard(other):
            z = fluid.layers.fc(fluid.data("z", [1, 1]), 1, param_attr=attr(7.0), bias_attr=False)
        exe = fluid.Executor()
        exe.run(fluid.default_startup_program())
        one = np.ones((1, 1), "float32")
        assert exe.run(other, feed={"z": one}, fetch_list=[z])[0].item() == 1.0
        assert [v.item() for v in exe.run(feed={"x": one}, fetch_list=[first, second])] == [1.0, 1.0]
        assert exe.run(other, feed={"z": one}, fetch_list=[z])[0].item() == pytest.approx(0.0, abs=1e-5)


STEPS = {  # a weight of 0.5 behind four steps with the gradients 2, 1, 0 and -1
    "Ftrl": ([0.39109, 0.34676, 0.34676, 0.38726], {"l1": 0.1, "l2": 0.1}),
    "DecayedAdagrad": ([0.05279, -0.15134, -0.15134, 0.04234], {}),
    "SGD": ([0.275, 0.16125, 0.15319, 0.24553], {"decay": 0.5}),
    "Momentum": ([0.0725, -0.30664, -0.52547, -0.49629], {"momentum": 0.9, "use_nesterov": True, "decay": 0.5}),
    "RMSPropOptimizer": ([0.16667, -0.29521, -0.71091, -0.93703], {"rho": 0.9, "momentum": 0.9, "centered": True}),
    "LambOptimizer": ([0.45, 0.405, 0.3645, 0.32805], {}),
    "Adadelta": ([0.30075, 0.1812, 0.1812, 0.3382], {"epsilon": 0.01, "rho": 0.5}),
    "LarsMomentum": ([0.475, 0.42875, 0.38284, 0.35925], {"momentum": 0.9, "lars_coeff": 0.5, "lars_weight_decay": 0.1}),
}


@pytest.mark.parametrize("name", list(STEPS))
def test_steps(name):
    wanted, given = STEPS[name]
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            start = fluid.ParamAttr(initializer=fluid.initializer.Constant(0.5))
            layer = fluid.dygraph.Linear(1, 1, param_attr=start, bias_attr=False)
            settings = {key: value for key, value in given.items() if key != "decay"}
            if "decay" in given:
                settings["regularization"] = fluid.regularizer.L2Decay(regularization_coeff=given["decay"])
            learns = getattr(fluid.optimizer, name)(0.1, parameter_list=layer.parameters(), **settings)
            found = []
            for gradient in (2.0, 1.0, 0.0, -1.0):
                loss = fluid.layers.mean(layer(fluid.dygraph.to_variable(np.full((1, 1), gradient, "float32"))))
                loss.backward()
                learns.minimize(loss)
                layer.clear_gradients()
                found.append(layer.weight.numpy().item())
    assert np.allclose(found, wanted, atol=6e-6)


def test_moments_of_lamb_are_as_they_are():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            start = fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(np.float32([[0.5], [-1.0]])))
            layer = fluid.dygraph.Linear(2, 1, param_attr=start, bias_attr=False)
            lamb = fluid.optimizer.Lamb(0.1, lamb_weight_decay=0.5, epsilon=0.1, parameter_list=layer.parameters())
            for gradient in ([2.0, 1.0], [0.0, 3.0]):
                loss = fluid.layers.mean(layer(fluid.dygraph.to_variable(np.float32([gradient]))))
                loss.backward()
                lamb.minimize(loss)
                layer.clear_gradients()
    np.testing.assert_allclose(layer.weight.numpy().ravel(), [0.31683, -1.10047], atol=1e-5)


def test_an_epsilon_that_is_given_is_added_as_it_is():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            start = fluid.ParamAttr(initializer=fluid.initializer.Constant(0.0))
            layer = fluid.dygraph.Linear(1, 1, param_attr=start, bias_attr=False)
            loss = fluid.layers.mean(layer(fluid.dygraph.to_variable(np.ones((1, 1), "float32"))))
            loss.backward()
            fluid.optimizer.Adam(0.1, epsilon=0.1, parameter_list=layer.parameters()).minimize(loss)
    correction = np.sqrt(1 - 0.999)
    assert layer.weight.numpy().item() == pytest.approx(-0.1 * correction / (correction + 0.1), rel=1e-5)


def test_an_optimizer_has_no_state_before_its_first_step_and_takes_it_back(tmp_path, capsys):
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            layer = fluid.dygraph.FC("fc", 1)
            adam = fluid.optimizer.Adam(0.1)
            assert adam.state_dict() == {}
            loss = fluid.layers.mean(layer(fluid.dygraph.to_variable(np.ones((1, 2), "float32"))))
            loss.backward()
            adam.minimize(loss)
            state = adam.state_dict()
            assert any("moment1" in name for name in state) and "global_step" not in state
            fluid.dygraph.save_persistables(layer.state_dict(), str(tmp_path / "d"))
            fluid.dygraph.load_persistables(str(tmp_path / "d"))
    assert capsys.readouterr().out.startswith("No optimizer loaded. If you didn't save optimizer, please ignore this.")


def test_a_decay_counts_steps_and_is_kept(tmp_path):
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            layer = fluid.dygraph.FC("fc", 1)
            adam = fluid.optimizer.Adam(fluid.dygraph.ExponentialDecay(0.1, 1, 0.5))
            assert list(adam.state_dict()) == ["global_step"]
            for _ in range(3):
                loss = fluid.layers.mean(layer(fluid.dygraph.to_variable(np.ones((1, 2), "float32"))))
                loss.backward()
                adam.minimize(loss)
                layer.clear_gradients()
            fluid.dygraph.save_persistables(layer.state_dict(), str(tmp_path / "d"), adam)
            models, states = fluid.dygraph.load_persistables(str(tmp_path / "d"))
            other = fluid.optimizer.Adam(fluid.dygraph.ExponentialDecay(0.1, 1, 0.5))
            other.load(states)
            assert other.get_lr() == adam.get_lr() == 0.1 * 0.5**3
            assert sorted(models) == sorted(p.name for p in layer.parameters())


def test_user_made_dicts_and_parameters_made_later_take_what_was_saved(tmp_path):
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        x = np.ones((1, 2), "float32")
        with fluid.dygraph.guard():
            first = fluid.dygraph.FC("fc", 1)
            wanted = first(fluid.dygraph.to_variable(x)).numpy()
            fluid.dygraph.save_persistables({p.name: p for p in first.parameters()}, str(tmp_path / "d"))
        with fluid.dygraph.guard():
            second = fluid.dygraph.FC("fc", 1)
            second.load_dict(fluid.dygraph.load_persistables({}, str(tmp_path / "d")))
            assert np.array_equal(second(fluid.dygraph.to_variable(x)).numpy(), wanted)


def test_without_a_list_an_optimizer_learns_all_that_was_reached_whatever_layer_made_it():
    for api, kind, enter in (
        ("1.x", "fluid.dygraph.Linear", "fluid.dygraph.guard"),
        ("2.0-alpha", "nn.Linear", "imperative.guard"),
    ):
        with compat.installed(api):
            import paddle
            import paddle.optimizer as modern

            with operator.attrgetter(enter)(paddle)():
                layer = operator.attrgetter(kind)(paddle)(2, 1)
                before = layer.weight.numpy().copy()
                loss = layer(d2s.ones([3, 2])).mean()
                loss.backward()
                sgd = paddle.fluid.optimizer.SGD if api == "1.x" else modern.SGDOptimizer
                sgd(0.1).minimize(loss)
            assert not np.array_equal(before, layer.weight.numpy())


def test_a_file_keeps_the_steps_from_where_they_begin():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            layer = fluid.dygraph.Linear(1, 1)
            adam = fluid.optimizer.Adam(fluid.dygraph.NoamDecay(10, 10), parameter_list=layer.parameters())
            loss = fluid.layers.mean(layer(fluid.dygraph.to_variable(np.ones((1, 1), "float32"))))
            loss.backward(fluid.dygraph.BackwardStrategy())
            adam.minimize(loss)
            other = fluid.optimizer.Adam(fluid.dygraph.NoamDecay(10, 10), parameter_list=layer.parameters())
            other.set_dict(adam.state_dict())
            assert adam.state_dict()["global_step"].numpy().tolist() == [2] and other.get_lr() == adam.get_lr()


def test_metrics_have_their_names_first_and_say_what_they_come_to():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        area = fluid.metrics.Auc("auc")
        area.update(preds=np.array([[0.3, 0.7], [0.6, 0.4]]), labels=np.array([[1], [0]]))
        found = fluid.metrics.Precision()
        found.update(np.array([0.8, 0.2, 0.9]), np.array([1, 0, 0]))
        assert (area.eval(), found.eval()) == (1.0, 0.5)


def test_a_step_that_finds_nothing_to_learn_says_so():
    with compat.installed("2.2"):
        import paddle.fluid as fluid

        loss = fluid.layers.mean(d2s.nn.Linear(1, 1)(d2s.ones([1, 1])))
        loss.backward()
        with pytest.raises(d2s.errors.ArgumentError, match="no parameter of a layer has a gradient"):
            fluid.optimizer.SGD(0.1).minimize(loss)


# --- averages and slow weights: runs of `w -= 0.1 * 2 * w` from 1 on, with the parameter behind each ----------------------


def _runs(build, count=4):
    """The parameter behind each run, and what stands in its place inside of `apply`."""
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        main_, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main_, startup), fluid.scope_guard(fluid.Scope()):
            w = fluid.layers.create_parameter([1], "float32", name="w", default_initializer=fluid.initializer.Constant(1.0))
            average = build(fluid, fluid.layers.reduce_sum(fluid.layers.square(w)))
            exe, found = fluid.Executor(), []
            exe.run(startup)
            for _ in range(count):
                exe.run(main_)
                found.append(_value(fluid))
                if average is not None:
                    with average.apply(exe):
                        found[-1] = _value(fluid)
            return found


def _value(fluid):
    return float(np.array(fluid.global_scope().find_var("w").get_tensor())[0])


def _averaged(*settings):
    def build(fluid, loss):
        fluid.optimizer.SGD(0.1).minimize(loss)
        return fluid.optimizer.ModelAverage(*settings)

    return build


@pytest.mark.parametrize(
    ("settings", "windows"),
    [((0.15, 2, 4), [[0], [0, 1], [0, 1, 2], [2, 3]]), ((0.15,), [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]])],
)
def test_means_of_the_latest_parameters(settings, windows):
    wanted = [np.mean([0.8 ** (n + 1) for n in window]) for window in windows]
    np.testing.assert_allclose(_runs(_averaged(*settings)), wanted, rtol=1e-5)


def test_parameters_go_back_part_of_the_way():
    def build(fluid, loss):
        fluid.optimizer.LookaheadOptimizer(fluid.optimizer.SGD(0.1), alpha=0.5, k=2).minimize(loss)

    second = 1 + 0.5 * (0.64 - 1)
    np.testing.assert_allclose(_runs(build), [0.8, second, 0.8 * second, second * second], rtol=1e-5)


def test_slow_weights_begin_where_the_startup_program_runs():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        w = fluid.layers.create_parameter([1], "float32", name="w", default_initializer=fluid.initializer.Constant(1.0))
        loss, found = fluid.layers.reduce_sum(w), []
        fluid.optimizer.LookaheadOptimizer(fluid.optimizer.SGD(0.5), alpha=0.5, k=2).minimize(loss)
        exe = fluid.Executor()
        for scope in (fluid.Scope(), fluid.Scope()):
            with fluid.scope_guard(scope):
                exe.run(fluid.default_startup_program())
                fluid.global_scope().find_var("w").get_tensor().set(np.full(1, 5, "float32"), fluid.CPUPlace())
                for _ in range(3):
                    exe.run(fluid.default_main_program())
                    found.append(_value(fluid))
    assert found == [4.5, 2.5, 2.0] * 2  # as Paddle 1.8.5 has it


def test_recomputation_changes_nothing():
    def build(fluid, loss):
        optimizer = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.SGD(0.1))
        optimizer._set_checkpoints([loss])
        optimizer.minimize(loss)

    np.testing.assert_allclose(_runs(build), [0.8, 0.64, 0.512, 0.4096], rtol=1e-5)


def test_a_counter_of_runs_slows_an_average():
    def build(fluid, loss):
        fluid.optimizer.SGD(0.1).minimize(loss)
        steps = fluid.layers.create_global_var([1], 0, "float32", persistable=True)
        fluid.layers.increment(steps, 1.0)
        average = fluid.optimizer.ExponentialMovingAverage(0.5, thres_steps=steps)
        average.update()
        return average

    first, second = 2 / 11, 3 / 12  # of the average, what stays
    moved = second * (1 - first) * 0.8 + (1 - second) * 0.64
    np.testing.assert_allclose(_runs(build, 2), [0.8, moved / (1 - second**2)], rtol=1e-5)
