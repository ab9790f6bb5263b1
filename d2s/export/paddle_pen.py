"""What spellings write with: one node of a Program, and the Paddle ops that say it.

In: a node whose inputs have variables. Out: ops of Paddle in a block, the last of which makes the node's outputs.
A spelling that cannot say a node raises `Refused`; the writer names all of them at once.

>>> "conv" in SPELLED
True
"""

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from d2s import types
from d2s.export.tensors import NUMBERS
from d2s.ir.program import Node, Program, Value
from d2s.types import Dim, DType, Shape, Type

Names = str | Sequence[str]
ALL = "b1 u8 i8 i16 i32 i64 f32 f64"
NARROW = "b1 u8 i8 i16"  # what goes through int32 where Paddle has no kernel for it


class Long(int):
    """An attribute that Paddle declares as `long`."""


class Longs(list[int]):
    """An attribute that Paddle declares as a list of `long`."""


class Floats(list[float]):
    """An attribute that Paddle declares as a list of `float`, also where it is empty."""


ROWS = "rows"  # how long the first axis of a tensor is that holds a list


def held(of: Type) -> Type:
    """The type of the tensor that holds a value: a list is the rows of one behind the first (`spell_lists`)."""
    return Type(of.dtype, (ROWS, *of.shape)) if of.listed else of


class Refused(Exception):
    """Why Paddle cannot say a node."""


def refuse(reason: str) -> NoReturn:
    raise Refused(reason)


class Writer(Protocol):
    """What a pen needs of the writer of a file."""

    names: dict[Value, str]
    constants: dict[Value, Any]
    readers: dict[Value, list[Node | None]]  # None stands for the end of a program
    program: Program  # the one a node stands in
    lines: set[Value]  # single numbers whose variables have an axis

    def variable(self, block: Any, of: Type, wanted: str = "", **flags: bool) -> str: ...
    def define(self, block: Any, value: Value) -> str: ...
    def number(self, block: Any, name: str, of: Type, value: Any) -> None: ...
    def op(self, block: Any, kind: str, inputs: Any, outputs: Any, attrs: dict[str, Any]) -> None: ...
    def spread(self, block: Any, x: str, like: str, of: Type, to: str) -> None: ...


