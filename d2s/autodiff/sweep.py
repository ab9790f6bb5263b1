"""One step of the one reverse sweep: an op's cotangents reach its inputs, in one defined order.

In: an op's use and the cotangent of its output. Out: contributions, handed over input by input; the first one an input gets
is kept as it is, later ones are added on the right.

>>> from d2s.ops import OPS
>>> x, g = d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([1.0, 1.0])
>>> pull(OPS["multiply"], {}, g, None, [x, x], [True, False], lambda i, c: print(i, c.numpy()))
0 [1. 2.]
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from d2s.errors import GradientError
from d2s.ops import OPS, Op
from d2s.ops.dispatch import current, handlers, handling

Give = Callable[[int, Any], None]


def pull(op: Op, attrs: dict[str, Any], g: Any, out: Any, inputs: Sequence[Any], wanted: Sequence[bool], give: Give) -> None:
    """Hands `give(i, contribution)` what each wanted input gets. Of an op that is composed of others, g is a tuple."""
    rules = op.rules
    if "composed" in rules:
        _pull_composed(op, attrs, g, inputs, wanted, give)
        return
    if "vjp" not in rules:
        raise GradientError("D2S0006", f"{op.name} has no gradient")
    for i, cotangent in enumerate(op.vjp(g, out, *inputs, **attrs)):
        if wanted[i] and cotangent is not None:
            computed = cotangent() if callable(cotangent) else cotangent
            give(i, _unbroadcast(computed, inputs[i]) if op.scalar else computed)


class _Use(NamedTuple):
    """An op that ran, and what it gave."""

    op: Op
    attrs: dict[str, Any]
    inputs: tuple[Any, ...]
    results: tuple[Any, ...]


class _Noting:
    """The handler around, which also notes what was done."""

    def __init__(self, around: Any) -> None:
        self.around = around
        self.uses: list[_Use] = []
        self.line, self.type_of, self.constant = around.line, around.type_of, around.constant

    def run(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        found = self.around.run(op, inputs, attrs)
        self.uses.append(_Use(op, attrs, inputs, tuple(found) if isinstance(found, list | tuple) else (found,)))
        return found


def _pull_composed(op: Op, attrs: dict[str, Any], gs: Any, inputs: Sequence[Any], wanted: Sequence[bool], give: Give) -> None:
    """Sweeps the ops that one comes to; an input that is given twice gets all of its cotangent at the first place."""
    noting = _Noting(current())
    with handling(noting):
        results = op.rules["composed"](*inputs, **attrs)
    depending = {id(x) for x, want in zip(inputs, wanted, strict=True) if want}
    for use in noting.uses:
        if not depending.isdisjoint(map(id, use.inputs)):
            depending.update(map(id, use.results))
    totals = {id(r): g for r, g in zip(results if isinstance(results, tuple) else (results,), gs, strict=True) if g is not None}
    for use in reversed(noting.uses):
        found = [totals.pop(id(r), None) for r in use.results]
        if depending.isdisjoint(map(id, use.results)) or all(g is None for g in found):
            continue
        out = use.results[0] if len(use.results) == 1 else use.results
        g = tuple(found) if use.op.has("composed") else found[0]
        pull(use.op, use.attrs, g, out, use.inputs, [id(x) in depending for x in use.inputs], _adding(totals, use.inputs))
    for i, x in enumerate(inputs):
        if id(x) in totals:
            give(i, totals.pop(id(x)))


def _adding(totals: dict[int, Any], inputs: Sequence[Any]) -> Give:
    def add(i: int, contribution: Any) -> None:
        before = totals.get(id(inputs[i]))
        totals[id(inputs[i])] = contribution if before is None else OPS["add"](before, contribution)

    return add


def _unbroadcast(g: Any, x: Any) -> Any:
    """The cotangent summed over the axes along which x was repeated."""
    handler = current()
    if handler is handlers.base and g.array.shape == x.array.shape:
        return g
    have, want = handler.type_of(g).shape, handler.type_of(x).shape  # type: ignore[union-attr]
    extra = len(have) - len(want)
    if extra:
        g = OPS["sum"](g, _same(tuple(range(extra))))
    repeated = _same(tuple(i for i, d in enumerate(want) if d == 1 and have[extra + i] != 1))
    return OPS["sum"](g, repeated, None, True) if repeated else g


@functools.cache
def _same(axes: tuple[int, ...]) -> tuple[int, ...]:
    """One object for equal axes: by it the doors of eager code know a call again."""
    return axes
