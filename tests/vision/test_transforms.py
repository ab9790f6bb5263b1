"""Transforms: Paddle's results, the same in every form of an image, draws that follow from the seed, and what is refused."""

import json
import pathlib

import numpy as np
import pytest
from transform_cases import ARRAYS, PICTURES, PILLOWS, bytes_image

import d2s
from d2s.errors import D2SError
from d2s.vision import transforms as T

BY_PADDLE = json.loads(pathlib.Path(__file__).with_name("transforms_of_paddle.json").read_text())


def in_paddle(name):
    facts = BY_PADDLE[name]
    return np.array(facts["values"], facts["dtype"]).reshape(facts["shape"])


def arrays(value):
    return value.numpy() if isinstance(value, d2s.Tensor) else np.asarray(value)


@pytest.mark.parametrize("name", list(PICTURES))
def test_arrays_come_out_as_pictures_do_in_paddle(name):
    found, wanted = arrays(PICTURES[name](T, bytes_image())), in_paddle(name)
    assert found.dtype == wanted.dtype
    assert np.allclose(found.reshape(wanted.shape), wanted, rtol=0, atol=1e-6 if wanted.dtype.kind == "f" else 0)


@pytest.mark.parametrize("name", list(ARRAYS))
def test_arrays_are_resized_as_in_paddle(name):
    found, wanted = ARRAYS[name](T, bytes_image()), in_paddle(name)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert np.abs(found.astype(int) - wanted.astype(int)).max() <= 1


@pytest.mark.parametrize("name", list(PICTURES | PILLOWS))
def test_images_of_pillow_come_out_as_in_paddle(name):
    images = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    found, wanted = (PICTURES | PILLOWS)[name](T, images.fromarray(bytes_image())), in_paddle(name)
    assert isinstance(found, images.Image) == (name.split()[0] not in ("to_tensor", "normalize"))
    assert np.allclose(arrays(found), wanted, rtol=0, atol=1e-6 if wanted.dtype.kind == "f" else 0)


KEPT = [name for name in PICTURES | ARRAYS if name.split()[0] not in ("to_tensor", "normalize")]


@pytest.mark.parametrize("name", KEPT)
def test_tensors_come_out_as_arrays_do(name):
    case = (PICTURES | ARRAYS)[name]
    tensor = d2s.to_tensor(bytes_image().transpose(2, 0, 1).copy())
    assert np.array_equal(case(T, tensor).numpy().transpose(1, 2, 0), case(T, bytes_image()))


@pytest.mark.parametrize("name", KEPT)
def test_floats_come_out_as_bytes_do(name):
    found = (PICTURES | ARRAYS)[name](T, bytes_image().astype("float32"))
    wanted = (PICTURES | ARRAYS)[name](T, bytes_image())
    assert found.dtype == np.float32
    if not name.startswith("hue"):  # which bytes know in 256 steps
        assert np.abs(np.clip(found, 0, 255) - wanted).max() < 2  # bytes are rounded, and so is what they are blended with
    assert found.min() >= 0 or "resize" in name


@pytest.mark.parametrize("name", [name for name in KEPT if "rotate about" not in name and name != "pad"])
def test_images_of_one_colour_may_have_two_axes(name):
    grey = bytes_image(colours=1)
    case = (PICTURES | ARRAYS)[name]
    found = case(T, grey[:, :, 0])
    assert np.array_equal(found.reshape((*found.shape[:2], -1)), case(T, grey))


def test_normalize_and_to_tensor_of_floats_and_tensors():
    image = np.full((3, 2, 2), 0.5, "float32")
    assert T.normalize(d2s.to_tensor(image), 0.25, 0.5).tolist() == T.normalize(image, [0.25] * 3, 0.5).tolist()
    assert T.to_tensor(image).shape == [2, 3, 2]
    assert T.to_tensor(image, "HWC").numpy().max() == 0.5
    assert T.Normalize(127.5, 127.5, "HWC")(np.zeros((2, 2), "uint8")[:, :, None]).tolist() == [[[-1.0]] * 2] * 2


def test_erase():
    image = bytes_image()
    found = T.erase(image, 1, 2, 2, 3, np.arange(18).reshape(2, 3, 3))
    assert np.array_equal(found[1:3, 2:5].reshape(-1), np.arange(18))
    assert np.array_equal(found[0], image[0])
    assert T.erase(image, 0, 0, 1, 1, 0, inplace=True) is image
    assert image[0, 0].tolist() == [0, 0, 0]
    tensor = T.erase(d2s.ones([3, 4, 4]), 1, 1, 2, 2, d2s.zeros([3, 1, 1]))
    assert tensor.numpy().sum() == 48 - 12


class Parts(T.BaseTransform):
    def _get_params(self, inputs):
        return len(inputs)

    def _apply_image(self, image):
        return "image", image, self.params

    def _apply_boxes(self, boxes):
        return "boxes"


def test_keys_name_the_parts_of_a_sample():
    assert Parts(keys=("image", "boxes"))((1, 2, 3)) == (("image", 1, 3), "boxes", 3)
    assert Parts()(1) == ("image", 1, 1)
    assert Parts(keys=("mask", None, "image"))((1, 2)) == (1, 2)
    flip = T.RandomHorizontalFlip(1.0, keys=("image", "image"))
    assert [part.tolist() for part in flip((np.eye(2), np.eye(2)))] == [[[0, 1], [1, 0]]] * 2


