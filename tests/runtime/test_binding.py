"""Arrays into registers: natively and in Python alike, and what does not fit is refused by name."""

import numpy as np
import pytest

from d2s.errors import ShapeError
from d2s.ir.text import parse
from d2s.runtime import binding
from d2s.runtime.call import Call

TEXT = """program f(x: f32[n,4], y: f32[n], z: f32[3,m]) -> (f32[n,4], f32[3,m]) {
  %0: f32[n,4] = exp(x) %1: f32[3,m] = tanh(z) return %0, %1 }"""


def zeros(*shapes):
    return [np.zeros(s, "float32") for s in shapes]


@pytest.fixture(params=["native", "python"])
def run(request, monkeypatch):
    assert binding.native() is not None
    if request.param == "python":
        monkeypatch.setattr(binding, "native", lambda: None)
    return Call(parse(TEXT))


def test_extents_are_those_of_each_call(run):
    for n, m in ((2, 5), (7, 1), (0, 3), (2, 5)):
        x, z = run(zeros((n, 4), (n,), (3, m)))
        assert (x.shape, z.shape) == ((n, 4), (3, m)) and (x == 1).all() and (z == 0).all()


@pytest.mark.parametrize(
    ("shapes", "name"), [(((2, 5), (2,), (3, 1)), "x"), (((2, 4), (3,), (3, 1)), "y"), (((2, 4), (2,), (4, 1)), "z")]
)
def test_what_does_not_fit_is_refused(run, shapes, name):
    with pytest.raises(ShapeError, match=f"'{name}' of 'f'"):
        run(zeros(*shapes))
    assert run(zeros((2, 4), (2,), (3, 1)))[0].shape == (2, 4)


def test_a_reader_that_reads_wrong_is_not_used():
    assert not binding._reads_right(lambda frame, table, arrays: 0)
