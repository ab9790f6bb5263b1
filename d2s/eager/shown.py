"""A tensor as text: what `print` shows, as Paddle prints it, and a table for notebooks.

In: an array. Out: text. A tensor of more than `threshold` elements is shown by its edges, and
columns are as wide as the widest number of the edges.

>>> print(d2s.to_tensor([[1.5, -2.0], [0.25, 4.0]]))
Tensor(shape=[2, 2], dtype=float32, place=Place(cpu), stop_gradient=True,
       [[1.50000000, -2.       ],
        [0.25000000,  4.       ]])
"""

import dataclasses
import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from d2s.errors import ArgumentError, DTypeError, brief

INDENT = 7  # of the values, behind the line that says shape and dtype
TABLE_EDGE = 5  # rows and columns of a notebook's table, at each end


@dataclasses.dataclass
class PrintOptions:
    """What `set_printoptions` sets."""

    precision: int = 8
    threshold: int = 1000
    edgeitems: int = 3
    sci_mode: bool = False
    linewidth: int = 80


_LEAST = {"precision": 0, "threshold": 0, "edgeitems": 1, "linewidth": 1}
_MOST = {"precision": 100}  # digits; a number's text stays a line
options = PrintOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sci_mode: bool | None = None,
    linewidth: int | None = None,
) -> None:
    """How tensors are printed from now on; what is None stays as it is.

    `precision`: digits behind the point (8). `threshold`: more elements than these are shown by their edges (1000),
    `edgeitems` of them at each end of an axis (3). `sci_mode`: 1.5e+00 instead of 1.5 (False). `linewidth`: characters of
    a line (80).

    >>> d2s.set_printoptions(precision=2, threshold=4, edgeitems=1)
    >>> print(d2s.to_tensor([0.123, 1.0, 2.0, 3.0, 4.0]))
    Tensor(shape=[5], dtype=float32, place=Place(cpu), stop_gradient=True,
           [0.12, ..., 4.  ])
    >>> d2s.set_printoptions(precision=8, threshold=1000, edgeitems=3)
    """
    if sci_mode is not None and not isinstance(sci_mode, bool):
        raise DTypeError("D2S0001", f"set_printoptions(): 'sci_mode' expects a bool, got {type(sci_mode).__name__}")
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    given = {name: _count(name, value) for name, value in given.items() if value is not None}
    for name, value in given.items():
        setattr(options, name, value)
    if sci_mode is not None:
        options.sci_mode = sci_mode


def _count(name: str, value: Any) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise DTypeError("D2S0001", f"set_printoptions(): '{name}' expects an int, got {type(value).__name__}")
    if not _LEAST[name] <= value <= _MOST.get(name, value):
        raise ArgumentError("D2S0004", f"set_printoptions(): '{name}' is {brief(value)}, out of range")
    return int(value)


def text(array: np.ndarray) -> str:
    """The values of an array, in brackets."""
    edges = _edges(array, options.edgeitems)
    signed, width = (
        bool((edges < 0).any()),
        max(map(len, map(_number, edges.ravel())), default=0),
    )  # as Paddle: of the edges only
    cut = options.edgeitems if _is_long(array.shape) else 0
    items = (_padded(x, signed, width) for x in (edges if cut else array).ravel())
    return _nested(array.shape, items, cut, width, INDENT)


def _is_long(shape: Sequence[int]) -> bool:
    """Whether not everything is shown; rows count where they are empty."""
    return int(np.prod([d for d in shape if d], dtype=np.float64)) > options.threshold


def _edges(array: np.ndarray, edge: int) -> np.ndarray:
    """The elements at the ends of each axis."""
    for axis, extent in enumerate(array.shape):
        if extent > 2 * edge:
            array = np.take(array, [*range(edge), *range(extent - edge, extent)], axis)
    return array


