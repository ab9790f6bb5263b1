"""Gradients by name, of gradients, and by PyLayers: against finite differences and against each other."""

import os
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, D2SError, DTypeError, GradientError


def leaf(*numbers, dtype="float64"):
    return d2s.to_tensor(np.array(numbers, dtype), stop_gradient=False)


SMOOTH = {  # functions of one tensor, twice differentiable near the sample
    "cube": lambda x: x * x * x,
    "tanh": lambda x: d2s.tanh(x * 2),
    "mixture": lambda x: d2s.tanh(x) * x - x * 0.5,
    "matmul": lambda x: d2s.matmul(d2s.tanh(x), x, transpose_y=True),
    "sum of squares": lambda x: (x * x).sum(axis=0) * x,
    "broadcast": lambda x: x * x.sum(axis=1, keepdim=True) * x,
    "exp": lambda x: d2s.exp(x * 0.5) * x,
    "sigmoid": lambda x: d2s.sigmoid(x) * x,
    "sin": lambda x: d2s.sin(x) * x,
    "divide": lambda x: x / (x * x + 1.0),
}


def second(function, x):
    """The gradient of the sum of squares of the gradient."""
    (first,) = d2s.grad(function(x).sum(), x, create_graph=True)
    (found,) = d2s.grad((first * first).sum(), x)
    return first, found


