"""From a Model to an ONNX ModelProto, as the dict that `encode` takes.

In: a Model. Out: a graph whose regions are graphs: `cond` is an `If`, `while_loop` a `Loop`; named extents stay names.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[n,2]) -> (f32[n,2]) { %0: f32[n,2] = tanh(x) return %0 }")
>>> [node["op_type"] for node in model_proto(Model(program, ["x"], {}, ["y"]), 18)["graph"]["node"]]
['Tanh', 'Identity']
"""

import ast
import copy
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from d2s import types
from d2s.export.model import Model
from d2s.export.protobuf import Message
from d2s.export.spellings import unsaid
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.parsing import tree_of
from d2s.types import DType, Type

NUMBERS: dict[DType, int] = {
    types.float32: 1, types.uint8: 2, types.int8: 3, types.int16: 5, types.int32: 6, types.int64: 7, types.bool_: 9,
    types.float64: 11,
}  # fmt: skip
IR_VERSION = 8
Say = Callable[["Pen"], Any]
SAID: dict[str, Say] = {}


# what ONNX has for numbers, and d2s for bools too
_OF_NUMBERS = {"add", "multiply", "less_than", "less_equal", "greater_than", "greater_equal", "where"}
# what ONNX Runtime has of no number as small
NARROW = {
    types.int16: {"where", "maximum", "minimum", "max", "min", "amax", "amin", "argmax", "argmin", "pad_own", "pad_with",
                  "tril", "triu"},
    types.int8: {"tril", "triu"}, types.uint8: {"tril", "triu"},
}  # fmt: skip


