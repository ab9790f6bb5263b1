"""Type rules shared by op families.

In: shapes whose extents are ints or names. Out: the resulting shape, and pairs of extents a run must find equal.

>>> broadcast("add", [("n", 4), (4,)])
(('n', 4), [])
>>> broadcast("add", [("n", 4), ("m", 1)])
(('n', 4), [('n', 'm')])
"""

from collections.abc import Sequence

from d2s.errors import ShapeError
from d2s.types import Dim, Shape


def broadcast(name: str, shapes: Sequence[Shape]) -> tuple[Shape, list[tuple[Dim, Dim]]]:
    """NumPy's broadcasting; an extent known by name only counts as not 1."""
    rank = max(map(len, shapes))
    result: list[Dim] = []
    equal: list[tuple[Dim, Dim]] = []
    for axis in range(rank):
        dims = [s[axis - rank] for s in shapes if len(s) >= rank - axis]
        wide = [d for d in dims if d != 1]
        known = sorted((d for d in wide if isinstance(d, int)), reverse=True)
        if known and known[0] != known[-1]:
            listed = " and ".join(str(list(s)) for s in shapes)
            raise ShapeError("D2S0002", f"{name}(): shapes {listed} do not broadcast: axis {axis - rank} has {dims}")
        result.append(known[0] if known else wide[0] if wide else 1)
        equal += [(result[-1], d) for d in dict.fromkeys(wide) if d != result[-1]]
    return tuple(result), equal
