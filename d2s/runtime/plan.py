"""Program → plan: a table of steps over registers that hold addresses and extents.

In: a Program. Out: a `Plan`, data for the executor: no address of a call stands in the table, so a plan runs in many
threads at once. Values are contiguous buffers from the call's arena, and use again what dead values of their region and size
have left; a loop's carried values have two buffers each, which change places, and what a trip allocates is released at its
end; regions are the same steps between jumps.

>>> from d2s.ir.text import parse
>>> plan = build(parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 }"))
>>> print(plan)
plan f(x: r2, n: r3) -> r4
   0 RUN           r4 = add r2, r2
   1 STOP
<BLANKLINE>
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Collection

import numpy as np

from d2s.codegen import cache, emit, fused, fused_lines, fused_products, native_loop
from d2s.ir.program import Node, Program, Value
from d2s.once import once
from d2s.ops import OPS
from d2s.ops.shape import AS_THEY_LIE
from d2s.runtime import executor, interpreter
from d2s.runtime.executor import (
    ALLOC,
    CHECK,
    COPY,
    DIFFER,
    JUMP,
    JUMP_IF_FALSE,
    MOVE,
    OUTPUT,
    PAUSE,
    RUN,
    STOP,
)  # fmt: skip
from d2s.runtime.plan_calls import PlansCalls
from d2s.runtime.plan_extents import PlansExtents, Product, Registered, is_endless
from d2s.runtime.plan_growing import PlansGrowing
from d2s.runtime.plan_loops import PlansLoops, structural
from d2s.runtime.plan_update import PlansUpdates, updating
from d2s.types import Type


@dataclasses.dataclass(eq=False)
class Plan:
    """What a run needs: the table, a frame to start from, and where inputs, extents and outputs stand in it."""

    program: Program
    steps: np.ndarray
    operands: np.ndarray
    frame: np.ndarray
    inputs: list[int]
    extents: dict[str, int]
    defined: dict[str, tuple[int, int]]  # which axis of which input tells an extent
    found: dict[str, int]  # extents that a run finds
    outputs: list[int]
    computed: list[int]  # where outputs stand before they are copied to where the caller wants them
    stacks: list[int]
    checks: dict[int, Node]
    constants: list[np.ndarray]
    runs: dict[int, Node]
    places: dict[int, list[int]]  # of steps that Python takes: where their inputs stand, and then their results
    calls: int = -1  # the first register of the stack of calls

    def __str__(self) -> str:
        names = [f"{v.name}: r{r}" for v, r in zip(self.program.inputs, self.inputs, strict=True)]
        bound = [*names, *(f"{name}: r{r}" for name, r in self.extents.items())]
        returned = ", ".join(f"r{r}" for r in self.outputs)
        lines = [self._line(n, *step) for n, step in enumerate(self.steps.tolist())]
        return "\n".join([f"plan {self.program.name}({', '.join(bound)}) -> {returned}", *lines]) + "\n"

    def _line(self, n: int, code: int, x: int, y: int, z: int) -> str:
        """One step as text: which registers it reads and writes, and the user's line."""
        node, (name, words) = self.runs.get(n), executor.CODES[code]
        if node is None:
            at = y if code == executor.JUMP_IF_FALSE else x
            named = {"x": f"r{x}", "y": self._named(y), "z": self._named(z), "at": at, "n": y}
            return f"{n:4} {name:13} {words.format(**named)}".rstrip()
        read = [self._named(r) for r in self.places_of(node, y // 4)]
        given, made = read[: len(node.inputs)], read[len(node.inputs) :]
        inner = node.attrs["body"].every_node() if node.op == "fused" else ()
        name = f"({' '.join(n.op for n in inner if n.op not in ('fused', 'constant'))})" if inner else node.op
        text = f"{n:4} RUN           {', '.join(made)} = {name} {', '.join(given)}".rstrip()
        return text + (f"  # {node.where}" if node.where else "")

    def places_of(self, node: Node, start: int) -> list[int]:
        """The registers of what a node reads and writes, among its kernel's operands: see `_Planner.given`."""
        operands: list[int] = self.operands[start:].tolist()
        launch = lowered(node)
        behind = launch.follower
        if behind is None:
            return operands[: len(node.inputs) + len(node.outputs)]
        first = len(behind.own) + len(launch.extents) + 1
        found = dict(zip(behind.own, operands, strict=False)) | dict(zip(behind.given, operands[first:], strict=False))
        return [found[k] for k in range(len(node.inputs) + len(node.outputs))]

    def _named(self, register: int) -> str:
        """A register; one that always holds the same number, or the address of one, as that number."""
        return self._numbers.get(register, f"r{register}")

    @once
    def _numbers(self) -> dict[int, str]:
        """The registers that no run writes: of extents that are known, and of constants."""
        constants = {array.ctypes.data: array for array in self.constants}
        steps = [(code, x) for code, x, *_ in self.steps.tolist() if code in _WRITING]
        written = {x for _, x in steps} | {*self.inputs, *self.outputs, *self.extents.values()}
        written |= {r + k for r in self.stacks for k in range(3)}
        found = dict[int, str]()
        for register, held in enumerate(self.frame.tolist()):
            if register >= executor.FIRST and register not in written and held:
                array = constants.get(held)
                if array is not None and array.size == 1:
                    found[register] = str(array[()])
                elif held < _ADDRESSES:
                    found[register] = str(held)
        return found

    def kernels(self) -> str:
        """The texts of the kernels a run calls, each once, under the user's lines of the nodes it computes."""
        users: dict[str, list[str]] = {}
        for node in self.runs.values():
            launch = lowered(node)
            text = f"{launch.text}\n\n{launch.follower.text}" if launch.follower else launch.text
            users.setdefault(text, []).append(_told(node))
        return "\n\n".join("".join(dict.fromkeys(told)) + text for text, told in users.items())


_ADDRESSES = 1 << 32  # numbers that a text says are below
_WRITING = {executor.LOAD_BOOL, executor.MOVE, executor.ALLOC, executor.MULTIPLY, executor.DIFFER, executor.LOAD}
_WRITING |= {OUTPUT, executor.ADD, executor.QUOTIENT, executor.OUTSIDE, executor.ADDRESS, executor.MARK}


def lowered(node: Node) -> emit.Launch:
    """The kernel of a node."""
    if node.op == "update":
        return updating(node)
    if node.op == "fused":
        body = node.attrs["body"]
        if body.nodes[0].op == "while_loop":
            return native_loop.lower(body)
        along_lines = any(map(fused_lines.has_lines, body.nodes))
        return (fused_products if OPS[body.nodes[0].op].has("followed") else fused_lines if along_lines else fused).lower(body)
    return emit.lower(OPS[node.op], [v.type for v in node.inputs], [v.type for v in node.outputs], node.attrs)


def _told(node: Node) -> str:
    """The nodes a kernel computes, a comment line for each."""
    inner = [n for n in node.attrs["body"].every_node() if n.op not in ("fused", "constant")] if node.op == "fused" else [node]
    return "".join(f"# {n.op}  {n.where}".rstrip() + "\n" for n in inner)


def build(program: Program) -> Plan:
    """The plan of a Program; compiles the kernels it is the first to need."""
    return _Planner(program).plan()


class _Planner(PlansUpdates, PlansExtents, PlansGrowing, PlansLoops, PlansCalls):
    def __init__(self, program: Program) -> None:
        self.program = program
        self.repeats = any(node.op in ("while_loop", "call") for node in program.every_node())
        self.frame = [0] * executor.FIRST
        self.head: list[tuple[int, ...]] = []  # extents are computed before anything runs
        self.steps: list[tuple[int, ...]] = []
        self.operands: list[int] = []
        self.kernels: dict[tuple[str, str], int] = {}  # texts, by number: steps name these until all are compiled
        self.followers: dict[int, int] = {}  # registers that hold the addresses of kernels, and which
        self.checks: dict[int, Node] = {}
        self.runs: dict[int, Node] = {}
        self.places: dict[int, list[int]] = {}
        self.constants: list[np.ndarray] = []
        self.stacks: list[int] = []
        self.extents = Registered({})
        self.called: dict[str, int] = {}  # the registers of the extents that a call has
        self.homes: dict[Value, int] = {}  # where a value's address is; of a list or a stack, the first of its registers
        self.targets: dict[Value, int] = {}  # registers of places that values are to be computed in: outputs, carried values
        self.free: dict[int, list[int]] = {}  # homes whose values are dead, by the register of their bytes; of this region
        self.shared: dict[Value, set[Value]] = {}  # results of nodes with regions, and whose memory they may have
        self.stepped: set[Value] = set()  # what an `update` has made
        self.waiting: Counter[Value] = Counter()  # how many nodes of a region are still to read a value
        self.made: dict[Value, int] = {}  # values this region's kernels have made, with the register of their bytes
        self.kept: set[Value] = set()  # values of this region that have to stay, whoever reads them
        self.become: dict[Value, Value] = {}  # values that lie as an output of the Program does, and are computed in its place

    def plan(self) -> Plan:
        program = self.program
        self.start_calls(program)
        for value in program.inputs:
            self.homes[value] = self.growing(value.type) if value.type.grows else self.register()
        defined = _defined(program)
        self.called = extents = {name: self.register() for name in defined}
        self.extents = Registered({(name,): r for name, r in extents.items()})
        inputs = [self.homes[v] for v in program.inputs]
        plain = {v for node in program.nodes if not (structural(node) or node.op == "update") for v in node.outputs}
        self.targets = {v: self.register() for v in program.outputs if v in plain}
        self.become = _becoming(program, self.targets, extents)
        self.nodes(program)
        outputs = [self.output(i, value) for i, value in enumerate(program.outputs)]
        self.step(STOP)
        computed = [self.homes[v] for v in program.outputs]
        ahead = len(self.head)
        for register, step in self.ways_back.items():
            self.frame[register] = step + ahead
        self.compile()
        table = np.array([_placed(s, 0) for s in self.head] + [_placed(s, ahead) for s in self.steps], np.int64)
        checks, runs = ({step + ahead: node for step, node in found.items()} for found in (self.checks, self.runs))
        steps = {step + ahead: registers for step, registers in self.places.items()}
        operands, frame = np.array(self.operands, np.int32), np.array(self.frame, np.int64)
        places = inputs, extents, defined, self.extents.names, outputs, computed
        return Plan(program, table, operands, frame, *places, self.stacks, checks, self.constants, runs, steps, self.calls)

    def output(self, position: int, value: Value) -> int:
        """Where the caller finds an output: computed in place, or copied there at the end."""
        first = self.program.outputs.index(value) == position
        if value.type.grows or (first and value in self.targets):
            return self.homes[value]
        wanted = self.register()
        if finds_extents(value, self.called):
            self.place(wanted, value, position)
        self.step(COPY, wanted, self.homes[value], self.bytes(value.type))
        return wanted

    def place(self, register: int, value: Value, position: int) -> None:
        """Has the caller allocate an output that only the run knows the extents of."""
        self.bytes(value.type)
        self.step(OUTPUT, register, position)

    def kernel(self, text: str, T: str) -> int:
        """What stands for a kernel's address in a step until all are compiled."""
        return self.kernels.setdefault((text, T), len(self.kernels))

    def compile(self) -> None:
        """Puts addresses in the places of the kernels' numbers."""
        found = cache.addresses(list(self.kernels))
        self.steps = [(code, found[rest[0]], *rest[1:]) if code == RUN else (code, *rest) for code, *rest in self.steps]
        for register, number in self.followers.items():
            self.frame[register] = found[number]

    def register(self, start: int = 0) -> int:
        self.frame.append(start)
        return len(self.frame) - 1

    def step(self, code: int, *operands: int) -> int:
        self.steps.append((code, *operands))
        return len(self.steps) - 1

    def nodes(self, program: Program) -> None:
        """The steps of nodes. What a value took that nothing reads any more is there for the next one of its size."""
        waiting = Counter(v for node in program.nodes for v in set(node.inputs))
        kept = set(program.outputs) | {v for node in program.nodes if structural(node) for v in node.inputs}
        outer, self.free, self.made = (self.free, self.made, self.waiting, self.kept), {}, {}
        for node in program.nodes:
            self.waiting, self.kept = waiting, kept
            if "finds" in node.attrs and not node.regions():
                self.find_extents(node)
            getattr(self, "plan_" + node.op, self.plan_kernel)(node)
            if node.regions() and structural(node):
                self.share(node)
            for v in set(node.inputs):
                waiting[v] -= 1
            for v in {*node.inputs, *node.outputs} & self.made.keys():
                if not waiting[v] and v not in kept:
                    self.free.setdefault(self.made.pop(v), []).append(self.homes[v])
        self.free, self.made, self.waiting, self.kept = outer

    def allocate(self, of: Type) -> int:
        """A register for the address of a value; the memory is a dead value's of the same size, or new."""
        dead = self.free.get(self.bytes(of))
        if dead:
            return dead.pop()
        home = self.register()
        self.step(ALLOC, home, self.bytes(of))
        return home

    def plan_kernel(self, node: Node) -> None:
        self.requires(node)
        if OPS[node.op].has("python"):
            self.plan_host(node)
        elif not (node.op in AS_THEY_LIE and self.stays(node)):
            self.run(node, lowered(node))

    def stays(self, node: Node) -> bool:
        """Has the result of a node that moves nothing the memory of what it is made of, if nobody else is to read that."""
        x, result = node.inputs[0], node.outputs[0]
        wanted = self.become.get(x)
        if wanted is not None and wanted is self.become.get(result, result) and self.homes[x] == self.targets[wanted]:
            self.homes[result] = self.homes[x]
            return True
        if result in self.targets or x not in self.made or self.waiting[x] > 1 or x in self.kept:
            return False
        self.homes[result], self.made[result] = self.homes[x], self.made.pop(x)
        return True

    def plan_fused(self, node: Node) -> None:
        if node.attrs["body"].nodes[0].op == "while_loop":
            self.loop(node)
            return
        for inner in node.attrs["body"].nodes:
            self.requires(inner)
        self.run(node, lowered(node))

    def loop(self, node: Node) -> None:
        """A loop in one kernel: run again on what it left while it says there is more to do."""
        launch = lowered(node)
        homes = [self.carried(v) for v in node.inputs[: launch.carries]]
        results = [self.allocate(v.type) for v in node.outputs]
        ran, more, fault = self.register(), self.register(), self.register()
        inside = node.attrs["body"].nodes[0].attrs["body"]
        changed = [value is not carry for value, carry in zip(inside.outputs, inside.inputs, strict=False)]
        head = self.run_kernel(node, launch, self.product((0,)))
        self.operands += [*homes, *self.at(node.inputs[launch.carries :]), *results, ran, more, fault]
        self.checks[self.step(CHECK, fault)] = node
        without = self.step(JUMP_IF_FALSE, ran)
        for home, result, moves in zip(homes, results, changed, strict=True):
            if moves:
                self.step(MOVE, home, result)
        finished = self.step(JUMP_IF_FALSE, more)
        self.step(PAUSE)
        self.step(JUMP, head)
        self.land(without)
        self.land(finished)
        self.homes.update(zip(node.outputs, homes, strict=True))

    def requires(self, node: Node) -> None:
        """Checks extents that must be equal, and those that must not be 0; no kernel counts to what no memory holds."""
        op, types = OPS[node.op], [v.type for v in node.inputs]
        if any(is_endless(v.type) for v in node.outputs):
            self.checks[self.step(CHECK, self.register(1))] = node
        for x, y in op.requires(types, node.attrs):
            self.check(node, DIFFER, self.product((x,)), self.product((y,)))
        for name in op.refuses_none(types, node.attrs):
            self.step(DIFFER, found := self.register(), self.product((name,)), self.product((0,)))
            to_refusal = self.step(JUMP_IF_FALSE, found)
            over = self.step(JUMP)
            self.land(to_refusal)
            self.checks[self.step(CHECK, self.register(1))] = node
            self.land(over)

    def run(self, node: Node, launch: emit.Launch) -> None:
        for out in node.outputs:
            wanted = self.become.get(out, out)
            self.homes[out] = self.targets[wanted] if wanted in self.targets else self.allocate(out.type)
            if wanted not in self.targets:
                self.made[out] = self.bytes(out.type)
            elif wanted in self.program.outputs and finds_extents(wanted, self.called):
                self.place(self.homes[out], wanted, self.program.outputs.index(wanted))
        operands = self.given(self.at((*node.inputs, *node.outputs)), launch)
        if launch.fails:
            operands.append(self.register())
        self.run_kernel(node, launch, self.work(node))
        self.operands += operands
        if launch.fails:
            self.checks[self.step(CHECK, operands[-1])] = node

    def run_kernel(self, node: Node, launch: emit.Launch, work: int) -> int:
        """Runs a node's kernel on the operands that come next."""
        step = self.step(RUN, self.kernel(launch.text, launch.T), 4 * len(self.operands), work)
        self.runs[step] = node
        return step

    def work(self, node: Node) -> int:
        """The register of the bytes of the largest value a node reads or makes, as far as that is known before anything runs.

        Only where a step may run more than once somebody asks how much the steps worked on.
        """
        if not self.repeats:
            return self.product((0,))
        types = [v.type for v in (*node.inputs, *node.outputs) if not (v.type.grows or finds_extents(v, self.called))]
        sizes = [(*of.shape, of.dtype.size) for of in types]
        return self.product(max(sizes, key=_numbers_of, default=(0,)))

    def given(self, values: list[int], launch: emit.Launch) -> list[int]:
        """What a kernel is given, and behind it what its follower is."""
        extents, behind = [self.product(dims) for dims in launch.extents], launch.follower
        if behind is None:
            return [*values, *extents]
        address = self.register()
        self.followers[address] = self.kernel(behind.text, behind.T)
        own, given = ([values[k] for k in of] for of in (behind.own, behind.given))
        return [*own, *extents, address, *given, *(self.product(dims) for dims in behind.extents)]

    def check(self, node: Node, code: int, *operands: int) -> None:
        flag = self.register()
        self.step(code, flag, *operands)
        self.checks[self.step(CHECK, flag)] = node

    def plan_constant(self, node: Node) -> None:
        self.constants.append(interpreter.constant(node))
        self.homes[node.outputs[0]] = self.register(self.constants[-1].ctypes.data)

    def plan_hole(self, node: Node) -> None:
        (value,) = node.outputs
        self.homes[value] = self.allocate(value.type)

    def plan_renamed(self, node: Node) -> None:
        self.requires(node)
        self.homes[node.outputs[0]] = self.homes[node.inputs[0]]

    def plan_fail(self, node: Node) -> None:
        self.checks[self.step(CHECK, self.register(1))] = node
        self.places[len(self.steps) - 1] = self.at(node.inputs)

    def plan_host(self, node: Node) -> None:
        for value in node.outputs:
            self.homes[value] = self.allocate(value.type)
        self.plan_fail(node)
        self.places[len(self.steps) - 1] += self.at(node.outputs)


def _becoming(program: Program, targets: Collection[Value], called: Collection[str]) -> dict[Value, Value]:
    """By value the output that it becomes with no more than another shape, where nobody else reads it."""
    read = Counter(v for node in program.nodes for v in set(node.inputs)) + Counter(set(program.outputs))
    found: dict[Value, Value] = {}
    for node in reversed(program.nodes):
        if node.op in AS_THEY_LIE:
            x, result = node.inputs[0], node.outputs[0]
            known = {*called, *(d for d in x.type.shape if isinstance(d, str))}
            if read[x] == 1 and not finds_extents(result, known) and (result in found or result in targets):
                found[x] = found.get(result, result)
    return found


def _defined(program: Program) -> dict[str, tuple[int, int]]:
    """Where a call finds its extents by name: in which input, on which axis. A list may have no item to look at."""
    found: dict[str, tuple[int, int]] = {}
    for n, value in enumerate(program.inputs):
        for axis, dim in enumerate(() if value.type.listed else value.type.shape):
            if isinstance(dim, str):
                found.setdefault(dim, (n, axis))
    return found


def finds_extents(value: Value, called: Collection[str]) -> bool:
    """Whether an extent of a value is one that the run finds, none of those that a call has."""
    return any(isinstance(d, str) and d not in called for d in value.type.shape)


def _numbers_of(product: Product) -> tuple[int, int]:
    """By which products are put in order: how many extents of a call, and what is known of it."""
    known = [d for d in product if isinstance(d, int)]
    return len(product) - len(known), math.prod(known)


def _placed(step: tuple[int, ...], ahead: int) -> tuple[int, ...]:
    """A step as a row of the table, its jump target moved behind the steps that compute extents."""
    code, *operands = step
    if code in (JUMP, JUMP_IF_FALSE):
        operands[-1] += ahead
    return (code, *operands, 0, 0, 0)[:4]
