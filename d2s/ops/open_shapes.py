"""Shapes of which only a run knows some extents: `x.reshape([-1, 4])`, `zeros([x.shape[0], 2])` of a batch that stays open.

So a function is captured once for all sizes, and a file holds all. Extents that are products of others have one name for each
product: so `x.reshape([-1, 4])` and `y.reshape([-1])` of equal batches fit together, and a way back is seen.

In: values, and extents: numbers, and numbers of run time. Out: nodes that find what they are.

>>> laid(d2s.to_tensor([[1, 2], [3, 4]]), d2s.to_tensor(4), shape=(-1,), finds=(4,)).tolist()
[1, 2, 3, 4]
"""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from d2s.errors import ArgumentError, CaptureError, D2SError, ShapeError
from d2s.ir.program import Value
from d2s.ops.compare import equal, where
from d2s.ops.dispatch import OPS, current
from d2s.ops.expand import expand, expand_as, summed_to, tile
from d2s.ops.extremes import maximum
from d2s.ops.found import finds_extents, length, number
from d2s.ops.math import floor_divide, multiply
from d2s.ops.movement import CHUNK, Kernel, Product, joined, normal
from d2s.ops.op import Share, op
from d2s.ops.shape import flatten, reshape, unsqueeze
from d2s.ops.shapes import is_found, one_axis, tensor_type, whole_number
from d2s.ops.slicing import select
from d2s.reckoned import reckoned
from d2s.types import Dim, Shape, Type, bool_, int64


@op(paddle=None)
def laid(x, *counts, shape: Any, finds: Any):
    """x in another shape; each -1 in it is an extent that is found.

    >>> d2s.ops.open_shapes.laid(d2s.to_tensor([[1], [2]]), d2s.to_tensor(2), shape=(-1,), finds=(2,)).tolist()
    [1, 2]
    """


@op(paddle=None)
def laid_as(x, like):
    """x in the shape of another tensor, which is known to be of its size.

    >>> d2s.ops.open_shapes.laid_as(d2s.to_tensor([1, 2]), d2s.to_tensor([[0], [0]])).tolist()
    [[1], [2]]
    """


@laid_as.rule("worded")
def _(x, like):
    return OPS["reshape_like"](x, like)


@op(paddle=None)
def filled(x, *counts, shape: Any, finds: Any):
    """A single value in every place of a shape; each -1 in it is an extent that is found.

    >>> d2s.ops.open_shapes.filled(d2s.to_tensor(7), d2s.to_tensor(2), shape=(-1,), finds=(2,)).tolist()
    [7, 7]
    """


def _with_found(shape: Sequence[int], finds: Sequence[Dim]) -> Shape:
    if list(shape).count(-1) != len(finds) or any(type(d) is not int or d < -1 for d in shape):
        raise ArgumentError("D2S0004", f"the shape {list(shape)} has not {len(finds)} extents that are found")
    names = iter(finds)
    return tuple(next(names) if d == -1 else d for d in shape)


@op(paddle=None)
def as_extent(n, of: str, least: int):
    """A number that is an extent of a shape: a run in which it is below the least there can be ends with an error.

    >>> d2s.ops.open_shapes.as_extent(d2s.to_tensor(3), "full", 0).item()
    3
    """


@laid.rule("infer")
def _(x, *counts, shape, finds):
    return Type(x.dtype, _with_found(shape, finds))


@laid_as.rule("infer")
def _(x, like):
    return Type(x.dtype, like.shape)


@filled.rule("infer")
def _(x, *counts, shape, finds):
    if x.shape:
        raise ShapeError("D2S0002", f"filled(): 'x' has shape {list(x.shape)}, expected a single value")
    return Type(x.dtype, _with_found(shape, finds))


@as_extent.rule("infer")
def _(n, of, least):
    if n.shape or n.dtype is not int64:
        raise ShapeError("D2S0002", f"{of}(): 'shape' holds {n}, expected ints")
    return n


@as_extent.rule("kernel")
def _(n, out, of, least):
    return [], f"r[o[fault]] = 1 if n[0] < {int(least)} else 0\nout[0] = n[0]\n"


