"""Kernels as readable Numba text. In: an op, types, attributes. Out: the text and the extents it is called with.

A kernel is `kernel(r, o)`: `r` holds the registers of the running call (addresses, extents), `o` says which registers this
use of it reads: inputs, outputs, extents. All values lie contiguous in row-major order; broadcasting is part of the text.

>>> from d2s.ops import OPS
>>> from d2s.types import float32
>>> x, b = Type(float32, ("n", 4)), Type(float32, (4,))
>>> launch = lower(OPS["add"], (x, b), (x,), {})
>>> launch.extents
(('n',), (4,))
>>> print(launch.text)
@inlined
def add(x, y):
    return T(x + y)
<BLANKLINE>
<BLANKLINE>
# add(f32[i0 * n1 + i1], f32[i1]) -> f32[i0 * n1 + i1]
def kernel(r, o):
    x = f32(r[o[0]])
    y = f32(r[o[1]])
    out = f32(r[o[2]])
    n0 = r[o[3]]
    n1 = r[o[4]]
    for i0 in range(n0):
        for i1 in range(n1):
            out[i0 * n1 + i1] = add(x[i0 * n1 + i1], y[i1])
<BLANKLINE>
"""

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from d2s.ops import Op
from d2s.types import Dim, Shape, Type

Loop = tuple[tuple[bool, ...], tuple[Dim, ...]]  # which inputs move along it, and the dims it runs over


class Launch(NamedTuple):
    """A kernel's text, what `T` is in it, the extents it reads (products of dims), whether a last register reports failure."""

    text: str
    T: str
    extents: tuple[tuple[Dim, ...], ...]
    fails: bool = False


def lower(op: Op, inputs: Sequence[Type], outputs: Sequence[Type], attrs: dict[str, Any]) -> Launch:
    """The kernel of one op: the emitter's group of one."""
    out = outputs[0]
    if op.scalar:
        return _elementwise(op, _scalar_text(op.scalar), [t.shape for t in inputs], inputs, out, inputs[op.kept])
    if op.has("scalar"):
        expression, views = op.rules["scalar"](*inputs, **attrs)
        text = f"def {op.name}({', '.join(op.arrays[: len(views)])}):\n    return {expression}\n"
        return _elementwise(op, text, views, inputs, out, out)
    extents, body = op.rules["kernel"](*inputs, out, **attrs)
    shown = f"{op.name}({', '.join(t.dtype.short for t in inputs)}) -> {out.dtype.short}"
    return Launch(_function(op, inputs, out, len(extents), shown, body), out.dtype.short, tuple(extents))


def _elementwise(op: Op, scalar: str, views: list[Shape], inputs: Sequence[Type], out: Type, T: Type) -> Launch:
    loops = _coalesced(views, out.shape)
    read = list(zip(op.arrays, [_index(loops, k) for k in range(len(views))], inputs, strict=False))
    values = [f"{name}[{at}]" if t.dtype.kind != "b" else f"({name}[{at}] != 0)" for name, at, t in read]
    call = f"{op.name}({', '.join(values)})"
    lines = [f"{'    ' * k}for i{k} in range(n{k}):" for k in range(len(loops))]
    lines.append(f"{'    ' * len(loops)}out[{_index(loops, None)}] = {call}")
    fails = bool(op.overflow) and out.python and out.dtype.kind == "i"
    if fails:
        scalar += f"\n\n@inlined\ndef left_64_bits({', '.join(op.arrays)}, v):\n    return {op.overflow}\n"
        lines += [f"if left_64_bits({', '.join(values)}, out[0]):", f"    r[o[{len(inputs) + 1}]] = 1"]
    shown = ", ".join(f"{t.dtype.short}[{at}]" for _, at, t in read)
    shown = f"{op.name}({shown}) -> {out.dtype.short}[{_index(loops, None)}]"
    function = _function(op, inputs, out, len(loops), shown, "\n".join(lines) + "\n")
    return Launch(f"@inlined\n{scalar}\n\n{function}", T.dtype.short, tuple(dims for _, dims in loops), fails)


def _function(op: Op, inputs: Sequence[Type], out: Type, extents: int, shown: str, body: str) -> str:
    """The whole kernel: registers into typed names, then the body."""
    names = [*op.arrays, "out"]
    lines = [f"{n} = {t.dtype.short}(r[o[{k}]])" for k, (n, t) in enumerate(zip(names, [*inputs, out], strict=True))]
    lines += [f"n{k} = r[o[{len(names) + k}]]" for k in range(extents)]
    return f"# {shown}\ndef kernel(r, o):\n" + textwrap.indent("\n".join(lines) + "\n" + body, "    ")


def _coalesced(views: list[Shape], out: Shape) -> list[Loop]:
    """The loops over `out`: neighbouring axes along which the same inputs move are one loop; axes of extent 1 are none."""
    loops: list[Loop] = []
    for axis, dim in enumerate(out):
        if dim == 1:
            continue
        back = axis - len(out)
        moves = tuple(len(v) >= -back and v[back] != 1 for v in views)
        if loops and loops[-1][0] == moves:
            loops[-1] = (moves, (*loops[-1][1], dim))
        else:
            loops.append((moves, (dim,)))
    return loops


def _index(loops: list[Loop], k: int | None) -> str:
    """The flat index of input k (of the output for None), by Horner's rule over the loops along which it moves."""
    text = ""
    for n, (moves, _) in enumerate(loops):
        if k is None or moves[k]:
            text = f"({text}) * n{n} + i{n}" if "+" in text else f"{text} * n{n} + i{n}" if text else f"i{n}"
    return text or "0"


@functools.cache
def _scalar_text(scalar: Callable[..., Any]) -> str:
    """The body of an elementwise op as it stands in its file, without decorator, annotations and docstring."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(scalar))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.decorator_list, tree.returns = [], None
    tree.body = tree.body[1:] if ast.get_docstring(tree) else tree.body
    return ast.unparse(tree) + "\n"
