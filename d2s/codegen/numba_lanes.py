"""The 64 lanes of `lanes.py` in texts that Numba compiles: kernels name them, Numba types them.

In: kernel text that says `lanes_of(v)` (64 times v), `lanes_at(p, k)` (64 elements from p[k] on), `lanes_add(a, b)` (lane by
lane; also `mul`, `max`, `min`), `lanes_put(p, k, a)`, `fold_add(a)` (the upper half onto the lower one, six times) and
`lanes_ahead(p, k)` (has memory bring what will be read). Out: the code of each.

>>> sorted(NAMES)[4:]
['lanes_add', 'lanes_ahead', 'lanes_at', 'lanes_max', 'lanes_min', 'lanes_mul', 'lanes_of', 'lanes_put']
"""

from collections.abc import Callable
from typing import Any

from numba import types as nb
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import intrinsic, register_model

from d2s.codegen import lanes


class Lanes(nb.Type):
    """64 values of one type."""

    def __init__(self, of: Any) -> None:
        super().__init__(f"Lanes({of})")
        self.of = of


@register_model(Lanes)
class _Model(PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, lanes.vector_of(manager[kind.of].get_data_type()))


@intrinsic
def lanes_of(typing_context, value):
    """64 times a value."""
    return Lanes(value)(value), lambda context, builder, signature, args: lanes.spread(builder, args[0])


@intrinsic
def lanes_at(typing_context, pointer, index):
    """The 64 elements that begin at an index."""

    def codegen(context, builder, signature, args):
        at = lanes.place(builder, *args)
        return builder.load(at, align=context.get_abi_sizeof(args[0].type.pointee))

    return Lanes(pointer.dtype)(pointer, index), codegen


@intrinsic
def lanes_ahead(typing_context, pointer, index):
    """Has the memory bring the 64 elements that begin at an index."""

    def codegen(context, builder, signature, args):
        lanes.ask(builder, *args, context.get_abi_sizeof(args[0].type.pointee))
        return context.get_dummy_value()

    return nb.void(pointer, index), codegen


@intrinsic
def lanes_put(typing_context, pointer, index, values):
    """Stores 64 elements from an index on."""

    def codegen(context, builder, signature, args):
        at = lanes.place(builder, *args[:2])
        builder.store(args[2], at, align=context.get_abi_sizeof(args[0].type.pointee))
        return context.get_dummy_value()

    return nb.void(pointer, index, values), codegen


def _kind(of: Any) -> str:
    return "f" if isinstance(of, nb.Float) else "i" if of.signed else "u"


def _joining(join: Callable[..., Any]) -> Any:
    @intrinsic
    def joined(typing_context, a, b):
        return a(a, a), lambda context, builder, signature, args: join(builder, _kind(a.of), *args)

    return joined


def _folding(join: Callable[..., Any]) -> Any:
    @intrinsic
    def folded(typing_context, a):
        return a.of(a), lambda context, builder, signature, args: lanes.fold(builder, join, _kind(a.of), args[0])

    return folded


NAMES = {"lanes_of": lanes_of, "lanes_at": lanes_at, "lanes_ahead": lanes_ahead, "lanes_put": lanes_put}
NAMES |= {f"lanes_{name}": _joining(join) for name, join in lanes.JOINS.items()}
NAMES |= {f"fold_{name}": _folding(join) for name, join in lanes.JOINS.items()}
