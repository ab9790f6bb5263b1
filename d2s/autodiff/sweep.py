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
from typing import Any

from d2s.errors import GradientError
from d2s.ops import OPS, Op
from d2s.ops.dispatch import current


def pull(
    op: Op,
    attrs: dict[str, Any],
    g: Any,
    out: Any,
    inputs: Sequence[Any],
    wanted: Sequence[bool],
    give: Callable[[int, Any], None],
) -> None:
    """Hands `give(i, contribution)` what each wanted input gets."""
    if not op.has("vjp"):
        raise GradientError("D2S0006", f"{op.name} has no gradient")
    for i, cotangent in enumerate(op.vjp(g, out, *inputs, **attrs)):
        if wanted[i] and cotangent is not None:
            computed = cotangent() if callable(cotangent) else cotangent
            give(i, _unbroadcast(computed, inputs[i]) if op.scalar else computed)


def _unbroadcast(g: Any, x: Any) -> Any:
    """The cotangent summed over the axes along which x was repeated."""
    handler = current()
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
