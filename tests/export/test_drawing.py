"""Layers that draw random numbers, saved: the same bits from the same stream, which they leave at the same place.

Real Paddle and ONNX Runtime draw from streams of their own: what they draw has the same mean and spread. They are asked where
D2S_PADDLE26_PYTHON, D2S_PADDLE33_PYTHON and D2S_ONNX_PYTHON name interpreters that have them.
"""

import contextlib
import json
import os
import random
import subprocess

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import ArgumentError, D2SError, FormatError
from d2s.export import protobuf
from d2s.export.streams import to_run
from d2s.ir.text import parse
from d2s.static import InputSpec
from tests.export.drawing import FUNCTIONS, NOT_BY_OPS
from tests.export.test_interop import SCRIPT
from tests.export.test_paddle_round_trip import strip
from tests.export.test_paddle_safety import SOAK, exchange
from tests.onnx.test_sample_models import SCRIPT as ONNX_SCRIPT

ROWS = [InputSpec([None, 4], "float32", "x")]
ALL = FUNCTIONS | NOT_BY_OPS


def rows(count, seed=0):
    return d2s.to_tensor(np.random.default_rng(seed).standard_normal((count, 4)).astype("float32"))


def leaves(found):
    return [found] if not isinstance(found, tuple | list) else [leaf for part in found for leaf in leaves(part)]


def run(function, x):
    """The bits of a call's outputs, and where it leaves the stream."""
    d2s.seed(5)
    found = leaves(function(x))
    return [(t.shape, t.dtype, t.numpy().tobytes()) for t in found], d2s.get_rng_state()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    here = tmp_path_factory.mktemp("draws")
    for name, function in ALL.items():
        d2s.jit.save(d2s.to_static(function), str(here / name), ROWS)
    return here


@pytest.mark.parametrize("count", [3, 1, 6])
@pytest.mark.parametrize("name", ALL)
def test_a_loaded_layer_draws_the_same_numbers(folder, name, count):
    loaded = d2s.jit.load(str(folder / name))
    for seed in range(2):
        assert run(loaded, rows(count, seed)) == run(ALL[name], rows(count, seed))


@pytest.mark.parametrize("name", ALL)
def test_inside_of_another_function(folder, name):
    loaded = d2s.jit.load(str(folder / name))

    def with_more(layer):
        return lambda x: (layer(x * 2.0), d2s.rand([2]), layer(x))

    assert run(d2s.to_static(with_more(loaded)), rows(3)) == run(with_more(ALL[name]), rows(3))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_ops_alone_say_the_same(folder, name, tmp_path):
    for ending in ("pdmodel", "pdiparams"):
        (tmp_path / f"net.{ending}").write_bytes((folder / f"{name}.{ending}").read_bytes())
    strip(tmp_path / "net")
    bare = d2s.jit.load(str(tmp_path / "net"))
    for count in (3, 1, 6):
        assert run(bare, rows(count)) == run(FUNCTIONS[name], rows(count))


@pytest.mark.parametrize("name", ALL)
def test_an_executor_draws_them(folder, name):
    x = rows(3)
    d2s.enable_static()
    try:
        executor = d2s.static.Executor()
        program, feeds, fetches = d2s.static.load_inference_model(str(folder / name), executor)
        d2s.seed(5)
        found = [executor.run(program, {feeds[0]: x.numpy()}, fetches) for _ in range(2)]
    finally:
        d2s.disable_static()
    d2s.seed(5)
    for arrays in found:
        assert [a.tobytes() for a in arrays] == [t.numpy().tobytes() for t in leaves(ALL[name](x))]


class Encoder(nn.Layer):
    """Codes with noise, as of a variational autoencoder."""

    def __init__(self):
        super().__init__()
        self.mean, self.spread = nn.Linear(4, 2), nn.Linear(4, 2)

    def forward(self, x):
        mean = self.mean(x)
        return mean + d2s.exp(self.spread(x)) * d2s.randn(mean.shape)


def test_it_is_trained_on_with_the_same_noise(tmp_path):
    d2s.seed(1)
    net = Encoder()
    d2s.jit.save(net, str(tmp_path / "net"), ROWS)
    found = []
    for layer in (net, d2s.jit.load(str(tmp_path / "net"))):
        d2s.seed(2)
        layer.train()
        sgd = d2s.optimizer.SGD(0.1, parameters=layer.parameters())
        for count in (3, 5, 2):
            layer(rows(count)).square().mean().backward()
            sgd.step()
            sgd.clear_grad()
        found.append([layer.state_dict()[key].numpy().tobytes() for key in sorted(layer.state_dict())])
    assert found[0] == found[1]


def test_saved_again(folder, tmp_path):
    d2s.jit.save(d2s.jit.load(str(folder / "noised")), str(tmp_path / "again"))
    assert (tmp_path / "again.pdmodel").read_bytes() == (folder / "noised.pdmodel").read_bytes()


