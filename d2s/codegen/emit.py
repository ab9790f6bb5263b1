"""Kernels as readable Numba text. In: an op, types, attributes. Out: the text and the extents it is called with.

A kernel is `kernel(r, o)`: `r` holds the registers of the running call (addresses, extents), `o` says which registers this
use of it reads: inputs, outputs, extents, and one to report a fault in. All values lie contiguous in row-major order;
broadcasting is part of the text.

A kernel whose work is worth sharing is `kernel(r, o, lo, hi)`: it does the pieces lo ... hi - 1 of its outermost loop. Asked
with hi < 0 it says how many pieces there are (lo = 0) and how many of them a thread takes at a time (lo = 1). Where the
borders fall depends on extents only, and every piece writes results of its own.

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
def kernel(r, o, lo, hi):
    x = f32_in(r[o[0]])
    y = f32_in(r[o[1]])
    out = f32_out(r[o[2]])
    n0 = r[o[3]]
    n1 = r[o[4]]
    if hi < 0:
        return n0 if lo == 0 else 1 + 16384 // (1 + n1)
    for i0 in range(lo, hi):
        for i1 in range(n1):
            out[i0 * n1 + i1] = add(x[i0 * n1 + i1], y[i1])
    return 0
<BLANKLINE>
"""

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from d2s.ops import (
    Op,
    Share,
    vector_angles,
    vector_division,
    vector_error,
    vector_float32,
    vector_gamma,
    vector_inverses,
    vector_math,
)
from d2s.parsing import tree_of
from d2s.types import Dim, DType, Shape, Type

BEHIND = {"fault": "[fault]", "follower": "at(o, follower)"}  # what a register behind the extents is for, and who asks for it
CHUNK = 16384  # elements a thread takes at a time, at least
_CALL = re.compile(r"\bvm\.(\w+)")
Loop = tuple[tuple[bool, ...], tuple[Dim, ...]]  # which inputs move along it, and the dims it runs over


class Follower(NamedTuple):
    """A kernel that does parts of a result as soon as they are finished: its text, what it is given, the extents it reads.

    `own` are the values of the node that the kernel in front of it is given, `given` its own: inputs, then outputs by number.
    """

    text: str
    T: str
    extents: tuple[tuple[Dim, ...], ...]
    own: tuple[int, ...]
    given: tuple[int, ...]


class Launch(NamedTuple):
    """A kernel's text, what `T` is in it, the extents it reads (products of dims), whether a last register reports a fault.

    Of a loop also how many of its inputs trips change; then registers for `ran` and `more` come before that of the fault.
    """

    text: str
    T: str
    extents: tuple[tuple[Dim, ...], ...]
    fails: bool = False
    carries: int = 0
    follower: Follower | None = None


class Element(NamedTuple):
    """What happens to one element: functions as text, the op's own last; how inputs are read; what `T` is in the text."""

    functions: list[str]
    views: list[Shape]
    T: DType
    overflow: str  # the function that tells whether a Python int left 64 bits, if one may


def element(op: Op, inputs: Sequence[Type], out: Type, attrs: dict[str, Any]) -> Element | None:
    """The scalar text of an elementwise op; None for other ops."""
    if op.scalar:
        functions, views, computed = _scalar_text(op.scalar, inputs[op.kept].dtype), [t.shape for t in inputs], inputs[op.kept]
    elif op.has("scalar"):
        expression, views = op.rules["scalar"](*inputs, **attrs)
        needed_texts, expression = called(expression, out.dtype)
        names = ", ".join(op.arrays[: len(views)])
        functions, computed = [*needed_texts, f"@inlined\ndef {op.name}({names}):\n    return {expression}\n"], out
    else:
        return None
    checked = bool(op.overflow) and out.python and out.dtype.kind == "i"
    overflow = f"@inlined\ndef left_64_bits({', '.join(op.arrays)}, v):\n    return {op.overflow}\n" if checked else ""
    return Element(functions, views, computed.dtype, overflow)


