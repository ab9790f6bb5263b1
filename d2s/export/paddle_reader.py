"""From Paddle's ProgramDesc, the dict `protobuf.decode` made, to a Model.

In: a ProgramDesc, arrays by variable name, entries of the `.info`. Out: a Model; any exception means a damaged file.
Blocks are run on names: `assign` moves a Value to another name, so variables written again and again become SSA.
Ops that Paddle and d2s both have are rows of `spellings`; `paddle_words` tells of the others.

>>> from d2s.export import protobuf
>>> read(protobuf.decode("ProgramDesc", b""), {}, {})
Traceback (most recent call last):
d2s.errors.FormatError: [D2S3001] the file holds no blocks
"""

import contextlib
import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from d2s import types
from d2s.errors import CaptureError, D2SError, FormatError, InternalError, ShapeError
from d2s.export import (
    read_draws,
    read_extents,
    read_functions,
    read_layers,
    read_matrices,
    read_orders,
    read_sequences,
    read_shapes,
    read_slices,
    read_values,
)
from d2s.export.file_recorder import FileRecorder, FileSymbol
from d2s.export.model import Model, Parameter, Role
from d2s.export.paddle_blocks import CHANGED_ANYWAY, COUNTER, DRAWING, SEED, Block, Op, blocks_of, fail, roles_of
from d2s.export.paddle_regions import Arm, Held, Regions, SameExtent
from d2s.export.paddle_words import READ, Reading
from d2s.export.paddle_writer import FEED_MINIBATCH, FETCH_LIST, LOD_TENSOR
from d2s.export.protobuf import Message
from d2s.export.spellings import OF_PADDLE, SPELLINGS
from d2s.export.streams import MOVED, STREAM
from d2s.export.tensors import dtype_of
from d2s.ir.program import Node, Program, Value
from d2s.ir.verify import verify
from d2s.ops import OPS, dispatch
from d2s.ops.training_marks import INSIDE, PLACED, inside, noted, placed
from d2s.types import Dim, Type

_FUEL = 32  # how often each op may be looked at
_MAX_SAME = 64  # how many extents may turn out to be equal
_TOLD_BY = (  # who fills READ
    *(read_draws, read_extents, read_functions, read_layers, read_matrices, read_orders),
    *(read_sequences, read_shapes, read_slices, read_values),
)
_FREE = ("axis", "use_mkldnn")  # attributes that may be otherwise


def _labels(names: Sequence[str]) -> list[str]:
    """An identifier for each name, all different."""
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

    def __init__(self, described: Message, same: Mapping[str, str], whole_parts: bool) -> None:
        self.whole_parts = whole_parts
        self.same, self.blocks = same, blocks_of(described["blocks"], _HANDLERS.keys() | OF_PADDLE.keys() | READ.keys())
        self.fuel = _FUEL * sum(len(block.ops) for block in self.blocks)
        self.extents = map("n{}".format, itertools.count())
        self.version = described["version"]["version"]
        self.root: FileRecorder | None = None  # of the recorders of all frames

    def inputs(self, names: Sequence[str]) -> list[Value]:
        return [Value(self.type(name), label) for name, label in zip(names, _labels(names), strict=True)]

    def type(self, name: str) -> Type:
        """The declared type of a variable of the first block."""
        declared = self.blocks[0].declared.get(name) or fail(f"variable '{name}' is not declared")
        if declared["type"]["type"] != LOD_TENSOR:
            fail(f"variable '{name}' is not a tensor but of kind {declared['type']['type']}")
        tensor = declared["type"]["lod_tensor"]["tensor"]
        dtype, dims = dtype_of(tensor["data_type"]), tensor["dims"]
        if len(dims) > 32 or not all(-1 <= d < 1 << 48 for d in dims):
            fail(f"variable '{name}' has dims {dims[:32]}")
        return Type(dtype, tuple(self.extent() if d == -1 else d for d in dims))

    def extent(self) -> Dim:
        name = next(self.extents)
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
        written = {n for block in self.blocks for op in block.ops for n in op.written(CHANGED_ANYWAY)}
        if not written.isdisjoint(parameters):
            fail(f"the program changes its parameters {sorted(written & set(parameters))}")
        inputs = self.inputs(names)
        ops = [op for op in self.blocks[0].ops if op.type not in ("feed", "fetch")]
        frame = _Frame(self, self.blocks[0], ops, dict(zip(names, inputs, strict=True)))
        draws = any(op.type in DRAWING for block in self.blocks for op in block.ops)
        program = frame.run("main", inputs, fetches, draws)
        verify(program)
        return program, [v.name for v in inputs[: len(feeds)]], fetches


