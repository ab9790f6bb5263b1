"""Captures of what grows by each attempt to hold it: they end soon, with a graph or an error."""

import types

import pytest

import d2s
from d2s.errors import CaptureError


class Link:
    def __init__(self, value=0.0, up=None):
        self.value, self.up = value, up


def depth(link):
    return 0 if link is None else 1 + depth(link.up)


def linked_in_loops_in_loops(has, x):
    for _ in x:
        for value in x:
            has.link = Link(value, has.link)
    return x * 1.0


def linked_behind_an_if(has, x):
    if x.sum() > 0:
        for _ in x:
            for value in x:
                has.link = Link(value, has.link)
    return x * 1.0


def copied_and_added_to_on_a_path(has, x):
    try:
        has.items = has.items[:]
        if x.sum() < 0:
            has.none[99]
    except IndexError:
        has.items.append(2.0)
    return x * 1.0


@pytest.mark.parametrize(
    "function", [linked_in_loops_in_loops, linked_behind_an_if, copied_and_added_to_on_a_path], ids=lambda f: f.__name__
)
def test_what_is_made_anew_by_each_attempt(function, in_time):
    told = []
    for jit in (lambda f: f, d2s.to_static):
        has, found = types.SimpleNamespace(link=None, items=[1.0], none=[]), []
        call = jit(lambda x, has=has: function(has, x))
        for values in ([0.5, 1.0], [-2.0, 0.25], [3.0, 1.0]):
            found.append((call(d2s.to_tensor(values)).tolist(), list(has.items), depth(has.link)))
        told.append(found)
    assert told[0] == told[1]


def test_a_chain_that_a_run_makes_longer_is_refused(in_time):
    @d2s.to_static
    def chained(x):
        link = None
        while x.sum() > 0:
            link = Link(x, link)
            x = x - 1
        return x if link is None else link.value

    with pytest.raises(CaptureError, match="another kind after every trip"):
        chained(d2s.to_tensor([0.5, 2.0]))
