"""What a `raise` raises goes through the runtime: which exception that is may depend on a tensor.

In: a function. Out: the same with a call in each `raise`; what stands behind `from` is given to it.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x, e):
...     if x:
...         raise e
...     raise ValueError(x) from None''', transform)
def f(x, e):
    if x:
        raise _d2s.raised(e)
    raise _d2s.raised(ValueError(x), None)
"""

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote_expression


def transform(function: Function) -> None:
    """Rewrites all `raise` statements of `function`."""
    _Raises(function).generic_visit(function.tree)


class _Raises(Rewriter):
    def visit_Raise(self, node: gast.Raise) -> gast.Raise:
        if node.exc is not None:
            call = quote_expression("_d2s.raised()", node)
            call.args = [part for part in (node.exc, node.cause) if part is not None]
            node.exc, node.cause = call, None
        return node
