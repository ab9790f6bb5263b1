"""Paddle's switches: what is specified, what runs as plain Python, what is printed."""

import importlib
import sys
import warnings

import pytest

import d2s
from d2s import convert
from d2s.capture import users_code
from d2s.errors import ArgumentError, CaptureError, DTypeError
from d2s.static import InputSpec

X = d2s.to_tensor([1.0, 2.0])


@pytest.fixture(autouse=True)
def switches_as_before():
    with d2s.config():
        yield


def test_nested_specs_name_extents_wherever_they_stand():
    spec = [{"b": [InputSpec([None, 2])], "a": InputSpec([None, 2])}, InputSpec([None]), InputSpec([None])]
    static = d2s.to_static(lambda given, *rest: given["a"] + given["b"][0] * rest[1].sum() + rest[0].sum(), input_spec=spec)
    for n in (2, 3, 5):
        matrix, vector = d2s.ones([n, 2]), d2s.ones([n + 1])
        static({"a": matrix, "b": [matrix * 2]}, vector, vector * 2)
    assert len(static.variants) == 1
    assert [str(v.type) for v in static.main_program.inputs] == ["f32[n0,2]", "f32[n1,2]", "f32[n2]", "f32[n3]"]
    with pytest.raises(ArgumentError, match=r"'given_0' expects float32 of shape \[None, 2\]"):
        static({"a": d2s.ones([3]), "b": [matrix]}, vector, vector)


def test_nested_specs_of_a_file(tmp_path):
    def forward(given):
        return given["a"] + given["b"]

    d2s.jit.save(d2s.to_static(forward), str(tmp_path / "net"), [{"a": InputSpec([None]), "b": InputSpec([None])}])
    assert d2s.jit.load(str(tmp_path / "net"))(X, X).tolist() == [2.0, 4.0]


def positive(x):
    if x.sum() > 0:
        return x * 2
    return x


def test_switched_off_it_is_plain_python():
    static = d2s.to_static(positive)
    d2s.jit.enable_to_static(False)
    assert static(X).tolist() == [2.0, 4.0] and not static.variants
    d2s.jit.ProgramTranslator().enable(True)
    assert static(X).tolist() == [2.0, 4.0] and len(static.variants) == 1
    assert d2s.jit.ProgramTranslator() is d2s.jit.ProgramTranslator.get_instance()


def test_the_rewritten_text_is_printed_at_the_level_asked_for(capsys):
    d2s.jit.set_code_level(100)
    d2s.to_static(lambda x: x if x.sum() > 0 else x * 2)(X)
    assert "_d2s.if_exp" in capsys.readouterr().out
    d2s.jit.set_code_level(1)
    d2s.to_static(lambda x: x if x.sum() > 0 else x * 2)(X)
    printed = capsys.readouterr().out
    assert "--- fence" in printed and "_d2s." not in printed
    d2s.jit.set_code_level(0)
    d2s.jit.set_verbosity(1)
    d2s.to_static(lambda x: x if x.sum() > 0 else x * 2)(X)
    assert capsys.readouterr().out.startswith("--- recompiles")
    d2s.jit.set_verbosity(0)
    d2s.to_static(lambda x: x if x.sum() > 0 else x * 2)(X)
    assert capsys.readouterr().out == ""


def classed(x):
    class Rate:
        twice = float(2)

    return x * Rate.twice


def test_without_full_graph_one_warning_carries_the_diagnostic():
    static = d2s.to_static(classed, full_graph=False)
    with pytest.warns(
        UserWarning, match=r"(?s)'classed' runs as plain Python.*D2S1003.*class that does.*test_switches.py"
    ) as warned:
        assert static(X).tolist() == [2.0, 4.0]
    assert [w.filename for w in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert static(X).tolist() == [2.0, 4.0]
    with pytest.raises(CaptureError):
        d2s.to_static(classed)(X)


def test_to_static_takes_what_paddle_takes():
    strategy = d2s.static.BuildStrategy()
    strategy.memory_optimize = True
    for made in (
        d2s.to_static(lambda x: x + 1, None, strategy, "CINN"),
        d2s.to_static(build_strategy=strategy, backend=None, full_graph=True)(lambda x: x + 1),
    ):
        assert made(d2s.to_tensor([1.0])).tolist() == [2.0]
    with pytest.raises(DTypeError, match=r"'build_strategy' expects a BuildStrategy, got bool"):
        d2s.to_static(lambda x: x, None, True)
    with pytest.raises(ArgumentError, match=r"'backend' is 'TVM', expected one of 'CINN'"):
        d2s.to_static(lambda x: x, backend="TVM")


def test_names_of_paddle():
    static = d2s.to_static(positive)
    assert "_d2s.if_else" in static.code and static.dygraph_function is positive and static.rollback() is positive
    assert static.program(X).name == "positive"
    net = d2s.to_static(d2s.nn.Linear(2, 2))
    net.forward.rollback()
    assert "forward" not in net.__dict__
    translator = d2s.jit.ProgramTranslator()
    assert translator.get_program(positive, X).name == "positive" and "_d2s" in translator.get_code(positive)


def test_what_is_not_static_runs_as_it_is():
    @d2s.jit.not_to_static
    def plain(x):
        return x * 3 if type(x) is not d2s.Tensor else x  # a tensor's stand-in, to who is not rewritten

    static = d2s.to_static(lambda x: plain(x) + 1)
    assert static(X).tolist() == [4.0, 7.0]
    assert d2s.to_static(plain) is plain

    @d2s.jit.not_to_static
    def decides(x):
        return x if x.sum() > 0 else -x

    with pytest.raises(CaptureError, match="D2S1001"):
        d2s.to_static(lambda x: decides(x))(X)


def _installed(tmp_path, monkeypatch, text):
    """A package where packages are installed."""
    folder = tmp_path / "site-packages" / "d2s_tested_package"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.setattr(users_code, "_LIBRARIES", (*users_code._LIBRARIES, str(folder.parent)))
    module = importlib.import_module("d2s_tested_package")
    del sys.modules["d2s_tested_package"]
    return module


def test_a_refusal_inside_an_installed_package_names_the_users_line(tmp_path, monkeypatch):
    package = _installed(tmp_path, monkeypatch, "import gc\ndef crowd(x):\n    y = x\n    return y * len(gc.get_objects())\n")

    def calls(x):
        return package.crowd(x) + 1

    with pytest.raises(CaptureError, match=r"D2S1004.*get_objects") as caught:
        d2s.to_static(calls)(X)
    assert caught.value.where == f"{__file__}:{calls.__code__.co_firstlineno + 1}"


def test_functions_of_ignored_modules_run_as_they_are(tmp_path, monkeypatch):
    package = _installed(
        tmp_path, monkeypatch, "def kind(x):\n    return x if type(x).__module__ == 'd2s.eager.tensor' else x * 3\n"
    )
    static = d2s.to_static(lambda x: package.kind(x) + 1)
    assert static(X).tolist() == (X + 1).tolist()
    d2s.jit.ignore_module([package])
    try:
        assert d2s.to_static(lambda x: package.kind(x) + 1)(X).tolist() == (X * 3 + 1).tolist()
    finally:
        convert.IGNORED.discard(package.__name__)
