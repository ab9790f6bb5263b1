"""Eager and static side by side, bit for bit: all that a call gives, changes and prints.

In: a function made static and arguments. Out: a report, or a MismatchError that says what differs, the first node that does,
and its user line. What either run has changed is put back.

>>> print(verify(d2s.to_static(lambda x: x * 2.0), d2s.to_tensor([1.0], stop_gradient=False)))
equal: 1 output, 1 gradient
"""

import contextlib
import dataclasses
import difflib
import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from d2s.arguments import expect
from d2s.capture.tree import flatten, rebuild
from d2s.config import config
from d2s.eager.checked import seeing
from d2s.eager.tensor import Tensor
from d2s.errors import GradientError, MismatchError
from d2s.jit import world
from d2s.jit.staying import staying
from d2s.jit.to_static import StaticFunction, to_static
from d2s.jit.world import told
from d2s.nn.layer import Layer
from d2s.runtime.differing import same_bits


@dataclasses.dataclass(frozen=True)
class Report:
    """What was found equal."""

    outputs: int
    gradients: int

    def __str__(self) -> str:
        return f"equal: {_count(self.outputs, 'output')}, {_count(self.gradients, 'gradient')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


CALLS = 3  # of a kind; the third one is native, its sweep, too
PRINTED = "printed text"
Told = list[tuple[str, Any]]  # what a run gave and left, by name


def verify(function: Any, *args: Any, **kwargs: Any) -> Report:
    """Runs `function` eagerly and static on copies of the arguments, and compares: outputs, gradients, what has become of the

    arguments and of all else it changes, the random numbers, what is printed, and what is raised.
    """
    expect("verify", "function", function, Callable, "a Layer or a function")
    made = function.forward if isinstance(function, Layer) else function
    static: StaticFunction = made if isinstance(made, StaticFunction) else to_static(made)
    lifted = static.concrete_program(*args, **kwargs).captured.lifted
    grads = [world.gradient(t) for t in lifted]
    try:
        for t in lifted:
            t.grad = None
        with staying():
            return _compared(static, args, kwargs)
    finally:
        for place in grads:
            place.put_back()


def _compared(static: StaticFunction, args: Any, kwargs: Any) -> Report:
    variant = static.concrete_program(*args, **kwargs)
    run = _Run(variant.captured, args, kwargs)
    eager = run.told(static.captured_as())
    _compare(run, static, eager, run.told(lambda *args, **kwargs: static._called(args, kwargs)))  # which is not native
    for _ in range(CALLS - 1):
        _compare(run, static, eager, run.told(static))
    outputs = [x for what, x in eager if what.startswith("output ")]
    return Report(len(outputs), sum(what.startswith("gradient ") and x is not None for what, x in eager))


def _compare(run: "_Run", static: StaticFunction, eager: Told, compiled: Told) -> None:
    for (what, x), (_, y) in zip(eager, compiled, strict=False):
        if not _same(x, y):
            where, line = run.node_that_differs(static) or run.first_unlike(static, what, x, y)
            message = f"{what} of '{static.__name__}' is {x!r} eagerly and {y!r} static; {where}"
            raise MismatchError("D2S2001", message, where=line)
    if len(eager) != len(compiled):
        raise MismatchError("D2S2001", f"'{static.__name__}' gives {len(eager)} things eagerly and {len(compiled)} static")


