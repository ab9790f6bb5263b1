"""Hooks in sweeps towards some tensors: they run where the path that a call has taken leads there, and nowhere else."""

import pytest

import d2s

W = d2s.to_tensor([1.0, 2.0], stop_gradient=False)


def by_path(x):
    z = W * x
    if x.sum() > 0:
        z = W * 1.0
    return z


def in_trips(x):
    z = W * 1.0
    while z.sum() < x.sum():
        z = z * x
    return z


def two_results(x):
    z = W * 3.0
    if x.sum() < 0:
        z = z * x
    return z, x * 2.0


def hooked_result(call, x):
    first = call(x)
    first = first if isinstance(first, tuple) else (first,)
    return first[0], [first[0]]


def hooked_behind(call, x):
    first, _ = hooked_result(call, x)
    later = first * 2.0
    return later, [later]


def hooked_between_calls(call, x):
    first, _ = hooked_result(call, x)
    between = first * 1.0
    return hooked_result(call, between)[0], [between]


def seen(call, chain, values):
    """The gradients, and what the hooks saw."""
    W.clear_gradient(set_to_zero=False)
    x, log = d2s.to_tensor(values, stop_gradient=False), []
    end, hooked = chain(call, x)
    for t in hooked:
        t.register_hook(lambda g: log.append(g.tolist()))
    other, _ = chain(call, x)
    gradients = d2s.grad(end.sum() + (other * other).sum(), [other, x], allow_unused=True)
    return [None if g is None else g.tolist() for g in gradients], log


@pytest.mark.parametrize("chain", [hooked_result, hooked_behind, hooked_between_calls], ids=lambda f: f.__name__)
@pytest.mark.parametrize("function", [by_path, in_trips, two_results], ids=lambda f: f.__name__)
def test_hooks_run_where_the_path_leads(function, chain):
    static = d2s.to_static(function)
    for values in [[1.0, 2.0], [-1.0, -2.0], [3.0, 1.5]] * 2:
        assert seen(static, chain, values) == seen(function, chain, values)
