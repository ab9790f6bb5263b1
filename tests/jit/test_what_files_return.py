"""The outputs of files are those of the function, in Paddle's order; notes say what is made of them."""

import collections
import copy
import os
import pickle
import subprocess
from typing import NamedTuple

import numpy as np
import pytest

import d2s
from d2s.errors import FormatError
from d2s.jit import returned
from d2s.static import InputSpec

OPEN = InputSpec([None, 4], name="x")
PADDLES = """
import sys, numpy as np, paddle
held = np.load(sys.argv[1] + ".npz")
found = paddle.jit.load(sys.argv[1])(*(paddle.to_tensor(held[key]) for key in held.files))
np.savez(sys.argv[1] + ".out.npz", *[t.numpy() for t in (found if isinstance(found, (list, tuple)) else [found])])
"""
ONNX = """
import sys, numpy as np, onnxruntime
session, held = onnxruntime.InferenceSession(sys.argv[1] + ".onnx"), np.load(sys.argv[1] + ".npz")
found = session.run(None, {i.name: held[key] for i, key in zip(session.get_inputs(), held.files)})
np.savez(sys.argv[1] + ".out.npz", *found)
"""
PEERS = {"D2S_PADDLE26_PYTHON": PADDLES, "D2S_PADDLE33_PYTHON": PADDLES, "D2S_ONNX_PYTHON": ONNX}
HERE = [peer for peer in PEERS if peer in os.environ]


def saved(function, path, spec=(OPEN,)):
    d2s.jit.save(function, path, list(spec))
    d2s.onnx.export(function, path, list(spec))
    return d2s.jit.load(path)


def outputs(peer, path, *inputs):
    """What a peer finds as the outputs of a file."""
    np.savez(f"{path}.npz", *inputs)
    command = [os.environ[peer], "-c", PEERS[peer], path]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"FLAGS_enable_pir_api": "0"})
    held = np.load(f"{path}.out.npz")
    return [held[key] for key in held.files]


def same(found, wanted):
    """Structure, order and bits."""
    if isinstance(wanted, dict):
        return list(found) == list(wanted) and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list | tuple):
        return type(found) is type(wanted) and len(found) == len(wanted) and all(map(same, found, wanted))
    return np.array_equal(found, wanted) if isinstance(wanted, d2s.Tensor) else found == wanted


DICTS = {
    "swapped": lambda x: {"z": x + 1, "a": x.sum()},
    "nested": lambda x: {"z": [x, {"n": x * 2, "b": x.sum()}], "a": (x + 3, 4)},
    "numbers": lambda x: {2: x, 1: x + 1, 10: x + 2},
    "of several kinds": lambda x: {"z": x, 1: x + 1},
    "by the path": lambda x: {"z": x, "a": x * 2} if x.sum() > 0 else {"z": x * 3, "a": x * 4},
    "sorted": lambda x: {"a": x, "z": x + 1},
}