DRAWN = {
    "crop": T.RandomCrop(3),
    "crop padded": T.RandomCrop((8, 10), padding=1, pad_if_needed=True),
    "resized crop": T.RandomResizedCrop(4),
    "jitter": T.ColorJitter(0.4, 0.4, 0.4, 0.3),
    "brightness": T.BrightnessTransform(0.5),
    "contrast": T.ContrastTransform((0.5, 0.9)),
    "saturation": T.SaturationTransform(0.5),
    "hue": T.HueTransform(0.4),
    "rotation": T.RandomRotation(40),
    "affine": T.RandomAffine(30, (0.3, 0.3), (0.5, 1.5), (-10, 10, -5, 5)),
    "perspective": T.RandomPerspective(1.0),
    "erasing": T.RandomErasing(1.0, value="random"),
}


def drawn(transform, seed):
    d2s.seed(seed)
    return [transform(bytes_image()) for _ in range(5)]


@pytest.mark.parametrize("name", list(DRAWN))
def test_draws_follow_from_the_seed(name):
    first, again, other = (drawn(DRAWN[name], seed) for seed in (1, 1, 2))
    assert all(map(np.array_equal, first, again))
    assert not all(map(np.array_equal, first, other))
    assert len({image.tobytes() for image in first}) > 1
    assert {image.dtype for image in first} == {np.dtype("uint8")}


def test_sizes_of_drawn_parts():
    assert {image.shape for image in drawn(DRAWN["crop"], 0)} == {(3, 3, 3)}
    assert {image.shape for image in drawn(DRAWN["crop padded"], 0)} == {(8, 10, 3)}
    assert {image.shape for image in drawn(DRAWN["resized crop"], 0)} == {(4, 4, 3)}
    with pytest.raises(D2SError, match="pad_if_needed"):
        T.RandomCrop(9)(bytes_image())


def test_probabilities_and_ranges():
    image = bytes_image()
    flips = sum(not np.array_equal(T.RandomVerticalFlip(0.25)(image), image) for _ in range(400))
    assert 60 < flips < 140
    for transform in (
        T.RandomHorizontalFlip(0),
        T.RandomErasing(0),
        T.RandomPerspective(0),
        T.ColorJitter(),
        T.HueTransform(0),
    ):
        assert np.array_equal(transform(image), image)
    assert (T.BrightnessTransform(0.3).value, T.BrightnessTransform(3).value) == ((0.7, 1.3), (0, 4))
    assert T.HueTransform(0.3).value == (-0.3, 0.3)


def test_a_chain_of_all_of_it_gives_the_same_in_workers():
    prepare = T.Compose(
        [T.Pad(2), T.RandomCrop(6), T.RandomHorizontalFlip(), T.ColorJitter(0.2, 0.2), T.Grayscale(3), T.ToTensor()]
    )

    class Images(d2s.io.Dataset):
        def __getitem__(self, index):
            return T.Normalize([0.5] * 3, [0.5] * 3)(prepare(bytes_image()))

        def __len__(self):
            return 8

    def batches(workers):
        d2s.seed(4)
        return [batch.numpy() for batch in d2s.io.DataLoader(Images(), batch_size=4, num_workers=workers)]

    assert batches(0)[0].shape == (4, 3, 6, 6)
    assert np.array_equal(batches(0), batches(2))


IMAGE = bytes_image()
WRONG = {
    "what is no image": lambda: T.hflip("image"),
    "one axis": lambda: T.hflip(np.zeros(3)),
    "nothing in it": lambda: T.hflip(np.zeros((0, 3))),
    "two axes of a tensor": lambda: T.hflip(d2s.zeros([2, 2])),
    "size": lambda: T.resize(IMAGE, (1, 2, 3)),
    "size 0": lambda: T.resize(IMAGE, 0),
    "method": lambda: T.Resize(3, "wild")(IMAGE),
    "crop outside": lambda: T.crop(IMAGE, 6, 0, 1, 1),
    "padding": lambda: T.pad(IMAGE, (1, 2, 3)),
    "padding mode": lambda: T.Pad(1, padding_mode="wild"),
    "fill": lambda: T.pad(IMAGE, 1, "red"),
    "layout": lambda: T.to_tensor(IMAGE, "CWH"),
    "means": lambda: T.normalize(IMAGE, [1, 2], 1, "HWC"),
    "factor": lambda: T.adjust_brightness(IMAGE, -1),
    "hue": lambda: T.adjust_hue(IMAGE, 0.6),
    "channels": lambda: T.to_grayscale(IMAGE, 2),
    "scale": lambda: T.affine(IMAGE, 0, (0, 0), 0, (0, 0)),
    "points": lambda: T.perspective(IMAGE, [[0, 0]] * 4, [[0, 0]] * 4),
    "three points": lambda: T.perspective(IMAGE, [[0, 0]] * 3, [[0, 0]] * 3),
    "erase": lambda: T.erase(IMAGE, 0, 0, 2, 2, np.zeros(5)),
    "value": lambda: T.RandomErasing(value="wild"),
    "probability": lambda: T.RandomHorizontalFlip(2),
    "brightness": lambda: T.BrightnessTransform(-1),
    "hue transform": lambda: T.HueTransform(0.7),
    "range": lambda: T.ContrastTransform((2, 1)),
    "jitter": lambda: T.ColorJitter("much"),
    "order": lambda: T.Transpose((0, 1)),
    "translate": lambda: T.RandomAffine(3, translate=(2, 0)),
    "keys": lambda: T.Resize(3, keys="image"),
    "compose": lambda: T.Compose(3),
}


@pytest.mark.parametrize("case", list(WRONG))
def test_what_is_wrong_is_told(case):
    with pytest.raises(D2SError):
        WRONG[case]()
