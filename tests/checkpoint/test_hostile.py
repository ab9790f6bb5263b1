"""Files made to harm: calls, names, bombs, damage. Every one is a FormatError; nothing is executed, nothing grows."""

import builtins
import importlib
import io
import os
import pickle
import random
import struct
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest

import d2s
from d2s.checkpoint import pickle_reader
from d2s.errors import FormatError

TOUCHED = []


def touch(*args):
    """What a gadget would call."""
    TOUCHED.append(args)


class Calls:
    """Pickles as a call."""

    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


class Builds:
    """Pickles as an object whose state is set."""

    def __init__(self):
        self.x = 1


class Sets:
    """Pickles as an object that is told its state by a function."""

    def __reduce__(self):
        return Builds, (), {"x": 1}, None, None, touch


def load(data):
    return d2s.load(io.BytesIO(data))


def refused(data):
    with pytest.raises(FormatError) as caught:
        load(data)
    assert caught.value.code in ("D2S3001", "D2S3002")
    assert TOUCHED == []


ARRAY = pickle.dumps(np.arange(4, dtype="float32"), 4)
GADGETS = {
    "a function": touch,
    "a call": Calls(touch, 1),
    "os.system": Calls(os.system, "true"),
    "eval": Calls(eval, "1"),
    "exec": Calls(exec, "1"),
    "getattr": Calls(getattr, (), "__class__"),
    "import_module": Calls(importlib.import_module, "os"),
    "__import__": Calls(builtins.__import__, "os"),
    "subprocess": Calls(subprocess.Popen, ["true"]),
    "open": Calls(open, os.devnull),
    "a class": Builds,
    "an object": Builds(),
    "a state setter": Sets(),
    "an array of objects": np.array([Calls(touch)], dtype=object),
    "a structured array": np.zeros(2, [("a", "i4")]),
    "dates": np.zeros(2, "datetime64[s]"),
    "texts": np.array(["a"]),
    "complex numbers": np.zeros(2, "complex64"),
    "a slice": slice(1),
    "a range": range(3),
    "a complex number": 1j,
    "a bytearray": bytearray(b"x"),
    "an exception": ValueError("x"),
    "a type": int,
    "a subclass of a list": Calls(list, (1, 2)),
    "a tensor": d2s.to_tensor([1.0]),
}


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("what", GADGETS)
def test_gadgets(what, protocol):
    if what == "a tensor" and protocol < 2:
        pytest.skip("Python itself does not pickle it so")
    for data in (GADGETS[what], {"StructuredToParameterName@@": {}, "x": GADGETS[what]}, [(1, GADGETS[what])]):
        refused(pickle.dumps(data, protocol))


def name(module, name):
    return f"c{module}\n{name}\n".encode()


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


ENCODE = name("_codecs", "encode")
RECONSTRUCT, NDARRAY, DTYPE = name("numpy.core.multiarray", "_reconstruct"), name("numpy", "ndarray"), name("numpy", "dtype")
F4 = DTYPE + text("f4") + b"\x89\x88\x87R(K\x03" + text("<") + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
EMPTY = RECONSTRUCT + NDARRAY + b"K\x00\x85C\x01b\x87R"


def array(shape, data=b"\0\0\0\0", dtype=F4, order=b"\x89"):
    return b"\x80\x04" + EMPTY + b"(K\x01" + shape + dtype + order + b"B" + struct.pack("<I", len(data)) + data + b"tb."