@pytest.mark.parametrize("static", [False, True], ids=["eager", "static"])
@pytest.mark.parametrize("name", SMOOTH)
def test_second_order_is_what_finite_differences_say(name, static):
    function = d2s.to_static(SMOOTH[name]) if static else SMOOTH[name]
    values = np.array([[0.3, -0.7, 0.5], [0.2, 0.9, -0.4]])

    def penalty(at):
        (first,) = d2s.grad(SMOOTH[name](t := d2s.to_tensor(at, stop_gradient=False)).sum(), t)
        return (first.numpy() ** 2).sum()

    _, found = second(function, d2s.to_tensor(values, stop_gradient=False))
    for index in np.ndindex(values.shape):
        step = np.zeros_like(values)
        step[index] = 1e-5
        slope = (penalty(values + step) - penalty(values - step)) / 2e-5
        assert found.numpy()[index] == pytest.approx(slope, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", SMOOTH)
def test_static_and_eager_agree_bit_for_bit(name):
    values = np.array([[0.3, -0.7, 0.5], [0.2, 0.9, -0.4]], "float32")
    eager = second(SMOOTH[name], d2s.to_tensor(values, stop_gradient=False))
    static = second(d2s.to_static(SMOOTH[name]), d2s.to_tensor(values, stop_gradient=False))
    assert [t.numpy().tobytes() for t in eager] == [t.numpy().tobytes() for t in static]


def test_grad_leaves_leaves_alone_and_gives_what_backward_gives():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = (x * w).sum()
    found = d2s.grad(y, [x, w], retain_graph=True)
    assert x.grad is None and w.grad is None
    y.backward()
    assert [g.tolist() for g in found] == [x.grad.tolist(), w.grad.tolist()]


def test_grad_of_what_is_in_between():
    x = leaf(1.0, 2.0)
    h = x * 3.0
    (found,) = d2s.grad((h * h).sum(), h)
    assert found.tolist() == [6.0, 12.0]


def test_weights_and_several_outputs():
    x = leaf(1.0, 2.0)
    (found,) = d2s.grad([x * 2.0, x * x], x, [leaf(1.0, 10.0), None])
    assert found.tolist() == [4.0, 24.0]


def test_unused_inputs_are_an_error_unless_allowed():
    x, w = leaf(1.0), leaf(2.0)
    with pytest.raises(GradientError, match=r"number 1.*(.|\n)*allow_unused"):
        d2s.grad(x * 2.0, [x, w])
    assert d2s.grad(x * 2.0, [x, w], allow_unused=True)[1] is None


def test_bad_arguments_have_codes():
    x = leaf(1.0)
    with pytest.raises(DTypeError, match="D2S0001"):
        d2s.grad(x * 2.0, 3)
    with pytest.raises(ArgumentError, match="D2S0004"):
        d2s.grad([x * 2.0], x, [x, x])
    with pytest.raises(ArgumentError, match="D2S0002"):
        d2s.grad(x * 2.0, x, leaf(1.0, 2.0))


def test_a_graph_freed_by_grad_is_freed():
    x = leaf(1.0)
    y = x * x
    d2s.grad(y, x)
    with pytest.raises(GradientError, match="D2S0006"):
        d2s.grad(y, x)


def test_a_changed_tensor_is_seen_by_the_gradient_of_the_gradient():
    x = leaf(2.0)
    y = (x * x).sum()
    x.set_value([5.0])
    for create_graph in (True, False):
        with pytest.raises(GradientError, match="changed in place"):
            d2s.grad(y, x, create_graph=create_graph)


def test_enable_grad_inside_no_grad():
    x = leaf(1.0)
    with d2s.no_grad():
        assert (x * 2.0).stop_gradient
        with d2s.enable_grad():
            assert not (x * 2.0).stop_gradient


class Doubled(d2s.autograd.PyLayer):
    """Hands twice the gradient back."""

    @staticmethod
    def forward(ctx, x, scale, w):
        ctx.save_for_backward(x, w)
        return x * scale, w * x

    @staticmethod
    def backward(ctx, g, h):
        x, w = ctx.saved_tensor()
        return g * 2.0 + h * w, h * x


def test_pylayer():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y, z = Doubled.apply(x, 7.0, w)
    assert y.tolist() == [7.0, 14.0]
    (y.sum() + z.sum()).backward()
    assert x.grad.tolist() == [5.0, 6.0] and w.grad.tolist() == [1.0, 2.0]


def test_pylayer_with_one_result_used_and_second_order():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (first,) = d2s.grad((Doubled.apply(x, 7.0, w)[1] * x).sum(), x, create_graph=True)
    (found,) = d2s.grad(first.sum(), w)
    assert found.tolist() == [2.0, 4.0]


def test_pylayer_with_too_few_gradients():
    class Wrong(d2s.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(GradientError, match="1 gradients for 2 tensors"):
        Wrong.apply(leaf(1.0), leaf(2.0)).backward()


class Marked(d2s.autograd.PyLayer):
    """Says of its results what a context can be told."""

    told = ()

    @staticmethod
    def forward(ctx, x, zeros):
        first, second = x + x, x * 3.0
        ctx.mark_non_differentiable(first)
        ctx.mark_not_inplace(x)
        ctx.set_materialize_grads(zeros)
        return first, second, x

    @staticmethod
    def backward(ctx, *grads):
        Marked.told = [g if g is None else g.tolist() for g in grads]
        return grads[1] * 3.0


def test_what_a_pylayer_says_of_its_results():
    for zeros, absent in ((True, [0.0]), (False, None)):
        x = leaf(2.0)
        first, second, same = Marked.apply(x, zeros)
        assert first.stop_gradient and not second.stop_gradient
        second.backward()
        assert x.grad.tolist() == [3.0] and Marked.told == [absent, [1.0], absent]
        with d2s.no_grad():
            same.add_(same)
        assert x.tolist() == [2.0]  # it has memory of its own


def test_pylayer_in_a_captured_function_is_refused():
    with pytest.raises(D2SError, match="D2S1"):
        d2s.to_static(lambda x, w: Doubled.apply(x, 7.0, w)[0])(leaf(1.0), leaf(2.0))


def test_grad_goes_only_where_it_is_asked_to():
    class Watched(d2s.autograd.PyLayer):
        calls = 0

        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            Watched.calls += 1
            return g

    x, w = (d2s.to_tensor([2.0, 3.0], stop_gradient=False) for _ in range(2))
    seen = []
    w.register_hook(lambda g: seen.append(g))
    middle = x * 2.0
    y = middle * Watched.apply(w) + w * x
    assert d2s.grad(y, middle, retain_graph=True)[0].tolist() == [2.0, 3.0]
    assert d2s.grad(y, x, retain_graph=True)[0].tolist() == [6.0, 9.0]
    assert (Watched.calls, seen) == (0, [])
    assert d2s.grad(y, [w, middle], retain_graph=True)[0].tolist() == [6.0, 9.0]
    assert (Watched.calls, len(seen)) == (1, 1)


INTERRUPTED = """
import signal, sys, time
import d2s
from d2s.autodiff.mode import mode

def interrupted(number, frame):
    raise InterruptedError

sys.unraisablehook = lambda raised: None  # an interrupted callback of a weak reference says so
signal.signal(signal.SIGALRM, interrupted)
w, count, end = d2s.ones([10]), 0, time.monotonic() + 2
w.stop_gradient = False
for _ in range(5):
    (w * w).sum().backward()  # all is compiled
while time.monotonic() < end:
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0004 + count % 50 * 0.00002)
        for _ in range(200):  # until then; a callback of a weak reference may have swallowed it
            (w * w).sum().backward()
    except InterruptedError:
        count += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert mode.recording, count
assert count > 100, count
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that interrupt")
def test_an_interrupted_backward_leaves_the_tape_on():
    root = str(pathlib.Path(d2s.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], env={**os.environ, "PYTHONPATH": root}, check=False, timeout=100)
    assert done.returncode == 0