class _Run:
    """Calls of a function, each of which finds everything as the first did."""

    def __init__(self, captured: Any, args: Any, kwargs: Any) -> None:
        self.captured, (self.leaves, self.skeleton) = captured, flatten((args, kwargs))

    def told(self, function: Callable[..., Any]) -> Told:
        """All that a call gives and leaves."""
        copies = {id(t): Tensor(t.numpy(), t.stop_gradient) for t in self.leaves if isinstance(t, Tensor)}
        args, kwargs = rebuild(self.skeleton, [copies.get(id(leaf), leaf) for leaf in self.leaves])
        places, printed = world.places(self.captured), io.StringIO()
        grads = [world.gradient(t) for t in (*copies.values(), *self.captured.lifted)]
        try:
            with contextlib.redirect_stdout(printed):
                found = self._given(function, args, kwargs)
            found += [(f"gradient {n}", place.read()) for n, place in enumerate(grads)]
            after = [leaf for leaf in flatten((args, kwargs))[0] if isinstance(leaf, Tensor) or not _is_opaque(leaf)]
            found += [(f"argument {n} behind the call", told(leaf)) for n, leaf in enumerate(after)]
            return [*found, *((place.named, place.read()) for place in places), (PRINTED, printed.getvalue())]
        finally:
            for place in (*places, *grads):
                place.put_back()

    def _given(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Told:
        """The leaves of the result, whose gradients are taken; or what is raised."""
        try:
            leaves, _ = flatten(function(*args, **kwargs))
        except MismatchError:
            raise  # of CHECK=2
        except Exception as error:
            return [("the exception", (type(error).__name__, str(error).splitlines()[:1]))]
        swept = [(f"the sweep from output {n}", _swept(leaf)) for n, leaf in enumerate(leaves) if _has_history(leaf)]
        return swept + [(f"output {n}", leaf if _is_opaque(leaf) else told(leaf)) for n, leaf in enumerate(leaves)]

    def node_that_differs(self, static: StaticFunction) -> tuple[str, str] | None:
        """The first node that runs otherwise compiled, and its line; None if there is none."""
        try:
            with config(CHECK=2):
                self.told(static)
        except MismatchError as error:
            return error.first or error.message, error.where
        return None

    def first_unlike(self, static: StaticFunction, what: str, x: Any, y: Any) -> tuple[str, str]:
        """The first op that eager code and the graph, node by node, do not agree on, and its line; `x` and `y` came of it."""
        (eager, given), (graph, found) = (self._seen(function) for function in (static.captured_as(), static))
        if what in dict(given) and not _same(x, dict(given)[what]):
            return "eager code itself gives something else each time", ""
        unlike = [(eager[: n + 1], other) for n, other in _pairs(eager, graph) if not _gave_the_same(eager[n], other)]
        at_once = next((pair for pair in unlike if _given_the_same(pair[0][-1], pair[1])), None)
        if at_once:
            return _unlike(*at_once)
        differ = [of for (of, one), (_, other) in zip(given, found, strict=False) if not _same(one, other)]
        if not differ and len(given) == len(found):
            return "node by node the graph gives what eager code gives: what is compiled of it differs", ""
        if differ != [PRINTED]:
            at_their_turns = (
                (eager[: n + 1], other) for n, other in _as_often(eager, graph) if not _gave_the_same(eager[n], other)
            )
            if (first := next(at_their_turns, None)) is not None:
                return _unlike(*first)
        maker = next((one for one in reversed(eager) if any(_same(x, r) for r in one.results)), None)
        if maker and isinstance(y, np.ndarray):
            return _told(maker, x, y)
        return "the graph itself gives the same node by node and compiled: the capture differs from eager code", ""

    def _seen(self, function: Callable[..., Any]) -> tuple[list["_Seen"], Told]:
        """The ops of a call, node by node, and what the call gave."""
        seen: list[_Seen] = []
        with config(EXECUTOR="interpreter"), seeing(lambda *one: seen.append(_Seen(*one))):
            given = self.told(function)
        return seen, given


class _Seen:
    """An op that ran: what it was given and gave then. The arrays themselves are kept so that ids stay theirs."""

    def __init__(self, name: str, inputs: Sequence[Any], results: Sequence[Any], where: str) -> None:
        self.name, self.where, self._kept = name, where, (inputs, results)
        self.read, self.made = [id(a) for a in inputs], [id(a) for a in results]
        self.inputs, self.results = [np.array(a) for a in inputs], [np.array(a) for a in results]
        self.types = tuple(a.dtype for a in self.results)
        self.kind = name, where, self.types


def _pairs(eager: Sequence[_Seen], graph: Sequence[_Seen]) -> Iterator[tuple[int, _Seen]]:
    """The eager ops, by place, that stand in the graph, too; one that stands there in the place of another is that one."""
    kinds, others = ([one.kind for one in seen] for seen in (eager, graph))
    for _, start, end, other, last in difflib.SequenceMatcher(None, kinds, others, autojunk=False).get_opcodes():
        for n in range(start, end):
            alike = (m for m in range(other, last) if _stands_for(graph[m], eager[n]))
            if (met := next(alike, None)) is not None:
                yield n, graph[met]
                other = met + 1


def _as_often(eager: Sequence[_Seen], graph: Sequence[_Seen]) -> Iterator[tuple[int, _Seen]]:
    """The eager ops, by place, of which both ran as many of a kind, and those of the graph whose turn was theirs.

    Where there are more of a kind in one of the two, ops of two trips of a loop could meet.
    """
    turns = defaultdict[Any, list[_Seen]](list)
    for one in graph:
        turns[one.kind].append(one)
    as_many = {kind for kind, count in Counter(one.kind for one in eager).items() if count == len(turns[kind])}
    for n, one in enumerate(eager):
        if one.kind in as_many:
            yield n, turns[one.kind].pop(0)


def _stands_for(one: _Seen, eager: _Seen) -> bool:
    """Whether an op of the graph is an eager one, or another in its place: of the same line, given the same."""
    if (one.where, one.types) != (eager.where, eager.types):
        return False
    return one.name == eager.name or all(map(same_bits, one.inputs, eager.inputs))


def _given_the_same(eager: _Seen, graph: _Seen) -> bool:
    return len(eager.inputs) == len(graph.inputs) and all(map(same_bits, eager.inputs, graph.inputs))


def _gave_the_same(eager: _Seen, graph: _Seen) -> bool:
    return all(map(same_bits, eager.results, graph.results))


def _unlike(eager: Sequence[_Seen], graph: _Seen) -> tuple[str, str]:
    """What is told of the last of the eager ops, one of the graph, too; or of what made its input, where that is unlike."""
    one = eager[-1]
    for at, x, y in zip(one.read, one.inputs, graph.inputs, strict=False):
        made = [before for before in eager[:-1] if any(same_bits(x, result) for result in before.results)]
        maker = next((before for before in reversed(made) if at in before.made), made[-1] if made else None)
        if maker and (x.shape, x.dtype) == (y.shape, y.dtype) and not same_bits(x, y):
            return _told(maker, x, y)
    return next(_told(one, x, y) for x, y in zip(one.results, graph.results, strict=True) if not same_bits(x, y))


def _told(one: _Seen, x: Any, y: Any) -> tuple[str, str]:
    return f"first in {one.name} at {one.where or '?'}: {x!r} eagerly, {y!r} in the graph", one.where


def _has_history(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and not leaf.stop_gradient


def _swept(result: Tensor) -> str:
    """Takes the gradients of a result, where what the function has swept itself is not freed; else says so."""
    try:
        result.backward(retain_graph=True)
    except GradientError as error:
        return error.code
    return ""


def _is_opaque(leaf: Any) -> bool:
    """Whether a leaf is some object, of which only the identity counts."""
    return not isinstance(leaf, Tensor | bool | int | float | complex | str | bytes | type(None))


def _same(x: Any, y: Any) -> bool:
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return same_bits(x, y)
    if isinstance(x, dict) and isinstance(y, dict):
        return list(x) == list(y) and all(_same(x[k], y[k]) for k in x)
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(map(_same, x, y))
    if type(x) is int and type(y) is int:
        return x == y  # one of many digits has no text
    return type(x) is type(y) and (x is y or repr(x) == repr(y))
