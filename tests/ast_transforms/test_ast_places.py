"""A converted function stands where the original stood: closures, classes, defaults, lines, stages."""

# ruff: noqa: E731, RUF043

import functools
import linecache
import traceback

import ast_future_annotations
import ast_stub_runtime as stub
import gast
import pytest

from d2s.ast_transforms import convert_function
from d2s.ast_transforms.function import Function
from d2s.config import config
from d2s.errors import CaptureError

SCALE = 2
_ = "underscore"
Child = "global"


def lines_of(fn, *args):
    """(file, line, text) of each line of this file that a failing call goes through, the test's own left out."""
    try:
        fn(*args)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)[1:]
        return [(frame.filename, frame.line) for frame in frames if frame.filename == __file__]
    raise AssertionError("no exception")


def fails_in_arm(x):
    if x > 0:
        y = 1
        return y // 0
    while x < 0:
        x = x.no_such_attribute
    return -2 < x < {}[x]


@pytest.mark.parametrize("x, line", [(1, "return y // 0"), (-1, "x = x.no_such_attribute"), (0, "return -2 < x < {}[x]")])
def test_traceback_shows_the_users_line(x, line):
    assert lines_of(stub.convert(fails_in_arm), x)[-1] == (__file__, line)


def fails_in_test(x):
    y = 0
    # fmt: off
    if y == 0 and (
        x.missing
    ):
        y = 1
    # fmt: on
    return y


def test_traceback_shows_the_line_of_the_operand():
    assert lines_of(stub.convert(fails_in_test), 1)[-1] == (__file__, "x.missing")


def test_unbound_name_is_reported_at_its_load():
    def f(x):
        if x:
            y = 1
        # fmt: off
        return (
            y
        )
        # fmt: on

    assert lines_of(stub.convert(f), 0)[-1] == (__file__, "y")


def test_closures_are_the_same_cells():
    n = 1

    def f():
        return n + SCALE

    converted = stub.convert(f)
    n = 10
    assert converted() == 12
    assert converted.__globals__ is globals() and "_d2s" not in globals()


def test_recursion_through_a_closure_and_a_global():
    def fact(n):
        return 1 if n == 0 else n * fact(n - 1)

    assert stub.convert(fact)(5) == 120
    assert stub.convert(global_fact)(5) == 120


def global_fact(n):
    return 1 if n == 0 else n * global_fact(n - 1)


def test_defaults_are_kept_and_not_evaluated_again():
    made = []

    def f(a, b=made.append(1), /, *, c=made):  # noqa: B008
        """Text."""
        return a, b, c

    f.mark = 1
    converted = stub.convert(f)
    assert converted(0) == (0, None, [1]) and converted(0)[2] is made
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__kwdefaults__", "__defaults__", "__dict__"):
        assert getattr(converted, name) == getattr(f, name)
    assert converted.__code__.co_name == "f" and converted.__code__.co_filename == __file__


class Parent:
    def go(self, x):
        return ("parent", x)


class Child_(Parent):
    __k = 5

    def go(self, x):
        if x > 0:
            y = super().go(x)
        else:
            y = super().go(-x) if x else super().go(0)
        return y, self.__k, __class__.__name__

    def __private(self, __x=1):
        return (lambda: (self.__k, __x))(), Child, _, Child_.__name__

    def private(self):
        return self.__private


@pytest.mark.parametrize("x", (-1, 0, 1))
def test_super_and_private_names(x):
    assert stub.convert(Child_.go)(Child_(), x) == Child_().go(x)
    assert stub.convert(Child_._Child___private)(Child_()) == Child_().private()()


def test_a_class_inside_a_function():
    class Local(Parent):
        def go(self, x):
            return Local, super().go(x)

    assert stub.convert(Local.go)(Local(), 1) == (Local, ("parent", 1))


def test_lambdas_on_one_line():
    one, two, three = (lambda x: x + 1), (lambda x: x + 2 if x else SCALE), lambda x: (lambda y: x or y)(3)
    for fn in (one, two, three):
        converted = stub.convert(fn)
        assert [converted(x) for x in range(3)] == [fn(x) for x in range(3)]
        assert converted.__name__ == converted.__code__.co_name == "<lambda>"


def test_lambdas_over_lines():
    fns = [
        lambda x: [x],
        lambda x: not x,
    ]
    assert [stub.convert(fn)(3) for fn in fns] == [[3], False]