def _number(x: Any) -> str:
    if not isinstance(x, np.floating):
        return str(x)
    if options.sci_mode:
        return f"{x:.{options.precision}e}"
    return f"{x:.0f}." if np.ceil(x) == x else f"{x:.{options.precision}f}"


def _padded(x: Any, signed: bool, width: int) -> str:
    number = _number(x)
    if len(number) < width and signed and not x < 0:
        return " " + number.ljust(width - 1)
    return number.ljust(width)


def _nested(shape: Sequence[int], items: Iterator[str], edge: int, width: int, indent: int) -> str:
    """The next elements of `items`, as many as are shown of a tensor of that shape."""
    if not shape:
        return next(items)
    extent, rest = shape[0], shape[1:]
    cut = bool(edge) and extent > 2 * edge
    parts = [_nested(rest, items, edge, width, indent + 1) for _ in range(2 * edge if cut else extent)]
    if cut:
        parts.insert(edge, "...")
    margin = " " * (indent + 1)
    if rest:
        return "[" + ("," + "\n" * len(rest) + margin).join(parts) + "]"
    in_a_line = max(1, (options.linewidth - indent) // (width + 2))
    lines = [", ".join(parts[k : k + in_a_line]) for k in range(0, len(parts), in_a_line)]
    return "[" + f",\n{margin}".join(lines) + "]"


def table(array: np.ndarray) -> str:
    """The values of a tensor of one or two axes as an HTML table, long axes by their edges; of more axes, as text."""
    if array.ndim not in (1, 2) or not array.size:
        return f"<pre>{' ' * INDENT}{html.escape(text(array))}</pre>"
    rows = array.reshape((1, -1)) if array.ndim == 1 else array
    down, across = (_shown_indices(extent) for extent in rows.shape)
    head = _row("", map(_index, across), "th")
    body = [_row(_index(r), (_cell(rows, r, c) for c in across), "td") for r in down]
    style = "font-family:monospace;text-align:right"
    return f'<table cellpadding="4" style="{style}">{head}{"".join(body)}</table>'


def _shown_indices(extent: int) -> list[int | None]:
    """Indices, None where some are left out."""
    if extent <= 2 * TABLE_EDGE:
        return list(range(extent))
    return [*range(TABLE_EDGE), None, *range(extent - TABLE_EDGE, extent)]


def _index(at: int | None) -> str:
    return "…" if at is None else str(at)


def _cell(rows: np.ndarray, row: int | None, column: int | None) -> str:
    return "…" if row is None or column is None else _number(rows[row, column])


def _row(label: str, cells: Iterable[str], tag: str) -> str:
    return f"<tr><th>{label}</th>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"


class Shown:
    """Methods of `Tensor` that make text of it."""

    __slots__ = ()
    array: np.ndarray
    _head: Callable[[], str]

    def __repr__(self) -> str:
        return f"{self._head()}\n{' ' * INDENT}{text(self.array)})"

    def _repr_html_(self) -> str:
        """What a notebook shows: a line of facts, and a table."""
        return f"<div><code>{html.escape(self._head().rstrip(','))})</code>{table(self.array)}</div>"

    def __format__(self, spec: str) -> str:
        """`f"{loss:.4f}"`: one element is formatted as the number it is; more take no format."""
        if not isinstance(spec, str):
            raise DTypeError("D2S0001", f"__format__() expects a str, got {type(spec).__name__}")
        if self.array.ndim == 0 or (spec and self.array.size == 1):
            return _formatted(self.array.item(), spec)
        if spec:
            message = f"a tensor of shape {list(self.array.shape)} takes no format, got {brief(spec)}"
            raise DTypeError("D2S0001", message, hint="format an element: x[0], or print the tensor")
        return repr(self)


def _formatted(number: Any, spec: str) -> str:
    try:
        return format(number, spec)
    except ValueError as error:
        raise ArgumentError("D2S0004", f"a tensor that holds {brief(number)}: {error}") from None