@pytest.mark.parametrize("name", DICTS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_dicts_come_back_in_their_own_order(name, sign, tmp_path):
    x = d2s.ones([3, 4]) * sign
    assert same(saved(DICTS[name], str(tmp_path / "f"))(x), DICTS[name](x))


def test_a_file_has_the_parts_of_a_dict_in_the_order_of_its_keys(tmp_path):
    loaded = saved(DICTS["swapped"], str(tmp_path / "f"))
    assert [len(value.type.shape) for value in loaded.program().outputs] == [0, 2]


@pytest.mark.parametrize("peer", HERE)
def test_peers_find_the_parts_of_a_dict_in_the_order_of_its_keys(peer, tmp_path):
    path = str(tmp_path / "f")
    saved(DICTS["nested"], path)
    x = np.ones([3, 4], "float32")
    found = outputs(peer, path, x)
    assert [one.tolist() for one in found] == [(x + 3).tolist(), x.tolist(), 12.0, (x * 2).tolist()]


@pytest.mark.parametrize(
    "note",
    [
        ["ordered", ["a"], [None]],
        ["ordered", ["a", "b"], [["dict", ["a"], [None]]]],
        ["ordered", ["a"], []],
        ["ordered", [], [["list", [], []]]],
    ],
)
def test_a_damaged_note_on_an_order_is_refused(note):
    with pytest.raises(FormatError):
        returned.count(note)


def early_exit(x):
    for _ in range(2):
        x = x * 2
        p = d2s.nn.functional.softmax(x)
        if x.sum() > 20:
            return p
    return p


def of_open_extents(x, y):
    if x.sum() > 0:
        return x
    return y


def of_three(x, y):
    if x.sum() > 20:
        return y
    if x.sum() > 0:
        return x
    return x[:1]


def in_structures(x, y):
    if x.sum() > 0:
        found = x
    else:
        found = y
    return {"b": (found, x.sum()), "a": [found * 2]}


def drawn(x, y):
    noise = d2s.rand([2, 4])
    return (x + 1) if x.sum() > 0 else y * noise.sum()


BY_PATH = {
    "early exit": (early_exit, 1), "open extents": (of_open_extents, 2), "three": (of_three, 2),
    "structures": (in_structures, 2), "drawn": (drawn, 2),
}  # fmt: skip
CALLS = [(np.ones([3, 4]), np.ones([5, 4])), (-np.ones([3, 4]), np.full([2, 4], 7.0)), (np.full([1, 4], 9.0), np.ones([0, 4]))]


def arrays(count, call):
    return [array.astype("float32") for array in call[:count]]


@pytest.mark.parametrize("name", BY_PATH)
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_what_is_one_result_on_each_path_is_one_output(name, call, tmp_path):
    function, count = BY_PATH[name]
    path, given = str(tmp_path / "f"), [d2s.to_tensor(array, stop_gradient=False) for array in arrays(count, call)]
    d2s.jit.save(function, path, [InputSpec([None, 4], name=n) for n in "xy"[:count]])
    found = []
    for made in (function, d2s.jit.load(path), d2s.to_static(d2s.jit.load(path))):
        d2s.seed(5)
        result = made(*given)
        flat = [result["b"][0], result["b"][1], result["a"][0]] if isinstance(result, dict) else [result]
        sum((one * one).sum() for one in flat).backward()
        found.append([*(one.tolist() for one in flat), *(x.grad if x.grad is None else x.grad.tolist() for x in given)])
        for x in given:
            x.clear_gradient(False)
    assert found[0] == found[1] == found[2]
    wanted = {"structures": 3}.get(name, 1)
    assert len(d2s.jit.load(path).program().outputs) == wanted


@pytest.mark.parametrize("peer", HERE)
@pytest.mark.parametrize("name", ["early exit", "open extents", "three"])
def test_peers_find_the_one_result_there_is(name, peer, tmp_path):
    (function, count), path = BY_PATH[name], str(tmp_path / "f")
    saved(function, path, [InputSpec([None, 4], name=n) for n in "xy"[:count]])
    for call in CALLS[:2]:
        given = arrays(count, call)
        (found,) = outputs(peer, path, *given)
        assert np.allclose(found, function(*map(d2s.to_tensor, given)))


def test_what_tells_of_the_path_stands_behind_what_is_returned(tmp_path):
    def sometimes(x):
        y = None
        if x.sum() > 0:
            y = x * 2
        return y, x.sum()

    path = str(tmp_path / "f")
    d2s.jit.save(sometimes, path, [InputSpec([None, 4])])
    loaded = d2s.jit.load(path)
    assert [str(value.type) for value in loaded.program().outputs] == ["f32[n0,4]", "f32[]", "int"]
    assert loaded.models()["forward"].fetches == ["output_0", "output_1", "path_0"]
    assert loaded(d2s.ones([1, 4]))[0].tolist() == [[2.0] * 4]
    assert loaded(-d2s.ones([1, 4]))[0] is None
    assert d2s.to_static(loaded)(-d2s.ones([1, 4]))[1].item() == -4.0


@pytest.mark.parametrize("order", [[0], [0, 0], [1, 2], [-1, 0], ["a", 0], None])
def test_a_damaged_note_on_places_is_refused(order):
    with pytest.raises(FormatError):
        returned.count(["moved", order, [["choice", [], [None, None, ["constant", [None], []]]]]])


Found = collections.namedtuple("Found", "scores boxes")


class Whole(NamedTuple):
    """With a method, which no file holds."""

    first: object
    rest: object = None

    def both(self):
        return self.first, self.rest


NAMED = {
    "fields": lambda x: Found(x + 1.0, x.sum()),
    "nested": lambda x: [Whole(Found(x, {"b": x * 2.0, "a": 3}), None), Whole(x)],
    "by the path": lambda x: Found(x, x * 2.0) if x.sum() > 0 else Found(x * 3.0, x * 4.0),
}


def told(result):
    """A result with named tuples as pairs of their names and parts."""
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return [type(result).__name__, *((field, told(getattr(result, field))) for field in result._fields)]
    if isinstance(result, dict):
        return {key: told(value) for key, value in result.items()}
    if isinstance(result, list | tuple):
        return [type(result), *map(told, result)]
    return result.tolist() if isinstance(result, d2s.Tensor) else result


@pytest.mark.parametrize("name", NAMED)
def test_named_tuples_come_back_with_their_names(name, tmp_path):
    loaded = saved(NAMED[name], str(tmp_path / "f"))
    for x in (d2s.ones([3, 4]), -d2s.ones([1, 4])):
        assert told(loaded(x)) == told(NAMED[name](x))
        assert told(pickle.loads(pickle.dumps(loaded(x)))) == told(copy.deepcopy(loaded(x))) == told(loaded(x))
    inside = d2s.to_static(lambda x: loaded(x))
    assert told(inside(d2s.ones([3, 4]))) == told(NAMED[name](d2s.ones([3, 4])))


@pytest.mark.parametrize(
    "called",
    [["F"], ["F", "a"], ["F", "a", "a"], ["F", "a", "class"], ["a b", "a", "b"], ["F", "a", "_b"], ["F", 1, 2]],
)
def test_a_damaged_note_on_names_is_refused(called):
    with pytest.raises(FormatError):
        returned.count(["named", called, [None, None]])
