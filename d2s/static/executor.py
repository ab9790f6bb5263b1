"""`Executor`: runs declared programs. Forward, gradients and the steps of optimizers are one native call.

In: a program, a value for each of its feeds, what to fetch. Out: arrays. What is made of a program for one choice of extents
is kept: a run with another batch size plans anew, and compiles nothing.

>>> d2s.enable_static()
>>> main = d2s.static.Program()
>>> with d2s.static.program_guard(main):
...     x = d2s.static.data("x", [None, 2])
...     y = x * 2.0
>>> Executor().run(main, feed={"x": np.ones((1, 2), "float32")}, fetch_list=[y])
[array([[2., 2.]], dtype=float32)]
>>> d2s.disable_static()
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from d2s import types
from d2s.arguments import expect
from d2s.autodiff import writes
from d2s.eager.tensor import Tensor
from d2s.errors import DTypeError, ShapeError, brief
from d2s.ir.program import Program as Graph
from d2s.ir.program import Value
from d2s.place import CPUPlace, usable
from d2s.runtime import random_state
from d2s.runtime.random_state import RandomState, get_rng_state, set_rng_state
from d2s.static.host import Segment, segments
from d2s.static.program import Program, default_main_program, eagerly
from d2s.static.recording import Recording
from d2s.static.replay import Replay
from d2s.static.scope import Scope, global_scope
from d2s.static.steps import Steps, form, in_graph
from d2s.static.variable import Drawn, Fed, Held, Step, Variable

KEPT = 64  # compiled forms of one program; the one used longest ago goes first
Fetch = Value | Tensor


class CompiledProgram:
    """A program for an Executor; kept for scripts that ask for it, since every program is compiled.

    >>> CompiledProgram(Program()).with_data_parallel().program.random_seed
    0
    """

    def __init__(self, program_or_graph: Program, build_strategy: Any = None) -> None:
        expect("CompiledProgram", "program_or_graph", program_or_graph, Program, "a Program")
        self.program = program_or_graph

    def with_data_parallel(self, *_: Any, **__: Any) -> "CompiledProgram":
        return self


class Compiled:
    """A program for one choice of extents and of what is fetched."""

    def __init__(self, recording: Recording, fetched: Sequence[Value], shapes: Mapping[str, Any]) -> None:
        replay = Replay(recording, shapes)
        self.recording, self.fetched = recording, [replay.value(v) for v in fetched]
        tested = recording.tested
        self.assigned = [] if tested else [(t, replay.value(v)) for t, v in recording.assigned]
        alone = not all(in_graph(step.optimizer) for step in recording.steps)
        self.native = Steps(replay, [] if alone else recording.steps)
        self.steps = [(s, [(t, replay.value(g.value), replay.present.get(g.value)) for t, g in s.gradients if
                           g.value not in replay.absent]) for s in recording.steps if alone]  # fmt: skip
        self.counter = None if recording.counter is None or tested else replay.value(recording.counter.value)
        wanted = list(dict.fromkeys(self._wanted()))
        used = _drop_dead(Graph("main", tuple(replay.builder.inputs), tuple(replay.builder.nodes), tuple(wanted)))
        self.roles = {v: role for d, role in recording.roles.items() if (v := replay.values.get(d)) in used.inputs}
        self.segments: list[Segment] = segments(used)
        self.wanted = wanted

    def _wanted(self) -> Iterator[Value]:
        yield from self.fetched
        yield from [] if self.counter is None else [self.counter]
        yield from (v for _, v in self.assigned)
        yield from self.native.wanted()
        for _, gradients in self.steps:
            for _, gradient, present in gradients:
                yield gradient
                yield from [] if present is None else [present]

    def __call__(self, feed: Mapping[str, np.ndarray], scope: Scope) -> list[np.ndarray]:
        if not any(isinstance(role, Drawn) for role in self.roles.values()):
            return self._run(feed, scope, ())
        with random_state.held() as state:
            return self._run(feed, scope, state)

    def _run(self, feed: Mapping[str, np.ndarray], scope: Scope, state: Sequence[int]) -> list[np.ndarray]:
        held: dict[Value, Any] = {v: self._read(role, feed, scope, state) for v, role in self.roles.items()}
        taken = self.native.begin(scope)
        self.native.tell(held, taken)
        for segment in self.segments:
            segment(held)
        self.native.done(held, taken)
        self._write(held, scope)
        for follow in self.recording.followers:
            follow(scope)
        return [held[v] for v in self.fetched]

    def _read(self, role: Fed | Held | Drawn, feed: Mapping[str, np.ndarray], scope: Scope, state: Sequence[int]) -> np.ndarray:
        if isinstance(role, Fed):
            return feed[role.name]
        if isinstance(role, Held):
            return scope.now(role.tensor).array
        return np.array(state[role.part], np.int64)

    def _write(self, held: dict[Value, Any], scope: Scope) -> None:
        if self.counter is not None:
            random_state.move_to(int(held[self.counter]))
        for tensor, value in self.assigned:
            now = scope.now(tensor)
            np.copyto(now.array, held[value])
            writes.noted(now.array)
        for step, gradients in self.steps:
            there = [
                (scope.now(t), held[g])
                for t, g, present in gradients
                if present is None or _learns(step, t, held[g], bool(held[present]), scope)
            ]
            _take(step, there, scope)


def _learns(step: Step, tensor: Tensor, gradient: np.ndarray, present: bool, scope: Scope) -> bool:
    """Whether a step changes a parameter that the path of a run may not use: only if one did before, by a gradient of 0.

    So it is in a loop of eager code, where `clear_grad()` leaves zeros.
    """
    key = id(step), id(tensor)
    if present:
        scope.learnt.add(key)
    else:
        gradient[...] = 0
    return key in scope.learnt


def _take(step: Step, gradients: Sequence[tuple[Tensor, np.ndarray]], scope: Scope) -> None:
    """A step of an optimizer; gradients that eager code has left on its parameters stay theirs."""
    before = [(t, t._grad) for t, _ in step.gradients]
    optimizer = scope.optimizer(step.optimizer)
    before += [(p, p._grad) for p in optimizer._parameter_list]
    for tensor, _ in before:
        tensor._grad = None
    for tensor, gradient in gradients:
        tensor._grad = Tensor(gradient)
    try:
        optimizer.step()
    finally:
        for tensor, kept in before:
            tensor._grad = kept


def _drop_dead(graph: Graph) -> Graph:
    """Without what nothing reads, inputs included; host calls stay, and what they read."""
    alive = {*graph.outputs, *(v for node in graph.nodes if node.op == "host" for v in node.outputs)}
    nodes = []
    for node in reversed(graph.nodes):
        if node.op in ("host", "fail", "update") or not alive.isdisjoint(node.outputs):
            alive.update(node.inputs)
            nodes.append(node)
    return Graph(graph.name, tuple(v for v in graph.inputs if v in alive), tuple(reversed(nodes)), graph.outputs)


class Executor:
    """Runs programs.

    >>> Executor(d2s.CPUPlace()).run(d2s.static.Program())
    []
    """

    def __init__(self, place: Any = None) -> None:
        self.place = usable(place, "Executor") if place is not None else CPUPlace()

    def run(
        self,
        program: Any = None,
        feed: Any = None,
        fetch_list: Any = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = False,
        use_prune: bool = False,
    ) -> list[Any]:
        """Gives a program values for its feeds, runs it, and returns what is fetched."""
        held = program.program if isinstance(program, CompiledProgram) else program
        held = default_main_program() if held is None else held
        expect("Executor.run", "program", held, Program, "a Program")
        expect("Executor.run", "scope", scope, Scope | None, "a Scope")
        with eagerly():
            results = _run(held, _merged(feed), _listed(fetch_list), scope or global_scope())
        return [t.numpy() if return_numpy else t for t in results]

    def close(self) -> None:
        """Nothing is held."""


def _merged(feed: Any) -> dict[str, Any]:
    if isinstance(feed, list | tuple) and len(feed) == 1:
        feed = feed[0]
    expect("Executor.run", "feed", feed, dict | None, "a dict")
    return feed or {}


def _listed(fetch_list: Any) -> list[Any]:
    if fetch_list is None:
        return []
    given = list(fetch_list) if isinstance(fetch_list, list | tuple) else [fetch_list]
    return [one for part in given for one in (part if isinstance(part, list | tuple) else [part])]


def _run(program: Program, feed: dict[str, Any], fetch_list: list[Any], scope: Scope) -> list[Tensor]:
    _start(program, scope)
    fetched = [_fetched(program, one) for one in fetch_list]
    values = [v for v in fetched if isinstance(v, Value)]
    results: Iterator[np.ndarray] = iter(())
    if program.recording.builder.nodes or values:
        results = iter(_computed(program, feed, values, scope))
    return [
        Tensor(np.array(next(results))) if isinstance(one, Value) else Tensor(scope.now(one).array.copy()) for one in fetched
    ]


def _computed(program: Program, feed: dict[str, Any], values: list[Value], scope: Scope) -> list[np.ndarray]:
    recording = program.recording
    arrays = {name: _fed(recording, name, value) for name, value in feed.items() if name in program.feeds()}
    shapes = {name: array.shape for name, array in arrays.items()}
    key = program.version, tuple(sorted(shapes.items())), tuple(values), form(recording)
    compiled = program.compiled.pop(key, None) or Compiled(recording, values, shapes)
    while len(program.compiled) >= KEPT:
        del program.compiled[next(iter(program.compiled))]
    program.compiled[key] = compiled
    with _seeded(program):
        return compiled(arrays, scope)


def _start(program: Program, scope: Scope) -> None:
    """Gives parameters their first values, in the order in which they were declared."""
    with _seeded(program):
        for tensor, initializer in program.starts:
            initializer(scope.started(tensor))


class _seeded:
    """A program with a seed of its own draws from that, and leaves the stream of the process as it was."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def __enter__(self) -> None:
        self.before = get_rng_state()
        if self.program.random_seed:
            set_rng_state(self.program.notes.get("stream") or RandomState(self.program.random_seed))

    def __exit__(self, *_: Any) -> None:
        if self.program.random_seed:
            if not self.program.starts:
                self.program.notes["stream"] = get_rng_state()
            set_rng_state(self.before)


