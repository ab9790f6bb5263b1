"""Convolutions with one filter of 3x3 per channel: their bits are those of the same convolution of volumes one plane thick."""

import itertools

import numpy as np
import pytest

import d2s
from d2s.ops.conv import conv_, conv_transpose_, conv_weight_grad
from d2s.runtime.differing import same_bits
from tests.ops.test_conv_winograd import plainly

EXTENTS = [(1, 5), (3, 7), (14, 8), (2, 16), (9, 17), (4, 50)]
PADDINGS = [(1, 1, 1, 1), (0, 0, 0, 0), (0, 1, 2, 0), (3, 2, 1, 4), (1, 0, 240, 7)]


def forms(stride, dtype):
    """Source, filters, a bias and attributes: several images and one, so that filters are alike side by side, and are not."""
    rng = np.random.default_rng(0)
    for (height, width), padding, images in itertools.product(EXTENTS, PADDINGS, (1, 4)):
        if height + padding[0] + padding[1] >= 3:
            shapes = (images, 3, height, width), (3, 1, 3, 3), (3,)
            arrays = [rng.standard_normal(s).astype(dtype) for s in shapes]
            yield *arrays, {"stride": (stride,) * 2, "padding": padding, "dilation": (1, 1), "groups": 3}


@pytest.mark.parametrize("spoiled", ["", "source", "filters"])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits(dtype, stride, spoiled):
    for x, weight, bias, attrs in forms(stride, dtype):
        x.flat[0] = np.inf if spoiled == "source" else -0.0
        weight.flat[1] = np.inf if spoiled == "filters" else weight.flat[1]
        with np.errstate(all="ignore"):
            y = conv_(*map(d2s.to_tensor, (x, weight, bias)), **attrs).numpy()
            assert same_bits(y, plainly(conv_, (x, weight, bias), attrs))
            g = np.random.default_rng(1).standard_normal(y.shape).astype(dtype)
            g.flat[-1] = np.nan if spoiled == "source" else 1.0
            more = attrs | {"size": x.shape[2:]}
            found = conv_transpose_(*map(d2s.to_tensor, (g, weight)), **more).numpy()
            assert same_bits(found, plainly(conv_transpose_, (g, weight), more))


@pytest.mark.parametrize("spoiled", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_of_the_gradient_of_filters(dtype, spoiled):
    for x, weight, _, attrs in forms(1, dtype):
        if attrs["padding"][2] > 100:
            continue
        x.flat[0], weight.flat[0] = np.inf if spoiled else -0.0, 0.0
        y = conv_(*map(d2s.to_tensor, (x, weight)), **attrs)
        g = np.random.default_rng(1).standard_normal(y.shape).astype(dtype)
        g[..., -1], g.flat[-1] = -0.0, np.inf if spoiled else 1e-42
        with np.errstate(all="ignore"):
            found = conv_weight_grad(*map(d2s.to_tensor, (x, g)), **attrs, kernel=(3, 3)).numpy()
            deep = {"stride": 1, "dilation": 1, "groups": 3, "kernel": (1, 3, 3), "padding": (0, 0, *attrs["padding"])}
            other = conv_weight_grad(*(d2s.to_tensor(a[:, :, None]) for a in (x, g)), **deep).numpy()
        assert same_bits(found, other[:, :, 0]), (x.shape, attrs)


def test_no_images():
    for stride in (1, 2):
        attrs = {"stride": stride, "padding": 1, "groups": 3}
        assert conv_(d2s.zeros([0, 3, 8, 8]), d2s.ones([3, 1, 3, 3]), **attrs).shape == [0, 3, 8 // stride, 8 // stride]