class _Frame(Regions):
    """Ops of one block on their way to a Program; `env` holds the Value each name has now."""

    def __init__(self, reader: _Reader, block: Block, ops: Sequence[Op], env: dict[str, Value]) -> None:
        self.reader, self.block, self.ops, self.env = reader, block, ops, env
        self.recorder = FileRecorder(reader.root)
        reader.root = reader.root or self.recorder
        self.recorder.stream = self.stream  # type: ignore[attr-defined]
        self.nodes = self.recorder.builder.nodes
        self.maker: dict[Value, Node] = {}
        self.opposite: dict[Value, Value] = {}
        self.known: dict[Value, list[Dim]] = {}  # shapes that were computed
        self.arms: dict[str, Arm] = {}
        self.joined: dict[tuple[Any, ...], Value] = {}  # by two arms and their two variables
        self.moving: set[str] = set()
        self.lost: set[str] = set()
        self.where, self.version, self.whole_parts = "", reader.version, reader.whole_parts

    def run(self, name: str, inputs: Sequence[Value], results: Iterable[str], draws: bool = False) -> Program:
        """`draws`: it is the whole, and some op in it draws random numbers."""
        if draws:
            self.env.update(zip((SEED, COUNTER), self.emit(STREAM, [], {}).outputs, strict=True))
        for index, op in enumerate(self.ops):
            self.reader.fuel -= 1
            if self.reader.fuel < 0:
                fail("loops are nested too deep in the tests of loops")
            self.where, self.recorder.reads = op.where, op.type
            self.recorder.where = op.where
            with _told_as_damage(op):
                _HANDLERS.get(op.type, _Frame.read if op.type in READ else _Frame.plain)(self, index, op)
        if draws:
            self.emit(MOVED, [self.get(COUNTER)], {})
        outputs = [self.get(n) for n in results]
        kept, read = [], set(outputs)
        for node in reversed(self.nodes):
            if not read.isdisjoint(node.outputs) or _fails(node):
                kept.append(node)
                read.update(node.inputs)
        return Program(name, tuple(inputs), tuple(reversed(kept)), tuple(outputs))

    def stream(self, blocks: Any) -> tuple[Any, Any]:
        """Seed and counter of a draw, which moves the counter on."""
        seed, at = (FileSymbol(self.recorder, self.get(name)) for name in (SEED, COUNTER))
        self.env[COUNTER] = OPS["add"](at, blocks).value
        return seed, at

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
        self.recorder.compare(node)
        self.maker.update((value, node) for value in node.outputs)
        return node

    def bind(self, name: str, node: Node) -> None:
        self.env[name] = node.outputs[0]

    def inside(self, block: Block, ops: Sequence[Op], held: Held) -> tuple["_Frame", list[Value]]:
        """A frame for ops that may read these variables and nothing else, and the inputs that stand for them."""
        inputs = [Value(v.type, label) for v, label in zip(held.values(), _labels(list(held)), strict=True)]
        frame = _Frame(self.reader, block, ops, dict(zip(held, inputs, strict=True)))
        frame.lost |= self.lost
        return frame, inputs

    def region(self, name: str, block: Block, held: Held, results: list[str]) -> Program:
        """A block as a closed Program from what is held to what the results are in the end."""
        frame, inputs = self.inside(block, block.ops, held)
        return frame.run(name, inputs, results)

    def truth(self, value: Value) -> Value:
        """A condition as 0-D; older files hold them as one element."""
        if value.type.dtype is not types.bool_ or value.type.shape not in ((), (1,)):
            fail(f"a condition is {value.type}", self.where)
        if value.type.shape:
            (value,) = self.emit("sum", [value], {"axis": None, "keepdim": False}).outputs
            (value,) = self.emit("cast", [value], {"dtype": types.bool_, "python": False}).outputs
        return value

    # ops

    def read(self, index: int, op: Op) -> None:
        """An op that is said in ops of d2s."""
        start = len(self.nodes)
        with dispatch.handling(self.recorder):
            found = READ[op.type](Reading(self, op))
        for slot, symbol in (found if isinstance(found, dict) else {"Out": found}).items():
            symbols = symbol if isinstance(symbol, list) else [symbol]
            if slot in op.outputs and len(op.outputs[slot]) != len(symbols):
                fail(f"{op.type} has {len(op.outputs[slot])} names for '{slot}', {len(symbols)} are wanted", self.where)
            for name, each in zip(op.outputs.get(slot, []), symbols, strict=False):
                self.env[name] = each.value
        for node in self.nodes[start:]:
            self.maker.update((value, node) for value in node.outputs)

    def plain(self, index: int, op: Op) -> None:
        name = OF_PADDLE[op.type]
        spelling = SPELLINGS[name]
        if not spelling.slots or set(op.inputs) != set(spelling.slots):
            fail(f"{op.type} with inputs {sorted(op.inputs)}", self.where)
        inputs = [self.get(op.one(slot)) for slot in spelling.slots]
        ranks = [len(v.type.shape) for v in inputs]
        if op.take("axis", -1) not in (-1, ranks[0] - ranks[-1]):
            inputs[1] = self.along(inputs[1], ranks[0], op.take("axis", -1), op)
        differing = [key for key, usual in spelling.fixed.items() if key not in _FREE and op.take(key, usual) != usual]
        if differing:
            fail(f"{op.type} whose '{differing[0]}' is {op.attrs[differing[0]]!r:.40}", self.where)
        attrs = spelling.read(op.take, [v.type for v in inputs])
        node = self.emit(name, inputs, attrs)
        self.bind(op.out, node)
        declared = self.block.declared.get(op.out)
        dtype = node.outputs[0].type.dtype
        if declared and dtype_of(declared["type"]["lod_tensor"]["tensor"]["data_type"]) is not dtype:
            fail(f"'{op.out}' is declared to be of another dtype than {op.type} computes", self.where)

    def along(self, value: Value, rank: int, axis: int, op: Op) -> Value:
        """A second operand that broadcasts from some axis: with axes of 1 behind its own."""
        behind = rank - axis - len(value.type.shape)
        if axis < 0 or behind < 0:
            fail(f"{op.type} that broadcasts from axis {axis}", self.where)
        have = len(value.type.shape)
        return self.emit("unsqueeze", [value], {"axis": tuple(range(have, have + behind))}).outputs[0] if behind else value

    def assign(self, index: int, op: Op) -> None:
        if self.is_lost(op.one("X")):
            self.lose(op.out)
        else:
            self.env[op.out] = self.get(op.one("X"))

    def negation(self, index: int, op: Op) -> None:
        value = self.get(op.one("X"))
        node = self.emit("logical_not", [value], {})
        self.bind(op.out, node)
        if value.type.dtype is types.bool_:
            self.opposite[node.outputs[0]] = value


