"""The reverse sweep of a `while_loop`: a `while_loop` that counts the trips down.

In: the scope around it, the node, the totals of that scope. Out: a recorded loop that carries the totals of what the body
changes and of what it only reads. Which of them may be absent at a trip's end is found by sweeping until nothing changes.

>>> LoopSweep.__name__
'LoopSweep'
"""

import dataclasses
from typing import Any

from d2s import types
from d2s.autodiff.chained import Chain
from d2s.autodiff.handed import Ways, alike, appended, interleaved
from d2s.autodiff.lists import flag_of
from d2s.autodiff.totals import Total, Totals, add, nothing, presence, told
from d2s.ir.program import Node, Value
from d2s.ops import OPS
from d2s.ops.dispatch import handling
from d2s.types import STACK, Type

TRIPS = Type(types.int64)


class LoopSweep:
    """One loop being swept. Body inputs are its keys: the carried ones and, after them, the fixed ones."""

    def __init__(self, outer: Any, node: Node, totals: Totals) -> None:
        self.outer, self.node, self.body = outer, node, node.attrs["body"]
        count = node.attrs["carries"]
        self.carried = dict(zip(self.body.inputs[:count], self.body.outputs, strict=True))
        self.outside = dict(zip(self.body.inputs, node.inputs, strict=True))
        self.fixed = {p: v for p, v in self.outside.items() if p not in self.carried}
        firsts = {v: p for p, v in reversed(self.fixed.items())}  # a value captured twice has one total
        self.moving = {p: self._open_axes(p) for p in self.carried if p.type != self.outside[p].type}  # what trips make longer
        self.start: Totals = {p: totals[v] for v, p in firsts.items() if v in totals and p in outer.active}
        self.after = dict(zip(self.carried, node.outputs, strict=True))
        self.start |= {p: totals.pop(out) for p, out in self.after.items() if out in totals}
        self.flagged = {p: self.start[p].present is not None for p in self.body.inputs if p in self.start}
        self.later = self._later(totals)
        self.trips = Value(TRIPS)

    def _open_axes(self, p: Value) -> list[int]:
        return [k for k, (d, first) in enumerate(zip(p.type.shape, self.outside[p].type.shape, strict=True)) if d != first]

    def _later(self, totals: Totals) -> Totals:
        """Totals that a carried value's first form has from behind the loop: the first trip, swept last, adds to them."""
        firsts = [self.outside[p] for p in self.carried]
        alone = {p for p in self.carried if firsts.count(self.outside[p]) == 1 and self.outside[p] not in self.fixed.values()}
        alone -= self.moving.keys()  # in other trips than the first, it is of other extents
        return {p: totals[self.outside[p]] for p in alone if self.outside[p] in totals and p in self.outer.active}

    def settled(self) -> bool:
        """Sweeps the body once; whether totals are as surely there at its end as they were assumed to be at its start."""
        self.scope = self.outer.inside(self.body, "body", self.fixed)
        self.recorder = self.scope.recorder
        self.scope.chain = self.chain = Chain(self) if self.recorder.connected else None
        self.left = self.recorder.input(TRIPS, "trips")
        self.stack = self.recorder.input(STACK, "residuals")
        self.inputs = {p: self._input(p, flagged) for p, flagged in self.flagged.items()}
        self.found: Totals = {p: total for p, total in self.inputs.items() if p in self.fixed}
        with handling(self.recorder):
            self.scope.split |= self._entered()
            self.found |= {p: self._at_first_trip(total) for p, total in self.later.items()}
            given = self._without_moved()
            for p, result in self.carried.items():
                if p in given and (result in self.scope.active or result.type.grows):
                    self.scope.give(self.found, result, Total(given[p].value, given[p].present))
            self.scope.sweep(self.found)
        keys = [p for p in self.body.inputs if p in self.flagged or (p in self.found and p in self.scope.active)]
        sure = {p for p in keys if self.flagged.get(p) is False and p in self.found and self.found[p].present is None}
        before, self.flagged = self.flagged, {p: p not in sure for p in keys}
        return before == self.flagged

    def _entered(self) -> dict[Value, tuple[Any, Ways]]:
        """Carried values that are in the first trip what the body reads under another name."""
        found = dict[Value, tuple[Any, Ways]]()
        for p in self.carried:
            first = self.outer.renamed.get(self.outside[p], self.outside[p])
            same = next((q for q, v in self.fixed.items() if v is first and alike(q.type, p.type)), None)
            plain = p.type.is_float and not p.type.grows and {p, same} <= self.scope.active
            if same and plain and interleaved(self.body, -1, p, same, self.body.inputs):
                found[p] = OPS["equal"](self.left, 1), [(True, same), (False, p)]
        return found

    def _without_moved(self) -> Totals:
        """The totals a trip begins with, but for what a list has for the value that the trip before put there: that value, as
        this trip knows it, begins with it, for what takes the list stands behind the loop."""
        given = {p: Total(total.value, total.present) for p, total in self.inputs.items()}
        for p, (items, _) in appended(self.node).items():
            total = given.get(items)
            if total is None or p not in self.scope.active:
                continue
            behind_first = OPS["greater_than"](self.left, 1)
            value, count = OPS["list_length"](total.value)
            place = OPS["where"](behind_first, count - 2, count - 1)
            value, g = OPS["list_get"](value, place)
            absent, present = nothing(g), behind_first
            total.value = OPS["list_set"](value, place, OPS["where"](behind_first, absent, g))
            if total.present is not None:
                flags, there = OPS["list_get"](total.present, place)
                total.present = OPS["list_set"](flags, place, OPS["where"](behind_first, False, there))
                present = OPS["where"](behind_first, there, False)
            add(self.found, p, Total(OPS["where"](behind_first, g, absent), present))
        return given

    def _input(self, p: Value, flagged: bool) -> Total:
        value = self.recorder.input(self._type_of_total(p), f"total_{p.name}")
        return Total(value, self.recorder.input(flag_of(p.type), f"has_{p.name}") if flagged else None)

    def _type_of_total(self, p: Value) -> Type:
        """That of a carried value, but a trip begins with extents that it does not end with."""
        if p not in self.moving:
            return p.type
        dims = enumerate(p.type.shape)
        return dataclasses.replace(
            p.type, shape=tuple(self.recorder.new_extent() if k in self.moving[p] else d for k, d in dims)
        )

    def _at_first_trip(self, total: Total) -> Total:
        first = OPS["equal"](self.left, 1)
        present = first if total.present is None else OPS["where"](first, total.present, False)
        return Total(OPS["where"](first, total.value, -0.0), present)

    def record(self, totals: Totals) -> None:
        """Writes the loop and takes over the totals it leaves."""
        outer = self.outer.recorder
        with handling(self.recorder):
            for p in self.flagged:
                if p.type.listed and p not in self.found:
                    self.found[p] = self.scope.absent(p)
            left = self.left - 1
            found = [s for p, flagged in self.flagged.items() for s in self._output(p, flagged)]
        if self.chain:
            self.chain.close()
        outputs = [left, self.scope.popped(self.stack), *found]  # what the totals read is popped, too
        outputs += self.chain.handed() if self.chain else []
        test = self.outer.recorder.region("test")
        own = [test.input(s.value.type, s.value.name) for s in self._own()]
        with handling(test):
            more = own[0] > 0
        firsts = self._firsts()
        reads, (test, body) = outer.adopt([test, self.recorder], [[more], outputs])
        results = outer.repeat([outer.resolve(s) for s in firsts], reads, test, body)
        self.outer.stack = results[1]
        self._hand_over(iter(results[2:]), totals)

    def _output(self, p: Value, flagged: bool) -> list[Any]:
        """A total as a trip leaves it; an absent one has the extents that the value had in front of the trip."""
        told([self.found[p]] if flagged and p in self.found else [])
        like = self.scope.need(p) if p in self.moving and p not in self.found else self.inputs[p].value
        value = self.found[p].value if p in self.found else nothing(like)
        return [value, presence(self.found.get(p))] if flagged else [value]

    def _own(self) -> list[Any]:
        """What the loop carries: trips left, residuals, and each total with its bool."""
        pairs = [s for total in self.inputs.values() for s in (total.value, total.present) if s is not None]
        return [self.left, self.stack, *pairs, *(self.chain.left.values() if self.chain else ())]

    def _firsts(self) -> list[Any]:
        firsts = [self.outer.need(self.trips), self.outer.stack]
        for p, flagged in self.flagged.items():
            told([self.start[p]] if flagged and p in self.start else [])
            like = self.after[p] if p in self.moving else self.outside[p]
            firsts.append(self.start[p].value if p in self.start else nothing(self.outer.need(like)))
            firsts += [presence(self.start.get(p))] if flagged else []
        return firsts + (self.chain.begun() if self.chain else [])

    def _hand_over(self, results: Any, totals: Totals) -> None:
        left = {p: Total(next(results), next(results) if flagged else None) for p, flagged in self.flagged.items()}
        for p in self.fixed:
            if p in left and p in self.start:
                totals[self.outside[p]] = left[p]
        for p in self.fixed:
            if p in left and p not in self.start:
                add(totals, self.outside[p], left[p])
        for p in self.carried:
            if p in left and p in self.later:
                self._without_trips(p, left[p], totals)
            elif p in left and (self.outside[p] in self.outer.active or p.type.grows):
                add(totals, self.outside[p], left[p])

    def _without_trips(self, p: Value, left: Total, totals: Totals) -> None:
        """Where the loop made no trip, what was there from behind it has not been added yet."""
        value = self.outside[p]
        arms: list[Any] = []
        for name in ("then", "otherwise"):
            recorder = self.outer.recorder.region(name)
            inside = {value: totals[value] if name == "then" else left}
            with handling(recorder):
                if name == "then":
                    add(inside, value, left)
            arms.append((recorder, inside, []))
        none = OPS["equal"](self.outer.need(self.trips), 0)
        self.outer.join(none, arms, [value], totals)
