"""Hooks, kept gradients, and the switches of the tape."""

import gc
import threading

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, D2SError, DTypeError, GradientError, ShapeError


def leaf(*numbers):
    return d2s.to_tensor(np.array(numbers, "float32"), stop_gradient=False)


# --- hooks


def test_a_hook_sees_the_finished_total_once_a_sweep():
    x, log = leaf(1.0, 2.0), []
    h = x * 2.0
    h.register_hook(lambda g: log.append(("h", g.tolist())))
    x.register_hook(lambda g: log.append(("x", g.tolist())))
    ((h * h).sum() + h.sum() + x.sum()).backward(retain_graph=False)
    assert log == [("h", [5.0, 9.0]), ("x", [11.0, 19.0])]


def test_hooks_replace_in_the_order_they_were_registered():
    x, log = leaf(1.0), []
    h = x * 2.0
    h.register_hook(lambda g: log.append(g.item()))
    h.register_hook(lambda g: g * 10.0)
    h.register_hook(lambda g: log.append(g.item()))
    h.register_hook(lambda g: g + 1.0)
    x.register_hook(lambda g: g * 100.0)
    h.backward()
    assert log == [1.0, 10.0] and x.grad.item() == 2200.0


def test_a_hook_of_a_tensor_that_is_gone_is_called():
    x = leaf(1.0)
    h = x * 2.0
    h.register_hook(lambda g: g * 7.0)
    y = h * 3.0
    del h
    y.backward()
    assert x.grad.item() == 42.0


def test_a_removed_hook_is_not_called():
    x, log = leaf(1.0), []
    handles = [x.register_hook(lambda g, k=k: log.append(k)) for k in range(3)]
    assert handles[1].remove() is True and handles[1].remove() is False
    (x * 2.0).backward()
    assert log == [0, 2]


def test_a_hook_may_remove_itself():
    x, log = leaf(1.0), []

    def once(g):
        log.append("once")
        handle.remove()

    handle = x.register_hook(once)
    x.register_hook(lambda g: log.append("always"))
    for _ in range(2):
        (x * 2.0).backward()
    assert log == ["once", "always", "always"]


def test_one_function_twice_is_two_hooks():
    x = leaf(1.0)
    double = lambda g: g * 2.0  # noqa: E731
    first, _ = x.register_hook(double), x.register_hook(double)
    x.backward()
    assert x.grad.item() == 4.0
    first.remove()
    x.grad = None
    x.backward()
    assert x.grad.item() == 2.0


def test_what_a_hook_does_to_its_argument_changes_nothing():
    x, y = leaf(1.0), leaf(2.0)
    h = x + y

    def meddle(g):
        g.zero_()

    for t in (h, x):
        t.register_hook(meddle)
    h.backward()
    assert x.grad.item() == y.grad.item() == 1.0


def test_what_a_hook_gave_is_not_taken_over():
    x, mine = leaf(1.0), d2s.to_tensor(np.array([5.0], "float32"))
    x.register_hook(lambda g: mine)
    x.backward()
    x.grad.zero_()
    assert mine.tolist() == [5.0]


def test_hooks_of_grad():
    x = leaf(1.0)
    x.register_hook(lambda g: g * 5.0)
    h = x * 2.0
    h.register_hook(lambda g: g * 7.0)
    assert d2s.grad(h * 3.0, [h], retain_graph=True)[0].item() == 21.0
    assert d2s.grad(h * 3.0, [x])[0].item() == 210.0
    assert x.grad is None


def test_hooks_of_gradients_of_gradients():
    x = leaf(3.0)
    y = x * x
    y.register_hook(lambda g: g * x)  # on the tape, as the sweep is
    (first,) = d2s.grad(y, x, create_graph=True)
    assert first.item() == 18.0  # x * 2 x
    assert d2s.grad(first, x)[0].item() == 12.0


