"""Bytes that are damaged, hostile or foreign: one kind of complaint, no code run, nothing huge allocated."""

import itertools
import os
import pickle
import pickletools
import random
import re
import signal
import struct
import tracemalloc

import numpy as np
import pytest

from d2s.errors import FormatError
from d2s.export import Parameter, load, paddle_format, protobuf, save, tensors
from tests.export.corpus import CASES, Case

ENDINGS = (".pdmodel", ".pdiparams", ".pdiparams.info")
SUBJECTS = ("cond", "counter", "cond_in_while", "while_in_cond", "where", "constants")
SHARES = 31  # the subjects here, by both ways of damage, and those of test_damaged_genuine
SOAK = -(-int(os.environ.get("D2S_SOAK", "0")) // SHARES)  # damaged files of each


@pytest.fixture
def saved(tmp_path):
    save(CASES["counter"].model(), tmp_path / "net")
    return tmp_path / "net"


def refused(prefix) -> str:
    with pytest.raises(FormatError) as caught:
        load(prefix)
    assert caught.value.code == "D2S3001"
    return caught.value.message


def mutated(data: bytes, random: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        at = random.randrange(len(changed) + 1)
        match random.randrange(5):
            case 0:
                changed[at : at + 1] = bytes([random.randrange(256)])
            case 1:
                del changed[at : at + random.randrange(1, 20)]
            case 2:
                changed[at:at] = random.randbytes(random.randrange(1, 12))
            case 3:
                changed[at:at] = changed[: random.randrange(1, 60)]
            case 4 if changed:
                at %= len(changed)
                changed[at] ^= 1 << random.randrange(8)
    return bytes(changed)


@pytest.mark.parametrize("name", SUBJECTS)
def test_mutated_files(name, tmp_path):
    """Whatever a byte says, it is a FormatError or a model."""
    save(CASES[name].model(), tmp_path / "net")
    whole = {ending: (tmp_path / f"net{ending}").read_bytes() for ending in ENDINGS}
    generator = random.Random(name)
    outcomes = {True: 0, False: 0}
    for round in range(max(300, SOAK)):
        ending = ENDINGS[0] if round % 3 else ENDINGS[1 + round // 3 % 2]
        (tmp_path / f"net{ending}").write_bytes(mutated(whole[ending], generator))
        try:
            load(tmp_path / "net")
            outcomes[True] += 1
        except FormatError as error:
            assert error.code == "D2S3001" and "net.pd" in error.message
            outcomes[False] += 1
        (tmp_path / f"net{ending}").write_bytes(whole[ending])
    assert min(outcomes.values()) > 3


@pytest.mark.parametrize("name", SUBJECTS)
def test_mutated_descriptions(name, tmp_path):
    """Well-formed protobuf with values exchanged: gets deeper than flipped bits do."""
    save(CASES[name].model(), tmp_path / "net")
    path = tmp_path / "net.pdmodel"
    data, generator = path.read_bytes(), random.Random(name)
    for _ in range(max(150, SOAK)):
        described = protobuf.decode("ProgramDesc", data)
        for _ in range(generator.choice((1, 2, 5))):
            exchange(described, generator)
        path.write_bytes(protobuf.encode("ProgramDesc", described))
        try:
            load(tmp_path / "net")
        except FormatError as error:
            assert error.code == "D2S3001"


def exchange(described, random: random.Random) -> None:
    places: list = []

    def walk(value) -> None:
        for key in value if isinstance(value, dict) else range(len(value)):
            places.append((value, key))
            if isinstance(value[key], (dict, list)):
                walk(value[key])

    walk(described["blocks"])
    holder, key = random.choice(places)
    old = holder[key]
    if isinstance(old, list) and old:
        random.choice((lambda: old.pop(), lambda: old.append(old[0]), lambda: random.shuffle(old)))()
    elif not isinstance(old, (dict, list)):
        kin = [h[k] for h, k in places if type(h[k]) is type(old)]
        holder[key] = (
            random.choice(kin)
            if random.random() < 0.8 or isinstance(old, str)
            else random.choice((-1, 0, 2**31, 2**62, -(2**63)))
        )
        if isinstance(old, float):
            holder[key] = random.choice((0.0, 1e30, float("inf"), float("nan")))


@pytest.mark.parametrize(
    ("ending", "at", "said"),
    [
        (".pdmodel", 60, "net.pdmodel: protobuf: .*, at byte [67]."),
        (".pdiparams", 3, "net.pdiparams: parameter 'w': .* at byte 0"),
    ],
)
def test_a_complaint_names_the_file_the_place_and_the_reason(saved, ending, at, said):
    path = saved.with_name("net" + ending)
    data = path.read_bytes()
    path.write_bytes(data[:at] + b"\xff" * 12 + data[at + 12 :])
    assert re.search(said, refused(saved))


def test_cut_off_everywhere(saved):
    for ending in ENDINGS[:2]:
        path = saved.with_name("net" + ending)
        whole = path.read_bytes()
        for size in range(0, len(whole), 7):
            path.write_bytes(whole[:size])
            try:
                load(saved)
            except FormatError:
                continue
            assert ending == ".pdmodel"  # a message may end behind any of its fields
        path.write_bytes(whole)


def test_parameters_too_long(saved):
    with open(f"{saved}.pdiparams", "ab") as file:
        file.write(b"\0")
    assert "behind the last parameter" in refused(saved)


@pytest.mark.parametrize("dims", [[1 << 40], [0, 1 << 62], [-1], [3] * 40, [1 << 20, 1 << 20, 1 << 24]])
def test_absurd_dims_allocate_nothing(dims):
    described = protobuf.encode("TensorDesc", {"data_type": 5, "dims": dims})
    tracemalloc.start()
    with pytest.raises(FormatError):
        tensors.read_parameters(struct.pack("<IQIi", 0, 0, 0, len(described)) + described + bytes(64), ["w"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_bools_are_bools():
    data = tensors.write_parameters({"w": np.array([True])})
    with pytest.raises(FormatError, match="neither 0 nor 1"):
        tensors.read_parameters(data[:-1] + b"\2", ["w"])


def described_edit(saved, edit) -> str:
    path = saved.with_name("net.pdmodel")
    described = protobuf.decode("ProgramDesc", path.read_bytes())
    edit(described)
    path.write_bytes(protobuf.encode("ProgramDesc", described))
    return refused(saved)


def sub_block(described) -> dict:
    return next(a for b in described["blocks"] for o in b["ops"] for a in o["attrs"] if a["name"] == "sub_block")


@pytest.mark.parametrize("index", [0, -1, 2, 2**31, -(2**63)])
def test_blocks_that_are_not_there_or_call_themselves(saved, index):
    assert "claims block" in described_edit(saved, lambda d: sub_block(d).update(block_idx=index))


@pytest.mark.parametrize("parent", [1, 5, -1, -2])
def test_parents_that_cannot_be(saved, parent):
    described_edit(saved, lambda d: d["blocks"][1].update(parent_idx=parent))


def test_a_block_claimed_twice(saved):
    def edit(described):
        ops = described["blocks"][0]["ops"]
        ops.insert(-2, next(op for op in ops if op["type"] == "while"))

    assert "claims block" in described_edit(saved, edit)


def test_unknown_ops_are_named(saved):
    def edit(described):
        for op, kind in zip(described["blocks"][1]["ops"], ("py_func", "run_program"), strict=False):
            op["type"] = kind

    assert "py_func, run_program" in described_edit(saved, edit)


def test_missing_variables_are_named(saved):
    def edit(described):
        described["blocks"][0]["ops"] = [op for op in described["blocks"][0]["ops"] if op["type"] != "fill_constant"]

    assert "is read before" in described_edit(saved, edit)


@pytest.mark.parametrize(("number", "name"), [(22, "bfloat16"), (4, "float16"), (24, "complex128"), (99, "99"), (-1, "-1")])
def test_dtypes_d2s_does_not_have_are_named(saved, number, name):
    def edit(described):
        next(v for v in described["blocks"][0]["vars"] if v["name"] == "x")["type"]["lod_tensor"]["tensor"]["data_type"] = (
            number
        )

    assert f"{name} is no dtype of d2s" in described_edit(saved, edit)


@pytest.mark.parametrize(("number", "name"), [(22, "bfloat16"), (4, "float16")])
def test_parameters_of_dtypes_d2s_does_not_have_are_named(number, name):
    described = protobuf.encode("TensorDesc", {"data_type": number, "dims": [2]})
    with pytest.raises(FormatError, match=f"parameter 'fc.w': {name} is no dtype of d2s"):
        tensors.read_parameters(struct.pack("<IQIi", 0, 0, 0, len(described)) + described + bytes(4), ["fc.w"])


def test_missing_files(saved, tmp_path):
    os.remove(f"{saved}.pdiparams.info")
    assert [p.trainable for p in load(saved).parameters.values()] == [True]
    os.remove(f"{saved}.pdiparams")
    assert "no file" in refused(saved)
    assert "no file" in refused(tmp_path / "nothing")


def test_state_is_refused(saved):
    """An op that writes to a parameter would change the next call."""

    def edit(described):
        (loop,) = [op for op in described["blocks"][0]["ops"] if op["type"] == "while"]
        loop["outputs"][0]["arguments"].append("w")

    assert "changes its parameters ['w']" in described_edit(saved, edit)


def test_a_variable_written_by_one_arm_only_is_not_its_old_value(tmp_path):
    save(CASES["python_cond"].model(), tmp_path / "net")

    def edit(described):
        blocks = described["blocks"]
        one = next(op for op in blocks[1]["ops"] if op["type"] == "assign")
        blocks[1]["ops"].append(one | {"outputs": [{"parameter": "Out", "arguments": ["x"]}]})
        blocks[0]["ops"][-1]["inputs"][0]["arguments"] = ["x"]

    assert "'x' is read before" in described_edit(tmp_path / "net", edit)


class Bomb:
    def __reduce__(self):
        return os.system, ("echo pwned > /tmp/d2s_pwned",)


HOSTILE = {
    "reduce": lambda: pickle.dumps({"w": Bomb()}, 2),
    "global": lambda: b"\x80\x02cos\nsystem\n.",
    "stack_global": lambda: b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
    "inst": lambda: b"(S'echo'\nios\nsystem\n.",
    "obj": lambda: b"(cos\nsystem\nS'echo'\no.",
    "build": lambda: b"\x80\x02}q\x00}q\x01b.",
    "ext": lambda: b"\x80\x02\x82\x01.",
    "persistent": lambda: b"\x80\x02U\x01aQ.",
    "newobj": lambda: b"\x80\x02cbuiltins\nlist\n)\x81.",
    "memo": lambda: b"\x80\x02}r\xff\xff\xff\x7f.",
    "long": lambda: b"\x80\x02\x8b\xff\xff\xff\x7f.",
    "text": lambda: pickle.dumps("text", 2),
    "flat": lambda: pickle.dumps({"w": True}, 2),
    "wrong": lambda: pickle.dumps({"w": {"structured_name": 3, "trainable": True, "stop_gradient": False}}, 2),
    "itself": lambda: b"\x80\x02}q\x00X\x01\x00\x00\x00wh\x00s.",
    "unhashable": lambda: b"\x80\x02}q\x00}h\x00s.",
    "empty_stack": lambda: b"\x80\x02.",
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_info(name, saved):
    with open(f"{saved}.pdiparams.info", "wb") as file:
        file.write(HOSTILE[name]())
    assert ".info" in refused(saved)
    assert not os.path.exists("/tmp/d2s_pwned")


CALLS = "os.system posix.system nt.system subprocess.Popen subprocess.check_output builtins.eval builtins.exec builtins.open"
CALLS += " builtins.getattr builtins.__import__ builtins.compile builtins.breakpoint importlib.import_module runpy.run_path"
CALLS += " operator.attrgetter operator.methodcaller functools.partial types.FunctionType types.CodeType marshal.loads"
CALLS += " pickle.loads _pickle.loads copyreg._reconstructor code.InteractiveInterpreter timeit.timeit cProfile.run pdb.run"
CALLS += " pty.spawn webbrowser.open ctypes.CDLL asyncio.run shutil.rmtree socket.create_connection pip.main torch.load"
CALLS += " torch.jit.load numpy.load numpy.core.multiarray._reconstruct numpy.testing._private.utils.runstring joblib.load"
CALLS += " paddle.base.core.eager.Tensor _codecs.encode collections.OrderedDict d2s.load"


@pytest.mark.parametrize("call", CALLS.split())
def test_the_info_calls_nothing(call):
    """Gadgets of pickles that are known: by name and by stack, called, built, and as a value alone."""
    module, _, name = call.rpartition(".")
    by_name = f"c{module}\n{name}\n".encode()
    on_stack = b"".join(b"\x8c" + bytes([len(part)]) + part.encode() for part in (module, name)) + b"\x93"
    for named in (by_name, on_stack):
        argument = b"X\x01\0\0\0x\x85"
        for data in (named + argument + b"R.", named + b")\x81}b.", b"}X\x01\0\0\0w" + named + b"s.", named + b")}\x92."):
            with pytest.raises(FormatError, match="which it does not need"):
                tensors.read_info(b"\x80\x04" + data)


def test_our_info_names_no_code(saved):
    data = saved.with_name("net.pdiparams.info").read_bytes()
    opcodes = {opcode.name for opcode, _, _ in pickletools.genops(data)}
    assert opcodes <= SAFE
    assert pickle.loads(data)["w"] == {"structured_name": "layer.w", "stop_gradient": False, "trainable": True}


SAFE = {
    "PROTO",
    "EMPTY_DICT",
    "BINPUT",
    "MARK",
    "BINUNICODE",
    "NEWTRUE",
    "NEWFALSE",
    "BINGET",
    "SETITEM",
    "SETITEMS",
    "STOP",
}

REFUSED = Case(
    """
    program f(x: f32[n], u: u8[n], s: stack) -> (f32[n]) {
      %0: f32[] = sum(x, axis=(0,), keepdim=False)
      %1: f32[n] = spread(%0, x, axis=(0,), keepdim=False)  # net.py:4
      %2: u8[n], %5: i64[n] = sorted(u, axis=0, descending=False)  # net.py:5
      %3: b1[] = greater_than(%0, %0)
      %4: stack = cond(%3, s, x) {
        then(s: stack, x: f32[n]) -> (stack) {
          %0: stack = push(s, x)  # net.py:6
          return %0
        }
        otherwise(s: stack, x: f32[n]) -> (stack) {
          return s
        }
      }
      return %1
    }
    """,
    [],
)


def test_all_refused_ops_are_named_and_nothing_is_written(tmp_path):
    with pytest.raises(FormatError) as caught:
        save(REFUSED.model(), tmp_path / "net")
    assert caught.value.code == "D2S3002"
    assert "spread (net.py:4), sorted of uint8 (net.py:5), cond of a stack, push (net.py:6)" in caught.value.message
    assert os.listdir(tmp_path) == []


def test_files_are_replaced_whole_or_not_at_all(saved, monkeypatch):
    before = {ending: saved.with_name("net" + ending).read_bytes() for ending in ENDINGS}

    def killed(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(paddle_format.os, "replace", killed)
    model = CASES["counter"].model()
    model.parameters["w"] = Parameter(model.parameters["w"].array + 1, "other")
    with pytest.raises(KeyboardInterrupt):
        save(model, saved)
    assert {ending: saved.with_name("net" + ending).read_bytes() for ending in ENDINGS} == before
    assert len(os.listdir(saved.parent)) == len(ENDINGS)


@pytest.mark.parametrize("at", range(6))
def test_a_process_killed_while_it_saves_leaves_the_old_model_or_one_that_is_refused(saved, at):
    """It ends at a draft or, from 3 on, at one that is to take its place."""
    before = [p.array.tobytes() for p in load(saved).parameters.values()]
    model = CASES["counter"].model()
    model.parameters["w"].array += 1
    child = os.fork()
    if not child:
        steps = itertools.count()

        def until_then(real):
            return lambda *given, **named: real(*given, **named) if next(steps) < at else os.kill(os.getpid(), signal.SIGKILL)

        os.makedirs, os.replace = until_then(os.makedirs), until_then(os.replace)
        save(model, saved)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    if at < 4:
        assert [p.array.tobytes() for p in load(saved).parameters.values()] == before
    else:
        assert "the file that was written with the others" in refused(saved)
    save(model, saved)
    assert [p.array.tobytes() for p in load(saved).parameters.values()] != before


def test_deep_nesting_is_refused_by_name(tmp_path):
    text, head = "return x", "b: b1[], x: f32[n]"
    for _ in range(40):
        arms = f"then({head}) -> (f32[n]) {{ {text} }} otherwise({head}) -> (f32[n]) {{ return x }}"
        text = f"%0: f32[n] = cond(b, b, x) {{ {arms} }} return %0"
    with pytest.raises(FormatError, match="deep"):
        save(Case(f"program f({head}) -> (f32[n]) {{ {text} }}", []).model(), tmp_path / "net")


def test_the_model_must_fit_the_program(tmp_path):
    model = CASES["counter"].model()
    model.parameters["w"] = Parameter(np.zeros((4, 4)), "w")
    with pytest.raises(FormatError, match="float64"):
        save(model, tmp_path / "net")
    model.feeds.reverse()
    with pytest.raises(FormatError, match="feeds"):
        save(model, tmp_path / "net")


@pytest.mark.parametrize("changed", ["axes=(9,)", "axes=(-1,)", "counts=(-3,)", "steps=(0,)", "starts=(99,)", "dropped=(0,0,)"])
def test_attributes_that_nobody_writes_are_not_believed(changed, tmp_path):
    """Also where ops and notes agree about them: kernels trust attributes."""
    given = "axes=(0,), counts=(3,), dropped=(), starts=(2,), steps=(1,)"
    text = f"program f(x: f32[7]) -> (f32[3]) {{ %0: f32[3] = sliced(x, {given}) return %0 }}"
    save(Case(text, []).model(), tmp_path / "net")
    path = tmp_path / "net.pdmodel"
    described = protobuf.decode("ProgramDesc", path.read_bytes())
    key = changed.partition("=")[0]
    described["notes"] = re.sub(rf"{key}=\([^)]*\)", changed, described["notes"])
    path.write_bytes(protobuf.encode("ProgramDesc", described))
    assert [node.attrs["counts"] for node in load(tmp_path / "net").program.nodes] == [(3,)]
