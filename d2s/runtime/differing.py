"""Where a compiled run first comes to something else than the interpreter: at which node, of regions too, with both values.

In: a Program, the Frames that run the plan of what it is lowered to, what either run is given, and what Python's steps found.
Out: a Difference, or None. First the interpreter runs both Programs, so a pass that is wrong shows; then the plan's steps are
taken one kernel at a time, and what each has read and written is looked at. A value is told from another by its `Value`, and by
how often it was made before.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) %1: f32[n] = exp(%0) return %1 }")
>>> wrong = Program("f", program.inputs, program.nodes, (program.nodes[0].outputs[0],))
>>> x = np.zeros(1, "float32")
>>> print(first_difference(program, Frames(plan.build(wrong)), lambda: [x], lambda: [x]))
first in exp at ?: array([1.], dtype=float32) node by node, array([0.], dtype=float32) compiled
"""

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from d2s.errors import D2SError
from d2s.ir.program import Node, Program, Value
from d2s.reckoned import come_to
from d2s.runtime import executor, frames, host, interpreter, plan
from d2s.runtime.frames import Frames
from d2s.types import Type, int64

Given = Callable[[], Sequence[Any]]  # what a run is given, anew for each
Lowered = Callable[[Program], Program]


@dataclasses.dataclass
class Difference(Exception):
    """The first node that comes to something else; raised to end the run that has found it."""

    node: Node
    interpreted: Any
    compiled: Any
    group: Sequence[Node] = ()  # those that one kernel computes with it

    def __str__(self) -> str:
        at = f"first in {self.node.op} at {self.node.where or '?'}"
        together = f", in one kernel of {', '.join(node.op for node in self.group)}" if len(self.group) > 1 else ""
        return f"{at}: {self.interpreted!r} node by node, {self.compiled!r} compiled{together}"


NOTHING = type("Nothing", (), {"__repr__": lambda self: "nothing"})()  # stands for what one of the runs does not come to


def same_bits(x: Any, y: Any) -> bool:
    """Whether two arrays, or lists of arrays, are equal bit for bit, all nans counting as one."""
    if isinstance(x, tuple):
        return len(x) == len(y) and all(map(same_bits, x, y))
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if x.dtype.kind != "f":
        return bool(np.array_equal(x, y))
    return bool(np.all((x.view(f"i{x.itemsize}") == y.view(f"i{y.itemsize}")) | (np.isnan(x) & np.isnan(y))))


def first_difference(
    program: Program,
    compiled: Frames,
    interpreted_given: Given,
    compiled_given: Given,
    steps: Sequence[Any] = (),
    lowered_by: Lowered = lambda program: program,
) -> Difference | None:
    """The first node the two runs do not agree on; None where they agree, or what they disagree on is no node's."""
    given, lowered = interpreted_given(), compiled.plan.program
    known = _Known(program, [a for v, a in zip(program.inputs, given, strict=True) if v in updated_inputs(program)])
    results = outcome(lambda: interpreter.run(program, given, see=known.note), steps)
    for run in (
        lambda: interpreter.run(lowered, interpreted_given(), see=_Comparing(known, lowered).see),
        lambda: _stepped(known, compiled, lowered_by).run(compiled_given()),
    ):
        found = outcome(run, steps)
        if isinstance(found, Difference):
            return found
        if isinstance(found, D2SError) and isinstance(results, list):
            ended = [node for node in program.every_node() if found.where and node.where == found.where]
            named = [node for node in ended if node.op in found.message] or ended
            return Difference(named[-1], results, found) if named else None
        if isinstance(found, list) and isinstance(results, list):
            for value, x, y in zip(program.outputs, results, found, strict=True):
                if value in known.maker and differs(value.type, x, y):
                    return Difference(known.maker[value], x, y)
    return None


def updated_inputs(program: Program) -> set[Value]:
    """The inputs that a run changes where they lie."""
    return {v for node in program.nodes if node.op == "update" for v in interpreter.updated(node)}


def outcome(run: Callable[[], Any], steps: Sequence[Any] | None = None) -> Any:
    """What a run gives, or raises; what Python's steps in it found before is replayed."""
    try:
        with contextlib.nullcontext() if steps is None else host.replaying(steps):
            return run()
    except Exception as error:
        return error


