"""What the first version cannot hold is refused with a coded error at the user's line; what it runs is equal to eager code."""

import collections
import copy
import pathlib
import re

import numpy as np
import pytest
import refusals
from programs_compare import Refused, outcome

import d2s
from d2s.errors import CaptureError

HERE = str(pathlib.Path(refusals.__file__))

IDS = [make().__name__ if make.__name__ == "<lambda>" else make.__name__ for make, _, _ in refusals.CASES]


def run(make, argument_sets, state, static):
    """All calls in turn on one function: outcomes and the state after each; a refusal ends the list."""
    function = make()
    seen = []
    if static:
        function = d2s.to_static(function)
    for args in (*argument_sets, *argument_sets, *argument_sets[::-1]):
        try:
            got = outcome(function, args)
        except Refused as stop:
            return seen, stop
        seen.append((got, state()))
    return seen, None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", refusals.CASES, ids=IDS)
def test_right_or_refused(row):
    make, argument_sets, state = row
    expected, stop = run(make, argument_sets, state, static=False)
    assert stop is None
    got, refusal = run(make, argument_sets, state, static=True)
    for n, (a, b) in enumerate(zip(expected, got, strict=False)):
        difference = a[0].difference(b[0])
        assert not difference, f"call {n}: eager != static: {difference}"
        assert a[1] == b[1], f"call {n}: state {a[1]!r} eagerly, {b[1]!r} static"
    if refusal:
        text = str(refusal)
        assert re.match(r"\[D2S\d{4}\] ", text)
        assert f"at {HERE}:" in text, f"not at the user's line: {text}"
    else:
        assert len(got) == len(expected)


@pytest.mark.parametrize("call", [lambda n, best: np.maximum(n, best, out=best), lambda n, best: np.put(best, [0], n[:1])])
def test_a_capture_that_is_refused_has_written_nothing(call):
    best = np.zeros(2, "float32")

    def writes(x):
        call(x.numpy(), best)
        return d2s.to_tensor(best)

    with pytest.raises(CaptureError, match="D2S1003"):
        d2s.to_static(writes)(d2s.ones([2]))
    assert best.tolist() == [0.0, 0.0]


def test_what_no_capture_has_called_becomes_a_tensor_in_an_array_that_is_known():
    def asks(x):
        return d2s.to_tensor(np.vectorize(lambda v: v + 1)(x.numpy()))

    with pytest.raises(CaptureError, match=r"D2S1004.*only a run will tell(.|\n)*test_refusals(.|\n)*found = np.empty"):
        d2s.to_static(asks)(d2s.ones([2]))


@pytest.mark.parametrize(
    "outside", [np.ones(2, "float32"), collections.Counter(a=1), collections.deque([1]), bytearray(b"a")], ids=repr
)
def test_what_is_outside_is_not_changed_by_a_capture_that_refuses_that(outside):
    before = copy.copy(outside)

    def changes(x):
        held = outside
        held += before
        return x * 2

    with pytest.raises(CaptureError, match="a change in place of a"):
        d2s.to_static(changes)(d2s.ones([2]))
    assert repr(outside) == repr(before)


READS = {
    "an item": lambda best: float(best[0]),
    "a sum": lambda best: (best + 1.0)[0],
    "an order": lambda best: (best > 0)[0],
    "the negative": lambda best: (-best)[0],
    "a comparison": lambda best: (best == 0)[0],
}


@pytest.mark.parametrize("name", READS)
def test_an_array_from_outside_is_not_read_behind_what_may_have_changed_it(name):
    best = np.zeros(2, "float32")

    def reads(x):
        np.copyto(best, x.numpy())
        return x * (2.0 if READS[name](best) else 3.0)

    with pytest.raises(CaptureError, match="is read behind what is given it"):
        d2s.to_static(reads)(d2s.ones([2]))
    assert best.tolist() == [0.0, 0.0]


def test_an_array_from_outside_is_not_read_in_a_loop_that_changes_it():
    best = np.zeros(2, "float32")

    def reads(x):
        while x.sum() < 10:
            x = x + float(best[0])
            np.add(best, 1.0 + x.numpy(), out=best)
        return x

    with pytest.raises(CaptureError, match="in front of what is given it, in a loop"):
        d2s.to_static(reads)(d2s.ones([2]))
    assert best.tolist() == [0.0, 0.0]


def test_an_array_from_outside_is_read_in_front_of_what_changes_it_and_a_copy_behind():
    best = np.zeros(2, "float32")

    def reads(x):
        before = float(best[0])
        np.copyto(best, x.numpy())
        return x * before + float(np.copy(best)[0])

    static = d2s.to_static(reads)
    assert [static(d2s.to_tensor([k, 1.0])).tolist() for k in (2.0, 3.0, 4.0)] == [[2.0, 2.0], [9.0, 5.0], [16.0, 7.0]]