def lower(op: Op, inputs: Sequence[Type], outputs: Sequence[Type], attrs: dict[str, Any]) -> Launch:
    """The kernel of one op: the emitter's group of one."""
    out = outputs[0]
    one = element(op, inputs, out, attrs)
    if one:
        return _elementwise(op, one, inputs, out)
    return of_text(op, inputs, outputs, op.rules["kernel"](*inputs, *outputs, **attrs))


def of_text(op: Op, inputs: Sequence[Type], outputs: Sequence[Type], found: tuple[Any, ...]) -> Launch:
    """A kernel whose extents, body, share and functions an op's rule has given."""
    out = outputs[0]
    extents, body, share, above = found + (None, "")[len(found) - 2 :]
    shown = f"{op.name}({', '.join(t.dtype.short for t in inputs)}) -> {', '.join(t.dtype.short for t in outputs)}"
    function = _function(op, inputs, outputs, len(extents), shown, body, share)
    needed_texts, text = called(above + function, out.dtype)
    return Launch("\n\n".join([*needed_texts, text]), out.dtype.short, tuple(extents), "[fault]" in body)


@functools.lru_cache(maxsize=128)  # one op at a few sizes: most of a text is above its kernel
def called(body: str, computed: DType) -> tuple[list[str], str]:
    """The texts of the vector math a kernel calls, and the kernel with the names they have there."""
    found = {name: _chosen(name, computed) for name in _CALL.findall(body)}
    return _needed(list(found.values())), _CALL.sub(lambda call: found[call[1]], body)


def _elementwise(op: Op, one: Element, inputs: Sequence[Type], out: Type) -> Launch:
    loops = coalesced(one.views, out.shape)
    read = list(zip(op.arrays, [index(loops, k) for k in range(len(one.views))], inputs, strict=False))
    values = [loaded(name, at, t.dtype) for name, at, t in read]
    lines = [*heads(loops), f"{'    ' * len(loops)}out[{index(loops, None)}] = {op.name}({', '.join(values)})"]
    functions = list(one.functions)
    if one.overflow:
        functions.append(one.overflow)
        lines += [f"if left_64_bits({', '.join(values)}, out[0]):", "    r[o[fault]] = 1"]
    shown = ", ".join(f"{t.dtype.short}[{at}]" for _, at, t in read)
    shown = f"{op.name}({shown}) -> {out.dtype.short}[{index(loops, None)}]"
    share = [shared(len(loops))] if loops else []
    function = _function(op, inputs, [out], len(loops), shown, "\n".join(lines) + "\n", *share)
    extents = tuple(dims for _, dims in loops)
    return Launch("\n\n".join([*functions, function]), one.T.short, extents, bool(one.overflow))


def loaded(name: str, at: str, of: DType) -> str:
    """An element of an input, as scalar texts take it."""
    return f"({name}[{at}] != 0)" if of.kind == "b" else f"{name}[{at}]"


def heads(loops: list[Loop]) -> list[str]:
    """The lines that open loops; the outermost is the one whose rounds threads share."""
    spans = ["lo, hi", *(f"n{k}" for k in range(1, len(loops)))]
    return [f"{'    ' * k}for i{k} in range({spans[k]}):" for k in range(len(loops))]


def shared(loops: int) -> Share:
    """Rounds of the outermost loop, so many at a time that a chunk is some thousand elements."""
    inner = " * ".join(f"n{k}" for k in range(1, loops))
    return Share("n0", f"1 + {CHUNK} // (1 + {inner})" if inner else str(CHUNK))


def _function(
    op: Op, inputs: Sequence[Type], outputs: Sequence[Type], extents: int, shown: str, body: str, share: Share | None = None
) -> str:
    """The whole kernel: registers into typed names, then the body."""
    names = [*op.names(len(inputs)), "out", *(f"out{k}" for k in range(1, len(outputs)))]
    types = [f"{t.dtype.short}_in" for t in inputs] + [f"{t.dtype.short}_out" for t in outputs]
    lines = [f"{n} = {t}(r[o[{k}]])" for k, (n, t) in enumerate(zip(names, types, strict=True))]
    lines += [f"n{k} = r[o[{len(names) + k}]]" for k in range(extents)]
    lines += [f"{behind} = {len(names) + extents}" for behind, told in BEHIND.items() if told in body]
    if share:
        lines += ["if hi < 0:", f"    return {share.pieces} if lo == 0 else {share.grain}"]
    head = f"# {shown}\ndef kernel(r, o{', lo, hi' if share else ''}):\n"
    tail = "return 0\n" if share else ""
    return head + textwrap.indent("\n".join(lines) + "\n" + body + tail, "    ")


