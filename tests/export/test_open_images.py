"""Layers saved for images of any size: the same bits as before, gradients too; what the ops alone mean; what is too small.

Real Paddle, ONNX Runtime and OpenVINO run them in `test_models`, `test_onnx` and `test_openvino`.
"""

import numpy as np
import pytest

import d2s
from d2s.errors import FormatError, ShapeError
from d2s.ir.text import parse
from d2s.nn import functional as F
from d2s.static import InputSpec
from tests.export.open_images import LAYERS, images
from tests.export.test_paddle_round_trip import strip

ANY = [InputSpec([None, 3, None, None], name="x")]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The folder, and the layers in it by name."""
    folder, layers = tmp_path_factory.mktemp("images"), {}
    for name, make in LAYERS.items():
        d2s.seed(3)
        layers[name] = make()
        layers[name].eval()
        d2s.jit.save(layers[name], str(folder / name), ANY)
    return folder, layers


def outputs(layer, x):
    found = layer(x)
    return list(found) if isinstance(found, (tuple, list)) else [found]


def gradients(layer, array):
    """What the outputs' squares say of the images and of the parameters."""
    x = d2s.to_tensor(array, stop_gradient=False)
    sum(y.square().sum() for y in outputs(layer, x)).backward()
    state = layer.state_dict()
    return [x.grad.numpy()] + [state[key].grad.numpy() for key in sorted(state) if state[key].grad is not None]


@pytest.mark.parametrize("name", LAYERS)
def test_a_loaded_layer_gives_the_same_bits_for_every_size(saved, name):
    folder, layers = saved
    loaded = d2s.jit.load(str(folder / name))
    for array in images():
        pairs = [(f(layers[name], x), f(loaded, x)) for f, x in ((outputs, d2s.to_tensor(array)), (gradients, array))]
        for before, after in pairs:
            assert len(before) == len(after)
            assert all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(before, after, strict=True))
        for layer in (layers[name], loaded):
            layer.clear_gradients()


@pytest.mark.parametrize("name", sorted(LAYERS.keys() - {"laid"}))  # whose shapes are reckoned by ops of the file
def test_the_ops_alone_mean_the_same(saved, name, tmp_path):
    folder, layers = saved
    for file in folder.glob(f"{name}.*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    strip(tmp_path / name)
    bare = d2s.jit.load(str(tmp_path / name))
    for array in images():
        for have, want in zip(outputs(bare, d2s.to_tensor(array)), outputs(layers[name], d2s.to_tensor(array)), strict=True):
            np.testing.assert_allclose(have.numpy(), want.numpy(), rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["narrowing", "padded"])
def test_images_that_are_too_small_are_refused_as_eagerly(saved, name):
    folder, layers = saved
    x, said = d2s.zeros([1, 3, 1, 1]), []
    for layer in (layers[name], d2s.jit.load(str(folder / name))):
        with pytest.raises(ShapeError) as caught:
            layer(x)
        said.append(caught.value.message)
    assert said[0] == said[1]


def test_a_file_does_not_say_itself_how_large_a_result_is(saved, tmp_path):
    folder, _ = saved
    for file in folder.glob("padded.*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    path = tmp_path / "padded.pdmodel"
    path.write_bytes(path.read_bytes().replace(b"n1+1/2", b"n1+9/2"))
    found = d2s.jit.load(str(tmp_path / "padded"))  # by its ops, which say nothing of the kind
    assert "n1+9/2" not in repr(found.program())


@pytest.mark.parametrize("extent", ["n1+1/0", "n1*0", "n1/2/2", "n1+01/2", "n1+1/2*2000000000000000000"])
def test_extents_that_nobody_writes_are_refused(extent):
    text = f"program f(x: f32[n1]) -> (f32[{extent}]) {{ %0: f32[{extent}] = pad_with(x, x) return %0 }}"
    assert parse(text.replace(extent, "n1*3-1/2"))
    with pytest.raises(FormatError, match=r"expected an? (extent|name)"):
        parse(text)


def test_a_function_that_asks_how_large_images_became(tmp_path):
    """What is read of an open extent is a number of the run."""

    @d2s.jit.to_static
    def f(x):
        y = F.max_pool2d(x, 2, 2)
        return y.sum() * y.shape[2], d2s.zeros([y.shape[2], 2]) + y.shape[3], y.reshape([y.shape[0], -1])

    d2s.jit.save(f, str(tmp_path / "f"), ANY)
    loaded = d2s.jit.load(str(tmp_path / "f"))
    for array in images():
        for a, b in zip(f(d2s.to_tensor(array)), loaded(d2s.to_tensor(array)), strict=True):
            assert a.numpy().tobytes() == b.numpy().tobytes()


def test_a_declared_program_for_images_of_any_size_is_saved(tmp_path):
    static = d2s.static
    d2s.enable_static()
    try:
        with static.program_guard(static.Program(), static.Program()):
            x = static.data("x", [None, 3, None, None], "float32")
            y = F.relu(static.nn.conv2d(x, 4, 3, stride=2, padding=1))
            out = [F.adaptive_avg_pool2d(F.max_pool2d(y, 2, 2), 1).flatten(1), F.pad(y, [1, 1, 1, 1])]
            exe = static.Executor()
            exe.run(static.default_startup_program())
            wanted = [exe.run(feed={"x": array}, fetch_list=out) for array in images()]
            static.save_inference_model(str(tmp_path / "net"), [x], out, exe)
        program, feeds, fetches = static.load_inference_model(str(tmp_path / "net"), exe)
        for array, want in zip(images(), wanted, strict=True):
            found = exe.run(program, feed={feeds[0]: array}, fetch_list=fetches)
            assert all(a.tobytes() == b.tobytes() for a, b in zip(found, want, strict=True))
    finally:
        d2s.disable_static()