def test_hooks_run_without_a_tape():
    x, log = leaf(1.0), []
    x.register_hook(lambda g: log.append((d2s.is_grad_enabled(), (x * 2.0).stop_gradient)))
    (x * 2.0).backward()
    assert log == [(False, True)]


def test_an_error_in_a_hook_leaves_the_tape_usable():
    x = leaf(1.0)
    h = x * 2.0
    handle = h.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        h.backward()
    assert x.grad is None and d2s.is_grad_enabled()
    handle.remove()
    h.backward()  # nothing of it was freed
    assert x.grad.item() == 2.0
    (x * 3.0).backward()
    assert x.grad.item() == 5.0


def test_what_a_hook_gives_must_fit():
    for wrong, error in [(3.0, DTypeError), (leaf(1.0, 2.0), ShapeError), (d2s.to_tensor([1]), DTypeError)]:
        x = leaf(1.0)
        x.register_hook(lambda g, wrong=wrong: wrong)
        with pytest.raises(error, match="the hook '<lambda>' gives"):
            x.backward()


def test_wrong_registrations():
    with pytest.raises(GradientError, match="D2S0006"):
        d2s.to_tensor([1.0]).register_hook(print)
    with pytest.raises(DTypeError, match="'hook'"):
        leaf(1.0).register_hook(3)


def test_hooks_of_a_static_calls_results():
    f = d2s.to_static(lambda x: (x * 2.0, x * 3.0))
    x, log = leaf(1.0), []
    a, b = f(x)
    for name, t in (("a", a), ("b", b), ("x", x)):
        t.register_hook(lambda g, name=name: log.append((name, g.item())))
    b.register_hook(lambda g: g * 10.0)
    (a * 5.0 + b).backward()
    assert log == [("a", 5.0), ("b", 1.0), ("x", 40.0)] or log == [("b", 1.0), ("a", 5.0), ("x", 40.0)]


def test_hooks_and_changes_in_place():
    """A hook is of the value it was registered on; a kept gradient follows its tensor."""
    x, log = leaf(1.0), []
    h = x * 2.0
    h.retain_grads()
    h.register_hook(lambda g: log.append(("old", g.item())))
    h.multiply_(5.0)
    h.register_hook(lambda g: log.append(("new", g.item())))
    (h * 3.0).backward()
    assert log == [("new", 3.0), ("old", 15.0)]
    assert h.grad.item() == 3.0 and x.grad.item() == 30.0


def test_a_hook_that_knows_its_tensor_is_collected():
    """It is a cycle, as anywhere in Python: the collector frees it."""

    def tensors():
        for _ in range(20):
            h = leaf(1.0) * 2.0
            h.register_hook(lambda g, h=h: h)
        del h
        gc.collect()
        return sum(issubclass(type(o), d2s.Tensor) for o in gc.get_objects())

    assert tensors() == tensors()


# --- kept gradients


def test_retain_grads():
    x = leaf(1.0)
    h = x * 2.0
    h.retain_grads()
    h.retain_grads()
    y = h * 3.0
    y.backward(retain_graph=True)
    y.backward()
    assert h.grad.item() == 3.0 and x.grad.item() == 12.0  # a leaf adds up, a kept gradient is the last one
    x.retain_grads()
    d2s.to_tensor([1.0]).retain_grads()


def test_without_retain_grads_there_is_none():
    h = leaf(1.0) * 2.0
    h.backward()
    assert h.grad is None


def test_grad_can_be_set():
    x = leaf(1.0, 2.0)
    x.grad = d2s.to_tensor([5.0, 6.0])
    (x * 2.0).sum().backward()
    assert x.grad.tolist() == [7.0, 8.0]
    x.grad = None
    assert x.gradient() is None
    for wrong, error in [(3.0, DTypeError), (np.ones(2, "float32"), DTypeError), (d2s.to_tensor([1, 2]), DTypeError)]:
        with pytest.raises(error, match="grad"):
            x.grad = wrong
    with pytest.raises(ShapeError, match="grad"):
        x.grad = d2s.to_tensor([1.0])


