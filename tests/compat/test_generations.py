"""What differs by generation, difference by difference; each is what a script of then counts on."""

import numpy as np
import pytest

import d2s
from d2s import compat

PROBABILITIES = np.array([[0.25, 0.75], [0.5, 0.5]], "float32")
LABELS = np.array([[1], [0]])


def test_what_is_made_of_an_array_wants_gradients_in_1x_only():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            assert not fluid.dygraph.to_variable(np.ones(1, "float32")).stop_gradient
            assert fluid.dygraph.to_variable(np.ones(1, "int64")).stop_gradient
    with compat.installed("2.0-alpha"):
        import paddle

        with paddle.imperative.guard():
            assert paddle.imperative.to_variable(np.ones(1, "float32")).stop_gradient
    with compat.installed("2.2"):
        import paddle

        assert paddle.to_tensor([1.0]).stop_gradient


def test_code_declares_until_it_is_told_to_compute():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        assert not fluid.in_dygraph_mode()
        with fluid.dygraph.guard():
            assert fluid.in_dygraph_mode() and fluid.dygraph.enabled()
        assert not fluid.in_dygraph_mode()
        fluid.enable_dygraph()
        assert fluid.in_dygraph_mode()
    with compat.installed("2.0-alpha"):
        import paddle

        assert not paddle.in_imperative_mode()
        paddle.enable_imperative()
        assert paddle.in_imperative_mode()
        paddle.disable_imperative()
        assert not paddle.in_imperative_mode()
    for api in ("2.2", "2.x"):
        with compat.installed(api):
            import paddle

            assert paddle.in_dynamic_mode()


def test_cross_entropy_takes_probabilities_until_2_0_and_scores_since():
    wanted = -np.log([[0.75], [0.5]])
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            given = map(fluid.dygraph.to_variable, (PROBABILITIES, LABELS))
            np.testing.assert_allclose(fluid.layers.cross_entropy(*given).numpy(), wanted, rtol=1e-6)
    with compat.installed("2.0-alpha"):
        import paddle

        with paddle.imperative.guard():
            given = map(paddle.imperative.to_variable, (PROBABILITIES, LABELS))
            np.testing.assert_allclose(paddle.nn.functional.cross_entropy(*given).numpy(), wanted, rtol=1e-6)
    with compat.installed("2.x"):
        import paddle

        found = paddle.nn.functional.cross_entropy(*map(paddle.to_tensor, (np.log(PROBABILITIES), LABELS)))
        assert found.shape == [] and found.item() == pytest.approx(wanted.mean(), rel=1e-6)


def test_arguments_have_the_names_of_then():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            p, label = map(fluid.dygraph.to_variable, (PROBABILITIES, LABELS))
            assert fluid.layers.concat(input=[p, p], axis=0).shape == [4, 2]
            assert fluid.layers.accuracy(input=p, label=label).numpy().tolist() == [1.0]
    with compat.installed("2.0-alpha"):
        import paddle

        with paddle.imperative.guard():
            p, label = map(paddle.imperative.to_variable, (PROBABILITIES, LABELS))
            assert paddle.concat(input=[p, p]).shape == paddle.concat(x=[p, p]).shape == [4, 2]
            assert paddle.metric.accuracy(input=p, label=label).numpy().tolist() == [1.0]
            assert paddle.sum(input=p, dim=1, keep_dim=True).shape == paddle.sum(p, axis=1, keepdim=True).shape == [2, 1]
            assert paddle.unsqueeze(p, axes=[0]).shape == [1, 2, 2] and len(paddle.split(p, 2, dim=1)) == 2
            assert paddle.nn.functional.dropout(p, dropout_prob=0.0).shape == [2, 2]
            rows = paddle.imperative.to_variable(np.array([1, 2]))
            assert paddle.nn.Embedding(size=[5, 3])(rows).shape == [2, 3]
            images = paddle.ones([1, 2, 3, 3], "float32")
            assert paddle.nn.Conv2DTranspose(num_channels=2, num_filters=1, filter_size=2)(images).shape == [1, 1, 4, 4]


def test_declared_data_has_a_batch_in_front_in_layers_and_not_in_static():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        assert fluid.layers.data("a", [3]).shape == [-1, 3]
        assert fluid.layers.data("b", [3], append_batch_size=False).shape == [3]
        assert fluid.layers.data("c", [-1, 3]).shape == [-1, 3]
        assert fluid.data("d", [3]).shape == [3]
    with compat.installed("2.0-alpha"):
        import paddle

        assert paddle.static.data("e", [3]).shape == [3]


def test_a_declared_variable_grows_in_place_and_a_run_without_a_program_is_of_the_default_one():
    with compat.installed("2.0-alpha"):
        import paddle

        x = paddle.static.data("x", [2])
        y = x
        y += 10
        exe = paddle.Executor()
        exe.run(paddle.default_startup_program())
        found = exe.run(feed={"x": np.ones(2, "float32")}, fetch_list=[y])
        assert found[0].tolist() == [11.0, 11.0]


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


def test_a_value_that_no_gradient_passes_has_zeros_in_alpha_and_what_lies_behind_it_none():
    with compat.installed("2.0-alpha"):
        import paddle

        with paddle.imperative.guard():
            first, second = paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 2)
            x = paddle.imperative.to_variable(np.ones((1, 2), "float32"))
            out = first(x).detach()
            seen = second(out)
            paddle.mean(seen).backward()
            assert out.gradient().tolist() == [[0.0, 0.0]]
            assert first.weight.gradient() is None and second.weight.gradient() is not None
            assert seen.gradient().tolist() == [[0.5, 0.5]]
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            x = fluid.dygraph.to_variable(np.ones(1, "float32"))
            x.stop_gradient = True
            assert x.gradient() is None


def test_layers_evaluated_in_alpha_record_a_graph():
    with compat.installed("2.0-alpha"):
        import paddle

        with paddle.imperative.guard():
            layer = paddle.nn.Conv2D(num_channels=1, num_filters=1, filter_size=1)
            layer.eval()
            assert not layer(paddle.ones([1, 1, 1, 1], "float32")).stop_gradient and d2s.is_grad_enabled()
