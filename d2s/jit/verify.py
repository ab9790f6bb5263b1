"""Eager and static side by side, bit for bit: all that a call gives, changes and prints.

In: a function made static and arguments. Out: a report, or a MismatchError that says what differs, the first node that does,
and its user line. What either run has changed is put back.

>>> print(verify(d2s.to_static(lambda x: x * 2.0), d2s.to_tensor([1.0], stop_gradient=False)))
equal: 1 output, 1 gradient
"""

import contextlib
import dataclasses
import io
from collections.abc import Callable
from typing import Any

import numpy as np

from d2s import passes
from d2s.arguments import expect
from d2s.capture.tree import flatten, rebuild
from d2s.config import config
from d2s.eager.checked import seeing
from d2s.eager.tensor import Tensor
from d2s.errors import D2SError, GradientError, MismatchError
from d2s.jit import world
from d2s.jit.graph import staying
from d2s.jit.to_static import StaticFunction, to_static
from d2s.jit.variant import Variant
from d2s.jit.world import told
from d2s.nn.layer import Layer
from d2s.runtime.call import first_difference, same_bits


@dataclasses.dataclass(frozen=True)
class Report:
    """What was found equal."""

    outputs: int
    gradients: int

    def __str__(self) -> str:
        return f"equal: {_count(self.outputs, 'output')}, {_count(self.gradients, 'gradient')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


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
    eager, compiled = run.told(static.captured_as()), run.told(static)
    for (what, x), (_, y) in zip(eager, compiled, strict=False):
        if not _same(x, y):
            where = _node_that_differs(variant, static.leaves(*args, **kwargs)) or run.first_unlike(static)
            raise MismatchError("D2S2001", f"{what} of '{static.__name__}' is {x!r} eagerly and {y!r} static; {where}")
    if len(eager) != len(compiled):
        raise MismatchError("D2S2001", f"'{static.__name__}' gives {len(eager)} things eagerly and {len(compiled)} static")
    outputs = [x for what, x in eager if what.startswith("output ")]
    return Report(len(outputs), sum(what.startswith("gradient ") and x is not None for what, x in eager))


def _node_that_differs(variant: Variant, leaves: Any) -> str:
    """The first node that runs otherwise compiled; empty if there is none, or a run does not come to its end."""
    try:
        return first_difference(variant.graph.program, variant.arrays(leaves), passes.lower)
    except (D2SError, ArithmeticError):
        return ""


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
            return [*found, *((place.named, place.read()) for place in places), ("printed text", printed.getvalue())]
        finally:
            for place in (*places, *grads):
                place.put_back()

    def _given(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Told:
        """The leaves of the result, whose gradients are taken; or what is raised."""
        try:
            leaves, _ = flatten(function(*args, **kwargs))
        except Exception as error:
            return [("the exception", (type(error).__name__, str(error).splitlines()[:1]))]
        swept = [(f"the sweep from output {n}", _swept(leaf)) for n, leaf in enumerate(leaves) if _has_history(leaf)]
        return swept + [(f"output {n}", leaf if _is_opaque(leaf) else told(leaf)) for n, leaf in enumerate(leaves)]

    def first_unlike(self, static: StaticFunction) -> str:
        """The first op that eager code and the graph, node by node, do not agree on."""
        (eager, given), (graph, found) = (self._seen(function) for function in (static.captured_as(), static))
        place = 0
        for known, results in graph:
            at = next((n for n in range(place, len(eager)) if eager[n][0] == known), None)
            if at is None:
                continue
            place = at + 1
            for x, y in zip(eager[at][1], results, strict=False):
                if not same_bits(x, y):
                    return f"first in {known[0]} at {known[1] or '?'}: {x!r} eagerly, {y!r} in the graph"
        if len(given) == len(found) and all(_same(x, y) for (_, x), (_, y) in zip(given, found, strict=True)):
            return "node by node the graph gives what eager code gives: what is compiled of it differs"
        return "the graph itself gives the same node by node and compiled: the capture differs from eager code"

    def _seen(self, function: Callable[..., Any]) -> tuple[list[tuple[Any, list[Any]]], Told]:
        """The ops of a call, node by node - each by name, line and dtypes - with their results, and what the call gave."""
        seen: list[Any] = []
        with config(EXECUTOR="interpreter"), seeing(lambda *one: seen.append(one)):
            given = self.told(function)
        ops = [(name, where, [np.array(r) for r in results]) for name, _, results, where in seen]
        return [((name, where, [r.dtype for r in results]), results) for name, where, results in ops], given


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
