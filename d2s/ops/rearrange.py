"""Values in another arrangement, made of slices, joins and gathers. In: tensors. Out: tensors.

>>> rot90(d2s.to_tensor([[1, 2], [3, 4]])).tolist(), repeat_interleave(d2s.to_tensor([5, 6]), 2).tolist()
([[2, 4], [1, 3]], [5, 5, 6, 6])
"""

from typing import Any

from d2s.errors import ArgumentError, DTypeError, ShapeError, brief
from d2s.extents import Extent
from d2s.ops.arrange import flip, moveaxis, transpose
from d2s.ops.compare import cast, equal, where
from d2s.ops.create import arange, full, full_like
from d2s.ops.expand import expand
from d2s.ops.gather import take_at
from d2s.ops.join import concat, stack
from d2s.ops.math import add, floor_divide, multiply, subtract
from d2s.ops.shape import flatten, unsqueeze
from d2s.ops.shapes import fitting, one_axis, tensor_type, unnamed, whole_number, whole_numbers
from d2s.ops.slices import slice
from d2s.ops.slicing import unbind
from d2s.ops.triangle import diag, diagonal, set_diagonal
from d2s.types import Dim, Shape


def rot90(x: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """The plane of two axes turned by k quarters, from the first axis to the second.

    >>> d2s.rot90(d2s.to_tensor([[1, 2], [3, 4]]), 2).tolist()
    [[4, 3], [2, 1]]
    """
    rank = len(tensor_type(x, "rot90", "x").shape)
    given = whole_numbers(axes, "rot90", "axes")
    if rank < 2 or len(given) != 2:
        raise ArgumentError("D2S0004", f"rot90(): 'axes' is {list(given)} of {rank}, expected two of the axes of 'x'")
    a, b = (one_axis(axis, rank, "rot90") for axis in given)
    if a == b:
        raise ArgumentError("D2S0004", f"rot90(): 'axes' names axis {a} twice")
    turned = list(range(rank))
    turned[a], turned[b] = b, a
    quarters = whole_number(k, "rot90", "k") % 4
    if quarters == 1:
        return transpose(flip(x, [b]), turned)
    if quarters == 3:
        return flip(transpose(x, turned), [b])
    return flip(x, [a, b]) if quarters else flip(x, [])


def repeat_interleave(x: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each slice along an axis, or each element, several times in a row: `repeats` is one number, or one for each.

    >>> d2s.repeat_interleave(d2s.to_tensor([[1, 2], [3, 4]]), 2, axis=1).tolist()
    [[1, 1, 2, 2], [3, 3, 4, 4]]
    """
    have = tensor_type(x, "repeat_interleave", "x")
    if axis is None:
        x, axis = flatten(x), 0
    else:
        axis = one_axis(axis, len(have.shape), "repeat_interleave")
    if isinstance(repeats, int) and not isinstance(repeats, bool):
        return _each_alike(x, repeats, axis)
    return _each_its_own(x, repeats, axis, tensor_type(x, "repeat_interleave", "x").shape[axis])


def _each_alike(x: Any, repeats: int, axis: int) -> Any:
    if repeats < 0:
        raise ArgumentError("D2S0004", f"repeat_interleave(): 'repeats' is {repeats}, expected numbers from 0")
    apart = unsqueeze(x, axis + 1)
    wider = expand(apart, [repeats if a == axis + 1 else -1 for a in range(len(apart.shape))])
    return flatten(wider, axis, axis + 1)


def _each_its_own(x: Any, repeats: Any, axis: int, extent: Dim) -> Any:
    if isinstance(getattr(repeats, "size", None), int) and repeats.size == extent:
        repeats = repeats.tolist()
    counts = whole_numbers(repeats, "repeat_interleave", "repeats")
    if len(counts) != extent or any(n < 0 for n in counts):
        message = (
            f"repeat_interleave(): 'repeats' is {brief(list(counts))} for {extent} slices, expected a number from 0 for each"
        )
        raise ShapeError("D2S0002", message)
    parts = [_each_alike(slice(x, [axis], [n], [n + 1]), count, axis) for n, count in enumerate(counts) if count]
    return concat(parts, axis) if parts else slice(x, [axis], [0], [0])


def crop(x: Any, shape: Any = None, offsets: Any = None) -> Any:
    """The part of some shape that begins at `offsets`; -1 in the shape is all that is left of an axis.

    >>> d2s.crop(d2s.to_tensor([[1, 2, 3], [4, 5, 6]]), [1, -1], [1, 1]).tolist()
    [[5, 6]]
    """
    have = tensor_type(x, "crop", "x").shape
    sizes = whole_numbers([-1] * len(have) if shape is None else shape, "crop", "shape")
    starts = whole_numbers([0] * len(have) if offsets is None else offsets, "crop", "offsets")
    if len(sizes) != len(have) or len(starts) != len(have):
        raise ShapeError("D2S0002", f"crop(): {len(sizes)} extents and {len(starts)} offsets for {len(have)} axes")
    axes = [n for n, dim in enumerate(have) if isinstance(dim, int) or (starts[n], sizes[n]) != (0, -1)]
    ends = [_end(n, starts[n], sizes[n], have[n]) for n in axes]
    return slice(x, axes, [starts[n] for n in axes], ends) if axes else cast(x, x.dtype)


def _end(axis: int, start: int, size: int, dim: Dim) -> int:
    if isinstance(dim, str):
        raise unnamed("crop", f"the extent {dim}")
    end = dim if size == -1 else start + size
    if not 0 <= start <= end <= dim:
        raise ArgumentError("D2S0004", f"crop(): {size} from {start} on along axis {axis}, which has {dim}")
    return end


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices of zeros, in two new axes, with the vectors along the last axis on their diagonals.

    >>> d2s.diag_embed(d2s.to_tensor([1, 2])).tolist()
    [[1, 0], [0, 2]]
    """
    have, by = tensor_type(input, "diag_embed", "input"), whole_number(offset, "diag_embed", "offset")
    rank = len(have.shape) + 1
    if rank == 1:
        raise ShapeError("D2S0002", "diag_embed(): 'input' has shape [], expected at least one axis")
    if isinstance(have.shape[-1], str):
        raise unnamed("diag_embed", f"the last extent of {list(have.shape)}")
    first, second = (one_axis(a, rank, "diag_embed") for a in (dim1, dim2))
    if first == second:
        raise ArgumentError("D2S0004", f"diag_embed(): 'dim1' and 'dim2' are both axis {first}")
    size = have.shape[-1] + abs(by)
    row = expand(unsqueeze(full_like(input, 0).sum(-1, have.dtype), [-1, -2]), [*[-1] * (rank - 2), size, size])
    found = set_diagonal(row, input, by, rank - 2, rank - 1)
    return moveaxis(found, [-2, -1], [first, second])


def diagflat(x: Any, offset: int = 0) -> Any:
    """A matrix with all elements of x on a diagonal.

    >>> d2s.diagflat(d2s.to_tensor([[1, 2]])).tolist()
    [[1, 0], [0, 2]]
    """
    tensor_type(x, "diagflat", "x")
    return diag(flatten(x), offset)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum along a diagonal.

    >>> d2s.trace(d2s.to_tensor([[1, 2], [3, 4]])).item()
    5
    """
    return diagonal(x, offset, axis1, axis2).sum(-1)


def shard_index(input: Any, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Any:
    """Indices within one of `nshards` equal parts of `index_num` numbers; `ignore_value` for those of other parts.

    >>> d2s.shard_index(d2s.to_tensor([[1], [12]]), 20, 2, 1).tolist()
    [[-1], [2]]
    """
    if tensor_type(input, "shard_index", "input").dtype.kind != "i":
        raise DTypeError("D2S0003", "shard_index(): 'input' expects integers")
    total, parts, own = (
        whole_number(n, "shard_index", name)
        for n, name in ((index_num, "index_num"), (nshards, "nshards"), (shard_id, "shard_id"))
    )
    if total < 1 or parts < 1 or not 0 <= own < parts:
        raise ArgumentError("D2S0004", f"shard_index(): part {own} of {parts} of {total} numbers")
    size = (total + parts - 1) // parts
    return where(
        equal(floor_divide(input, size), own),
        subtract(input, own * size),
        whole_number(ignore_value, "shard_index", "ignore_value"),
    )


def kron(x: Any, y: Any) -> Any:
    """Each element of x times all of y, laid out as x is.

    >>> d2s.kron(d2s.to_tensor([1, 2]), d2s.to_tensor([10, 20])).tolist()
    [10, 20, 20, 40]
    """
    ranks = [len(tensor_type(v, "kron", name).shape) for v, name in ((x, "x"), (y, "y"))]
    rank = max(ranks)
    for n in range(rank):
        if n >= ranks[0]:
            x = unsqueeze(x, 0)
        if n >= ranks[1]:
            y = unsqueeze(y, 0)
    product = (
        multiply(unsqueeze(x, [2 * n + 1 for n in range(rank)]), unsqueeze(y, [2 * n for n in range(rank)]))
        if rank
        else multiply(x, y)
    )
    for n in range(rank):
        product = flatten(product, n, n + 1)
    return product


def cross(x: Any, y: Any, axis: int = 9) -> Any:
    """The vectors that stand upright on two others, of three numbers along an axis; 9 is the first axis that has three.

    >>> d2s.cross(d2s.to_tensor([1, 0, 0]), d2s.to_tensor([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    shape = tensor_type(x, "cross", "x").shape
    fitting("cross", "y", tensor_type(y, "cross", "y").shape, shape)
    found = _of_three(shape) if axis == 9 else one_axis(axis, len(shape), "cross")
    if found is None or shape[found] != 3:
        raise ShapeError("D2S0002", f"cross(): 'x' has shape {list(shape)}, expected three numbers along an axis")
    a, b = (unbind(v, found) for v in (x, y))
    return stack([subtract(multiply(a[p], b[q]), multiply(a[q], b[p])) for p, q in ((1, 2), (2, 0), (0, 1))], found)


def _of_three(shape: Shape) -> int | None:
    """The first axis that has three numbers."""
    for n, d in enumerate(shape):
        if isinstance(d, str) and not isinstance(d, Extent):  # an `Extent` answers, and its program keeps to that
            raise unnamed("cross", f"whether axis {n} has three numbers")
        if d == 3:
            return n
    return None


def add_n(inputs: Any) -> Any:
    """The sum of tensors of one shape.

    >>> d2s.add_n([d2s.to_tensor([1, 2]), d2s.to_tensor([3, 4])]).tolist()
    [4, 6]
    """
    listed = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if not listed:
        raise ArgumentError("D2S0004", "add_n(): 'inputs' is empty, expected one tensor at least")
    shape = tensor_type(listed[0], "add_n", "inputs").shape
    total = cast(listed[0], tensor_type(listed[0], "add_n", "inputs").dtype)
    for more in listed[1:]:
        fitting("add_n", "inputs", tensor_type(more, "add_n", "inputs").shape, shape)
        total = add(total, more)
    return total


def numel(x: Any) -> Any:
    """How many elements there are, as a tensor.

    >>> d2s.numel(d2s.zeros([2, 3])).item()
    6
    """
    count: Any = 1
    for extent in _shape(x, "numel", "x"):
        count = count * extent
    return full([], count, "int64")


def rank(input: Any) -> Any:
    """How many axes there are, as a tensor.

    >>> d2s.rank(d2s.zeros([2, 3])).item()
    2
    """
    return full([], len(_shape(input, "rank", "input")), "int32")


def shape(input: Any) -> Any:
    """The extents, as a tensor.

    >>> d2s.shape(d2s.zeros([2, 3])).tolist()
    [2, 3]
    """
    extents = _shape(input, "shape", "input")
    return stack([full([], n, "int32") for n in extents]) if extents else full([0], 0, "int32")


def _shape(x: Any, name: str, argument: str) -> Any:
    tensor_type(x, name, argument)
    return x.shape


def unfold(x: Any, axis: int, size: int, step: int) -> Any:
    """All stretches of `size` values along an axis, `step` apart: which of them stands on that axis, its values on a last one.

    >>> d2s.unfold(d2s.to_tensor([1, 2, 3, 4, 5]), 0, 2, 3).tolist()
    [[1, 2], [4, 5]]
    """
    have = tensor_type(x, "unfold", "x").shape
    at = one_axis(axis, len(have), "unfold")
    count, wide, by = have[at], whole_number(size, "unfold", "size"), whole_number(step, "unfold", "step")
    if isinstance(count, str):
        raise unnamed("unfold", f"the extent {count}")
    if not 0 <= wide <= count or by < 1:
        message = f"unfold(): stretches of {brief(size)}, {brief(step)} apart, do not fit into {count} values"
        raise ArgumentError("D2S0004", message)
    starts = unsqueeze(arange(0, count - wide + 1, by), 1)
    return moveaxis(take_at(x, add(starts, arange(wide)), axes=(at,)), at + 1, -1)


def clone(x: Any) -> Any:
    """The same values in memory of their own; gradients pass.

    >>> d2s.clone(d2s.to_tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    return cast(x, tensor_type(x, "clone", "x").dtype)


def is_floating_point(x: Any) -> bool:
    """Whether the elements are floats.

    >>> d2s.is_floating_point(d2s.to_tensor([1.0]))
    True
    """
    return tensor_type(x, "is_floating_point", "x").dtype.kind == "f"


def is_integer(x: Any) -> bool:
    """Whether the elements are integers.

    >>> d2s.is_integer(d2s.to_tensor([1.0]))
    False
    """
    return tensor_type(x, "is_integer", "x").dtype.kind == "i"
