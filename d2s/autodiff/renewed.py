"""What depends on values that a tensor got without history, by `set_value()` or under `no_grad()`, where it wants a gradient.

In: a Program, its changes in place, the values where gradients begin to be wanted. Out: values. Eager code knows no values: the
gradient of what reads them goes to where it went before.

>>> from d2s.ir.text import parse
>>> program = parse(
...     "program f(x: f32[2], y: f32[2]) -> (f32[2]) { "
...     "%0: f32[2] = tanh(x) %1: f32[2] = detached(y) %2: f32[2] = tanh(%1) return %2 }"
... )
>>> before, by, made = (node.outputs[0] for node in program.nodes)
>>> of_renewed(program, {by: (before, "line 2")}, {program.inputs[0]}) == {by, made}
True
"""

from collections.abc import Collection, Sequence, Set

from d2s.autodiff.active import active_values, wanted_inputs
from d2s.autodiff.changed import Changes
from d2s.autodiff.mode import recording
from d2s.ir.program import Program, Value


def of_renewed(program: Program, changes: Changes, begun: Collection[Value], stopped: Collection[Value] = ()) -> set[Value]:
    """The values that tensors got so which depend on those begun with, and what is made of them."""
    found = renewed(program, changes, begun, stopped)
    return active_values(program, found, stopped) if found else found


def renewed(program: Program, changes: Changes, begun: Collection[Value], stopped: Collection[Value] = ()) -> set[Value]:
    """The values alone."""
    passed, found = active_values(program, begun, stopped) if changes else set(), set[Value]()
    while more := {
        by
        for by, (before, _) in changes.items()
        if (before in passed or before in found) and by not in passed and by not in found and by.type.is_float
    }:
        found |= more
        passed |= active_values(program, passed | more, stopped)  # into the arms, where they may be changed once more
    return found


class Leaning:
    """The values of a Program that want a gradient while it runs, by which inputs do, whatever becomes of them later.

    Leaves are leaves still with other values, and behind a step of an optimizer; `made` are those of its own.
    """

    def __init__(self, program: Program, changes: Changes, made: Collection[Value], stopped: Collection[Value]) -> None:
        self._program, self._made, self._stopped = program, made, stopped
        self._renewed = [(node.inputs[0], node.outputs[0]) for node in program.every_node() if node.op == "update"]
        self._renewed += [(before, by) for by, (before, _) in changes.items()]
        self._found: dict[tuple[tuple[int, ...], bool], Set[Value]] = {}

    def __call__(self, wanted: tuple[int, ...]) -> Set[Value]:
        key = wanted, recording()
        if key not in self._found:
            begun = self.begun(wanted)
            self._found[key] = active_values(self._program, begun, self._stopped) if recording() else begun
        return self._found[key]

    def begun(self, wanted: Sequence[int]) -> set[Value]:
        """What does so whatever it is made of."""
        found = wanted_inputs(self._program, wanted).union(self._made)
        while more := {by for before, by in self._renewed if before in found}.difference(found):
            found |= more
        return found