@as_extent.rule("fault")
def _(value, n, of, least):
    if of == _BESIDE:
        return ShapeError("D2S0002", "reshape(): an extent beside the -1 is 0 in this run: nobody can tell what is left")
    if of not in _SHAPED:
        return ArgumentError("D2S0004", f"{of}(): a count of values is below {least} in this run")
    hint = "write a -1 itself: which extent is left is then known" if of in ("reshape", "expand", "tile") else ""
    return ArgumentError("D2S0004", f"{of}(): '{_SHAPED[of]}' holds a number that is below {least} in this run", hint=hint)


_BESIDE = "beside a -1"
_SHAPED = dict.fromkeys(("full", "reshape", "expand", "tile"), "shape") | {"interpolate": "size"}


def _copied(x: Type, inputs: int, out: Shape) -> Kernel:
    """All values as they lie, if both have equally many."""
    text = "if n0 != n2:\n    r[o[fault]] = 1\n    return 0\n"
    text += f"copy_bytes(r[o[{inputs}]] + lo * n1, r[o[0]] + lo * n1, (hi - lo) * n1)\n"
    return [x.shape, (x.dtype.size,), out], text, Share("n0", str(CHUNK))


@laid.rule("kernel")
def _(x, *counts_and_out, shape, finds):
    return _copied(x, len(counts_and_out), counts_and_out[-1].shape)


@laid_as.rule("kernel")
def _(x, like, out):
    return _copied(x, 2, out.shape)


@filled.rule("kernel")
def _(x, *counts_and_out, shape, finds):
    return [counts_and_out[-1].shape], "for i in range(lo, hi):\n    out[i] = x[0]\n", Share("n0", str(CHUNK))


def _unfitting(x: Type, wanted: Any) -> ShapeError:
    return ShapeError("D2S0002", f"reshape(): the values of shape {list(x.shape)} do not fit into {wanted}")


@laid.rule("fault")
def _(value, x, *counts, shape, finds):
    return _unfitting(x, f"{list(shape)}, of which a run found the extents -1")


@laid_as.rule("fault")
def _(value, x, like):
    return _unfitting(x, list(like.shape))


@laid.rule("vjp")
def _(g, out, x, *counts, shape, finds):
    return lambda: laid_as(g, x), *(None for _ in counts)


@laid_as.rule("vjp")
def _(g, out, x, like):
    return lambda: laid_as(g, x), None


@filled.rule("vjp")
def _(g, out, x, *counts, shape, finds):
    return lambda: summed_to(g, x), *(None for _ in counts)


# --- what captures record -----------------------------------------------------------------------------------------------------


class _Size(NamedTuple):
    """An extent of a shape: as a product of extents, where that is known, and as a number, or one of run time."""

    product: Product | None
    count: Any


def one_by_one(shape: Any) -> Any:
    """A shape as a list, where it is a tensor of which only a run knows the values; anything else as it is."""
    held = current().type_of(shape) if finds_extents() else None
    if held is None or len(held.shape) != 1 or not isinstance(held.shape[0], int) or not hasattr(shape, "recorder"):
        return shape
    return [select(shape, 0, k) for k in range(held.shape[0])]


def is_open(shape: Any) -> bool:
    """Whether numbers of run time are among the extents of a shape."""
    return finds_extents() and isinstance(shape, list | tuple) and any(current().type_of(d) is not None for d in shape)


class Asked(NamedTuple):
    """An extent that a function is asked for: what it is in a type, and as a number that ops compute with."""

    dim: Dim
    count: Any


def asked(extents: Any, of: str) -> list[Asked] | None:
    """What a function is asked for where numbers of run time are among the extents it is given; None where none are."""
    extents = one_by_one(extents)
    if not is_open(extents):
        return None
    sizes = [_given(d, of, 1) for d in extents]
    return [Asked(_dim(size), number(size.count)) for size in sizes]


def count_asked(count: Any, of: str) -> Any:
    """How many values a function is asked for; a run in which that is below 0 ends with an error."""
    n = number(count) if type(count) is int and count < 0 else _found(count)
    return count if n is None else as_extent(n, of, 0)


def full_of(value: Any, shape: Sequence[Any], of: str = "full") -> Any:
    """A single value in every place of a shape that a function is asked for."""
    return _filled(value, [_given(d, of) for d in shape])


@reshape.rule("open")
def _(x, shape):
    shape = one_by_one(shape)
    if not finds_extents() or not isinstance(shape, list | tuple) or _is_plain(reshape, x, shape=shape):
        return None
    have, sizes = _shape(x), list[_Size | None]()
    for k, d in enumerate(shape):
        copied = type(d) is int and d == 0 and k < len(have)
        sizes.append(_along(x, k) if copied else None if type(d) is int and d == -1 else _asked(x, k, d))
    return None if sizes.count(None) > 1 else _laid(x, sizes)


