"""Native functions of kernel texts, for Numba: calls it cannot look into, whose functions are linked in behind it.

In: the native functions of a text. Out: names for the scope Numba compiles the rest in.

>>> sorted(names(ast.parse("def twice(n):\\n    return n + n").body))
['twice']
"""

import ast
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types as nb
from numba.core import cgutils
from numba.extending import intrinsic


def names(functions: Sequence[ast.FunctionDef]) -> dict[str, Any]:
    """A stand-in for each function."""
    return {f.name: _call(f.name, len(f.args.args)) for f in functions}


def _call(name: str, count: int) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        of = ir.FunctionType(ir.IntType(64), [ir.IntType(64)] * count)
        function = cgutils.get_or_insert_function(builder.module, of, name)
        if function.is_declaration:  # weak: another definition takes its place, so that nothing is known of what it does
            function.linkage = "weak"
            ir.IRBuilder(function.append_basic_block()).ret(ir.IntType(64)(0))
        return builder.call(function, args)

    text = f"def called(typing_context, {', '.join(f'x{k}' for k in range(count))}): return signature, codegen"
    scope = {"signature": nb.intp(*[nb.intp] * count), "codegen": codegen}
    exec(text, scope)
    return intrinsic(scope["called"])
