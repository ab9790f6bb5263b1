"""What becomes of the histories of a function's results, where it takes gradients or makes steps itself.

In: what was done in a capture (`Training`), and its Program. Out: `History`: which results a sweep from outside may begin at.

>>> from d2s.capture.symbolic import Tracer
>>> from d2s.ops.dispatch import handling
>>> w = d2s.to_tensor([3.0], stop_gradient=False)
>>> tracer = Tracer("f")
>>> with handling(tracer):
...     here = Training(tracer)
...     y = tracer.lift(w) * 2.0
...     found = here.sweep([(y.value, y.value)], set(tracer.builder.inputs), False, False)
>>> history_of(here, tracer.builder.finish([y.value])).used_up
(0,)
"""

from collections.abc import Collection
from typing import NamedTuple

from d2s.autodiff.active import active_values
from d2s.autodiff.handed import leading
from d2s.autodiff.identity import every_tensor
from d2s.autodiff.mode import recording
from d2s.autodiff.names import Names
from d2s.capture.spent import surely_spent
from d2s.capture.sweeps import Training
from d2s.ir.program import Program, Value


class History(NamedTuple):
    """What eagerly became of the histories of results, where a function takes gradients."""

    used_up: tuple[int, ...]  # results with a history through what a sweep may have freed, or a step changed
    inside: tuple[int, ...]  # results whose history ends at tensors computed inside
    leaves: tuple[int, ...]  # results that are such tensors
    eager: bool  # whether eager code alone knows one: not surely used up, or a leaf that leaves with a gradient or by the path
    made: frozenset[Value]  # all leaves that were made inside
    stopped: frozenset[Value]  # gradients without a history
    lives: bool  # whether any result has a history that is not used up
    watched: bool  # whether hooks that were registered inside see the gradients of later sweeps, or a result keeps its own


def history_of(here: Training, program: Program) -> History | None:
    """What eagerly becomes of the results' histories. None where nothing was done to any."""
    if not here.acts:
        return None
    active = active_values(program, here.leaves(), here.stopped)
    outside = active_values(program, set(here.leaves()).difference(here.opened), here.stopped)
    spent = set(here.freed)
    for node in program.nodes:
        if not spent.isdisjoint(leading(node)):
            spent |= active.intersection(node.outputs)
    made_here = here.opened.keys() - here.outside.keys()
    values_alone = {now for v, now in here.leaves().items() if now is not v and v not in made_here}  # written into leaves
    learnt = [n for n, v in enumerate(program.outputs) if v in active and v not in values_alone]
    surely = surely_spent(program.nodes, set(here.surely_freed), active)
    used_up = [n for n in learnt if here.stepped or program.outputs[n] in spent]
    lost = {program.outputs[n] for n in used_up} if recording() else active
    leaves = [n for n in learnt if _is_alone(here, program, program.outputs[n], lost)]
    outlives = any(program.outputs[n] not in surely for n in used_up)
    shows = not _may_be(program, set(here.opened)).issubset(program.outputs[n] for n in leaves)
    seen = active_values(program, here.watched, here.stopped).difference(surely)
    watched = bool(_may_be(program, set(here.keeping.values()))) or any(program.outputs[n] in seen for n in learnt)
    inside = [n for n in learnt if n not in (*used_up, *leaves) and program.outputs[n] not in outside]
    lives = len({*used_up, *inside, *leaves}) < len(learnt)
    made, stopped = frozenset(here.opened), frozenset(here.stopped)
    renewed = active_values(program, _set_anew(here), here.stopped).difference(surely)
    raises = not active.isdisjoint(_left_by_raises(program).difference(values_alone))
    eager = recording() and (outlives or shows or raises or watched or any(program.outputs[n] in renewed for n in learnt))
    return History(tuple(used_up), tuple(inside), tuple(leaves), eager, made, stopped, lives, watched)


def _set_anew(here: Training) -> set[Value]:
    """What leaves have got by `set_value()`: their values, by which no sweep from outside knows them."""
    anew = {latest for value, latest in here.leaves().items() if latest is not value and latest not in here.stepped}
    return anew.union(here.outside)  # a call knows what wants a gradient when it begins


def _may_be(program: Program, some: set[Value]) -> set[Value]:
    """The results that are one of some values that were made here, on some path at least."""
    results, there = set(program.outputs), every_tensor(program)
    if not some or not any(node.regions() for node in program.nodes):
        return results & some
    names = Names(program, there)
    return {v for v in results & there if any(names.one(v, one) for one in there & some)}


def _is_alone(here: Training, program: Program, value: Value, lost: Collection[Value]) -> bool:
    """Whether a result is a leaf that was made here, to which no gradient has gone, nor would from another result."""
    if value not in here.opened or value in here.outside:
        return False
    if ("grad", value) in here.tracer.heap.places and here.place(value).held() is not None:
        return False
    behind = active_values(program, {value}, here.stopped)
    return not any(v in behind and v is not value and v not in lost for v in program.outputs)


def _left_by_raises(program: Program) -> set[Value]:
    """What runs that raise have stored by then."""
    return {v for node in program.every_node() if node.op == "fail" for v in node.inputs}
