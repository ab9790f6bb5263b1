"""`assert` becomes an `if` that raises: its message is made only where it fails.

In: a function. Out: the same without `assert`. Where Python leaves asserts out (`-O`), so does this.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     assert x > 0, "too small"
...     return x''', transform)
def f(x):
    if not x > 0:
        raise AssertionError('too small')
    return x
"""

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote

_TEMPLATE = """
if not test:
    raise AssertionError(arguments)
"""


def transform(function: Function) -> None:
    """Rewrites all asserts of `function`."""
    _Asserts(function).generic_visit(function.tree)


class _Asserts(Rewriter):
    def visit_Assert(self, node: gast.Assert) -> list[gast.stmt]:
        (made,) = quote(_TEMPLATE, node, test=node.test)
        call = made.body[0].exc
        call.args = [node.msg] if node.msg else []
        return [made] if __debug__ else []
