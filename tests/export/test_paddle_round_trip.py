"""What is saved comes back the same, and the files mean in Paddle's words what the Program means."""

import json

import numpy as np
import pytest

from d2s import types
from d2s.errors import FormatError
from d2s.export import load, paddle_reader, paddle_writer, protobuf, save
from d2s.export.spellings import SPELLINGS
from d2s.export.tensors import NUMBERS
from d2s.ir.program import Program
from d2s.ir.text import show
from d2s.ops import OPS
from tests.export.corpus import CASES, Case
from tests.export.reference import run_paddle, run_program

NAMES = sorted(CASES)


def same(have: list[np.ndarray], want: list[np.ndarray]) -> None:
    assert len(have) == len(want)
    for a, b in zip(have, want, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes() or np.array_equal(a, b, equal_nan=True)


def strip(prefix) -> None:
    """Takes our notes out of a file: what is left is what Paddle would have written."""
    path = prefix.with_name(prefix.name + ".pdmodel")
    described = protobuf.decode("ProgramDesc", path.read_bytes())
    del described["notes"]
    path.write_bytes(protobuf.encode("ProgramDesc", described))


@pytest.mark.parametrize("name", NAMES)
def test_round_trip_is_exact(name, tmp_path):
    model = CASES[name].model()
    save(model, tmp_path / "net")
    loaded = load(tmp_path / "net")
    assert show(loaded.program) == show(model.program)
    assert (loaded.feeds, loaded.fetches, loaded.notes) == (model.feeds, model.fetches, model.notes)
    assert list(loaded.parameters) == list(model.parameters)
    for key, want in model.parameters.items():
        have = loaded.parameters[key]
        assert (have.structured_name, have.trainable) == (want.structured_name, want.trainable)
        same([have.array], [want.array])


@pytest.mark.parametrize("name", NAMES)
def test_a_second_round_gives_the_same_bytes(name, tmp_path):
    save(CASES[name].model(), tmp_path / "one")
    save(load(tmp_path / "one"), tmp_path / "two")
    for ending in (".pdmodel", ".pdiparams", ".pdiparams.info"):
        assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"two{ending}").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_the_ops_alone_mean_the_same(name, tmp_path):
    """Paddle's view of the file, and ours with the notes taken away, compute what the Program computes."""
    case = CASES[name]
    model = case.model()
    described, stored = paddle_writer.describe(model)
    save(model, tmp_path / "net")
    strip(tmp_path / "net")
    bare = load(tmp_path / "net")
    arrays = [p.array for p in bare.parameters.values()]
    assert len(arrays) == max(len(model.parameters), 1)
    for run in case.runs:
        want = run_program(model.program, run + case.parameters)
        same(run_paddle(protobuf.encode("ProgramDesc", described), _arrays(stored), run), want)
        same(run_program(bare.program, run + arrays), want)


def test_every_row_is_of_an_op_that_names_its_spelling():
    assert all(OPS[op].paddle for op in SPELLINGS)


def edited(tmp_path, name: str, edit) -> Program:
    save(CASES[name].model(), tmp_path / "net")
    path = tmp_path / "net.pdmodel"
    described = protobuf.decode("ProgramDesc", path.read_bytes())
    edit(described)
    path.write_bytes(protobuf.encode("ProgramDesc", described))
    return load(tmp_path / "net").program


def test_changed_ops_win_over_notes(tmp_path):
    def edit(described):
        (op,) = [op for op in described["blocks"][0]["ops"] if op["type"] == "relu"]
        op["type"] = "tanh"

    assert [node.op for node in edited(tmp_path, "straight", edit).nodes] == ["matmul", "add", "tanh"]


def test_a_changed_test_of_a_loop_is_no_longer_the_noted_one(tmp_path):
    """The body ends with another test than the one before the loop: the condition becomes a carry."""

    def edit(described):
        (op,) = [op for op in described["blocks"][1]["ops"] if op["type"] == "less_than"]
        op["type"] = "less_equal"

    program = edited(tmp_path, "counter", edit)
    case = CASES["counter"]
    (loop,) = [node for node in program.nodes if node.op == "while_loop"]
    assert loop.attrs["carries"] == 3
    _, trips = run_program(program, [*case.runs[0], *case.parameters])
    assert trips == 6


