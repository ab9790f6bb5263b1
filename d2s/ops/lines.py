"""Kernels that go along lines: reductions, softmax, normalisation. A line is what one result of a reduction is made of.

A kernel is a list of steps: totals over a line by the law of `tree.py`, values made of them, and work on each element. What a
line is made of in memory follows from the axes: one run, several runs, or a column; columns are done up to 64 side by side.
Texts of steps name values of their line in braces: {m} of a step named "m"; {line} is the number of the line, and its
element e stands at {first} + e * {step}.

In: steps and groups of axes. Out: extents, body, share and functions of a kernel.

>>> from d2s.types import float32
>>> extents, body, share, above = kernel([Total("v", SUM, "x", "x[k]"), put("out", "{v}")], groups_of(("n", 4), (1,)))
>>> extents, share
([('n',), (4,)], Share(pieces='n0', grain='1 + 16384 // (1 + n1)'))
>>> print(body.rstrip())
for piece in range(lo, hi):
    v = v_of(x, piece * n1, n1)
    out[piece] = v
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from d2s.ops.op import Op, Rule, Share
from d2s.ops.tree import SUM, WIDTH, Join, Part, over_a_run, over_columns, over_runs
from d2s.types import Dim, Shape

__all__ = ["SUM", "Do", "Each", "Group", "Let", "Total", "along_lines", "groups_of", "kernel", "product", "put"]

GRAIN = 16384  # elements a thread takes at a time, at least


class Group(NamedTuple):
    """Neighbouring axes that are all kept or all reduced."""

    reduced: bool
    dims: tuple[Dim, ...]


class Total(NamedTuple):
    """A value of the line: its elements joined. `given` are the arrays its text reads, `uses` earlier values of the line.

    An element is x[k]; it may also depend on its number e in the line. `each_run`: what else is handed over, run by run.
    """

    name: str
    join: Join
    given: str
    element: str
    uses: tuple[str, ...] = ()
    by_row: bool = False
    each_run: tuple[tuple[str, str], ...] = ()


class Let(NamedTuple):
    """A value of the line, made of others; `local` says which array holds it where lines stand side by side."""

    name: str
    value: str
    local: str = "local64"


class Do(NamedTuple):
    """A statement for each line."""

    text: str


def put(array: str, value: str) -> Do:
    """A result with one element per line."""
    return Do(f"{array}[{{line}}] = {value}")


class Each(NamedTuple):
    """What is done to the element of every k of the line, whose number in the line is e."""

    text: str


Step = Total | Let | Do | Each


class Sweep(NamedTuple):
    """Totals of which none uses another, so that each element need be read but once."""

    totals: tuple[Total, ...]

    @property
    def name(self) -> str:
        return "_and_".join(total.name for total in self.totals)

    @property
    def given(self) -> list[str]:
        return list(dict.fromkeys(name for total in self.totals for name in total.given.split(", ")))

    @property
    def uses(self) -> list[str]:
        return list(dict.fromkeys(name for total in self.totals for name in total.uses))

    @property
    def each_run(self) -> dict[str, str]:
        return dict(pair for total in self.totals for pair in total.each_run)

    def parts(self, value: str) -> list[Part]:
        """How each is joined; `value` says what a value of the line is called, of a name."""
        return [Part(t.element.format(**{name: value.format(name) for name in t.uses}), t.join) for t in self.totals]

    def takes(self, total: Total) -> bool:
        return not {t.name for t in self.totals} & set(total.uses)


Swept = Sweep | Let | Do | Each


def groups_of(shape: Shape, axis: tuple[int, ...]) -> list[Group]:
    """The groups of a shape; one that is reduced is always among them."""
    groups: list[Group] = [] if axis else [Group(True, (1,))]
    for i, dim in enumerate(shape):
        reduced = i in axis
        if groups and groups[-1].reduced == reduced:
            groups[-1] = Group(reduced, (*groups[-1].dims, dim))
        else:
            groups.append(Group(reduced, (dim,)))
    return groups


def kernel(steps: Sequence[Step], groups: Sequence[Group]) -> tuple[list[tuple[Dim, ...]], str, Share, str]:
    """Extents, body, share and functions of a kernel along the lines of the groups."""
    reduced = [k for k, group in enumerate(groups) if group.reduced]
    kept = [k for k, group in enumerate(groups) if not group.reduced]
    form = _Columns if not groups[-1].reduced else _Run if len(reduced) == 1 else _Runs
    found = form(kept, reduced)
    swept = found.swept(steps)
    passes = [step for step in swept if isinstance(step, Sweep | Each)]
    found.first = passes[0] if len(passes) > 1 else None
    body = "".join(f"{line}\n" for line in found.body(swept))
    above = "".join(found.function(step) for step in swept if isinstance(step, Sweep))
    return [g.dims for g in groups], body, Share(found.pieces, f"1 + {GRAIN} // (1 + {found.elements})"), above


def along_lines(op: Op) -> Callable[[Rule], Rule]:
    """Declares the kernel of an op that goes along lines: `lines` are its steps and groups, to which others may be joined."""

    def declare(steps: Rule) -> Rule:
        @functools.wraps(steps)
        def whole(*types: Any, **attrs: Any) -> Any:
            return kernel(*steps(*types, **attrs))

        op.rules |= {"lines": steps, "kernel": whole}
        return steps

    return declare


def product(numbers: Sequence[int]) -> str:
    """The product of some extents, as text."""
    return " * ".join(f"n{k}" for k in numbers) or "1"


def indented(lines: Sequence[str], steps: int = 1) -> list[str]:
    return ["    " * steps + line for line in lines]


def nested(numbers: Sequence[int], inside: Sequence[str]) -> list[str]:
    """Lines inside of loops over some groups."""
    heads = [f"{'    ' * depth}for i{k} in range(n{k}):" for depth, k in enumerate(numbers)]
    return [*heads, *indented(inside, len(heads))]


def _flat(last: int) -> str:
    """The flat index of i0, i1, ... i<last>."""
    text = "i0" if last >= 0 else "0"
    for k in range(1, last + 1):
        text = f"({text}) * n{k} + i{k}"
    return text


def _divided(piece: str, kept: Sequence[int]) -> list[str]:
    """The indices of kept groups, of a piece that counts all of them through."""
    if not kept:
        return []
    split = [line for k in reversed(kept[1:]) for line in (f"i{k} = left % n{k}", f"left //= n{k}")]
    return [f"left = {piece}", *split, f"i{kept[0]} = left"]


class _Form:
    """How lines lie in memory: which groups are kept, which are reduced."""

    line = "piece"
    first: Swept | None = None  # of several passes over a line
    side_by_side = False

    def __init__(self, kept: list[int], reduced: list[int]) -> None:
        self.kept, self.reduced = kept, reduced
        self.pieces, self.elements = product(kept), product(reduced)
        self.known = {"count": f"T({product(reduced)})", "line": self.line}
        self.values: set[str] = set()

    def text(self, of: str) -> str:
        return of.format(**self.known, **{name: self.value(name) for name in self.values})

    def value(self, name: str) -> str:
        return name

    def swept(self, steps: Sequence[Step]) -> list[Swept]:
        """The steps with sweeps in the place of totals: neighbours that do not use each other share one."""
        found: list[Swept] = []
        for step in steps:
            before = found[-1] if found else None
            if not isinstance(step, Total):
                found.append(step)
            elif isinstance(before, Sweep) and before.takes(step) and not self.side_by_side:
                found[-1] = Sweep((*before.totals, step))
            else:
                found.append(Sweep((step,)))
        return found

    def arguments(self, step: Sweep) -> str:
        return ", ".join([*step.given, *step.uses, *step.each_run.values()])

    def parameters(self, step: Sweep) -> str:
        return ", ".join([*step.given, *step.uses, *step.each_run])

    def body(self, steps: Sequence[Swept]) -> list[str]:
        return ["for piece in range(lo, hi):", *indented([line for step in steps for line in self.lines(step)])]

    def lines(self, step: Swept) -> list[str]:
        if isinstance(step, Do):
            return [self.text(step.text)]
        if isinstance(step, Each):
            return self.each(step)
        if isinstance(step, Let):
            found = [f"{step.name} = {self.text(step.value)}"]
            self.values.add(step.name)
            return found
        found = self.total(step)
        self.values |= {total.name for total in step.totals}
        return found

    def function(self, step: Sweep) -> str:
        raise NotImplementedError

    def total(self, step: Sweep) -> list[str]:
        raise NotImplementedError

    def each(self, step: Each) -> list[str]:
        raise NotImplementedError


class _Run(_Form):
    """A line is one run of memory."""

    def __init__(self, kept: list[int], reduced: list[int]) -> None:
        super().__init__(kept, reduced)
        self.known |= {"first": f"piece * n{reduced[0]}", "step": "1"}

    def function(self, step: Sweep) -> str:
        return over_a_run(f"{step.name}_of", self.parameters(step), step.parts("{}"), step is self.first)

    def total(self, step: Sweep) -> list[str]:
        found, run = ", ".join(total.name for total in step.totals), f"n{self.reduced[0]}"
        return [f"{found} = {step.name}_of({self.arguments(step)}, piece * {run}, {run})"]

    def each(self, step: Each) -> list[str]:
        run = f"n{self.reduced[0]}"
        return [f"for e in range({run}):", f"    k = piece * {run} + e", f"    {self.text(step.text)}"]


class _Runs(_Form):
    """A line is several runs of memory, one for each index of the outer reduced groups."""

    def body(self, steps: Sequence[Swept]) -> list[str]:
        inside = [*_divided("piece", self.kept), *(line for step in steps for line in self.lines(step))]
        most = max((len(step.totals) for step in steps if isinstance(step, Sweep)), default=0)
        arrays = [f"lanes{p}, chunks{p} = local64(), local64()" for p in range(most)]
        return [*arrays, "for piece in range(lo, hi):", *indented(inside)]

    def function(self, step: Sweep) -> str:
        return over_runs(f"{step.name}_of", self.parameters(step), step.parts("{}"))

    def total(self, step: Sweep) -> list[str]:
        last, name, count = self.reduced[-1], f"{step.name}_of", len(step.totals)
        arrays = ", ".join(f"lanes{p}, chunks{p}" for p in range(count))
        run = [f"{name}({self.arguments(step)}, e, ({_flat(last - 1)}) * n{last}, n{last}, {arrays})", f"e += n{last}"]
        begin = [f"{name}_start{p}(lanes{p}, chunks{p})" for p in range(count)]
        end = [f"{total.name} = {name}_end{p}(e, lanes{p}, chunks{p})" for p, total in enumerate(step.totals)]
        return ["e = 0", *begin, *nested(self.reduced[:-1], run), *end]

    def each(self, step: Each) -> list[str]:
        last = self.reduced[-1]
        run = [f"at = ({_flat(last - 1)}) * n{last}", f"for k in range(at, at + n{last}):", f"    {self.text(step.text)}"]
        return nested(self.reduced[:-1], run)


class _Columns(_Form):
    """Lines stand side by side: a value of the line is an array of 64."""

    side_by_side = True

    def __init__(self, kept: list[int], reduced: list[int]) -> None:
        super().__init__(kept, reduced)
        *self.outer, self.last = kept
        self.blocks = f"(n{self.last} + {WIDTH - 1}) // {WIDTH}"
        self.pieces = " * ".join([f"({self.blocks})", *(f"n{k}" for k in self.outer)])
        self.elements = f"{WIDTH} * {product(reduced)}"
        self.known["line"] = f"piece * n{self.last} + column + j" if self.outer else "column + j"
        self.known |= {"first": f"{self.base()} + j", "step": f"n{self.last}"}

    def body(self, steps: Sequence[Swept]) -> list[str]:
        lines = [f"{s.name} = {getattr(s, 'local', 'local64')}()" for s in steps if isinstance(s, Sweep | Let)]
        lines += ["lanes, chunks = local4096(), local4096()", f"blocks, rows = {self.blocks}, {product(self.reduced)}"]
        inside = [f"column, piece = part % blocks * {WIDTH}, part // blocks", *_divided("piece", self.outer)]
        inside += [f"width = select(n{self.last} - column < {WIDTH}, n{self.last} - column, {WIDTH})"]
        inside += [line for step in steps for line in self.lines(step)]
        return [*lines, "for part in range(lo, hi):", *indented(inside)]

    def value(self, name: str) -> str:
        return f"{name}[j]"

    def lines(self, step: Swept) -> list[str]:
        if isinstance(step, Let):
            self.values.add(step.name)
            step = Do(f"{self.value(step.name)} = {step.value}")
        if isinstance(step, Do):
            return ["for j in range(width):", f"    {self.text(step.text)}"]
        return super().lines(step)

    def function(self, step: Sweep) -> str:
        (only,), (part,) = step.totals, step.parts("{}[j]")
        plain = not only.uses and not only.by_row
        return over_columns(f"{step.name}_of", self.parameters(step), *part, plain, self.address())

    def address(self) -> list[str]:
        """How a total finds row e, and how many rows follow evenly."""
        *outer, inner = self.reduced
        if not outer:
            return [f"i{inner}, even = e, total - e", f"at = {self.row()}"]
        split = [f"i{inner}, left = e % n{inner}, e // n{inner}"]
        split += [line for k in reversed(outer[1:]) for line in (f"i{k} = left % n{k}", f"left //= n{k}")]
        return [*split, f"i{outer[0]}, even = left, n{inner} - i{inner}", f"at = {self.row()}"]

    def row(self) -> str:
        """The flat index of the first element of a row of the strip."""
        return f"({_flat(self.reduced[-1])}) * n{self.last} + column"

    def frame(self) -> str:
        """What a total needs besides its arrays to find rows."""
        groups = range(self.last + 1)
        return ", ".join([*(f"n{k}" for k in groups), *(f"i{k}" for k in self.outer), "column"])

    def arguments(self, step: Sweep) -> str:
        return f"{super().arguments(step)}, {self.frame()}"

    def parameters(self, step: Sweep) -> str:
        return f"{super().parameters(step)}, {self.frame()}"

    def base(self) -> str:
        """The flat index of the first element of the strip, of one index of the outer reduced groups."""
        inner = self.reduced[-1]
        return f"({_flat(inner - 1)}) * n{inner} * n{self.last} + column" if inner else "column"

    def total(self, step: Sweep) -> list[str]:
        call = f"{step.name}_of({self.arguments(step)}, rows, n{self.last}, width, lanes, chunks)"
        return [call, "for j in range(width):", f"    {step.name}[j] = chunks[j]"]

    def each(self, step: Each) -> list[str]:
        inner = self.reduced[-1]
        row = [f"at = {self.base()}", f"for row in range(n{inner}):", "    for j in range(width):"]
        row += [f"        k = at + row * n{self.last} + j", f"        {self.text(step.text)}"]
        return nested(self.reduced[:-1], row)