def doubled(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        return 2 * fn(*args)

    return wrapper


@doubled
@doubled
def decorated(x):
    return x if x > 0 else 0


def test_decorated_functions_convert_what_they_are_given():
    assert stub.convert(decorated)(3) == 12
    assert stub.convert(decorated.__wrapped__.__wrapped__)(3) == 3
    assert (
        convert_function(decorated.__wrapped__.__wrapped__, stub).firstlineno
        == decorated.__wrapped__.__wrapped__.__code__.co_firstlineno
    )


def test_future_annotations():
    assert stub.convert(ast_future_annotations.annotated)(3) == 3


def test_nested_functions_convert_in_their_turn():
    def outer(x):
        if x > 0:
            inner = lambda y: y if y > x else not x

            @functools.lru_cache
            def other(y):
                return inner(y) or x

        return inner, other

    for fn in stub.convert(outer)(2):
        fn = getattr(fn, "__wrapped__", fn)
        assert [stub.convert(fn)(y) for y in (1, 3)] == [fn(y) for y in (1, 3)]


def test_long_elif_chains():
    text = "def f(x):\n    if x == 0:\n        return 0\n" + "".join(
        f"    elif x == {n}:\n        return {n}\n" for n in range(1, 30)
    )
    fn = from_text(text)
    converted = stub.convert(fn)
    assert [converted(n) for n in range(31)] == [*range(30), None]


def test_too_deep_is_a_complaint():
    text = "def f(x):\n" + "".join(f"    if x == {n}:\n        return {n}\n" for n in range(600))
    with pytest.raises(CaptureError, match="D2S1003.*nested too deeply"):
        stub.convert(from_text(text))


def test_too_many_paths_stay_python():
    """Thirty times "may return, may go on" would be a thousand million copies."""
    text = "def f(x):\n    y = 0\n" + "".join(
        f"    if x > {n}:\n        if x == {n + 1}:\n            return y\n        y += {n}\n" for n in range(30)
    )
    fn = from_text(text + "    return y\n")
    converted = convert_function(fn, stub)
    assert [converted.function(n) for n in range(40)] == [fn(n) for n in range(40)]
    assert len(converted.text) < 10 * len(text)


def from_text(text, name="<written by a test>"):
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {}
    exec(compile(text, name, "exec"), names)
    return names["f"]


def test_text_not_available():
    names = {}
    exec("".join(["def ", "f(x): return x"]), names)
    with pytest.raises(CaptureError, match="D2S1005.*'f' is not available"):
        stub.convert(names["f"])


def test_text_that_changed():
    fn = from_text("def f(x):\n    return x\n", "<changing>")
    from_text("def f(y):\n    return y\n", "<changing>")
    with pytest.raises(CaptureError, match="D2S1005.*'f' differs"):
        stub.convert(fn)


def test_stages_are_reported_by_name(capsys):
    def staged(x):
        return not x

    with config(PRINT="source:staged,logical:staged"):
        stub.convert(staged)
    printed = capsys.readouterr().out
    assert printed.index("--- source:staged\ndef staged(x):\n    return not x") < printed.index("--- logical:staged")
    assert printed.endswith("return _d2s.not_(x)\n")


def test_text_falls_back_where_astor_reads_back_as_something_else():
    def f(x):
        return f"{x:{'>'}{5}}{{}}{x!r:\t>4}", 1e400, x if x else {*x}

    text = convert_function(f, stub).text
    names = {"_d2s": stub}
    exec(text, names)
    assert names["f"]("") == f("")


def test_fresh_names():
    function = Function(gast.parse("def ret(ret_): pass").body[0], "<text>")
    assert function.fresh("ret") == "ret__" and function.fresh("other") == "other"


def test_a_file_edited_since_its_import_is_refused(tmp_path, monkeypatch):
    import importlib.util
    import linecache

    path = tmp_path / "edited.py"
    path.write_text("def f(x):\n    return x + 1\n")
    spec = importlib.util.spec_from_file_location("edited", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    convert_function(module.f, None)
    path.write_text("def f(x):\n    return x - 1\n")
    linecache.checkcache(str(path))
    with pytest.raises(CaptureError, match="D2S1005.*differs from the code that runs"):
        convert_function(module.f, None)


def test_a_file_edited_under_a_test_runner_is_refused():
    """Whose own way with asserts concerns the functions that have some."""
    fn = from_text("def f(x):\n    return x + 1\n", "<rewritten>")
    fn.__globals__["@pytest_ar"] = None
    from_text("def f(x):\n    return x - 1\n", "<rewritten>")
    with pytest.raises(CaptureError, match="D2S1005.*'f' differs"):
        stub.convert(fn)


def test_a_set_of_constants_has_no_order():
    """The order in which it shows them is that of the process that compiled the file."""
    fn = from_text("def f(x):\n    return x in {8, 0, 16}\n")
    (shown,) = (c for c in fn.__code__.co_consts if isinstance(c, frozenset))
    other = frozenset(reversed(list(shown)))
    assert repr(shown) != repr(other)
    constants = tuple(other if c is shown else c for c in fn.__code__.co_consts)
    fn.__code__ = fn.__code__.replace(co_consts=constants)
    assert stub.convert(fn)(16)
