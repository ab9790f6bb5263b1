"""From Paddle's ProgramDesc, the dict `protobuf.decode` made, to a Model.

In: a ProgramDesc, arrays by variable name, entries of the `.info`. Out: a Model; any exception means a damaged file.
Blocks are run on names: `assign` moves a Value to another name, so variables written again and again become SSA.
The ops alone decide what is computed; our notes give names, extents and Python numbers back where they fit the ops.

>>> from d2s.export import protobuf
>>> read(protobuf.decode("ProgramDesc", b""), {}, {})
Traceback (most recent call last):
d2s.errors.FormatError: [D2S3001] the file holds no blocks
"""

import dataclasses
import inspect
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from d2s import types
from d2s.errors import D2SError
from d2s.export.model import Model, Parameter
from d2s.export.paddle_blocks import Block, Op, blocks_of, fail
from d2s.export.paddle_writer import FEED_MINIBATCH, FETCH_LIST, LOD_TENSOR
from d2s.export.protobuf import Message
from d2s.export.spellings import OF_PADDLE, SPELLINGS
from d2s.export.tensors import dtype_of
from d2s.ir.program import Node, Program, Value
from d2s.ir.text import show
from d2s.ir.verify import verify
from d2s.ops import OPS
from d2s.types import Dim, Type

# the kinds of Python number that a constant of each dtype may be made from
_KINDS = {"b": ("bool",), "i": ("int", "bool"), "f": ("float", "int", "bool")}
_NO_NOTES: dict[str, Any] = {"program": "main", "filler": None, "inputs": {}, "kinds": {}, "regions": {}, "tests": {}}
_NO_NOTES |= {"fetches": [], "python": [], "spare": [], "wide": []}
_FUEL = 32  # how often each op may be looked at: the tests of loops are read twice, tests in tests four times
_MAX_SAME = 64  # how many extents may turn out to be equal


def _integer(text: str) -> int:
    return int(text) if re.fullmatch(r"-?\d+", text) else int(float(text))


_READ: dict[str, Callable[[str], Any]] = {"bool": lambda text: bool(float(text)), "int": _integer, "float": float}


Held = Mapping[str, Value]  # variables that are read, and what they hold


class _SameExtent(Exception):
    """Two open extents that arms or trips need to be one: the file is read again with one extent less."""


def _labels(names: Sequence[str], wanted: Sequence[str] = ()) -> list[str]:
    """An identifier for each name, all different: those of the notes where they fit."""
    if len(wanted) == len(names) == len(set(wanted)) and all(w.isidentifier() for w in wanted):
        return list(wanted)
    found: dict[str, None] = {}
    numbers = itertools.count(1)
    for name in names:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        label = plain = plain if plain.isidentifier() else "v_" + plain
        while label in found:
            label = f"{plain}_{next(numbers)}"
        found[label] = None
    return list(found)


