"""From a Model to Paddle's ProgramDesc, as the dict that `protobuf.encode` takes.

In: a Model. Out: blocks of variables and ops that Paddle computes from, and our notes: the Program that was written.
A `cond` becomes two `conditional_block`s joined by `select_input`; a `while_loop` becomes a `while` over variables of
its own, with the test written twice: in front of the loop, and at the end of its body.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[n,2]) -> (f32[n,2]) { %0: f32[n,2] = tanh(x) return %0 }")
>>> [op["type"] for op in describe(Model(program, ["x"], {}, ["y"]))[0]["blocks"][0]["ops"]]
['feed', 'tanh', 'fetch']
"""

import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from d2s import types
from d2s.errors import FormatError
from d2s.export import (
    paddle_numbers,
    spell_draws,
    spell_extents,
    spell_layers,
    spell_lists,
    spell_losses,
    spell_matrices,
    spell_orders,
    spell_padding,
    spell_sequences,
    spell_shapes,
    spell_values,
)
from d2s.export.model import PARAMETER, Model, Parameter, Training
from d2s.export.paddle_pen import SPELLED, Floats, Long, Longs, Pen, Refused, cast_attrs, held
from d2s.export.protobuf import Message
from d2s.export.spellings import SPELLINGS, refusal, through_int32, unsaid
from d2s.export.tensors import NUMBERS
from d2s.ir.program import Node, Program, Value
from d2s.ir.text import show
from d2s.ops import OPS
from d2s.ops.shapes import broadcast
from d2s.types import Type

VERSION = 2000000
LOD_TENSOR, FEED_MINIBATCH, FETCH_LIST, STEP_SCOPES = 7, 9, 10, 11
MAX_DEPTH = 32  # of blocks in blocks; the reader holds to it too
# a Python type, or an attribute's name where the type does not tell: number of the attribute's kind, its field
_KINDS: dict[Any, tuple[int, str]] = {
    int: (0, "i"), float: (1, "f"), str: (2, "s"), list: (3, "ints"), bool: (6, "b"), Long: (9, "l"), Longs: (11, "longs"),
    Floats: (4, "floats"),
    "op_callstack": (5, "strings"), "sub_block": (8, "block_idx"),
}  # fmt: skip
_BOOL = Type(types.bool_)
_SAID_BY = (
    spell_draws,
    spell_extents,
    spell_layers,
    spell_lists,
    spell_losses,
    spell_matrices,
    spell_orders,
    spell_padding,
    spell_sequences,
    spell_shapes,
    spell_values,
)  # who fills SPELLED
_FILLER = Parameter(np.zeros(1, "float32"), "filler", trainable=False)  # Paddle 2.6 wants at least one


def describe(model: Model, limit: int = 1 << 40) -> tuple[Message, dict[str, Parameter]]:
    """The ProgramDesc of a model, and what is stored; FormatError D2S3002 names every op that has no spelling.

    A model of more than `limit` ops is refused: tests of loops in tests of loops are written again and again.
    """
    writer = _Writer(model, limit)
    whole = writer.whole()
    if writer.refused:
        raise unsaid("Paddle's files have", writer.refused)
    inputs = model.program.inputs[len(model.feeds) :]
    return whole, {writer.names[value]: model.parameters[value.name] for value in inputs} or {writer.filler: _FILLER}


def text_of(program: Program) -> str:
    """The text of a Program as notes have it."""
    return show(_bare(program))


def _bare(program: Program) -> Program:
    """The Program with names of files instead of their paths."""
    nodes = [
        Node(n.op, n.inputs, n.outputs, n.attrs | {k: _bare(r) for k, r in n.regions().items()}, os.path.basename(n.where))
        for n in program.nodes
    ]
    return Program(program.name, program.inputs, tuple(nodes), program.outputs)


def notes_of(model: Model, seals: Mapping[str, Any]) -> str:
    """What stands beside the ops: the Program, what the user wants kept, and digests of the files that belong to it."""
    own: dict[str, Any] = {"program": text_of(model.program), "feeds": model.feeds, "fetches": model.fetches}
    own["seals"] = seals
    if model.training:
        own["training"] = vars(model.training) if isinstance(model.training, Training) else model.training
    return json.dumps({"d2s": own, "notes": model.notes})


