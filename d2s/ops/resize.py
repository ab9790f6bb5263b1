"""An axis brought to another extent: values in between by the nearest, by a line, or by a cubic curve.

In: values, an axis, its new extent, and where the values of the result lie among the old ones. Out: values.

Where they lie: value k of the result lies at k times the ratio (`corners`, `whole`), or at (k + 1/2) times it, less 1/2
(`halves`). The ratio is that of the extents, with `corners` that of the distances of the ends, or one over a `scale`.

>>> from d2s.types import float32
>>> resized.infer([Type(float32, ("n", 4))], {"axis": 1, "size": 8, "mode": "linear", "places": "halves", "scale": 0.0})
(f32[n,8],)
"""

from typing import Any

from d2s.errors import ArgumentError, DTypeError, ShapeError
from d2s.ops.op import Share, op
from d2s.ops.shapes import fitting, following, tensor_type, unnamed
from d2s.types import Dim, Shape, Type

_RATIO = {
    "corners": "T(0) if n2 < 2 else T(n1 - 1) / T(n2 - 1)",
    "whole": "T(0) if n2 < 2 else {ratio}",
    "halves": "T(0) if n2 < 2 else {ratio}",
}
_LAST = "select(place{n} < n1, place{n}, n1 - 1)"
SCALED = -1  # a size that is `scale` times the extent
MOST = 1024  # a scale is this at most; so is what it is divided by, if it is a scale of an open axis
_TAPS = {"nearest": 1, "linear": 2, "cubic": 4}
_CUBIC = """\
@inlined
def near(t):
    return (T(1.25) * t - T(2.25)) * t * t + T(1)

@inlined
def far(t):
    return ((T(-0.75) * t + T(3.75)) * t - T(6)) * t + T(3)

"""


@op(paddle=None)
def resized(x, axis: int, size: int, mode: str, places: str, scale: float = 0.0):
    """x with another extent of an axis: mode is "nearest", "linear" or "cubic"; a size of -1 is `scale` times the old one.

    >>> x = d2s.to_tensor([1.0, 3.0])
    >>> d2s.ops.resize.resized(x, axis=0, size=4, mode="linear", places="halves").numpy().tolist()
    [1.0, 1.5, 2.5, 3.0]
    """


def _check(x: Type, axis: int, mode: str, size: Dim) -> None:
    if x.dtype.kind != "f" and mode != "nearest":
        raise DTypeError("D2S0003", f"interpolate() by {mode!r} does not take {x.dtype.name}")
    if x.shape[axis] == 0 and size != 0:
        raise ShapeError("D2S0002", f"interpolate(): axis {axis} of shape {list(x.shape)} has no values to make others of")


@resized.rule("infer")
def _(x, axis, size, mode, places, scale):
    _check(x, axis, mode, size)
    return Type(x.dtype, (*x.shape[:axis], size if size != SCALED else _scaled(x.shape[axis], scale), *x.shape[axis + 1 :]))


def _scaled(have: Dim, scale: float) -> Dim:
    if not 0 < scale < MOST:
        raise ArgumentError("D2S0004", f"interpolate(): 'scale_factor' is {scale}")
    times, by = scale.as_integer_ratio()
    if by > MOST:
        raise unnamed("interpolate", f"{have} times {scale}")
    found = following(have, times=times, by=by)
    if found == 0:
        raise ShapeError("D2S0002", f"interpolate(): {scale} times {have} values are none")
    return found


@resized.rule("least")
def _(x, axis, size, mode, places, scale):
    return [x.shape[axis], *([_scaled(x.shape[axis], scale)] if size == SCALED else [])]


def _extents(x: Shape, out: Shape, axis: int) -> list[Shape]:
    return [x[:axis], (x[axis],), (out[axis],), x[axis + 1 :]]


def _places(mode: str, places: str, scale: float, T: str = "T") -> tuple[str, str]:
    """The text of the ratio, and of the taps of value k: their places, and how much of each is taken."""
    ratio = _RATIO[places].format(ratio=f"T({1.0 / scale!r})" if scale > 0 else "T(n1) / T(n2)").replace("T", T)
    at = f"({T}(k) + {T}(0.5)) * ratio - {T}(0.5)" if places == "halves" else f"{T}(k) * ratio"
    if mode == "nearest":
        half = f" + {T}(0.5)" if places == "corners" else ""
        return ratio, f"place0 = int64({at}{half})\nplace0 = {_LAST.format(n=0)}\n"
    if mode == "linear":
        lines = f"at = {at}\nat = at if at > T(0) else T(0)\nplace0 = int64(at)\nplace0 = {_LAST.format(n=0)}\n"
        lines += f"place1 = place0 + 1\nplace1 = {_LAST.format(n=1)}\n"
        return ratio, lines + "share1 = at - T(place0)\nshare0 = T(1) - share1\n"
    lines = f"at = {at}\nfirst = int64(floor_of(at))\nt = at - T(first)\n"
    for n in range(4):
        lines += f"place{n} = first + {n - 1}\nplace{n} = {_LAST.format(n=n)}\nplace{n} = select(place{n} > 0, place{n}, 0)\n"
    return ratio, lines + "share0, share1, share2, share3 = far(t + T(1)), near(t), near(T(1) - t), far(T(2) - t)\n"