class Pen:
    """Writes what one node means."""

    def __init__(self, writer: Writer, block: Any, node: Node) -> None:
        self.writer, self.block, self.node, self.attrs = writer, block, node, node.attrs
        self.names = [writer.names[value] for value in node.inputs]
        self.types = [held(value.type) for value in node.inputs]
        self.outputs = [held(value.type) for value in node.outputs]

    def widen(self, at: int = 0) -> None:
        """Takes inputs of one of the inputs' dtype, and then the results, through int32."""
        narrow, first = self.types[at].dtype, self.node.op == "where"  # whose condition is what it is
        for k, have in enumerate(self.types):
            if have.dtype is narrow and k >= first:
                self.names[k] = self.cast(self.names[k], have, types.int32)
                self.types[k] = Type(types.int32, have.shape)
        for k, have in enumerate(self.outputs):
            if have.dtype is narrow:
                self.outputs[k] = Type(types.int32, have.shape)

    def narrowed(self) -> None:
        """The results in the dtype they are to have."""
        for k, value in enumerate(self.node.outputs):
            if self.outputs[k].dtype is not value.type.dtype and value in self.writer.names:
                wide = self.writer.names[value]
                self.writer.op(
                    self.block, "cast", {"X": [wide]}, [self._define(value)], cast_attrs(types.int32, value.type.dtype)
                )

    def _define(self, value: Value) -> str:
        return self.writer.define(self.block, value)

    def used(self, result: int) -> bool:
        """Whether anything reads one of the node's results."""
        return self.node.outputs[result] in self.writer.readers

    def result(self, k: int = 0) -> str:
        """The variable of one of the node's results."""
        value = self.node.outputs[k]
        if self.outputs[k].dtype is value.type.dtype:
            return self._define(value)
        self.writer.names[value] = self.writer.variable(self.block, self.outputs[k])
        return self.writer.names[value]

    def kept(self) -> None:
        """The first result is the first input as it is."""
        (source, *_), (value, *_) = self.node.inputs, self.node.outputs
        self.writer.names[value], self.outputs[0] = self.writer.names[source], held(value.type)

    def write(
        self,
        kind: str,
        inputs: Mapping[str, Names],
        attrs: dict[str, Any] | None = None,
        of: Type | None = None,
        out: str = "Out",
        also: Mapping[str, Type | str | int] | None = None,
        k: int = 0,
    ) -> str:
        """Adds an op. Its result is the node's number k, or a variable of its own of type `of`; so are those in `also`."""
        made = self.result(k) if of is None else self.writer.variable(self.block, of)
        outputs = {out: [made]}
        for slot, what in (also or {}).items():
            outputs[slot] = [
                self.result(what) if isinstance(what, int) else what if isinstance(what, str) else self.spare(what)
            ]
        slots = {slot: [names] if isinstance(names, str) else list(names) for slot, names in inputs.items()}
        self.writer.op(self.block, kind, slots, outputs, attrs or {})
        return made

    def spare(self, of: Type) -> str:
        return self.writer.variable(self.block, of)

    # what many spellings are made of

    def copy(self, source: str, k: int = 0) -> str:
        return self.write("assign", {"X": source}, k=k)

    def cast(self, source: str, have: Type, dtype: DType, of: Type | bool | None = True) -> str:
        wanted = Type(dtype, have.shape) if of is True else of
        return self.write("cast", {"X": source}, cast_attrs(have.dtype, dtype), of=wanted or None)

    def number(self, value: float, dtype: DType, shape: Sequence[int] = ()) -> str:
        """A constant."""
        of = Type(dtype, tuple(shape))
        name = self.spare(of)
        self.writer.number(self.block, name, of, float(value) if dtype.kind == "f" else value)
        return name

    def two(self, kind: str, x: str, y: str, of: Type | None, axis: int = -1) -> str:
        """An op that works element by element."""
        return self.write(kind, {"X": x, "Y": y}, {"axis": axis}, of)

    def reduced(self, kind: str, x: str, of_x: Type, axes: Sequence[int], of: Type | None, keep: bool = True) -> str:
        attrs = {
            "dim": list(axes),
            "keep_dim": keep,
            "reduce_all": len(axes) == len(of_x.shape),
            "in_dtype": -1,
            "out_dtype": -1,
        }
        return self.write(kind, {"X": x}, attrs, of)

    def scaled(self, x: str, of: Type | None, scale: float = 1.0, bias: float = 0.0) -> str:
        return self.write("scale", {"X": x}, {"scale": scale, "bias": bias, "bias_after_scale": True}, of)

    def transposed(self, x: str, have: Type, perm: Sequence[int], of: Type | bool | None = True) -> tuple[str, Type]:
        """x with its axes in another order, and its type; x itself where the order is the same and a name will do."""
        turned = Type(have.dtype, tuple(have.shape[a] for a in perm))
        if of is True and list(perm) == list(range(len(perm))):
            return x, have
        also = {"XShape": Type(have.dtype, (0, *have.shape))}
        return self.write("transpose2", {"X": x}, {"axis": list(perm)}, turned if of is True else of or None, also=also), turned

    def unsqueezed(self, x: str, have: Type, axis: int) -> tuple[str, Type]:
        wanted = Type(have.dtype, (*have.shape[:axis], 1, *have.shape[axis:]))
        also = {"XShape": Type(have.dtype, (0, *have.shape))}
        return self.write("unsqueeze2", {"X": x}, {"axes": [axis]}, wanted, also=also), wanted

    def squeezed(self, x: str, have: Type, axis: int, of: Type | None = None) -> str:
        also = {"XShape": Type(have.dtype, (0, *have.shape))}
        return self.write("squeeze2", {"X": x}, {"axes": [axis]}, of, also=also)

    def reshaped(self, x: str, have: Type, want: Shape, of: Type | bool | None = True) -> str:
        """x in another shape; extents that only a run knows are those x has there, and one that is left."""
        target = Type(have.dtype, want) if of is True else of or None
        dims = [0 if isinstance(d, str) and have.shape[k : k + 1] == (d,) else d for k, d in enumerate(want)]
        open_ = [k for k, d in enumerate(dims) if isinstance(d, str)]
        slots: dict[str, Names] = {"X": x}
        if len(open_) == 1:
            dims[open_[0]] = -1
        elif open_:
            slots["ShapeTensor"] = [
                self.extent(x, have, d) if isinstance(d, str) else self.number(d, types.int32, [1]) for d in want
            ]
            dims = [d if isinstance(d, int) else -1 for d in want]
        return self.write("reshape2", slots, {"shape": dims}, target, also={"XShape": Type(have.dtype, (0, *have.shape))})

    def with_an_axis(self) -> str:
        """The first input, which has an axis also where it is a single number: oneDNN's kernels repeat none without."""
        bare = not self.types[0].shape and self.node.inputs[0] not in self.writer.lines
        return self.reshaped(self.names[0], self.types[0], (1,)) if bare else self.names[0]

    def dim(self, x: str, have: Type, dim: Dim) -> str:
        return self.extent(x, have, dim) if isinstance(dim, str) else self.number(dim, types.int32, [1])

    def extent(self, x: str, have: Type, name: Dim) -> str:
        """One extent of x, as an int32 of shape [1]."""
        if name not in have.shape:
            refuse(f"an extent {name} that no input has")
        axis = have.shape.index(name)
        shape = self.shape(x, have)
        attrs = {"axes": [0], "starts": [axis], "ends": [axis + 1], "infer_flags": [1], "decrease_axis": []}
        return self.write("slice", {"Input": shape}, attrs, Type(types.int32, (1,)))

    def shape(self, x: str, have: Type) -> str:
        """The extents of x, as an int32 vector."""
        x = self.cast(x, have, types.int32) if have.dtype is types.int16 else x  # of which Paddle has no kernel
        return self.write("shape", {"Input": x}, {}, Type(types.int32, (len(have.shape),)))

    def one_with(self, name: Dim) -> tuple[str, Type]:
        """A variable that has an extent, and its type: an input of the Program, or what a node before this one made."""
        program = self.writer.program
        before = itertools.takewhile(lambda node: node is not self.node, program.nodes)
        values = itertools.chain(program.inputs, *(node.outputs for node in before))
        found = next(value for value in values if name in value.type.shape)
        return self.writer.names[found], held(found.type)

    def broadcast(self, x: str, have: Type, like: str, want: Type, of: Type | bool | None = True) -> str:
        """x in the shape of another variable."""
        whole = Type(have.dtype, want.shape)
        if of is True and have.shape == want.shape:
            return x
        made = self.spare(whole if of is True else of) if of else self.result()  # type: ignore[arg-type]
        self.writer.spread(self.block, x, like, whole, made)
        return made

    def taken(self, x: str, of_x: Type, index: str, of_index: Type, axis: int) -> None:
        """What stands along an axis of x at some places: Paddle 2.6's gather has a wrong gradient but along the first."""
        if not axis or of_x.dtype.kind != "f":
            self.write("gather", {"X": x, "Index": index}, {"axis": axis})
        elif of_index.shape:
            self.write("index_select", {"X": x, "Index": index}, {"dim": axis})
        else:
            one = Type(of_x.dtype, (*of_x.shape[:axis], 1, *of_x.shape[axis + 1 :]))
            line = self.reshaped(index, of_index, (1,))
            self.squeezed(self.write("index_select", {"X": x, "Index": line}, {"dim": axis}, one), one, axis)

    def from_start(self, index: str, have: Type, x: str, of_x: Type, axis: int) -> str:
        """An index whose negative numbers count from the end of an axis of x, counted from its start."""
        zero = self.number(0, have.dtype)
        below = self.two("less_than", index, zero, Type(types.bool_, have.shape))
        below = self.cast(below, Type(types.bool_, have.shape), have.dtype)
        size = of_x.shape[axis]
        if isinstance(size, int):
            by = self.scaled(below, have, float(size))
        else:
            whole = self.extent(x, of_x, size)
            whole = self.cast(whole, Type(types.int32, (1,)), have.dtype)
            if not have.shape:
                whole = self.reshaped(whole, Type(have.dtype, (1,)), ())
            by = self.two("elementwise_mul", below, whole, have)
        return self.two("elementwise_add", index, by, have)


