"""Plans of what grows where it lies: lists, and the stacks of residuals.

In: nodes on lists and stacks. Out: steps of the planner. Either is a buffer, in three registers: its address, used bytes, and
capacity; of a list, a fourth has the number of its items, since items may have no bytes. What a node leaves is in the registers
it was in; only where a path leaves another list than the other one, or a trip another than it found, two lists change places.
A capture asks a list for no item it has not; the Program of a file may, so the steps of lists are checked.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from d2s.ir.program import Node, Value
from d2s.runtime import lists
from d2s.runtime.executor import ADD, COPY, DIFFER, JUMP, JUMP_IF_FALSE, LOAD, MOVE, MULTIPLY, OUTSIDE, POP, PUSH, STORE
from d2s.types import Type

STACK_REGISTERS, LIST_REGISTERS, COUNT = 3, 4, 3
MOST = 1 << 48  # items


class PlansGrowing:
    """The part of the planner that knows lists and stacks."""

    if TYPE_CHECKING:
        homes: dict[Value, int]
        stacks: list[int]
        functions: Any

        def register(self, start: int = 0) -> int: ...
        def step(self, code: int, *operands: int) -> int: ...
        def bytes(self, of: Type) -> int: ...
        def product(self, dims: Any) -> int: ...
        def allocate(self, of: Type) -> int: ...
        def land(self, jump: int) -> None: ...
        def check(self, node: Node, code: int, *operands: int) -> None: ...

    def growing(self, of: Type) -> int:
        """The first of a list's registers, or of a stack's; a call has a new buffer for each."""
        self.stacks.append(self.register())
        for _ in range((LIST_REGISTERS if of.listed else STACK_REGISTERS) - 1):
            self.register()
        return self.stacks[-1]

    def handed_over(self, wanted: Sequence[int], found: Sequence[int]) -> None:
        """Has lists that were found in some registers stand in those wanted; what stood there goes where they were."""
        place = {home: home for home in found}
        for to, home in zip(wanted, found, strict=True):
            if place[home] != to:
                self.exchange(to, place[home])
                place |= {other: place[home] for other, at in place.items() if at == to}
                place[home] = to

    def exchange(self, a: int, b: int) -> None:
        kept = self.register()
        for n in range(LIST_REGISTERS):
            self.step(MOVE, kept, a + n)
            self.step(MOVE, a + n, b + n)
            self.step(MOVE, b + n, kept)

    def plan_stack(self, node: Node) -> None:
        self.homes[node.outputs[0]] = self.growing(node.outputs[0].type)

    def plan_push(self, node: Node) -> None:
        self.pushed(node, node.inputs[1])

    def pushed(self, node: Node, value: Value) -> int:
        """One value more at the end of the node's list or stack."""
        home = self.homes[node.outputs[0]] = self.homes[node.inputs[0]]
        self.step(PUSH, home, self.homes[value], self.bytes(value.type))
        return home

    def plan_pop(self, node: Node) -> None:
        grown, value = node.outputs
        self.homes[grown] = self.homes[node.inputs[0]]
        self.homes[value] = self.allocate(value.type)
        self.step(POP, self.homes[grown], self.homes[value], self.bytes(value.type))

    def plan_list_new(self, node: Node) -> None:
        home = self.homes[node.outputs[0]] = self.growing(node.outputs[0].type)
        none = self.register()  # a trip before this one may have left something in the buffer
        self.step(MOVE, home + 1, none)
        self.step(MOVE, home + COUNT, none)
        if self.functions:  # the buffer is that of a call around this one
            self.step(MOVE, home, none)
            self.step(MOVE, home + 2, none)

    def plan_list_full(self, node: Node) -> None:
        self.plan_list_new(node)
        count, x = node.inputs
        home, left = self.homes[node.outputs[0]], self.register()
        self.step(LOAD, left, self.homes[count])
        self.check(node, OUTSIDE, left, self.register(MOST))
        head = self.step(JUMP_IF_FALSE, left)
        self.step(PUSH, home, self.homes[x], self.bytes(x.type))
        self.step(ADD, home + COUNT, home + COUNT, self.register(1))
        self.step(ADD, left, left, self.register(-1))
        self.step(JUMP, head)
        self.land(head)

    def plan_list_append(self, node: Node) -> None:
        home = self.pushed(node, node.inputs[1])
        self.step(ADD, home + COUNT, home + COUNT, self.register(1))

    def plan_list_pop(self, node: Node) -> None:
        home = self.homes[node.inputs[0]]
        self.check(node, OUTSIDE, self.bytes(node.outputs[1].type), home + 1)
        self.check(node, OUTSIDE, self.register(1), home + COUNT)
        self.plan_pop(node)
        self.step(ADD, home + COUNT, home + COUNT, self.register(-1))

    def plan_list_length(self, node: Node) -> None:
        grown, length = node.outputs
        self.homes[grown] = self.homes[node.inputs[0]]
        self.homes[length] = self.allocate(length.type)
        self.step(STORE, self.homes[length], self.homes[grown] + COUNT)

    def plan_list_get(self, node: Node) -> None:
        x = node.outputs[1]
        self.homes[x] = self.allocate(x.type)
        self.step(COPY, self.homes[x], self.item(node, x.type), self.bytes(x.type))

    def plan_list_set(self, node: Node) -> None:
        x = node.inputs[2]
        self.step(COPY, self.item(node, x.type), self.homes[x], self.bytes(x.type))

    def plan_list_stack(self, node: Node) -> None:
        x, home = node.outputs[1], self.homes[node.inputs[0]]
        self.check(node, DIFFER, self.bytes(x.type), home + 1)
        self.homes |= {node.outputs[0]: home, x: self.allocate(x.type)}
        self.step(COPY, self.homes[x], home, self.bytes(x.type))

    def plan_list_unstack(self, node: Node) -> None:
        home, x = self.homes[node.inputs[0]], node.inputs[1]
        self.homes[node.outputs[0]] = home
        self.step(COPY, home, self.homes[x], self.bytes(x.type))

    def item(self, node: Node, of: Type) -> int:
        """A register for the address of the item that the node's index says."""
        home = self.homes[node.outputs[0]] = self.homes[node.inputs[0]]
        at, end = self.register(), self.register()
        self.step(LOAD, at, self.homes[node.inputs[1]])
        self.check(node, OUTSIDE, at, home + COUNT)
        self.step(MULTIPLY, at, at, self.bytes(of))
        self.step(ADD, end, at, self.bytes(of))
        self.check(node, OUTSIDE, end, home + 1)
        self.step(ADD, at, at, home)
        return at


PLANNED = ("stack", "push", "pop", *lists.OPS)