@contextlib.contextmanager
def _told_as_damage(op: Op) -> Iterator[None]:
    """What an op of the file says that it cannot say is the file's fault, however it came to light."""
    try:
        yield
    except InternalError as error:
        raise FormatError("D2S3001", f"{op.type} that does not fit: {error.message}", where=op.where) from None
    except D2SError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise FormatError("D2S3001", f"{op.type} is given what it does not take", where=op.where) from error


def _fails(node: Node) -> bool:
    """Whether a node may end a run, or says where it leaves the stream: it is kept though nothing reads it."""
    return node.op in ("fail", MOVED) or any(_fails(inner) for region in node.regions().values() for inner in region.nodes)


_HANDLERS: dict[str, Callable[[_Frame, int, Op], None]] = {
    "assign": _Frame.assign, "logical_not": _Frame.negation, "conditional_block": _Frame.arm,
    "select_input": _Frame.join, "while": _Frame.loop,
}  # fmt: skip


def parameters(described: Message) -> list[str]:
    """The variables whose values stand in the `.pdiparams`."""
    special = (FEED_MINIBATCH, FETCH_LIST)
    first = described["blocks"][0]["vars"] if described["blocks"] else []
    return list(dict.fromkeys(v["name"] for v in first if v["persistable"] and v["type"]["type"] not in special))


def read(described: Message, arrays: Mapping[str, np.ndarray], info: Mapping[str, Role]) -> Model:
    """The model of a file as its ops say it; what the `.info` does not tell is taken from the variables.

    Open extents are apart; where the ops refuse that, those of equal axes of what is fed are the same, the batches first.
    Parts of open axes are as long as these allow; where the ops refuse that, they are as long as the file asks for.
    """
    first: D2SError | None = None
    for whole_parts in (False, True):
        for axes in (0, 1, None):
            try:
                return _read(described, arrays, info, _shared(described, axes), whole_parts)
            except (ShapeError, CaptureError) as error:
                first = first or error
    raise first or FormatError("D2S3001", "the file holds no program")


def _shared(described: Message, axes: int | None) -> dict[str, str]:
    """The names of open extents that share one, by that one: of the first so many axes."""
    found: dict[str, str] = {}
    known: dict[int, str] = {}
    names = map("n{}".format, itertools.count())
    if axes == 0:
        return found
    for feed in _Reader(described, {}, False).columns("feed"):
        of = next(v for v in described["blocks"][0]["vars"] if v["name"] == feed.out)
        for axis, d in enumerate(of["type"]["lod_tensor"]["tensor"]["dims"]):
            name = next(names) if d == -1 else ""
            if name and (axes is None or axis < axes):
                found |= {name: known[axis]} if axis in known else {}
                known.setdefault(axis, name)
    return found


def _read(
    described: Message, arrays: Mapping[str, np.ndarray], info: Mapping[str, Role], same: dict[str, str], whole_parts: bool
) -> Model:
    while True:
        try:
            return _model(
                _Reader(described, same, whole_parts), parameters(described), arrays, roles_of(described) | dict(info)
            )
        except SameExtent as found:
            same.update([found.args])
        if len(same) > _MAX_SAME:
            fail("too many open extents must be equal")


def _model(reader: _Reader, names: list[str], arrays: Mapping[str, np.ndarray], roles: Mapping[str, Role]) -> Model:
    with noted() as marks:
        program, feeds, fetches = reader.whole(names)
    found = {}
    for name, value in zip(names, program.inputs[len(feeds) :], strict=True):
        array = arrays[name]
        if value.type != Type(types.dtype(array.dtype), array.shape):
            fail(f"parameter '{name}' is declared as {value.type}, its value is {array.dtype}{list(array.shape)}")
        found[value.name] = Parameter(array, *roles[name])
    notes = {PLACED: placed(program, marks), INSIDE: inside(program, marks)}
    return Model(program, feeds, found, fetches, {what: listed for what, listed in notes.items() if listed})
