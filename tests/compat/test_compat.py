"""`import paddle` as d2s: names, modules, what is missing, what differs by generation, the command."""

import operator
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pytest

import d2s
from d2s import compat
from d2s.compat import old_names, traced
from d2s.compat.__main__ import main
from d2s.compat.generation import of_script

OLD = ("1.x", "2.0-alpha", "2.2")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parent.parent.parent)}


def test_modules_are_found_by_every_kind_of_import():
    with compat.installed("2.x"):
        import paddle
        import paddle.nn.functional as F
        from paddle.nn import Linear
        from paddle.optimizer.lr import StepDecay
        from paddle.static import InputSpec

        assert (F.relu, Linear, InputSpec) == (d2s.nn.functional.relu, d2s.nn.Linear, d2s.static.InputSpec)
        assert (StepDecay, paddle.jit.to_static) == (d2s.optimizer.lr.StepDecay, d2s.jit.to_static)
        assert paddle.nn.functional is F
        assert {"nn", "to_tensor", "static"} <= set(dir(paddle))
    assert "paddle" not in sys.modules


def test_what_was_imported_before_comes_back(monkeypatch):
    real = object()
    monkeypatch.setitem(sys.modules, "paddle", real)
    with compat.installed("2.x"):
        assert sys.modules["paddle"] is not real if "paddle" in sys.modules else True
    assert sys.modules["paddle"] is real


def test_a_missing_name_is_refused_at_the_line_with_the_nearest(tmp_path):
    path = tmp_path / "script.py"
    path.write_text("import paddle\n\npaddle.nn.functional.sofmax(1)\n")
    with pytest.raises(
        d2s.errors.MissingName, match=r"paddle\.nn\.functional\.sofmax is not in d2s; nearest: paddle\.nn\.functional\.softmax"
    ) as e:
        main(["--api", "2.x", str(path)])
    assert e.value.where == f"{path}:3"
    assert isinstance(e.value, AttributeError)


@pytest.mark.parametrize("line", ["import paddle.nope", "from paddle import nope", "from paddle.nn import Linaer"])
def test_a_missing_import(line):
    with compat.installed("2.x"), pytest.raises(ImportError, match="is not in d2s; nearest") as e:
        exec(line)
    assert e.value.code == "D2S5001" and "test_compat.py" not in e.value.message


@pytest.mark.parametrize("name", ["capture", "codegen", "errors", "sys", "nn.conv_layers", "compat"])
def test_modules_that_only_d2s_has_are_not_paddle_s(name):
    with compat.installed("2.x"), pytest.raises(d2s.errors.MissingName, match="is not in d2s"):
        import paddle

        attribute(paddle, name)


def test_all_names_are_imported_at_once_and_from_the_parts_of_a_module():
    held = {}
    with compat.installed("1.x"):
        exec("from paddle.fluid.layers import *\nfrom paddle.fluid.dygraph.nn import *", held)
        import paddle.fluid as fluid

        assert held["fc"] is fluid.layers.fc is fluid.layers.nn.fc and held["Conv2D"] is fluid.dygraph.Conv2D
        with pytest.raises(d2s.errors.MissingName, match=r"nearest: paddle\.fluid\.layers\.tensor\.concat"):
            fluid.layers.tensor.concatt  # noqa: B018
    with compat.installed("2.x"):
        exec("from paddle.nn.functional import *", held)
    assert held["relu"] is d2s.nn.functional.relu


GENERATION_OF = {
    "import paddle\npaddle.imperative.guard()": "2.0-alpha",
    "from paddle.imperative import to_variable": "2.0-alpha",
    "import paddle.fluid as fluid\nfluid.layers.fc": "1.x",
    "from paddle.fluid.dygraph import Linear\nimport paddle\npaddle.batch(paddle.dataset.mnist.train(), 8)": "1.x",
    "import paddle, paddle.fluid as fluid\nx = paddle.to_tensor(1.0)": "2.2",
    "import paddle as pd, paddle.fluid as fluid\npd.nn.Linear(1, 1)": "2.2",
    "import paddle\npaddle.to_tensor('fluid')  # fluid": "2.x",
    "import torch\ntorch.fluid.imperative": "2.x",
    "print 'an old Python'\nimport paddle.fluid": "1.x",
}


@pytest.mark.parametrize("text", list(GENERATION_OF))
def test_the_generation_is_told_from_the_names_used(text):
    assert of_script(text) == GENERATION_OF[text]


def test_a_script_of_2_2_still_has_fluid():
    with compat.installed("2.2"):
        import paddle
        import paddle.fluid as fluid

        x = paddle.to_tensor([1.0, 2.0])
        assert x.stop_gradient and fluid.layers.reduce_sum(x).shape == [1] and paddle.nn.Linear is d2s.nn.Linear


