"""A call of a Graph on the tape: one node, and the backward halves that sweeps run there.

In: a way of running a Graph (`way.Way`), the arrays of a call, what its forward half kept. Out: totals of the call's inputs.

>>> double = d2s.to_static(lambda x: x * 2.0)
>>> y = double(d2s.to_tensor([3.0], stop_gradient=False))
>>> isinstance(y.node, GraphNode)
True
"""

import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np

from d2s import passes
from d2s.autodiff import reads, tape, writes
from d2s.autodiff.linear import Linear
from d2s.autodiff.passed import Uses, has_regions
from d2s.config import knob, unusual
from d2s.eager.handler import refuse_changed
from d2s.eager.tensor import Tensor
from d2s.ir.program import Program, Value
from d2s.jit import listed
from d2s.jit.lying import Lying
from d2s.jit.opened import Opened
from d2s.once import once
from d2s.ops.dispatch import handlers
from d2s.passes import drop_dead
from d2s.runtime import host
from d2s.runtime.call import Call
from d2s.runtime.native_call import Entry

Place = tuple[bool, int]  # an input of a half?, its number there, or that of an output
Mask = tuple[int, ...]  # bools; of a list among the results, 2 stands for some of its items
Sweeping = tuple[frozenset[int], Mask]  # from which results, towards which inputs


class Sweep:
    """A backward half and where a call kept what it reads; called natively from the third time on, where that can be."""

    def __init__(self, linear: Linear, backward: Call, kept: Sequence[Place] | None) -> None:
        self.linear, self._backward, self.kept = linear, backward, kept
        self._entry: Entry | None = None
        self._asked, self._times = False, 0

    @once
    def missed(self) -> Program:
        """What computes of a call's inputs once more what the backward half reads besides them."""
        forward = self.linear.forward
        outputs = tuple(forward.outputs[n] for is_input, n in self.linear.saved if not is_input)
        return drop_dead.apply(Program(forward.name, forward.inputs, forward.nodes, outputs))

    @once
    def computing(self) -> Call:
        """The same, to be called."""
        return Call(self.missed, passes.lower)

    def __call__(self, inputs: Sequence[Any]) -> Sequence[Tensor]:
        """The backward half on saved arrays - Python floats as they are - and tensors."""
        if self._entry and not unusual:
            found = self._entry.call(tuple(inputs))
            if found is not None:
                return (found,) if isinstance(found, Tensor) else found  # type: ignore[no-any-return]
            self._entry.declined()
        results = self._backward([x.array if isinstance(x, Tensor) else _array(x) for x in inputs])
        self._times += 1
        if self._times >= 2 and not self._asked:  # threads that count at once may leave a number out
            self._asked = True
            self._entry = self._backward.entry(handlers.base.classes, [type(x) for x in inputs])
        return [Tensor(a) for a in results]


