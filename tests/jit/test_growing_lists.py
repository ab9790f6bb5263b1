"""What surrounds a list that a loop makes longer: its user's line, plain kernels, many items."""

import traceback

import pytest

import d2s
from d2s.errors import GradientError
from d2s.static import InputSpec


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


def folded(x, n):
    for _ in range(n):
        x = d2s.concat([x.reshape([-1]).reshape([2, -1]), x[:, -1].unsqueeze(1) * 3.0], 1)
    return x.tanh()


def test_what_no_program_says_the_gradient_of_is_swept_node_by_node(tmp_path):
    """An extent that trips reckon; a file has no eager code to go to."""
    path, static, found = str(tmp_path / "f"), d2s.to_static(folded), []
    d2s.jit.save(folded, path, [InputSpec([2, None]), InputSpec([], "int64")])
    for function in (folded, static, static, d2s.jit.load(path)):
        x = d2s.to_tensor([[0.5, 0.25], [1.5, -1.0]], stop_gradient=False)
        y = function(x, d2s.to_tensor(3))
        (y * y).sum().backward()
        found.append((y.tolist(), x.grad.tolist()))
    assert found[0] == found[1] == found[2] == found[3]
    with pytest.raises(GradientError, match="second time"):
        y.sum().backward()
