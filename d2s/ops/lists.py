"""Lists that a run makes longer and shorter: what a `list[f32[2]]` in a Program is asked, and how it changes.

Every op takes the list and gives it back, also those that only read: each value of such a type is used once, so that the
executor changes the list where it lies. Indices are between 0 and the length; who records them has checked that.

>>> from d2s.types import float32
>>> list_pop.infer([Type(float32, (2,)).list], {})
(list[f32[2]], f32[2])
"""

from typing import Any

from d2s.errors import InternalError
from d2s.ops.op import op
from d2s.types import DType, Type, int64

LENGTH = Type(int64)


@op(paddle=None)
def list_new(dtype: DType, shape: Any, python: bool):
    """An empty list of items of a type."""


@list_new.rule("infer")
def _(dtype, shape, python):
    return Type(dtype, shape, python).list


@op(paddle=None)
def list_full(count, x):
    """A list of `count` times x."""


@list_full.rule("infer")
def _(count, x):
    return x.list


@op(paddle=None)
def list_length(items):
    """The list, and how many items it has."""


@list_length.rule("infer")
def _(items):
    return items, LENGTH


@op(paddle=None)
def list_append(items, x):
    """The list with x behind its items."""


@list_append.rule("infer")
def _(items, x):
    _fits(items, x)
    return items


@op(paddle=None)
def list_pop(items):
    """The list without its last item, and that item."""


@list_pop.rule("infer")
def _(items):
    return items, items.item


@op(paddle=None)
def list_get(items, index):
    """The list, and its item number `index`."""


@list_get.rule("infer")
def _(items, index):
    return items, items.item


@op(paddle=None)
def list_set(items, index, x):
    """The list with x in the place of its item number `index`."""


@list_set.rule("infer")
def _(items, index, x):
    _fits(items, x)
    return items


@op(paddle=None)
def list_stack(items, count, finds: Any, behind: bool):
    """The list, and its items in one tensor: along a new first axis, or `behind` each other along the one they have.

    `count` is how long that axis is.
    """


@list_stack.rule("infer")
def _(items, count, finds, behind):
    return items, Type(items.dtype, (*finds, *items.shape[behind:]))


@op(paddle=None)
def list_unstack(items, x):
    """The list with parts of x, which has the form `list_stack` gives, in the place of its items."""


@list_unstack.rule("infer")
def _(items, x):
    return items


def _fits(items: Type, x: Type) -> None:
    if items != x.list:
        raise InternalError("D2S9001", f"{x} in a {items}")
