"""`for`: Python's over Python's items, a `while_loop` over what only a run can count.

In: what is iterated, a trip as a function of its item, and how to ask whether the loop was left. Out: the variables set.

>>> found = []
>>> for_loop([1, 2, 3], found.append, lambda: len(found) == 2, lambda: (), lambda values: None, ())
>>> found
[1, 2]
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from d2s.capture.branch import branch, switch
from d2s.capture.by_path import opened
from d2s.capture.forms import Later, OneOf
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import refuse
from d2s.convert.generators import Suspended, looped
from d2s.convert.if_else import Get, Set, guard_truth, if_else, truth_of
from d2s.convert.kept import Kept
from d2s.convert.loads import iterate, refuse_consumption
from d2s.convert.logical import both, not_
from d2s.convert.methods import walked
from d2s.convert.recipes import Onward, Recipe, recipe_of
from d2s.convert.while_loop import loop
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError

_END = object()
UNROLLED = 16  # items of a range whose end is known, where a tensor may end the loop before
GUARDED = 256  # items of anything else, which may have no end
Body = Callable[[Any], None]
Stop = Callable[[], Any] | None


def for_loop(iterable: Any, body: Body, stop: Stop, get: Get, set: Set, names: Sequence[str]) -> None:
    tracer = capturing()
    if tracer is None:
        for item in iterable:
            body(item)
            if stop and stop():
                break
        return
    iterable = opened(walked(iterable))
    if isinstance(iterable, OneOf):
        before = get()

        def over(one: Any) -> list[Any]:
            set(before)
            for_loop(one, body, stop, get, set, names)
            return list(get())

        set(tuple(switch(tracer, iterable, over)))
        return
    if isinstance(iterable, Kept):
        refuse_consumption(tracer, iterable)
        of_kept(iterable, body, stop, get, set, names)
        return
    if isinstance(iterable, Suspended):
        refuse_consumption(tracer, iterable)
        if looped(tracer, iterable, body, stop, get, set):
            return
    recipe = recipe_of(tracer, iterable)
    if recipe is None:
        _python(tracer, iterable, body, stop, get, set, names)
    elif isinstance(iterable, Onward):
        _onward(tracer, iterable, recipe, body, stop, get, set, names)
    else:
        _counted(tracer, recipe, body, stop, get, set, names)


def _onward(
    tracer: Tracer, items: Onward, rest: Recipe, body: Body, stop: Stop, get: Get, set: Set, names: Sequence[str]
) -> None:
    """Over what is left of an iterator: it is told how far the loop came."""
    before = items.place.held()
    items.take(None)
    trips = _counted(tracer, rest, body, stop, get, set, names)
    begun = isinstance(before, SymbolicTensor) or before > 0
    items.take(trips + before if begun and trips is not None else trips)


def _counted(tracer: Tracer, recipe: Recipe, body: Body, stop: Stop, get: Get, set: Set, names: Sequence[str]) -> Any:
    """Over what a run can count; returns how many trips it made, None where it is not known."""
    few = isinstance(recipe.length, int) and recipe.length <= UNROLLED
    return (_few if few else _graph)(tracer, recipe, body, stop, get, set, names)


def of_kept(items: Kept, body: Body, stop: Stop, get: Get, set: Set, names: Sequence[str]) -> None:
    """A loop over the items that are kept: one over all, with a condition around the body."""
    iterable, over = items.taken()

    def trip(item: Any) -> None:
        test, rest, deeper = over(item)

        def inside() -> None:
            if deeper:
                of_kept(Kept(*rest()), body, stop, get, set, names)
            else:
                body(rest())

        if_else(test, inside, lambda: None, get, set, names)

    for_loop(iterable, trip, stop, get, set, names)


def _few(tracer: Tracer, recipe: Recipe, body: Body, stop: Stop, get: Get, set: Set, names: Sequence[str]) -> Any:
    """Of a few items whose number is known: a loop of the graph, or where that is refused, trip by trip."""
    before = get()
    try:
        return _graph(tracer, recipe, body, stop, get, set, names)
    except CaptureError as refused:
        set(before)
        try:
            _python(tracer, [recipe.item(k) for k in range(recipe.length)], body, stop, get, set, names)
        except CaptureError:
            raise refused from None
        return None if stop else recipe.length


def _python(tracer: Tracer, iterable: Any, body: Body, stop: Stop, get: Get, set: Set, names: Sequence[str]) -> None:
    """Trip by trip; once a tensor may have ended the loop, each under the condition that it has not."""
    items = iter(iterate(iterable))
    for count, item in enumerate(items, 1):
        body(item)
        left = stop() if stop else False
        if stop and _symbolic(left):
            tracer.left_by_run(iterable)
            if isinstance(iterable, range) and len(iterable) - count > UNROLLED:
                recipe = recipe_of(tracer, iterable[count:], True)
                assert recipe
                _graph(tracer, recipe, body, stop, get, set, names)
            else:
                for _ in range(GUARDED):
                    if not _guarded(tracer, items, body, stop, get, set):
                        return
                hint = "count with itertools.count, or loop over a list"
                refuse("D2S1003", f"a loop that a tensor ends asks for more than {GUARDED} items of an iterator", hint)
            return
        guard_truth(tracer, left)
        if left:
            return


def _symbolic(value: Any) -> bool:
    return isinstance(value, SymbolicTensor | Tensor | OneOf | Later)


def _guarded(tracer: Tracer, items: Any, body: Body, stop: Callable[[], Any], get: Get, set: Set) -> bool:
    """One more trip, if a tensor has not ended the loop: only there the next item is asked for. False at the end."""
    before = get()
    found: list[Any] = []

    def trip() -> list[Any]:
        set(before)
        found[:] = [next(items, _END)]
        if found[0] is not _END:
            body(found[0])
        return list(get())

    going_on = not_(truth_of(stop()))
    if isinstance(going_on, SymbolicTensor):
        set(tuple(branch(tracer, going_on, (trip, lambda: list(before)))))
    elif going_on:
        set(tuple(trip()))
    return bool(found) and found[0] is not _END


def _graph(tracer: Tracer, recipe: Recipe, body: Body, stop: Stop, get: Get, set: Set, names: Sequence[str]) -> Any:
    """A loop of the graph: it counts its trips, and the count says which item is next."""
    index: Any = tracer.symbol_of(0)

    def test() -> Any:
        length = recipe.now()
        more = length is math.inf or index < length
        return both(lambda: more, lambda: not_(stop())) if stop else more

    def trip() -> None:
        nonlocal index
        item = recipe.item(index)
        index = index + 1
        body(item)

    def get_all() -> tuple[Any, ...]:
        return index, *get()

    def set_all(values: tuple[Any, ...]) -> None:
        nonlocal index
        index = values[0]
        set(values[1:])

    loop(tracer, test, trip, get_all, set_all, ("trip", *names))
    return index
