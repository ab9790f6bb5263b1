"""The law of sums as text: a fixed tree of 64 lanes over the logical reduced index, whatever the layout and the threads.

Element e goes to lane e mod 64, in ascending e, and the lanes are halved six times, the upper half onto the lower one. What is
longer than CHUNK elements is done in chunks of so many; a chunk's result counts as one element of the same rule. Products,
maxima and minima go the same way. A `Join` says what stands in an empty lane: joined to anything, it changes nothing.

In: a join and the text of the element at flat index k. Out: the text of functions that join elements, for kernels to call:
of one run of memory, of several runs one after the other, or of columns side by side. `given` names what else they are handed.

>>> [line for line in over_a_run("total", "x", [Part("x[k]", SUM)]).splitlines() if line.startswith("def")]
['def total_chunk(x, at, count):', 'def total(x, at, count):']
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from d2s.types import DType

CHUNK = 65536
WIDTH = 64  # columns that are joined side by side
AHEAD = 4096  # elements, at most: what comes must not drive out what is there


class Join(NamedTuple):
    """How two values become one: its name among the functions of lanes, its text, and what changes nothing."""

    name: str
    text: str
    start: str
    in_any_order: bool = False  # with the same bits


SUM = Join("add", "{a} + {b}", "T(0)")
WHOLE_SUM = Join("add", "{a} + {b}", "T(0)", in_any_order=True)
PRODUCT = Join("mul", "{a} * {b}", "T(1)")


def extreme(name: str, of: DType) -> Join:
    """The join of a maximum or a minimum; nan wins."""
    sign = {"max": ">=", "min": "<="}[name]
    kept = f"({{a}} {sign} {{b}}) | ({{a}} != {{a}})" if of.kind == "f" else f"{{a}} {sign} {{b}}"
    return Join(name, f"select({kept}, {{a}}, {{b}})", f"T({_least(name, of)})")


def _least(name: str, of: DType) -> str:
    if of.kind == "f":
        return "-math.inf" if name == "max" else "math.inf"
    bits, unsigned = 8 * of.size, of.name == "uint8"
    return str((0 if unsigned else -(1 << bits - 1)) if name == "max" else (1 << bits - (not unsigned)) - 1)


class Part(NamedTuple):
    """One of the ways in which the elements of a line are joined: the text of one, and how."""

    element: str
    join: Join


class _Each:
    """Lines of a text for each of some parts: {p} is its number, {joined} what `a` and `b` come to."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts

    def __call__(self, line: str, a: str = "", b: str = "") -> str:
        return "\n".join(self._filled(line, a, b))

    def listed(self, text: str) -> str:
        return ", ".join(self._filled(text))

    def _filled(self, line: str, a: str = "", b: str = "") -> list[str]:
        found = []
        for p, (element, join) in enumerate(self.parts):
            known = {"p": p, "element": element, "join": join.name, "start": join.start}
            joined = join.text.format(a=a.format(**known), b=b.format(**known))
            found.append(line.format(**known, joined=joined))
        return found


def over_a_run(name: str, given: str, parts: Sequence[Part], ahead: bool = False) -> str:
    """`name(given, at, count)`: elements at ... at + count - 1 joined, in each of some ways.

    `ahead`: there is more to do with these elements, during which memory would wait; so as many behind them are asked for.

    There is one place that joins a chunk, for a short line, too: what stands there twice is compiled twice.
    Whole blocks and the rest have buffers of their own: LLVM keeps the first in registers only while nothing masks it.
    """
    if all(part.join.in_any_order for part in parts):
        return _in_order(name, given, parts)
    read = sorted({x for part in parts for x in re.findall(r"(\w+)\[k\]", part.element)}) if ahead else []
    asked = "".join(f"        lanes_ahead({x}, at + (block << 6) + select(count < {AHEAD}, count, {AHEAD}))\n" for x in read)
    each = _Each(parts)
    return f"""\
@inlined
def {name}_chunk({given}, at, count):
{each("    buffer{p}, last{p}, lanes{p} = local64(), local64(), lanes_of({start})")}
    for block in range(count >> 6):
{asked}\
        for lane in range(64):
            k = at + (block << 6) + lane
{each("            buffer{p}[lane] = {element}")}
{each("        lanes{p} = lanes_{join}(lanes{p}, lanes_at(buffer{p}, 0))")}
    rest = count & 63
    if rest > 0:
        for lane in range(64):
{each("            v{p} = {start}")}
            if lane < rest:
                k = at + count - rest + lane
{each("                v{p} = {element}")}
{each("            last{p}[lane] = v{p}")}
{each("        lanes{p} = lanes_{join}(lanes{p}, lanes_at(last{p}, 0))")}
    return {each.listed("fold_{join}(lanes{p})")}

@inlined
def {name}({given}, at, count):
{each("    value{p}, chunks{p} = {start}, local64()")}
    for lane in range(select(count > {CHUNK}, 64, 0)):
{each("        chunks{p}[lane] = {start}")}
    for part in range(select(count > 0, (count + {CHUNK - 1}) >> 16, 1)):
        start, place = part << 16, part & 63
        length = select(count - start < {CHUNK}, count - start, {CHUNK})
        {each.listed("value{p}")} = {name}_chunk({given}, at + start, length)
        if count > {CHUNK}:
{each("            chunks{p}[place] = {joined}", a="chunks{p}[place]", b="value{p}")}
    if count > {CHUNK}:
{each("        value{p} = fold_{join}(lanes_at(chunks{p}, 0))")}
    return {each.listed("value{p}")}

"""


