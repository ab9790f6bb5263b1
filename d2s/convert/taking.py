"""What takes items that are `Kept`: comprehensions and loops, functions that want all of them, and `any` and `all`.

In: items, and what is made of them. Out: the same as Python makes; where a tensor decides whether an item is kept, by the path.

>>> kept("list", [1, 2, 3], lambda n: (n > 1, lambda: -n, False))
[-2, -3]
>>> settled(Kept([1, 2, 3], lambda n: (n > 1, lambda: -n, False)))
[-2, -3]
"""

from collections.abc import Callable
from typing import Any

from d2s.capture.alternatives import each
from d2s.capture.by_path import gathered, opened
from d2s.capture.containers import STAND_INS, STANDING, by_path
from d2s.capture.forms import Later, OneOf
from d2s.capture.growing import is_grown
from d2s.capture.reads import changing
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import refuse
from d2s.convert.for_loop import for_loop, of_kept
from d2s.convert.generators import Suspended
from d2s.convert.if_else import truth_of
from d2s.convert.kept import Kept, Over
from d2s.convert.loads import iterate, refuse_consumption
from d2s.convert.logical import all_, any_, if_exp, not_
from d2s.convert.methods import walked
from d2s.convert.recipes import Onward, Recipe, in_order, recipe_of
from d2s.convert.stores import made, set_item
from d2s.eager.tensor import Tensor
from d2s.ops.dispatch import handling

_KINDS: dict[str, Callable[[], Any]] = {"list": list, "set": set, "dict": dict}


def generated(iterable: Any, over: Over, once: bool = False) -> Any:
    """A generator expression with conditions; `once` where only `next` has it."""
    tracer = capturing()
    found = Kept(iterable, over, once)
    return tracer.begun(found) if tracer else found


def kept(kind: str, iterable: Any, over: Over) -> Any:
    """A comprehension with conditions."""
    tracer, found = capturing(), made(_KINDS[kind]())

    def take(value: Any) -> None:
        if tracer:
            changing(tracer, found)
        if kind == "dict":
            set_item(value[1], found, value[0])
        else:
            (found.append if kind == "list" else found.add)(value)

    _over_all(iterable, over, take)
    return found


def of_items(iterable: Any, over: Callable[[Any], Any]) -> Any:
    """A list, set or dict made of all items, one after the other: a generator goes on in between."""
    iterable = iterable if _inverted(iterable) else settled(iterable)
    if is_grown(iterable) or isinstance(iterable, Later) or _inverted(iterable):
        return _of_each_item(iterable, over)
    several = opened(iterable)
    if capturing() and isinstance(several, OneOf):
        return gathered(each(several, lambda one: of_items(one, over)))
    return made(over(iterate(iterable)))


def of_generator(iterable: Any, over: Callable[[Any], Any]) -> Any:
    """A generator expression without conditions."""
    iterable = walked(iterable) if type(iterable) in STANDING else iterable
    if not capturing() or not (by_path(iterable) or isinstance(iterable, OneOf | Later) or counted_by_run(iterable)):
        return made(over(iterate(iterable)))

    def of_item(item: Any) -> tuple[Any, Callable[[], Any], bool]:
        return True, lambda: (over([item]), lambda part: (True, lambda: part, False)), True

    return generated(iterable, of_item)


def _of_each_item(owner: Any, over: Callable[[Any], Any]) -> Any:
    """The same of a list whose length only a run will tell: a loop of the graph; or of a generator that is run inside out."""
    tracer, found = capturing(), made(over([]))
    if tracer is None or (not _inverted(owner) and not isinstance(found, list)):
        refuse("D2S1003", f"a {type(found).__name__} of the items of a list that a loop makes longer", "make a list of them")

    def take_in(item: Any) -> None:
        changing(tracer, found)
        (found.extend if isinstance(found, list) else found.update)(over([item]))

    for_loop(owner, take_in, None, tuple, lambda values: None, ())
    return found


def folded(function: Callable[[Any, Any], Any], iterable: Any, first: Any) -> Any:
    """What a function makes of all that was and of each item a generator yields; None where there is no such generator."""
    if not (_inverted(iterable) or counted_by_run(iterable) or is_grown(iterable)):
        return None
    total = first

    def set(state: tuple[Any, ...]) -> None:
        nonlocal total
        (total,) = state

    def take_in(item: Any) -> None:
        nonlocal total
        total = function(total, item)

    for_loop(iterable, take_in, None, lambda: (total,), set, ("total",))
    return total


