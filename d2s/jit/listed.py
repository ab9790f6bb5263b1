"""Lists among the results of a static call: each item is a result of its own on the tape.

In: cotangents by the numbers of results. Out: those of each result, and how a backward half takes them. Item k of a list that
is result n of several has the number n + (k + 1) * several.

>>> number(1, 0, 3), of_results({0: "a", 4: "b", 7: "c"}, 3)
(4, {0: 'a', 1: {0: 'b', 1: 'c'}})

A native call has no lists among its outputs: `stacked` makes each one tensor, and `unstacked` tensors of that again.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[2]) -> (list[f32[2]]) { %0: list[f32[2]] = list_new() return %0 }")
>>> [str(v.type) for v in stacked(program).outputs]
['f32[items0,2]']
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from d2s.autodiff.identity import Identity
from d2s.ir.program import Node, Program, Value
from d2s.runtime.native_items import Items
from d2s.types import Type, int64


def number(n: int, k: int, several: int) -> int:
    return n + (k + 1) * several


def numbers(reached: Iterable[int], results: Sequence[Any], several: int) -> set[int]:
    """The numbers of results, of lists those of the items."""
    found = set[int]()
    for n in reached:
        result = results[n]
        found |= {number(n, k, several) for k in range(len(result))} if isinstance(result, tuple) else {n}
    return found


def of_results(cotangents: dict[int, Any], several: int) -> dict[int, Any]:
    """The cotangents by result; that of a list by item."""
    found: dict[int, Any] = {}
    for at, g in cotangents.items():
        k, n = divmod(at, several)
        if k:
            found.setdefault(n, {})[k - 1] = g
        else:
            found[n] = g
    return found


def how_far(g: Any, result: Any) -> int:
    """1, or 2 for a list of which not all items have a cotangent."""
    return 1 if not isinstance(result, tuple) or len(g) == len(result) else 2


def arrays(g: Any, result: Any) -> list[Any]:
    """A cotangent as a backward half takes it; of a list, those of the items, and where some have none, which have."""
    if not isinstance(result, tuple):
        return [g]
    items = tuple(g[k].array if k in g else np.full_like(a, -0.0) for k, a in enumerate(result))
    return [items] if len(g) == len(result) else [items, tuple(np.array(k in g) for k in range(len(result)))]


def each(made: Callable[[Any], Any], found: Any) -> Any:
    """A result as a tensor, a list of results as tensors."""
    return list(map(made, found)) if isinstance(found, tuple) else made(found)


def stacked(program: Program) -> Program:
    """The same with the items of each list in one tensor, along a first axis whose extent the run finds."""
    nodes, tensors = [*program.nodes], dict[Value, Value]()
    for n, v in enumerate(dict.fromkeys(v for v in program.outputs if v.type.listed)):
        of, name = v.type.item, f"items{n}"
        counted, count, left, whole = map(Value, (v.type, Type(int64), v.type, Type(of.dtype, (name, *of.shape))))
        nodes.append(Node("list_length", (v,), (counted, count), {}))
        nodes.append(Node("list_stack", (counted, count), (left, whole), {"finds": (name,), "behind": False}))
        tensors[v] = whole
    return Program(program.name, program.inputs, tuple(nodes), tuple(tensors.get(v, v) for v in program.outputs))


def unstacked(
    program: Program, numbers: dict[int, int], identity: Identity, items: Items
) -> Callable[[Any, Sequence[Any]], list[Any]]:
    """What makes a program's results of those of a native call of the stacked one, and of its inputs.

    `numbers`: which results behind the program's own tell the tensors of others apart; of inputs they are their places.
    """
    several = len(program.outputs)
    lists = [n for n, v in enumerate(program.outputs) if v.type.listed]
    alone = [at for n, at in numbers.items() if n in lists and len(numbers) == 1]  # items that no other result may be

    def results(found: Any, inputs: Sequence[Any]) -> list[Any]:
        made = list(found[:several])
        for n in lists:
            whole = made[n].array
            made[n] = whole.tolist() if program.outputs[n].type.python else items.tensors(whole)
        if alone:
            told = found[alone[0]].array.tolist()
            if len({*told, *identity.inputs}) == len(told) + len(identity.inputs):
                return made
        return named(made, numbers, lambda at: found[at].array.tolist(), identity, inputs) if numbers else made

    return results


def named(
    made: list[Any], numbers: Mapping[int, int], told: Callable[[int], Any], identity: Identity, inputs: Sequence[Any]
) -> list[Any]:
    """The results, of which one tensor is one: an input, where that went in or the call leaves it there."""
    known = {k: inputs[k] for k in identity.inputs}
    for n, k in identity.written.items():
        if n in numbers:
            known.setdefault(told(numbers[n]), inputs[k])
    for n, at in numbers.items():
        if n not in identity.written:
            made[n] = _one(known, told(at), made[n])
    return made


def _one(known: dict[int, Any], told: Any, made: Any) -> Any:
    """A result, or the items of a list, by number: where one was there before, it is that one."""
    if not isinstance(told, list):
        return known.setdefault(told, made)
    if len({*told}) == len(told) and known.keys().isdisjoint(told):
        known.update(zip(told, made, strict=True))
        return made
    return [known.setdefault(number, t) for number, t in zip(told, made, strict=True)]
