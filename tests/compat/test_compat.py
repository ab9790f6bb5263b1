"""`import paddle` as d2s: names, modules, what is missing, how the generation is told, the command."""

import operator
import os
import pathlib
import subprocess
import sys

import pytest

import d2s
from d2s import compat
from d2s.compat import traced
from d2s.compat.__main__ import main
from d2s.compat.generation import of_script

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


def test_devices_are_asked_for_in_either_place():
    with compat.installed("2.x"):
        import paddle

        assert paddle.device.get_device() == paddle.get_device() == "cpu" and not paddle.device.is_compiled_with_cuda()


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


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no columns there")
def test_of_a_long_line_what_is_meant_is_shown(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(f"import paddle\nx = [{'1, ' * 400}]; 损失 = paddle.nope(x)\n")
    with pytest.raises(d2s.errors.MissingName) as e:
        main(["--api", "2.x", str(path)])
    _, _, line, carets = str(e.value).splitlines()
    assert line.startswith("    ..., 1, 1") and line.endswith("1, ]; 损失 = paddle.nope(x)") and len(line) < 140
    assert carets == " " * (line.index("paddle") + 2) + "^" * len("paddle.nope")


@pytest.mark.parametrize("line", ["import paddle.nope", "from paddle import nope", "from paddle.nn import Linaer"])
def test_a_missing_import(line):
    with compat.installed("2.x"), pytest.raises(ImportError, match="is not in d2s; nearest") as e:
        exec(line)
    assert e.value.code == "D2S5001" and "test_compat.py" not in e.value.message


@pytest.mark.parametrize("name", ["capture", "codegen", "errors", "sys", "nn.conv_layers", "compat"])
def test_modules_that_only_d2s_has_are_not_paddle_s(name):
    with compat.installed("2.x"), pytest.raises(d2s.errors.MissingName, match="is not in d2s"):
        import paddle

        operator.attrgetter(name)(paddle)


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


# --- the command -------------------------------------------------------------------------------------------------------------


def test_the_command_tells_the_generation_and_hands_arguments_on(tmp_path):
    path = tmp_path / "script.py"
    path.write_text("import sys\nimport paddle.fluid as fluid\nprint(sys.argv[1:], fluid.in_dygraph_mode(), __name__)\n")
    done = subprocess.run([sys.executable, "-m", "d2s.compat", str(path), "--lr", "1"], capture_output=True, text=True)
    assert done.stdout == "['--lr', '1'] False __main__\n", done.stderr


def test_the_command_says_that_there_is_no_script(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["nowhere.py"])
    assert "there is no nowhere.py" in capsys.readouterr().err


def test_the_command_runs_modules(tmp_path, monkeypatch, capsys):
    (tmp_path / "a_module.py").write_text("import paddle\npaddle.enable_imperative()\nprint(paddle.__version__)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["-m", "a_module"]) == 0
    assert capsys.readouterr().out == "2.0.0-alpha0\n"


def test_a_script_imports_what_stands_beside_it_and_a_variable_named_fluid_is_no_sign(tmp_path):
    (tmp_path / "net.py").write_text("value = 3\n")
    (tmp_path / "main.py").write_text(
        "import paddle\nfrom net import value\nfluid = paddle.ones([value])\nprint(float(fluid.sum()))\n"
    )
    package = tmp_path / "old"
    package.mkdir()
    (package / "__init__.py").write_text("import paddle.fluid\n")
    (package / "train.py").write_text("import paddle\nimport paddle.fluid as fluid\nprint(paddle.__version__)\n")
    run = tmp_path / "run"
    run.mkdir()
    (run / "__init__.py").write_text("")
    (run / "__main__.py").write_text("import paddle\nimport paddle.fluid as fluid\nprint(paddle.__version__)\n")
    for given, printed in ((["main.py"], "3.0"), (["-m", "old.train"], "1.5.1"), (["-m", "run"], "1.5.1")):
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