@flatten.rule("open")
def _(x, start_axis, stop_axis):
    if not finds_extents() or _is_plain(flatten, x, start_axis=start_axis, stop_axis=stop_axis):
        return None
    have = _shape(x)
    start, stop = (one_axis(a, len(have), "flatten") for a in (start_axis, stop_axis))
    along = [_along(x, k) for k in range(len(have))]
    return _laid(x, [*along[:start], _times(along[start : stop + 1]), *along[stop + 1 :]])


@expand.rule("open")
def _(x, shape):
    shape = one_by_one(shape)
    if not is_open(shape):
        return None
    extra = len(shape) - len(_shape(x))
    sizes = [_along(x, k - extra) if type(d) is int and d == -1 else _given(d, "expand") for k, d in enumerate(shape)]
    return expand_as(x, _filled(current().constant(False, Type(bool_)), sizes))


@tile.rule("open")
def _(x, repeat_times):
    repeat_times = one_by_one(repeat_times)
    if not finds_extents() or not isinstance(repeat_times, list | tuple) or _is_plain(tile, x, repeat_times=repeat_times):
        return None
    times = [1] * (len(_shape(x)) - len(repeat_times)) + list(repeat_times)
    for _ in range(len(times) - len(_shape(x))):
        x = unsqueeze(x, 0)
    for k, n in enumerate(times):
        if not isinstance(n, int) or n != 1:
            x = _repeated(x, k, _given(n, "tile"))
    return x


def _repeated(x: Any, axis: int, times: _Size) -> Any:
    """x so many times along an axis."""
    sizes = [_along(x, k) for k in range(len(_shape(x)))]
    wide = expand_as(unsqueeze(x, axis), _filled(current().constant(False, Type(bool_)), [*sizes[:axis], times, *sizes[axis:]]))
    return _laid(wide, [*sizes[:axis], _times([times, sizes[axis]]), *sizes[axis + 1 :]])


def _times(sizes: Sequence[_Size]) -> _Size:
    """As many as some extents together."""
    product = None if any(size.product is None for size in sizes) else _whole(sizes)
    if product is not None and all(isinstance(d, int) for d in product):
        return _Size(product, math.prod(product))
    return _Size(product, _total(sizes))


def _total(sizes: Sequence[_Size]) -> Any:
    return functools.reduce(multiply, [number(size.count) for size in sizes], number(1))


def _shape(x: Any) -> Shape:
    return tensor_type(x, "reshape", "x").shape


def _is_plain(of: Any, x: Any, **attrs: Any) -> bool:
    """Whether an op needs to know no more than it does."""
    have = [current().type_of(x)]
    try:
        of.infer(have, of.canonical(have, attrs))
    except CaptureError:
        return False
    except D2SError:
        return True
    return True


def _given(d: Any, of: str, least: int = 0) -> _Size:
    """An extent that a user gives a function."""
    n = _found(d)
    if n is not None:
        return _Size(None, as_extent(n, of, least))
    product = _product_of(d.value, d.recorder) if _is_number(d) else None
    if product is None:
        found = whole_number(d, of, "shape")
        return _Size((found,), found)
    return _Size(product, d) if any(isinstance(e, str) for e in product) else _Size((math.prod(product),), math.prod(product))


def _found(d: Any) -> Any:
    """A number of which only a run knows what it is; None if `d` is none, or a product of extents."""
    if not _is_number(d) or _product_of(d.value, d.recorder) is not None:
        return None
    return number(reshape(d, ()) if current().type_of(d).shape else d)  # type: ignore[union-attr]


def _is_number(d: Any) -> bool:
    held = current().type_of(d)
    return held is not None and held.dtype.kind == "i" and held.shape in ((), (1,))


def _asked(x: Any, axis: int, d: Any) -> _Size:
    """An extent that a user gives `reshape`: what turns out to be 0 is the extent that x has there."""
    have = _shape(x)[axis : axis + 1]
    n = _found(d)
    if n is None and have and any(map(_may_be_none, set(_factors(_known(d))).difference(_factors(have)))):
        n = number(d)
    if n is None or not have:
        return _given(d, "reshape", 1)
    return _Size(None, as_extent(where(equal(n, 0), number(_along(x, axis).count), n), "reshape", 0))


