"""What differs by generation, difference by difference; each is what a script of then counts on."""

import operator
import warnings

import numpy as np
import pytest

import d2s
from d2s import compat
from d2s.compat import old_names

OLD = ("1.x", "2.0-alpha", "2.2")
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


@pytest.mark.parametrize(("api", "make"), [("1.x", "fluid.dygraph.to_variable"), ("2.0-alpha", "imperative.to_variable")])
def test_an_array_is_no_tensor_where_code_declares(api, make):
    with compat.installed(api):
        import paddle

        with pytest.raises(d2s.errors.CaptureError, match="code declares a program here"):
            operator.attrgetter(make)(paddle)(np.ones(1))


def test_tensors_have_names_of_their_own_and_gradients_that_are_tensors():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            x = fluid.dygraph.to_variable(np.ones(2, "float32"))
            loss = fluid.layers.mean(x * 2.0)
            assert (loss.name, x.name, loss.name) == ("tmp_0", "generated_var_0", "tmp_0")
            assert loss._grad_ivar() is None
            loss.backward()
            assert x._grad_ivar().numpy().tolist() == [1.0, 1.0] and loss._grad_ivar().numpy() == 1.0
            x.value().get_tensor().set(np.zeros(2, "float32"), fluid.CPUPlace())
            assert x.numpy().tolist() == [0.0, 0.0]
            assert fluid.dygraph.to_variable(x) is x
    with compat.installed("2.x"):
        import paddle

        assert paddle.to_tensor([1.0]).name.startswith("generated_tensor_")


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

        assert fluid.layers.data("a", [3]).shape == (-1, 3)
        assert fluid.layers.data("b", [3], append_batch_size=False).shape == (3,)
        assert fluid.layers.data("c", [-1, 3]).shape == (-1, 3)
        assert fluid.data("d", [3]).shape == (3,)
    with compat.installed("2.0-alpha"):
        import paddle

        assert paddle.static.data("e", [3]).shape == (3,)


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


def test_alpha_has_fluid_too():
    with compat.installed("2.0-alpha"):
        import paddle
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            assert fluid.layers.mean(paddle.imperative.to_variable(np.ones(2, "float32"))).shape == [1]


def test_layers_evaluated_in_alpha_record_a_graph():
    with compat.installed("2.0-alpha"):
        import paddle

        with paddle.imperative.guard():
            layer = paddle.nn.Conv2D(num_channels=1, num_filters=1, filter_size=1)
            layer.eval()
            assert not layer(paddle.ones([1, 1, 1, 1], "float32")).stop_gradient and d2s.is_grad_enabled()


# --- values, gradients, optimizers -------------------------------------------------------------------------------------------


def test_one_number_has_the_shape_1_in_old_generations():
    with compat.installed("2.2"):
        import paddle

        x = paddle.to_tensor([1.0, 3.0])
        found = [paddle.mean(x), x.mean(), paddle.nn.MSELoss()(x, x), paddle.nn.functional.mse_loss(x, x), x.sum().numpy()]
        assert [list(v.shape) for v in found] == [[1]] * 5
        shown = x.sum().numpy()
        assert (float(shown), f"{shown:.7}", f"{shown}") == (4.0, "[4.]", "[4.]")
        assert x.sum(axis=0, keepdim=True).shape == [1]
        assert isinstance(paddle.nn.MSELoss(), d2s.nn.MSELoss)
        rows = paddle.to_tensor([[1.5], [2.5]]).numpy()
        assert operator.mod("%.2f %d", (rows[0], rows[1])) == "1.50 2" and float(rows[0] + rows[1]) == 4.0
        assert type(rows.sum()) is np.float32 and repr(rows[0]) == "array([1.5], dtype=float32)" and int(rows[1]) == 2
        with pytest.raises(TypeError):
            float(rows)
    with compat.installed("2.x"):
        import paddle

        assert paddle.mean(paddle.to_tensor([1.0])).shape == []


def test_methods_are_as_they_were_behind_it():
    before = [(d2s.Tensor.sum, d2s.Tensor.numpy, d2s.Tensor.gradient, d2s.Tensor.__add__)]
    for api in OLD:
        with compat.installed(api):
            assert d2s.Tensor.sum is not before[0][0]
    assert before == [(d2s.Tensor.sum, d2s.Tensor.numpy, d2s.Tensor.gradient, d2s.Tensor.__add__)]
    assert d2s.in_dynamic_mode()


