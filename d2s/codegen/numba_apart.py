"""Pointers of a kernel that writes where it reads: no two of them lie in the same memory, so a loop needs no checks.

In: kernel text that says `p = f32_apart0(r[o[0]])`, `m = f32_apart1(r[o[1]])`, ... Out: the code of `p[i]` and `p[i] = v`,
which tells LLVM that what lies behind one number does not lie behind another.

>>> sorted(NAMES)[:2], len(NAMES)
(['f32_apart0', 'f32_apart1'], 16)
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types as nb
from numba.core.datamodel.models import PointerModel
from numba.extending import intrinsic, lower_builtin, register_model

COUNT = 8


class _Apart(nb.CPointer):
    """To memory no pointer of another number points to."""

    number: int


def _mark(instruction: Any, number: int) -> Any:
    """Says of a load or a store which memory it is in, and in which it is not."""
    module = instruction.module
    domain = module.add_metadata([ir.MetaDataString(module, "d2s apart")])
    scopes = [module.add_metadata([ir.MetaDataString(module, f"apart{k}"), domain]) for k in range(COUNT)]
    instruction.set_metadata("alias.scope", module.add_metadata([scopes[number]]))
    instruction.set_metadata("noalias", module.add_metadata([scopes[k] for k in range(COUNT) if k != number]))
    return instruction


def _kind(number: int) -> Any:
    """The pointer type of a number."""
    kind = type(f"_Apart{number}", (_Apart,), {"number": number})
    register_model(kind)(PointerModel)

    @lower_builtin(operator.getitem, kind, nb.Integer)
    def _(context, builder, signature, args):
        return _mark(builder.load(builder.gep(args[0], [args[1]])), number)

    @lower_builtin(operator.setitem, kind, nb.Integer, nb.Any)
    def _(context, builder, signature, args):
        _mark(builder.store(args[2], builder.gep(args[0], [args[1]])), number)
        return context.get_dummy_value()

    return kind


def _pointer(element: Any, kind: Any) -> Any:
    @intrinsic
    def pointer(typing_context, address):
        return kind(element)(nb.intp), lambda c, b, s, a: b.inttoptr(a[0], c.get_value_type(s.return_type))

    return pointer


_KINDS = [_kind(number) for number in range(COUNT)]
NAMES = {
    f"{short}_apart{number}": _pointer(element, kind)
    for short, element in (("f32", nb.float32), ("f64", nb.float64))
    for number, kind in enumerate(_KINDS)
}
