"""What a dict from outside says to a key it has no item for.

In: the dict and the key. Out: what it gives; a `defaultdict` then has an item, as a change of each call.

>>> groups = collections.defaultdict(list)
>>> missing(None, groups, "a"), groups
([], defaultdict(<class 'list'>, {'a': []}))
"""

import collections
from typing import Any

from d2s.capture.symbolic import Tracer
from d2s.convert.methods import answers, asked, follow


def says_of_missing(owner: Any) -> bool:
    """Whether a dict has something to say to keys it has no items for."""
    return isinstance(owner, collections.defaultdict) or (isinstance(owner, dict) and answers(owner, "__missing__"))


def missing(tracer: Tracer | None, owner: Any, key: Any) -> Any:
    if answers(owner, "__missing__"):
        return asked(owner, "__missing__", key)
    return follow(tracer, _made_by_factory)(owner, key)


def _made_by_factory(owner: Any, key: Any) -> Any:
    """Python that a capture follows, like the user's own."""
    if owner.default_factory is None:
        raise KeyError(key)
    owner[key] = made = owner.default_factory()
    return made
