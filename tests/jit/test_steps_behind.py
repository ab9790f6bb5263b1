"""Prints behind a native call that is on the tape: text, results, gradients, hooks and second order are eager code's."""

import numpy as np
import pytest

import d2s
from d2s.jit.quick import MISSED
from d2s.ops.dispatch import handlers

pytestmark = pytest.mark.skipif(handlers.base.classes is None, reason="no native calls on this system")
WEIGHT = d2s.to_tensor([3.0, -4.0], stop_gradient=False)


def tensor(*values, wants=True):
    return d2s.to_tensor(np.array(values, "float32"), stop_gradient=not wants)


def line(x):
    print("a line")
    return x * 2.0


def numbers(x):
    y = d2s.tanh(x) * x
    print("sum", y.sum().item(), f"{float(x.max()):.2f}")
    return y


def tensors(x):
    y = x * WEIGHT
    print(y)
    z = d2s.exp(x)
    print("of x", z, x, "of none", y.detach(), z > 1.0, sep=" | ")
    return y + 1.0


def several(x):
    y, z = x * 2.0, d2s.exp(x)
    print(y, "twice", y)
    return y, x, {"z": z, "again": y}


def without(x):
    print("in no_grad")
    with d2s.no_grad():
        y = x * 2.0
    print(y)
    return y + x


def drawn(x):
    """The draw is a change of the call's, which a step in front of its end would have to leave: the long way."""
    y = d2s.rand([2]) * x
    print(y)
    return y


def on_a_path(x):
    if x.sum() > 0:
        print("positive")
    return x * 2.0


def on_either_path(x):
    print("before")
    if x.sum() > 0:
        y = d2s.tanh(x)
        print("arm", y, x, y.sum().item())
    else:
        y = x - 1.0
        print(f"else {float(y.sum()):.3f}")
    print("behind", y)
    return y * x


def on_paths_in_paths(x):
    y = x * WEIGHT
    if y.sum() > 0:
        print("outer", y)
        z = d2s.exp(y)
        if z.sum() > 50.0:
            print("inner", z, "of", y, x.sum().item())
            z = z * 2.0
        elif x[0] > 0.7:
            w = z + x
            print("middle", w)
        print("end of arm", z)
        y = z
    else:
        print("none")
    return y


def left_early(x):
    if x.sum() < 0:
        print("early", x * 2.0)
        return x * 3.0
    print("late")
    return x + 1.0


def raising(x):
    y = x * 2.0
    if x.sum() < 0:
        print("below", y)
        if x[1] < -10.0:
            raise ValueError("much")
    return y


FUNCTIONS = [line, numbers, tensors, several, without, drawn]
FUNCTIONS += [on_a_path, on_either_path, on_paths_in_paths, left_early, raising]
VALUES = [(1.0, 2.0), (0.5, -3.0), (3.0, 0.25), (0.9, 0.1)]


def swept(call, capsys, *values, wants=True):
    """What a call prints and gives, and the gradients behind it."""
    d2s.seed(5)
    x = tensor(*values, wants=wants)
    WEIGHT.clear_grad()
    found = call(x)
    results = _leaves(found)
    for y in results:
        if not y.stop_gradient and not y.is_leaf:
            y.sum().backward(retain_graph=True)
    grads = [None if t.grad is None else t.grad.numpy().tobytes() for t in (x, WEIGHT)]
    told = [(y.numpy().tobytes(), y.stop_gradient, y is x) for y in results]
    return told, grads, capsys.readouterr().out


def _leaves(found):
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, tuple) else None
    return [found] if parts is None else [leaf for part in parts for leaf in _leaves(part)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("order", [(True, False), (False, True)])
def test_native_calls_are_as_eager_ones(function, order, capsys):
    """In both orders of calls on the tape and off it."""
    static = d2s.to_static(function)
    for wants in (*order, *order, *order):
        for values in VALUES:
            expected = swept(function, capsys, *values, wants=wants)
            assert swept(static, capsys, *values, wants=wants) == expected
    assert len(static.quick) == (function is not drawn)
    for wants, quick in zip(order, static.quick * 2, strict=False):
        d2s.seed(5)
        assert quick(tensor(1.0, 2.0, wants=wants)) is not MISSED
        capsys.readouterr()


def test_within_no_grad(capsys):
    static = d2s.to_static(tensors)
    for _ in range(3):
        swept(static, capsys, 1.0, 2.0)
    with d2s.no_grad():
        static(tensor(1.0, 2.0))
        capsys.readouterr()
        for call in (tensors, static):
            assert call(tensor(1.0, 2.0)).stop_gradient
        assert static.quick[0](tensor(1.0, 2.0)) is not MISSED
    capsys.readouterr()
    with d2s.no_grad():
        for call in (tensors, static):
            call(tensor(1.0, 2.0))
    text = capsys.readouterr().out
    assert text[: len(text) // 2] == text[len(text) // 2 :]


def test_hooks_and_second_order(capsys):
    static = d2s.to_static(numbers)
    for _ in range(3):
        swept(static, capsys, 1.0, 2.0)
    found = []
    for call in (numbers, static):
        x, seen = tensor(1.0, 2.0), []
        y = call(x)
        y.register_hook(lambda g, seen=seen: seen.append(g.tolist()))
        (g,) = d2s.grad(y.sum(), x, create_graph=True)
        (second,) = d2s.grad((g * g).sum(), x)
        found.append((y.tolist(), g.tolist(), second.tolist(), seen))
    assert found[0] == found[1]
    capsys.readouterr()


def test_what_is_changed_in_place_goes_the_long_way_on_the_tape(capsys):
    buffer = d2s.zeros([2])

    def function(x):
        print("adding", x)
        buffer.add_(x.detach())
        return x * buffer

    static = d2s.to_static(function)
    found = []
    for call in (function, static):
        buffer.zero_()
        found.append([swept(call, capsys, 1.0, 2.0) for _ in range(4)])
    assert found[0] == found[1]


def test_what_was_printed_before_a_raise_is_printed(capsys):
    static = d2s.to_static(raising)
    for _ in range(4):
        swept(static, capsys, 1.0, 2.0)
    for wants in (True, False):
        texts = []
        for call in (raising, static):
            with pytest.raises(ValueError, match="much"):
                call(tensor(1.0, -20.0, wants=wants))
            texts.append(capsys.readouterr().out)
        assert texts[0] == texts[1] != ""


def test_a_program_without_its_steps_is_one(capsys):
    """The passes and the verifier find it so."""
    with d2s.config(CHECK=1):
        for function in (on_either_path, on_paths_in_paths, left_early):
            static = d2s.to_static(function)
            for _ in range(3):
                for values in VALUES:
                    swept(static, capsys, *values)
            assert len(static.quick) == 1