def test_gradient_is_a_copy():
    x = leaf(1.0, 2.0)
    (x * 2.0).sum().backward()
    x.gradient()[:] = 0.0
    assert type(x.gradient()) is np.ndarray and x.gradient().tolist() == [2.0, 2.0]


def test_clear_gradient():
    x = leaf(1.0)
    x.clear_gradient()
    assert x.grad is None
    (x * 2.0).backward()
    held = x.grad
    x.clear_gradient()
    assert x.grad is held and held.item() == 0.0
    (x * 2.0).backward()
    x.clear_grad()
    assert x.grad.item() == 0.0
    x.clear_gradient(set_to_zero=False)
    assert x.grad is None


def test_clone_and_detach():
    x = leaf(1.0, 2.0)
    copy, alias = x.clone(), x.detach()
    assert not copy.stop_gradient and not copy.is_leaf and alias.stop_gradient and alias.is_leaf
    assert not np.shares_memory(copy.array, x.array) and np.shares_memory(alias.array, x.array)
    (copy * 3.0).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and copy.grad is None
    h = x * 2.0
    assert h.detach_() is h and h.stop_gradient and h.is_leaf


def test_is_leaf():
    x = leaf(1.0)
    h = x * 2.0
    assert x.is_leaf and not h.is_leaf and d2s.to_tensor([1.0]).is_leaf
    h.stop_gradient = True
    assert h.is_leaf and (h * 3.0).stop_gradient
    h.stop_gradient = False
    h.backward()
    assert not h.is_leaf and x.grad.item() == 2.0


# --- sweeps of several tensors


def test_backward_of_several():
    x = leaf(1.0, 2.0)
    d2s.autograd.backward([x * 2.0, x * 3.0, d2s.to_tensor([1.0])], [leaf(1.0, 10.0), None, None])
    assert x.grad.tolist() == [5.0, 23.0]
    y = x * x
    d2s.autograd.backward(y, retain_graph=True)
    d2s.autograd.backward([y])
    assert x.grad.tolist() == [9.0, 31.0]
    with pytest.raises(GradientError, match="second time"):
        d2s.autograd.backward([y])


def test_wrong_roots():
    x = leaf(1.0, 2.0)
    y = x * 2.0
    cases = [
        (lambda: d2s.autograd.backward([y, y]), ArgumentError, "twice"),
        (lambda: d2s.autograd.backward(3), DTypeError, "'tensors'"),
        (lambda: d2s.autograd.backward([y], [1, 2]), DTypeError, "'grad_tensors'"),
        (lambda: d2s.autograd.backward([y], [None, None]), ArgumentError, "2 'grad_tensors' for 1"),
        (lambda: d2s.autograd.backward([y], leaf(1.0)), ArgumentError, "'grad_tensors'"),
        (lambda: d2s.autograd.backward(d2s.to_tensor([1.0])), GradientError, "nothing"),
        (lambda: y.backward(leaf(1.0)), GradientError, "grad_tensor"),
        (lambda: y.backward(3), DTypeError, "grad_tensor"),
        (lambda: d2s.grad(y, x, only_inputs=False), ArgumentError, "only_inputs"),
    ]
    for call, error, words in cases:
        with pytest.raises(error, match=words) as caught:
            call()
        assert isinstance(caught.value, D2SError)


def test_no_grad_vars():
    x = leaf(2.0)
    h = x * 3.0
    y = h * x
    assert d2s.grad(y, x, retain_graph=True)[0].item() == 12.0
    assert d2s.grad(y, x, retain_graph=True, no_grad_vars=[h])[0].item() == 6.0
    assert d2s.grad(y, h, no_grad_vars=x)[0].item() == 2.0


# --- switches


