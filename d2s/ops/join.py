"""Several tensors as one: behind each other, or on top of each other along a new axis.

>>> from d2s.types import float32
>>> concat_.infer([Type(float32, ("n", 2)), Type(float32, ("n", 3))], {"axis": 1})
(f32[n,5],)
"""

import functools
import itertools
from collections.abc import Sequence
from typing import Any

from d2s.errors import ArgumentError, DTypeError
from d2s.extents import Extent
from d2s.ops import found
from d2s.ops.dispatch import OPS, current
from d2s.ops.movement import CHUNK, Kernel, Product, Registers, body, indented
from d2s.ops.op import Share, op
from d2s.ops.shapes import fitting, one_axis, tensor_type, uncountable, unnamed, whole_number
from d2s.ops.slicing import Stretch, part, select
from d2s.types import Dim, Type

MOST = 16  # inputs of one kernel: its text has lines for each, and takes four times as long to compile for twice as many


def _joined(inputs: Sequence[Any], name: str) -> list[Any]:
    """The tensors of a list."""
    listed = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    if not listed:
        raise ArgumentError("D2S0004", f"{name}(): 'x' holds no tensor")
    for one in listed:
        tensor_type(one, name, "x")
    return listed


def _one_dtype(name: str, xs: Sequence[Type]) -> None:
    found = sorted({x.dtype.name for x in xs})
    if len(found) > 1:
        raise DTypeError("D2S0003", f"{name}(): 'x' holds tensors of {' and '.join(found)}", hint="x.astype(...) some of them")


def concat(x: Any, axis: Any = 0) -> Any:
    """Tensors behind each other along an axis.

    >>> d2s.concat([d2s.to_tensor([1, 2]), d2s.to_tensor([3])]).numpy().tolist()
    [1, 2, 3]
    """
    xs = _joined(x, "concat")
    along = one_axis(whole_number(axis, "concat", "axis"), len(tensor_type(xs[0], "concat", "x").shape), "concat")
    dims = [current().type_of(one).shape[along : along + 1] for one in xs]  # type: ignore[union-attr]
    open_ones = [d for one in dims for d in one if uncountable(d)]
    if found.finds_extents() and open_ones and len(xs) > 1:
        return _behind(xs, along)
    if len(xs) > MOST:
        types = [tensor_type(one, "concat", "x") for one in xs]
        _one_dtype("concat", types)
        _around_alike(types, along)
        return concat([concat_(*group, axis=along) for group in _groups(xs)], along)
    return concat_(*xs, axis=along)


def _groups(xs: Sequence[Any]) -> list[Sequence[Any]]:
    return [xs[k : k + MOST] for k in range(0, len(xs), MOST)]


def _behind(xs: Sequence[Any], axis: int) -> Any:
    """The same where only a run knows how long the result is."""
    sizes = [found.length(x, axis) for x in xs]
    whole = found.sum_of(sizes)
    return behind(*xs, *sizes, whole, axis=axis, finds=found.called(whole))


@op(paddle=None)
def behind(*xs_sizes_whole, axis: int, finds: Any):
    """Tensors behind each other along an axis; then come their extents along it, and the sum of these.

    >>> x, y = d2s.to_tensor([1]), d2s.to_tensor([2, 3])
    >>> one, two, three = (d2s.to_tensor(n) for n in (1, 2, 3))
    >>> d2s.ops.join.behind(x, y, one, two, three, axis=0, finds=(3,)).numpy().tolist()
    [1, 2, 3]
    """