def differs(of: Type, interpreted: Any, compiled: Any) -> bool:
    """Whether two values of a type are not the same; what only one of the executors can read is not compared."""
    if isinstance(interpreted, interpreter.Hole) or (of.grows and not of.listed):
        return False
    if isinstance(interpreted, tuple) and isinstance(compiled, tuple):
        items = zip(interpreted, compiled, strict=False)
        return len(interpreted) != len(compiled) or any(differs(of.item, x, y) for x, y in items)
    return not same_bits(interpreted if isinstance(interpreted, tuple) else np.asarray(interpreted), compiled)


def unlike_on_stacks(interpreted: Any, compiled: np.ndarray) -> tuple[Any, Any] | None:
    """The first value that is not the same on two stacks: a linked tuple, and bytes that lie behind each other."""
    items, at = list[Any](), 0
    while interpreted:
        interpreted, item = interpreted
        items.append(item)
    for item in reversed(items):
        if isinstance(item, tuple):
            return None  # a stack itself
        wanted = np.asarray(item)
        lying = compiled[at : at + wanted.nbytes]
        if lying.size < wanted.nbytes:
            return wanted, NOTHING
        found = lying.copy().view(wanted.dtype).reshape(wanted.shape)
        if not isinstance(item, interpreter.Hole) and not same_bits(wanted, found):
            return wanted, found
        at += wanted.nbytes
    return None if at == compiled.size else (NOTHING, compiled[at:])


class _Known:
    """What the interpreter made of each value of a Program, each time, and of what; some of its inputs it will change."""

    def __init__(self, program: Program, changing: Sequence[Any]) -> None:
        self._changing = set(map(id, changing))
        self.maker = {v: node for node in program.every_node() for v in node.outputs}
        self.around = {v: node for node in program.every_node() for v in _begun_in(node)}
        self._made: dict[Value, list[tuple[list[Any], Any]]] = {}

    def note(self, node: Node, inputs: list[Any], results: list[Any]) -> None:
        read = [a.copy() if id(a) in self._changing else a for a in inputs]
        for value, result in zip(node.outputs, results, strict=True):
            self._made.setdefault(value, []).append((read, result))

    def made(self, value: Value, times: int) -> tuple[list[Any], Any] | None:
        """What a value was made of and came to, once it had been made so many times."""
        all_of_it = self._made.get(value, [])
        return all_of_it[times] if times < len(all_of_it) else None


def _begun_in(node: Node) -> Iterator[Value]:
    """The values that the regions of a node begin with and make."""
    for region in node.regions().values():
        yield from region.inputs
        for inner in region.nodes:
            yield from inner.outputs