def coalesced(views: list[Shape], out: Shape) -> list[Loop]:
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


def index(loops: list[Loop], k: int | None) -> str:
    """The flat index of input k (of the output for None), by Horner's rule over the loops along which it moves."""
    text = ""
    for n, (moves, _) in enumerate(loops):
        if k is None or moves[k]:
            text = f"({text}) * n{n} + i{n}" if "+" in text else f"{text} * n{n} + i{n}" if text else f"i{n}"
    return text or "0"


@functools.cache
def _scalar_text(scalar: Callable[..., Any], computed: DType) -> list[str]:
    """The body of an elementwise op as it stands in its file, behind the vector math it calls."""
    function = tree_of(textwrap.dedent(inspect.getsource(scalar))).body[0]
    calls = _Calls(computed)
    text = _plain(calls.visit(function))
    return [*_needed(calls.found), text]


def needed(name: str, computed: DType) -> str:
    """The text of `vm.<name>` for a dtype, and of all it needs."""
    return "\n\n".join(_needed([_chosen(name, computed)]))


def _chosen(name: str, computed: DType) -> str:
    """The name in `vector_math` that `vm.<name>` means for a dtype."""
    kind = {"b": "int", "i": "int", "f": computed.short}[computed.kind]
    return f"{name}_{kind}" if f"{name}_{kind}" in _definitions() else name


class _Calls(ast.NodeTransformer):
    """Writes `exp_f32` for `vm.exp`."""

    def __init__(self, computed: DType) -> None:
        self.computed, self.found = computed, list[str]()

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if not isinstance(node.value, ast.Name) or node.value.id != "vm":
            return node
        self.found.append(_chosen(node.attr, self.computed))
        return ast.Name(self.found[-1], ast.Load())


class _Polynomials(ast.NodeTransformer):
    """Writes `P(z)` for `polynomial(P, z)`."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "polynomial":
            return ast.Call(node.args[0], node.args[1:], [])
        return node


@functools.cache
def _definitions() -> dict[str, tuple[str, set[str]]]:
    """What vector math defines: the text of each name, and the names in it."""
    found: dict[str, tuple[str, set[str]]] = {}
    parts = (vector_math, vector_error, vector_float32, vector_angles, vector_inverses, vector_gamma, vector_division)
    for node in (node for part in parts for node in tree_of(inspect.getsource(part)).body):
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        if isinstance(node, ast.FunctionDef):
            found[node.name] = _plain(_Polynomials().visit(node)), names
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            terms = ast.literal_eval(node.value) if isinstance(node.value, ast.Tuple) else ()
            found[name] = (_horner(name, terms), {"fma"}) if terms else (ast.unparse(node) + "\n", names - {name})
    return found


def _horner(name: str, terms: Sequence[float]) -> str:
    first, *rest = [f"float32({c!r})" if name.endswith("_F32") else repr(c) for c in reversed(terms)]
    lines = [f"p = {first}", *(f"p = fma(p, z, {c})" for c in rest), "return p"]
    return f"@inlined\ndef {name}(z):\n" + textwrap.indent("\n".join(lines) + "\n", "    ")


def _needed(names: Sequence[str]) -> list[str]:
    """The texts of names of vector math and of what they need, in the order of its file."""
    if not names:
        return []
    definitions, wanted, ahead = _definitions(), set[str](), list(names)
    while ahead:
        name = ahead.pop()
        if name in definitions and name not in wanted:
            wanted.add(name)
            ahead += definitions[name][1]
    return [text for name, (text, _) in definitions.items() if name in wanted]


def _plain(function: Any) -> str:
    """A function without decorators, annotations and docstring."""
    function.decorator_list, function.returns = [], None
    function.body = function.body[1:] if ast.get_docstring(function) else function.body
    return f"@inlined\n{ast.unparse(function)}\n"
