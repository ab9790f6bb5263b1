"""Python's random numbers on what the capture knows: a run draws places, what stands there comes from the lists.

In: a method of a `random.Random` and a sequence of known length. Out: the items drawn, or a list in another order; the stream
goes on as eagerly, as what is drawn depends on how many items there are only.

>>> draws(None, random.random) is None, draws(None, random.shuffle) is None
(True, False)
"""

import functools
import operator
import random
from collections.abc import Callable
from typing import Any

from d2s.capture.containers import by_path
from d2s.capture.growing import is_grown
from d2s.capture.steps import ask
from d2s.capture.symbolic import Tracer, capturing
from d2s.capture.users_code import refuse
from d2s.convert.library import picked
from d2s.convert.loads import iterate
from d2s.convert.stores import made, set_item

_DRAWING = ("shuffle", "sample", "choices")


def draws(tracer: Tracer | None, function: Any) -> Callable[..., Any] | None:
    """What is called instead of a method that draws several items; None of all else."""
    known = isinstance(getattr(function, "__self__", None), random.Random) and function.__name__ in _DRAWING
    return functools.partial(_drawn, function) if known else None


def _drawn(function: Any, population: Any, *args: Any, **kwargs: Any) -> Any:
    tracer = capturing()
    assert tracer is not None
    if is_grown(population) or by_path(population):
        refuse("D2S1004", f"'{function.__name__}' of a list of which only a run will tell what it holds", "draw from a tensor")
    items = list(iterate(population))
    example = _places(function.__name__, random.Random(0), len(items), *args, **kwargs)
    places = ask(tracer, function.__name__, _places, (function.__name__, function.__self__, len(items), *args), kwargs, example)
    numbers = (ask(tracer, "place", operator.getitem, (places, k), {}, 0, True) for k in range(len(example)))
    found = [picked(tracer, items, place) for place in numbers]
    if function.__name__ == "shuffle":
        set_item(found, population, slice(None))
        return None
    return made(found)


def _places(name: str, source: random.Random, count: int, *args: Any, **kwargs: Any) -> list[int]:
    """Which items a draw finds among so many."""
    items = list(range(count))
    found: list[int] | None = getattr(source, name)(items, *args, **kwargs)
    return items if found is None else found
