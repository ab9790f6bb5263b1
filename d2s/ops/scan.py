"""Scans: every element becomes what those before it come to, in ascending order along an axis; and the other way round.

In: values and an axis; without one, all values in a row. Out: values of the same shape.

>>> from d2s.types import float32
>>> cumsum_.infer([Type(float32, ("n", 4))], {"axis": 1, "reverse": False})
(f32[n,4],)
"""

from collections.abc import Sequence
from typing import Any

from d2s import types
from d2s.errors import DTypeError
from d2s.ops.along_axis import collect_along
from d2s.ops.compare import cast
from d2s.ops.lines import indented
from d2s.ops.op import Op, Share, op
from d2s.ops.shape import flatten
from d2s.ops.shapes import tensor_type
from d2s.ops.softmax import FINITE, floats, one_axis
from d2s.ops.tree import WIDTH
from d2s.types import Type, int64

GRAIN = 16384  # elements a thread takes at a time, at least


# --- kernels -----------------------------------------------------------------------------------------------------------------


def scanned(x: Type, axis: int, state: dict[str, tuple[str, str]], body: Sequence[str], reverse: bool = False):
    """Extents, text and share of a scan: `body` is done for the element k, which is number e of its line of {count}.

    `state` names what goes from element to element: the array that holds it where lines are columns, and its first value.
    {first} is the element before it all, {step} how far neighbours are apart.
    """
    form = _columns if axis + 1 < len(x.shape) else _rows
    lines, count, elements = form(state, body, "n1 - 1 - turn" if reverse else "turn")
    extents = [x.shape[:axis], x.shape[axis : axis + 1], x.shape[axis + 1 :]]
    return extents, "\n".join(lines) + "\n", Share(count, f"1 + {GRAIN} // (1 + {elements})"), ""


def _rows(state: dict[str, tuple[str, str]], body: Sequence[str], e: str):
    named = {name: name for name in state} | {"count": "n1", "step": "1"}
    starts = [f"{name} = {value}" for name, (_, value) in state.items()]
    inside = ["for turn in range(n1):", f"    e = {e}", "    k = piece * n1 + e"]
    inside += indented([line.format(**named) for line in body])
    return ["for piece in range(lo, hi):", *indented(["start = piece * n1", *_at(starts, "start"), *inside])], "n0", "n1"


def _at(starts: Sequence[str], first: str) -> list[str]:
    return [line.replace("{first}", first) for line in starts]


def _columns(state: dict[str, tuple[str, str]], body: Sequence[str], e: str):
    named = {name: f"{name}[j]" for name in state} | {"count": "n1", "step": "n2"}
    starts = _at([f"{name}[j] = {value}" for name, (_, value) in state.items()], "start + j")
    blocks = f"(n2 + {WIDTH - 1}) // {WIDTH}"
    inside = [f"column, piece = part % blocks * {WIDTH}, part // blocks", "start = piece * n1 * n2 + column"]
    inside += [f"width = select(n2 - column < {WIDTH}, n2 - column, {WIDTH})"]
    inside += ["for j in range(width):", *indented(starts or ["pass"]), "for turn in range(n1):", f"    e = {e}"]
    inside += ["    for j in range(width):", "        k = start + e * n2 + j"]
    inside += indented([line.format(**named) for line in body], 2)
    lines = [f"{name} = {array}()" for name, (array, _) in state.items()] + [f"blocks = {blocks}"]
    return [*lines, "for part in range(lo, hi):", *indented(inside)], f"n0 * ({blocks})", f"n1 * {WIDTH}"


# --- rules that scans share --------------------------------------------------------------------------------------------------


def _scans(of: Op) -> None:
    """The attribute of an op along an axis, and the type of one whose inputs and result are alike."""

    @of.rule("canonical")
    def _(x, *others, axis, **own):
        return {"axis": one_axis(axis, len(x.shape), of.name)} | own

    of.rule("infer")(_pulled_type if len(of.arrays) > 1 else _type)


def _type(x, axis):
    if x.dtype.kind == "b":
        raise DTypeError("D2S0003", "a scan does not take bool")
    return x


def _pulled_type(cotangent, x, y, axis):
    return x


def in_a_row(x: Any, axis: Any) -> tuple[Any, int]:
    """Values and an axis; without an axis, all values as one line."""
    return (flatten(x), 0) if axis is None else (x, axis)


# --- sums and products -------------------------------------------------------------------------------------------------------


