"""What is said where a function cannot be captured: the line, what of it, why, and the way out; and whose lines are seen."""

import ast
import io
import linecache
import logging
import os
import pathlib
import re
import sys
import traceback
import warnings

import pytest
import refused_functions

import d2s
from d2s import convert
from d2s.capture import encode, faults
from d2s.errors import CaptureError
from d2s.pages import PAGES

X, K = d2s.to_tensor([1.0, 2.0]), d2s.to_tensor(1)


def text_only(x):
    return x


text_only.__code__ = text_only.__code__.replace(co_filename="<nowhere>")


def again():
    static = d2s.to_static(refused_functions.powered)
    static(X, 2)
    with d2s.jit.fail_on_recompile():
        static(X, 3)


SAID = {
    "D2S1001": (
        lambda: d2s.to_static(refused_functions.keyed)(X, K),
        """\
[D2S1001] a dict indexed by an i64[] of run time: which item that is only a run will tell
  at refused_functions.py:8:16
    return x * table[k]
               ^^^^^^^^
  way out: int(...) or float(...) it, if a Python number is meant""",
    ),
    "D2S1002": (
        lambda: d2s.to_static(refused_functions.uneven)(-X),
        r"""\[D2S1002\] after this, a variable would be one of 19 kinds of values: .*
  at refused_functions.py:15
    while x.sum\(\) < 9:
    \^+
  way out: at most 18 may meet; give it one dtype and one shape""",
    ),
    "D2S1003": (
        lambda: d2s.to_static(refused_functions.forgetful)(X),
        """\
[D2S1003] 'forgetful' holds a class that does more than define: that would be done at capture only
  at refused_functions.py:23
    class Rate:
    ^^^^^^^^^^^
  way out: define the class outside""",
    ),
    "D2S1004": (
        lambda: d2s.to_static(refused_functions.opened)(X, io.StringIO()),
        """\
[D2S1004] `with` of a StringIO: it would be entered at capture only, and not at each call
  at refused_functions.py:30
    with file:
    ^^^^^^^^^^
  way out: put the `with` around the call of the function""",
    ),
    "D2S1005": (
        lambda: d2s.to_static(text_only)(X),
        """\
[D2S1005] the source text of 'text_only' is not available
  at <nowhere>:LINE
  way out: put the function in a file, or its text in linecache.cache""",
    ),
    "D2S1006": (
        again,
        """\
[D2S1006] 'powered' would be captured again: k: 2 → 3
  at refused_functions.py:34
    def powered(x, k):
    ^^^^^^^^^^^^^^^^^^
  way out: keep what changed as it is, or make it a tensor or a float""",
    ),
}


@pytest.mark.parametrize("code", SAID)
def test_what_is_said(code):
    run, expected = SAID[code]
    with pytest.raises(CaptureError) as caught:
        run()
    expected = expected.replace("LINE", str(text_only.__code__.co_firstlineno))
    said = str(caught.value).replace(str(pathlib.Path(refused_functions.__file__).parent) + "/", "")
    if sys.version_info < (3, 11):  # no columns there
        said, expected = (re.sub(r"(?m)( at .*?:\d+):\d+$|^ *\^+$", r"\1", text) for text in (said, expected))
    assert said == expected or re.fullmatch(expected, said), said
    assert len(said.splitlines()) <= 20


def test_every_code_of_refusal_has_its_words():
    assert set(SAID) == {code for code in PAGES if code.startswith("D2S1")}


def test_every_refusal_names_a_way_out():
    folders = [pathlib.Path(d2s.__file__).parent / name for name in ("capture", "convert")]
    trees = {path: ast.parse(path.read_text()) for folder in folders for path in folder.glob("*.py")}
    calls = [(path.name, node) for path, tree in trees.items() for node in ast.walk(tree) if isinstance(node, ast.Call)]
    refusals = [(name, node) for name, node in calls if isinstance(node.func, ast.Name) and node.func.id == "refuse"]
    assert len(refusals) > 50
    assert [f"{name}:{node.lineno}" for name, node in refusals if len(node.args) < 3] == []


def test_a_fault_of_the_machinery_is_no_exception_of_the_users(monkeypatch):
    def chooses(x):
        return x if x.sum() > 0 else None

    def faulty(*_):
        raise KeyError("k")

    monkeypatch.setattr(encode, "_opened", lambda *_: faulty())
    monkeypatch.setattr(faults, "_FILES", {*faults._FILES, __file__})
    with pytest.raises(CaptureError, match=r"D2S9001.*KeyError: 'k'") as caught:
        d2s.to_static(chooses)(X)
    assert caught.value.where.startswith(__file__)


@pytest.mark.parametrize(("text", "fault"), [("nothing_has_this_name", True), ("_raise()", False)], ids=["misspelt", "meant"])
def test_a_name_that_d2s_misspells_is_no_exception_of_the_users(text, fault, monkeypatch):
    def chooses(x):
        try:
            return x if x.sum() > 0 else -x
        except NameError:
            return x * 2

    given = {}
    source = f"def _raise():\n    raise NameError('x')\ndef if_exp(*_):\n    return {text}\n"
    exec(compile(source, os.path.join(os.path.dirname(d2s.__file__), "convert", "made_up.py"), "exec"), given)
    monkeypatch.setattr(convert, "if_exp", given["if_exp"])
    if fault:
        with pytest.raises(CaptureError, match=r"D2S9001.*NameError: name 'nothing_has_this_name'"):
            d2s.to_static(chooses)(X)
    else:
        assert d2s.to_static(chooses)(X).tolist() == (X * 2).tolist()


