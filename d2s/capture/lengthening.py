"""As what a loop carries a list that its trips make longer or shorter.

In: the form of a variable so far, and its form at the end of a trip. Out: a form that holds both: where lists of more and more
lengths would be told apart, one of any number of items.

>>> from d2s.capture.forms import Fixed
>>> two, three = (Tree((list, (), (None,) * n), (Fixed("a"),) * n) for n in (2, 3))
>>> carried_as(two, three, False)
a list of any number of 'a'
>>> by_path = Box(list, Union(tuple(Tree((tuple, (), (None,) * n), (Fixed("a"),) * n) for n in (1, 2, 3))))
>>> carried_as(Fixed(None), Tree((tuple, (), (None,)), (by_path,)), False).alternatives[1].parts
(a list of any number of 'a',)
"""

import dataclasses
import functools
import operator

from d2s.capture.containers import List, contents
from d2s.capture.forms import Box, Form, Growing, Slot, Tree, Union, form_of, growing, is_object, join
from d2s.capture.symbolic import Tracer
from d2s.ops.found import OPEN
from d2s.types import Type

SIZES = 3  # shapes of a tensor that are told apart; of more of them, a run finds the extents
LENGTHS = 2  # so many are told apart, where a path decides


def carried_as(before: Form, after: Form, is_content: bool) -> Form:
    """The form that holds both; `is_content`: they are what a list holds."""
    if isinstance(before, Tree) and isinstance(after, Tree):
        if _kind(before, is_content) and _kind(before, is_content) is _kind(after, is_content):
            if len(before.parts) != len(after.parts):
                return _any_number([before, after], is_content)
        elif before.skeleton == after.skeleton and not is_object(before, after):
            return Tree(
                before.skeleton, tuple(carried_as(*pair, False) for pair in zip(before.parts, after.parts, strict=True))
            )
    return _of_few_lengths(join(before, after), is_content)


def _of_few_lengths(form: Form, is_content: bool) -> Form:
    """A form that holds lists of any number of items where it would tell more and more lengths apart."""
    if isinstance(form, Box):
        content = _of_few_lengths(form.content, form.kind is list)
        return form if content is form.content else Box(form.kind, content)
    if isinstance(form, Tree):
        parts = tuple(_of_few_lengths(part, False) for part in form.parts)
        return form if all(map(operator.is_, parts, form.parts)) else Tree(form.skeleton, parts)
    if not isinstance(form, Union):
        return form
    lists = [one for one in form.alternatives if isinstance(one, Tree) and _kind(one, is_content)]
    if len({len(one.parts) for one in lists}) > LENGTHS:
        others = [one for one in form.alternatives if one not in lists]
        return functools.reduce(join, others, _any_number(lists, is_content))
    inside = [_of_few_lengths(one, False) for one in form.alternatives]
    return form if all(map(operator.is_, inside, form.alternatives)) else functools.reduce(join, inside)


def moved_form(value: List, tracer: Tracer) -> Form:
    """The form of a list that is nobody else's, as a loop is given it: no longer that of the object it is."""
    held = form_of(contents(value), tracer)
    if not isinstance(held, Tree):
        return Box(list, held)
    return Tree((list, *held.skeleton[1:]), held.parts)


def widened(form: Form) -> Form:
    """A form that holds tensors of any extents where it would hold those of more and more."""
    if isinstance(form, Tree):
        return dataclasses.replace(form, parts=tuple(map(widened, form.parts)))
    if isinstance(form, Box):
        return dataclasses.replace(form, content=widened(form.content))
    if not isinstance(form, Union):
        return form
    kinds: dict[Type, list[Type]] = {}
    for one in form.alternatives:
        if isinstance(one, Slot) and not one.type.listed:
            kinds.setdefault(dataclasses.replace(one.type, shape=(0,) * len(one.type.shape)), []).append(one.type)
    found: list[Form] = []
    for kind in kinds.values():
        if len(kind) > SIZES:
            shape = tuple(dims[0] if len(set(dims)) == 1 else OPEN for dims in zip(*(t.shape for t in kind), strict=True))
            found.append(Slot(dataclasses.replace(kind[0], shape=shape)))
    return functools.reduce(join, [*found, *form.alternatives]) if found else form


def _kind(form: Tree, is_content: bool) -> type | None:
    """What a tree is of: the items of a list, or a list."""
    wanted = tuple if is_content else list
    return wanted if form.skeleton[0] is wanted else None


def _any_number(lists: list[Tree], is_content: bool) -> Form:
    content: Growing = growing([part for form in lists for part in form.parts])
    return content if is_content else Box(list, content)
