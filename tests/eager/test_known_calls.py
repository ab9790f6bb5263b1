"""Calls that went well before are not looked at twice; they come to the same, and to the same errors."""

import inspect

import numpy as np
import pytest

import d2s
from d2s.errors import D2SError, GradientError
from d2s.ops.dispatch import handlers

F = d2s.nn.functional
TWO, KERNEL = [2, 2], [3, 2]
TIMES = 8  # more than what it takes until a call is known
X = np.random.default_rng(0).standard_normal((2, 3, 6, 6)).astype("float32")
W = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype("float32")
CALLS = {
    "any number of inputs": lambda x, w: d2s.concat([x, x * 2.0], axis=1).sum(axis=(1, 2)),
    "a convolution": lambda x, w: F.conv2d(x, w, padding=(1, 1)),
    "several results": lambda x, w: F.max_pool2d(x, 2, return_mask=True)[0],
    "tuples made anew": lambda x, w: F.max_pool2d(x, tuple(TWO), padding=[1, 0]),
    "a loss": lambda x, w: F.cross_entropy(x.reshape([-1, 6]), d2s.to_tensor(np.arange(36) % 6)),
}


@pytest.mark.parametrize("name", CALLS)
def test_bits_gradients_and_lines_stay(name):
    found = set()
    for _ in range(TIMES):
        x, w = d2s.to_tensor(X, stop_gradient=False), d2s.to_tensor(W, stop_gradient=False)
        y = CALLS[name](x, w)
        y.sum().backward()
        grads = [None if t.grad is None else t.grad.numpy().tobytes() for t in (x, w)]
        found.add((y.numpy().tobytes(), y.stop_gradient, *grads))
    assert len(found) == 1
    with d2s.no_grad():
        assert CALLS[name](x, w).stop_gradient


def test_they_are_known():
    for _ in range(TIMES):
        F.max_pool2d(d2s.to_tensor(X), [3, 2])
    op, attrs = d2s.ops.OPS["max_pool"], {"kernel": [3, 2], "stride": None, "padding": (0,), "ceil_mode": False, "size": ()}
    known = handlers.base.known
    assert known(op, [d2s.to_tensor(X)], attrs | {"kernel": (3, 2)}) is None  # a list was given, and lists may change
    for _ in range(TIMES):
        F.max_pool2d(d2s.to_tensor(X), tuple(KERNEL))  # made anew: its door tells attributes by identity
    assert known(op, [d2s.to_tensor(X)], attrs | {"kernel": (3, 2)}).shape == [2, 3, 2, 3]
    assert known(op, [d2s.to_tensor(X[:1])], attrs | {"kernel": (3, 2)}) is None
    assert known(op, [d2s.to_tensor(X.astype("float64"))], attrs | {"kernel": (3, 2)}) is None
    assert known(op, [d2s.to_tensor(X)], attrs | {"kernel": (3, 2.0)}) is None


def test_what_equals_a_known_attribute_is_not_taken_for_it():
    x = d2s.to_tensor(X)
    for _ in range(TIMES):
        F.max_pool2d(x, (1, 1))
        d2s.concat([x, x], axis=1)
    for call in (lambda: F.max_pool2d(x, (True, 1)), lambda: F.max_pool2d(x, (1.0, 1)), lambda: d2s.concat([x, x], axis=True)):
        with pytest.raises(D2SError):
            call()
    with pytest.raises(D2SError):
        d2s.concat([x, 3.0], axis=1)


def test_a_changed_input_is_noticed():
    for _ in range(TIMES):
        x = d2s.to_tensor(X, stop_gradient=False)
        y = x * 1.0
        z = F.max_pool2d(y, (2, 2))
        y.add_(y.detach())
        with pytest.raises(GradientError, match=r"test_known_calls\.py:\d+"):
            z.sum().backward()


def test_ops_show_their_signature_and_take_a_name_that_changes_nothing():
    x = d2s.to_tensor([1.0, 2.0])
    assert list(inspect.signature(d2s.sum).parameters) == ["x", "axis", "dtype", "keepdim"]
    assert d2s.add(x, x, name="twice").tolist() == x.add(x, name=None).tolist() == (+x + x).tolist() == [2.0, 4.0]
    assert d2s.to_static(lambda x: d2s.sum(x, axis=0, name="all"))(x).item() == 3.0


def test_a_matrix_no_memory_holds_is_refused_before_its_lines_are_made():
    with pytest.raises(d2s.errors.ArgumentError, match=r"eye\(\)"):
        d2s.eye(10**9)
    with pytest.raises(d2s.errors.D2SError, match="epsilon"):
        d2s.nn.functional.label_smooth(d2s.ones([2]), epsilon="a")


@pytest.mark.parametrize("switch", [d2s.no_grad, d2s.enable_grad])
def test_what_switches_the_tape_decorates_functions_only(switch):
    with pytest.raises(d2s.errors.DTypeError, match="a function, got int"):
        switch(3)