def test_static_functions_in_old_generations():
    with compat.installed("2.2"):
        import paddle

        @paddle.jit.to_static
        def f(x):
            return x * 2.0 if paddle.mean(x) > 0 else x.sum()

        assert f(paddle.to_tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
        assert f(paddle.to_tensor([-1.0, -2.0])).shape == [1]


ON_THE_WAY = {
    "an operator": lambda paddle, x: x * 3.0,
    "minus": lambda paddle, x: -x,
    "an index": lambda paddle, x: x[0],
    "a method": lambda paddle, x: x.astype("float64"),
    "a layer": lambda paddle, x: d2s.nn.Linear(2, 2)(x),
    "one of several": lambda paddle, x: d2s.split(x, 2, 1)[1],
    "a function of d2s": lambda paddle, x: d2s.tanh(x),
}


@pytest.mark.parametrize("api", ["1.x", "2.0-alpha"])
def test_all_values_on_the_way_keep_their_gradients(api):
    with compat.installed(api):
        import paddle

        with operator.attrgetter({"1.x": "fluid.dygraph.guard", "2.0-alpha": "imperative.guard"}[api])(paddle)():
            x = d2s.to_tensor(np.ones((2, 2), "float32"), stop_gradient=False)
            for name, function in ON_THE_WAY.items():
                y = function(paddle, x)
                loss = (y * 2.0).sum()
                assert y.gradient() is None, name
                loss.backward()
                assert (y.gradient() == 2.0).all() and y.gradient().shape == tuple(y.shape), name
                assert loss.gradient() == 1.0, name
                y.clear_gradient()
                assert (y.gradient() == 0.0).all(), name
    y = x * 2.0
    y.sum().backward()
    assert y.gradient() is None


INTEGERS = {  # as Paddle 1.8.5 computed them from [7, -7] and [2, 2]
    "/": (lambda a, b: a / b, [3, -3]),
    "/ 2.0": (lambda a, b: a / 2.0, [3, -3]),
    "7 /": (lambda a, b: 7 / b, [3, 3]),
    "//": (lambda a, b: a // b, [3, -3]),
    "%": (lambda a, b: a % 4, [3, -3]),
}


@pytest.mark.parametrize("name", list(INTEGERS))
def test_integers_are_divided_as_c_does_in_1x_at_once_and_declared(name):
    function, wanted = INTEGERS[name]
    given = {"a": np.array([7, -7]), "b": np.array([2, 2])}
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        a, b = fluid.data("a", [2], "int64"), fluid.data("b", [2], "int64")
        found = fluid.Executor().run(feed=given, fetch_list=[function(a, b)])[0]
        assert found.dtype == np.int64 and found.tolist() == wanted
        with fluid.dygraph.guard():
            found = function(*map(fluid.dygraph.to_variable, given.values()))
            assert found.numpy().dtype == np.int64 and found.numpy().tolist() == wanted
            with pytest.raises(d2s.errors.ArgumentError, match="no integer"):
                fluid.dygraph.to_variable(given["a"]) / 1.5
    assert (d2s.to_tensor([7]) / 2).tolist() == [3.5]


def test_what_is_declared_takes_the_dtype_of_the_left_side_in_1x():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        x, a = fluid.data("x", [1]), fluid.data("a", [1], "int64")
        feed = {"x": np.array([1.5], "float32"), "a": np.array([2])}
        found = fluid.Executor().run(feed=feed, fetch_list=[x + a, a * x])
        assert [(one.dtype.name, one.item()) for one in found] == [("float32", 3.5), ("int64", 2)]


def test_evaluation_records_no_graph_in_1x():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            layer = fluid.dygraph.FC("fc", 1)
            x = fluid.dygraph.to_variable(np.ones((1, 2), "float32"))
            assert not layer(x).stop_gradient
            layer.eval()
            assert layer(x).stop_gradient
            layer.train()
            assert not layer(x).stop_gradient
            layer.eval()
        assert d2s.is_grad_enabled()


def test_variables_of_alpha_stop_gradients():
    with compat.installed("2.0-alpha"):
        import paddle

        assert not d2s.in_dynamic_mode()
        with paddle.imperative.guard():
            x = paddle.imperative.to_variable(np.ones(2, "float32"))
            assert x.stop_gradient
            assert x.gradient().tolist() == [0.0, 0.0]


def test_a_gpu_is_the_cpu_and_that_is_said_once():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        fluid.CUDAPlace.told = False
        with pytest.warns(UserWarning, match="runs on the CPU"):
            fluid.CUDAPlace(0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert fluid.Executor(fluid.CUDAPlace(0)).run(fluid.default_startup_program()) == []
        assert fluid.core.is_compiled_with_cuda() is False


def test_evaluation_of_any_fluid_layer_records_no_graph():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            layer = fluid.dygraph.Sequential(fluid.dygraph.Linear(2, 1))
            layer.eval()
            assert layer(d2s.ones([1, 2])).stop_gradient
            layer.train()
            assert not layer(d2s.ones([1, 2])).stop_gradient


def test_methods_and_indices_give_no_shape_of_no_axes_in_old_generations():
    with compat.installed("2.2"):
        import paddle

        v, m = paddle.to_tensor([1.0, 2.0]), paddle.ones([2, 2])
        found = [v.norm(), v.argmax(), m.trace(), v.dist(v), v @ v, v.matmul(v), v.inner(v), v[0], m[0, 0], v.unbind()[0]]
        assert all(one.shape == [1] for one in (*found, *v)) and m[0].shape == [2] and v[0].numpy()[0] == 1.0
        assert repr(v[0].numpy()) == "array([1.], dtype=float32)" and (v[0].numpy() * np.ones(2)).shape == (2,)
    assert d2s.to_tensor([1.0])[0].shape == []


def test_a_gpu_is_the_cpu_in_every_generation(monkeypatch):
    monkeypatch.setattr(old_names.CUDAPlace, "told", False)
    with compat.installed("2.x"), pytest.warns(UserWarning, match="runs on the CPU") as told:
        import paddle

        paddle.static.Executor(paddle.CUDAPlace(0))
    assert told[0].filename == __file__


def test_declared_and_computed_are_one_class_of_variables():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        assert isinstance(fluid.layers.data("x", [4]), fluid.Variable) and isinstance(d2s.ones([1]), fluid.framework.Variable)
        assert not isinstance(3, fluid.Variable)


@pytest.mark.parametrize(("api", "words"), [("1.x", "VarType.FP32"), ("2.0-alpha", "VarType.FP32"), ("2.x", "paddle.float32")])
def test_dtypes_are_printed_as_then(api, words):
    with compat.installed(api):
        assert repr(d2s.ones([1]).dtype) == words
    assert repr(d2s.ones([1]).dtype) == "d2s.float32"


@pytest.mark.parametrize(("api", "home"), [("1.x", "fluid"), ("2.0-alpha", "imperative")])
def test_states_that_are_read_again_are_arrays(api, home, tmp_path):
    with compat.installed(api):
        import paddle

        paddle.fluid.enable_dygraph()
        parts = {"fluid": ("save_dygraph", "load_dygraph"), "imperative": ("save", "load")}[home]
        save, load = (getattr(getattr(paddle, home), name) for name in parts)
        layer = paddle.fluid.dygraph.Linear(2, 1)
        loss = paddle.fluid.layers.reduce_sum(layer(paddle.fluid.layers.ones([1, 2], "float32")))
        loss.backward()
        adam = paddle.fluid.optimizer.Adam(0.1, parameter_list=layer.parameters())
        adam.minimize(loss)
        save(layer.state_dict(), str(tmp_path / "one"))
        assert load(str(tmp_path / "one"))[1] is None
        save(adam.state_dict(), str(tmp_path / "one"))
        parameters, state = load(str(tmp_path / "one"))
        assert all(isinstance(held, np.ndarray) for held in (*parameters.values(), *state.values()))
        layer.set_dict({name: value + 1 for name, value in parameters.items()})
        assert layer.weight.numpy().tolist() == (parameters["weight"] + 1).tolist()
        (tmp_path / "one.pdparams").unlink()
        assert load(str(tmp_path / "one"))[0] is None
        with pytest.raises(d2s.errors.FileError, match=r"none\.pdparams"):
            load(str(tmp_path / "none"))
