"""Published datasets and folders of images: the files read right, hostile ones refused, missing ones named or fetched."""

import functools
import gzip
import hashlib
import http.server
import io
import pathlib
import pickle
import struct
import tarfile
import threading

import numpy as np
import pytest

import d2s
from d2s.errors import D2SError, FileError, FormatError
from d2s.vision.datasets import MNIST, Cifar10, Cifar100, DatasetFolder, FashionMNIST, ImageFolder
from d2s.vision.datasets.files import Source

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"


@pytest.fixture(autouse=True)
def home(monkeypatch):
    monkeypatch.setenv("D2S_DATA_HOME", str(SAMPLES))
    yield
    d2s.vision.set_image_backend("pil")


# --- digits


def test_digits():
    d2s.vision.set_image_backend("cv2")
    digits = MNIST(mode="test")
    assert [digits[k][1].tolist() for k in range(4)] == [[7], [2], [1], [0]]
    image, label = digits[-1]
    assert (image.shape, image.dtype, label.dtype, label.shape) == ((28, 28), np.float32, np.int64, (1,))
    assert (image.min(), image.max()) == (0, 255)
    image, label = next(iter(d2s.io.DataLoader(digits, batch_size=16)))
    assert (image.shape, label.shape, image.dtype, label.dtype) == ([16, 28, 28], [16, 1], d2s.float32, d2s.int64)


def test_images_of_pillow_or_the_bytes_in_them():
    image, _ = MNIST(mode="test", backend="pil")[0]
    array = np.asarray(image)
    assert (array.dtype, array.shape) == (np.uint8, (28, 28))
    changed, _ = MNIST(mode="test", transform=lambda image: np.asarray(image)[:2])[0]
    assert changed.shape == (2, 28)


def test_files_may_lie_elsewhere_and_be_unpacked(tmp_path):
    for name in ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"):
        (tmp_path / name).write_bytes(gzip.decompress((SAMPLES / "mnist" / f"{name}.gz").read_bytes()))
    digits = MNIST(tmp_path / "t10k-images-idx3-ubyte", str(tmp_path / "t10k-labels-idx1-ubyte"), mode="test")
    assert np.array_equal(digits.images, MNIST(mode="test").images)
    with pytest.raises(FormatError, match=r"images, .* labels"):
        MNIST(tmp_path / "t10k-images-idx3-ubyte", SAMPLES / "mnist/train-labels-idx1-ubyte.gz")


def test_the_readers_of_old():
    image, label = next(d2s.dataset.mnist.train()())
    assert (image.shape, image.dtype, type(label)) == ((784,), np.float32, int)
    assert (image.min(), image.max()) == (-1, 1)
    first = next(d2s.batch(d2s.dataset.mnist.test(), batch_size=8)())
    assert [label for _, label in first][:4] == [7, 2, 1, 0]
    hashed = hashlib.md5(b"".join(image.tobytes() for image, _ in first[:2])).hexdigest()
    assert hashed == "ce46eec170aeb23a237f9daae90137bc"  # of Paddle 3.3's


IDX = struct.pack(">IIII", 0x803, 1, 28, 28)
DAMAGED = {
    "empty": b"",
    "short": IDX,
    "long": IDX + bytes(785),
    "another rank": struct.pack(">II", 0x801, 784) + bytes(784),
    "a huge shape": struct.pack(">IIII", 0x803, 1 << 31, 1 << 31, 1 << 31) + bytes(100),
    "half packed": gzip.compress(IDX + bytes(784))[:-12],
    "no packing": b"\x1f\x8b" + bytes(40),
    "packed sum": gzip.compress(IDX + bytes(784))[:-8] + bytes(8),
}


@pytest.mark.parametrize("case", list(DAMAGED))
def test_damaged_digits_are_refused(case, tmp_path):
    (tmp_path / "images").write_bytes(DAMAGED[case])
    with pytest.raises(FormatError, match="D2S3001"):
        MNIST(tmp_path / "images", SAMPLES / "mnist/t10k-labels-idx1-ubyte.gz")


def test_a_missing_file_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("D2S_DATA_HOME", str(tmp_path))
    with pytest.raises(FileError) as caught:
        FashionMNIST(download=False)
    for words in (
        f"{tmp_path}/fashion-mnist/train-images-idx3-ubyte.gz is missing",
        "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "download=False",
        "D2S_DATA_HOME",
    ):
        assert words in str(caught.value)


