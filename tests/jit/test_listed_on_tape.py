"""Calls that return lists of run-time length, on the tape: native from the third one on, and eager ones bit for bit."""

import numpy as np
import pytest

import d2s
from d2s.jit.quick import MISSED
from d2s.ops.dispatch import handlers

pytestmark = pytest.mark.skipif(handlers.base.classes is None, reason="no native calls on this system")


def kept(x, w, n):
    found = []
    for _ in range(n):
        x = x * 1.5
        found.append(x * w)
    return found


def beside_others(x, w, n):
    found = []
    for _ in range(n):
        x = x * 1.5
        found.append(x + 1.0)
    return found, (w * w).sum(), n * 2


def on_some_paths(x, w, n):
    found = []
    for k in range(n):
        found.append(x * w if k % 2 == 0 else x.detach() * 2.0)
    return found


def some_are_one(x, w, n):
    found = [w]
    for _ in range(n):
        found.append(found[-1] if x.sum() > 0 else w * 2.0)
    return found


def without_gradients(x, w, n):
    found = []
    for _ in range(n):
        found.append(x.detach() + 1.0)
    return found, w * x


def of_numbers(x, w, n):
    found, total = [], 0
    for k in range(n):
        total = total + k
        found.append(total)
    return found, w * x


def of_two_lengths(x, w, n):
    first, second = [], []
    for k in range(n):
        first.append(x * w)
        if k > 1:
            second.append((x - w).sum())
    return first, second


FUNCTIONS = (kept, beside_others, on_some_paths, some_are_one, without_gradients, of_numbers, of_two_lengths)


def backward(tensors, way):
    """A sweep from all of them, from one, from one after the other, or one that has a gradient itself."""
    if way == "all":
        sum((t * t).sum() for t in tensors).backward()
    elif way == "one":
        (tensors[len(tensors) // 2] ** 2).sum().backward()
    else:
        (tensors[0] * 3.0).sum().backward(retain_graph=way == "retained")
        (tensors[-1] ** 2).sum().backward()


def told(function, x, n, way):
    """Items, which of them are one, and gradients."""
    x, w = (d2s.to_tensor(x * by, "float32", stop_gradient=False) for by in (1.0, 0.5))
    results = function(x, w, d2s.to_tensor(n))
    parts = list(results) if isinstance(results, tuple) else [results]
    items = [item for part in parts for item in (part if isinstance(part, list) else [part])]
    found = [(item.tolist(), item.stop_gradient) if isinstance(item, d2s.Tensor) else item for item in items]
    found.append([[a is b for b in (*items, x, w)] for a in items if isinstance(a, d2s.Tensor)])
    tensors = [item for item in items if isinstance(item, d2s.Tensor) and not item.stop_gradient]
    if tensors:
        try:
            backward(tensors, way)
        except d2s.errors.GradientError as error:
            found.append(error.code)
    return [type(part) for part in parts], found, [None if t.grad is None else t.grad.tolist() for t in (x, w)]


@pytest.mark.parametrize("way", ["all", "one", "twice", "retained"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_lists_on_the_tape(function, way):
    static = d2s.to_static(function)
    data = np.linspace(0.1, 1.0, 4)
    for sign in (1.0, -1.0):
        for n in (3, 4, 2, 5, 1, 40):
            assert told(static, data * sign, n, way) == told(function, data * sign, n, way)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_they_are_native(function):
    static = d2s.to_static(function)
    given = [d2s.to_tensor([0.5, 1.0], "float32", stop_gradient=False) for _ in range(2)]
    for _ in range(3):
        static(*given, d2s.to_tensor(4))
    assert any(quick(*given, d2s.to_tensor(4)) is not MISSED for quick in static.quick)


def test_items_have_memory_of_their_own():
    def made(function):
        x, w = (d2s.to_tensor([2.0, 3.0], stop_gradient=False) for _ in range(2))
        items = function(x, w, d2s.to_tensor(3))
        with d2s.no_grad():
            items[1].detach().add_(d2s.ones([2]))
        items[0].sum().backward()
        return [item.tolist() for item in items], w.grad.tolist()

    static = d2s.to_static(kept)
    assert [made(static) for _ in range(4)] == [made(kept)] * 4
