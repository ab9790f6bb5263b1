"""Windows that slide over the last axes of a tensor: what users write of them, and the extents they lead to.

In: strides, paddings and dilations in any of Paddle's spellings. Out: tuples with one number per axis, of padding two.

>>> each(2, 2, "conv2d", "stride", 1), paddings([1, 2], 2, "conv2d")
((2, 2), (1, 1, 2, 2))
>>> slid(32, 3, 1, 1, (1, 1)), slid("n", 3, 1, 1, (1, 1))
(32, 'n')
"""

from collections.abc import Sequence
from typing import Any

from d2s.errors import ArgumentError, ShapeError, brief
from d2s.extents import Extent
from d2s.ops.shapes import following, is_found, uncountable, unnamed, whole_number, whole_numbers
from d2s.reckoned import is_reckoned
from d2s.types import Dim, Shape, Type

AXES = {1: "L", 2: "HW", 3: "DHW"}
Numbers = tuple[int, ...]
MOST = 1 << 31  # places that a window may leave out


def each(value: Any, rank: int, name: str, argument: str, least: int) -> Numbers:
    """One number per axis; one number alone stands for all."""
    found = whole_numbers(value, name, argument)
    found = found * rank if len(found) == 1 else found
    if len(found) != rank or any(n < least for n in found):
        wanted = f"one int or {rank}, none less than {least}"
        raise ArgumentError("D2S0004", f"{name}(): '{argument}' is {brief(value)}, expected {wanted}")
    return found


def layout(data_format: Any, rank: int, name: str) -> bool:
    """Whether channels are the last axis."""
    first, last = f"NC{AXES[rank]}", f"N{AXES[rank]}C"
    if not isinstance(data_format, str) or data_format not in (first, last):
        raise ArgumentError("D2S0004", f"{name}(): 'data_format' is {brief(data_format)}, expected '{first}' or '{last}'")
    return data_format == last


def order(rank: int, last: bool) -> tuple[Numbers, Numbers]:
    """The permutations that bring channels to the front, and back."""
    if not last:
        return (), ()
    spatial = range(1, rank + 1)
    return (0, rank + 1, *spatial), (0, *(k + 1 for k in spatial), 1)


def written(padding: Any, rank: int, last: bool, name: str) -> Any:
    """`padding` in numbers or as a name, without the pairs that Paddle has for the axes of batch and channels."""
    if isinstance(padding, str):
        return padding
    if not isinstance(padding, list | tuple) or not any(isinstance(p, list | tuple) for p in padding):
        found = whole_numbers(padding, name, "padding")
        if any(n < 0 for n in found):
            raise ArgumentError("D2S0004", f"{name}(): 'padding' is {brief(padding)}, expected no negative number")
        return found
    pairs = [whole_numbers(p, name, "padding") for p in padding]
    spatial = pairs[1:-1] if last else pairs[2:]
    others = [*pairs[:1], *(pairs[-1:] if last else pairs[1:2])]
    if len(spatial) != rank or any(len(p) != 2 for p in pairs) or any(p != (0, 0) for p in others):
        wanted = f"{rank + 2} pairs, those of batch and channels (0, 0)"
        raise ArgumentError("D2S0004", f"{name}(): 'padding' is {brief(padding)}, expected {wanted}")
    return tuple(n for pair in spatial for n in pair)


def paddings(value: Any, rank: int, name: str) -> Numbers:
    """What stands before and behind each axis: of one number, one per axis, or both of each axis."""
    found = whole_numbers(value, name, "padding")
    if len(found) not in (1, rank, 2 * rank):
        wanted = f"'SAME', 'VALID', or 1, {rank} or {2 * rank} ints"
        raise ArgumentError("D2S0004", f"{name}(): 'padding' is {brief(value)}, expected {wanted}")
    if len(found) == 2 * rank:
        return found
    return tuple(n for n in (found * rank if len(found) == 1 else found) for _ in range(2))