def _in_order(name: str, given: str, parts: Sequence[Part]) -> str:
    """`over_a_run` where every order is right: LLVM finds the best one, a tenth of the time for bools."""
    each = _Each(parts)
    return f"""\
@inlined
def {name}({given}, at, count):
{each("    value{p} = {start}")}
    for k in range(at, at + count):
{each("        value{p} = {joined}", a="value{p}", b="{element}")}
    return {each.listed("T(value{p})")}

"""


def over_runs(name: str, given: str, parts: Sequence[Part]) -> str:
    """`name(given, e, at, count, lanes0, chunks0 ...)`: run after run, in each of some ways; e elements were joined before it.

    `lanes0` and `chunks0`, of the first way, are arrays of 64 that start as `name_start0` leaves them; `name_end0` gives what
    came out.
    """
    each = _Each(parts)
    return f"""\
{each(_AROUND.replace("NAME", name), a="chunks[place]", b="value")}
@inlined
def {name}({given}, e, at, count, {each.listed("lanes{p}, chunks{p}")}):
{each("    buffer{p} = local64()")}
    end = e + count
    while e < end:
        if (e & 63) == 0 and end - e > 63:
            blocks, free = (end - e) >> 6, ({CHUNK} - (e & {CHUNK - 1})) >> 6
            blocks = select(blocks < free, blocks, free)
{each("            held{p} = lanes_at(lanes{p}, 0)")}
            for block in range(blocks):
                for lane in range(64):
                    k = at + (block << 6) + lane
{each("                    buffer{p}[lane] = {element}")}
{each("                held{p} = lanes_{join}(held{p}, lanes_at(buffer{p}, 0))")}
{each("            lanes_put(lanes{p}, 0, held{p})")}
            e += blocks << 6
            at += blocks << 6
        else:
            last = select(end <= (e | 63), end, (e | 63) + 1)
            for lane in range(e & 63, (e & 63) + last - e):
                k = at + lane - (e & 63)
{each("                lanes{p}[lane] = {joined}", a="lanes{p}[lane]", b="{element}")}
            at += last - e
            e = last
        if (e & {CHUNK - 1}) == 0:
{each(f"            {name}_flush{{p}}(e, lanes{{p}}, chunks{{p}})")}

"""


# what stands around the runs of one way to join
_AROUND = f"""\
@inlined
def NAME_start{{p}}(lanes, chunks):
    for lane in range(64):
        lanes[lane] = {{start}}
        chunks[lane] = {{start}}

@inlined
def NAME_flush{{p}}(e, lanes, chunks):
    place, value = ((e - 1) >> 16) & 63, fold_{{join}}(lanes_at(lanes, 0))
    chunks[place] = {{joined}}
    for lane in range(64):
        lanes[lane] = {{start}}

@inlined
def NAME_end{{p}}(e, lanes, chunks):
    if (e & {CHUNK - 1}) != 0:
        NAME_flush{{p}}(e, lanes, chunks)
    return fold_{{join}}(lanes_at(chunks, 0))
"""


def over_columns(name: str, given: str, element: str, join: Join, plain: bool, address: list[str]) -> str:
    """`name(given, total, step, width, lanes, chunks)`: `width` columns of `total` rows side by side, `step` apart.

    `lanes` and `chunks` are arrays of 64 rows of 64; the results are chunks[:width]. `address` are the lines that set `at` to
    the flat index of row e of the first column, and `even` to how many rows from there on are `step` apart.
    A plain element depends on k only, another one also on its row e or on its column j.
    """
    one = join.text.format(a="lanes[to + j]", b=element)
    pair = join.text.format(a="rows[j]", b="rows[half * width + j]")
    first = join.text.format(a="chunks[place + j]", b="lanes[j]")
    several = "select(stop - e < 64 - lane, stop - e, 64 - lane) if width == step else 1"
    return f"""\
@inlined
def {name}_fold(count, width, rows):
    half = 32
    while half > 0:
        for j in range(select(count - half < half, count - half, half) * width):
            rows[j] = {pair}
        half >>= 1

@inlined
def {name}({given}, total, step, width, lanes, chunks):
    parts = (total + {CHUNK - 1}) >> 16
    for j in range(select(parts < 63, parts + 1, 64) * width):
        chunks[j] = {join.start}
    for part in range(parts):
        e = part << 16
        end = select(total - e < {CHUNK}, total, e + {CHUNK})
        held = select(end - e < 64, end - e, 64)
        for j in range(held * width):
            lanes[j] = {join.start}
        while e < end:
{chr(10).join("            " + line for line in address)}
            stop = select(end - e < even, end, e + even)
            while e < stop:
                lane = e & 63
                to, rows = lane * width, {several if plain else "1"}
                if (rows == 1) & (width == {WIDTH}):
                    for j in range({WIDTH}):
                        k = at + j
                        lanes[to + j] = {one}
                else:
                    for j in range(rows * width):
                        k = at + j
                        lanes[to + j] = {one}
                at += rows * step
                e += rows
        {name}_fold(held, width, lanes)
        place = (part & 63) * width
        for j in range(width):
            chunks[place + j] = {first}
    {name}_fold(select(parts < 64, parts, 64), width, chunks)

"""
