"""The steps of functions that call themselves: a body is planned once and entered from several places.

A call pushes the registers that the body computes in, its *window*, on the stack of calls, and the way back takes them from
there; so no step and no kernel knows how deep it runs, and no stack of the C language grows. Arguments and results go by
registers of their own: addresses of what the body is given, and of memory of the caller's its results are copied to.

In: the planner, a `call` or an `again`. Out: steps.

>>> sorted(name for name in vars(PlansCalls) if not name.startswith("_"))
['enter', 'leave', 'plan_again', 'plan_call', 'start_calls']
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from d2s.ir.program import Node, Program, Value
from d2s.runtime.executor import ADDRESS, COPY, JUMP, JUMP_TO, MARK, MOVE, POP, PUSH, RELEASE
from d2s.runtime.plan_extents import Registered, finds
from d2s.types import STACK


@dataclasses.dataclass(eq=False)
class Function:
    """Registers that all calls of a body share, and the step it begins at."""

    given: list[int]
    wanted: list[int]
    way_back: int
    window: int  # its address
    size: int
    start: int = -1


class PlansCalls:
    """A part of the planner."""

    frame: list[int]
    head: list[tuple[int, ...]]
    steps: list[tuple[int, ...]]
    homes: dict[Value, int]
    checks: dict[int, Node]
    region: Any
    register: Any
    growing: Any
    extents: Registered
    step: Any
    allocate: Any
    at: Any
    bytes: Any

    def start_calls(self, program: Program) -> None:
        """The stack of calls stands in no window."""
        self.calls = self.growing(STACK) if any(node.op == "call" for node in program.every_node()) else -1
        self.functions: dict[str, Function] = {}  # those around the node that is planned
        self.ways_back: dict[int, int] = {}  # registers that hold the number of a step

    def plan_call(self, node: Node) -> None:
        body, count, name = node.attrs["body"], node.attrs["carries"], node.attrs["name"]
        given = [self.register() for _ in _held(body.inputs[:count])]
        wanted = [self.register() for _ in _held(body.outputs)]
        function = Function(given, wanted, self.register(), self.register(), self.register())
        back = self.enter(function, node, count)
        function.start, first = len(self.steps), len(self.frame)
        around, self.functions = self.functions, self.functions | {name: function}
        for inside in body.every_node():
            for found in finds(inside):
                self.extents.names.pop(found, None)  # its register is one of this window
        self.leave(function, body, self._entered(function, node, count))
        self.functions = around
        self.head.append((ADDRESS, function.window, first))
        self.frame[function.size] = 8 * (len(self.frame) - first)
        self.ways_back[back] = len(self.steps)

    def plan_again(self, node: Node) -> None:
        function = self.functions[node.attrs["name"]]
        back = self.enter(function, node, len(function.given) + sum(v.type is STACK for v in node.inputs))
        self.step(JUMP, function.start)
        self.ways_back[back] = len(self.steps)

    def enter(self, function: Function, node: Node, count: int) -> int:
        """Hands over arguments and saves the window; returns the register for the step to come back to."""
        results = [self.allocate(v.type) for v in _held(node.outputs)]
        for register, home in zip(function.given, self.at(_held(node.inputs[:count])), strict=True):
            self.step(MOVE, register, home)
        for register, home in zip(function.wanted, results, strict=True):
            self.step(MOVE, register, home)
        back: int = self.register()
        self.step(MOVE, function.way_back, back)
        self.checks[self.step(PUSH, self.calls, function.window, function.size)] = node
        self.homes.update(zip(_held(node.outputs), results, strict=True))
        stacks = [self.homes[v] for v in node.inputs if v.type is STACK]
        self.homes.update(zip([v for v in node.outputs if v.type is STACK], stacks, strict=False))
        return back

    def _entered(self, function: Function, node: Node, count: int) -> tuple[list[int], list[int], int, int]:
        """The first steps of a body: where its inputs are, where its results go, the way back and the mark of its memory."""
        own, results = ([self.register() for _ in found] for found in (function.given, function.wanted))
        back, mark = self.register(), self.register()
        self.register()
        moves = zip((*own, *results, back), (*function.given, *function.wanted, function.way_back), strict=True)
        for to, source in moves:
            self.step(MOVE, to, source)
        self.step(MARK, mark)
        held = iter(own)
        carried = [self.homes[v] if v.type is STACK else next(held) for v in node.inputs[:count]]
        return [*carried, *self.at(node.inputs[count:])], results, back, mark

    def leave(self, function: Function, body: Program, entered: tuple[list[int], list[int], int, int]) -> None:
        """The steps of a body, and back to where it was called."""
        inputs, results, back, mark = entered
        homes = self.region(body, inputs)
        found = [(v, home) for v, home in zip(body.outputs, homes, strict=True) if v.type is not STACK]
        for to, (value, home) in zip(results, found, strict=True):
            self.step(COPY, to, home, self.bytes(value.type))
        self.step(RELEASE, mark)
        self.step(MOVE, function.way_back, back)
        self.step(POP, self.calls, function.window, function.size)
        self.step(JUMP_TO, function.way_back)


def _held(values: Sequence[Value]) -> list[Value]:
    """Those that have memory of their own."""
    return [v for v in values if v.type is not STACK]