def _known(d: Any) -> Product:
    """The extents whose product a number is known to be."""
    return (_is_number(d) and _product_of(d.value, d.recorder)) or ()


def _may_be_none(dim: Dim) -> bool:
    """Whether a run may find an extent to be 0: none that a call names is."""
    return dim == 0 or is_found(dim)


def _along(x: Any, axis: int) -> _Size:
    """An extent that a tensor has."""
    dim = _shape(x)[axis]
    return _Size((dim,), dim if isinstance(dim, int) else length(x, axis))


def _product_of(value: Value, recorder: Any) -> Product | None:
    """The extents whose product a number of run time is."""
    node = next((node for node in recorder.builder.nodes if value in node.outputs), None)
    if node is None:
        return None
    if node.op == "extent":
        return (node.inputs[0].type.shape[node.attrs["axis"]],)
    if node.op == "constant":
        return (int(node.attrs["value"]),) if node.attrs["dtype"].kind == "i" else None
    if node.op not in ("cast", "multiply") or node.outputs[0].type.dtype is not int64:
        return None
    factors = [_product_of(v, recorder) for v in node.inputs]
    known = [factor for factor in factors if factor is not None]
    return joined(known) if len(known) == len(factors) else None


def _filled(value: Any, sizes: Sequence[_Size]) -> Any:
    counts, attrs = _attributes(sizes)
    return filled(value, *counts, **attrs)


def _laid(x: Any, sizes: Sequence[_Size | None]) -> Any:
    """x in a shape; None stands for the extent that is left."""
    along = [_along(x, k) for k in range(len(_shape(x)))]
    others = [size for size in sizes if size is not None]
    counts, attrs = _attributes([_left(along, others) if size is None else size for size in sizes])
    return laid(x, *counts, **attrs)


def _left(have: Sequence[_Size], others: Sequence[_Size]) -> _Size:
    """What is left of some extents beside others."""
    product = None
    if all(size.product is not None for size in others):
        product = _divided(_whole(have), _whole(others))
    if product is not None and all(isinstance(d, int) for d in product):
        return _Size(product, math.prod(product))
    total, known = _total(have), _total(others)
    if any(size.product is None or any(map(_may_be_none, size.product)) for size in others):
        known = as_extent(known, _BESIDE, 1)
    return _Size(product, floor_divide(total, maximum(known, number(1))) if others else total)


def _whole(sizes: Sequence[_Size]) -> Product:
    return normal(_factors([d for size in sizes for d in size.product or ()]))


def _factors(product: Sequence[Dim]) -> Product:
    """A product whose names are no products themselves."""
    products = {name: factors for factors, name in current().root.products.items()}  # type: ignore[attr-defined]
    return tuple(d for dim in product for d in products.get(dim, (dim,)))


def _divided(x: Product, y: Product) -> Product | None:
    """x without the factors of y, if it has these."""
    names, size, by = [d for d in x if isinstance(d, str)], *(math.prod(d for d in p if isinstance(d, int)) for p in (x, y))
    for name in (d for d in y if isinstance(d, str)):
        if name not in names:
            return None
        names.remove(name)
    return normal((size // by, *names)) or (1,) if by and size % by == 0 else None


def _attributes(sizes: Sequence[_Size]) -> tuple[list[Any], dict[str, Any]]:
    """The numbers that a run finds, and the shape they are part of."""
    dims = [_dim(size) for size in sizes]
    found = {d: number(size.count) for d, size in zip(dims, sizes, strict=True) if isinstance(d, str)}
    open_ones = [d for d in dims if isinstance(d, str)]
    shape = tuple(-1 if isinstance(d, str) else d for d in dims)
    return [found[d] for d in open_ones], {"shape": shape, "finds": tuple(open_ones)}


def _dim(size: _Size) -> Dim:
    """An extent in a type: equal products have one name."""
    if size.product is None:
        return current().extent_called(number(size.count))  # type: ignore[attr-defined, no-any-return]
    product = normal(_factors(size.product))
    if len(product) < 2:
        return product[0] if product else 1
    root = current().root  # type: ignore[attr-defined]
    if product not in root.products:
        names, times = [d for d in product if isinstance(d, str)], math.prod(d for d in product if isinstance(d, int))
        root.products[product] = reckoned(names[0], times=times) if len(names) == 1 else root.new_extent()
    return root.products[product]  # type: ignore[no-any-return]
