"""Gradients of filters by Winograd's transforms: their error, one set of bits, and what is not finite as plain sums have it."""

import numpy as np
import pytest

import d2s
from d2s.ops.conv import conv_weight_grad
from d2s.runtime.differing import same_bits
from tests.ops.test_conv import before_a_guarded_page
from tests.ops.without_memory import without_memory

FORMS = {  # source, channels of the result, padding, groups
    "even": ((6, 32, 8, 10), 128, (1, 1, 1, 1), 1),
    "odd extents": ((2, 33, 15, 19), 150, (0, 1, 2, 1), 1),
    "two pieces": ((3, 64, 9, 11), 64, (1, 1, 1, 1), 1),
    "groups": ((40, 64, 3, 3), 260, (1, 1, 1, 1), 2),
}
MEMORY = "memory = new_memory("


def form(name):
    """Source, cotangent, attributes."""
    have, channels, padding, groups = FORMS[name]
    rng = np.random.default_rng(0)
    to = [n + low + high - 2 for n, low, high in zip(have[2:], padding[::2], padding[1::2], strict=True)]
    x, g = (rng.standard_normal(s).astype("float32") for s in (have, (have[0], channels, *to)))
    return x, g, {"stride": (1, 1), "padding": padding, "dilation": (1, 1), "groups": groups, "kernel": (3, 3)}


def found_by(x, g, attrs):
    return conv_weight_grad(d2s.to_tensor(x), d2s.to_tensor(g), **attrs).numpy()


def plainly(x, g, attrs):
    """As the gradient of filters of volumes that are one plane thick."""
    deep = {k: (1, *attrs[k]) for k in ("stride", "dilation", "kernel")}
    deep |= {"padding": (0, 0, *attrs["padding"]), "groups": attrs["groups"]}
    return found_by(x[:, :, None], g[:, :, None], deep)[:, :, 0]


@pytest.mark.parametrize("name", FORMS)
def test_the_error_is_within_three_times_that_of_plain_sums(name):
    x, g, attrs = form(name)
    exact = found_by(x.astype("float64"), g.astype("float64"), attrs)
    error, other = (np.abs(f(x, g, attrs) - exact).max() for f in (found_by, plainly))
    assert 0 < error <= 3 * other
    assert not same_bits(found_by(x, g, attrs), plainly(x, g, attrs))
    assert same_bits(
        found_by(x[:1, :32], g[:1, :63], attrs | {"groups": 1}), plainly(x[:1, :32], g[:1, :63], attrs | {"groups": 1})
    )


@pytest.mark.parametrize("what", [1.0, np.inf, np.nan])
@pytest.mark.parametrize("name", FORMS)
def test_bits(name, what):
    x, g, attrs = form(name)
    x *= np.float32(0.01)
    x.flat[5] = what / 100
    g.flat[-5:-1] = 3e38 if what == 1.0 else 1.0  # two of which leave float32
    found, expected = found_by(x, g, attrs), plainly(x, g, attrs)
    assert same_bits(found, without_memory(conv_weight_grad, (x, g), attrs, MEMORY))
    odd = ~np.isfinite(expected)
    assert odd.any() == (what != 1.0)
    assert same_bits(found[odd], expected[odd])
    assert np.isfinite(found[~odd]).all()
    held = [before_a_guarded_page(a) for a in (x, g)]
    assert same_bits(conv_weight_grad(*map(d2s.Tensor, held), **attrs).numpy(), found)
