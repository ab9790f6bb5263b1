"""Gradients of gradients: what is known of the cotangents of values on a stack.

A value is pushed at one place of a Program and popped at one other, which have a number in common, its *slot*. The reverse
sweep comes to all pops before it comes to the pushes: then it is known of each slot whether what was popped has a cotangent -
which stands on a stack of cotangents - always, never, or with a bool behind it that says so.

>>> from d2s.ir.text import parse
>>> slots = Slots(parse("program f(x: f32[2]) -> (f32[2]) { return x }"))
>>> slots.next(), slots.next()
(0, 1)
"""

from d2s.autodiff.totals import Total
from d2s.ir.program import Node, Program


class Slots:
    """Of one Program being swept: numbers for the slots it gets, and what is known of those it has."""

    def __init__(self, program: Program) -> None:
        known = [node.attrs.get("slot", -1) for node in program.every_node() if node.op in ("push", "pop")]
        self._next = max(known, default=-1) + 1
        self._cotangents: dict[int, tuple[int, ...]] = {}

    def next(self) -> int:
        """The number of a new slot."""
        self._next += 1
        return self._next - 1

    def told(self, pop: Node, g: Total | None) -> tuple[int, ...]:
        """Notes what cotangent a value has that was popped; a loop's body is swept again until that no longer changes.

        Returns the slots that the cotangent goes into, and the bool that says whether it is there.
        """
        count = 0 if g is None else 1 if g.present is None else 2
        self._cotangents[pop.attrs["slot"]] = tuple(self.next() for _ in range(count))
        return self._cotangents[pop.attrs["slot"]]

    def of_cotangent(self, push: Node) -> tuple[int, ...]:
        """The slots of the cotangent of what is pushed; none if it has none."""
        return self._cotangents.get(push.attrs["slot"], ())