def _fetched(program: Program, one: Any) -> Fetch:
    found = program.named(one) if isinstance(one, str) else one
    if isinstance(found, Variable):
        role = program.recording.roles.get(found.value)
        return role.tensor if isinstance(role, Held) else found.value
    if isinstance(found, Tensor):
        return found
    raise DTypeError("D2S0001", f"Executor.run(): 'fetch_list' holds {brief(one)}, expected variables and names")


def _fed(recording: Recording, name: str, value: Any) -> np.ndarray:
    """A value for a feed, if it is of the dtype and shape that were declared."""
    of = recording.names[name].value.type
    array = value.array if isinstance(value, Tensor) else value
    if not isinstance(array, np.ndarray):
        try:
            array = np.array(array, of.dtype.numpy)
        except (TypeError, ValueError, OverflowError) as error:
            raise DTypeError("D2S0001", f"Executor.run(): '{name}' is fed {brief(value)}, no array: {error}") from None
    if types.dtype(array.dtype) is not of.dtype:
        message = f"Executor.run(): '{name}' is declared as {of.dtype.name}, and is fed {array.dtype}"
        raise DTypeError("D2S0003", message, hint=f"feed x.astype('{of.dtype.name}')")
    fits = len(array.shape) == len(of.shape) and all(
        isinstance(d, str) or d == n for d, n in zip(of.shape, array.shape, strict=True)
    )
    if not fits:
        raise ShapeError(
            "D2S0002",
            f"Executor.run(): '{name}' is declared as {recording.names[name]!r}, and is fed shape {list(array.shape)}",
        )
    return np.ascontiguousarray(array).reshape(array.shape)
