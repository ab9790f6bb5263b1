"""The meaning of a Program: node by node, on the eager kernels. Everything else must agree with it.

In: a Program and an array per input. Out: an array per output (a stack of residuals is a linked tuple).

>>> from d2s.ir.text import parse
>>> run(parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 }"), [np.ones(2, "float32")])
[array([2., 2.], dtype=float32)]
"""

import contextlib
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from d2s import types
from d2s.errors import D2SError, Raised
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.runtime import host, launch, lists


def run(program: Program, arrays: Sequence[Any], watch: Callable[[Node, list[Any]], None] | None = None) -> list[Any]:
    """Runs a Program; `watch` sees every node of its top level with its results."""
    env: dict[Value, Any] = dict(zip(program.inputs, arrays, strict=True))
    try:
        for node in program.nodes:
            results = _node(node, [env[v] for v in node.inputs])
            env.update(zip(node.outputs, results, strict=True))
            if watch:
                watch(node, results)
    finally:
        _write_updates(program, env)
    return [env[v] for v in program.outputs]


def _write_updates(program: Program, env: dict[Value, Any]) -> None:
    """What optimizers have changed is written where it was; until then everything could be read as it was."""
    places: dict[Value, Any] = {}
    for node in program.nodes:
        if node.op == "update" and node.outputs[0] in env:
            for value, result in zip(updated(node), node.outputs, strict=True):
                places[result] = places.get(value, env[value])
                places[result][...] = env[result]


def updated(node: Node) -> list[Value]:
    """What an `update` changes in place: the parameter, and its state."""
    return [node.inputs[0], *node.inputs[2 : 2 + len(node.attrs["state"])]]


def _update(node: Node, inputs: list[Any]) -> list[Any]:
    states = len(node.attrs["state"])
    parameter, gradient, *more = inputs
    held = [a.copy() for a in (parameter, *more[:states])]
    if all(more[states + 1 :]):
        launch.in_place(node.attrs["rule"].text(node.inputs[0].type.dtype), [held[0], gradient, *held[1:], more[states]])
    return held


seen: list[Callable[[Node, list[Any], list[Any]], None]] = []  # who sees every node, those of regions too


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


def _node(node: Node, inputs: list[Any]) -> list[Any]:
    _allowed.nodes -= 1
    if _allowed.nodes < 0:
        raise TooLong
    results = _results(node, inputs)
    for see in seen:
        see(node, inputs, results)
    return results


def _results(node: Node, inputs: list[Any]) -> list[Any]:
    special = _SPECIAL.get(node.op)
    if special:
        return special(node, inputs)
    given = [launch.type_of(a, v.type.python) for a, v in zip(inputs, node.inputs, strict=True)]
    attrs = node.attrs
    if "finds" in attrs:  # the last inputs are the numbers that its names stand for
        attrs = attrs | {"finds": tuple(int(n) for n in inputs[len(inputs) - len(attrs["finds"]) :])}
    try:
        results = launch.run(OPS[node.op], given, inputs, attrs)
    except D2SError as error:
        raise error.at(node.where) from None
    return [results] if len(node.outputs) == 1 else list(results)


def _cond(node: Node, inputs: list[Any]) -> list[Any]:
    return run(node.attrs["then" if inputs[0] else "otherwise"], inputs[1:])


def _while_loop(node: Node, inputs: list[Any]) -> list[Any]:
    carries = node.attrs["carries"]
    while run(node.attrs["test"], inputs)[0]:
        inputs = run(node.attrs["body"], inputs) + inputs[carries:]
    return inputs[:carries]


def _fused(node: Node, inputs: list[Any]) -> list[Any]:
    return run(node.attrs["body"], inputs)


class Hole(np.ndarray):
    """A value that is not there."""


def _hole(node: Node, inputs: list[Any]) -> list[Any]:
    """Nothing reads it; to show that, it holds what would be seen."""
    extents = {d: n for v, a in zip(node.inputs, inputs, strict=True) for d, n in zip(v.type.shape, a.shape, strict=True)}
    of = node.outputs[0].type
    seen = np.nan if of.dtype.kind == "f" else 1
    return [np.full([extents.get(d, d) for d in of.shape], seen, of.dtype.numpy).view(Hole)]


def _fail(node: Node, inputs: list[Any]) -> list[Any]:
    host.leave(node, inputs)
    raise failure(node)


def failure(node: Node) -> Exception:
    """What a run raises at a `fail`."""
    error = node.attrs["error"]
    made = error.again() if isinstance(error, Raised) else RuntimeError(error)  # read from a text, it is one
    return made.at(node.where) if isinstance(made, D2SError) else _from(made, node.where)


def _from(error: Exception, where: str) -> Exception:
    """The exception with the user's line in its traceback, as if it came from there."""
    file, _, line = where.rpartition(":")
    if file and line.isdigit():
        try:
            exec(compile("\n" * (int(line) - 1) + "raise error", file, "exec"), {"error": error})
        except type(error):
            pass
    return error


def constant(node: Node) -> np.ndarray:
    return types.array_of(node.attrs["value"], node.attrs["dtype"])


_SPECIAL: dict[str, Callable[[Node, list[Any]], list[Any]]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "fused": _fused,
    "update": _update,
    "constant": lambda node, inputs: [constant(node)],
    "hole": _hole,
    "fail": _fail,
    "host": lambda node, inputs: [host.step(node, inputs)],
    "stack": lambda node, inputs: [()],
    "push": lambda node, inputs: [(inputs[0], inputs[1])],
    "pop": lambda node, inputs: list(inputs[0]),
    **dict.fromkeys(lists.OPS, lists.results),
}