def test_what_training_normalises_beside_draws_is_refused_where_only_ops_say_so(tmp_path):
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1D(4)

        def forward(self, x):
            return self.norm(x) + d2s.randn([4])

    d2s.jit.save(Net(), str(tmp_path / "net"), ROWS)
    strip(tmp_path / "net")
    loaded = d2s.jit.load(str(tmp_path / "net"))
    assert loaded(rows(2)).shape == [2, 4]
    loaded.train()
    with pytest.raises(ArgumentError, match="draws random numbers"):
        loaded(rows(2))


def test_a_function_that_sets_the_seed_is_not_saved(tmp_path):
    def seeded(x):
        d2s.seed(3)
        return x + d2s.randn([4])

    with pytest.raises(ArgumentError, match="changes the seed"):
        d2s.jit.save(d2s.to_static(seeded), str(tmp_path / "net"), ROWS)


@pytest.mark.parametrize(
    "body",
    [
        "%0: i64[], %1: i64[] = stream() return x",
        "%0: i64[], %1: i64[] = stream() moved(%0) moved(%1) return x",
        "moved(x) return x",
        "%0: i64[] = add(x, x) %1: i64[], %2: i64[] = stream() moved(%1) return x",
    ],
)
def test_a_stream_that_does_not_begin_and_end_with_the_program_is_no_file(body):
    with pytest.raises(FormatError, match="stream"):
        to_run(parse(f"program f(x: i64[]) -> (i64[]) {{ {body} }}"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_mutated_descriptions_are_refused_or_draw(folder, name, tmp_path):
    (tmp_path / "net.pdiparams").write_bytes((folder / f"{name}.pdiparams").read_bytes())
    data, generator = (folder / f"{name}.pdmodel").read_bytes(), random.Random(name)
    for _ in range(max(50, SOAK // 8)):
        described = protobuf.decode("ProgramDesc", data)
        for _ in range(generator.choice((1, 2, 5))):
            exchange(described, generator)
        (tmp_path / "net.pdmodel").write_bytes(protobuf.encode("ProgramDesc", described))
        with contextlib.suppress(D2SError):
            d2s.jit.load(str(tmp_path / "net"))(rows(3))


# --- others -------------------------------------------------------------------------------------------------------------------

MANY = 4000


def told(arrays):
    """Mean and spread of each output."""
    return [(a.dtype.name, a.shape, round(float(a.mean()), 3), round(float(a.std()), 3)) for a in map(np.asarray, arrays)]


def assert_alike(name, found):
    d2s.seed(9)
    wanted = [t.numpy() for t in leaves(ALL[name](rows(MANY)))]
    assert [(a.dtype, a.shape) for a in found] == [(a.dtype, a.shape) for a in wanted]
    for a, b in zip(found, wanted, strict=True):
        if a.size >= MANY:
            assert abs(a.mean() - b.mean()) < 0.1 * (1 + b.std()), (told(found), told(wanted))
            assert abs(a.std() - b.std()) < 0.1 * (1 + b.std()), (told(found), told(wanted))


@pytest.fixture(scope="module", params=["D2S_PADDLE26_PYTHON", "D2S_PADDLE33_PYTHON"])
def paddle(request, folder):
    python = os.environ.get(request.param)
    if not python:
        pytest.skip(f"{request.param} does not name an interpreter with Paddle")
    for name in ALL:
        np.savez(folder / f"{name}.0.in.npz", f0=rows(MANY).numpy())
    environment = os.environ | {"FLAGS_enable_pir_api": "0"}
    subprocess.run([python, SCRIPT, folder, "jit", "inference"], env=environment, check=True, timeout=300, capture_output=True)
    return json.loads((folder / "report.json").read_text())


@pytest.mark.parametrize("way", ["jit", "inference"])
@pytest.mark.parametrize("name", ALL.keys() - {"dropped"})  # its inference drops nothing
def test_paddle_draws_alike(paddle, folder, name, way):
    assert not {word for words in paddle["unknown"].values() for word in words if "cast" not in word}
    assert paddle["failures"].get(f"{name} by {way}") is None
    with np.load(folder / f"{name}.0.{way}.npz") as held:
        assert_alike(name, [held[f"o{k}"] for k in range(len(held.files))])


@pytest.fixture(scope="module")
def onnx(folder):
    python = os.environ.get("D2S_ONNX_PYTHON")
    if not python:
        pytest.skip("D2S_ONNX_PYTHON does not name an interpreter with onnxruntime")
    for name, function in ALL.items():
        d2s.onnx.export(d2s.to_static(function), str(folder / name), input_spec=ROWS)
        np.savez(folder / f"{name}.0.in.npz", f0=rows(MANY).numpy())
    subprocess.run([python, ONNX_SCRIPT, folder], check=True, timeout=200, capture_output=True)
    return json.loads((folder / "report.json").read_text())


@pytest.mark.parametrize("name", ALL)
def test_onnx_runtime_draws_alike(onnx, folder, name):
    assert onnx.get(name) is None
    with np.load(folder / f"{name}.0.out.npz") as held:
        assert_alike(name, [held[f"o{k}"] for k in range(len(held.files))])
