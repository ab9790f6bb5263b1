"""`and`, `or`, `not`, `any`, `all` and `a if c else b`, lazily, for Python values and tensors alike.

>>> and_(lambda: 1, lambda: 2), or_(lambda: 0, lambda: 3), both(lambda: 1, lambda: 2), not_(0)
(2, 3, True, True)
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from d2s.capture import growing
from d2s.capture.alternatives import each
from d2s.capture.branch import branch
from d2s.capture.by_path import is_number, opened
from d2s.capture.containers import by_path, plain_kind
from d2s.capture.forms import Later, OneOf
from d2s.capture.growing import is_grown
from d2s.capture.kinds import CONSTANT
from d2s.capture.reads import refuse_handed
from d2s.capture.steps import ask, attempted
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import refuse
from d2s.convert.if_else import guard_truth, truth, truth_of
from d2s.convert.loads import field_values, guard_content, is_, iterate, spread
from d2s.convert.methods import PLAIN, answers, asked, resolved, truth_asked
from d2s.convert.recipes import Recipe
from d2s.eager.tensor import Tensor
from d2s.ops import OPS
from d2s.types import NUMBERS

Lazy = Callable[[], Any]


def if_exp(test: Any, then: Lazy, otherwise: Lazy) -> Any:
    tracer, test = capturing(), truth_asked(test)
    if isinstance(test, OneOf | Later):
        test = truth_of(test)
    if tracer and isinstance(test, SymbolicTensor | Tensor):
        return branch(tracer, truth(tracer, test), (lambda: [then()], lambda: [otherwise()]))[0]
    guard_truth(tracer, test)
    return then() if test else otherwise()


def and_(first: Lazy, *rest: Lazy) -> Any:
    value = first()
    return if_exp(value, lambda: and_(*rest), lambda: value) if rest else value


def or_(first: Lazy, *rest: Lazy) -> Any:
    value = first()
    return if_exp(value, lambda: value, lambda: or_(*rest)) if rest else value


def both(first: Lazy, *rest: Lazy) -> Any:
    """`and` where only the truth of it matters."""
    value = first()
    return _implying(value, if_exp(value, lambda: both(*rest), lambda: False), True) if rest else truth_of(value)


def either(first: Lazy, *rest: Lazy) -> Any:
    """`or` where only the truth of it matters."""
    value = first()
    return _implying(value, if_exp(value, lambda: True, lambda: either(*rest)), False) if rest else truth_of(value)


def not_(value: Any) -> Any:
    found = truth_of(value)
    if not isinstance(found, SymbolicTensor):
        return not found
    negated = OPS["equal"](found, False)
    tracer = capturing()
    assert tracer is not None
    for when in (True, False):
        tracer.imply_all(negated.value, when, found.value, not when)
    return negated


def equal(x: Any, y: Any) -> Any:
    """`x == y`, of objects by what their classes say, of containers part by part."""
    if (type(x) in PLAIN and type(y) in PLAIN) or not capturing():
        return x == y
    if isinstance(x, OneOf) or isinstance(y, OneOf):
        return each(x, lambda one: equal(one, y)) if isinstance(x, OneOf) else each(y, lambda one: equal(x, one))
    if by_path(y) and plain_kind(y) is set:
        return each(opened(y), lambda one: equal(x, one))
    if answers(x, "__eq__") or answers(y, "__eq__"):
        return resolved(x, "==", y)
    refuse_handed(x)
    refuse_handed(y)
    if meets_numpys(x, y):
        return attempted("eq", operator.eq, x, y)
    pairs = _compared(x, y)
    if pairs is None:
        return x == y
    return len(pairs[0]) == len(pairs[1]) and _all_equal(*pairs)


def meets_numpys(x: Any, y: Any) -> bool:
    """Whether a Python number of run time meets one of NumPy's, whose type says how it is computed and what comes of it."""
    return any(isinstance(a, np.generic) and isinstance(b, SymbolicTensor) and b.value.type.python for a, b in ((x, y), (y, x)))


def _compared(x: Any, y: Any) -> tuple[Any, Any] | None:
    """The parts by which two values are equal, where Python cannot compare them alone."""
    if type(x) is type(y) and (fields := field_values(x, "__eq__")) is not None:
        return fields, field_values(y, "__eq__")
    kinds = {plain_kind(value) for value in (x, y)}
    if by_path(x) or by_path(y) or kinds not in ({list}, {tuple}, {dict}):
        return None
    if kinds != {dict}:
        return None if all(type(part) in CONSTANT for part in (*x, *y)) else (x, y)
    if x.keys() != y.keys() or all(type(part) in CONSTANT for part in (*x.values(), *y.values())):
        return None
    return tuple(x.values()), tuple(y[key] for key in x)


