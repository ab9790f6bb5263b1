"""What is saved is what is loaded, by d2s and by pickle; files stay whole; genuine Paddle files are read."""

import collections
import contextlib
import io
import math
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import d2s
from d2s.checkpoint import files
from d2s.errors import ArgumentError, D2SError, DTypeError, FileError, FormatError

HERE = pathlib.Path(__file__).parent
protocols = pytest.mark.parametrize("protocol", [2, 3, 4])


def plain(value):
    """Tensors and arrays as comparable values."""
    if isinstance(value, d2s.Tensor):
        return "tensor", value.dtype.name, value.shape, value.numpy().tobytes(), value.name, value.stop_gradient
    if isinstance(value, np.ndarray | np.generic):
        return "array", value.dtype.name, value.shape, value.tobytes()
    if isinstance(value, dict):
        return "dict", [(key, plain(held)) for key, held in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [plain(held) for held in value]
    return type(value).__name__, value.hex() if isinstance(value, float) else value


def through(value, protocol=4, **options):
    file = io.BytesIO()
    d2s.save(value, file, protocol)
    file.seek(0)
    return d2s.load(file, **options)


def t(data, dtype=None, name=""):
    found = d2s.to_tensor(data, dtype)
    found.name = name
    return found


DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64"]
VALUES = {
    "a tensor": t([1.0, 2.0], name="x"),
    "a 0-D tensor": t(3.5),
    "a tensor without elements": t(np.zeros([0, 3], "float32")),
    "special floats": t([0.0, -0.0, math.inf, -math.inf, math.nan, 1e-42]),
    "a state": {"weight": t([[1.0]], name="linear_0.w_0"), "bias": t([2.0], name="linear_0.b_0")},
    "a state with more": {"x": t([1.0], name="x"), "LR_Scheduler": {"last_epoch": 3, "last_lr": 0.1}, "epoch": 7},
    "a state of all dtypes": {d: t([1, 0, 1], d, d) for d in DTYPES},
    "a nest": {"a": {"b": t([1.0]), "c": [1, {"d": t([[2]])}]}, "e": (t([True]), (1, 2), [])},
    "a list": [t([1.0]), 1, "text", None, True, False, 2.5, -7],
    "numbers": [0, 255, 256, -1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63, -(2**200), 1e308, -0.0, math.nan],
    "texts": ["", "ascii", "日本", "\x00\n", "a" * 300, "\ud800"],
    "bytes": [b"", b"abc", bytes(range(256))],
    "sets": [{1, 2}, set(), {"a"}],
    "keys": {1: "int", "a": "text", None: 0, False: 0, 2.5: 0},
    "nothing": {},
    "an array": {"deep": [np.arange(6, dtype="int16").reshape(2, 3)], "with": t([1.0])},
    "scalars of NumPy": {"a": np.float32(2.5), "b": np.int64(3), "c": np.bool_(True)},
}


@protocols
@pytest.mark.parametrize("what", VALUES)
def test_what_is_saved_is_loaded(what, protocol):
    assert plain(through(VALUES[what], protocol)) == plain(VALUES[what])


@protocols
def test_pickle_agrees(protocol):
    """What Python's own pickle makes of it is what Paddle would see: arrays, and pairs of a name and an array."""
    file = io.BytesIO()
    d2s.save({"w": t([1.0, 2.0], name="w_0"), "n": 3}, file, protocol)
    found = pickle.loads(file.getvalue())
    assert found.pop("w").tolist() == [1.0, 2.0]
    assert found == {"n": 3, "StructuredToParameterName@@": {"w": "w_0"}}
    file = io.BytesIO()
    d2s.save([t([1.0, 2.0], name="w_0")], file, protocol)
    ((name, array),) = pickle.loads(file.getvalue())
    assert (name, array.tolist()) == ("w_0", [1.0, 2.0])
    assert b"numpy.core.multiarray" in file.getvalue()  # which NumPy 1 knows, too


def test_the_same_values_are_the_same_bytes():
    def data():
        file = io.BytesIO()
        d2s.save({"w": t([1.0]), "s": {"b", "a", "c"}}, file)
        return file.getvalue()

    code = "import sys, io, d2s; f = io.BytesIO(); x = d2s.to_tensor([1.0]); x.name = ''; "
    code += "d2s.save({'w': x, 's': {'b', 'a', 'c'}}, f); sys.stdout.buffer.write(f.getvalue())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, env=os.environ | {"PYTHONHASHSEED": "5"})
    assert run.stdout == data()


def test_ordered_dicts_fortran_and_big_endian_arrays():
    arrays = {"f": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "b": np.arange(3, dtype=">i4"), "s": np.arange(9)[::2]}
    found = through(collections.OrderedDict(arrays))
    assert {k: (v.tolist(), v.dtype.str, v.flags.c_contiguous) for k, v in found.items()} == {
        "f": ([[0, 1, 2], [3, 4, 5]], "<f8", True),
        "b": ([0, 1, 2], "<i4", True),
        "s": ([0, 2, 4, 6, 8], "<i8", True),
    }
    fortran = pickle.dumps({"f": arrays["f"], "b": arrays["b"]}, 4)
    found = d2s.load(io.BytesIO(fortran))
    assert found["f"].tolist() == arrays["f"].tolist()
    assert found["b"].tolist() == [0, 1, 2]


def test_options_of_load():
    state = {"w": t([1.0], name="w_0")}
    assert type(through(state, return_numpy=True)["w"]) is np.ndarray
    assert type(through([t([1.0])], return_numpy=True)[0]) is np.ndarray
    assert through(state, keep_name_table=True)["StructuredToParameterName@@"] == {"w": "w_0"}
    assert through(t([1.0]), return_numpy=True).tolist() == [1.0]


def test_loaded_tensors_have_memory_of_their_own():
    found = through({"a": t([1.0, 2.0]), "b": t([1.0, 2.0])})
    found["a"].set_value([5.0, 6.0])
    assert found["b"].tolist() == [1.0, 2.0]
    assert all(x.array.flags.aligned and x.array.flags.writeable for x in found.values())


def test_a_layer_and_its_optimizer_go_on(tmp_path):
    def made():
        with d2s.utils.unique_name.guard():
            layer = d2s.nn.Linear(3, 2)
        return layer, d2s.optimizer.Adam(d2s.optimizer.lr.StepDecay(0.1, 2), parameters=layer.parameters())

    def steps(layer, adam, begin, end):
        for step in range(begin, end):
            d2s.square(layer(d2s.to_tensor([[1.0, step, -1.0]]))).sum().backward()
            adam.step()
            adam.clear_grad()
            adam._learning_rate.step()

    d2s.seed(1)
    whole, first = made(), made()
    first[0].set_state_dict(whole[0].state_dict())
    steps(*whole, 0, 6)
    steps(*first, 0, 3)
    d2s.save(first[0].state_dict(), str(tmp_path / "m.pdparams"))
    d2s.save(first[1].state_dict(), tmp_path / "deep" / "m.pdopt")
    second = made()
    assert second[0].set_state_dict(d2s.load(str(tmp_path / "m.pdparams"))) == ([], [])
    second[1].set_state_dict(d2s.load(tmp_path / "deep" / "m.pdopt"))
    steps(*second, 3, 6)
    assert [p.tolist() for p in second[0].parameters()] == [p.tolist() for p in whole[0].parameters()]


@pytest.mark.parametrize("version", ["2.6.2", "3.3.1"])
def test_genuine_files_of_paddle(version):
    """Written by `record.py` with real Paddle."""
    state = d2s.load(HERE / f"paddle-{version}.pdparams")
    assert {k: (v.name, v.shape) for k, v in state.items()} == {
        "weight": ("linear_0.w_0", [2, 3]),
        "bias": ("linear_0.b_0", [3]),
    }
    assert state["weight"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    optimizer = d2s.load(HERE / f"paddle-{version}.pdopt")
    assert optimizer["LR_Scheduler"] == {"last_epoch": 0, "last_lr": 0.1}
    assert optimizer["linear_0.b_0_moment1_0"].tolist() == pytest.approx([0.1, 0.1, 0.1])
    nest = d2s.load(HERE / f"paddle-{version}.nest")
    assert nest["list"][0].tolist() == [1.0, 2.0]
    assert nest["list"][1:] == [1, "a", None, True, 2.5, (1, {"set": {1, 2}})]
    assert nest["dtypes"]["bool"].tolist() is True
    assert {k: v.dtype.name for k, v in nest["dtypes"].items()} == {k: k for k in nest["dtypes"]}
    assert nest["empty"].shape == [0, 3]


def test_an_array_paddle_wrote_in_parts():
    parts = {"w@@.0": np.arange(4.0), "w@@.1": np.arange(4.0, 6.0), "StructuredToParameterName@@": {"w": "w_0"}}
    parts["UnpackBigParamInfor@@"] = {"w": {"OriginShape": (2, 3), "slices": ["w@@.0", "w@@.1"]}}
    found = d2s.load(io.BytesIO(pickle.dumps(parts, 2)))
    assert (list(found), found["w"].tolist(), found["w"].name) == (["w"], [[0, 1, 2], [3, 4, 5]], "w_0")
    del parts["w@@.1"]
    with pytest.raises(FormatError, match="in several parts"):
        d2s.load(io.BytesIO(pickle.dumps(parts, 2)))


def test_large_arrays_are_neither_read_nor_written_twice(tmp_path):
    """The peak is that of one copy: 64 MB here, and what a process needs anyway."""
    code = """
import sys, resource, numpy as np, d2s
path, big = sys.argv[1], 64 << 20
x = d2s.to_tensor(np.ones(big // 4, "float32"))
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak(); d2s.save({"x": x}, path); saved = peak() - before
found = d2s.load(path)["x"]; loaded = peak() - before
assert found.shape == x.shape and float(found.numpy()[-1]) == 1.0
print(saved / big, loaded / big)
"""
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path / "x")], capture_output=True, text=True, check=True)
    saved, loaded = map(float, run.stdout.split())
    assert saved < 0.3
    assert loaded < 2.3  # the tensor, and the copy that .numpy() makes


