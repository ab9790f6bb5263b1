"""Tensors that are kept outside and have other extents at each call: captured for any, with eager code's bits and errors."""

import numpy as np
import pytest

import d2s
from d2s.nn import functional as F


def row(k, wants=False):
    return d2s.to_tensor(np.sin(np.arange(8.0) + k).reshape(1, 1, 2, 4).astype("float32"), stop_gradient=not wants)


class Plain:
    def __init__(self):
        self.k = d2s.zeros([1, 1, 2, 4])

    def step(self, x):
        self.k = d2s.concat([self.k, x], axis=1)
        return (self.k * x).sum(1), self.k.shape[1]


class Begun:
    def __init__(self):
        self.k = self.v = None

    def step(self, x):
        if self.k is None:
            self.k, self.v = x, x * 0.5
        else:
            self.k, self.v = d2s.concat([self.k, x], axis=1), d2s.concat([self.v, x * 0.5], axis=1)
        return F.scaled_dot_product_attention(x, self.k, self.v)


class Layers:
    def __init__(self):
        self.cache = [(d2s.zeros([1, 1, 2, 4]), d2s.ones([1, 1, 2, 4])) for _ in range(2)]

    def step(self, x):
        made = []
        for k, v in self.cache:
            k, v = d2s.concat([k, x], axis=1), d2s.concat([v, x * 2.0], axis=1)
            x = F.scaled_dot_product_attention(x, k, v)
            made.append((k, v))
        self.cache = made
        return x


class Named:
    def __init__(self):
        self.cache = {"k": d2s.zeros([1, 1, 2, 4]), "n": 0}

    def step(self, x):
        self.cache["k"] = d2s.concat([self.cache["k"], x], axis=1)
        self.cache["n"] += 1
        return self.cache["k"].mean(1) * self.cache["n"]


class Last:
    """At most three rows are kept."""

    def __init__(self):
        self.k = d2s.zeros([1, 1, 2, 4])

    def step(self, x):
        self.k = d2s.concat([self.k, x], axis=1)[:, -3:]
        return self.k.sum(1)


class Broadcast:
    """What is one row broadcasts, and no capture for several stands for it."""

    def __init__(self):
        self.k = d2s.zeros([1, 1, 2, 4])

    def step(self, x):
        if self.k.shape[1] >= 5:
            self.k = self.k[:, :1]
        self.k = d2s.concat([self.k, x], axis=1)
        return self.k * x


@pytest.mark.parametrize("kind", [Plain, Begun, Layers, Named, Last, Broadcast])
@pytest.mark.parametrize("wants", [False, True])
def test_caches_are_captured_for_any_length(kind, wants):
    static = type("Static", (kind,), {"step": d2s.to_static(kind.step)})
    one, other = kind(), static()
    for k in range(12):
        told = []
        for holder in (one, other):
            x = row(k, wants)
            found = holder.step(x)
            first = found[0] if isinstance(found, tuple) else found
            if wants:
                first.sum().backward(retain_graph=True)
            length = found[1] if isinstance(found, tuple) else None
            told.append((first.numpy().tobytes(), first.shape, length, wants and x.grad.tolist()))
        assert told[0] == told[1], k
    assert len(other.step.recompiles()) <= (4 if kind in (Last, Broadcast) else 2), other.step.recompiles()
    assert not other.step.given_up


def test_extents_that_stop_agreeing_are_captured_anew():
    """Two places had one extent; a call that finds two has a capture of its own, or eager code's error."""

    class Pair:
        def __init__(self):
            self.a, self.b = d2s.ones([2]), d2s.ones([2])

        def step(self, x):
            self.a, self.b = d2s.concat([self.a, x]), d2s.concat([self.b, x])
            return self.a + self.b

    static = type("Static", (Pair,), {"step": d2s.to_static(Pair.step)})
    one, other = Pair(), static()
    x = d2s.to_tensor([1.0, 2.0])
    for k in range(9):
        if k == 6:
            one.b, other.b = d2s.ones([1]), d2s.ones([1])
        told = []
        for holder in (one, other):
            try:
                told.append(holder.step(x).tolist())
            except d2s.errors.D2SError as error:
                told.append(error.code)
                holder.b = holder.a
        assert told[0] == told[1], k
        assert one.b.tolist() == other.b.tolist()


def test_code_that_needs_a_number_is_captured_for_each():
    class Counted:
        def __init__(self):
            self.k = d2s.ones([2])

        def step(self, x):
            if len(self.k) > 8:
                self.k = self.k[:2]
            self.k = d2s.concat([self.k, x])
            return [self.k[n].item() for n in range(self.k.shape[0])]

    static = type("Static", (Counted,), {"step": d2s.to_static(Counted.step)})
    one, other = Counted(), static()
    for k in range(10):
        x = d2s.to_tensor([float(k)])
        assert one.step(x) == other.step(x)
