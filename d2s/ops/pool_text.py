"""The kernel text of pools: windows over planes, row by row.

A window along an axis is `[o * stride - padding, + kernel)`, or, adaptive, the part o of equal parts of it; what lies outside
of the plane is left out. Elements of a window are met in ascending order; sums are one chain. A maximum begins with the lowest
finite number and, as in Paddle, gives its place to the next element unless it is greater: to a nan, too, and a nan to the next.
Where places are asked for, as for gradients, only a greater element takes it: nans are passed over, the first of equals wins.

A row of results meets the rows of its windows one by one. Of the widths and strides most used, windows that lie inside have
their elements written out, so that loops over results become vectors. A piece of work is a plane.

In: a pool's name, a width and a stride, or 0 and 0 for any. Out: the functions, and the call of the first.

>>> "row[from_w + 1]" in above("f32", 2, 2, "max_pooled"), "row[from_w + 1]" in above("f32", 0, 0, "max_pooled")
(True, False)
"""

import textwrap
from typing import NamedTuple

import numpy as np

from d2s import types

NAMES = ["planes", "i_d", "i_h", "i_w", "o_d", "o_h", "o_w", "k_d", "k_h", "k_w", "s_d", "s_h", "s_w", "p_d", "p_h", "p_w"]
WRITTEN_OUT = 3  # the greatest width, and stride, of windows with a text of their own

_WINDOWS = '''\
@native
def begin_of(adaptive, o, extent, results, stride, padding):
    return o * extent // results if adaptive else o * stride - padding


@native
def end_of(adaptive, o, extent, results, stride, padding, kernel):
    return ((o + 1) * extent + results - 1) // results if adaptive else o * stride - padding + kernel


@native
def counted(adaptive, exclusive, o, extent, results, stride, padding, kernel):
    """How many elements of a window along an axis count."""
    begin = begin_of(adaptive, o, extent, results, stride, padding)
    end = end_of(adaptive, o, extent, results, stride, padding, kernel)
    if exclusive:
        return max_of(0, min_of(end, extent) - max_of(begin, 0))
    return max_of(0, min_of(end, extent + padding) - begin)


@native
def first_inside(written, padding, stride):
    return (padding + stride - 1) // stride if written else 0


@native
def last_inside(written, first, extent, results, stride, padding, kernel):
    """The end of the results whose windows lie inside and are written out."""
    if not written or extent + padding < kernel:
        return first
    return max_of(first, min_of(results, (extent + padding - kernel) // stride + 1))


'''

_MARK_OF = '''\
@native
def mark_of(plane, begin_d, end_d, begin_h, end_h, begin_w, end_w, i_h, i_w):
    """The place of the first of the greatest in a window; -1 where nothing is greater than the lowest number."""
    best, mark = T(LOWEST), -1
    for a in range(begin_d, end_d):
        for b in range(begin_h, end_h):
            for c in range(begin_w, end_w):
                value = floats(plane)[(a * i_h + b) * i_w + c]
                mark = (a * i_h + b) * i_w + c if value > best else mark
                best = value if value > best else best
    return mark


'''

# what a row of results does with a row of its windows: windows at the borders, those inside, written out, and borders again
_ROW = """\
@native_loops
def ROW(PARAMETERS, at, adaptive, i_w, o_w, k_w, s_w, p_w, inside, behind):
    row = floats(at)
    for w in range(inside):
        BORDER
    for w in range(inside, behind):
        from_w = w * STRIDE - p_w
        START
        WRITTEN
        END
    for w in range(behind, o_w):
        BORDER


"""

_BORDER = """\
START
begin, end = begin_of(adaptive, w, i_w, o_w, s_w, p_w), end_of(adaptive, w, i_w, o_w, s_w, p_w, k_w)
for from_w in range(max_of(begin, 0), min_of(end, i_w)):
    ONE
END"""

_PLANES = """\
@native
def NAME(lo, hi, GIVEN, adaptive, exclusive, EXTENTS):
    inside = min_of(o_w, first_inside(INLINE, p_w, s_w))
    behind = last_inside(INLINE, inside, i_w, o_w, s_w, p_w, k_w)
    BEFORE
    for piece in range(lo, hi):
        plane, results = piece * i_d * i_h * i_w * SIZE, piece * o_d * o_h * o_w * SIZE
        CLEARED
        for d in range(o_d):
            begin_d = max_of(begin_of(adaptive, d, i_d, o_d, s_d, p_d), 0)
            end_d = min_of(end_of(adaptive, d, i_d, o_d, s_d, p_d, k_d), i_d)
            for h in range(o_h):
                begin_h = max_of(begin_of(adaptive, h, i_h, o_h, s_h, p_h), 0)
                end_h = min_of(end_of(adaptive, h, i_h, o_h, s_h, p_h, k_h), i_h)
                to = results + (d * o_h + h) * o_w * SIZE
                FIRST
                for a in range(begin_d, end_d):
                    for b in range(begin_h, end_h):
                        EACH
                LAST
    AFTER
"""


def _filled(template: str, parts: dict[str, str]) -> str:
    """The template with its capital words replaced; a line that is one of them takes its indentation along."""
    lines = []
    for line in template.splitlines():
        bare = line.strip()
        if bare in parts:
            lines += [line.replace(bare, part) for part in parts[bare].splitlines()]
        else:
            for word, part in parts.items():
                line = line.replace(word, part) if word in line and "\n" not in part else line
            lines.append(line)
    return "\n".join(lines) + "\n"


class _Pool(NamedTuple):
    """What a pool does for a row of results: with each row of its windows (start, for every element, end), and around that."""

    arrays: str
    row: str = "pass"  # the call of the function on rows
    parameters: str = ""
    start: str = "pass"
    one: str = "pass"
    end: str = "pass"
    before: str = "pass"
    cleared: str = "pass"
    first: str = "pass"
    each: str = "ROW"
    last: str = "pass"
    after: str = "pass"