def _all_equal(x: Any, y: Any) -> Any:
    guard_content(capturing(), x)
    guard_content(capturing(), y)
    tests = [lambda a=a, b=b: True if a is b else equal(a, b) for a, b in zip(x, y, strict=True)]
    return both(*tests) if tests else True


def not_equal(x: Any, y: Any) -> Any:
    if (type(x) in PLAIN and type(y) in PLAIN) or not capturing():
        return x != y
    if isinstance(x, OneOf) or isinstance(y, OneOf):
        return each(x, lambda one: not_equal(one, y)) if isinstance(x, OneOf) else each(y, lambda one: not_equal(x, one))
    if answers(x, "__ne__") or answers(y, "__ne__"):
        return resolved(x, "!=", y)
    if answers(x, "__eq__") or answers(y, "__eq__"):
        return not_(resolved(x, "==", y))
    if meets_numpys(x, y):
        return attempted("ne", operator.ne, x, y)
    return x != y if _compared(x, y) is None else not_(equal(x, y))


def is_not(x: Any, y: Any) -> Any:
    return not_(is_(x, y))


def in_(value: Any, container: Any) -> Any:
    tracer, container = capturing(), opened(container)
    if is_grown(container):
        return growing.asked(container, "__contains__", value)
    if isinstance(container, OneOf):
        return each(container, lambda one: in_(value, one))
    if isinstance(value, OneOf):
        return each(value, lambda one: in_(one, container))
    if isinstance(container, Later):
        assert tracer is not None
        return ask(tracer, "in", operator.contains, (container, value), {}, True, number=True)
    if tracer and isinstance(value, Later) and isinstance(container, str):
        return ask(tracer, "in", operator.contains, (container, value), {}, True, number=True)
    if isinstance(container, Recipe):
        hint = "make a list of it first, or compare: 0 <= k < n"
        refuse("D2S1003", f"`in` of this {container.kind}, whose items a run takes", hint)
    guard_content(tracer, container)
    if tracer and isinstance(value, SymbolicTensor) and value.value.type.python and isinstance(container, range):
        return _in_range(value, container)
    if answers(container, "__contains__"):
        return truth_of(asked(container, "__contains__", value))
    if tracer and isinstance(container, SymbolicTensor | Tensor) and not is_number(container):
        known = isinstance(value, (SymbolicTensor, Tensor, *NUMBERS))
        return truth_of(equal(container, value).any()) if known else False
    items = spread(container)
    if items is container and (not _is_asked(value, container) or all(map(_is_constant, (value, *container)))):
        return value in container
    questions = [lambda one=one: either(lambda: is_(one, value), lambda: equal(one, value)) for one in iterate(items)]
    return either(*questions) if tracer and questions else value in items


def _is_asked(value: Any, container: Any) -> bool:
    """Whether the items of a container are asked one by one: Python finds constants by their hashes."""
    by_run = isinstance(value, SymbolicTensor) and value.value.type.python
    return plain_kind(container) in (list, tuple) or (by_run and isinstance(container, dict | set | frozenset | _KEYS))


def _in_range(value: Any, container: range) -> Any:
    if not container:
        return False
    least, most = sorted((container[0], container[-1]))
    step = abs(container.step)
    return both(lambda: value >= least, lambda: value <= most, lambda: step == 1 or (value - least) % step == 0)


_KEYS: Any = type({}.keys())


def _is_constant(value: Any) -> bool:
    return type(value) in CONSTANT


def not_in(value: Any, container: Any) -> Any:
    return not_(in_(value, container))


def _implying(part: Any, whole: Any, when: bool) -> Any:
    """Where `a and b` holds, a does; where `a or b` does not, a does not."""
    tracer = capturing()
    if tracer and isinstance(whole, SymbolicTensor) and isinstance(part, SymbolicTensor):
        tracer.imply_all(whole.value, when, part.value, when)
    return whole


def any_(tracer: Tracer, values: Any) -> Any:
    """Whether one holds; the others are not asked."""
    values = opened(values)
    return (
        each(values, lambda one: any_(tracer, one))
        if isinstance(values, OneOf)
        else _some(iter(iterate(values)), either, False)
    )


def all_(tracer: Tracer, values: Any) -> Any:
    values = opened(values)
    return (
        each(values, lambda one: all_(tracer, one)) if isinstance(values, OneOf) else _some(iter(iterate(values)), both, True)
    )


def _some(values: Any, joined: Callable[..., Any], at_end: bool) -> Any:
    for value in values:
        return joined(lambda value=value: value, lambda: _some(values, joined, at_end))
    return at_end