class _Comparing:
    """A run that is compared, node by node."""

    def __init__(self, known: _Known, program: Program) -> None:
        self.known, self.times = known, Counter[Value]()
        groups = [node for node in program.every_node() if node.op == "fused"]
        self.outside: dict[Value, Value] = {}  # of values inside of groups
        for node in groups:
            body = node.attrs["body"]
            self.outside |= zip((*body.inputs, *body.outputs), (*node.inputs, *node.outputs), strict=True)

    def see(self, node: Node, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        """Raises the Difference, if it is here."""
        if node.op == "fused":
            return  # its nodes were seen
        for value, result in zip(node.outputs, results, strict=True):
            self.compare(node, inputs, value, result)

    def compare(self, node: Node, inputs: Sequence[Any], inside: Value, result: Any) -> None:
        """One of a node's results; `inputs` that are not known are None."""
        value = self.outside.get(inside, inside)
        made = self.known.made(value, self.times[value])
        self.times[value] += 1
        if value not in self.known.maker or value.type.grows:
            return  # a pass made it, or it is changed where it lies
        if made is None:
            raise Difference(self.known.around.get(value, node), NOTHING, result)
        if differs(value.type, made[1], result):
            raise self.handed(node, inputs, value, made[0]) or Difference(self.known.maker[value], made[1], result)

    def handed(self, node: Node, inputs: Sequence[Any], value: Value, given: Sequence[Any]) -> Difference | None:
        """Where a node was given something else already: what has handed that on."""
        origin = self.known.maker.get(value)
        if origin is None or origin.op != node.op or len(inputs) != len(given):
            return None
        for source, x, y in zip(origin.inputs, given, inputs, strict=True):
            culprit = self.known.maker.get(source) or self.known.around.get(source)
            if culprit and y is not None and not source.type.grows and differs(source.type, x, y):
                return Difference(culprit, x, y)
        return None


def _stepped(known: _Known, run: Frames, lowered_by: Lowered) -> Frames:
    """The same plan, each of whose kernels is looked at."""
    looking = _Stepping(known, run, lowered_by)
    return Frames(run.plan, looking.execute)


class _Stepping(_Comparing):
    """An executor that stops behind every kernel, to look at what it has read and written."""

    def __init__(self, known: _Known, run: Frames, lowered_by: Lowered) -> None:
        super().__init__(known, run.plan.program)
        self.plan, self._go_on, self._lowered_by = run.plan, run.execute, lowered_by
        self._table = run.plan.steps.copy()
        self._table[list(run.plan.runs)] = executor.CHECK, executor.TOP, 0, 0  # a register that is never 0: stop here

    def execute(self, steps: int, operands: int, frame: int, pc: int) -> int:
        registers = frames.memory_at(frame, (len(self.plan.frame),), Type(int64))
        while (pc := self._go_on(self._table.ctypes.data, operands, frame, pc)) in self.plan.runs:
            node = self.plan.runs[pc]
            before = [None if a is None else np.array(a) for a in self._memory(node.inputs, pc, 0, registers)]
            one = np.array([self.plan.steps[pc], [executor.STOP, 0, 0, 0]])
            self._go_on(one.ctypes.data, operands, frame, 0)
            self.look(node, pc, before, registers)
            pc += 1
        return pc

    def look(self, node: Node, pc: int, before: list[Any], registers: np.ndarray) -> None:
        """What one kernel has made of what it read."""
        results = self._memory(node.outputs, pc, len(node.inputs), registers)
        if node.op != "fused":
            for value, result in zip(node.outputs, results, strict=True):
                if result is not None:
                    self.compare(node, before, value, result)
            return
        body = node.attrs["body"]
        if body.nodes[0].op == "while_loop":
            return  # it is run again until it has come to its end; who reads what it leaves sees that
        read, made = dict(zip(body.inputs, before, strict=True)), dict(zip(body.outputs, results, strict=True))
        known = [(inner, self.upcoming(inner.outputs[0])) for inner in body.nodes]
        for inner in body.nodes:
            for value in inner.outputs:
                if made.get(value) is None:
                    self.times[value] += 1
                    continue
                try:
                    self.compare(inner, [read.get(v) for v in inner.inputs], value, made[value])
                except Difference as found:
                    handed = (self.handed(one, [read.get(v) for v in one.inputs], of, given) for one, (of, given) in known)
                    raise next(filter(None, handed), None) or self.inside(body, before) or found from None

    def upcoming(self, inside: Value) -> tuple[Value, Sequence[Any]]:
        """A value, and what it is to be made of next."""
        value = self.outside.get(inside, inside)
        made = self.known.made(value, self.times[value])
        return value, made[0] if made else ()

    def inside(self, body: Program, given: list[Any]) -> Difference | None:
        """The first node of a group without which its kernel is right."""
        found: list[tuple[Node, list[Any]]] = []
        try:
            interpreter.run(body, given, see=lambda node, inputs, results: found.append((node, results)))
            for n, (node, results) in enumerate(found):
                program = self._lowered_by(Program(self.plan.program.name, body.inputs, body.nodes[: n + 1], node.outputs))
                for value, x, y in zip(node.outputs, results, Frames(plan.build(program)).run(given), strict=True):
                    if differs(value.type, x, y):
                        return Difference(node, x, y, body.nodes)
        except (D2SError, ArithmeticError, LookupError):  # of less than all of it there may be no kernel
            return None
        return None

    def _memory(self, values: Sequence[Value], pc: int, first: int, registers: np.ndarray) -> list[Any]:
        """What stands where a kernel reads or writes; None where that has no form of its own."""
        node, start = self.plan.runs[pc], int(self.plan.steps[pc, 2]) // 4
        if node.op == "update":
            operands = self.plan.operands[start : start + 3 + len(node.attrs["state"])].tolist()
            read = dict(zip(node.inputs, operands, strict=False))
            places: list[int | None] = [read.get(v) for v in (interpreter.updated(node) if first else node.inputs)]
        else:
            places = [*self.plan.places_of(node, start)[first:]]
        return [self._value(v.type, home, registers) for v, home in zip(values, places, strict=False)]

    def _value(self, of: Type, home: int | None, registers: np.ndarray) -> Any:
        if of.grows or home is None:
            return None
        named = self.plan.extents | self.plan.found
        try:
            shape = tuple(come_to(d, lambda name: int(registers[named[name]])) for d in of.shape)
        except KeyError:
            return None
        return frames.memory_at(int(registers[home]), tuple(map(int, shape)), of)