@pytest.mark.parametrize("text", ["", "program f() -> () { return }", "program f(x: f32[n]) -> (f32[n]) { return x }", 3, None])
def test_notes_that_do_not_fit_are_left_aside(text, tmp_path):
    def edit(described):
        own = json.loads(described["notes"])
        own["d2s"]["program"] = text
        described["notes"] = json.dumps(own)

    program = edited(tmp_path, "counter", edit)
    assert run_program(program, [*CASES["counter"].runs[0], *CASES["counter"].parameters])[1] == 5


def test_feeds_of_other_names_are_those_of_the_ops(tmp_path):
    save(CASES["counter"].model(), tmp_path / "net")
    path = tmp_path / "net.pdmodel"
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"feeds": ["x"', b'"feeds": ["y"'))
    assert path.read_bytes() != data
    assert load(tmp_path / "net").feeds[0] == "x"


@pytest.mark.parametrize("noted", ["{", "[]", "3", '{"d2s": 3}', "[" * 99999])
def test_damaged_notes_are_refused(noted, tmp_path):
    with pytest.raises(FormatError):
        edited(tmp_path, "counter", lambda described: described.update(notes=noted))


def test_where_stays_with_the_op(tmp_path):
    save(CASES["straight"].model(), tmp_path / "net")
    assert [n.where for n in load(tmp_path / "net").program.nodes] == [
        "model.py:3",
        "model.py:3",
        "a model.py:4",
    ]


def test_a_file_names_no_folder_of_its_author(tmp_path):
    model = CASES["straight"].model()
    for node in model.program.nodes:
        node.where = "/home/somebody/secret/" + node.where
    save(model, tmp_path / "net")
    assert b"somebody" not in (tmp_path / "net.pdmodel").read_bytes()
    assert load(tmp_path / "net").program.nodes[0].where == "model.py:3"


def test_feeds_stand_in_reversed_order_and_notes_in_field_1000(tmp_path):
    save(CASES["arithmetic"].model(), tmp_path / "net")
    described = protobuf.decode("ProgramDesc", (tmp_path / "net.pdmodel").read_bytes())
    feeds = [op["outputs"][0]["arguments"] for op in described["blocks"][0]["ops"][:3]]
    assert feeds == [["s"], ["y"], ["x"]]
    assert json.loads(described["notes"])["notes"] == {"tree": ["out", None]}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_fetched_has_its_name_in_the_file(name):
    model = CASES[name].model()
    described, _ = paddle_writer.describe(model)
    names = [op["inputs"][0]["arguments"][0] for op in described["blocks"][0]["ops"] if op["type"] == "fetch"]
    assert names == model.fetches
    every = [v["name"] for block in described["blocks"] for v in block["vars"]]
    assert len(set(every)) == len(every)


def test_names_that_are_taken_get_others(tmp_path):
    model = CASES["ways_out"].model()
    model.fetches = ["x", "fetch", "feed", "t0", "t0", "w"]
    save(model, tmp_path / "net")
    loaded = load(tmp_path / "net")
    assert loaded.fetches == model.fetches
    assert show(loaded.program) == show(model.program)


def _arrays(stored):
    return {name: p.array for name, p in stored.items()}


def test_a_genuine_increment_by_scale_is_read():
    """`2 * x + 1`, as Paddle's layers write it."""
    case = Case("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = neg(x) return %0 }", [])
    described, stored = paddle_writer.describe(case.model())
    (op,) = [op for op in described["blocks"][0]["ops"] if op["type"] == "scale"]
    for attr in op["attrs"]:
        attr["f"] = {"scale": 2.0, "bias": 1.0}.get(attr["name"], 0.0)
    read = paddle_reader.read(protobuf.decode("ProgramDesc", protobuf.encode("ProgramDesc", described)), _arrays(stored), {})
    assert [n.op for n in read.program.nodes] == ["constant", "multiply", "constant", "add"]
    same(run_program(read.program, [np.float32([3.0]), np.zeros(1)]), [np.float32([7.0])])


def test_a_sum_of_int32_that_stays_int32_is_said_to(tmp_path):
    """Of a sum that names no dtype, Paddle makes an int64."""
    case = Case("program f(x: i32[3]) -> (i32[]) { %0: i32[] = sum(x, axis=(0,), dtype=i32, keepdim=False) return %0 }", [])
    described, _ = paddle_writer.describe(case.model())
    (total,) = [op for op in described["blocks"][0]["ops"] if op["type"] == "reduce_sum"]
    assert [a["i"] for a in total["attrs"] if a["name"] == "out_dtype"] == [NUMBERS[types.int32]]
    save(case.model(), tmp_path / "net")
    strip(tmp_path / "net")
    assert [v.type.dtype for v in load(tmp_path / "net").program.outputs] == [types.int32]