def _share(mode: str, n: int) -> str:
    return "" if mode == "nearest" else f"share{n} * "


def _indented(text: str, steps: int) -> str:
    return "".join(f"{'    ' * steps}{line}\n" for line in text.splitlines())


@resized.rule("kernel")
def _(x, out, axis, size, mode, places, scale):
    return _between(x, out, axis, mode, places, scale)


def _between(x: Type, out: Type, axis: int, mode: str, places: str, scale: float) -> tuple[list[Shape], str, Share, str]:
    ratio, taps = _places(mode, places, scale, "float32" if x.dtype.kind != "f" else "T")
    taken = " + ".join(f"{_share(mode, n)}x[(before * n1 + place{n}) * n3 + i]" for n in range(_TAPS[mode]))
    body = f"""\
ratio = {ratio}
for row in range(lo, hi):
    before, k = row // n2, row % n2
{_indented(taps, 1)}\
    for i in range(n3):
        out[row * n3 + i] = {taken}
"""
    share = Share("n0 * n2", "1 + 16384 // (1 + n3)")
    return _extents(x.shape, out.shape, axis), body, share, _CUBIC if mode == "cubic" else ""


@resized.rule("vjp")
def _(g, out, x, axis, size, mode, places, scale):
    return lambda: unresized(g, x, axis, mode, places, scale)


@op(paddle=None)
def resized_to(x, size, axis: int, mode: str, places: str, finds: Any):
    """`resized` to an extent that a run finds.

    >>> x, size = d2s.to_tensor([1.0, 3.0]), d2s.to_tensor(4)
    >>> d2s.ops.resize.resized_to(x, size, axis=0, mode="linear", places="halves", finds=(4,)).numpy().tolist()
    [1.0, 1.5, 2.5, 3.0]
    """


@resized_to.rule("infer")
def _(x, size, axis, mode, places, finds):
    _check(x, axis, mode, finds[0])
    return Type(x.dtype, (*x.shape[:axis], finds[0], *x.shape[axis + 1 :]))


@resized_to.rule("least")
def _(x, size, axis, mode, places, finds):
    return [x.shape[axis]]


@resized_to.rule("kernel")
def _(x, size, out, axis, mode, places, finds):
    return _between(x, out, axis, mode, places, 0.0)


@resized_to.rule("vjp")
def _(g, out, x, size, axis, mode, places, finds):
    return lambda: unresized(g, x, axis, mode, places), None


@op(paddle=None)
def unresized(x, like, axis: int, mode: str, places: str, scale: float = 0.0):
    """The transpose of `resized`: what each value of x was made of gets its share of it.

    >>> x, like = d2s.to_tensor([1.0, 1.0, 1.0, 1.0]), d2s.to_tensor([0.0, 0.0])
    >>> d2s.ops.resize.unresized(x, like, axis=0, mode="nearest", places="whole").numpy().tolist()
    [2.0, 2.0]
    """


@unresized.rule("infer")
def _(x, like, axis, mode, places, scale):
    fitting("unresized", "x", _around(x, axis), _around(like, axis))
    return Type(x.dtype, like.shape)


def _around(x: Type, axis: int) -> Shape:
    return (*x.shape[:axis], *x.shape[axis + 1 :])


@unresized.rule("requires")
def _(x, like, axis, mode, places, scale):
    return fitting("unresized", "x", _around(x, axis), _around(like, axis))


@unresized.rule("kernel")
def _(x, like, out, axis, mode, places, scale):
    ratio, taps = _places(mode, places, scale)
    part = "x[(before * n2 + k) * n3 + i]"
    given = [f"    out[(before * n1 + place{n}) * n3 + i] += {_share(mode, n)}{part}" for n in range(_TAPS[mode])]
    body = f"""\
ratio = {ratio}
for before in range(lo, hi):
    for i in range(before * n1 * n3, (before + 1) * n1 * n3):
        out[i] = T(0)
    for k in range(n2):
{_indented(taps, 2)}\
        for i in range(n3):
{_indented(chr(10).join(given), 2)}"""
    share = Share("n0", "1 + 16384 // (1 + n2 * n3)")
    return _extents(like.shape, x.shape, axis), body, share, _CUBIC if mode == "cubic" else ""


@unresized.rule("vjp")
def _(g, out, x, like, axis, mode, places, scale):
    size: Any = tensor_type(x, "unresized", "x").shape[axis]
    return lambda: resized(g, axis, size, mode, places, scale), None
