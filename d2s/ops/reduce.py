"""Reductions: many elements become one, by the law of `tree.py`; and the transpose of a sum.

>>> from d2s.types import float32
>>> sum.infer([Type(float32, ("n", 4))], {"axis": (1,), "keepdim": False})
(f32[n],)
"""

from typing import Any

from d2s import types
from d2s.errors import ArgumentError, DTypeError, ShapeError
from d2s.ops.dispatch import current
from d2s.ops.lines import GRAIN, Total, along_lines, groups_of, put
from d2s.ops.op import OPS, Share, axes, flag, op
from d2s.ops.tree import PRODUCT, SUM, WHOLE_SUM, Join, extreme
from d2s.types import DType, Shape, Type, bool_, int8, int16, int32, int64, uint8


def reduction(x: Type, axis: tuple[int, ...], join: Join, element: str = "x[k]", result: str = "{v}"):
    """Steps and groups of a kernel that joins the elements x[k] of each line."""
    return [Total("v", join, "x", element), put("out", result)], groups_of(x.shape, axis)


# --- rules that reductions share ---------------------------------------------------------------------------------------------


def kept_shape(shape: Shape, axis: tuple[int, ...], keepdim: bool = True) -> Shape:
    """A shape without the axes of a reduction, or with 1 for them."""
    return tuple(1 if i in axis else d for i, d in enumerate(shape) if keepdim or i not in axis)


def _reduces(name: str):
    """The canonical rule of a reduction over `axis`, all of them where it names none."""

    def canonical(x, axis, keepdim):
        named = None if isinstance(axis, (list, tuple)) and not axis else axis
        return {"axis": axes(named, len(x.shape), name), "keepdim": flag(keepdim, "keepdim")}

    return canonical


def _wider(name: str):
    """The same, of a reduction that may change the dtype: `dtype` is left out where it does not."""
    plain = _reduces(name)

    def canonical(x, axis, keepdim, dtype):
        found = plain(x, axis, keepdim)
        return found if dtype is None else found | {"dtype": types.dtype(dtype)}

    return canonical


def _total_dtype(name: str, x: Type, dtype: DType | None) -> DType:
    if dtype is bool_:
        raise DTypeError("D2S0003", f"{name}(): 'dtype' is bool", hint="any() and all() answer in bool")
    narrow = (int32,) if name == "prod" else (int8, int16, uint8)
    stays = x.dtype.kind == "f" or x.dtype in narrow  # as in Paddle
    return dtype or (x.dtype if stays else int64)


def _takes(name: str, x: Type, kinds: str) -> None:
    if x.dtype.kind not in kinds:
        raise DTypeError("D2S0003", f"{name}() does not take {x.dtype.name}")


# --- sums --------------------------------------------------------------------------------------------------------------------


@op(paddle="reduce_sum", onnx="ReduceSum")
def sum(x, axis: Any = None, dtype: Any = None, keepdim: bool = False):
    """The sum over some axes, or over all; in `dtype` if one is given, of int32 and bool else in int64.

    >>> d2s.sum(d2s.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0).numpy().tolist()
    [4.0, 6.0]
    """


@sum.rule("canonical")
def _(x, axis, dtype, keepdim):
    found = {"axis": axes(axis, len(x.shape), "sum"), "keepdim": flag(keepdim, "keepdim")}
    return found if dtype is None else found | {"dtype": types.dtype(dtype)}


@sum.rule("infer")
def _(x, axis, dtype=None, keepdim=False):
    return Type(_total_dtype("sum", x, dtype), kept_shape(x.shape, axis, keepdim))


@along_lines(sum)
def _(x, out, axis, dtype=None, keepdim=False):
    return reduction(x, axis, SUM if out.dtype.kind == "f" else WHOLE_SUM, "T(x[k])")


@sum.rule("vjp")
def _(g, out, x, axis, dtype=None, keepdim=False):
    return lambda: spread(OPS["cast"](g, x.dtype) if dtype and dtype is not x.dtype else g, x, axis, keepdim)


@op(paddle=None)
def spread(x, like, axis: Any, keepdim: bool):
    """The transpose of `sum`: x repeated along the axes that `sum(like, axis, keepdim=keepdim)` takes away.

    >>> d2s.ops.reduce.spread(d2s.to_tensor(2.0), d2s.to_tensor([1.0, 1.0]), None, False).numpy().tolist()
    [2.0, 2.0]
    """


@spread.rule("canonical")
def _(x, like, axis, keepdim):
    return {"axis": axes(axis, len(like.shape), "spread"), "keepdim": flag(keepdim, "keepdim")}


