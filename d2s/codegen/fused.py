"""Many elementwise nodes as one kernel: every value lives in a register, and is stored if somebody else reads it.

Each op's scalar text stands there as it is, so the bits are those of one kernel per op. Ints are brought back to their width
behind each op, as if they had been stored and loaded.

In: the body of a `fused` node, all of whose outputs have one shape. Out: text and extents of a kernel, as `emit.lower` gives;
its registers are the inputs of the body, its outputs, extents, and one that gets the number of the node that left 64 bits.

>>> from d2s.ir.text import parse
>>> body = parse("program f(x: f32[n], y: f32[]) -> (f32[n]) { %0: f32[n] = multiply(x, y) %1: f32[n] = relu(%0) return %1 }")
>>> print(lower(body).text.split("# ")[1])
fused: multiply relu
def kernel(r, o, lo, hi):
    x0 = f32_in(r[o[0]])
    x1 = f32_in(r[o[1]])
    out0 = f32_out(r[o[2]])
    n0 = r[o[3]]
    if hi < 0:
        return n0 if lo == 0 else 16384
    for i0 in range(lo, hi):
        v0 = multiply_of_f32(x0[i0], x1[0])
        v1 = relu_of_f32(v0)
        out0[i0] = v1
    return 0
<BLANKLINE>
"""

import re
from typing import NamedTuple

from d2s.codegen import emit
from d2s.codegen.emit import Element, Launch, Loop, coalesced, heads, index, loaded, shared
from d2s.errors import InternalError
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.types import DType, Shape

_T = re.compile(r"\bT\b")
_DEFINED = re.compile(r"def (\w+)\(")
WIDE = ("bool", "int64", "float32", "float64")  # dtypes a register holds as they are


def element_of(node: Node) -> Element | None:
    """The scalar text of a node's op; None where it has none."""
    op = OPS[node.op]
    if not (op.scalar or op.has("scalar")):
        return None
    return emit.element(op, [v.type for v in node.inputs], node.outputs[0].type, node.attrs)


def lower(body: Program) -> Launch:
    """The kernel of a body."""
    return Kernel(body).launch()


class Functions:
    """The functions a kernel calls, each text once; the same name for the same text."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.names: dict[str, str] = {}  # of an op's own function, by its text

    def named(self, wanted: str, text: str, T: DType) -> str:
        """The name an op's function has here."""
        computed = _T.sub("bool_" if T.kind == "b" else T.name, text)
        if computed not in self.names:
            taken = set(self.names.values())
            name = next(n for n in (wanted, *(f"{wanted}_{k}" for k in range(2, len(taken) + 3))) if n not in taken)
            self.names[computed] = name
            self.texts.append(_DEFINED.sub(f"def {name}(", computed, count=1))
        return self.names[computed]

    def of(self, node: Node, one: Element) -> str:
        """The name of the function for a node's element, whose text is taken in."""
        *called, own = one.functions
        self.texts += [text for text in called if text not in self.texts]
        return self.named(f"{node.op}_of_{one.T.short}", own, one.T)


class Check(NamedTuple):
    """The test for a Python int that left 64 bits: the node's number, and the condition."""

    number: int
    condition: str


class Kernel:
    """The kernel of a body being put together."""

    def __init__(self, body: Program) -> None:
        self.body, self.functions = body, Functions()
        self.elements = [self.element(node) for node in body.nodes]
        self.shape = body.nodes[-1].outputs[0].type.shape
        self.inside = {node.outputs[0]: f"v{k}" for k, node in enumerate(body.nodes)}
        pairs = ((v, view) for node, one in zip(body.nodes, self.elements, strict=True) for v, view in self.reads(node, one))
        self.read = list(dict.fromkeys(pairs))  # inputs, and in which shape they are read
        self.loops = self.looped([view for _, view in self.read])

    def looped(self, views: list[Shape]) -> list[Loop]:
        return coalesced(views, self.shape)

    def named(self) -> dict[Value, str]:
        """What inputs are called."""
        return {v: f"x{k}" for k, v in enumerate(self.body.inputs)}

    def element(self, node: Node) -> Element:
        found = element_of(node)
        if found is None:
            raise InternalError("D2S9001", f"{node.op} stands in a fused node")
        return found

    def reads(self, node: Node, one: Element) -> list[tuple[Value, Shape]]:
        return [(v, view) for v, view in zip(node.inputs, one.views, strict=False) if v not in self.inside]

    def launch(self) -> Launch:
        names, lines, checks = self.named(), list[str](), list[Check]()
        for k, (node, one) in enumerate(zip(self.body.nodes, self.elements, strict=True)):
            given = [self.operand(v, view, names) for v, view in zip(node.inputs, one.views, strict=False)]
            call, of = f"{self.functions.of(node, one)}({', '.join(given)})", node.outputs[0].type.dtype
            lines.append(f"v{k} = {call if of.name in WIDE else f'{of.name}({call})'}")
            if one.overflow:
                check = self.functions.named(f"left_64_bits_by_{node.op}", one.overflow, one.T)
                checks.append(Check(k + 1, f"{check}({', '.join([*given, f'v{k}'])})"))
        at = index(self.loops, None)
        lines += [f"out{k}[{at}] = {self.inside[v]}" for k, v in enumerate(self.body.outputs)]
        text = self.function(lines, checks)
        return Launch("\n\n".join([*self.functions.texts, text]), "i64", tuple(dims for _, dims in self.loops), bool(checks))

    def operand(self, value: Value, view: Shape, names: dict[Value, str]) -> str:
        if value in self.inside:
            return self.inside[value]
        return loaded(names[value], index(self.loops, self.read.index((value, view))), value.type.dtype)

    def function(self, body: list[str], checks: list[Check]) -> str:
        """The kernel around the lines for one element."""
        places = [(f"x{k}", f"{v.type.dtype.short}_in") for k, v in enumerate(self.body.inputs)]
        places += [(f"out{k}", f"{v.type.dtype.short}_out") for k, v in enumerate(self.body.outputs)]
        lines = [f"{name} = {kind}(r[o[{k}]])" for k, (name, kind) in enumerate(places)]
        lines += [f"n{k} = r[o[{len(places) + k}]]" for k in range(len(self.loops))]
        if self.loops:
            share = shared(len(self.loops))
            lines += ["if hi < 0:", f"    return {share.pieces} if lo == 0 else {share.grain}"]
        depth = "    " * len(self.loops)
        lines += [*heads(self.loops), *(depth + line for line in body)]
        fault = f"r[o[{len(places) + len(self.loops)}]]"
        for check in reversed(checks):  # the first in the order of the nodes is written last
            lines += [f"if {check.condition}:", f"    {fault} = {check.number}"]
        lines += ["return 0"] if self.loops else []
        head = (
            f"# fused: {' '.join(node.op for node in self.body.nodes)}\ndef kernel(r, o{', lo, hi' if self.loops else ''}):\n"
        )
        return head + "".join(f"    {line}\n" for line in lines)