def cast_attrs(have: DType, want: DType) -> dict[str, Any]:
    return {"in_dtype": NUMBERS[have], "out_dtype": NUMBERS[want], "use_mkldnn": False}


Spell = Callable[[Pen], Any]


@dataclasses.dataclass(frozen=True)
class Spelled:
    """How one op is said, the dtypes Paddle has kernels for, and whether others may go through int32."""

    write: Spell
    dtypes: str = ALL
    narrow: bool = False
    judged: int = 0  # the input whose dtype it is about

    def refusal(self, node: Node) -> str:
        """Why it cannot be said for the dtypes of a node, or nothing."""
        if not node.inputs:
            return ""
        dtype = node.inputs[self.judged].type.dtype
        short = dtype.short
        fits = short in self.dtypes.split() or (self.narrow and short in NARROW.split())
        return "" if fits else f"{node.op} of {dtype.name}"

    def through(self, node: Node) -> bool:
        """Whether a node goes through int32."""
        return self.narrow and bool(node.inputs) and node.inputs[0].type.dtype.short not in self.dtypes.split()


SPELLED: dict[str, Spelled] = {}


def spells(names: str, dtypes: str = ALL, narrow: bool = False, judged: int = 0) -> Callable[[Spell], Spell]:
    """Declares how ops are said."""

    def declare(write: Spell) -> Spell:
        SPELLED.update(dict.fromkeys(names.split(), Spelled(write, dtypes, narrow, judged)))
        return write

    return declare