class GraphNode(tape.TapeNode):
    """A call of a Graph on the tape: inputs as they were, and what its forward half kept for the backward one.

    Native calls make such nodes, too (`runtime/native_call.py`).
    """

    __slots__ = ("arrays", "before", "executor", "found", "opened", "results", "sweeping", "swept", "way", "written")

    def __init__(self, way: Any, edges: Sequence[tape.Edge], arrays: Sequence[Any], results: Sequence[Any]) -> None:
        super().__init__(edges)
        self.way, self.arrays, self.results = way, arrays, results  # arrays: of a Python float it may be itself
        self.swept: tuple[Sweeping, ...] = ()
        self.executor = knob("EXECUTOR")
        self.before: Sequence[np.ndarray] = ()  # what was in memory that the call changes, as far as it may be read again
        self.written: Sequence[int] = ()  # how often each input that the call changes was when it had ended, if that matters
        self.found: Sequence[Any] = ()  # what Python's steps found in the forward half
        self.opened: Callable[[int], tape.Edge] | None = None

    def keep(self) -> None:
        """Before a call changes its inputs: keeps of what they hold what may be read again, and which it will change."""
        self.before = [self.arrays[n].copy() for n in self.way.kept]
        if has_regions(self.way.graph.program):  # they hand on what went in, on some paths
            changing = {id(self.arrays[n]) for n in self.way.graph.in_place}
            self.results = [a.copy() if id(a) in changing else a for a in self.results]
        if self.way.needs_memory:
            graph = self.way.graph
            self.written = [writes.count(self.arrays[n]) + graph.moves(m, self.results) for n, m in graph.in_place.items()]

    def taped(self, n: int, found: Any, reached: Any) -> Any:
        """Result number n as a tensor; a list of results as tensors of their own."""
        if isinstance(found, tuple):
            each = reached if isinstance(reached, tuple) else itertools.repeat(reached)
            numbers = (listed.number(n, k, len(self.way.given)) for k in itertools.count())
            return [self.taped(number, a, has) for number, a, has in zip(numbers, found, each, strict=False)]
        return Tensor(found, not reached, tape.result(self, n) if reached else None)

    @property
    def _name(self) -> str:
        return f"'{self.way.graph.program.name}'"

    def blamed(self) -> tuple[str, str]:
        return self._name, ""

    def looked_into(self, positions: Collection[int], connected: bool = False) -> bool:
        """Whether results are passed by a sweep from another, one comes before another, or the sweep is connected."""
        return connected or len(positions) > 1 or any(map(self.way.is_passed, positions))

    def leading(self, edges: Sequence[bool]) -> Iterable[int] | None:
        if self.released:
            return None
        found = self.way.leading(tuple(edges)) if any(edges) else ()
        if found is None or not self.swept:
            return found
        return {*found, *(number for numbers, _ in self.swept for number in numbers), *self.way.shut(self.swept)}

    def open(self) -> None:
        """Puts what eager code would have put on the tape there; what was passed by a sweep before is freed."""
        graph, program = self.way.graph, self.way.graph.opened
        if writes.after(self.order):
            program = self.way.opened
            self._check(program, self._arrays())
        changes = graph.changes, self._lying()
        found = self._again(lambda: Opened(program, self._arrays(), self.edges, self.order, graph.stopped, *changes))
        for numbers, wanted in self.swept:
            found.free(self._places(numbers), [edge for edge, w in zip(self.edges, wanted, strict=True) if w])
        self.opened = lambda position: found.result(*self._place(position))
        for position, held in (self.hooks or {}).items():
            tape.hand_on(held, tape.now(tape.result(self, position)))
        self.arrays = self.results = self.edges = ()
        self.before = ()

    @property
    def reorders(self) -> bool:  # type: ignore[override]
        return self.way.reorders or self._needs_lost

    @property
    def leads_by_path(self) -> bool:  # type: ignore[override]
        return has_regions(self.way.graph.program)

    @property
    def _needs_lost(self) -> bool:
        """Whether a gradient may need what others have written over since, in memory that the call changed."""
        asked = self.way.needs_memory and not self.released and not self.opened
        return asked and any(lying.is_lost for lying in self._changed().values())

    def has_order_of_its_own(self, positions: Collection[int], totals: tape.Totals) -> bool:
        started = tuple([edge is not None and totals.get(edge) is not None for edge in self.edges])
        given = frozenset(n % len(self.way.given) for n in positions)
        found = self.way.needs_changed or self._needs_lost or self.way.has_order_of_its_own(started, given)
        if found:
            self.way.graph.leave(self.way.wanted)
        return found

    def is_freed(self, positions: Collection[int], totals: tape.Totals) -> bool:
        self.sweeping = frozenset(positions), tuple([totals.wants(edge) for edge in self.edges])
        return self.released or bool(self.swept and self._meets(self.sweeping))

    def pull(self, cotangents: dict[int, Any], totals: tape.Totals) -> None:
        results = len(self.way.given)
        found = listed.of_results(cotangents, results) if self.way.graph.lists else cotangents
        given = tuple([listed.how_far(found[n], self.results[n]) if n in found else False for n in range(results)])
        so_far = [None if edge is None else totals.get(edge) for edge in self.edges]
        started = tuple([t is not None for t in so_far])
        behind = [t for t in so_far if t is not None]
        sweep = self.way.sweep(given, started)
        linear = sweep.linear
        if linear.refused:
            for refusal in self.way.graph.halves(self.sweeping[1], given, started)[0].refused:
                raise refusal
        saved = self._saved(sweep)
        if writes.after(self.order):
            self._check(linear.backward, saved)
        gs = [a for n in sorted(found) if n in linear.reached for a in listed.arrays(found[n], self.results[n])]
        self._put(linear, sweep([*saved, *gs, *behind]), totals)

    def _saved(self, sweep: Sweep) -> list[Any]:
        """What a backward half reads of the call, as it was kept or, where it was not, computed once more."""
        if sweep.kept is not None and self.executor == knob("EXECUTOR"):  # stacks of one executor are nothing to another
            arrays = self._entered()
            return [(arrays if is_input else self.results)[n] for is_input, n in sweep.kept]
        if writes.after(self.order):
            self._check(sweep.missed, self._arrays())
        computed = iter(self._again(lambda: sweep.computing(self._arrays())))
        arrays = self._entered()
        return [arrays[n] if is_input else next(computed) for is_input, n in sweep.linear.saved]

    def _changed(self) -> dict[int, Lying]:
        """The memory that the call has changed, by input."""
        places = self.way.graph.in_place
        written = self.written or [0] * len(places)  # then no gradient reads it
        return {n: Lying(self.arrays[n], times) for n, times in zip(places, written, strict=True)}

    def _lying(self) -> dict[Value, Lying]:
        """What of a run lies in memory that others know."""
        graph, changed, given = self.way.graph, self._changed(), set(map(id, self.arrays))
        made = [(v, a) for v, a in zip(graph.opened.outputs, self.results, strict=False) if id(a) not in given]
        found = {v: Lying(a, 0) for v, a in made if isinstance(a, np.ndarray)}
        found |= {graph.opened.outputs[m]: changed[n] for n, m in graph.in_place.items()}
        return found | {graph.opened.inputs[n]: lying for n, lying in changed.items()}

    def _put(self, linear: Linear, results: Sequence[Tensor], totals: tape.Totals) -> None:
        for n, total, flag in linear.totals:
            if flag < 0 or results[flag].item():
                totals.put(self.edges[n], results[total])

    def _arrays(self) -> list[Any]:
        return [_array(a) for a in self._entered()]

    def _entered(self) -> Sequence[Any]:
        """The inputs as the call found them, Python floats as they are."""
        if not self.before:
            return self.arrays
        found = [*self.arrays]
        for n, values in zip(self.way.kept, self.before, strict=True):
            found[n] = values
        return found

    def _again(self, run: Callable[[], Any]) -> Any:
        """A forward half once more, for a sweep that was not foreseen: what Python did before it does not do again."""
        with host.replaying(self.found):
            return run()

    def _check(self, program: Program, arrays: Sequence[Any]) -> None:
        """Refuses to run a half that reads values changed since the call."""
        read = reads.of_program(program)
        for value, array in zip(program.inputs, arrays, strict=False):
            if value in read and isinstance(array, np.ndarray):
                refuse_changed(array, self.order, self._name, functools.partial(self._line_reading, program, value))

    def _line_reading(self, program: Program, value: Value) -> str:
        return next((node.where for node in program.nodes if value in node.inputs and node.where), self.line)

    def _meets(self, sweeping: Sweeping) -> bool:
        """Whether what one before it has passed, and so freed, lies behind the results of a sweep."""
        way, before = self.way, [numbers for numbers, _ in self.swept]
        if any(not numbers.isdisjoint(sweeping[0]) for numbers in before):
            return True
        passed = way.may_pass(sweeping[0], way.wanted)
        if all(passed.isdisjoint(way.may_pass(*sweep)) for sweep in self.swept):
            return False
        if not has_regions(way.graph.program):
            return True
        uses, stopped = self._again(lambda: Uses(way.graph.program, self._arrays())), way.graph.stopped
        now = uses.passed(self._places(sweeping[0]), way.wanted, stopped)
        return any(not now.isdisjoint(uses.passed(self._places(numbers), wanted, stopped)) for numbers, wanted in self.swept)

    def _places(self, numbers: Iterable[int]) -> list[tuple[int, int]]:
        """Results by number as their places, of an item of a list with its own."""
        return list(map(self._place, numbers))

    def _place(self, number: int) -> tuple[int, int]:
        k, n = divmod(number, len(self.way.given))
        return n, max(k - 1, 0)

    def release(self) -> None:
        """Frees the buffers once no sweep may come here any more: eagerly, what results share is freed by the first."""
        self.swept = (*self.swept, self.sweeping)
        swept = {number for numbers, _ in self.swept for number in numbers}
        left = listed.numbers({n for n, has in enumerate(self.way.reached) if has}, self.results, len(self.way.given)) - swept
        if not left or left <= self.way.shut(self.swept):
            super().release()
            self.results, self.arrays, self.before = (), (), ()


def _array(value: Any) -> Any:
    """A Python number as an array."""
    return np.array(value) if type(value) in (float, int, bool) else value