KEYWORDS = {
    "a function": lambda fluid: fluid.layers.relu(d2s.ones([1]), inplace=True),
    "a layer": lambda fluid: fluid.dygraph.FC("fc", 1, activation="relu"),
    "a layer with and without a scope": lambda fluid: fluid.dygraph.Conv2D(1, 1, 1, kernel=3),
    "an optimizer": lambda fluid: fluid.optimizer.Adam(0.1, weight_decay=0.1, betas=1),
}


@pytest.mark.parametrize("name", list(KEYWORDS))
def test_a_keyword_there_is_not_is_refused_at_the_line(name):
    with compat.installed("1.x"), pytest.raises(d2s.errors.UnknownKeyword, match=r"\[D2S5002\] \S+\(\): d2s has no") as e:
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            KEYWORDS[name](fluid)
    assert e.value.where.startswith(__file__) and isinstance(e.value, TypeError)


def test_pillow_has_its_old_name_back_inside_of_scripts(tmp_path, monkeypatch):
    (tmp_path / "PIL").mkdir()
    (tmp_path / "PIL" / "__init__.py").write_text("")
    (tmp_path / "PIL" / "Image.py").write_text("LANCZOS = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "PIL"]:
        monkeypatch.delitem(sys.modules, name)
    with compat.installed("1.x"):
        from PIL import Image

        assert Image.ANTIALIAS == 1
    monkeypatch.delattr(Image, "ANTIALIAS")
    with compat.installed("1.x"):
        assert Image.ANTIALIAS == 1
    for name in ("PIL", "PIL.Image"):
        del sys.modules[name]


def test_an_unknown_generation():
    with pytest.raises(d2s.errors.ArgumentError, match=r"one of 1\.x, 2\.0-alpha, 2\.2, 2\.x"):
        compat.install("3.x")


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

        with attribute(paddle, {"1.x": "fluid.dygraph.guard", "2.0-alpha": "imperative.guard"}[api])():
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


# --- four engines, one training ----------------------------------------------------------------------------------------------

STEPS = 20


def _batches():
    rng = np.random.RandomState(3)
    return [(rng.rand(4, 1, 12, 12).astype("float32"), rng.randint(0, 3, (4, 1)).astype("int64")) for _ in range(STEPS)]


def _fluid_model(fluid):
    class Net(fluid.dygraph.Layer):
        def __init__(self, name_scope):
            super().__init__(name_scope)
            self.conv = fluid.dygraph.Conv2D(self.full_name(), num_filters=2, filter_size=3, act="relu", num_channels=1)
            self.pool = fluid.dygraph.Pool2D(self.full_name(), pool_size=2, pool_type="max", pool_stride=2)
            self.fc = fluid.dygraph.FC(self.full_name(), 3, act="softmax")

        def forward(self, x):
            return self.fc(self.pool(self.conv(x)))

    return Net("net")


def _fluid_dygraph(first):
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        with fluid.dygraph.guard():
            net, adam = _fluid_model(fluid), fluid.optimizer.AdamOptimizer(learning_rate=0.01)
            net(fluid.dygraph.to_variable(_batches()[0][0]))
            for p, value in zip(net.parameters(), first, strict=True):
                p.set_value(value)
            for x, y in _batches():
                cost = net(fluid.dygraph.to_variable(x))
                loss = fluid.layers.mean(fluid.layers.cross_entropy(cost, fluid.dygraph.to_variable(y)))
                loss.backward()
                adam.minimize(loss)
                net.clear_gradients()
            return [p.numpy() for p in net.parameters()]


def _fluid_executor(first):
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        main_, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main_, startup), fluid.unique_name.guard(), fluid.scope_guard(fluid.Scope()):
            img, label = fluid.layers.data("img", [1, 12, 12]), fluid.layers.data("label", [1], dtype="int64")
            net = _fluid_model(fluid)
            loss = fluid.layers.mean(fluid.layers.cross_entropy(net(img), label))
            fluid.optimizer.AdamOptimizer(learning_rate=0.01).minimize(loss)
            exe = fluid.Executor(fluid.CPUPlace())
            exe.run(startup)
            names = [p.name for p in net.parameters()]
            for name, value in zip(names, first, strict=True):
                fluid.global_scope().find_var(name).get_tensor().set(value, fluid.CPUPlace())
            for x, y in _batches():
                out = exe.run(main_, feed={"img": x, "label": y}, fetch_list=[loss.name, *names])
            assert out[0].shape == (1,)
            return out[1:]


def _second(first, captured):
    with compat.installed("2.x"):
        import paddle
        import paddle.nn.functional as F

        class Net(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.conv, self.pool = paddle.nn.Conv2D(1, 2, 3), paddle.nn.MaxPool2D(2, 2)
                self.fc = paddle.nn.Linear(50, 3)

            def forward(self, x):
                x = self.pool(F.relu(self.conv(x)))
                return F.softmax(self.fc(paddle.reshape(x, [x.shape[0], 50])))

        net = Net()
        for p, value in zip(net.parameters(), first, strict=True):
            p.set_value(value)
        forward = paddle.jit.to_static(net) if captured else net
        adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())
        for x, y in _batches():
            cost = forward(paddle.to_tensor(x))
            losses = F.cross_entropy(cost, paddle.to_tensor(y), use_softmax=False, reduction="none")
            paddle.mean(losses).backward()
            adam.step()
            adam.clear_grad()
        return [p.numpy() for p in net.parameters()]


