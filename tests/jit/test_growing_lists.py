"""What surrounds a list that a loop makes longer: its user's line, plain kernels, many items."""

import traceback

import pytest

import d2s
from d2s.errors import GradientError


def filled(x, n):
    out = []
    for i in range(n):
        out.append(x * i)
    return out


def third(x, n):
    return filled(x, n)[2] * 2.0


X = d2s.to_tensor([1.0, 2.0])


def test_an_index_error_has_the_users_line():
    with pytest.raises(IndexError, match=r"^list index out of range$") as caught:
        d2s.to_static(third)(X, d2s.to_tensor(2))
    last = traceback.extract_tb(caught.tb)[-1]
    assert (last.filename, last.line) == (__file__, "return filled(x, n)[2] * 2.0")


def test_a_plan_in_plain_python_and_many_items():
    static = d2s.to_static(filled)
    with d2s.config(EXECUTOR="python"):
        assert [part.tolist() for part in static(X, d2s.to_tensor(3))] == [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]
    many = static(X, d2s.to_tensor(5000))
    assert (len(many), many[-1].tolist()) == (5000, [4999.0, 9998.0])


def test_the_gradient_of_a_gradient_of_its_items():
    def summed(x, n):
        out = [x * x]
        for _ in range(n):
            out.append(out[-1] * x)
        return out[-1] + out[0]

    found = []
    for function in (summed, d2s.to_static(summed)):
        x = d2s.to_tensor([1.5, 2.0], stop_gradient=False)
        (first,) = d2s.grad(function(x, d2s.to_tensor(2)).sum(), [x], create_graph=True)
        (second,) = d2s.grad(first.sum(), [x])
        found.append((first.tolist(), second.tolist()))
    assert found[0] == found[1] == ([16.5, 36.0], [29.0, 50.0])


def test_a_gradient_through_an_extent_that_trips_reckon_is_refused_by_a_code():
    @d2s.to_static
    def folded(x, n):
        for _ in range(n):
            x = d2s.concat([x.reshape([-1]).reshape([2, -1]), x[:, -1].unsqueeze(1) + 1], 1)
        return x

    x = d2s.to_tensor([[1.0], [1.0]], stop_gradient=False)
    with pytest.raises(GradientError, match="reckoned from what a trip found"):
        folded(x, d2s.to_tensor(3)).sum().backward()
