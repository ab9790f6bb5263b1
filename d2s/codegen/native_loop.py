"""A tight loop as one kernel: a `while_loop` over numbers and small arrays, with the branches in it, becomes jumps.

Numbers are variables, arrays of at most MOST elements are the kernel's own memory, each elementwise node or group of them is
a loop of known length around its ops' scalar texts. The kernel makes at most TRIPS trips, so that Ctrl-C is seen between its
runs: then it is run again, on what it left.

In: the body of a `fused` node that holds one `while_loop`. Out: text; its registers are the inputs of the body, its outputs,
`ran` (whether a trip was made), `more` (whether it must be run again), and `fault`, the number of the node that raises.

>>> from d2s.ir.text import parse
>>> body = parse('''program f(x: f32[], n: f32[]) -> (f32[]) { %0: f32[] = while_loop(x, n, carries=1) {
...   test(x: f32[], n: f32[]) -> (b1[]) { %0: b1[] = less_than(x, n) return %0 }
...   body(x: f32[], n: f32[]) -> (f32[]) { %0: f32[] = add(x, x) return %0 } } return %0 }''')
>>> print(lower(body).text.split("# ")[1])
while less_than: add
def kernel(r, o):
    x0 = f32(r[o[0]])
    x1 = f32(r[o[1]])
    out0 = f32_out(r[o[2]])
    s0 = x0[0]
    s1 = x1[0]
    s2 = s0
    left, ran, fault = 65536, 0, 0
    s3 = less_than_of_f32(s2, s1)
    go = s3
    while go and left > 0:
        s4 = add_of_f32(s2, s2)
        s2 = s4
        left, ran = select(fault != 0, 0, left - 1), 1
        s5 = less_than_of_f32(s2, s1)
        go = s5
    out0[0] = s2
    r[o[3]] = ran
    r[o[4]] = go
    r[o[5]] = fault
<BLANKLINE>
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from d2s.codegen import emit
from d2s.codegen.emit import Launch, coalesced, index, loaded
from d2s.codegen.fused import WIDE, Functions, element_of
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.types import Shape, Type

MOST = 64  # elements of an array
NODES = 64  # of a loop
TRIPS = 1 << 16


def fits(node: Node) -> bool:
    """Whether a node is a loop that becomes one kernel."""
    if node.op != "while_loop" or sum(1 for region in node.regions().values() for _ in region.every_node()) > NODES:
        return False
    return all(_small(v.type) for v in node.inputs) and all(map(_speaks, node.regions().values()))


def _small(of: Type) -> bool:
    return not of.grows and all(isinstance(d, int) for d in of.shape) and 0 < _size(of) <= MOST


def _size(of: Type) -> int:
    return math.prod(d for d in of.shape if isinstance(d, int))


def _speaks(region: Program) -> bool:
    return all(_of_loop(node) for node in region.nodes)


def _of_loop(node: Node) -> bool:
    if node.op == "constant":
        return math.isfinite(node.attrs["value"])
    if node.op in ("cond", "fused"):
        return all(_small(v.type) for v in node.inputs) and all(map(_speaks, node.regions().values()))
    plain = bool(OPS[node.op].scalar) or OPS[node.op].has("scalar")
    return plain and all(_small(v.type) for v in (*node.inputs, *node.outputs))


def lower(body: Program) -> Launch:
    """The kernel of a body that holds one loop."""
    return _Loop(body).launch()


class Held(NamedTuple):
    """Where a value is: a variable, or an array of the kernel's own."""

    name: str
    shape: Shape
    is_array: bool