def test_who_is_stopped_leaves_the_old_file(tmp_path):
    path = tmp_path / "m.pdparams"
    d2s.save({"x": t([1.0])}, path)
    code = """
import sys, time, d2s
from d2s.checkpoint import pickle_writer
pieces = pickle_writer.pieces
def slow(*arguments):
    for piece in pieces(*arguments):
        yield piece
        print("writing", flush=True)
        time.sleep(0.2)
pickle_writer.pieces = slow
d2s.save({"x": d2s.to_tensor([2.0] * 1000)}, sys.argv[1])
"""
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    assert d2s.load(path)["x"].tolist() == [1.0]


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "m.pdparams"
    d2s.save({"x": t([1.0])}, path)
    with pytest.raises(DTypeError):
        d2s.save({"x": t([2.0]), "y": object()}, path)
    assert d2s.load(path)["x"].tolist() == [1.0]
    assert os.listdir(tmp_path) == ["m.pdparams"]


def test_a_link_stays_a_link(tmp_path):
    os.symlink(tmp_path / "there", tmp_path / "link")
    d2s.save({"a": 1}, str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert d2s.load(str(tmp_path / "there")) == {"a": 1}


def test_readers_see_the_old_file_or_the_new_one(tmp_path):
    path = tmp_path / "m.pdparams"
    d2s.save({"x": t([0.0])}, path)
    code = "import sys, d2s\nfor n in range(200): d2s.save({'x': d2s.to_tensor([float(n)] * 1000)}, sys.argv[1])"
    with subprocess.Popen([sys.executable, "-c", code, str(path)]) as process:
        seen = set()
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end:
            found = d2s.load(path)["x"].numpy()
            assert np.all(found == found[0])
            seen.add(float(found[0]))
    assert process.returncode == 0
    assert d2s.load(path)["x"].tolist() == [199.0] * 1000


def inside_itself():
    loop = [t([1.0])]
    loop.append(loop)
    return loop


def deep(count):
    found = [1]
    for _ in range(count):
        found = [found]
    return found


class Thing:
    pass


REFUSED = {
    "a layer": (lambda: through(d2s.nn.Linear(1, 1)), DTypeError, "a Linear is not saved"),
    "a function": (lambda: through([print]), DTypeError, "builtin_function"),
    "an object in a state": (lambda: through({"x": t([1.0]), "y": Thing()}), DTypeError, "a Thing"),
    "an array of objects": (lambda: through({"x": np.array([None])}), DTypeError, "object"),
    "a list in itself": (lambda: through(inside_itself()), ArgumentError, "in themselves"),
    "lists too deep": (lambda: through(deep(101)), ArgumentError, "100 deep"),
    "a key that is a tuple": (lambda: through({(1, 2): 3}), DTypeError, "a tuple is no key"),
    "a huge int": (lambda: through(1 << 5000), ArgumentError, "5001 bits"),
    "protocol 5": (lambda: through({}, 5), ArgumentError, "'protocol' is 5"),
    "protocol 1": (lambda: through({}, 1), ArgumentError, "'protocol' is 1"),
    "no path": (lambda: d2s.save({}, ""), ArgumentError, "no path"),
    "a folder": (lambda: d2s.save({}, "folder/"), ArgumentError, "no path"),
    "a path that is a number": (lambda: d2s.save({}, 3), DTypeError, "'path'"),
    "a path to load that is a number": (lambda: d2s.load(3), DTypeError, "'path'"),
    "a file that is not there": (lambda: d2s.load(str(HERE / "nothing")), FileError, "nothing cannot be read"),
    "a file for a folder": (lambda: d2s.save({}, f"{__file__}/x"), FileError, "cannot be written"),
    "brain floats": (lambda: d2s.load(io.BytesIO(pickle.dumps(np.ones(2, "uint16")))), FormatError, "bfloat16"),
    "half floats": (lambda: d2s.load(io.BytesIO(pickle.dumps(np.ones(2, "float16")))), FormatError, "float16"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    function, error, words = REFUSED[what]
    with pytest.raises(error) as caught:
        function()
    assert isinstance(caught.value, D2SError)
    assert words in str(caught.value)


def test_the_deepest_that_is_saved_is_loaded():
    assert through(deep(99)) == deep(99)


def test_half_floats_are_read_as_arrays():
    found = d2s.load(io.BytesIO(pickle.dumps(np.ones(2, "float16"))), return_numpy=True)
    assert found.tolist() == [1.0, 1.0]


@contextlib.contextmanager
def peer(version):
    python = pathlib.Path(os.environ.get(f"D2S_PADDLE{version}_PYTHON", "/nowhere"))
    if not python.exists():
        pytest.skip(f"D2S_PADDLE{version}_PYTHON names no Python with Paddle")
    yield python


@protocols
@pytest.mark.parametrize("version", ["26", "33"])
def test_real_paddle_reads_it(version, protocol, tmp_path):
    with peer(version) as python:
        d2s.save(VALUES["a nest"], tmp_path / "nest", protocol)
        d2s.save(VALUES["a state of all dtypes"], tmp_path / "state", protocol)
        code = "import sys, paddle; f = sys.argv[1]; n, s = paddle.load(f + '/nest'), paddle.load(f + '/state'); "
        code += "print(n['a']['b'].tolist(), n['a']['c'][1]['d'].tolist(), n['e'][1:], "
        code += "{k: str(v.dtype)[7:] for k, v in s.items()} == {k: k for k in s}, "
        code += "all(isinstance(v, paddle.Tensor) and v.name == k for k, v in s.items()))"
        run = subprocess.run([python, "-W", "ignore", "-c", code, tmp_path], capture_output=True, text=True)
        assert run.stdout.splitlines()[-1:] == ["[1.0] [[2]] ((1, 2), []) True True"], run.stderr


def test_a_file_of_another_kind_is_named(tmp_path):
    (tmp_path / "m.pdparams").write_bytes(b"not a model")
    with pytest.raises(FormatError, match=r"m\.pdparams: byte 1"):
        d2s.load(tmp_path / "m.pdparams")
    assert files.NAMES == "StructuredToParameterName@@"
