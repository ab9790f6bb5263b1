"""Lists among the results of a static call: each item is a result of its own on the tape.

In: cotangents by the numbers of results. Out: those of each result, and how a backward half takes them. Item k of a list that
is result n of several has the number n + (k + 1) * several.

>>> number(1, 0, 3), of_results({0: "a", 4: "b", 7: "c"}, 3)
(4, {0: 'a', 1: {0: 'b', 1: 'c'}})
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np


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
