"""Sizes that follow from other images: one graph for all of them, one file, and the bits of eager code, gradients too."""

import os
import subprocess

import numpy as np
import pytest

import d2s
from d2s.nn import functional as F
from d2s.static import InputSpec
from tests.export.asked_elsewhere import PADDLES, agree, asked, write


def pyramid(x):
    small, wide = F.avg_pool2d(x, 4), F.avg_pool2d(x, 2)
    return F.interpolate(small, size=wide.shape[2:], mode="nearest") + wide


def back_to_the_input(x):
    return F.interpolate(F.max_pool2d(x, 2), size=[x.shape[2], x.shape[3]], mode="bilinear", align_corners=True) * x


def by_a_shape(x):
    return d2s.concat([F.interpolate(F.max_pool2d(x, 2), size=d2s.shape(x)[2:], mode="bilinear"), x], 1)


def halved(x):
    return F.interpolate(x, size=[x.shape[2] // 2, x.shape[3] // 2 + 1], mode="bicubic")


def one_axis(x):
    return F.interpolate(x, size=[3, x.shape[3]], mode="bilinear", align_mode=1)


def as_a_signal(x):
    return F.interpolate(x.flatten(2), size=[x.shape[2] * 2], mode="linear")


def filled(x):
    return d2s.full(d2s.shape(x)[2:], 1.5) + x[0, 0]


def spread(x):
    return x[:1, :1].expand(d2s.shape(x)) * x


def laid_out(x):
    return x.transpose([0, 2, 3, 1]).reshape(d2s.shape(x)) * 2.0


FUNCTIONS = [pyramid, back_to_the_input, by_a_shape, halved, one_axis, as_a_signal, filled, spread, laid_out]
SPEC = [InputSpec([None, 3, None, None], name="x")]
SIZES = [(2, 8, 12), (4, 9, 8), (3, 17, 10)]


def images(b, h, w):
    return np.random.default_rng(h).normal(size=(b, 3, h, w)).astype("float32")


def found(function, x):
    given = d2s.to_tensor(x, stop_gradient=False)
    y = function(given)
    (y * y).sum().backward()
    return y.numpy(), given.grad.numpy()


def same(one, other, sizes=SIZES):
    for size in sizes:
        for a, b in zip(found(one, images(*size)), found(other, images(*size)), strict=True):
            np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_one_graph_is_for_all_sizes(function):
    static = d2s.to_static(function, input_spec=SPEC)
    same(function, static)
    assert len(static.variants) == 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sizes")
    for function in FUNCTIONS:
        write(folder, function.__name__, d2s.to_static(function), SPEC, [[images(*size)] for size in SIZES])
    return folder


@pytest.mark.parametrize("function", FUNCTIONS)
def test_one_file_is_for_all_sizes(folder, function):
    same(function, d2s.jit.load(f"{folder}/{function.__name__}"))


@pytest.mark.parametrize("variable", [*PADDLES, "D2S_ONNX_PYTHON"])
def test_others_compute_the_same(folder, variable):
    ways = asked(folder, variable)
    for function in FUNCTIONS:
        agree(folder, function.__name__, function, [[images(*size)] for size in SIZES], ways)


def test_a_size_of_none_is_refused_by_the_run():
    static = d2s.to_static(lambda x, n: F.interpolate(x, size=[n, 2]), input_spec=[*SPEC, InputSpec([], "int64")])
    assert static(d2s.ones([1, 3, 4, 4]), d2s.to_tensor(3)).shape == [1, 3, 3, 2]
    with pytest.raises(d2s.errors.ArgumentError, match=r"D2S0004.*interpolate.*'size'"):
        static(d2s.ones([1, 3, 4, 4]), d2s.to_tensor(0))


GENUINE = """
import sys, numpy, paddle
F = paddle.nn.functional

def pyramid(x):
    return F.interpolate(F.avg_pool2d(x, 4), size=F.avg_pool2d(x, 2).shape[2:])

def by_a_shape(x):
    return F.interpolate(F.max_pool2d(x, 2), size=paddle.shape(x)[2:], mode="bilinear")

def halved(x):
    return F.interpolate(x, size=paddle.shape(x)[2:] // 2, mode="nearest")

for function in (pyramid, by_a_shape, halved):
    path = f"{sys.argv[1]}/{function.__name__}"
    paddle.jit.save(paddle.jit.to_static(function), path, input_spec=[paddle.static.InputSpec([None, 3, None, None])])
    for k in range(3):
        x = numpy.load(f"{sys.argv[1]}/x.{k}.npy")
        numpy.save(f"{path}.{k}.npy", paddle.jit.load(path)(paddle.to_tensor(x)).numpy())
"""


@pytest.mark.parametrize("variable", PADDLES)
def test_what_paddle_writes_of_such_sizes_is_read(variable, tmp_path):
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} does not name an interpreter")
    for k, size in enumerate(SIZES):
        np.save(f"{tmp_path}/x.{k}.npy", images(*size))
    environment = os.environ | {"FLAGS_enable_pir_api": "0"}
    (tmp_path / "written.py").write_text(GENUINE)
    subprocess.run([python, tmp_path / "written.py", tmp_path], env=environment, check=True, capture_output=True, timeout=300)
    for name in ("pyramid", "by_a_shape", "halved"):
        loaded = d2s.jit.load(f"{tmp_path}/{name}")
        for k, size in enumerate(SIZES):
            found = loaded(d2s.to_tensor(images(*size))).numpy()
            np.testing.assert_allclose(found, np.load(f"{tmp_path}/{name}.{k}.npy"), rtol=1e-4, atol=1e-5)
