"""Plans of branches and loops: the steps of regions between jumps.

In: nodes with regions. Out: steps of the planner. A loop's carried values have two buffers each, which change places; those
whose extents trips change have one, which grows. What a trip allocates is released at its end.

>>> Buffers(3, 4).following
3
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.runtime.executor import ALLOC, COPY, JUMP, JUMP_IF_FALSE, LOAD_BOOL, MARK, MOVE, PUSH, RELEASE
from d2s.runtime.plan_growing import PLANNED
from d2s.types import STACK, Type


class Buffers(NamedTuple):
    """The registers of a carried value's two buffers: of the one the next trip's value goes to, and of the other."""

    following: int
    other: int


class PlansLoops:
    """The part of the planner that knows `cond` and `while_loop`."""

    if TYPE_CHECKING:
        homes: dict[Value, int]
        targets: dict[Value, int]
        steps: list[tuple[int, ...]]
        apart: Any
        name: Any
        hand_on: Any
        handed_over: Any

        def register(self, start: int = 0) -> int: ...
        def step(self, code: int, *operands: int) -> int: ...
        def bytes(self, of: Type) -> int: ...
        def allocate(self, of: Type) -> int: ...
        def growing(self, of: Type) -> int: ...
        def nodes(self, program: Program) -> None: ...

    def at(self, values: Sequence[Value]) -> list[int]:
        return [self.homes[v] for v in values]

    def branch(self, condition: Value) -> int:
        """A jump, still without a target, that is taken where the condition is false."""
        flag = self.register()
        self.step(LOAD_BOOL, flag, self.homes[condition])
        return self.step(JUMP_IF_FALSE, flag)

    def land(self, jump: int) -> None:
        self.steps[jump] = (*self.steps[jump], len(self.steps))

    def region(self, region: Program, inputs: Sequence[int]) -> list[int]:
        """The steps of a region whose inputs stand where the captured values do; returns where its outputs stand."""
        self.homes.update(zip(region.inputs, inputs, strict=True))
        with self.apart():
            self.nodes(region)
        return self.at(region.outputs)

    def plan_cond(self, node: Node) -> None:
        for value in node.outputs:
            if not value.type.grows:
                self.homes[value] = self.register()
        to_otherwise = self.branch(node.inputs[0])
        self.arm(node, "then")
        to_end = self.step(JUMP)
        self.land(to_otherwise)
        self.arm(node, "otherwise")
        self.land(to_end)
        for name in node.attrs.get("finds", ()):
            self.name(name)

    def arm(self, node: Node, name: str) -> None:
        found = dict(zip(node.outputs, self.region(node.attrs[name], self.at(node.inputs[1:])), strict=True))
        grown = [value for value in node.outputs if value.type.grows]
        if name == "then":
            self.homes |= {value: found[value] for value in grown}
        self.handed_over(self.at(grown), [found[value] for value in grown])
        for value, home in found.items():
            if not value.type.grows:
                self.step(MOVE, self.homes[value], home)
        with self.apart():
            self.hand_on(
                [v.type for v in node.attrs[name].outputs], [v.type for v in node.outputs], node.attrs.get("finds", ())
            )

    def plan_while_loop(self, node: Node) -> None:
        carries, test, body = node.attrs["carries"], node.attrs["test"], node.attrs["body"]
        first, inside = [v.type for v in node.inputs[:carries]], [v.type for v in body.inputs[:carries]]
        moving = [n for n in range(carries) if first[n] != inside[n]]
        names = [d for n in moving for d, have in zip(inside[n].shape, first[n].shape, strict=True) if d != have]
        changed = [value is not carry and not value.type.grows for value, carry in zip(body.outputs, body.inputs, strict=False)]
        fixed = [n for n, flag in enumerate(changed) if flag and n not in moving]
        buffers = {n: Buffers(self.allocate(first[n]), self.allocate(first[n])) for n in fixed}
        homes = [self.carried(v) for v in node.inputs[:carries]]
        growing = {n: self.growing(STACK) for n in moving if changed[n]}
        inputs = [*homes, *self.at(node.inputs[carries:])]
        with self.apart():
            self.hand_on(first, inside, names)
            mark = self.register()
            self.register()
            head = self.step(MARK, mark)
            self.region(test, inputs)
            to_end = self.branch(test.outputs[0])
            fresh = {v for inner in body.nodes if not structural(inner) for v in inner.outputs}
            for n, (following, _) in buffers.items():
                if body.outputs[n] in fresh:
                    self.targets.setdefault(body.outputs[n], following)
            self.region(body, inputs)
            self.carry_over(body, homes, buffers)
            self.carry_grown(body, homes, growing, fresh, names)
            self.step(RELEASE, mark)
            self.step(JUMP, head)
            self.land(to_end)
            self.step(RELEASE, mark)
        self.hand_on(inside, [v.type for v in node.outputs], node.attrs.get("finds", ()))
        self.homes.update(zip(node.outputs, homes, strict=True))

    def carried(self, value: Value) -> int:
        """Where a carried value's address is; before the first trip it is that of the value itself."""
        if value.type.grows:
            return self.homes[value]
        home = self.register()
        self.step(MOVE, home, self.homes[value])
        return home

    def carry_over(self, body: Program, homes: list[int], buffers: dict[int, Buffers]) -> None:
        """A trip's results are the next trip's values; one that was not computed in its buffer is copied there."""
        for n, (following, _) in buffers.items():
            value = body.outputs[n]
            if self.targets.get(value) != following:
                self.step(COPY, following, self.homes[value], self.bytes(value.type))
        for n, (following, other) in buffers.items():
            self.step(MOVE, homes[n], following)
            self.step(MOVE, following, other)
            self.step(MOVE, other, homes[n])
        grown = [n for n, value in enumerate(body.outputs) if value.type.grows]
        self.handed_over([homes[n] for n in grown], self.at([body.outputs[n] for n in grown]))

    def carry_grown(
        self, body: Program, homes: list[int], growing: dict[int, int], fresh: set[Value], names: Sequence[str]
    ) -> None:
        """The same of values whose extents trips change: what lies in another one's buffer is copied before any is written."""
        inside = [v.type for v in body.inputs]
        self.hand_on([v.type for v in body.outputs], inside, names)
        sources = {n: self.homes[body.outputs[n]] for n in growing}
        for n in growing:
            if body.outputs[n] not in fresh:
                home, sources[n] = sources[n], self.register()
                self.steps_of_copy(sources[n], home, inside[n])
        for n, stack in growing.items():
            self.step(MOVE, stack + 1, self.register())
            self.step(PUSH, stack, sources[n], self.bytes(inside[n]))
            self.step(MOVE, homes[n], stack)

    def steps_of_copy(self, to: int, home: int, of: Type) -> None:
        self.step(ALLOC, to, self.bytes(of))
        self.step(COPY, to, home, self.bytes(of))


def structural(node: Node) -> bool:
    """Whether no kernel computes a node's results where they are wanted."""
    if node.op == "fused":
        return bool(node.attrs["body"].nodes[0].regions())
    known = ("cond", "while_loop", "call", "again", "constant", "hole", "host", "renamed", *PLANNED)
    return node.op in known or OPS[node.op].has("python")
