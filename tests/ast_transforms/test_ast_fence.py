"""What cannot be converted is refused at the user's line, with a code and a way out; what is nested is not looked at."""

import inspect
import types

import ast_refused
import ast_stub_runtime as stub
import pytest

from d2s.errors import CaptureError

REFUSED = [
    fn
    for fn in vars(ast_refused).values()
    if isinstance(fn, types.FunctionType) and fn is not ast_refused.outer and fn.__module__ == ast_refused.__name__
]


@pytest.mark.parametrize("fn", REFUSED, ids=lambda fn: fn.__name__)
def test_refused(fn):
    lines, first = inspect.getsourcelines(fn)
    blamed = first + next(index for index, line in enumerate(lines) if line.rstrip().endswith("# here"))
    with pytest.raises(CaptureError) as caught:
        stub.convert(fn)
    assert caught.value.code == "D2S1003" and caught.value.hint
    assert caught.value.where == f"{ast_refused.__file__}:{blamed}"
    assert f"'{fn.__name__}'" in str(caught.value) and "# here" in str(caught.value)


def test_all_are_found():
    assert len(REFUSED) == inspect.getsource(ast_refused).count("# here") - 1  # less the docstring's


def test_nested_functions_are_not_looked_at():
    def f(x):
        def pairs():
            for y in x:
                yield y, y

        class_ = lambda: (yield)  # noqa: E731
        return dict(pairs()), callable(class_), vars(stub)["attribute"] is getattr

    assert stub.convert(f)([1]) == f([1])