def _inverted(value: Any) -> bool:
    """Whether it is a generator that is run inside out."""
    return capturing() is not None and isinstance(value, Suspended) and value.inverted(False) is not None


def settled(value: Any) -> Any:
    """What takes the place of items for a function that wants all of them: those that are kept, in a list."""
    if type(value) in STANDING and not isinstance(value, STAND_INS):
        return value.content
    tracer = capturing()
    if _inverted(value) or counted_by_run(value):
        return kept("list", value, lambda item: (True, lambda: item, False))
    if isinstance(value, Recipe):
        return list(in_order(value))
    if not isinstance(value, Kept):
        return value
    if tracer:
        refuse_consumption(tracer, value)
    return kept("list", *value.taken())


def counted_by_run(value: Any) -> bool:
    """Whether it is a `range` or the like, of as many items as only a run will tell."""
    return isinstance(value, Recipe) and not isinstance(value.rest().length, int | float)


def next_of(tracer: Tracer, items: Any, *default: Any) -> Any:
    """`next`: the first item, also where only a run will tell which of them is kept."""
    if isinstance(items, OneOf):
        if not all(isinstance(one, Onward) for one in items.alternatives):
            refuse("D2S1003", "next() of one of several iterators, by the path a run takes", "call it where they are made")
        return each(items, lambda one: next_of(tracer, one, *default))
    if isinstance(items, Onward):
        return _next_in_order(items, *default)
    if not isinstance(items, Kept) or not items.fresh or not (items.once or _begins_by_run(tracer, items)):
        return next(items, *default)
    found, value = False, default[0] if default else None

    def set(state: tuple[Any, ...]) -> None:
        nonlocal found, value
        found, value = state

    def ends(item: Any) -> None:
        nonlocal found, value
        found, value = True, item

    for_loop(items, ends, lambda: found, lambda: (found, value), set, ("found", "value"))
    items.leave_to_run()
    return value if default else if_exp(found, lambda: value, _none_left)


def _next_in_order(items: Onward, *default: Any) -> Any:
    more, taken = items.rest().now() > 0, items.place.held()

    def first() -> Any:
        items.take(taken + 1)
        return items.item(taken)

    return if_exp(more, first, lambda: default[0] if default else _none_left())


def _none_left() -> Any:
    raise StopIteration


def _begins_by_run(tracer: Tracer, items: Kept) -> bool:
    """Whether only a run will tell if the first of them is kept."""
    iterable = opened(items.iterable)
    recipe = recipe_of(tracer, iterable)
    if recipe is None and isinstance(iterable, list | tuple | range) and iterable:
        recipe = Recipe("list", len(iterable), lambda k: iterable[k])
    return recipe is not None and (
        not isinstance(recipe.length, int) or (recipe.length > 0 and _by_run(tracer, recipe, items.over))
    )


def _over_all(iterable: Any, over: Over, take: Callable[[Any], None]) -> None:
    """Calls `take` for what is kept. Where Python's conditions decide, Python goes over what it can: its items are known."""
    tracer = capturing()
    recipe = recipe_of(tracer, iterable) if tracer else None
    if tracer and recipe and isinstance(recipe.length, int) and recipe.length and not _by_run(tracer, recipe, over):
        iterable = list(in_order(iterable))
    of_kept(Kept(iterable, over), take, None, tuple, lambda values: None, ())


def _by_run(tracer: Tracer, recipe: Recipe, over: Over) -> bool:
    """Whether only a run will tell if the first item is kept; what is recorded to say so is thrown away."""
    region: Any = tracer.region("test")
    with handling(region), tracer.root.heap.path(region):
        return isinstance(truth_of(over(recipe.item(0))[0]), SymbolicTensor | Tensor | OneOf | Later)


def some(tracer: Tracer, values: Any) -> Any:
    """`any`: behind the first that holds no more are asked."""
    return _until(tracer, values, True) if isinstance(values, Kept) else any_(tracer, values)


def every(tracer: Tracer, values: Any) -> Any:
    """`all`."""
    return not_(_until(tracer, values, False)) if isinstance(values, Kept) else all_(tracer, values)


def _until(tracer: Tracer, values: Kept, wanted: bool) -> Any:
    """Whether the truth of one is the wanted one."""
    found: Any = False

    def set(state: tuple[Any, ...]) -> None:
        nonlocal found
        (found,) = state

    def ask(value: Any) -> None:
        nonlocal found
        found = truth_of(value) if wanted else not_(value)

    for_loop(values, ask, lambda: found, lambda: (found,), set, ("found",))
    return found
