"""The 64 lanes that sums and their kin run in, as one vector value of LLVM: kernels name them, Numba types them.

In: kernel text that says `lanes_of(v)` (64 times v), `lanes_at(p, k)` (64 elements from p[k] on), `lanes_add(a, b)` (lane by
lane; also `mul`, `max`, `min`), `lanes_put(p, k, a)` and `fold_add(a)` (the upper half onto the lower one, six times). Out: the
code of each.
A loop over an array of 64 would do the same, but LLVM keeps it in memory and takes it apart.

>>> sorted(NAMES)[4:]
['lanes_add', 'lanes_at', 'lanes_max', 'lanes_min', 'lanes_mul', 'lanes_of', 'lanes_put']
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types as nb
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import intrinsic, register_model

COUNT = 64


class Lanes(nb.Type):
    """64 values of one type."""

    def __init__(self, of: Any) -> None:
        super().__init__(f"Lanes({of})")
        self.of = of


@register_model(Lanes)
class _Model(PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.VectorType(manager[kind.of].get_data_type(), COUNT))


def _indices(values: range) -> ir.Constant:
    return ir.Constant(ir.VectorType(ir.IntType(32), len(values)), [ir.IntType(32)(v) for v in values])


@intrinsic
def lanes_of(typing_context, value):
    """64 times a value."""

    def codegen(context, builder, signature, args):
        vector = context.get_value_type(signature.return_type)
        first = builder.insert_element(ir.Constant(vector, ir.Undefined), args[0], ir.IntType(32)(0))
        every = ir.Constant(ir.VectorType(ir.IntType(32), COUNT), [ir.IntType(32)(0)] * COUNT)
        return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), every)

    return Lanes(value)(value), codegen


@intrinsic
def lanes_at(typing_context, pointer, index):
    """The 64 elements that begin at an index."""

    def codegen(context, builder, signature, args):
        vector = context.get_value_type(signature.return_type)
        at = builder.bitcast(builder.gep(args[0], [args[1]]), vector.as_pointer())
        return builder.load(at, align=context.get_abi_sizeof(vector.element))

    return Lanes(pointer.dtype)(pointer, index), codegen


@intrinsic
def lanes_put(typing_context, pointer, index, lanes):
    """Stores 64 elements from an index on."""

    def codegen(context, builder, signature, args):
        vector = context.get_value_type(signature.args[2])
        at = builder.bitcast(builder.gep(args[0], [args[1]]), vector.as_pointer())
        builder.store(args[2], at, align=context.get_abi_sizeof(vector.element))
        return context.get_dummy_value()

    return nb.void(pointer, index, lanes), codegen


def _add(builder: Any, of: Any, a: Any, b: Any) -> Any:
    return builder.fadd(a, b) if isinstance(of, nb.Float) else builder.add(a, b)


def _mul(builder: Any, of: Any, a: Any, b: Any) -> Any:
    return builder.fmul(a, b) if isinstance(of, nb.Float) else builder.mul(a, b)


def _beyond(sign: str) -> Callable[..., Any]:
    """b where it is greater (less) than a or no number, else a: a maximum is one instruction, only nans take a second look."""

    def join(builder: Any, of: Any, a: Any, b: Any) -> Any:
        if isinstance(of, nb.Float):
            found = builder.select(builder.fcmp_ordered(sign, b, a), b, a)
            return builder.select(builder.fcmp_unordered("uno", b, b), b, found)
        compare = builder.icmp_signed if of.signed else builder.icmp_unsigned
        return builder.select(compare(sign, b, a), b, a)

    return join


def _joining(join: Callable[..., Any]) -> Any:
    @intrinsic
    def lanes(typing_context, a, b):
        return a(a, a), lambda context, builder, signature, args: join(builder, a.of, *args)

    return lanes


def _folding(join: Callable[..., Any]) -> Any:
    @intrinsic
    def fold(typing_context, a):
        def codegen(context, builder, signature, args):
            (found,), half = args, COUNT // 2
            while half:
                none = ir.Constant(found.type, ir.Undefined)
                low, high = (builder.shuffle_vector(found, none, _indices(range(s, s + half))) for s in (0, half))
                found, half = join(builder, a.of, low, high), half // 2
            return builder.extract_element(found, ir.IntType(32)(0))

        return a.of(a), codegen

    return fold


_JOINS = {"add": _add, "mul": _mul, "max": _beyond(">"), "min": _beyond("<")}
NAMES = {"lanes_of": lanes_of, "lanes_at": lanes_at, "lanes_put": lanes_put}
NAMES |= {f"lanes_{name}": _joining(join) for name, join in _JOINS.items()}
NAMES |= {f"fold_{name}": _folding(join) for name, join in _JOINS.items()}