def test_set_grad_enabled():
    assert d2s.is_grad_enabled()
    with d2s.set_grad_enabled(False):
        assert not d2s.is_grad_enabled()
        with d2s.set_grad_enabled(True):
            assert d2s.is_grad_enabled()
        assert not d2s.is_grad_enabled()
    assert d2s.is_grad_enabled()
    try:
        d2s.set_grad_enabled(False)
        assert (leaf(1.0) * 2.0).stop_gradient
    finally:
        d2s.set_grad_enabled(True)
    assert not (leaf(1.0) * 2.0).stop_gradient
    with pytest.raises(DTypeError, match="'mode'"):
        d2s.set_grad_enabled(1)


@pytest.mark.parametrize("make", [lambda f: d2s.no_grad(f), lambda f: d2s.no_grad()(f)], ids=["bare", "called"])
def test_no_grad_decorates(make):
    @make
    def f(x, *, y=1.0):
        """Told."""
        return x * y, d2s.is_grad_enabled()

    assert f.__name__ == "f" and f.__doc__ == "Told."
    result, on = f(leaf(1.0), y=3.0)
    assert result.item() == 3.0 and result.stop_gradient and not on and d2s.is_grad_enabled()


def test_no_grad_decorates_generators():
    log = []

    @d2s.no_grad()
    def f(n):
        try:
            got = yield (d2s.is_grad_enabled(), n)
            log.append((d2s.is_grad_enabled(), got))
            try:
                yield "second"
            except KeyError as error:
                log.append((d2s.is_grad_enabled(), type(error)))
            yield from (1, 2)
            return "end"
        finally:
            log.append(d2s.is_grad_enabled())

    steps = f(5)
    assert next(steps) == (False, 5) and d2s.is_grad_enabled()
    assert steps.send("sent") == "second" and d2s.is_grad_enabled()
    assert steps.throw(KeyError()) == 1 and next(steps) == 2
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert end.value.value == "end" and d2s.is_grad_enabled()
    assert log == [(False, "sent"), (False, KeyError), False]
    started = f(1)
    next(started)
    started.close()
    assert log[-1] is False and len(log) == 4
    failing = f(1)
    next(failing), failing.send(None)
    with pytest.raises(ValueError, match="out"):
        failing.throw(ValueError("out"))
    assert d2s.is_grad_enabled()


def test_switches_are_of_a_thread():
    found = []
    with d2s.no_grad():
        thread = threading.Thread(target=lambda: found.append(d2s.is_grad_enabled()))
        thread.start()
        thread.join()
    assert found == [True]


# --- what a branch, a loop, a list or a call hands on


def by_loop(y, n):
    for _ in range(n):
        y = y * 0.5
    return y


def by_branch(y, n):
    if n > 0:
        y = y * 0.5
    return y


def by_list(y, n):
    kept, i = [y], 0
    while i < 2:
        kept.append(kept[-1] * 0.5)
        i += 1
    return kept[n]


def by_call(y, n):
    return y if n <= 0 else by_call(y * 0.5, n - 1)


LOOKING = {
    "hook": lambda x, y, z: (y.register_hook(lambda g: g * 10.0), (y + z).sum().backward(), x.grad.tolist())[-1],
    "kept": lambda x, y, z: (y.retain_grads(), (y * z).sum().backward(), y.grad.tolist())[-1],
    "grad": lambda x, y, z: [g is not None and g.tolist() for g in d2s.grad((z * z).sum(), [y], allow_unused=True)],
}


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("looking", LOOKING.values(), ids=LOOKING)
@pytest.mark.parametrize("handed", [by_loop, by_branch, by_list, by_call])
def test_a_result_that_was_handed_on_is_looked_at_as_what_it_is(handed, looking, n):
    """Where the path made it of nothing, it is the tensor another result was computed from."""

    def function(x, n):
        y = x * 2.0
        return handed(y, n), y * 3.0

    found = []
    for way in (function, d2s.to_static(function)):
        for _ in range(2):
            x = leaf(1.0, 2.0)
            found.append(looking(x, *way(x, d2s.to_tensor(n))))
    assert found[1:] == found[:1] * 3