@spread.rule("infer")
def _(x, like, axis, keepdim):
    wanted = kept_shape(like.shape, axis, keepdim)
    known = [d == w for d, w in zip(x.shape, wanted, strict=False) if isinstance(d, int) and isinstance(w, int)]
    if x.shape and (len(x.shape) != len(wanted) or not all(known)):
        raise ShapeError("D2S0002", f"spread(): 'x' is {x}, the sum of 'like' would have shape {list(wanted)}")
    return Type(x.dtype, like.shape)


@spread.rule("requires")
def _(x, like, axis, keepdim):
    """What left an `if` has another name there than in it."""
    return [(d, w) for d, w in zip(x.shape, kept_shape(like.shape, axis, keepdim), strict=False) if d != w]


@spread.rule("scalar")
def _(x, like, axis, keepdim):
    return "x", [kept_shape(like.shape, axis)]


@spread.rule("worded")
def _(x, like, axis, keepdim):
    return OPS["expand_as"](_kept(x, axis, keepdim), like)


def _kept(x: Any, axis: tuple[int, ...], keepdim: bool) -> Any:
    """What a reduction comes to, with the axes it has taken away."""
    of = current().type_of(x)
    return x if keepdim or not of or not of.shape else OPS["unsqueeze"](x, list(axis))


@spread.rule("vjp")
def _(g, out, x, like, axis, keepdim):
    return lambda: sum(g, axis, None, keepdim), None


@op(paddle="reduce_mean", onnx="ReduceMean")
def mean(x, axis: Any = None, keepdim: bool = False):
    """The sum over some axes, or over all, divided by the number of its elements; of integers it is cut off towards 0.

    >>> d2s.mean(d2s.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0).numpy().tolist()
    [2.0, 3.0]
    """


mean.rule("canonical")(_reduces("mean"))


@mean.rule("infer")
def _(x, axis, keepdim):
    _takes("mean", x, "f")
    return Type(x.dtype, kept_shape(x.shape, axis, keepdim))


@along_lines(mean)
def _(x, out, axis, keepdim):
    return reduction(x, axis, SUM, result="{v} / {count}")


@mean.rule("vjp")
def _(g, out, x, axis, keepdim):
    return lambda: spread(per_element(g, x, axis), x, axis, keepdim)


@op(paddle=None)
def per_element(x, like, axis: Any, less: int = 0):
    """x divided by the number of elements of `like` along some axes, or by some less.

    >>> d2s.ops.reduce.per_element(d2s.to_tensor([6.0]), d2s.to_tensor([[1.0], [2.0]]), 0).numpy().tolist()
    [3.0]
    """


@per_element.rule("canonical")
def _(x, like, axis, less):
    return {"axis": axes(axis, len(like.shape), "per_element"), "less": less}


@per_element.rule("infer")
def _(x, like, axis, less):
    return x


@per_element.rule("kernel")
def _(x, like, out, axis, less):
    body = f"for i in range(lo, hi):\n    out[i] = x[i] / T(select(n1 > {less}, n1 - {less}, 0))\n"
    return [x.shape, tuple(like.shape[a] for a in axis)], body, Share("n0", str(GRAIN)), ""


@per_element.rule("vjp")
def _(g, out, x, like, axis, less):
    return lambda: per_element(g, like, axis, less), None


@op(paddle="reduce_prod", onnx="ReduceProd")
def prod(x, axis: Any = None, keepdim: bool = False, dtype: Any = None):
    """The product over some axes, or over all; in `dtype` if one is given, of int32 else in int32, of other integers in int64.

    >>> d2s.prod(d2s.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0).numpy().tolist()
    [3.0, 8.0]
    """


prod.rule("canonical")(_wider("prod"))


@prod.rule("infer")
def _(x, axis, keepdim, dtype=None):
    return Type(_total_dtype("prod", x, dtype), kept_shape(x.shape, axis, keepdim))


@along_lines(prod)
def _(x, out, axis, keepdim, dtype=None):
    return reduction(x, axis, PRODUCT, "T(x[k])")


@prod.rule("vjp")
def _(g, out, x, axis, keepdim, dtype=None):
    def of_x():
        where, equal = OPS["where"], OPS["equal"]
        gone = equal(x, 0.0)

        def whole(total: Any) -> Any:
            return spread(total, x, axis, keepdim)

        zeros = whole(sum(OPS["cast"](gone, x.dtype), axis, None, keepdim))
        rest, zero = where(gone, 1.0, x), where(gone, x, 0.0)
        others = whole(prod(rest, axis, keepdim)) / rest
        # Besides one zero, all others' products are 0 and have a slope: that of the zero; of two zeros, each has the other's.
        finite, all_zeros = where(OPS["isfinite"](others), others, 0.0), whole(sum(zero, axis, None, keepdim))
        beside, another = finite * all_zeros, finite * (all_zeros - zero)
        of_zero = where(equal(zeros, 1.0), others, where(equal(zeros, 2.0), another, 0.0))
        of_rest = where(equal(zeros, 0.0), others, where(equal(zeros, 1.0), beside, 0.0))
        return whole(OPS["cast"](g, x.dtype)) * where(gone, of_zero, of_rest)

    return of_x