def test_four_engines_agree_bit_for_bit_over_20_steps():
    rng = np.random.RandomState(0)
    first = [rng.uniform(-0.3, 0.3, s).astype("float32") for s in ((2, 1, 3, 3), (2,), (50, 3), (3,))]
    found = [_fluid_dygraph(first), _fluid_executor(first), _second(first, False), _second(first, True)]
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))
    assert not np.array_equal(found[0][0], first[0])


# --- the command -------------------------------------------------------------------------------------------------------------


def test_the_command_tells_the_generation_and_hands_arguments_on(tmp_path):
    path = tmp_path / "script.py"
    path.write_text("import sys\nimport paddle.fluid as fluid\nprint(sys.argv[1:], fluid.in_dygraph_mode(), __name__)\n")
    done = subprocess.run([sys.executable, "-m", "d2s.compat", str(path), "--lr", "1"], capture_output=True, text=True)
    assert done.stdout == "['--lr', '1'] False __main__\n", done.stderr


def test_the_command_runs_modules(tmp_path, monkeypatch, capsys):
    (tmp_path / "a_module.py").write_text("import paddle\npaddle.enable_imperative()\nprint(paddle.__version__)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["-m", "a_module"]) == 0
    assert capsys.readouterr().out == "2.0.0-alpha0\n"


def test_without_a_list_an_optimizer_learns_all_that_was_reached_whatever_layer_made_it():
    for api, kind, enter in (
        ("1.x", "fluid.dygraph.Linear", "fluid.dygraph.guard"),
        ("2.0-alpha", "nn.Linear", "imperative.guard"),
    ):
        with compat.installed(api):
            import paddle
            import paddle.optimizer as modern

            with attribute(paddle, enter)():
                layer = attribute(paddle, kind)(2, 1)
                before = layer.weight.numpy().copy()
                loss = layer(d2s.ones([3, 2])).mean()
                loss.backward()
                sgd = paddle.fluid.optimizer.SGD if api == "1.x" else modern.SGDOptimizer
                sgd(0.1).minimize(loss)
            assert not np.array_equal(before, layer.weight.numpy())


def attribute(found, path):
    for name in path.split("."):
        found = getattr(found, name)
    return found


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
    with compat.installed("2.x"), pytest.warns(UserWarning, match="runs on the CPU"):
        import paddle

        paddle.static.Executor(paddle.CUDAPlace(0))


def test_declared_and_computed_are_one_class_of_variables():
    with compat.installed("1.x"):
        import paddle.fluid as fluid

        assert isinstance(fluid.layers.data("x", [4]), fluid.Variable) and isinstance(d2s.ones([1]), fluid.framework.Variable)
        assert not isinstance(3, fluid.Variable)


def test_a_script_imports_what_stands_beside_it_and_a_variable_named_fluid_is_no_sign(tmp_path):
    (tmp_path / "net.py").write_text("value = 3\n")
    (tmp_path / "main.py").write_text(
        "import paddle\nfrom net import value\nfluid = paddle.ones([value])\nprint(float(fluid.sum()))\n"
    )
    package = tmp_path / "old"
    package.mkdir()
    (package / "__init__.py").write_text("import paddle.fluid\n")
    (package / "train.py").write_text("import paddle\nimport paddle.fluid as fluid\nprint(paddle.__version__)\n")
    for given, printed in ((["main.py"], "3.0"), (["-m", "old.train"], "1.5.1")):
        command = [sys.executable, "-m", "d2s.compat", *given]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=ENVIRONMENT)
        assert run.stdout.strip() == printed, run.stderr


def test_decorated_functions_run_as_python_where_the_translator_says_so(tmp_path, monkeypatch):
    with compat.installed("2.0-alpha"):
        import paddle
        from paddle.imperative import ProgramTranslator, declarative

        @declarative
        def doubled(x):
            return x * 2.0

        monkeypatch.setattr(traced.Declarative, "latest", None)
        with pytest.raises(d2s.errors.ArgumentError, match="no decorated function"):
            ProgramTranslator().save_inference_model(str(tmp_path))
        with paddle.imperative.guard():
            ProgramTranslator().enable(False)
            assert doubled(d2s.ones([1])).numpy() == 2.0 and not doubled.variants
            ProgramTranslator.get_instance().enable(True)
            assert doubled(d2s.ones([1])).numpy() == 2.0 and len(doubled.variants) == 1
            assert "doubled" in ProgramTranslator().get_code(doubled)
