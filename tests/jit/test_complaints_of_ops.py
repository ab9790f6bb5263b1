"""What an op says of a tensor where it expects something else is what eager code says: class, code and text, the line once."""

import re

import pytest

import d2s
import d2s.nn.functional as F
from d2s.errors import ArgumentError, CaptureError, D2SError

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


def takes_half_steps(x):
    return x[x > 1][::0.5]


def takes_true_rows(x):
    return x[: int(x[0]) : True]


def goes_in_texts(x):
    return x[int(x[0]) :: "a"]


def begins_at_half(x):
    return x[0.5 : int(x[1])]


def stores_from_half_on(x):
    y, n = d2s.stack([x, x, x]).reshape([1, 3, 3]) * 1.0, int(x[0])
    y[:n, 0.5:, :n] = 0.0
    return y


FUNCTIONS = [clips, joins, reshapes, sums, softens, fills, transposes, repeats, ignores, indexes, on_a_path]
FUNCTIONS += [takes_half_steps, takes_true_rows, goes_in_texts, begins_at_half, stores_from_half_on]


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

    with pytest.raises(CaptureError, match="an int that only a run computes") as refused:
        d2s.to_static(rounds)(X)
    assert str(refused.value).count(__file__) == 1


def test_whether_groups_divide_channels_that_a_run_finds_is_refused():
    def normalises(x):
        return F.group_norm(x.reshape([1, 3])[:, : int(x.sum())], 1)

    assert normalises(X).shape == [1, 3]
    with pytest.raises(CaptureError, match="whether 'num_groups' 1 divides m0 channels is known at run time only"):
        d2s.to_static(normalises)(X)


OPTIONS = {
    "leaky_relu(): 'negative_slope' expects a number, got a float": lambda x: F.leaky_relu(x, x.sum().item()),
    "norm(): 'p' expects a number, got a float": lambda x: x.norm(p=float(x.sum())),
    "linspace(): 'stop' expects a number, got a float": lambda x: d2s.linspace(0.0, x.sum(), 3),
    "sum(): axis an int": lambda x: x.sum(axis=int(x.sum())),
    "an option is a float": lambda x: F.dropout(x, float(x.sum())),
    "an option is a number": lambda x: F.gumbel_softmax(x, temperature=float(x.sum())),
}


@pytest.mark.parametrize("said", OPTIONS)
def test_an_option_that_is_made_of_tensors_is_refused_with_a_way_out(said):
    with pytest.raises(CaptureError, match=re.escape(f"{said} that only a run computes")) as refused:
        d2s.to_static(OPTIONS[said])(X)
    assert "compute the number before the call" in refused.value.hint
    assert str(refused.value).count(__file__) == 1


@pytest.mark.parametrize("shape", [[2**31] * 3, [2**32 - 1, 2**32 + 1], [2**62, 4]])
def test_a_tensor_that_no_memory_holds_is_refused_on_its_path_even_if_only_its_sum_is_wanted(shape):
    def sums_up(x, n):
        if n > 0:
            return d2s.zeros([x.shape[0], *shape]).sum()
        return x.sum()

    static = d2s.to_static(sums_up)
    for rows in (3, 2, 4):  # the second call finds an extent by name
        x = d2s.ones([rows])
        assert static(x, d2s.to_tensor(0)).item() == rows
        for function in (sums_up, static):
            with pytest.raises(
                ArgumentError, match=rf"a float32 tensor of shape \[{rows}, {shape[0]}, .*does not fit into memory"
            ):
                function(x, d2s.to_tensor(1))