HUGE = b"J\xff\xff\xff\x7f"
CRAFTED = {
    "nothing": b"",
    "only an end": b".",
    "a mark and an end": b"(.",
    "two values": b"NN.",
    "no end": b"\x80\x04N",
    "a value too few": b"\x85.",
    "a call of nothing": b"R.",
    "a call of a value": b"NN\x85R.",
    "a call without a tuple": ENCODE + b"NR.",
    "a name for a value": NDARRAY + b".",
    "a name in a list": b"]" + NDARRAY + b"a.",
    "a dtype for a value": F4 + b".",
    "an array without values": EMPTY + b".",
    "an array filled twice": EMPTY + (b"(K\x01K\x01\x85" + F4 + b"\x89C\x04\0\0\0\0tb") * 2 + b".",
    "an array of a class": RECONSTRUCT + name("collections", "OrderedDict") + b"K\x00\x85C\x01b\x87R.",
    "an array made of too little": RECONSTRUCT + b")R.",
    "a dtype of objects": DTYPE + text("O8") + b"\x89\x88\x87R.",
    "a dtype of fields": DTYPE + text("V8") + b"\x89\x88\x87R.",
    "a dtype that is a list": DTYPE + b"]\x89\x88\x87R.",
    "a dtype with fields": DTYPE + text("f4") + b"\x89\x88\x87R(K\x03" + text("<") + b"N}}J\x00\0\0\0J\0\0\0\0K\0tb.",
    "a dtype of no order": DTYPE + text("f4") + b"\x89\x88\x87R(K\x03" + text("?") + b"NNNNNNtb.",
    "a codec": ENCODE + text("x") + text("rot13") + b"\x86R.",
    "bytes to be decoded": name("_codecs", "decode") + b"C\x01x" + text("latin1") + b"\x86R.",
    "a dotted name": name("builtins", "str.format") + b".",
    "a name of another module": name("numpy", "fromfile") + text("/etc/passwd") + b"\x85R.",
    "a name spelled on the stack": text("os") + text("system") + b"\x93.",
    "a name spelled with numbers": b"K\x01K\x02\x93.",
    "a name without end": b"c" + b"x" * 1000,
    "a name with no letters of text": b"c\xff\xff\n\xff\n.",
    "inst": b"(ios\nsystem\n.",
    "obj": b"(" + NDARRAY + b"o.",
    "newobj": NDARRAY + b")\x81.",
    "newobj_ex": NDARRAY + b")}\x92.",
    "ext1": b"\x82\x01.",
    "ext4": b"\x84\x01\0\0\0.",
    "persid": b"Px\n.",
    "binpersid": b"NQ.",
    "a buffer": b"\x97.",
    "a build of a dict": b"}}b.",
    "a build of a list": b"]}b.",
    "a build of a name": NDARRAY + b")b.",
    "items of a list": b"]NNs.",
    "items of a tuple": b"(tNNs.",
    "a key without a value": b"}(Nu.",
    "things appended to a dict": b"}Na.",
    "things added to a list": b"](N\x90.",
    "a key that is a list": b"}]Ns.",
    "a key that is a tuple": b"}K\x01\x85Ns.",
    "a key that is bytes": b"}C\x01xNs.",
    "a key of 200 bits": b"}\x8a\x1a" + b"\x7f" * 26 + b"Ns.",
    "a set of lists": b"\x8f(]\x90.",
    "a mark that is kept": b"(q\x00.",
    "a value never kept": b"h\x05.",
    "a value far away": b"j\xff\xff\xff\xff.",
    "text that is longer than the file": b"X\xff\xff\xff\xffx.",
    "text of 2**60 bytes": b"\x8d" + struct.pack("<Q", 1 << 60) + b"x.",
    "bytes of 2**63 bytes": b"\x8e" + struct.pack("<Q", 1 << 63) + b"x.",
    "text that is none": b"X\x01\0\0\0\xff.",
    "a long of 2**31 bytes": b"\x8b\xff\xff\xff\x7fx.",
    "a float in text": b"F1.0\n.",
    "protocol 9": b"\x80\x09N.",
    "a list in itself": b"]q\x00h\x00a.",
    "a dict in itself": b"}q\x00" + text("x") + b"h\x00s.",
    "lists too deep": b"]" * 200 + b"a" * 199 + b".",
    "tuples too deep": b")" + b"\x85" * 5000 + b".",
    "an array of another size": array(b"K\x02\x85"),
    "an array of a negative extent": array(b"J\xff\xff\xff\xff\x85"),
    "an array of a huge shape": array(b"(" + HUGE * 3 + b"t"),
    "an array of a huge empty shape": array(b"(" + HUGE * 3 + b"K\x00t", b""),
    "an array of 40 axes": array(b"(" + b"K\x01" * 40 + b"t"),
    "an array of a list": array(b"]"),
    "an array of a shape of text": array(text("a") + b"\x85"),
    "an array of text": EMPTY + b"(K\x01K\x01\x85" + F4 + b"\x89" + text("abcd") + b"tb.",
    "an array without a dtype": array(b"K\x01\x85", dtype=b"N"),
    "an array of bools that are none": array(b"K\x01\x85", b"\x05", DTYPE + text("b1") + b"\x89\x88\x87R"),
    "a scalar of another size": name("numpy.core.multiarray", "scalar") + F4 + b"C\x01x\x86R.",
    "a scalar of objects": name("numpy.core.multiarray", "scalar") + b"NC\x01x\x86R.",
    "a tuple of a list": name("builtins", "tuple") + b"]\x85R.",
    "a set of text": name("builtins", "set") + b"]]a\x85R.",
    "an ordered dict of pairs": name("collections", "OrderedDict") + b"](K\x01K\x02le\x85R.",
}


@pytest.mark.parametrize("what", CRAFTED)
def test_crafted(what):
    refused(CRAFTED[what])