# --- maxima and minima -------------------------------------------------------------------------------------------------------


def _extreme_rules(of: Any, which: str) -> None:
    """Types and kernel of a maximum or a minimum."""
    of.rule("canonical")(_reduces(of.name))

    @of.rule("infer")
    def _(x, axis, keepdim):
        _takes(of.name, x, "if")
        if any(x.shape[a] == 0 for a in axis):
            message = f"{of.name}(): 'x' has shape {list(x.shape)}: there is nothing along axis {list(axis)}"
            raise ArgumentError("D2S0004", message)
        return Type(x.dtype, kept_shape(x.shape, axis, keepdim))

    @along_lines(of)
    def _(x, out, axis, keepdim):
        return reduction(x, axis, extreme(which, x.dtype))


def _to_all(g, out, x, axis, keepdim):
    return lambda: where_met(g, out, x, axis, keepdim)


def _to_each_a_share(g, out, x, axis, keepdim):
    def of_x():
        met = where_met(ones(out, g.dtype), out, x, axis, keepdim)
        return where_met(g / sum(met, axis, None, keepdim), out, x, axis, keepdim)

    return of_x


@op(paddle="reduce_max", onnx="ReduceMax", some=True)
def max(x, axis: Any = None, keepdim: bool = False):
    """The largest element along some axes, or of all; nan where there is one. Its gradient goes to every element that large.

    >>> d2s.max(d2s.to_tensor([[1.0, 5.0], [3.0, 4.0]]), axis=1).numpy().tolist()
    [5.0, 4.0]
    """


_extreme_rules(max, "max")
max.rule("vjp")(_to_all)


@op(paddle="reduce_min", onnx="ReduceMin", some=True)
def min(x, axis: Any = None, keepdim: bool = False):
    """The smallest element along some axes, or of all; nan where there is one. Its gradient goes to every element that small.

    >>> d2s.min(d2s.to_tensor([[1.0, 5.0], [3.0, 4.0]]), axis=1).numpy().tolist()
    [1.0, 3.0]
    """


_extreme_rules(min, "min")
min.rule("vjp")(_to_all)


@op(paddle="reduce_amax", onnx="ReduceMax", some=True)
def amax(x, axis: Any = None, keepdim: bool = False):
    """The largest element along some axes, or of all. Its gradient is divided among the elements that large.

    >>> d2s.amax(d2s.to_tensor([[1.0, 5.0], [3.0, 4.0]])).item()
    5.0
    """


_extreme_rules(amax, "max")
amax.rule("vjp")(_to_each_a_share)


@op(paddle="reduce_amin", onnx="ReduceMin", some=True)
def amin(x, axis: Any = None, keepdim: bool = False):
    """The smallest element along some axes, or of all. Its gradient is divided among the elements that small.

    >>> d2s.amin(d2s.to_tensor([[1.0, 5.0], [3.0, 4.0]])).item()
    1.0
    """


_extreme_rules(amin, "min")
amin.rule("vjp")(_to_each_a_share)


@op(paddle=None)
def where_met(x, found, of, axis: Any, keepdim: bool):
    """x where `of` is what a reduction of it found, else 0.

    >>> x = d2s.to_tensor([1.0, 5.0, 5.0])
    >>> d2s.ops.reduce.where_met(d2s.to_tensor(2.0), d2s.max(x), x, None, False).numpy().tolist()
    [0.0, 2.0, 2.0]
    """


@where_met.rule("canonical")
def _(x, found, of, axis, keepdim):
    return {"axis": axes(axis, len(of.shape), "where_met"), "keepdim": flag(keepdim, "keepdim")}


@where_met.rule("infer")
def _(x, found, of, axis, keepdim):
    return Type(x.dtype, of.shape)


@where_met.rule("scalar")
def _(x, found, of, axis, keepdim):
    kept = kept_shape(of.shape, axis)
    return "x if found == of else T(0)", [kept, kept, of.shape]


@where_met.rule("worded")
def _(x, found, of, axis, keepdim):
    nothing = current().constant(0.0, Type(current().type_of(x).dtype))
    return OPS["where"](OPS["equal"](_kept(found, axis, keepdim), of), _kept(x, axis, keepdim), nothing)


@where_met.rule("vjp")
def _(g, out, x, found, of, axis, keepdim):
    def of_x():
        return sum(where_met(ones(found, g.dtype), found, of, axis, keepdim) * g, axis, None, keepdim)

    return of_x, None, None


def ones(like, dtype):
    """1 for each element."""
    return OPS["cast"](OPS["less_than"](like, like), dtype) + 1.0
