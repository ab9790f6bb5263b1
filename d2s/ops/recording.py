"""The recorder: the meaning of ops while a Program is being written, by capture and by gradients alike.

In: ops called on `Symbolic` values. Out: nodes in a Builder. A recorder of a region takes what it reads from outside in as
inputs of the region.

>>> from d2s.ops import dispatch
>>> from d2s.types import Type, float32
>>> recorder = Recorder("f")
>>> x = recorder.input(Type(float32, (2,)), "x")
>>> with dispatch.handling(recorder):
...     y = x + 1.0
>>> [node.op for node in recorder.builder.finish([y.value]).nodes]
['constant', 'add']
"""

import itertools
from collections.abc import Sequence
from typing import Any

from d2s import types
from d2s.errors import InternalError
from d2s.ir.program import Builder, Program, Value
from d2s.ops import control
from d2s.ops.dispatch import OPS
from d2s.ops.op import Op
from d2s.ops.operators import Operators
from d2s.reckoned import is_reckoned, source
from d2s.types import Dim, DType, Type


class Symbolic(Operators):
    """A value of the Program being written."""

    __slots__ = ("recorder", "value")

    def __init__(self, recorder: "Recorder", value: Value) -> None:
        self.recorder, self.value = recorder, value

    @property
    def dtype(self) -> DType:
        return self.value.type.dtype


class Recorder:
    """A handler that writes nodes. `parent` is the recorder of the surrounding region."""

    symbol: type[Symbolic] = Symbolic
    letter = "g"  # the names of extents that runs find begin with
    extents_named = 0

    def __init__(self, name: str, parent: "Recorder | None" = None) -> None:
        self.builder = Builder(name, [])
        self.parent = parent
        self.connected: bool = parent.connected if parent else False  # whether a gradient that is recorded may have one itself
        self.captured: dict[Value, Value] = {}  # of the parent → input of this region
        self.constants: dict[tuple[str, Type], Any] = {}
        self.where: str = parent.where if parent else ""

    def input(self, type: Type, name: str) -> Any:
        """A new input; its name is made unique."""
        taken = {v.name for v in self.builder.inputs}
        numbered = (f"{name}_{k}" for k in itertools.count(1))
        unique = next(n for n in itertools.chain([name], numbered) if n not in taken)
        self.builder.inputs.append(Value(type, unique))
        return self.symbol(self, self.builder.inputs[-1])

    def resolve(self, symbol: Symbolic) -> Value:
        """The value of this region that a symbol stands for."""
        if symbol.recorder is self:
            return symbol.value
        if self.parent is None:
            raise InternalError("D2S9001", f"{symbol.value!r} belongs to another program than '{self.builder.name}'")
        outer = self.parent.resolve(symbol)
        if outer not in self.captured:
            self.captured[outer] = self.input(outer.type, outer.name or "v").value
        return self.captured[outer]

    def line(self) -> str:
        return self.where

    def type_of(self, value: Any) -> Type | None:
        return value.value.type if isinstance(value, Symbolic) else None

    def constant(self, number: bool | int | float, type: Type) -> Any:
        _of_dtype(number, type)  # before its text: an int may have too many digits for one
        key = (repr(number), type)
        if key not in self.constants:
            self.constants[key] = self.own_constant(number, type)
        return self.constants[key]

    def own_constant(self, number: bool | int | float, type: Type) -> Any:
        """One that is nobody else's: it may be changed in place."""
        attrs = {"value": _of_dtype(number, type), "dtype": type.dtype, "python": type.python}
        return self.add("constant", [], [type], attrs)[0]

    def run(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        values = [self.resolve(x) for x in inputs]
        outputs = self.add(op.name, values, op.infer([v.type for v in values], attrs), attrs)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def add(self, op: str, inputs: Sequence[Value], types: Sequence[Type], attrs: dict[str, Any]) -> list[Any]:
        return [self.symbol(self, v) for v in self.builder.add(op, inputs, types, attrs, self.where)]

    def choose(self, condition: Value, reads: Sequence[Value], then: Program, otherwise: Program) -> list[Any]:
        """Adds a `cond`; extents that only the arm taken tells get names."""
        finds = tuple(self.new_extent() for _ in control.apart(then, otherwise))
        attrs = {"then": then, "otherwise": otherwise} | ({"finds": finds} if finds else {})
        return self._typed("cond", [condition, *reads], attrs)

    def repeat(self, firsts: Sequence[Value], reads: Sequence[Value], test: Program, body: Program) -> list[Any]:
        """Adds a `while_loop`; extents that trips change get names."""
        inputs, carries = [*firsts, *reads], len(firsts)
        finds = tuple(self.new_extent() for _ in control.moving([v.type for v in inputs], body, carries))
        attrs = {"test": test, "body": body, "carries": carries} | ({"finds": finds} if finds else {})
        return self._typed("while_loop", inputs, attrs)

    def _typed(self, op: str, inputs: Sequence[Value], attrs: dict[str, Any]) -> list[Any]:
        return self.add(op, inputs, OPS[op].infer([v.type for v in inputs], attrs), attrs)

    def new_extent(self) -> str:
        """A name for an extent that a run finds."""
        root = self
        while root.parent:
            root = root.parent
        root.extents_named += 1
        return f"{self.letter}{root.extents_named - 1}"

    def region(self, name: str) -> "Recorder":
        return type(self)(name, self)

    def take_in_extents(self) -> None:
        """Takes in what tells an extent that others of this region follow from, where it has nothing that does."""
        known = {d for v in self.builder.inputs if not v.type.listed for d in v.type.shape}
        for node in self.builder.nodes:
            known.update(d for d in node.attrs.get("finds", ()) if not is_reckoned(d))
            for d in (d for v in node.outputs for d in v.type.shape if is_reckoned(d)):
                if known.isdisjoint((d, source(d))):
                    known.add(source(d))
                    self._take_in(source(d))

    def _take_in(self, extent: Dim) -> None:
        around = self.parent
        while around:
            values = itertools.chain(around.builder.inputs, *(node.outputs for node in around.builder.nodes))
            value = next((v for v in values if extent in v.type.shape and not v.type.grows), None)
            if value is not None:
                self.resolve(around.symbol(around, value))
                return
            around = around.parent

    def adopt(self, regions: Sequence["Recorder"], outputs: Sequence[Sequence[Symbolic]]) -> tuple[list[Value], list[Program]]:
        """Regions finished with one list of inputs between them; returns the values of this recorder they read."""
        values = [[region.resolve(s) for s in results] for region, results in zip(regions, outputs, strict=True)]
        for region in regions:
            region.take_in_extents()
        reads = list(dict.fromkeys(outer for region in regions for outer in region.captured))
        for region in regions:
            own = [v for v in region.builder.inputs if v not in region.captured.values()]
            for outer in reads:
                if outer not in region.captured:
                    region.captured[outer] = region.input(outer.type, outer.name or "v").value
            region.builder.inputs = own + [region.captured[outer] for outer in reads]
        return reads, [region.builder.finish(found) for region, found in zip(regions, values, strict=True)]


def _of_dtype(number: bool | int | float, type: Type) -> bool | int | float:
    """The number as the dtype holds it, in its shortest spelling: text and files say what a run computes with."""
    held = types.array_of(number, type.dtype)
    return float(str(held[()])) if type.dtype.kind == "f" else held.item()
