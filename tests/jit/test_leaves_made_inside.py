"""What a captured function returns or stores that is a leaf eagerly is one: gradients come to it, and go no further."""

import copy
import itertools
import types

import pytest

import d2s

BOX = types.SimpleNamespace()


def detached(x):
    y = x.detach()
    y.stop_gradient = False
    return y, x * 3


def computed_without_a_tape(x):
    with d2s.no_grad():
        y = x * 2
    y.stop_gradient = False
    return y


def made(x):
    y = d2s.zeros([2])
    y.stop_gradient = False
    return [y], x * 2


def copied(x):
    return copy.deepcopy({"a": x, "b": [x, x * 2]})


def stored(x):
    BOX.y = copy.deepcopy(x * 2)
    return x


def shown(tensor):
    return tensor.tolist(), tensor.stop_gradient, tensor.is_leaf


def flat(value):
    if isinstance(value, dict):
        value = list(value.values())
    return [value] if isinstance(value, d2s.Tensor) else [leaf for part in value for leaf in flat(part)]


def left(function, recording):
    found = []
    for _ in range(5):
        x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
        vars(BOX).clear()
        with d2s.set_grad_enabled(recording):
            results = flat(function(x)) + list(vars(BOX).values())
        found.append([shown(y) for y in results])
        for y in results:
            if not y.stop_gradient:
                (y * 3).sum().backward(retain_graph=True)
        found.append([None if y.grad is None else y.grad.tolist() for y in (*results, x)])
    return found


ALWAYS, TAPED = (detached, computed_without_a_tape, made), (copied, stored)


@pytest.mark.parametrize(("function", "recording"), [*itertools.product(ALWAYS, (True, False)), *((f, True) for f in TAPED)])
def test_a_leaf_that_leaves(function, recording):
    assert left(d2s.to_static(function), recording) == left(function, recording)