_AT = "(a * i_h + b) * i_w"
_LINE = f"plane + {_AT} * SIZE, adaptive, i_w, o_w, k_w, s_w, p_w, inside, behind)"
_WIDE = "counted(adaptive, exclusive, w, i_w, o_w, s_w, p_w, k_w)"
_ALONG = "counted(adaptive, exclusive, d, i_d, o_d, s_d, p_d, k_d) * counted(adaptive, exclusive, h, i_h, o_h, s_h, p_h, k_h)"
_CLEARED = "for k in range(i_d * i_h * i_w):\n    floats(into + plane)[k] = T(0)"
_MARKED = f"""\
for w in range(o_w):
    floats(best)[w] = T(LOWEST)
    i32(marks)[w] = -1
for a in range(begin_d, end_d):
    for b in range(begin_h, end_h):
        met(best, marks, {_AT}, x + {_LINE}"""
_MARK = """\
for w in range(o_w):
    begin_w = max_of(begin_of(adaptive, w, i_w, o_w, s_w, p_w), 0)
    end_w = min_of(end_of(adaptive, w, i_w, o_w, s_w, p_w, k_w), i_w)
    at = i32(marks)[w] if best != 0 else mark_of(x + plane, begin_d, end_d, begin_h, end_h, begin_w, end_w, i_h, i_w)
"""
_MARKING = _Pool(
    "",
    parameters="best_at, marks, first",
    start="best = floats(best_at)[w]\nmark = i32(marks)[w]",
    one="value = VALUE\nmark = first + PLACE if value > best else mark\nbest = value if value > best else best",
    end="floats(best_at)[w] = best\ni32(marks)[w] = mark",
    each="pass",
)
_MARKING_APART = _MARKING._replace(
    before="best = new_memory(o_w * (SIZE + 4))\nmarks = best + o_w * SIZE",
    first="if best != 0:\n" + textwrap.indent(_MARKED, "    "),
    after="free_memory(best)",
)
_POOLS = {
    "max_pooled": _Pool(
        "x, out",
        f"met(out + to, x + {_LINE}",
        "best_at",
        "best = floats(best_at)[w]",
        "value = VALUE\nbest = best if best > value else value",
        "floats(best_at)[w] = best",
        first="for w in range(o_w):\n    floats(out + to)[w] = T(LOWEST)",
    ),
    "max_marked": _MARKING._replace(arrays="x, out, index", first=f"best, marks = out + to, index + to // SIZE * 4\n{_MARKED}"),
    "max_spread": _MARKING_APART._replace(
        arrays="g, x, into",
        cleared=_CLEARED,
        last=_MARK + "    if at >= 0:\n        floats(into + plane)[at] = floats(into + plane)[at] + floats(g + to)[w]",
    ),
    "max_picked": _MARKING_APART._replace(
        arrays="h_at, x, out", last=_MARK + "    floats(out + to)[w] = floats(h_at + plane)[at] if at >= 0 else T(0)"
    ),
    "mean_pooled": _Pool(
        "x, out",
        f"met(out + to, x + {_LINE}",
        "sums",
        "total = floats(sums)[w]",
        "total += VALUE",
        "floats(sums)[w] = total",
        first="for w in range(o_w):\n    floats(out + to)[w] = T(0)",
        last=f"along = {_ALONG}\nfor w in range(o_w):\n    floats(out + to)[w] = floats(out + to)[w] / T(along * {_WIDE})",
    ),
    "mean_spread": _Pool(
        "g, into",
        f"met(g + to, along, exclusive, into + {_LINE}",
        "g_at, along, exclusive",
        f"share = floats(g_at)[w] / T(along * {_WIDE})",
        "row[PLACE] = row[PLACE] + share",
        cleared=_CLEARED,
        first=f"along = {_ALONG}",
    ),
}


def above(short: str, width: int, stride: int, name: str) -> str:
    """The functions of a pool, for windows of a width and a stride."""
    pool, lowest = _POOLS[name], repr(float(np.finfo(types.dtype(short).numpy).min))
    written = [pool.one.replace("VALUE", f"row[from_w + {j}]").replace("PLACE", f"from_w + {j}") for j in range(width)]
    words = {"PARAMETERS": pool.parameters, "START": pool.start, "END": pool.end, "STRIDE": str(stride), "ROW": "met"}
    words |= {"WRITTEN": "\n".join(written) or "pass"}
    border = _filled(_BORDER, words | {"ONE": pool.one.replace("VALUE", "row[from_w]").replace("PLACE", "from_w")}).rstrip("\n")
    row = _filled(_ROW, words | {"BORDER": border})
    around = {"NAME": name, "GIVEN": pool.arrays, "EXTENTS": ", ".join(NAMES), "INLINE": str(width > 0)}
    around |= {word: getattr(pool, word.lower()) for word in ("BEFORE", "CLEARED", "FIRST", "LAST", "AFTER")}
    around |= {"EACH": pool.row if pool.each == "ROW" else pool.each}
    marks = _MARK_OF if "mark_of" in pool.last else ""
    return (_WINDOWS + marks + row + _filled(_PLANES, around)).replace("LOWEST", lowest) + "\n\n"


def call(name: str, arrays: int, adaptive: bool, exclusive: bool) -> str:
    """The kernel behind its registers."""
    given = ["lo", "hi", *(f"r[o[{k}]]" for k in range(arrays)), str(int(adaptive)), str(int(exclusive))]
    return f"{name}({', '.join([*given, *(f'n{k}' for k in range(len(NAMES)))])})\n"
