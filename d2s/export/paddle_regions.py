"""The `if` and `while` of Paddle's files: blocks that write variables of the block around them.

In: ops in a frame of the reader. Out: nodes with regions.

>>> [name for name in dir(Regions) if name in ("arm", "join", "loop")]
['arm', 'join', 'loop']
"""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from d2s.export.file_recorder import FileRecorder
from d2s.export.paddle_blocks import COUNTER, Block, Op, fail
from d2s.ir.program import Node, Program, Value
from d2s.ops import control
from d2s.types import Dim, Type

_ROUNDS = 8  # in which the types of what a loop carries are found

Held = Mapping[str, Value]  # variables that are read, and what they hold


class SameExtent(Exception):
    """Two open extents that arms or trips need to be one: the file is read again with one extent less."""


@dataclasses.dataclass(eq=False)
class Arm:
    """A `conditional_block` that waits for the `select_input` that joins it with its opposite."""

    condition: Value
    block: Block
    held: Held  # what it may read, as it was when the block stood there


class Regions:
    """The part of a frame that reads blocks; the frame gives the rest."""

    reader: Any
    block: Block
    ops: Sequence[Op]
    env: dict[str, Value]
    maker: dict[Value, Node]
    opposite: dict[Value, Value]
    arms: dict[str, Arm]
    joined: dict[tuple[Any, ...], Value]
    recorder: FileRecorder
    lost: set[str]  # variables that hold one thing or another, which nobody may read
    moving: set[str]  # names that extents of what loops carry have at the begin of a trip
    where: str
    get: Any
    emit: Any
    truth: Any
    inside: Any
    region: Any

    def inner(self, op: Op, slot: str) -> tuple[Block, Held]:
        """The block an op runs, and the variables that block may read."""
        block = self.reader.blocks[op.take("sub_block", 0)]
        if not block.index:
            fail(f"{op.type} without a block of its own", self.where)
        return block, {n: self.env[n] for n in dict.fromkeys([*op.inputs.get(slot, []), *block.reads]) if n in self.env}

    # --- if

    def arm(self, index: int, op: Op) -> None:
        arm = Arm(self.get(op.one("Cond")), *self.inner(op, "Input"))
        for name in arm.block.writes:
            if name != COUNTER:
                self.env.pop(name, None)  # holds one value or another until it is joined
        for name in op.outputs.get("Out", []):
            self.arms[name] = arm

    def join(self, index: int, op: Op) -> None:
        pair = tuple(op.inputs.get("X", []))
        if len(pair) != 2:
            fail(f"select_input of {list(pair)}, two are wanted", self.where)
        no, yes = (self.arms.get(name) for name in pair)
        condition = self._condition(no, yes, op)
        key = (condition, no, yes, *pair)
        if key not in self.joined:
            self.cond(index, condition, no, yes)
        self.env[op.out] = self.joined[key]

    def cond(self, index: int, condition: Value, no: Arm | None, yes: Arm | None) -> None:
        """Joins two arms, or one with what stands outside: Paddle leaves an arm out that only hands on a value."""
        of = (self.ops[index].type, self.ops[index].inputs.get("Mask"))
        joins = itertools.takewhile(
            lambda o: (o.type, o.inputs.get("Mask")) == of, (self.ops[i] for i in range(index, len(self.ops)))
        )
        pairs = list(dict.fromkeys(tuple(o.inputs.get("X", [])) for o in joins))
        pairs = [p for p in pairs if len(p) == 2 and self.arms.get(p[0]) is no and self.arms.get(p[1]) is yes]
        arms = [arm for arm in (yes, no) if arm]
        outside = {p[side]: self.get(p[side]) for p in pairs for side, arm in ((0, no), (1, yes)) if not arm}
        held = {n: v for arm in arms for n, v in arm.held.items()} | outside
        if any(arm.held.get(n, v) is not v for n, v in held.items() for arm in arms):
            fail("what the two blocks of an `if` read changes between them", self.where)
        moves = [COUNTER] if any(COUNTER in arm.block.writes for arm in arms) else []
        then, otherwise = (
            self._way(name, arm, held, [*(p[side] for p in pairs), *moves])
            for name, arm, side in (("then", yes, 1), ("otherwise", no, 0))
        )
        agree(then.outputs, otherwise.outputs)
        finds = tuple(self.recorder.new_extent() for _ in control.apart(then, otherwise))
        attrs = {"then": then, "otherwise": otherwise} | ({"finds": finds} if finds else {})
        node = self.emit("cond", [self.truth(condition), *held.values()], attrs)
        self.joined.update(((condition, no, yes, *p), v) for p, v in zip(pairs, node.outputs, strict=False))
        if moves and self.env[COUNTER] is held[COUNTER]:  # by the first join of these arms
            self.env[COUNTER] = node.outputs[-1]

    def _condition(self, no: Arm | None, yes: Arm | None, op: Op) -> Value:
        """What chooses, if it is the condition of the arms that are there."""
        mask = self.maker.get(self.get(op.one("Mask")))
        chosen = mask.inputs[0] if mask and mask.op == "cast" else None
        fits = chosen is not None and (not yes or chosen is yes.condition)
        if not fits or (no and chosen is not self.opposite.get(no.condition)):
            fail("select_input whose mask is not the condition of its two blocks", self.where)
        return chosen  # type: ignore[return-value]

    def _way(self, name: str, arm: Arm | None, held: Held, results: list[str]) -> Program:
        if arm:
            return self.region(name, arm.block, held, results)  # type: ignore[no-any-return]
        frame, inputs = self.inside(self.block, (), held)
        return frame.run(name, inputs, results)  # type: ignore[no-any-return]

    # --- while

    def loop(self, index: int, op: Op) -> None:
        block, reads = self.inner(op, "X")
        condition = op.one("Condition")
        written = dict.fromkeys([*op.outputs.get("Out", []), *block.writes])
        carried = {n: self.env[n] for n in written if n in self.env and n != condition}
        fixed = {n: v for n, v in reads.items() if n not in carried and n != condition}
        carried[condition] = self.get(condition)
        starts = dict(carried)  # what stands for them at the begin of a trip
        for _ in range(_ROUNDS):
            held = {**starts, **fixed}
            frame, inputs = self.inside(block, block.ops, held)
            frame.lost |= carried.keys() - starts.keys()
            # which of them can be read in the end is known when the block has run: `run` asks then
            body = frame.run("body", inputs, (n for n in starts if not frame.is_lost(n)))
            changed = self._moved({n: v for n, v in starts.items() if not frame.is_lost(n)}, body)
            if changed.keys() == starts.keys() and all(changed[n] is starts[n] for n in starts):
                break
            starts = changed
        else:
            fail("a loop whose trips give what they carry other and other types", self.where)
        test = self.test(held, condition)
        agree(body.outputs, list(starts.values()))
        given = [*(carried[n] for n in starts), *fixed.values()]
        finds = tuple(self.recorder.new_extent() for _ in control.moving([v.type for v in given], body, len(starts)))
        attrs = {"test": test, "body": body, "carries": len(starts)} | ({"finds": finds} if finds else {})
        node = self.emit("while_loop", given, attrs)
        for name in carried.keys() - starts.keys():
            self.lose(name)  # one thing before the loop and another behind it
        self.env.update(zip(starts, node.outputs, strict=True))

    def lose(self, name: str) -> None:
        self.lost.add(name)
        self.env.pop(name, None)

    def is_lost(self, name: str) -> bool:
        return name in self.lost and name not in self.env

    def _moved(self, starts: Held, body: Program) -> dict[str, Value]:
        """What stands for variables of a loop that trips give other extents, named anew; without those that become another
        kind of thing: a name of Python's that only the body uses."""
        found = {}
        for (name, start), end in zip(starts.items(), body.outputs, strict=True):
            have, want = start.type, end.type
            if have.dtype is not want.dtype or len(have.shape) != len(want.shape):
                continue
            dims = [self._moving(d, e) for d, e in zip(have.shape, want.shape, strict=True)]
            found[name] = start if tuple(dims) == have.shape else Value(Type(have.dtype, tuple(dims)))
        return found

    def _moving(self, before: Dim, after: Dim) -> Dim:
        """An extent at the begin of each trip: that of the first one, if trips do not change it."""
        fed = _is_fed(before) and _is_fed(after)
        moves = isinstance(before, str) and before in self.moving
        if before == after or fed or moves:
            return before
        name = self.recorder.new_extent()
        self.moving.add(name)
        return name

    def test(self, held: Held, condition: str) -> Program:
        """The test of a loop: its condition is one of what it carries."""
        frame, inputs = self.inside(self.block, (), held)
        frame.env[condition] = frame.truth(frame.env[condition])
        return frame.run("test", inputs, [condition])  # type: ignore[no-any-return]


def agree(have: Sequence[Value], want: Sequence[Value]) -> None:
    """What leaves by either way has the same extents where both were fed: Paddle's -1 does not say which are equal."""
    for a, b in zip(have, want, strict=True):
        for d, e in zip(a.type.shape, b.type.shape, strict=False):
            if d != e and _is_fed(d) and _is_fed(e):
                raise SameExtent(d, e)


def _is_fed(dim: Dim) -> bool:
    return isinstance(dim, str) and dim[:1] == "n" and dim[1:].isdigit()