class _Loop:
    def __init__(self, body: Program) -> None:
        self.body, self.functions = body, Functions()
        self.lines: list[str] = []
        self.depth = 0
        self.held: dict[Value, Held] = {}
        self.count = 0
        self.numbers = {id(node): n for n, node in enumerate(body.every_node(), 1)}

    def say(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def launch(self) -> Launch:
        (loop,) = self.body.nodes
        test, trip, carries = loop.attrs["test"], loop.attrs["body"], loop.attrs["carries"]
        fed = [self.taken(k, v) for k, v in enumerate(self.body.inputs)]
        places = dict(zip(self.body.inputs, fed, strict=True))
        inputs = [places[v] if n >= carries else self.copied(places[v], v.type) for n, v in enumerate(loop.inputs)]
        self.say(f"left, ran, fault = {TRIPS}, 0, 0")
        self.decide(test, inputs)
        self.say("while go and left > 0:")
        self.depth += 1
        self.carry(self.region(trip, inputs), inputs[:carries], trip)
        self.say("left, ran = select(fault != 0, 0, left - 1), 1")
        self.decide(test, inputs)
        self.depth -= 1
        results = dict(zip(loop.outputs, inputs, strict=False))
        for k, v in enumerate(self.body.outputs):
            self.copy(f"out{k}", results[v], v.type)
        return Launch(self.text(loop), "i64", (), True, carries)

    def text(self, loop: Node) -> str:
        pointers = [f"x{k} = {v.type.dtype.short}(r[o[{k}]])" for k, v in enumerate(self.body.inputs)]
        count = len(pointers)
        pointers += [f"out{k} = {v.type.dtype.short}_out(r[o[{count + k}]])" for k, v in enumerate(self.body.outputs)]
        count = len(pointers)
        ends = [f"r[o[{count}]] = ran", f"r[o[{count + 1}]] = go", f"r[o[{count + 2}]] = fault"]
        shown = [" ".join(n.op for n in loop.attrs[name].every_node() if n.op != "constant") for name in ("test", "body")]
        lines = "".join(f"    {line}\n" for line in [*pointers, *self.lines, *ends])
        head = f"# while {shown[0]}: {shown[1]}\ndef kernel(r, o):\n"
        return "\n\n".join([*self.functions.texts, head + lines])

    # values

    def new(self, of: Type) -> Held:
        """A place for a value; that of an array is made here."""
        self.count += 1
        size = _size(of)
        if size == 1:
            return Held(f"s{self.count - 1}", (), False)
        found = Held(f"a{self.count - 1}", of.shape, True)
        self.lines.insert(0, f"{found.name} = {of.dtype.short}_local({size})")
        return found

    def taken(self, k: int, value: Value) -> Held:
        """An input: a number is loaded, an array is read where it is."""
        if _size(value.type) == 1:
            found = self.new(value.type)
            self.say(f"{found.name} = {loaded(f'x{k}', '0', value.type.dtype)}")
            return found
        return Held(f"x{k}", value.type.shape, True)

    def copied(self, held: Held, of: Type) -> Held:
        """A carried value's own place, which trips change."""
        found = self.new(of)
        self.assign(found, held, of)
        return found

    def assign(self, to: Held, held: Held, of: Type) -> None:
        if to.is_array:
            self.copy(to.name, held, of)
        else:
            self.say(f"{to.name} = {held.name}")

    def copy(self, pointer: str, held: Held, of: Type) -> None:
        if held.is_array:
            self.say(f"for i in range({_size(of)}):")
            self.say(f"    {pointer}[i] = {held.name}[i]")
        else:
            self.say(f"{pointer}[0] = {held.name}")

    # regions

    def decide(self, test: Program, inputs: Sequence[Held]) -> None:
        self.say(f"go = {self.region(test, inputs)[0].name}")

    def region(self, region: Program, inputs: Sequence[Held]) -> list[Held]:
        self.held.update(zip(region.inputs, inputs, strict=True))
        for node in region.nodes:
            if node.op == "constant":
                self.constant(node)
            elif node.op == "cond":
                self.cond(node)
            elif node.op == "fused":
                self.fused(node)
            else:
                self.group([node], {node.outputs[0]})
        return [self.held[v] for v in region.outputs]

    def carry(self, results: list[Held], carried: Sequence[Held], trip: Program) -> None:
        """A trip's results into the carried places; what lies in one that is written before it is read goes aside first."""
        moves = [(to, held, v.type) for to, held, v in zip(carried, results, trip.outputs, strict=True) if to.name != held.name]
        written = {to.name for to, _, _ in moves}
        for n, (to, held, of) in enumerate(moves):
            if held.name in written:
                aside = self.new(of)
                self.assign(aside, held, of)
                moves[n] = (to, aside, of)
        for to, held, of in moves:
            self.assign(to, held, of)

    def constant(self, node: Node) -> None:
        (value,) = node.outputs
        self.held[value] = self.new(value.type)
        self.say(f"{self.held[value].name} = {_named(value.type)}({node.attrs['value']!r})")

    def cond(self, node: Node) -> None:
        condition, *captured = (self.held[v] for v in node.inputs)
        joined = [self.new(v.type) for v in node.outputs]
        for to, v in zip(joined, node.outputs, strict=True):
            if not to.is_array:
                self.say(f"{to.name} = {_named(v.type)}(0)")
        for head, name in ((f"if {condition.name}:", "then"), ("else:", "otherwise")):
            self.say(head)
            self.depth += 1
            self.say("pass")
            for to, held, v in zip(joined, self.region(node.attrs[name], captured), node.outputs, strict=True):
                self.assign(to, held, v.type)
            self.depth -= 1
        self.held.update(zip(node.outputs, joined, strict=True))

    def fused(self, node: Node) -> None:
        body = node.attrs["body"]
        self.held.update({inside: self.held[v] for inside, v in zip(body.inputs, node.inputs, strict=True)})
        self.group(body.nodes, set(body.outputs))
        self.held.update({out: self.held[inside] for out, inside in zip(node.outputs, body.outputs, strict=True)})

    def group(self, nodes: Sequence[Node], results: set[Value]) -> None:
        """Elementwise nodes of one shape as one loop; a value that others read is stored."""
        shape = nodes[0].outputs[0].type.shape
        elements = [element_of(node) for node in nodes]
        reads = [
            (self.held[v], view)
            for node, one in zip(nodes, elements, strict=True)
            for v, view in zip(node.inputs, one.views if one else (), strict=False)
            if v in self.held
        ]
        arrays = list(dict.fromkeys((held, view) for held, view in reads if held.is_array))
        loops = coalesced([view for _, view in arrays], shape)
        stored = {v: self.new(v.type) for node in nodes for v in node.outputs if v in results}
        for k, (_, dims) in enumerate(loops):
            self.say(f"n{k} = {_size(Type(nodes[0].outputs[0].type.dtype, dims))}")
        for k in range(len(loops)):
            self.say(f"for i{k} in range(n{k}):")
            self.depth += 1
        inside: dict[Value, str] = {}
        for node, one in zip(nodes, elements, strict=True):
            assert one is not None
            given = []
            for v, view in zip(node.inputs, one.views, strict=False):
                if v in inside:
                    given.append(inside[v])
                elif self.held[v].is_array:
                    at = index(loops, arrays.index((self.held[v], view)))
                    given.append(loaded(self.held[v].name, at, v.type.dtype))
                else:
                    given.append(self.held[v].name)
            self.compute(node, one, given, inside, stored)
        for v, held in stored.items():
            if held.is_array:
                self.say(f"{held.name}[{index(loops, None)}] = {inside[v]}")
        self.depth -= len(loops)
        self.held.update(stored)

    def compute(
        self, node: Node, one: emit.Element, given: list[str], inside: dict[Value, str], stored: dict[Value, Held]
    ) -> None:
        value = node.outputs[0]
        held = stored.get(value)
        if held is None or held.is_array:
            self.count += 1
        name = held.name if held is not None and not held.is_array else f"v{self.count - 1}"
        call = f"{self.functions.of(node, one)}({', '.join(given)})"
        self.say(f"{name} = {call if value.type.dtype.name in WIDE else f'{value.type.dtype.name}({call})'}")
        inside[value] = name
        if one.overflow:
            check = self.functions.named(f"left_64_bits_by_{node.op}", one.overflow, one.T)
            left = f"{check}({', '.join([*given, name])})"
            self.say(f"fault = select(fault == 0 and {left}, {self.numbers[id(node)]}, fault)")


def _named(of: Type) -> str:
    return "bool_" if of.dtype.kind == "b" else of.dtype.name
