"""What the interpreter makes of lists: tuples of arrays, of which a change makes another one.

In: a node on a list, and its inputs. Out: its results.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[2]) -> () { %0: list[f32[2]] = list_new() return }")
>>> results(program.nodes[0], [])
[()]
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from d2s.ir.program import Node

Items = tuple[Any, ...]


def results(node: Node, inputs: list[Any]) -> list[Any]:
    if node.op == "list_stack":
        return _stack(node, inputs[0])
    return _RESULTS[node.op](*inputs)


def _stack(node: Node, items: Items) -> list[Any]:
    if not items:  # whoever records it has seen to it that there are some, or that nothing reads this
        of = node.outputs[1].type
        return [items, np.empty([d if isinstance(d, int) else 0 for d in of.shape], of.dtype.numpy)]
    return [items, np.concatenate(items) if node.attrs["behind"] else np.stack(items)]


def _unstack(items: Items, x: np.ndarray) -> list[Any]:
    return [tuple(part.reshape(item.shape) for part, item in zip(np.split(x, len(items) or 1), items, strict=False))]


def _full(count: np.ndarray, x: np.ndarray) -> list[Any]:
    return [(x,) * int(count)]


def _length(items: Items) -> list[Any]:
    return [items, np.array(len(items))]


def _append(items: Items, x: np.ndarray) -> list[Any]:
    return [(*items, x)]


def _pop(items: Items) -> list[Any]:
    return [items[:-1], items[-1]]


def _get(items: Items, index: np.ndarray) -> list[Any]:
    return [items, items[int(index)]]


def _set(items: Items, index: np.ndarray, x: np.ndarray) -> list[Any]:
    return [(*items[: int(index)], x, *items[int(index) + 1 :])]


_RESULTS: dict[str, Callable[..., list[Any]]] = {
    "list_new": lambda: [()],
    "list_full": _full,
    "list_length": _length,
    "list_append": _append,
    "list_pop": _pop,
    "list_get": _get,
    "list_set": _set,
    "list_unstack": _unstack,
}
OPS = (*_RESULTS, "list_stack")