_SECOND = 18  # the opset in which reductions took their axes as an input, and these came
_AXES_APART = {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceLogSumExp"}
_SINCE_THEN = {"BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "Mish"}


class Refused(Exception):
    """Why ONNX cannot say a node."""


def refuse(reason: str) -> NoReturn:
    raise Refused(reason)


def says(names: str) -> Callable[[Say], Say]:
    """Declares how ops are said that need more than the spelling that stands with them."""

    def declare(say: Say) -> Say:
        SAID.update(dict.fromkeys(names.split(), say))
        return say

    return declare


def model_proto(model: Model, opset: int) -> Message:
    """The whole model; FormatError D2S3002 names every op ONNX cannot say."""
    shared = _Shared(opset)
    graph = _Graph(shared)
    program = model.program
    fed, held = program.inputs[: len(model.feeds)], program.inputs[len(model.feeds) :]
    for value in program.inputs:
        graph.names[value] = shared.fresh(value.name)
    outputs = graph.inside(program, model.fetches)
    if shared.refused:
        raise unsaid("ONNX has", shared.refused)
    stored = [tensor(model.parameters[v.name].array, graph.names[v]) for v in held]
    whole = {"node": graph.nodes, "name": program.name, "initializer": stored, "output": outputs}
    whole["input"] = [info(graph.names[v], v.type, named=True) for v in fed]
    versions = [{"domain": "", "version": opset}]
    return {"ir_version": IR_VERSION, "producer_name": "d2s", "graph": whole, "opset_import": versions}


def tensor(array: np.ndarray, name: str = "") -> Message:
    """A TensorProto."""
    number = NUMBERS[types.dtype(array.dtype)]
    return {"dims": list(array.shape), "data_type": number, "name": name, "raw_data": np.ascontiguousarray(array).tobytes()}


def info(name: str, of: Type, named: bool = False) -> Message:
    """The name and type of an input or output; names of extents are told of a model's own only.

    In a region a value that no path has given yet may be of another size, and runtimes share memory by names.
    """
    rows: list[Message] = [{}] if of.listed else []  # a list is a tensor of any number of items
    dims = rows + [{"dim_value": d} if isinstance(d, int) else {"dim_param": d} if named else {} for d in of.shape]
    return {"name": name, "type": {"tensor_type": {"elem_type": NUMBERS[of.dtype], "shape": {"dim": dims}}}}


class _Shared:
    """What the graphs of one model share."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.numbers: dict[str, Any] = {}  # the constants a pen wrote, by name
        self.used: set[str] = set()
        self.count = itertools.count()
        self.refused: list[tuple[str, str]] = []

    def fresh(self, wanted: str = "") -> str:
        while not wanted or wanted in self.used:
            wanted = f"t{next(self.count)}"
        self.used.add(wanted)
        return wanted


class _Graph:
    """One graph on its way; it may read the names of the graphs around it.

    `runs` is a bool that only one answer of lets this graph run, and that answer.
    """

    def __init__(self, shared: _Shared, names: dict[Value, str] | None = None, runs: tuple[str, bool] | None = None) -> None:
        self.shared, self.names, self.runs = shared, dict(names or {}), runs
        self.nodes: list[Message] = []
        self.constants: dict[Value, Any] = {}

    def inside(self, program: Program, wanted: Sequence[str] = ()) -> list[Message]:
        """Writes a program whose inputs have names; its outputs, each under a name of this graph."""
        self.write(program)
        found = []
        for value, name in zip(program.outputs, wanted or itertools.repeat(""), strict=False):
            to = self.shared.fresh(name)
            self.node("Identity", [self.names[value]], [to], {})
            found.append(info(to, value.type, bool(wanted)))
        return found

    def write(self, program: Program) -> None:
        special = {"cond": self.cond, "while_loop": self.loop, "constant": self.constant}
        self.program = program
        for node in program.nodes:
            try:
                special.get(node.op, self.plain)(node)
            except Refused as refused:
                self.shared.refused.append((str(refused), node.where))
                self.names.update((value, "refused") for value in node.outputs)

    def node(self, kind: str, inputs: Sequence[str], outputs: Sequence[str], attrs: dict[str, Any], name: str = "") -> None:
        if self.shared.opset < _SECOND and kind in _SINCE_THEN:
            refuse(f"{kind} before opset {_SECOND}")
        if self.shared.opset < _SECOND and kind in _AXES_APART and len(inputs) > 1:
            axes = np.asarray(self.shared.numbers[inputs[1]]).reshape(-1).tolist()
            inputs, attrs = inputs[:1], attrs | {"axes": axes}
        listed = [_attribute(name, value) for name, value in attrs.items() if value is not None]
        made = {"input": list(inputs), "output": list(outputs), "op_type": kind, "attribute": listed}
        self.nodes.append(made | ({"name": name} if name else {}))

    def plain(self, node: Node) -> None:
        pen = Pen(self, node)
        of = pen.types[-1].dtype if pen.types else types.int64
        if (of is types.bool_ and node.op in _OF_NUMBERS) or node.op in NARROW.get(of, ()):
            pen.through_int32()
        else:
            self.said(pen, node)

    def said(self, pen: "Pen", node: Node) -> None:
        if node.op in SAID:
            SAID[node.op](pen)
        elif OPS[node.op].scalar or "(" in (OPS[node.op].onnx or ""):
            pen.spelled(OPS[node.op].onnx)
        else:
            refuse(node.op)

    def constant(self, node: Node) -> None:
        value, of = node.attrs["value"], node.outputs[0].type
        self.constants[node.outputs[0]] = value
        made = self.names[node.outputs[0]] = self.shared.fresh()
        self.node("Constant", [], [made], {"value": types.array_of(value, of.dtype)})

    def region(self, region: Program, names: Sequence[str], runs: tuple[str, bool] | None = None) -> "_Graph":
        inner = _Graph(self.shared, self.names, runs or self.runs)
        inner.names.update(zip(region.inputs, names, strict=True))
        return inner

    def cond(self, node: Node) -> None:
        condition, names = self.names[node.inputs[0]], [self.names[v] for v in node.inputs[1:]]
        arms = {}
        for key, name in (("then", "then_branch"), ("otherwise", "else_branch")):
            region = node.attrs[key]
            inner = self.region(region, names, (condition, key == "then"))
            outputs = inner.inside(region) or [inner.nothing()]
            arms[name] = {"node": inner.nodes, "name": key, "output": outputs}
        self.node("If", [condition], self.define(node) or [self.shared.fresh()], arms)

    def nothing(self) -> Message:
        """What an arm gives that only raises: an `If` has results."""
        name = self.shared.fresh()
        self.node("Constant", [], [name], {"value": np.zeros((), bool)})
        return info(name, Type(types.bool_))

    def define(self, node: Node) -> list[str]:
        self.names.update((value, self.shared.fresh()) for value in node.outputs)
        return [self.names[value] for value in node.outputs]

    def loop(self, node: Node) -> None:
        if not node.outputs:
            return  # it can only raise: a `Loop` has results
        count, test, body = node.attrs["carries"], node.attrs["test"], node.attrs["body"]
        names = [self.names[value] for value in node.inputs]
        first = self.region(test, names)
        first.write(test)
        self.nodes += first.nodes
        inner = _Graph(self.shared, self.names)
        inputs = [info(self.shared.fresh(), Type(types.int64)), info(self.shared.fresh(), Type(types.bool_))]
        inputs += [info(self.shared.fresh(), v.type) for v in body.inputs[:count]]
        inner.runs = (inputs[1]["name"], True)
        carried = [one["name"] for one in inputs[2:]]
        inner.names.update(zip(body.inputs, carried + names[count:], strict=True))
        outputs = inner.inside(body)
        again = _Graph(self.shared, inner.names)
        again.names.update(zip(test.inputs, [o["name"] for o in outputs] + names[count:], strict=True))
        outputs = again.inside(test) + outputs
        graph = {"node": inner.nodes + again.nodes, "name": "body", "input": inputs, "output": outputs}
        held = first.names[test.outputs[0]]
        self.node("Loop", ["", held, *names[:count]], self.define(node), {"body": graph})


def _attribute(name: str, value: Any) -> Message:
    if isinstance(value, np.ndarray):
        return {"name": name, "t": tensor(value), "type": 4}
    if isinstance(value, dict):
        return {"name": name, "g": value, "type": 5}
    if isinstance(value, list | tuple):
        return {"name": name, "ints": list(value), "type": 7}
    kinds: dict[type, tuple[str, int]] = {float: ("f", 1), int: ("i", 2), bool: ("i", 2), str: ("s", 3)}
    field, number = kinds[type(value)]
    return {"name": name, field: value, "type": number}


class Pen:
    """Writes what one node means."""

    def __init__(self, graph: _Graph, node: Node) -> None:
        self.graph, self.node, self.attrs = graph, node, node.attrs
        self.names = [graph.names[value] for value in node.inputs]
        self.types = [value.type for value in node.inputs]
        self.outputs = [value.type for value in node.outputs]

    def kept(self) -> None:
        """The first result is the first input as it is."""
        self.graph.names[self.node.outputs[0]] = self.names[0]

    def extent(self, name: str) -> str:
        """An extent that only a run knows, read off an input of the Program or what a node before this one made."""
        before = itertools.takewhile(lambda node: node is not self.node, self.graph.program.nodes)
        values = itertools.chain(self.graph.program.inputs, *(node.outputs for node in before))
        found = next(value for value in values if name in value.type.shape)
        at = found.type.shape.index(name) + found.type.listed
        return self.write("Gather", self.write("Shape", self.graph.names[found]), self.const([at]))

    def inside(self) -> "Pen":
        """The pen in a graph of its own, which reads the names around it."""
        inner = copy.copy(self)
        inner.graph = _Graph(self.graph.shared, self.graph.names)
        return inner

    def write(self, kind: str, *inputs: str, to: int | None = None, **attrs: Any) -> str:
        """Adds a node; its result is the node's number `to`, or one of its own."""
        name = self.graph.shared.fresh()
        if to is not None:
            self.graph.names[self.node.outputs[to]] = name
        self.graph.node(kind, inputs, [name], attrs)
        return name

    def const(self, value: Any, dtype: DType = types.int64) -> str:
        made = self.write("Constant", value=np.asarray(value, dtype.numpy))
        self.graph.shared.numbers[made] = value
        return made

    def cast(self, name: str, dtype: DType, to: int | None = None) -> str:
        made = self.graph.shared.fresh()
        if to is not None:
            self.graph.names[self.node.outputs[to]] = made
        self.graph.node("Cast", [name], [made], {"to": NUMBERS[dtype]})
        return made

    def shape_as(self, name: str, want: Sequence[Any], have: Sequence[Any]) -> str:
        """A shape as a vector: extents that only a run knows are read off `name`, whose shape is `have`."""
        if all(isinstance(d, int) for d in want):
            return self.const(list(want))
        whole, parts = self.write("Shape", name), []
        for d in want:
            if isinstance(d, int):
                parts.append(self.const([d]))
            elif d in have:
                parts.append(self.write("Gather", whole, self.const([list(have).index(d)])))
            else:
                refuse(f"{self.node.op} to an extent {d}")
        return self.write("Concat", *parts, axis=0)

    def through_int32(self) -> None:
        """Bools and small numbers as larger ones, and the result as it was."""
        kept, out = OPS[self.node.op].kept, self.node.outputs[0]
        self.names = [n if k < kept else self.cast(n, types.int32) for k, n in enumerate(self.names)]
        self.outputs = [Type(types.int32, t.shape) if t.dtype is self.types[-1].dtype else t for t in self.outputs]
        self.types = [t if k < kept else Type(types.int32, t.shape) for k, t in enumerate(self.types)]
        self.graph.said(self, self.node)
        self.cast(self.graph.names[out], out.type.dtype, to=0)

    def spelled(self, spelling: str | None) -> None:
        """The spelling that stands with the op."""
        op, kind = OPS[self.node.op], self.types[-1].dtype.kind
        parts = [part.partition(": ") for part in (spelling or "").split("; ")]
        text = {k: t for k, _, t in parts}.get(kind) if parts[0][1] else spelling
        if not text:
            refuse(f"{self.node.op} of {self.types[-1].dtype.name}")
        tree = tree_of(text, "eval").body
        given = dict(zip(op.names(len(self.names)), self.names, strict=True))
        if isinstance(tree, ast.Name):
            self.write(tree.id, *self.names, to=0)
        else:
            self.evaluated(tree, given, to=0)

    def evaluated(self, tree: Any, given: dict[str, str], to: int | None = None) -> str:
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            inputs = [self.evaluated(part, given) for part in tree.args]
            named = {word.arg: ast.literal_eval(word.value) for word in tree.keywords if word.arg}
            if tree.func.id == "Cast":
                return self.cast(inputs[0], types.dtype(named["to"]), to)
            if "axes" in named:
                inputs.append(self.const([named.pop("axes")]))
            return self.write(tree.func.id, *inputs, to=to, **named)
        if isinstance(tree, ast.Name) and tree.id in given:
            return given[tree.id]
        number = self.attrs[tree.id] if isinstance(tree, ast.Name) else ast.literal_eval(tree)
        return self.const(number, self.types[-1].dtype)