def bombs():
    large = b"X" + struct.pack("<I", 100_000) + b"\x7f" * 100_000
    yield "text encoded again and again", large + b"q\x000](" + (ENCODE + b"h\x00" + text("latin1") + b"\x86R") * 3000 + b"e."
    data = b"B" + struct.pack("<I", 100_000) + b"\0" * 100_000
    fill = b"(K\x01J" + struct.pack("<i", 25_000) + b"\x85" + F4 + b"\x88h\x01tb"
    yield "one memory for many arrays", data + b"q\x010](" + (EMPTY + fill) * 2000 + b"e."
    items = b"](" + b"N" * 100_000 + b"eq\x020"
    yield "sets of one list", items + b"](" + (name("builtins", "set") + b"h\x02\x85R") * 3000 + b"e."
    doubled = b"]q\x00" + b"".join(b"](h" + bytes([k]) + b"h" + bytes([k]) + b"eq" + bytes([k + 1]) for k in range(90)) + b"."
    yield "lists doubled 90 times", doubled
    yield "dicts and nothing else", b"](" + b"}" * 50_000 + b"e."
    keys = b"".join(b"\x8a\x08" + struct.pack("<q", k << 40) + b"N" for k in range(50_000))
    yield "keys that collide", b"}(" + keys + b"u."


@pytest.mark.parametrize(("what", "data"), list(bombs()), ids=lambda x: x if isinstance(x, str) else "")
def test_bombs_stay_small(what, data):
    tracemalloc.start()
    begin = time.monotonic()
    try:
        found = load(data)
        assert isinstance(found, list | dict)
    except FormatError:
        pass
    took, (_, peak) = time.monotonic() - begin, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 300 * len(data) + 1_000_000
    assert took < 30


def test_arrays_of_the_same_bytes_are_made_apart():
    fill = b"(K\x01K\x01\x85" + F4 + b"\x89h\x01tb"
    data = b"B" + struct.pack("<I", 4) + b"\0\0\0\0q\x010](" + (EMPTY + fill) * 2 + b"e."
    first, second = load(data)
    first[0] = 5
    assert second.tolist() == [0.0]


def test_opcodes_are_counted(monkeypatch):
    monkeypatch.setattr(pickle_reader, "MOST", 100)
    load(b"](" + b"N" * 90 + b"e.")
    refused(b"](" + b"N" * 100 + b"e.")


def state():
    file = io.BytesIO()
    d2s.save({"w": d2s.to_tensor(np.arange(6.0).reshape(2, 3)), "b": d2s.to_tensor([True]), "epoch": 3}, file)
    return file.getvalue()


def nest(protocol):
    file = io.BytesIO()
    d2s.save({"a": [d2s.to_tensor([1, 2]), {"b": (d2s.to_tensor(2.5), "text", None, 2**70, 0.5)}], "s": {1, 2}}, file, protocol)
    return file.getvalue()


def mutations(count, seed):
    """Genuine files with bytes changed, taken out, put in, repeated, or cut off."""
    rng = random.Random(seed)
    whole = [state(), nest(2), nest(4), ARRAY, pickle.dumps({"a": [np.ones(3), {1: (2, "x")}], "b": {1, 2}}, 2)]
    for _ in range(count):
        data = bytearray(rng.choice(whole))
        for _ in range(rng.choice([1, 1, 1, 2, 5, 20])):
            at = rng.randrange(len(data))
            kind = rng.randrange(6)
            if kind < 2:
                data[at] = rng.randrange(256)
            elif kind == 2:
                data[at] ^= 1 << rng.randrange(8)
            elif kind == 3:
                del data[at : at + rng.randrange(1, 9)]
            elif kind == 4:
                data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
            else:
                end = at + rng.randrange(1, 40)
                data[at:at] = data[at:end]
            if not data:
                break
        yield bytes(data[: rng.randrange(len(data))]) if data and rng.random() < 0.1 else bytes(data)


MUTATIONS = int(os.environ.get("D2S_MUTATIONS", "2000"))


def test_random_damage():
    """Only a FormatError, in no time, with little memory."""
    tracemalloc.start()
    refusals = 0
    try:
        for data in mutations(MUTATIONS, 5):
            begin = time.monotonic()
            try:
                load(data)
            except FormatError:
                refusals += 1
            assert time.monotonic() - begin < 5
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert MUTATIONS / 4 < refusals < MUTATIONS
    assert peak < 20_000_000
    assert TOUCHED == []


def test_nothing_is_imported():
    """Not even a module: an import runs its code."""
    code = "import io, sys, d2s\nbefore = set(sys.modules)\ntry:\n"
    code += "    d2s.load(io.BytesIO(b'cantigravity\\nfly_antigravity\\n.'))\n"
    code += "except d2s.errors.FormatError:\n    print(sorted(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "[]\n", run.stderr
