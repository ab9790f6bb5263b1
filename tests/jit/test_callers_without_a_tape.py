"""Callers under `no_grad()`: where a function has more to say of tapes than its caller, both are heard, as in eager code."""

import contextlib
import io

import pytest

import d2s
import d2s.nn.functional as F
from d2s.errors import CaptureError

W = d2s.to_tensor([3.0, 1.0], stop_gradient=False)


def asks(x):
    return x * 2 * W if d2s.is_grad_enabled() else x * 3


def enables(x):
    with d2s.enable_grad():
        y = x * W
    return y, x * W


@d2s.enable_grad()
def is_enabled(x):
    return x * W


def calls_one_that_is(x):
    return is_enabled(x) + x


def sets(x):
    with d2s.set_grad_enabled(True):
        y = x * W
    with d2s.set_grad_enabled(x.shape[0] > 2):
        z = y * W
    return y, z


def decorates(x):
    @d2s.no_grad()
    def without(v):
        return v * W

    @d2s.enable_grad()
    def with_one(v):
        return v * W

    @d2s.set_grad_enabled(False)
    def without_either(v):
        return v * W * W

    return without(x), with_one(x), without_either(x)


def begins_anew(x):
    y = F.relu(x)
    y.stop_gradient = False
    return y, y * 2


def hands_on(x):
    y = x + 0
    y.stop_gradient = x.stop_gradient
    return y


def shows_what_it_took(x):
    if x.sum() > 0:
        y = x
    else:
        y = W
    print(y)
    return y


def shows_states(x):
    while x.abs().sum() < 20:
        print(x)
        x = x * 2
    return x


def shows_in_between(x):
    e = x * W
    with d2s.enable_grad():
        print(e, x)
        u = e * W
        with d2s.no_grad():
            v = u * W
            print(u, v)
    return u, v, e


def takes_a_gradient(x):
    with d2s.enable_grad():
        y = (x * W).sum()
        (g,) = d2s.grad(y, x)
    return g


def goes_back_in_a_copy(x):
    with d2s.enable_grad():
        z = x.detach()
        z.stop_gradient = False
        y = (z * z).sum()
        y.backward()
    return z.grad, y.detach()


def takes_a_path_with_one(x):
    y = x * W
    with d2s.enable_grad():
        if x.sum() > 0:
            z = x * y
        else:
            z = y
        for _ in range(3):
            z = z * W
    return z, y


def counts_trips_with_one(x):
    h = x * W
    while h.abs().sum() < 50:
        with d2s.enable_grad():
            h = h * W
        h = h + x
    return h


FUNCTIONS = [asks, enables, is_enabled, calls_one_that_is, sets, decorates, begins_anew, hands_on, shows_what_it_took]
FUNCTIONS += [
    shows_states,
    shows_in_between,
    takes_a_gradient,
    goes_back_in_a_copy,
    takes_a_path_with_one,
    counts_trips_with_one,
]


def came(function, with_tape, stops, sign):
    """What a call gives, says and leaves: or how it ends."""
    W.clear_gradient()
    x, said = d2s.to_tensor([1.0 * sign, 2.0 * sign], stop_gradient=stops), io.StringIO()
    with contextlib.redirect_stdout(said):
        try:
            with d2s.set_grad_enabled(with_tape):
                results = function(x)
        except d2s.errors.D2SError as error:
            return type(error), error.code, said.getvalue()
    results = results if isinstance(results, tuple) else (results,)
    values = [(y.stop_gradient, y.is_leaf, y.tolist()) for y in results]
    for y in results:
        if not y.stop_gradient:
            y.sum().backward(retain_graph=True)
    return values, said.getvalue(), *(t.grad is not None and t.grad.tolist() for t in (x, W))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize(
    "modes", [(False, False, True, True, False), (True, False, True, False, False)], ids=["without", "with"]
)
def test_a_call_is_what_it_is_in_eager_code_whoever_called_before(function, modes):
    static = d2s.to_static(function)
    for with_tape in modes:
        for stops in (False, True):
            for sign in (1, -1, 1):
                assert came(static, with_tape, stops, sign) == came(function, with_tape, stops, sign)


def test_a_function_that_only_computes_is_captured_once_for_both():
    static = d2s.to_static(lambda x: d2s.tanh(x * W) if x.sum() > 0 else x)
    for with_tape in (True, False, True):
        came(static, with_tape, False, 1)
    assert len(static.variants) == 1
    static = d2s.to_static(enables)
    for with_tape in (True, False, True, False):
        came(static, with_tape, False, 1)
    assert len(static.variants) == 2


def test_a_switch_that_holds_from_there_on_is_refused():
    def stops(x):
        d2s.set_grad_enabled(False)
        return x * W

    with pytest.raises(CaptureError, match="that holds from here on") as refused:
        d2s.to_static(stops)(d2s.ones([2]))
    assert refused.value.hint.startswith("with d2s.set_grad_enabled(...)")
    assert d2s.is_grad_enabled()