class _Reader:
    """What all blocks of one file share."""

    def __init__(self, described: Message, same: Mapping[str, str]) -> None:
        held = json.loads(described["notes"] or "{}")
        self.notes: dict[str, Any] = _NO_NOTES | held.get("d2s", {})
        self.notes |= {key: frozenset(self.notes[key]) for key in ("python", "spare", "wide")}
        self.user: dict[str, Any] = held.get("notes", {})
        self.same, self.blocks = same, blocks_of(described["blocks"], _HANDLERS.keys() | OF_PADDLE.keys())
        self.fuel = _FUEL * sum(len(block.ops) for block in self.blocks)
        taken = {d for _, dims, _ in self.notes["inputs"].values() for d in dims}
        self.extents = (name for name in map("n{}".format, itertools.count()) if name not in taken)

    def inputs(self, names: Sequence[str]) -> list[Value]:
        noted = self.notes["inputs"]
        labels = _labels(names, [noted[name][0] for name in names if name in noted])
        return [
            Value(self.type(name, *noted.get(name, ["", [], False])[1:]), label)
            for name, label in zip(names, labels, strict=True)
        ]

    def type(self, name: str, noted: list[Any], python: bool) -> Type:
        """The declared type of a variable of the first block; the notes say what its open extents are called."""
        declared = self.blocks[0].declared.get(name) or fail(f"variable '{name}' is not declared")
        if declared["type"]["type"] != LOD_TENSOR:
            fail(f"variable '{name}' is not a tensor but of kind {declared['type']['type']}")
        tensor = declared["type"]["lod_tensor"]["tensor"]
        dtype, dims = dtype_of(tensor["data_type"]), tensor["dims"]
        if len(dims) > 32 or not all(-1 <= d < 1 << 48 for d in dims):
            fail(f"variable '{name}' has dims {dims[:32]}")
        noted = noted if len(noted) == len(dims) else dims
        shape = tuple(self.extent(n) if d == -1 else d for d, n in zip(dims, noted, strict=True))
        return Type(dtype, shape, python and not shape and dtype in types.PYTHON_DTYPES)

    def extent(self, noted: Any) -> Dim:
        name = noted if isinstance(noted, str) and noted.isidentifier() else next(self.extents)
        while name in self.same:
            name = self.same[name]
        return name

    def columns(self, kind: str) -> list[Op]:
        """The ops that feed or fetch, in order."""
        found = {op.take("col", 0): op for op in self.blocks[0].ops if op.type == kind}
        if sorted(found) != list(range(sum(op.type == kind for op in self.blocks[0].ops))):
            fail(f"the {kind} ops have columns {sorted(found)}")
        return [op for _, op in sorted(found.items())]

    def whole(self, parameters: list[str]) -> tuple[Program, list[str], list[str]]:
        """The Program, the names of what is fed, and of what is fetched."""
        feeds, fetches = [op.out for op in self.columns("feed")], [op.one("X") for op in self.columns("fetch")]
        names = feeds + parameters
        if len(set(names)) < len(names):
            fail(f"the inputs {names} are not different ones")
        written = {n for block in self.blocks for op in block.ops for n in itertools.chain(*op.outputs.values())}
        if not written.isdisjoint(parameters):
            fail(f"the program changes its parameters {sorted(written & set(parameters))}")
        inputs = self.inputs(names)
        ops = [op for op in self.blocks[0].ops if op.type not in ("feed", "fetch")]
        frame = _Frame(self, self.blocks[0], ops, dict(zip(names, inputs, strict=True)))
        named = re.fullmatch(r"[A-Za-z_][\w.]*", self.notes["program"])
        program = frame.run(named[0] if named else "main", inputs, fetches)
        verify(program)
        noted = [str(name) for name in self.notes["fetches"]]
        return program, [v.name for v in inputs[: len(feeds)]], noted if len(noted) == len(fetches) else fetches


@dataclasses.dataclass(eq=False)
class _Arm:
    """A `conditional_block` that waits for the `select_input` that joins it with its opposite."""

    condition: Value
    block: Block
    held: Held  # what it may read, as it was when the block stood there