@behind.rule("infer")
def _(*given, axis, finds):
    xs = given[: len(given) // 2]
    _one_dtype("concat", xs)
    _around_alike(xs, axis)
    return Type(xs[0].dtype, (*xs[0].shape[:axis], *finds, *xs[0].shape[axis + 1 :]))


@behind.rule("requires")
def _(*given, axis, finds):
    return _around_alike(given[: len(given) // 2], axis)


@behind.rule("kernel")
def _(*given_and_out, axis, finds):
    *given, out = given_and_out
    xs = given[: len(given) // 2]
    products, text, share = behind_each_other([x.shape[axis:] for x in xs], out.shape, xs[0].shape[:axis])
    return products, text.replace("xs", behind.arrays[0]), share


@behind.rule("vjp")
def _(g, out, *given, axis, finds):
    xs, sizes = given[: len(given) // 2], given[len(given) // 2 : -1]
    starts = [found.number(0), *itertools.accumulate(sizes[:-1], OPS["add"])]

    def part_of(k: int) -> Any:
        return found.cut(g, starts[k], sizes[k], axis, 1, (current().type_of(xs[k]).shape[axis],))  # type: ignore[union-attr]

    return *(functools.partial(part_of, k) for k in range(len(xs))), *(None for _ in (*sizes, 0))


@op(paddle="concat", onnx="Concat")
def concat_(*xs, axis: int = 0):
    """`concat` of its inputs.

    >>> d2s.ops.join.concat_(d2s.to_tensor([1]), d2s.to_tensor([2])).numpy().tolist()
    [1, 2]
    """


@concat_.rule("canonical")
def _(*xs, axis):
    return {"axis": one_axis(axis, len(xs[0].shape), "concat")}


def _around_alike(xs: Sequence[Type], axis: int) -> list[tuple[Dim, Dim]]:
    """The pairs of extents that must be equal for tensors to stand behind each other; ShapeError where they cannot be."""
    found, first = list[tuple[Dim, Dim]](), xs[0].shape
    for k, x in enumerate(xs[1:], 1):
        own = x.shape[axis : axis + 1] if len(x.shape) == len(first) else ()
        found += fitting("concat", f"x[{k}]", x.shape, (*first[:axis], *(own or first[axis : axis + 1]), *first[axis + 1 :]))
    return found


@concat_.rule("infer")
def _(*xs, axis):
    _one_dtype("concat", xs)
    _around_alike(xs, axis)
    shape = xs[0].shape
    return Type(xs[0].dtype, (*shape[:axis], _total([x.shape[axis] for x in xs]), *shape[axis + 1 :]))


def _total(dims: Sequence[Dim]) -> Dim:
    """The sum of extents: one of them may be a name if the others are 0."""
    if any(isinstance(d, Extent) for d in dims):
        return sum(dims)  # type: ignore[arg-type]
    named, number = [d for d in dims if isinstance(d, str)], sum(d for d in dims if isinstance(d, int))
    if len(named) > 1 or (named and number):
        raise unnamed("concat", f"the sum of {', '.join(map(str, dims))}")
    return named[0] if named else number


@concat_.rule("requires")
def _(*xs, axis):
    return _around_alike(xs, axis)


@concat_.rule("kernel")
def _(*xs_and_out, axis):
    *xs, out = xs_and_out
    return behind_each_other([x.shape[axis:] for x in xs], out.shape, xs[0].shape[:axis])


def behind_each_other(runs: Sequence[Product], whole: Product, rows: Product) -> Kernel:
    """Each row of the output is a run of each input in turn; threads take stretches of the output, whatever the rows are.

    Memory is asked for the next run of an input while one is copied: those of the others come in between.
    """
    r = Registers()
    total, counts = r(whole), [r(run) for run in runs]
    lines = [f"n = {' + '.join(counts)}", "last = (hi + n - 1) // n if n > 0 else 0"]
    lines += [f"for row in range(lo // n if n > 0 else 0, last if last < {r(rows)} else {r(rows)}):"]
    inside = ["at = row * n"]
    for k, count in enumerate(counts):
        inside += [f"begin, end = (at if at > lo else lo), (at + {count} if at + {count} < hi else hi)"]
        inside += [
            f"back, whole = at - row * {count}, begin + (end - begin) // 64 * 64 if end > begin else begin",
            "for i in range(begin, whole, 64):",
            f"    lanes_ahead(xs{k}, i - back + {count})",
            f"    lanes_put(out, i, lanes_at(xs{k}, i - back))",
            "for i in range(whole, end):",
            f"    out[i] = xs{k}[i - back]",
            f"at += {count}",
        ]
    return r.extents, body([*lines, *indented(inside)]), Share(total, str(CHUNK))


@concat_.rule("vjp")
def _(g, out, *xs, axis):
    dims = [current().type_of(x).shape[axis] for x in xs]
    ends = [_total(dims[: k + 1]) for k in range(len(dims))]
    return tuple(lambda s=s, d=d: _part(g, axis, s, d) for s, d in zip([0, *ends], dims, strict=False))


def _part(g: Any, axis: int, start: Dim, size: Dim) -> Any:
    begin = start if isinstance(start, int) else 0  # behind a named extent nothing but empty parts can follow
    return part(g, tensor_type(g, "concat", "g").shape, {axis: Stretch(begin, size)})


def stack(x: Any, axis: int = 0) -> Any:
    """Tensors of one shape along a new axis.

    >>> d2s.stack([d2s.to_tensor([1, 2]), d2s.to_tensor([3, 4])], axis=1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    xs = _joined(x, "stack")
    if len(xs) <= MOST:
        return stacked(*xs, axis=axis)
    types = [tensor_type(one, "stack", "x") for one in xs]
    along = one_axis(whole_number(axis, "stack", "axis"), len(types[0].shape) + 1, "stack")
    _alike(types)
    return concat([stacked(*group, axis=along) for group in _groups(xs)], along)


def _alike(xs: Sequence[Type]) -> list[tuple[Dim, Dim]]:
    """The pairs of extents that must be equal for tensors to stand on top of each other; an error where they cannot be."""
    _one_dtype("stack", xs)
    return [pair for k, x in enumerate(xs[1:], 1) for pair in fitting("stack", f"x[{k}]", x.shape, xs[0].shape)]


@op(paddle="stack")
def stacked(*xs, axis: int = 0):
    """`stack` of its inputs.

    >>> d2s.ops.join.stacked(d2s.to_tensor(1), d2s.to_tensor(2)).numpy().tolist()
    [1, 2]
    """


@stacked.rule("canonical")
def _(*xs, axis):
    return {"axis": one_axis(axis, len(xs[0].shape) + 1, "stack")}


@stacked.rule("infer")
def _(*xs, axis):
    _alike(xs)
    return Type(xs[0].dtype, (*xs[0].shape[:axis], len(xs), *xs[0].shape[axis:]))


@stacked.rule("requires")
def _(*xs, axis):
    return _alike(xs)


@stacked.rule("kernel")
def _(*xs_and_out, axis):
    *xs, out = xs_and_out
    return behind_each_other([x.shape[axis:] for x in xs], out.shape, xs[0].shape[:axis])


@stacked.rule("vjp")
def _(g, out, *xs, axis):
    return tuple(lambda k=k: select(g, axis, k) for k in range(len(xs)))