def _readers(program: Program, found: dict[Value, list[Node | None]] | None = None) -> dict[Value, list[Node | None]]:
    """The nodes that read each value; None where it is a result of its program."""
    found = {} if found is None else found
    for value in program.outputs:
        found.setdefault(value, []).append(None)
    for node in program.nodes:
        for value in node.inputs:
            found.setdefault(value, []).append(node)
        for region in node.regions().values():
            _readers(region, found)
    return found


class _Writer:
    def __init__(self, model: Model, limit: int) -> None:
        self.model, self.program, self.where, self.limit, self.filler = model, model.program, "", limit, ""
        self.refused: list[tuple[str, str]] = []
        self.constants: dict[Value, Any] = {}
        self.lines: set[Value] = set()  # single numbers whose variables have an axis
        self.readers = _readers(model.program)
        self.blocks: list[Message] = []
        self.names: dict[Value, str] = {}
        self.wanted: dict[Value, str] = {}  # outputs that are named like what is fetched
        self.used = {"feed", "fetch"}
        self.still: set[str] = set()  # variables that are one constant number
        self.count = itertools.count()

    def whole(self) -> Message:
        program, top = self.model.program, self.block(None)
        for name, kind in (("feed", FEED_MINIBATCH), ("fetch", FETCH_LIST)):
            top["vars"].append({"name": name, "type": {"type": kind}, "persistable": True})
        for value in program.inputs:
            self.input(top, value)
        if not self.model.parameters:
            self.filler = self.variable(top, Type(types.float32, (1,)), persistable=True, stop_gradient=True)
        for value, name in zip(program.outputs, self.model.fetches, strict=True):
            if value not in self.names and value not in self.wanted and name not in self.used and not value.type.listed:
                self.wanted[value] = self.fresh(name)
        for column in reversed(range(len(self.model.feeds))):
            self.op(top, "feed", {"X": ["feed"]}, [self.names[program.inputs[column]]], {"col": column})
        self.nodes(top, program)
        for value, name in zip(program.outputs, self.model.fetches, strict=True):
            if value.type.listed:
                self.items(top, value, name)
        taken = [self.names[v] for v in program.inputs]
        for column, name in enumerate(self.distinct(top, program.outputs, taken, self.model.fetches)):
            self.op(top, "fetch", {"X": [name]}, ["fetch"], {"col": column})
        self.drop_idle()
        self.name_unread(top)
        return {"blocks": self.blocks, "version": {"version": VERSION}, "notes": notes_of(self.model, {})}

    def read(self) -> set[str]:
        """The variables that ops read."""
        return {name for block in self.blocks for op in block["ops"] for slot in op["inputs"] for name in slot["arguments"]}

    def name_unread(self, top: Message) -> None:
        """Asks for the shape of what is stored and nothing reads: Paddle 3.3 trains no file with a variable no op names."""
        read = self.read()
        for value in self.model.program.inputs[len(self.model.feeds) :]:
            name = self.names[value]
            if name not in read:
                shape = self.variable(top, Type(types.int32, (len(value.type.shape),)), stop_gradient=True)
                self.op(top, "shape", {"Input": [name]}, [shape], {})

    def drop_idle(self) -> None:
        """Drops constants that attributes say: passes of paddle.inference end the process where nothing reads one."""
        read = self.read()
        for block in self.blocks:
            filled = [(op, *op["outputs"][0]["arguments"]) for op in block["ops"] if op["type"] == "fill_constant"]
            idle = {name for _, name in filled} - read
            dropped = {id(op) for op, name in filled if name in idle}
            block["ops"] = [op for op in block["ops"] if id(op) not in dropped]
            block["vars"] = [variable for variable in block["vars"] if variable["name"] not in idle]

    def items(self, block: Message, value: Value, wanted: str) -> None:
        """A list that is fetched is a tensor of its items."""
        rows, of = self.names[value], held(value.type)
        self.names[value] = self.variable(block, of, wanted)
        attrs = {"axes": [0], "starts": [1], "ends": [(1 << 31) - 1], "infer_flags": [1], "decrease_axis": []}
        self.op(block, "slice", {"Input": [rows]}, [self.names[value]], attrs)

    # blocks, variables, ops

    def block(self, parent: Message | None) -> Message:
        made: Message = {
            "idx": len(self.blocks),
            "parent_idx": parent["idx"] if parent else -1,
            "forward_block_idx": -1,
        }
        made |= {"vars": [], "ops": []}
        self.blocks.append(made)
        return made

    def fresh(self, wanted: str = "") -> str:
        """A name no other variable has: the wanted one if it is free."""
        while not wanted or wanted in self.used:
            wanted = f"t{next(self.count)}"
        self.used.add(wanted)
        return wanted

    def variable(self, block: Message, of: Type, wanted: str = "", **flags: bool) -> str:
        name = self.fresh(wanted)
        tensor = {"data_type": NUMBERS.get(of.dtype, 0), "dims": [d if isinstance(d, int) else -1 for d in held(of).shape]}
        described = {"type": LOD_TENSOR, "lod_tensor": {"tensor": tensor, "lod_level": 0}}
        block["vars"].append({"name": name, "type": described, "persistable": False} | flags)
        return name

    def input(self, block: Message, value: Value) -> None:
        parameter = self.model.parameters.get(value.name)
        flags = {"need_check_feed": True}
        if parameter:
            flags = {"persistable": True, "is_parameter": parameter.kind == PARAMETER, "stop_gradient": not parameter.trainable}
        self.names[value] = self.variable(block, value.type, value.name, **flags)

    def define(self, block: Message, value: Value) -> str:
        """The variable of a node's output."""
        wanted = self.wanted.pop(value, "")
        self.used.discard(wanted)  # it was kept free for this one
        name = self.names[value] = self.variable(block, value.type, wanted)
        return name

    def op(
        self, block: Message, kind: str, inputs: dict[str, list[str]], outputs: list[str] | dict, attrs: dict[str, Any]
    ) -> None:
        self.limit -= 1
        if self.limit < 0:
            raise FormatError("D2S3002", "loops are nested too deep in the tests of loops", where=self.where)
        if kind == "fill_constant" or (kind == "reshape2" and self.still.issuperset(inputs["X"])):
            self.still.update(outputs if isinstance(outputs, list) else outputs["Out"])
        path, _, line = self.where.rpartition(":")
        callstack = {"op_callstack": [f'File "{os.path.basename(path)}", line {line}']} if path else {}
        block["ops"].append({
            "type": kind,
            "inputs": [{"parameter": slot, "arguments": names} for slot, names in inputs.items()],
            "outputs": [
                {"parameter": slot, "arguments": names}
                for slot, names in (outputs if isinstance(outputs, dict) else {"Out": outputs}).items()
            ],
            "attrs": [_attribute(name, value) for name, value in sorted((attrs | callstack).items())],
        })  # fmt: skip

    def assign(self, block: Message, source: str, to: str) -> None:
        self.op(block, "assign", {"X": [source]}, [to], {})

    def spread(self, block: Message, x: str, like: str, of: Type, to: str) -> None:
        """x in the shape of another variable.

        Paddle's gradient of expand_as_v2 goes by its attribute, which cannot say an open extent: what may have a gradient is
        multiplied by ones there.
        """
        if all(isinstance(d, int) for d in of.shape) or of.dtype.kind != "f" or x in self.still:
            target = [d if isinstance(d, int) else -1 for d in of.shape]
            self.op(block, "expand_as_v2", {"X": [x], "Y": [like]}, [to], {"target_shape": target})
            return
        ones = self.variable(block, of, stop_gradient=True)
        self.op(block, "fill_any_like", {"X": [like]}, [ones], {"value": 1.0, "dtype": NUMBERS[of.dtype]})
        self.op(block, "elementwise_mul", {"X": [x], "Y": [ones]}, [to], {"axis": -1})

    def distinct(
        self, block: Message, values: Sequence[Value], taken: Sequence[str] = (), wanted: Sequence[str] = ()
    ) -> list[str]:
        """The variables of some values, copied where one would stand twice."""
        names, seen = [], set(taken)
        for value, copy in zip(values, wanted or itertools.repeat(""), strict=False):
            name = self.names[value]
            if name in seen:
                name = self.variable(block, value.type, copy)
                self.assign(block, self.names[value], name)
            seen.add(name)
            names.append(name)
        return names

    # nodes

    def nodes(self, block: Message, program: Program) -> None:
        for node in program.nodes:
            self.program, self.where = program, node.where
            reason = refusal(node)
            try:
                if not reason:
                    self.node(block, node)
            except Refused as refused:
                reason = str(refused)
            if reason:
                self.refuse(block, node, reason)

    def refuse(self, block: Message, node: Node, reason: str) -> None:
        """Notes why a node cannot be said, and goes on, to name all such nodes at once."""
        self.refused.append((reason, node.where))
        inner = [n for region in node.regions().values() for n in region.every_node()]
        self.refused += [(refusal(n), n.where) for n in inner if refusal(n)]
        for value in node.outputs:
            if value not in self.names:
                self.define(block, value)

    def node(self, block: Message, node: Node) -> None:
        special = {"cond": self.cond, "while_loop": self.loop, "constant": self.constant, "where": self.select, "sum": self.sum}
        if node.op in special:
            special[node.op](block, node)
        elif node.op in SPELLED:
            pen = Pen(self, block, node)
            if SPELLED[node.op].through(node):
                pen.widen()
            SPELLED[node.op].write(pen)
            pen.narrowed()
        elif through_int32(node):
            self.through_int32(block, node)
        else:
            self.plain(block, node)

    def through_int32(self, block: Message, node: Node) -> None:
        pen = Pen(self, block, node)
        pen.widen(at=-1)
        self.plain(block, node, pen.names, pen.result)
        pen.narrowed()

    def sum(self, block: Message, node: Node) -> None:
        (x,), (out,) = node.inputs, node.outputs
        if x.type.dtype is types.bool_ and node.attrs["axis"]:  # which OpenVINO adds up as numbers only
            wide = Value(Type(out.type.dtype, x.type.shape))
            self.op(block, "cast", {"X": [self.names[x]]}, [self.define(block, wide)], cast_attrs(types.bool_, out.type.dtype))
            self.plain(block, Node("sum", (wide,), (out,), node.attrs, node.where))
        elif node.attrs["axis"] or not x.type.shape:
            self.plain(block, node)
        elif x.type.dtype is out.type.dtype:  # no axis is every axis there
            self.assign(block, self.names[x], self.define(block, out))
        else:
            self.op(block, "cast", {"X": [self.names[x]]}, [self.define(block, out)], cast_attrs(x.type.dtype, out.type.dtype))

    def inline(self, block: Message, region: Program, names: Sequence[str]) -> list[str]:
        """Writes a region whose inputs are these variables; the variables of its outputs."""
        where = self.where
        self.names.update(zip(region.inputs, names, strict=True))
        self.nodes(block, region)
        self.where = where
        return [self.names[value] for value in region.outputs]

    def plain(self, block: Message, node: Node, names: Sequence[str] = (), result: Callable[[], str] | None = None) -> None:
        spelling = SPELLINGS[node.op]
        names = names or paddle_numbers.operands(self, block, node)
        attrs = spelling.fixed | spelling.write(node)
        slots = {slot: [name] for slot, name in zip(spelling.slots, names, strict=True)}
        self.op(block, OPS[node.op].paddle or "", slots, [result() if result else self.define(block, node.outputs[0])], attrs)

    def constant(self, block: Message, node: Node) -> None:
        paddle_numbers.constant(self, block, node)

    def number(self, block: Message, name: str, of: Type, value: Any) -> None:
        paddle_numbers.number(self, block, name, of, value)

    def select(self, block: Message, node: Node) -> None:
        """`where`, which broadcasts here and not in Paddle."""
        pen = Pen(self, block, node)
        if through_int32(node):
            pen.widen(at=-1)
        full, names, given = node.outputs[0].type.shape, pen.names, pen.types
        shapes = [value.type.shape for value in node.inputs]
        if any(shape != full for shape in shapes):
            like = names[shapes.index(full)] if full in shapes else self.carrier(block, names, shapes, full)
            for i in range(3):
                if shapes[i] != full:
                    source, of = names[i], Type(given[i].dtype, full)
                    names[i] = self.variable(block, of)
                    self.spread(block, source, like, of, names[i])
        self.plain(block, node, names, pen.result)
        pen.narrowed()

    def carrier(self, block: Message, names: list[str], shapes: list[types.Shape], full: types.Shape) -> str:
        """A variable whose only use is its shape, that of all three together."""
        both = self.variable(block, Type(types.bool_, broadcast("where", shapes[1:])[0]))
        self.op(block, "equal", {"X": [names[1]], "Y": [names[2]]}, [both], {"axis": -1})
        like = self.variable(block, Type(types.bool_, full))
        self.op(block, "equal", {"X": [both], "Y": [names[0]]}, [like], {"axis": -1})
        return like

    # regions

    def cond(self, block: Message, node: Node) -> None:
        condition, names = self.names[node.inputs[0]], self.distinct(block, node.inputs[1:])
        opposite, mask = self.variable(block, _BOOL), self.variable(block, Type(types.int32))
        self.op(block, "logical_not", {"X": [condition]}, [opposite], {})
        yes = self.arm(block, condition, names, node.attrs["then"])
        no = self.arm(block, opposite, names, node.attrs["otherwise"])
        self.op(block, "cast", {"X": [condition]}, [mask], cast_attrs(types.bool_, types.int32))
        for output, *pair in zip(node.outputs, no, yes, strict=True):
            self.op(block, "select_input", {"Mask": [mask], "X": pair}, [self.define(block, output)], {})

    def arm(self, block: Message, condition: str, names: list[str], region: Program) -> list[str]:
        inner, scope = self.enter(block, region), self.scope(block)
        made = [self.variable(block, value.type) for value in region.outputs]
        for source, to in zip(self.inline(inner, region, names), made, strict=True):
            self.assign(inner, source, to)
        attrs = {"sub_block": inner["idx"], "is_scalar_condition": True}
        self.op(
            block,
            "conditional_block",
            {"Cond": [condition], "Input": names or [condition]},
            {"Out": made, "Scope": [scope]},
            attrs,
        )
        return made

    def enter(self, block: Message, region: Program) -> Message:
        inner = self.block(block)
        depth, at = 0, inner
        while at["parent_idx"] >= 0:
            depth, at = depth + 1, self.blocks[at["parent_idx"]]
        if depth > MAX_DEPTH:
            raise FormatError("D2S3002", f"regions are nested more than {MAX_DEPTH} deep", where=self.where)
        return inner

    def scope(self, block: Message) -> str:
        name = self.fresh()
        block["vars"].append({"name": name, "type": {"type": STEP_SCOPES}, "persistable": False})
        return name

    def loop(self, block: Message, node: Node) -> None:
        carries, test, body = node.attrs["carries"], node.attrs["test"], node.attrs["body"]
        carried = [self.define(block, output) for output in node.outputs]
        for value, name in zip(node.inputs[:carries], carried, strict=True):
            self.assign(block, self.names[value], name)
        names = carried + self.distinct(block, node.inputs[carries:])
        condition, scope = self.variable(block, _BOOL), self.scope(block)
        self.assign(block, self.inline(block, test, names)[0], condition)
        inner = self.enter(block, body)
        self.carry(inner, self.inline(inner, body, names), carried, node.outputs)
        self.assign(inner, self.inline(inner, test, names)[0], condition)
        outputs = {"Out": [*carried, condition], "StepScopes": [scope]}
        attrs = {"sub_block": inner["idx"], "is_test": True}
        self.op(block, "while", {"Condition": [condition], "X": names}, outputs, attrs)

    def carry(self, block: Message, new: list[str], carried: list[str], values: Sequence[Value]) -> None:
        """All carries change at once: one that another still reads is copied first."""
        for i, name in enumerate(new):
            if name in carried and name != carried[i]:
                new[i] = self.variable(block, values[i].type)
                self.assign(block, name, new[i])
        for name, to in zip(new, carried, strict=True):
            if name != to:
                self.assign(block, name, to)


def _attribute(name: str, value: Any) -> Message:
    number, field = _KINDS.get(name) or _KINDS[type(value)]
    return {"name": name, "type": number, field: value}
