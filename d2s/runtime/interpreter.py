"""The meaning of a Program: node by node, on the eager kernels. Everything else must agree with it.

In: a Program and an array per input. Out: an array per output (a stack of residuals is a linked tuple).

>>> from d2s.ir.text import parse
>>> run(parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 }"), [np.ones(2, "float32")])
[array([2., 2.], dtype=float32)]
"""

import contextlib
import math
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s import types
from d2s.errors import D2SError, Raised, TooDeep
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.reckoned import come_to
from d2s.runtime import host, launch, lists
from d2s.runtime.users_frames import raised_at

Watch = Callable[[Node, list[Any]], None]
See = Callable[[Node, list[Any], list[Any]], None]


class Around(NamedTuple):
    """Where a region stands: the functions around it by name, each with those around it in turn; and in how many calls."""

    functions: Mapping[str, Any] = {}
    depth: int = 0


Region = tuple[Program, Sequence[Any], Around]
Steps = Generator[Region, list[Any], list[Any]]  # what a region does; it asks for others


def run(program: Program, arrays: Sequence[Any], watch: Watch | None = None, see: See | None = None) -> list[Any]:
    """Runs a Program; `watch` sees every node of its top level with its results, `see` those of regions, too, and their inputs.

    Regions wait on a list for those they have asked for: a function that calls itself takes none of Python's own stack.
    """
    waiting = [_steps((program, arrays, Around()), watch, see)]
    found: Any = None
    error: BaseException | None = None
    while waiting:
        try:
            asked = waiting[-1].throw(error) if error else waiting[-1].send(found)
            waiting.append(_steps(asked, None, see))
            found = error = None
        except StopIteration as end:
            waiting.pop()
            found, error = end.value, None
        except BaseException as raised:
            waiting.pop()
            error = raised
    if error:
        raise error.stop if isinstance(error, _Stopped) else error
    return found  # type: ignore[no-any-return]


def _steps(region: Region, watch: Watch | None, see: See | None) -> Steps:
    program, arrays, around = region
    env: dict[Value, Any] = dict(zip(program.inputs, arrays, strict=True))
    changing = {v for node in program.nodes if node.op == "update" for v in updated(node) if v in env}
    places = {v: env[v] for v in changing}
    env |= {v: env[v].copy() for v in changing}  # what it was is read behind a change, too
    for node in program.nodes:
        inputs = [env[v] for v in node.inputs]
        _count()
        asking = _ASKING.get(node.op)
        results = (yield from asking(node, inputs, around)) if asking else _found(node, inputs)
        for everywhere in seen:
            everywhere(node, inputs, results)
        if see:
            see(node, inputs, results)
        env.update(zip(node.outputs, results, strict=True))
        if node.op == "update":
            _write(node, results, places)
        if watch:
            watch(node, results)
    return [(places if v in changing else env)[v] for v in program.outputs]


def _write(node: Node, results: Sequence[Any], places: dict[Value, Any]) -> None:
    """What an optimizer has changed is written where it lies with the caller."""
    for value, made, result in zip(updated(node), node.outputs, results, strict=True):
        if value in places:
            places[made] = places[value]
            places[made][...] = result


class _Stopped(Exception):
    """Stands for a StopIteration that a node raises: out of a generator, Python would make another exception of that."""

    def __init__(self, stop: StopIteration) -> None:
        self.stop = stop


def _found(node: Node, inputs: list[Any]) -> list[Any]:
    try:
        return results(node, inputs)
    except StopIteration as stop:
        raise _Stopped(stop) from None


def updated(node: Node) -> list[Value]:
    """What an `update` changes, in place where that lies with the caller: the parameter, and its state."""
    return [node.inputs[0], *node.inputs[2 : 2 + len(node.attrs["state"])]]


def _update(node: Node, inputs: list[Any]) -> list[Any]:
    states = len(node.attrs["state"])
    parameter, gradient, *more = inputs
    held = [a.copy() for a in (parameter, *more[:states])]
    if all(more[states + 1 :]):
        launch.in_place(node.attrs["rule"].text(node.inputs[0].type.dtype), [held[0], gradient, *held[1:], more[states]])
    return held


seen: list[See] = []  # who sees every node of all runs, in all threads


class TooLong(Exception):
    """A run came to more nodes than it was allowed."""


class _Allowed(threading.local):
    nodes = math.inf


_allowed = _Allowed()


