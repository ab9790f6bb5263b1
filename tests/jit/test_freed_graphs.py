"""What a sweep from one result of a static call has freed is free for the others, and what is kept of calls, as eagerly."""

import itertools

import pytest

import d2s
from d2s.capture.tree import flatten
from d2s.errors import GradientError

W = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
V = d2s.to_tensor([3.0, 2.0], stop_gradient=False)
X, N = d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([-1.0, -2.0])


def straight(x):
    h = x * W
    return h.sum(), (h * h).sum(), x * V


def parts(x):
    return list(d2s.split(x * W, 2))


def arms(x):
    h, v = x * W, x * V
    if x.sum() > 0:
        return h * 2, v * 3
    return h * 2, h * 3


def inside_arms(x):
    if x.sum() > 0:
        h = x * W
        return h + 1, h * h
    return x * W, x * V


def trips(x, n):
    h, g = x * W, x * V
    for _ in range(n):
        h = h * 2
        g = g + h
    return h, g


def grown(x, n):
    found, h = [], x * W
    for _ in range(n):
        h = h * W
        found.append(h)
    return found, h


def swept(function, args, order, towards):
    """What sweeps from the results in this order give or raise."""
    W.grad = V.grad = None
    results = [y for y in flatten(function(*args))[0] if isinstance(y, d2s.Tensor)]
    found = []
    for k in order:
        try:
            if towards is None:
                results[k].sum().backward()
            else:
                (g,) = d2s.grad(results[k].sum(), [towards], allow_unused=True)
                found.append(None if g is None else g.tolist())
        except GradientError:
            found.append("freed")
    return found, [t.grad is not None and t.grad.tolist() for t in (W, V)]


CASES = [(straight, (X,), 3), (parts, (X,), 2), *((f, (x,), 2) for f in (arms, inside_arms) for x in (X, N))]
CASES += [(trips, (X, d2s.to_tensor(n)), 2) for n in (0, 1)] + [(grown, (X, d2s.to_tensor(2)), 3)]


@pytest.mark.parametrize(("function", "args", "count"), CASES)
def test_results_that_share_what_was_freed(function, args, count):
    static = d2s.to_static(function)
    for order, towards in itertools.product(itertools.permutations(range(count)), (None, W)):
        assert swept(static, args, order, towards) == swept(function, args, order, towards), (order, towards)


class Remembers(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.kept, self.last = [], None

    def forward(self, x):
        y = x * W
        self.kept.append(y)
        self.last = y * 3.0
        return (y * y).sum()


def test_what_a_call_keeps_has_no_more_history_than_eagerly():
    static = d2s.to_static(Remembers())
    for call in range(3):
        loss = static(X)
        if call:
            (loss + static.last.sum()).backward()
        else:
            loss.backward(retain_graph=True)
            static.last.sum().backward()
        for kept in (static.kept[-1], static.last):
            with pytest.raises(GradientError, match="a second time"):
                kept.sum().backward()
        assert static.kept[-1].node.node.released, "its buffers are freed"


def swept_through_an_arm(x):
    h = x * W
    loss = (x * V).sum()
    if x.sum() > 0:
        loss = h.sum()
    loss.backward()
    return h * 2.0, h


def swept_through_both_arms(x):
    h = x * W
    loss = h.sum() if x.sum() > 0 else (h * h).sum()
    loss.backward()
    return h * 2.0, h


def swept_through_trips(x):
    h = g = x * W
    while g.sum() < 20:
        g = g * 2.0 + 5.0
    g.sum().backward()
    return h * 2.0, h


@pytest.mark.parametrize(
    "function", [swept_through_an_arm, swept_through_both_arms, swept_through_trips], ids=lambda f: f.__name__
)
def test_what_a_sweep_inside_has_freed_it_has_freed_on_its_path(function):
    told, static = [], d2s.to_static(function)
    W.grad = V.grad = None
    for call in (function, static):
        found = []
        for x in (X, N, X, N, d2s.to_tensor([20.0, 1.0])):
            for n in (0, 1):
                try:
                    call(x)[n].sum().backward()
                except GradientError as error:
                    found.append(error.message)
                found.append([t.grad.tolist() if t.grad is not None else None for t in (W, V)])
                W.grad = V.grad = None
        told.append(found)
    assert told[0] == told[1]
    left = {variant.captured.history.eager for _, variant in static.variants}
    assert left == {function is swept_through_an_arm}, "eager code makes only the calls of which it alone knows what is freed"
