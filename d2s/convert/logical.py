"""`and`, `or`, `not`, `any`, `all` and `a if c else b`, lazily, for Python values and tensors alike.

>>> and_(lambda: 1, lambda: 2), or_(lambda: 0, lambda: 3), both(lambda: 1, lambda: 2), not_(0)
(2, 3, True, True)
"""

import operator
from collections.abc import Callable
from typing import Any

from d2s.capture.alternatives import each
from d2s.capture.branch import branch
from d2s.capture.by_path import opened, truth_asked
from d2s.capture.containers import plain_kind
from d2s.capture.forms import Later, OneOf
from d2s.capture.growing import asked, is_grown
from d2s.capture.steps import ask
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.convert.if_else import refuse_truth, truth, truth_of
from d2s.convert.loads import guard_content, guard_fields, is_, iterate
from d2s.eager.tensor import Tensor
from d2s.ops import OPS

Lazy = Callable[[], Any]


def if_exp(test: Any, then: Lazy, otherwise: Lazy) -> Any:
    tracer, test = capturing(), truth_asked(test)
    if isinstance(test, OneOf | Later):
        test = truth_of(test)
    if tracer and isinstance(test, SymbolicTensor | Tensor):
        return branch(tracer, truth(tracer, test), (lambda: [then()], lambda: [otherwise()]))[0]
    refuse_truth(tracer, test)
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
    """`x == y`, of objects that are equal by their fields too."""
    guard_fields(capturing(), (x, y))
    return x == y


def not_equal(x: Any, y: Any) -> Any:
    guard_fields(capturing(), (x, y))
    return x != y


def is_not(x: Any, y: Any) -> Any:
    return not_(is_(x, y))


def in_(value: Any, container: Any) -> Any:
    tracer, container = capturing(), opened(container)
    if is_grown(container):
        return asked(container, "__contains__", value)
    if isinstance(container, OneOf):
        return each(container, lambda one: in_(value, one))
    if isinstance(value, OneOf):
        return each(value, lambda one: in_(one, container))
    if isinstance(container, Later):
        assert tracer is not None
        return ask(tracer, "in", operator.contains, (container, value), {}, True, number=True)
    guard_content(tracer, container)
    guard_fields(tracer, (value, container))
    symbols = (value, *container) if plain_kind(container) in (list, tuple) else ()
    if not (tracer and any(isinstance(v, SymbolicTensor | Tensor | OneOf) for v in symbols)):
        return value in container
    questions = [lambda one=one: either(lambda: is_(one, value), lambda: value == one) for one in container]
    return either(*questions) if questions else False


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
