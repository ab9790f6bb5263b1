"""What an op says of a tensor where it expects something else is what eager code says: class, code and text, the line once."""

import re

import pytest

import d2s
import d2s.nn.functional as F
from d2s.errors import CaptureError, D2SError

X = d2s.to_tensor([1.0, 2.0, 3.0])


def clips(x):
    return d2s.clip(x, x - 1, x + 1)


def joins(x):
    return d2s.concat([x, x], axis=x.sum())


def reshapes(x):
    return d2s.reshape(x, [x.sum(), 2])


def sums(x):
    return x.sum(axis=x.sum())


def softens(x):
    return F.softmax(x, axis=x)


def fills(x):
    return d2s.zeros([x.sum()])


def transposes(x):
    return d2s.transpose(x, x)


def repeats(x):
    return d2s.tile(x, [x, 2])


def ignores(x):
    return F.cross_entropy(x, x, ignore_index=x)


def indexes(x):
    return x[x]


def on_a_path(x):
    if x.sum() > 0:
        x = d2s.clip(x, x - 1, x + 1)
    return x


FUNCTIONS = [clips, joins, reshapes, sums, softens, fills, transposes, repeats, ignores, indexes, on_a_path]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_they_are_those_of_eager_code(function):
    with pytest.raises(D2SError) as eager:
        function(X)
    with pytest.raises(D2SError) as static:
        d2s.to_static(function)(X)
    assert (type(static.value), static.value.code) == (type(eager.value), eager.value.code)
    said, meant = (re.sub(r"Tensor\(.*?\)", "Tensor", e.value.message) for e in (static, eager))
    assert said == re.sub(r"Tensor.*\)", "Tensor", meant)
    assert str(static.value).count(__file__) <= 1


def test_a_number_of_the_run_where_a_known_one_is_expected_is_refused_at_one_line():
    def rounds(x):
        return d2s.clip(x, [int(x.sum()), 2], 5.0)

    with pytest.raises(CaptureError, match="a run's int") as refused:
        d2s.to_static(rounds)(X)
    assert str(refused.value).count(__file__) == 1