@op(paddle=None, onnx="CumSum")
def cumsum_(x, axis: int, reverse: bool = False):
    """The sum of each element and those before it, or with `reverse` behind it, along an axis.

    >>> d2s.ops.scan.cumsum_(d2s.to_tensor([1.0, 2.0]), 0, True).numpy().tolist()
    [3.0, 2.0]
    """


_scans(cumsum_)


@cumsum_.rule("infer")
def _(x, axis, reverse):
    return _type(x, axis)


@cumsum_.rule("kernel")
def _(x, out, axis, reverse):
    return scanned(x, axis, {"so_far": ("local64", "T(0)")}, ["{so_far} = {so_far} + x[k]", "out[k] = {so_far}"], reverse)


@cumsum_.rule("vjp")
def _(g, out, x, axis, reverse):
    return lambda: cumsum_(g, axis, not reverse)


def cumsum(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The sum of each element and those before it along an axis, or of all in a row; of integers in int64.

    >>> d2s.cumsum(d2s.to_tensor([1.0, 2.0, 3.0])).numpy().tolist()
    [1.0, 3.0, 6.0]
    """
    return cumsum_(*in_a_row(_widened(x, dtype), axis))


def _widened(x: Any, dtype: Any) -> Any:
    """x in the dtype asked for; without one, integers and bools in int64."""
    have = tensor_type(x, "cumsum", "x").dtype
    wanted = types.dtype(dtype) if dtype is not None else have if have.kind == "f" else int64
    return x if have is wanted else cast(x, wanted)


@op(paddle=None)
def cumprod_(x, axis: int):
    """The product of each element and those before it along an axis.

    >>> d2s.ops.scan.cumprod_(d2s.to_tensor([2.0, 3.0]), 0).numpy().tolist()
    [2.0, 6.0]
    """


_scans(cumprod_)


@cumprod_.rule("kernel")
def _(x, out, axis):
    return scanned(x, axis, {"so_far": ("local64", "T(1)")}, ["{so_far} = {so_far} * x[k]", "out[k] = {so_far}"])


@cumprod_.rule("vjp")
def _(g, out, x, axis):
    return lambda: cumprod_grad(g, x, out, axis)


@op(paddle=None)
def cumprod_grad(cotangent, x, y, axis: int):
    """The gradient of `cumprod`, without a division: right where x holds zeros.

    >>> x = d2s.to_tensor([0.0, 3.0])
    >>> d2s.ops.scan.cumprod_grad(d2s.to_tensor([1.0, 1.0]), x, d2s.cumprod(x, 0), 0).numpy().tolist()
    [4.0, 0.0]
    """


_scans(cumprod_grad)


@cumprod_grad.rule("kernel")
def _(cotangent, x, y, out, axis):
    behind = "cotangent[k] + (x[k + {step}] * {behind} if e + 1 < {count} else T(0))"
    body = ["{behind} = " + behind, "out[k] = {behind} * (y[k - {step}] if e > 0 else T(1))"]
    return scanned(x, axis, {"behind": ("local64", "T(0)")}, body, reverse=True)


def cumprod(x: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The product of each element and those before it along an axis, or of all in a row.

    >>> d2s.cumprod(d2s.to_tensor([1.0, 2.0, 3.0]), dim=0).numpy().tolist()
    [1.0, 2.0, 6.0]
    """
    x = x if dtype is None else cast(x, dtype)
    return cumprod_(*in_a_row(x, dim))


# --- the largest so far ------------------------------------------------------------------------------------------------------


def _extreme_scan(of: Op, sign: str) -> None:
    """Rules of an op that gives the largest (smallest) element so far, and where it stands: the last one that large."""

    @of.rule("canonical")
    def _(x, axis, dtype):
        return {"axis": one_axis(axis, len(x.shape), of.name), "dtype": types.dtype(dtype)}

    @of.rule("infer")
    def _(x, axis, dtype):
        if x.dtype.kind == "b" or dtype.name not in ("int32", "int64"):
            raise DTypeError("D2S0003", f"{of.name}(): takes no bool, and counts in int32 or int64; got {x}, {dtype.name}")
        return x, Type(dtype, x.shape)

    @of.rule("kernel")
    def _(x, *out, axis, dtype):
        state = {"best": ("local64", "x[{first}]"), "place": ("i64_local64", "0")}
        body = [f"better = (x[k] {sign} {{best}}) | (x[k] != x[k])", "{best} = select(better, x[k], {best})"]
        body += ["{place} = select(better, e, {place})", "out[k] = {best}", "out1[k] = {place}"]
        return _guarded(scanned(x, axis, state, body))

    @of.rule("vjp")
    def _(g, out, x, axis, dtype):
        return lambda: collect_along(g, out[1], x, axis)


def _guarded(kernel: Any) -> Any:
    """A kernel that reads the first element of each line, where lines may be empty."""
    extents, body, share, above = kernel
    return extents, "if n1 == 0:\n    return 0\n" + body, share, above


@op(paddle=None)
def cummax_(x, axis: int, dtype: Any = "int64"):
    """The largest element so far along an axis, and where it stands.

    >>> [t.numpy().tolist() for t in d2s.ops.scan.cummax_(d2s.to_tensor([1.0, 0.0, 3.0]), 0)]
    [[1.0, 1.0, 3.0], [0, 0, 2]]
    """


@op(paddle=None)
def cummin_(x, axis: int, dtype: Any = "int64"):
    """The smallest element so far along an axis, and where it stands.

    >>> [t.numpy().tolist() for t in d2s.ops.scan.cummin_(d2s.to_tensor([1.0, 0.0, 3.0]), 0)]
    [[1.0, 0.0, 0.0], [0, 1, 1]]
    """


_extreme_scan(cummax_, ">=")
_extreme_scan(cummin_, "<=")


def cummax(x: Any, axis: Any = None, dtype: Any = "int64") -> tuple[Any, Any]:
    """The largest element so far along an axis, or of all in a row, and where it stands; nan stays.

    >>> [t.numpy().tolist() for t in d2s.cummax(d2s.to_tensor([1.0, 0.0, 3.0]))]
    [[1.0, 1.0, 3.0], [0, 0, 2]]
    """
    values, places = cummax_(*in_a_row(x, axis), dtype)
    return values, places


def cummin(x: Any, axis: Any = None, dtype: Any = "int64") -> tuple[Any, Any]:
    """The smallest element so far along an axis, or of all in a row, and where it stands; nan stays.

    >>> [t.numpy().tolist() for t in d2s.cummin(d2s.to_tensor([1.0, 0.0, 3.0]))]
    [[1.0, 0.0, 0.0], [0, 1, 1]]
    """
    values, places = cummin_(*in_a_row(x, axis), dtype)
    return values, places


# --- exponentials ------------------------------------------------------------------------------------------------------------


@op(paddle=None)
def logcumsumexp_(x, axis: int):
    """The logarithm of the sum of exponentials of each element and those before it.

    >>> print(d2s.ops.scan.logcumsumexp_(d2s.to_tensor([0.0, 0.0]), 0).numpy().round(4))
    [0.     0.6931]
    """


_scans(logcumsumexp_)


@logcumsumexp_.rule("infer")
def _(x, axis):
    floats("logcumsumexp", x)
    return x


@logcumsumexp_.rule("kernel")
def _(x, out, axis):
    body = ["top = select((x[k] > {peak}) | (x[k] != x[k]), x[k], {peak})", "shift = finite(top)"]
    body += ["{whole} = {whole} * vm.exp({peak} - shift) + vm.exp(x[k] - shift)", "{peak} = top"]
    body += ["out[k] = shift + vm.log({whole})"]
    *kernel, _ = scanned(x, axis, {"peak": ("local64", "T(-math.inf)"), "whole": ("local64", "T(0)")}, body)
    return *kernel, FINITE


@logcumsumexp_.rule("vjp")
def _(g, out, x, axis):
    return lambda: logcumsumexp_grad(g, x, out, axis)


@op(paddle=None)
def logcumsumexp_grad(cotangent, x, y, axis: int):
    """The gradient of `logcumsumexp`.

    >>> x = d2s.to_tensor([0.0, 0.0])
    >>> print(d2s.ops.scan.logcumsumexp_grad(d2s.to_tensor([1.0, 1.0]), x, d2s.logcumsumexp(x), 0).numpy().round(3))
    [1.5 0.5]
    """


_scans(logcumsumexp_grad)


@logcumsumexp_grad.rule("kernel")
def _(cotangent, x, y, out, axis):
    behind = "cotangent[k] + ({behind} * vm.exp(y[k] - y[k + {step}]) if e + 1 < {count} else T(0))"
    body = ["{behind} = " + behind, "out[k] = {behind} * vm.exp(x[k] - y[k])"]
    return scanned(x, axis, {"behind": ("local64", "T(0)")}, body, reverse=True)


def logcumsumexp(x: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The logarithm of the sum of exponentials of each element and those before it, along an axis or of all in a row.

    >>> print(d2s.logcumsumexp(d2s.to_tensor([0.0, 0.0])).numpy().round(4))
    [0.     0.6931]
    """
    x = x if dtype is None else cast(x, dtype)
    return logcumsumexp_(*in_a_row(x, axis))
