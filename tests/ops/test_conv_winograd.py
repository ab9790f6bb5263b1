"""Convolutions by Winograd's transforms: their error, one set of bits, and what is not finite as plain sums have it.

The same convolution as one of volumes that are one plane thick goes the plain way, so it is what to hold it against.
"""

import numpy as np
import pytest

import d2s
from d2s.ops.conv import conv_, conv_transpose_
from d2s.runtime.differing import same_bits
from tests.ops.test_conv import before_a_guarded_page, written_out
from tests.ops.without_memory import without_memory

FORMS = {  # source, filters, padding, groups
    "even": ((4, 32, 8, 10), (40, 32, 3, 3), (1, 1, 1, 1), 1),
    "odd extents": ((2, 64, 17, 41), (32, 64, 3, 3), (0, 1, 2, 1), 1),
    "tiny images": ((50, 36, 2, 3), (33, 36, 3, 3), (1, 1, 1, 1), 1),
    "many channels": ((13, 140, 4, 4), (70, 140, 3, 3), (1, 1, 1, 1), 1),
    "many channels, some pieces": ((20, 130, 6, 6), (100, 130, 3, 3), (1, 1, 1, 1), 1),
    "groups": ((3, 66, 9, 9), (70, 33, 3, 3), (2, 2, 2, 2), 2),
    "cut in two": ((1, 32, 14, 14), (512, 32, 3, 3), (1, 1, 1, 1), 1),
    "too few": ((1, 32, 9, 8), (32, 32, 3, 3), (1, 1, 1, 1), 1),
}


def form(name, dtype="float32"):
    """Source, cotangent, filters, a bias and attributes."""
    have, filters, padding, groups = FORMS[name]
    rng = np.random.default_rng(0)
    x, weight, bias = (rng.standard_normal(s).astype(dtype) for s in (have, filters, filters[0]))
    attrs = {"stride": (1, 1), "padding": padding, "dilation": (1, 1), "groups": groups}
    to = [n + low + high - 2 for n, low, high in zip(have[2:], padding[::2], padding[1::2], strict=True)]
    return x, rng.standard_normal((have[0], filters[0], *to)).astype(dtype), weight, bias, attrs


def both(x, g, weight, bias, attrs):
    """The calls a form is used in: op, arrays, attributes."""
    yield conv_, (x, weight, bias), attrs
    yield conv_transpose_, (g, weight), attrs | {"size": x.shape[2:]}


def plainly(op, arrays, attrs):
    """As a convolution of volumes."""
    deep = {k: ((v[0] if k == "size" else 1), *v) for k, v in attrs.items() if k not in ("padding", "groups", "size")}
    deep |= {"padding": (0, 0, *attrs["padding"]), "groups": attrs["groups"]}
    deep |= {"size": (1, *attrs["size"])} if "size" in attrs else {}
    found = op(*(d2s.to_tensor(a[:, :, None] if a.ndim > 1 else a) for a in arrays), **deep)
    return found.numpy()[:, :, 0]


def found_by(op, arrays, attrs):
    return op(*map(d2s.to_tensor, arrays), **attrs).numpy()


def differs(op, arrays, attrs):
    return not same_bits(found_by(op, arrays, attrs), plainly(op, arrays, attrs))


@pytest.mark.parametrize("name", FORMS)
def test_the_error_is_within_three_times_that_of_plain_sums(name):
    x, g, weight, bias, attrs = form(name)
    for op, arrays, more in both(x, g, weight, bias, attrs):
        wide = [a.astype("float64") for a in arrays]
        exact = found_by(op, wide, more)
        error, other = (np.abs(f(op, arrays, more) - exact).max() for f in (found_by, plainly))
        assert 0 < error <= 3 * other
        terms = 9 * arrays[0].shape[1] // attrs["groups"]
        assert error <= 2.0**-24 * terms * 3  # of numbers around 1
    np.testing.assert_allclose(
        found_by(conv_, (x, weight, bias), attrs) - bias[:, None, None], written_out(x, weight, **attrs), atol=1e-3
    )


def test_which_convolutions_go_this_way():
    for name in FORMS:
        x, g, weight, bias, attrs = form(name)
        assert all(differs(*case) == (name != "too few") for case in both(x, g, weight, bias, attrs)), name
    x, _, weight, bias, attrs = form("even")
    assert not differs(conv_, (x.astype("f8"), weight.astype("f8"), bias.astype("f8")), attrs)
    assert not differs(conv_, (x, weight, bias), attrs | {"stride": (2, 2)})
    assert not differs(conv_, (x, weight, bias), attrs | {"dilation": (2, 2)})
    assert not differs(conv_, (x[:, :31], weight[:, :31], bias), attrs)


def spoiled(name, what):
    """A form in which some numbers are not finite, or so large that their sums are not."""
    x, g, weight, bias, attrs = form(name)
    for a in (x, g):
        a.flat[5] = {"inf": np.inf, "nan": np.nan}.get(what, 1.0)
        a.flat[5:9] = 3e38 if what == "large" else a.flat[5:9]
    weight *= np.float32(1e-3 if what == "large" else 1)
    if what == "weights":
        weight.flat[3], weight.flat[-1] = np.inf, np.nan
    return x, g, weight, bias, attrs


@pytest.mark.parametrize("what", ["", "inf", "nan", "weights"])
@pytest.mark.parametrize("name", FORMS)
def test_without_memory_the_bits_are_the_same(name, what):
    if what and name not in ("even", "groups"):
        return
    for op, arrays, attrs in both(*(spoiled(name, what) if what else form(name))):
        assert same_bits(found_by(op, arrays, attrs), without_memory(op, arrays, attrs, "memory = new_memory("))


@pytest.mark.parametrize("what", ["inf", "nan", "weights", "large"])
@pytest.mark.parametrize("name", ["even", "odd extents", "many channels, some pieces", "groups"])
def test_what_is_not_finite_is_so_in_plain_sums_too(name, what):
    for op, arrays, attrs in both(*spoiled(name, what)):
        found, expected = found_by(op, arrays, attrs), plainly(op, arrays, attrs)
        same = np.isfinite(expected)
        assert same.sum() > 0
        assert (same.all()) == (what == "large")
        assert same_bits(found[~same], expected[~same])
        np.testing.assert_allclose(found[same], expected[same], 1e-5, 1e-3)


@pytest.mark.parametrize("name", ["odd extents", "groups"])
def test_nothing_outside_of_an_input_is_read(name):
    for op, arrays, attrs in both(*form(name)):
        held = [before_a_guarded_page(a) for a in arrays]
        assert same_bits(op(*map(d2s.Tensor, held), **attrs).numpy(), found_by(op, arrays, attrs))
