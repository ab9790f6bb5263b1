"""`product`, `turned` and `dots` (of `tiles`, `panels`, `dots`) for kernel texts: calls of functions linked in behind Numba.

In: addresses as ints (`at(x, 5)` is that of x[5]) and ints. `WIDTH` is how many columns a panel has, which belongs to the
host and changes no result; `SIZE` is the bytes of an element. Numba sees a stand-in it cannot look into; so the tiles are
compiled once, by LLVM, and cost Numba nothing.

    product(rows, columns, count, at(x, i * n1), n1, 1, at(y, j), n2, at(out, i * n2 + j), n2, 0)

>>> sorted(names("f32"))
['SIZE', 'WIDTH', 'at', 'dots', 'follow', 'least', 'product', 'turned']
>>> names("i32")
{}
"""

import functools
from typing import Any

from llvmlite import ir
from numba import types as nb
from numba.core import cgutils
from numba.extending import intrinsic

from d2s import types
from d2s.codegen import follower, linking, tiles, vectors


@intrinsic
def at(typing_context, pointer, index):
    """The address of an element."""

    def codegen(context, builder, signature, args):
        return builder.ptrtoint(builder.gep(args[0], [args[1]]), ir.IntType(64))

    return nb.intp(pointer, nb.intp), codegen


@intrinsic
def least(typing_context, x, y):
    """The smaller of two ints, without a branch."""

    def codegen(context, builder, signature, args):
        return builder.select(builder.icmp_signed("<", *args), *args)

    return nb.intp(nb.intp, nb.intp), codegen


@intrinsic
def follow(typing_context, r, o, row, rows, column, columns):
    """Has the follower do these rows and columns."""

    def codegen(context, builder, signature, args):
        follower.called(builder, args)
        return context.get_dummy_value()

    return nb.void(*[nb.intp] * follower.GIVEN), codegen


def _call(name: str, count: int) -> Any:
    """An intrinsic that calls a function of so many ints."""

    def codegen(context, builder, signature, args):
        void = ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * count)
        function = cgutils.get_or_insert_function(builder.module, void, name)
        if function.is_declaration:  # weak: another definition takes its place, so that nothing is known of what it does
            function.linkage = "weak"
            ir.IRBuilder(function.append_basic_block()).ret_void()
        builder.call(function, args)
        return context.get_dummy_value()

    text = f"def called(typing_context, {', '.join(f'x{k}' for k in range(count))}): return signature, codegen"
    scope = {"signature": nb.void(*[nb.intp] * count), "codegen": codegen}
    exec(text, scope)
    return intrinsic(scope["called"])


@functools.cache
def names(short: str) -> dict[str, Any]:
    """What a kernel text of a float dtype may use."""
    if types.dtype(short).kind != "f":
        return {}
    unit = vectors.unit()
    functions = {name: _call(f"{name}_{short}", len(text.ARGUMENTS)) for name, text in linking.TILES.items()}
    sizes = {"WIDTH": tiles.width(short, unit), "SIZE": vectors.numbers(short, unit).size}
    return functions | sizes | {"at": at, "least": least, "follow": follow}
