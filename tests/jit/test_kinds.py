"""The table of what a capture may look into: it hangs together, and captures do what it says."""

import collections

import pytest

import d2s
from d2s.capture import kinds
from d2s.capture.kinds import COMPARED, COMPUTING, CONSTANT, CONTENT, GIVEN, ITERATED, LEAVING
from d2s.errors import CaptureError

X = d2s.to_tensor([1.0, 2.0])
EXAMPLES = [None, True, 3, 2.5, 1j, "ab", b"ab", ..., NotImplemented, d2s.float32, range(3), slice(1), (1, 2)]
EXAMPLES += [frozenset({1}), [1, 2], {1: 2}, {1, 2}, collections.deque([1])]
of_each = pytest.mark.parametrize("value", EXAMPLES, ids=lambda value: type(value).__name__)


def test_every_word_is_known():
    assert {word for words in kinds._TABLE.values() for word in words.split()} == set(kinds.WORDS)


def test_what_never_changes_may_leave_and_be_given():
    assert set(CONSTANT) <= set(LEAVING) & set(GIVEN)
    assert set(COMPARED) <= set(LEAVING) | {range}
    assert not set(CONTENT) & {*CONSTANT, *COMPARED, *LEAVING}
    assert {list, dict, set, collections.deque}.isdisjoint(COMPUTING)


@of_each
def test_what_leaves_is_what_the_table_says(value):
    static, HELD[0] = d2s.to_static(lambda x: (x, HELD[0])), value
    assert static(X)[1] is value or type(value) in (float, frozenset)
    HELD[0] = 7
    assert static(X)[1] == 7 and len(static.variants) == 1 + (value != 7)


HELD = [None]


@of_each
def test_what_is_iterated_is_what_the_table_says(value):
    def listed(x):
        return [x * 2 for _ in value]

    if isinstance(value, ITERATED):
        assert len(d2s.to_static(listed)(X)) == len(value)
    elif hasattr(value, "__iter__"):
        with pytest.raises(CaptureError, match="what iterating it does is not known"):
            d2s.to_static(listed)(X)


@pytest.mark.parametrize("change", [lambda v: v.append(5), lambda v: v.__setitem__(0, 9)])
def test_content_is_looked_at(change):
    value = [1, 2]
    static = d2s.to_static(lambda x, v: x * len(v) + v[0])
    static(X, value)
    change(value)
    assert static(X, value).tolist() == [len(value) + value[0], 2.0 * len(value) + value[0]]


@of_each
def test_every_example_is_in_the_table(value):
    assert any(isinstance(value, kind) for kind in kinds._TABLE)