def test_in_parts():
    with pytest.raises(CaptureError) as caught:
        d2s.to_static(refused_functions.keyed)(X, K)
    parts = caught.value.diagnostic
    assert pathlib.Path(parts["file"]).name == "refused_functions.py" and parts["text"] == "return x * table[k]"
    assert parts["code"] == "D2S1001" and parts["line"] == 8 and parts["way_out"]
    assert parts["column"] == (16 if sys.version_info >= (3, 11) else 0)


def raises_deep_inside(x):
    total = x * 0
    for part in (x, x * 2):
        if part.sum() > 0:
            total = total + unbound(part)
    return total


def unbound(x):
    y = x * 2
    if y.max() < 0:
        return y
    raise KeyError("deep")


def user_lines(error):
    frames = traceback.extract_tb(error.__traceback__)
    return [linecache.getline(f.filename, f.lineno).strip() for f in frames if f.filename == __file__]


def fails(x, letters):
    if x.sum() > 0:
        raise KeyError("positive")
    return letters[int(x.sum())]


@pytest.mark.parametrize("x", [X, -X])
def test_what_a_run_raises_comes_from_the_function_and_line_that_eager_code_names(x):
    frames = []
    for run in (fails, d2s.to_static(fails)):
        with pytest.raises(LookupError) as caught:
            run(x, "ab")
        last = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.filename == __file__][-1]
        frames.append((last.name, last.lineno, last.line))
    assert frames[0] == frames[1]


def test_what_a_run_logs_and_warns_of_names_the_users_function_and_line(caplog):
    def logs(x):
        logging.getLogger("net").warning("loss %s", x.sum().item())
        try:
            if x.sum() > 0:
                raise ValueError("positive")
        except ValueError:
            logging.exception("caught")
            logging.getLogger("net").error("again", exc_info=True)
        warnings.warn("done", UserWarning, stacklevel=1)
        return x

    seen = []
    for run in (logs, d2s.to_static(logs)):
        for x in (X, -X, X):
            with pytest.warns(UserWarning) as warned:
                run(x)
            seen += [(w.filename, w.lineno) for w in warned]
        seen += [(r.funcName, r.lineno, r.getMessage(), r.exc_info and str(r.exc_info[1])) for r in caplog.records]
        seen += [user_lines(r.exc_info[1]) for r in caplog.records if r.exc_info]
        caplog.clear()
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]


def test_what_a_run_raises_has_no_context_of_the_capture():
    log = []

    def raises(x):
        if x.sum() > 0:
            log.append(1)
        else:
            log.extend([2, 3])
        raise KeyError("always")

    for run in (raises, d2s.to_static(raises)):
        with pytest.raises(KeyError) as caught:
            run(X)
        assert caught.value.__context__ is None
    assert log == [1, 1]


def test_a_traceback_shows_the_users_own_lines():
    def broken(x):
        y = x * 2
        if x.sum() > 0:
            y = y.no_such_name
        return y + missing  # noqa: F821

    for run in (broken, d2s.to_static(broken)):
        with pytest.raises(NameError) as caught:
            run(-X)
        assert user_lines(caught.value)[-1] == "return y + missing  # noqa: F821"


def test_a_tracer_sees_the_users_lines_while_a_function_is_captured():
    seen = set()

    def trace(frame, event, arg):
        if frame.f_code.co_filename == __file__ and event == "line":
            seen.add(linecache.getline(__file__, frame.f_lineno).strip())
        return trace

    before = sys.gettrace()
    static = d2s.to_static(raises_deep_inside)
    sys.settrace(trace)
    try:
        with pytest.raises(KeyError):
            static(X)
    finally:
        sys.settrace(before)
    wanted = ("total = x * 0", "if part.sum() > 0:", "total = total + unbound(part)", "y = x * 2", 'raise KeyError("deep")')
    assert not [line for line in wanted if line not in seen]


def stepped(x):
    y = x * 2
    if x.sum() > 0:
        breakpoint()
        y = y + 1
    return y


def test_a_breakpoint_stops_with_the_users_variables(monkeypatch):
    stopped = []

    def hook():
        frame = sys._getframe(1)
        while frame.f_code.co_filename != __file__ or frame.f_code.co_name == "hook":
            frame = frame.f_back
        stopped.append((frame.f_lineno, {"x", "y"} <= {*frame.f_locals, *frame.f_back.f_locals, *frame.f_code.co_freevars}))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    try:
        d2s.to_static(stepped)(X)
    except CaptureError as error:
        assert error.code == "D2S1004" and "breakpoint" in str(error)
    else:
        assert stopped and stopped[0][0] == stepped.__code__.co_firstlineno + 4


@pytest.mark.parametrize("does", [lambda it: it[0], lambda it: it + 1, lambda it: it.name, lambda it: it], ids=range(4))
def test_what_stands_for_a_value_is_called_by_what_it_is_to_the_user(does):
    def function(x, several):
        return does((iter(x) if x.sum() > 2 else reversed(x)) if several else iter(x))

    for several in (False, True):
        with pytest.raises(d2s.errors.CaptureError) as refusal:
            d2s.to_static(function)(d2s.to_tensor([1.0, 2.0]), several)
        assert not re.search("Onward|OneOf|Recipe|Walked", str(refusal.value))