@contextlib.contextmanager
def at_most(nodes: int) -> Iterator[None]:
    """Runs in a `with` block of this that come to more nodes, those of all trips counted, end in TooLong."""
    before, _allowed.nodes = _allowed.nodes, nodes
    try:
        yield
    finally:
        _allowed.nodes = before


def _count() -> None:
    _allowed.nodes -= 1
    if _allowed.nodes < 0:
        raise TooLong


def results(node: Node, inputs: list[Any]) -> list[Any]:
    """What a node that has no regions comes to."""
    special = _SPECIAL.get(node.op)
    if special:
        return special(node, inputs)
    given = [launch.type_of(a, v.type.python) for a, v in zip(inputs, node.inputs, strict=True)]
    try:
        found = launch.run(OPS[node.op], given, inputs, attributes(node, inputs))
    except D2SError as error:
        raise error.at(node.where) from None
    return [found] if len(node.outputs) == 1 else list(found)


def attributes(node: Node, inputs: Sequence[Any]) -> dict[str, Any]:
    """The attributes of a node in a run, which knows the extents it finds: its last inputs are the numbers of its names."""
    if "finds" not in node.attrs:
        return node.attrs
    return node.attrs | {"finds": tuple(int(n) for n in inputs[len(inputs) - len(node.attrs["finds"]) :])}


def _cond(node: Node, inputs: list[Any], around: Around) -> Steps:
    return (yield node.attrs["then" if inputs[0] else "otherwise"], inputs[1:], around)


def _while_loop(node: Node, inputs: list[Any], around: Around) -> Steps:
    carries = node.attrs["carries"]
    while (yield node.attrs["test"], inputs, around)[0]:
        inputs = (yield node.attrs["body"], inputs, around) + inputs[carries:]
    return inputs[:carries]


def _fused(node: Node, inputs: list[Any], around: Around) -> Steps:
    return (yield node.attrs["body"], inputs, around)


def _call(node: Node, inputs: list[Any], around: Around) -> Steps:
    functions = {**around.functions, node.attrs["name"]: (node, around)}
    return (yield node.attrs["body"], inputs, Around(functions, around.depth + 1))


def _again(node: Node, inputs: list[Any], around: Around) -> Steps:
    if around.depth >= sys.getrecursionlimit():
        raise too_deep(node.attrs["name"]).at(node.where)
    function, outside = around.functions[node.attrs["name"]]
    return (yield from _call(function, inputs, outside._replace(depth=around.depth)))


def too_deep(name: str) -> D2SError:
    """What a run raises that makes as many calls in one another as Python would not make."""
    limit = sys.getrecursionlimit()
    return TooDeep("D2S0008", f"'{name}' calls itself more than {limit} times deep", hint="see sys.setrecursionlimit")


class Hole(np.ndarray):
    """A value that is not there."""


def _hole(node: Node, inputs: list[Any]) -> list[Any]:
    """Nothing reads it; to show that, it holds what would be seen."""
    extents = {d: n for v, a in zip(node.inputs, inputs, strict=True) for d, n in zip(v.type.shape, a.shape, strict=True)}
    of = node.outputs[0].type
    seen = np.nan if of.dtype.kind == "f" else 1
    shape: list[Any] = [extents[d] if d in extents else come_to(d, extents.__getitem__) for d in of.shape]
    return [np.full(shape, seen, of.dtype.numpy).view(Hole)]


def _fail(node: Node, inputs: list[Any]) -> list[Any]:
    host.leave(node, inputs)
    raise failure(node)


def failure(node: Node) -> Exception:
    """What a run raises at a `fail`."""
    error = node.attrs["error"]
    made = error.again() if isinstance(error, Raised) else RuntimeError(error)  # read from a text, it is one
    return made.at(node.where) if isinstance(made, D2SError) else raised_at(made, node.where)


def constant(node: Node) -> np.ndarray:
    return types.array_of(node.attrs["value"], node.attrs["dtype"])


_ASKING: dict[str, Callable[[Node, list[Any], Around], Steps]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "fused": _fused,
    "call": _call,
    "again": _again,
}
_SPECIAL: dict[str, Callable[[Node, list[Any]], list[Any]]] = {
    "update": _update,
    "constant": lambda node, inputs: [constant(node)],
    "hole": _hole,
    "renamed": lambda node, inputs: inputs[:1],
    "fail": _fail,
    "host": lambda node, inputs: [host.step(node, inputs)],
    "stack": lambda node, inputs: [()],
    "push": lambda node, inputs: [(inputs[0], inputs[1])],
    "pop": lambda node, inputs: list(inputs[0]),
    **dict.fromkeys(lists.OPS, lists.results),
}
