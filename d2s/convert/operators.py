"""What stands for functions of Python's `operator`: the same questions and reads that rewritten code makes of its operators.

>>> getter(operator.itemgetter(1))([1, 2]), getter(operator.attrgetter("real", "imag"))(3)
(2, (3, 0))
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

from d2s.convert.loads import attribute, is_, item
from d2s.convert.logical import equal, in_, is_not, not_, not_equal

_ARITHMETIC = "add sub mul truediv floordiv mod pow matmul neg pos abs lt le gt ge and_ or_ xor invert lshift rshift concat"
ARITHMETIC: set[Any] = {getattr(operator, name) for name in _ARITHMETIC.split()}
ASKING: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (operator.eq, equal),
    (operator.ne, not_equal),
    (operator.is_, is_),
    (operator.is_not, is_not),
    (operator.not_, not_),
    (operator.truth, lambda x: not_(not_(x))),
    (operator.contains, lambda container, value: in_(value, container)),
    (operator.getitem, item),
)


def getter(found: Any) -> Callable[[Any], Any]:
    """What an `operator.itemgetter` or `operator.attrgetter` does."""
    keys: tuple[Any, ...] = found.__reduce__()[1]
    read = item if isinstance(found, operator.itemgetter) else _attributes
    return lambda owner: read(owner, keys[0]) if len(keys) == 1 else tuple(read(owner, key) for key in keys)


def _attributes(owner: Any, path: str) -> Any:
    return functools.reduce(attribute, path.split("."), owner)