def test_without_a_home_files_are_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("D2S_DATA_HOME")
    monkeypatch.setenv("D2S_CACHE_DIR", str(tmp_path))
    with pytest.raises(FileError, match=f"{tmp_path}/datasets/mnist/train-images"):
        MNIST(download=False)


# --- downloads


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    handler = functools.partial(Silent, directory=str(SAMPLES / "mnist"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def source(server, name, md5=None):
    return Source(name, server, md5 or hashlib.md5((SAMPLES / "mnist" / name).read_bytes()).hexdigest())


def test_what_is_missing_is_downloaded_once(server, tmp_path, monkeypatch):
    monkeypatch.setenv("D2S_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(MNIST, "TEST_IMAGE", source(server, "t10k-images-idx3-ubyte.gz"))
    monkeypatch.setattr(MNIST, "TEST_LABEL", source(server, "t10k-labels-idx1-ubyte.gz"))
    assert len(MNIST(mode="test")) == len(MNIST(mode="test", download=False)) > 100
    assert len(list((tmp_path / "mnist").iterdir())) == 2


def test_a_wrong_sum_or_a_missing_page_leaves_nothing(server, tmp_path, monkeypatch):
    monkeypatch.setenv("D2S_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    for name, message in (("t10k-images-idx3-ubyte.gz", "MD5 sum"), ("nothing.gz", "404")):
        monkeypatch.setattr(MNIST, "TEST_IMAGE", source(server, name, "0" * 32))
        with pytest.raises(FileError, match=message):
            MNIST(mode="test")
        assert list((tmp_path / "mnist").iterdir()) == []


# --- CIFAR


def python2_pickle(images, labels, key):
    """A pickle as Python 2 wrote CIFAR's: strings are opcodes U and T, the array is made by numpy.core."""
    data = images.tobytes()
    text = b"T" + struct.pack("<I", len(data)) + data
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01"
    array += b"J" + struct.pack("<i", len(images)) + b"M\x00\x0c\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R"
    array += b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89" + text + b"tb"
    listed = b"](" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    name = b"U" + bytes([len(key)]) + key
    return b"\x80\x02}q\x01(U\x04dataq\x02" + array + name + listed + b"U\x0bbatch_labelU\x05batch" + b"u."


def archive(path, members):
    with tarfile.open(path, "w:gz") as tar:
        for name, data in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(data)
            tar.addfile(about, io.BytesIO(data))
    return path


def pictures(number):
    return (np.arange(2 * 3072) * number).astype("uint8").reshape(2, 3072)


def test_cifar_10_in_the_order_of_the_names(tmp_path):
    members = {f"cifar/data_batch_{k}": python2_pickle(pictures(k), [k, 9], b"labels") for k in (2, 1)}
    members["cifar/test_batch"] = pickle.dumps({"data": pictures(3), "labels": [7, 8]}, 2)
    path = archive(tmp_path / "cifar.tar.gz", members | {"cifar/readme.html": b"words"})
    train, test = Cifar10(path, backend="cv2"), Cifar10(path, "test", backend="pil")
    assert [label.tolist() for _, label in train] == [1, 9, 2, 9]
    image, label = train[1]
    assert (image.shape, image.dtype, label.shape, label.dtype) == ((32, 32, 3), np.float32, (), np.int64)
    assert np.array_equal(image, pictures(1)[1].reshape(3, 32, 32).transpose(1, 2, 0))
    assert np.array_equal(np.asarray(test[0][0]), pictures(3)[0].reshape(3, 32, 32).transpose(1, 2, 0))
    assert np.asarray(test[0][0]).dtype == np.uint8


def test_cifar_100_reads_the_fine_labels(tmp_path):
    members = {"cifar-100/train": python2_pickle(pictures(1), [99, 3], b"fine_labels")}
    assert [label.item() for _, label in Cifar100(archive(tmp_path / "c.tgz", members))] == [99, 3]
    with pytest.raises(FormatError, match="named test"):
        Cifar100(tmp_path / "c.tgz", mode="test")


class Evil:
    def __reduce__(self):
        return pathlib.Path.touch, (pathlib.Path("evil"),)


HOSTILE = {
    "calls": pickle.dumps({"data": Evil(), "labels": []}, 2),
    "a list": pickle.dumps([1], 2),
    "no data": pickle.dumps({"labels": [1]}, 2),
    "other shape": pickle.dumps({"data": np.zeros((2, 5), "uint8"), "labels": [1, 2]}, 2),
    "floats": pickle.dumps({"data": np.zeros((2, 3072)), "labels": [1, 2]}, 2),
    "labels": pickle.dumps({"data": np.zeros((2, 3072), "uint8"), "labels": [1]}, 2),
    "label of text": pickle.dumps({"data": np.zeros((1, 3072), "uint8"), "labels": ["1"]}, 2),
    "half": python2_pickle(pictures(1), [1, 2], b"labels")[:-100],
    "nothing": b"",
}


@pytest.mark.parametrize("case", list(HOSTILE))
def test_hostile_pickles_are_refused(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = archive(tmp_path / "c.tar.gz", {"cifar/data_batch_1": HOSTILE[case]})
    with pytest.raises(FormatError, match="D2S3001"):
        Cifar10(path)
    assert [one.name for one in tmp_path.iterdir()] == ["c.tar.gz"]


def test_damaged_archives_are_refused(tmp_path):
    whole = archive(tmp_path / "c.tar.gz", {"data_batch_1": python2_pickle(pictures(1), [1, 2], b"labels")}).read_bytes()
    for data in (b"", b"words", whole[: len(whole) // 2], whole[:200] + bytes(50) + whole[250:]):
        (tmp_path / "d.tar.gz").write_bytes(data)
        with pytest.raises(FormatError, match="D2S3001"):
            Cifar10(tmp_path / "d.tar.gz")


# --- folders


@pytest.fixture
def root(tmp_path):
    for name in ("b/2.txt", "a/1.txt", "a/sub/3.txt", "a/skip.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def read(path):
    return pathlib.Path(path).read_text()


def test_folders_of_classes_and_of_images(root):
    found = DatasetFolder(root, read, (".TXT",), transform=str.upper)
    assert list(found) == [("A/1.TXT", 0), ("A/SUB/3.TXT", 0), ("B/2.TXT", 1)]
    assert (found.classes, found.class_to_idx, found.targets) == (["a", "b"], {"a": 0, "b": 1}, [0, 0, 1])
    assert list(ImageFolder(str(root), read, is_valid_file=lambda path: path.endswith("md"))) == [["a/skip.md"]]


def test_images_are_loaded_in_three_colours(tmp_path):
    images = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    images.new("L", (3, 2), 9).save(tmp_path / "grey.png")
    (image,) = ImageFolder(tmp_path)[0]
    assert (image.mode, image.size) == ("RGB", (3, 2))
    d2s.vision.set_image_backend("cv2")
    assert ImageFolder(tmp_path)[0][0].tolist() == [[[9, 9, 9]] * 3] * 2
    images.new("RGB", (1, 1), (1, 2, 3)).save(tmp_path / "grey.png")
    assert d2s.vision.image_load(tmp_path / "grey.png").tolist() == [[[3, 2, 1]]]
    assert d2s.vision.image_load(tmp_path / "grey.png", "tensor").tolist() == [[[1]], [[2]], [[3]]]


WRONG = {
    "mode": lambda: MNIST(mode="valid"),
    "backend": lambda: MNIST(backend="x"),
    "set_image_backend": lambda: d2s.vision.set_image_backend("x"),
    "no such image file": lambda: MNIST("/nowhere/images"),
    "path": lambda: MNIST(3),
    "cifar path": lambda: Cifar10("/nowhere/c.tar.gz"),
    "no folder": lambda: DatasetFolder("/nowhere"),
    "nothing in it": lambda: ImageFolder(SAMPLES / "mnist"),
    "two filters": lambda: ImageFolder(SAMPLES, extensions=(".gz",), is_valid_file=bool),
    "extensions": lambda: ImageFolder(SAMPLES, extensions=".gz"),
    "batch": lambda: d2s.batch(lambda: iter([]), 0),
    "reader": lambda: d2s.batch(3, 2),
}


@pytest.mark.parametrize("case", list(WRONG))
def test_what_is_wrong_is_told(case):
    with pytest.raises(D2SError):
        WRONG[case]()
