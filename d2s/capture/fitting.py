"""Which alternatives of a form hold a value.

In: the form of what is one of several, and that of a value. Out: the numbers of the alternatives.

>>> from d2s.capture.forms import TAG, Fixed, Slot
>>> sorted(among(Union((Fixed(None), Slot(TAG))), Fixed(3)))
[1]
"""

from d2s.capture.forms import Form, Tree, Union, alike, alternatives_of, is_object, merged


def among(form: Union, own: Form) -> frozenset[int]:
    """Which alternatives of a form hold values of another one."""
    return frozenset().union(*places(form, own))


def places(form: Union, own: Form) -> list[frozenset[int]]:
    """The same for each alternative of the other one."""
    return [frozenset(_holding(form, part)) for part in alternatives_of(own)]


def _holding(form: Union, part: Form) -> list[int]:
    """The alternatives that hold a form: the very object, if it is one of them."""
    pairs = list(enumerate(form.alternatives))
    itself = [n for n, f in pairs if is_object(f, part)]
    return itself or [n for n, f in pairs if _holds(f, part)]


def _holds(form: Form, part: Form) -> bool:
    """Whether values of another form fit into a form as it is."""
    if is_object(form, part):
        return True
    if isinstance(form, Tree) and isinstance(part, Tree) and form.skeleton == part.skeleton:
        return all(map(_holds, form.parts, part.parts))
    if isinstance(form, Union) or isinstance(part, Union):
        return all(any(_holds(f, one) for f in alternatives_of(form)) for one in alternatives_of(part))
    both = merged(form, part)
    return both is not None and alike(both, form)
