"""Python text as a tree, one at a time in the whole process.

In: text. Out: its tree. CPython 3.11 counts how deep the trees of all threads are together: where one parses while another
does, either may end with a SystemError, "AST constructor recursion depth mismatch". Kernels are made on all cores.

>>> ast.unparse(tree_of("x  =  1")), type(tree_of("x", "eval")).__name__
('x = 1', 'Expression')
"""

import ast
from typing import Any

from d2s import forks


def tree_of(text: str, mode: str = "exec") -> Any:
    """The tree of a text: a Module, or an Expression where the mode is "eval"."""
    with forks.parsing:
        return ast.parse(text, mode=mode)