class _Frame:
    """Ops of one block on their way to a Program; `env` holds the Value each name has now."""

    def __init__(self, reader: _Reader, block: Block, ops: Sequence[Op], env: dict[str, Value]) -> None:
        self.reader, self.notes, self.block, self.ops, self.env = reader, reader.notes, block, ops, env
        self.nodes: list[Node] = []
        self.starts: list[int] = []  # how many nodes there were in front of each op
        self.spare: set[Node] = set()  # nodes that only Paddle needs: dropped unless something reads them
        self.maker: dict[Value, Node] = {}
        self.opposite: dict[Value, Value] = {}
        self.narrow: dict[Value, Value] = {}  # what was expanded
        self.arms: dict[str, _Arm] = {}
        self.joined: dict[tuple[Any, ...], Value] = {}  # by two arms and their two variables
        self.where = ""

    def run(self, name: str, inputs: Sequence[Value], results: Sequence[str]) -> Program:
        for index, op in enumerate(self.ops):
            self.reader.fuel -= 1
            if self.reader.fuel < 0:
                fail("loops are nested too deep in the tests of loops")
            self.where = op.where
            self.starts.append(len(self.nodes))
            _HANDLERS.get(op.type, _Frame.plain)(self, index, op)
        outputs = [self.get(n) for n in results]
        kept, read = [], set(outputs)
        for node in reversed(self.nodes):
            if node not in self.spare or not read.isdisjoint(node.outputs):
                kept.append(node)
                read.update(node.inputs)
        return Program(name, tuple(inputs), tuple(reversed(kept)), tuple(outputs))

    def get(self, name: str) -> Value:
        if name not in self.env:
            fail(f"variable '{name}' is read before anything wrote it", self.where)
        return self.env[name]

    def emit(self, op: str, inputs: Sequence[Value], attrs: dict[str, Any]) -> Node:
        """Adds a node, typed by the op's own rules."""
        record, given = OPS[op], [v.type for v in inputs]
        if op == "constant":
            types.array_of(attrs["value"], attrs["dtype"])
        defaults = {name: value for name, value in record.attributes.items() if value is not inspect.Parameter.empty}
        attrs = record.canonical(given, defaults | attrs)
        outputs = record.infer(given, attrs)
        if record.promotes and len({t.dtype for t in given[record.kept :]}) > 1:
            fail(f"{op} of {', '.join(t.dtype.name for t in given)}", self.where)
        node = Node(op, tuple(inputs), tuple(Value(t) for t in outputs), attrs, self.where)
        self.nodes.append(node)
        self.maker.update((value, node) for value in node.outputs)
        return node

    def bind(self, name: str, node: Node) -> None:
        self.env[name] = node.outputs[0]
        if name in self.notes["spare"]:
            self.spare.add(node)

    def inside(self, block: Block, ops: Sequence[Op], held: Held, wanted: Sequence[str]) -> tuple["_Frame", list[Value]]:
        """A frame for ops that may read these variables and nothing else, and the inputs that stand for them."""
        inputs = [Value(v.type, label) for v, label in zip(held.values(), _labels(list(held), wanted), strict=True)]
        return _Frame(self.reader, block, ops, dict(zip(held, inputs, strict=True))), inputs

    def region(self, name: str, block: Block, ops: Sequence[Op], held: Held, results: list[str], wanted: list[str]) -> Program:
        """Ops as a closed Program from what is held to what the results are in the end."""
        frame, inputs = self.inside(block, ops, held, wanted)
        return frame.run(name, inputs, results)

    def agree(self, have: Sequence[Value], want: Sequence[Value]) -> None:
        """What leaves by either way has the same extents: Paddle's -1 does not say which are equal."""
        for a, b in zip(have, want, strict=True):
            for d, e in zip(a.type.shape, b.type.shape, strict=False):
                if d != e and isinstance(d, str) and isinstance(e, str):
                    raise _SameExtent(d, e)

    def truth(self, value: Value) -> Value:
        """A condition as 0-D; older files hold them as one element."""
        if value.type.dtype is not types.bool_ or value.type.shape not in ((), (1,)):
            fail(f"a condition is {value.type}", self.where)
        if value.type.shape:
            (value,) = self.emit("sum", [value], {"axis": None, "keepdim": False}).outputs
            (value,) = self.emit("cast", [value], {"dtype": types.bool_, "python": False}).outputs
        return value

    # ops

    def plain(self, index: int, op: Op) -> None:
        name = OF_PADDLE[op.type]
        spelling = SPELLINGS[name]
        if not spelling.slots or set(op.inputs) != set(spelling.slots):
            fail(f"{op.type} with inputs {sorted(op.inputs)}", self.where)
        inputs = [self.get(op.one(slot)) for slot in spelling.slots]
        ranks = [len(v.type.shape) for v in inputs]
        if op.take("axis", -1) not in (-1, ranks[0] - ranks[-1]):
            fail(f"{op.type} that broadcasts from axis {op.attrs['axis']}", self.where)
        attrs = spelling.read(op.take, [v.type for v in inputs])
        if name == "cast" and not inputs[0].type.shape:
            attrs["python"] = op.out in self.notes["python"] and attrs["dtype"] in types.PYTHON_DTYPES
        node = self.emit(name, inputs, attrs)
        self.bind(op.out, self.folded(node, op.out in self.notes["python"]) if op.out in self.notes["wide"] else node)
        declared = self.block.declared.get(op.out)
        dtype = node.outputs[0].type.dtype
        if declared and dtype_of(declared["type"]["lod_tensor"]["tensor"]["data_type"]) is not dtype:
            fail(f"'{op.out}' is declared to be of another dtype than {op.type} computes", self.where)

    def folded(self, node: Node, python: bool) -> Node:
        """One constant for the arithmetic that stands for a wide one."""
        makers = [self.maker.get(v) for v in node.inputs]
        dtype = node.outputs[0].type.dtype
        if node.op not in ("add", "multiply") or dtype.kind != "i" or not all(m and m.op == "constant" for m in makers):
            return node
        a, b = (m.attrs["value"] for m in makers if m)
        self.spare.add(node)
        value = a + b if node.op == "add" else a * b
        return self.emit("constant", [], {"value": value, "dtype": dtype, "python": python})

    def constant(self, index: int, op: Op) -> None:
        dtype, text = dtype_of(op.take("dtype", 5)), op.take("str_value", "") or repr(op.take("value", 0.0))
        if op.inputs or op.take("shape", []):
            fail(f"fill_constant of shape {op.attrs.get('shape')} or of computed values", self.where)
        noted, possible = self.notes["kinds"].get(op.out), _KINDS[dtype.kind]
        value = _READ[noted if noted in possible else possible[0]](text)
        python = op.out in self.notes["python"] and dtype in types.PYTHON_DTYPES
        self.bind(op.out, self.emit("constant", [], {"value": value, "dtype": dtype, "python": python}))

    def assign(self, index: int, op: Op) -> None:
        self.env[op.out] = self.get(op.one("X"))

    def scale(self, index: int, op: Op) -> None:
        """`scale * x + bias`: Paddle's spelling of neg, and of arithmetic with constants."""
        value = self.get(op.one("X"))
        scale, bias, after = op.take("scale", 1.0), op.take("bias", 0.0), op.take("bias_after_scale", True)
        if set(op.inputs) != {"X"} or (bias and not after):
            fail("scale with a computed factor, or with its bias first", self.where)
        if (scale, bias) == (-1.0, 0.0):
            self.bind(op.out, self.emit("neg", [value], {}))
            return
        for name, number, neutral in (("multiply", scale, 1.0), ("add", bias, 0.0)):
            if number != neutral:
                dtype = value.type.dtype
                if dtype.kind == "b" or (dtype.kind == "i" and number != number // 1):
                    fail(f"scale of {dtype.name} by {number}", self.where)
                number = int(number) if dtype.kind == "i" else number
                constant = self.emit("constant", [], {"value": number, "dtype": dtype, "python": value.type.python})
                (value,) = self.emit(name, [value, *constant.outputs], {}).outputs
        self.env[op.out] = value

    def negation(self, index: int, op: Op) -> None:
        value = self.get(op.one("X"))
        if value.type.dtype is not types.bool_:
            fail(f"logical_not of {value.type}", self.where)
        attrs = {"value": False, "dtype": types.bool_, "python": value.type.python}
        false = self.emit("constant", [], attrs)
        node = self.emit("equal", [value, false.outputs[0]], {})
        self.spare |= {false, node}  # of use to Paddle's `if` only, unless something else reads it
        self.bind(op.out, node)
        self.opposite[node.outputs[0]] = value

    def expand(self, index: int, op: Op) -> None:
        """x in the shape of y."""
        x, y = self.get(op.one("X")), self.get(op.one("Y"))
        same = self.emit("equal", [y, y], {})
        node = self.emit("where", [same.outputs[0], x, x], {})
        self.spare |= {same, node}
        self.bind(op.out, node)
        self.narrow[node.outputs[0]] = x

    def select(self, index: int, op: Op) -> None:
        """`where`: what was expanded for it broadcasts by itself."""
        wide = [self.get(op.one(slot)) for slot in SPELLINGS["where"].slots]
        if wide[0].type.dtype is not types.bool_:
            fail(f"where by a {wide[0].type}", self.where)
        node = self.emit("where", wide, {})
        narrow = [self.narrow.get(v, v) for v in wide]
        if narrow != wide and OPS["where"].infer([v.type for v in narrow], {}) == (node.outputs[0].type,):
            self.nodes.pop()
            node = self.emit("where", narrow, {})
        self.bind(op.out, node)

    # regions

    def inner(self, op: Op, slot: str) -> tuple[Block, Held]:
        """The block an op runs, and the variables that block may read."""
        block = self.reader.blocks[op.take("sub_block", 0)]
        if not block.index:
            fail(f"{op.type} without a block of its own", self.where)
        return block, {n: self.env[n] for n in dict.fromkeys([*op.inputs.get(slot, []), *block.reads]) if n in self.env}

    def arm(self, index: int, op: Op) -> None:
        arm = _Arm(self.get(op.one("Cond")), *self.inner(op, "Input"))
        for name in arm.block.writes:
            self.env.pop(name, None)  # holds one value or another until it is joined
        for name in op.outputs.get("Out", []):
            self.arms[name] = arm

    def join(self, index: int, op: Op) -> None:
        pair = tuple(op.inputs.get("X", []))
        if len(pair) != 2 or not all(n in self.arms for n in pair):
            fail(f"select_input of {list(pair)}, which are not two arms of an `if`", self.where)
        no, yes = self.arms[pair[0]], self.arms[pair[1]]
        key = (no, yes, *pair)
        if key not in self.joined:
            self.cond(index, no, yes, op)
        self.env[op.out] = self.joined[key]

    def cond(self, index: int, no: _Arm, yes: _Arm, op: Op) -> None:
        mask = self.maker.get(self.get(op.one("Mask")))
        chosen = mask.inputs[0] if mask and mask.op == "cast" else None
        if not mask or chosen is not yes.condition or chosen is not self.opposite.get(no.condition):
            fail("select_input whose mask is not the condition of its two blocks", self.where)
        self.spare.add(mask)
        joins = itertools.takewhile(lambda o: o.type == op.type, (self.ops[i] for i in range(index, len(self.ops))))
        pairs = list(dict.fromkeys(tuple(o.inputs.get("X", [])) for o in joins))
        pairs = [p for p in pairs if len(p) == 2 and self.arms.get(p[0]) is no and self.arms.get(p[1]) is yes]
        held = {**yes.held, **no.held}
        if any(yes.held.get(n, v) is not v for n, v in held.items()):
            fail("what the two blocks of an `if` read changes between them", self.where)
        then, otherwise = (
            self.region(name, arm.block, arm.block.ops, held, [p[side] for p in pairs], self.labels(arm.block))
            for name, arm, side in (("then", yes, 1), ("otherwise", no, 0))
        )
        self.agree(then.outputs, otherwise.outputs)
        node = self.emit("cond", [self.truth(yes.condition), *held.values()], {"then": then, "otherwise": otherwise})
        self.joined.update(((no, yes, *p), v) for p, v in zip(pairs, node.outputs, strict=True))

    def labels(self, block: Block) -> list[str]:
        return self.notes["regions"].get(str(block.index), [])

    def loop(self, index: int, op: Op) -> None:
        block, reads = self.inner(op, "X")
        condition = op.one("Condition")
        written = dict.fromkeys([*op.outputs.get("Out", []), *block.writes])
        carried = {n: self.env[n] for n in written if n in self.env and n != condition}
        fixed = {n: v for n, v in reads.items() if n not in carried and n != condition}
        body_ops, test = self.test(index, block, {**carried, **fixed}, condition)
        if not test:
            carried[condition] = self.get(condition)
            test = self.carried_test({**carried, **fixed}, condition)
        held = {**carried, **fixed}
        body = self.region("body", block, body_ops, held, list(carried), self.labels(block))
        self.agree(body.outputs, list(carried.values()))
        node = self.emit("while_loop", list(held.values()), {"test": test, "body": body, "carries": len(carried)})
        self.env.update(zip(carried, node.outputs, strict=True))

    def carried_test(self, held: Held, condition: str) -> Program:
        """The test of a loop whose condition is one of its carries."""
        frame, inputs = self.inside(self.block, (), held, ())
        frame.env[condition] = frame.truth(frame.env[condition])
        return frame.run("test", inputs, [condition])

    def test(self, index: int, block: Block, held: Held, condition: str) -> tuple[Sequence[Op], Program | None]:
        """The body without its test, and the test, if the ops before the loop are those the notes point at."""
        count, wanted = self.notes["tests"].get(str(block.index), (0, []))
        if not 0 < count <= min(index, len(block.ops)):
            return block.ops, None
        try:
            before = self.region("test", self.block, self.ops[index - count : index], held, [condition], wanted)
            test = self.region("test", block, block.ops[-count:], held, [condition], wanted)
        except D2SError:
            return block.ops, None
        (value,) = test.outputs
        if show(before) != show(test) or value.type.dtype is not types.bool_ or value.type.shape:
            return block.ops, None
        self.spare.update(self.nodes[self.starts[index - count] :])
        return block.ops[:-count], test


_HANDLERS: dict[str, Callable[[_Frame, int, Op], None]] = {
    "assign": _Frame.assign, "fill_constant": _Frame.constant, "scale": _Frame.scale, "logical_not": _Frame.negation,
    "expand_as_v2": _Frame.expand, "where": _Frame.select, "conditional_block": _Frame.arm, "select_input": _Frame.join,
    "while": _Frame.loop,
}  # fmt: skip


def parameters(described: Message) -> list[str]:
    """The variables whose values stand in the `.pdiparams`."""
    special = (FEED_MINIBATCH, FETCH_LIST)
    first = described["blocks"][0]["vars"] if described["blocks"] else []
    return list(dict.fromkeys(v["name"] for v in first if v["persistable"] and v["type"]["type"] not in special))


def read(described: Message, arrays: Mapping[str, np.ndarray], info: Mapping[str, tuple[str, bool]]) -> Model:
    """The model of a file; what the `.info` does not tell is taken from the variables."""
    same: dict[str, str] = {}
    while True:
        try:
            return _model(_Reader(described, same), parameters(described), arrays, info)
        except _SameExtent as found:
            same.update([found.args])
        if len(same) > _MAX_SAME:
            fail("too many open extents must be equal")


def _model(reader: _Reader, names: list[str], arrays: Mapping[str, np.ndarray], info: Mapping[str, tuple[str, bool]]) -> Model:
    names = [name for name in names if name != reader.notes["filler"]]
    program, feeds, fetches = reader.whole(names)
    found = {}
    for name, value in zip(names, program.inputs[len(feeds) :], strict=True):
        array = arrays[name]
        if value.type != Type(types.dtype(array.dtype), array.shape):
            fail(f"parameter '{name}' is declared as {value.type}, its value is {array.dtype}{list(array.shape)}")
        plain = (name, not reader.blocks[0].declared[name]["stop_gradient"])
        found[value.name] = Parameter(array, *info.get(name, plain))
    return Model(program, feeds, found, fetches, reader.user)