def algorithm(padding: Any, name: str) -> str:
    """'SAME' or 'VALID'; empty where the padding is given in numbers."""
    if not isinstance(padding, str):
        return ""
    if padding.upper() not in ("SAME", "VALID"):
        raise ArgumentError("D2S0004", f"{name}(): 'padding' is {brief(padding)}, expected 'SAME', 'VALID' or ints")
    return padding.upper()


def known(name: str, extents: Sequence[Dim], what: str) -> Numbers:
    """Extents that must be numbers."""
    if any(isinstance(d, str) for d in extents):
        raise unnamed(name, what)
    return tuple(d for d in extents if isinstance(d, int))


def same(name: str, have: Sequence[Dim], kernel: Numbers, stride: Numbers) -> Numbers:
    """The padding with which there is one window per `stride` elements."""
    found: list[int] = []
    for extent, k, s in zip(have, kernel, stride, strict=True):
        if uncountable(extent) and s > 1:
            raise unnamed(name, f"the padding 'SAME' of extent {extent}")
        whole: Any = k - 1 if s == 1 else _covering(extent, k, s)
        found += [whole // 2, whole - whole // 2]
    return tuple(found)


def _covering(extent: Any, kernel: int, stride: int) -> Any:
    """How much padding it takes that each stride has its window."""
    if isinstance(extent, Extent):
        return extent.computed(f" padded for {kernel}, {stride}", lambda n: _covering(n, kernel, stride))
    return max((-(-extent // stride) - 1) * stride + kernel - extent, 0)


def slid(have: Dim, kernel: int, stride: int, dilation: int, pads: Sequence[int], up: bool = False) -> Dim:
    """How many windows there are along an axis; `up` counts a last one that leaves it."""
    more = sum(pads) - dilation * (kernel - 1) - 1
    if uncountable(have):
        wide = more + stride + (stride - 1 if up else 0)
        return following(have, plus=wide, by=stride)
    extent: Any = have
    room = extent + more
    return -(-room // stride) + 1 if up else room // stride + 1


def attributes(
    name: str, have: Sequence[Dim], kernel: Numbers, stride: Any, padding: Any, dilation: Any, groups: Any
) -> dict[str, Any]:
    """What says how filters slide over axes of some extents, in its one form."""
    rank = len(have)
    steps, spread = each(stride, rank, name, "stride", 1), each(dilation, rank, name, "dilation", 1)
    how = algorithm(padding, name)
    if how == "SAME":
        spread, pads = (1,) * rank, same(name, have, kernel, steps)
    else:
        pads = paddings(0 if how else padding, rank, name)
    parts = whole_number(groups, name, "groups")
    if parts < 1:
        raise ArgumentError("D2S0004", f"{name}(): 'groups' is {brief(groups)}, expected an int greater than 0")
    return {"stride": steps, "padding": pads, "dilation": spread, "groups": parts}


def windows(
    name: str, have: Shape, kernel: Numbers, stride: Numbers, dilation: Numbers, pads: Numbers, up: bool = False
) -> tuple[Dim, ...]:
    """The extents of the result; ShapeError where not one window fits."""
    found = []
    for axis, extent in enumerate(have):
        given = kernel[axis], stride[axis], dilation[axis], pads[2 * axis : 2 * axis + 2]
        found.append(slid(extent, *given, up=up))
        if isinstance(found[-1], int) and found[-1] <= 0:
            label = AXES[len(have)][axis]
            message = f"'x' has extent {extent} along axis {label}, with padding {list(given[3])}"
            reach = given[2] * (given[0] - 1) + 1
            raise ShapeError("D2S0002", f"{name}(): {message}: less than the window's {reach}")
    return tuple(found)


def past_like(kernel: Any, place: int) -> Any:
    """The kernel of an op that is given a tensor at a place of which only the extents count; what stood there is behind it."""
    extents, body, *rest = kernel
    return extents, body.replace(f"r[o[{place}]]", f"r[o[{place + 1}]]"), *rest


def open_ones(made: Type) -> list[Dim]:
    """The extents of a result that only a run finds to be none."""
    return [d for d in made.shape[2:] if is_reckoned(d) or is_found(d)]
