"""Contract: elementwise nodes of one shape that read each other are one `fused` node, and so one kernel.

Nothing that stood between them in the order of values comes to depend on itself, and what may raise stays in its order.
Runs last: no pass and no gradient looks into groups.
"""

from collections.abc import Iterator

from d2s.codegen import fused
from d2s.codegen.emit import Element
from d2s.ir.program import Node, Program, Value, in_regions
from d2s.passes.drop_dead import may_raise
from d2s.passes.rewriting import is_plain

MOST_NODES = 32  # of one group: what is longer takes long to compile and gains nothing
MOST_POINTERS = 24


def apply(program: Program) -> Program:
    nodes = [in_regions(node, apply) for node in program.nodes]
    units = _Units(nodes).formed()
    read_by: dict[Value, set[int]] = {}
    for k, unit in enumerate(units):
        for n in unit:
            for v in nodes[n].inputs:
                read_by.setdefault(v, set()).add(k)
    made = []
    for k, unit in enumerate(units):
        results = {v for n in unit for v in nodes[n].outputs if v in program.outputs or read_by.get(v, {k}) != {k}}
        made.append(nodes[unit[0]] if len(unit) == 1 else fused_node([nodes[n] for n in unit], results))
    return Program(program.name, program.inputs, tuple(made), program.outputs)


def fused_node(nodes: list[Node], results: set[Value]) -> Node:
    """One node for several; `results` are read elsewhere. What only the group knows are the Values that they were."""
    own = {v for node in nodes for v in node.outputs}
    inputs = list(dict.fromkeys(v for node in nodes for v in node.inputs if v not in own))
    inside = {v: Value(v.type, f"x{k}") for k, v in enumerate(inputs)}
    inside |= {v: Value(v.type) if v in results else v for v in own}
    body = tuple(
        Node(n.op, tuple(inside[v] for v in n.inputs), tuple(inside[v] for v in n.outputs), n.attrs, n.where) for n in nodes
    )
    outputs = tuple(v for node in nodes for v in node.outputs if v in results)
    region = Program("body", tuple(inside[v] for v in inputs), body, tuple(inside[v] for v in outputs))
    return Node("fused", tuple(inputs), outputs, {"body": region}, nodes[-1].where)


def opened(node: Node) -> list[Node]:
    """The nodes of a group, as they were before it was one; any other node alone."""
    if node.op != "fused":
        return [node]
    body = node.attrs["body"]
    outside = dict(zip((*body.inputs, *body.outputs), (*node.inputs, *node.outputs), strict=True))
    return [
        Node(n.op, tuple(outside.get(v, v) for v in n.inputs), tuple(outside.get(v, v) for v in n.outputs), n.attrs, n.where)
        for n in body.nodes
    ]


class _Units:
    """A partition of nodes: `unit[n]` is the number of the unit of node n, `behind[u]` has a bit for each unit that u needs."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.home = {v: n for n, node in enumerate(nodes) for v in node.outputs}
        self.unit: list[int] = []
        self.members: dict[int, list[int]] = {}
        self.behind: list[int] = []
        self.views: dict[int, list[tuple[Value, object]]] = {}
        self.widths: dict[int, set[int]] = {}  # of the numbers that vector math computes with
        self.ordered = -1  # the last node that may raise, or acts

    def formed(self) -> list[list[int]]:
        for n, node in enumerate(self.nodes):
            self.take(n, node)
        return list(self.in_order())

    def take(self, n: int, node: Node) -> None:
        """A unit of its own for the node; then it joins what it reads."""
        needs = {self.unit[self.home[v]] for v in node.inputs if v in self.home}
        if may_raise(node) or not (is_plain(node) or node.regions() or node.op in _STILL):
            needs |= {self.unit[self.ordered]} if self.ordered >= 0 else set()
            self.ordered = n
        self.unit.append(n)
        self.members[n] = [n]
        self.behind.append(0)
        for u in needs:
            self.behind[n] |= self.behind[u] | 1 << u
        self.join_producers(n, node)

    def join_producers(self, n: int, node: Node) -> None:
        one = fused.element_of(node) if is_plain(node) else None
        if one is None or (node.outputs[0].type.shape and any("while " in text for text in one.functions)):
            return
        shape = node.outputs[0].type.shape
        self.views[n] = list(zip(node.inputs, one.views, strict=False))
        self.widths[n] = {_width(one)} if shape and any("fma(" in text for text in one.functions) else set()
        for v, view in self.views[n]:
            producer = self.home.get(v)
            if producer in self.views and view == shape == self.nodes[producer].outputs[0].type.shape:
                self.merge(self.unit[producer], self.unit[n])

    def merge(self, u: int, w: int) -> None:
        """Makes u and w one unit if no way leads from one to the other through a third, and all that is read fits."""
        if u == w or len(self.members[u]) + len(self.members[w]) > MOST_NODES or self.between(u, w) or self.between(w, u):
            return
        together = [*self.members[u], *self.members[w]]
        if len(set().union(*(self.widths[n] for n in together))) > 1:
            return
        own = {v for n in together for v in self.nodes[n].outputs}
        if any(v in own and view != self.nodes[n].outputs[0].type.shape for n in together for v, view in self.views[n]):
            return  # a value of the group is also read in another form
        if len({v for n in together for v in self.nodes[n].inputs} - own) + len(own) > 2 * MOST_POINTERS:
            return
        self.members[u] = sorted(together)
        for n in self.members.pop(w):
            self.unit[n] = u
        mine = (self.behind[u] | self.behind[w]) & ~(1 << u) & ~(1 << w)
        self.behind[u] = mine
        for x in self.members:
            if x != u and self.behind[x] >> u & 1 | self.behind[x] >> w & 1:
                self.behind[x] = (self.behind[x] | mine | 1 << u) & ~(1 << w)

    def between(self, u: int, w: int) -> bool:
        """Whether a third unit needs u and is needed by w."""
        return any(self.behind[w] >> x & 1 and self.behind[x] >> u & 1 for x in self.members if x not in (u, w))

    def in_order(self) -> Iterator[list[int]]:
        """Units behind all they need, otherwise in the order of their first nodes."""
        done = 0  # a bit for each
        for n in range(len(self.nodes)):
            waiting = [self.unit[n]]
            while waiting:
                u = waiting[-1]
                needed = self.behind[u] & ~done
                if needed and not done >> u & 1:
                    waiting.append(_lowest(needed))
                    continue
                waiting.pop()
                if not done >> u & 1:
                    done |= 1 << u
                    yield self.members[u]


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


def _width(one: Element) -> int:
    """A loop's vectors hold as many elements as of its widest numbers: float32 beside float64 takes twice the time."""
    return max(one.T.size, *(8 if "float64(" in text else 0 for text in one.functions))


_STILL = {"constant", "stack", "push", "pop", "hole", "renamed"}  # neither kernels nor acts
