"""Paths of a capture: arms recorded apart and joined, what is known on a path, and paths that end in an exception.

In: a condition of run time and what to record where it holds or does not. Out: values that are what the arm taken made.

>>> from d2s import types
>>> from d2s.ops.dispatch import handling
>>> from d2s.types import Type
>>> tracer = Tracer("f")
>>> test, x = tracer.input(Type(types.bool_), "test"), tracer.input(Type(types.float32, (2,)), "x")
>>> with handling(tracer):
...     (y,) = branch(tracer, test, (lambda: [None], lambda: [x * 2.0]))
>>> y.alternatives[0], [node.op for node in tracer.builder.finish([y.tag.value]).nodes]
(None, ['cond'])
"""

import collections
import dataclasses
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from typing import Any, NoReturn

from d2s.capture.answers import UnderAnIf, Unheld, answers_of
from d2s.capture.containers import STAND_INS, by_path
from d2s.capture.encode import Chosen, decode, encode, holes
from d2s.capture.faults import line_of, refuse_fault
from d2s.capture.fitting import places
from d2s.capture.fork import Forked
from d2s.capture.forms import Fixed, Form, Grown, Later, OneOf, Slot, Tree, Union, described, form_of, join, origins_in, stays
from d2s.capture.heap import Changes, Memory, Place, contents
from d2s.capture.locks import Awaited
from d2s.capture.raised import found_by_run, raise_in_run
from d2s.capture.stores import pending
from d2s.capture.symbolic import OF_RUN, WAY_OUT, SymbolicTensor, Tracer, capturing
from d2s.capture.tree import containers, flatten
from d2s.capture.undefined import with_all_names
from d2s.capture.users_code import user_columns, user_line
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError, D2SError, Raised
from d2s.ir.program import Value
from d2s.ops import OPS
from d2s.ops.dispatch import handling
from d2s.runtime.users_frames import raised_at

Arm = Callable[[], list[Any]]
_STAND_INS = (OneOf.__name__, Later.__name__, "that a run takes", OF_RUN)


def refuse_unheld(container: Any, message: str, hint: str) -> NoReturn:
    """Ends a capture at the user's line, as `refuse` does."""
    error = Unheld("D2S1002", message, where=user_line(), hint=hint, columns=user_columns())
    error.container = container
    raise error


class Endless(CaptureError):
    """A function calls itself, and the capture finds no end; where, those know who record the call."""


class Ended(BaseException):
    """This path of a capture does not go on: a run that comes here raises."""


class Unreachable(Ended):
    """No run comes to this path, by what is known of the numbers that led there."""


def branch(tracer: Tracer, test: SymbolicTensor, arms: Sequence[Arm]) -> list[Any]:
    """What `arms[0]` (where the test holds) or `arms[1]` makes, joined value by value."""
    attempt = tracer.root.attempts[-1] if tracer.root.attempts else None
    place = attempt.question() if attempt and attempt.tracer is tracer else -1
    if attempt and place in attempt.decisions:
        return arms[0 if attempt.decisions[place] else 1]()
    answers = answers_of(tracer)
    question = answers.place() if answers else -1
    if answers and question in answers.decided:
        return arms[0 if answers.take(tracer, test, question) else 1]()
    try:
        return _joined(tracer, test, arms)
    except CaptureError as refused:
        error = answers.undecided(tracer, test, question, refused) if answers else refused
        if error is refused:
            raise
        raise error from None
    except Forked:
        raise (Forked(test, place) if place >= 0 else Forked()) from None


def _joined(tracer: Tracer, test: SymbolicTensor, arms: Sequence[Arm]) -> list[Any]:
    ends: list[list[Any] | None] = []
    regions: list[Tracer] = []
    changes: list[Changes] = []
    for name, arm in zip(("then", "otherwise"), arms, strict=True):
        regions.append(tracer.region(name))  # type: ignore[arg-type]
        regions[-1].facts = tracer.consequences(test.value, name == "then")
        with tracer.root.heap.path(regions[-1]) as found:
            try:
                ends.append(recorded(regions[-1], arm))
            except (UnderAnIf, Unheld) as refused:
                refused.side = name == "then"
                raise
        changes.append(found)
    owners = {key: owner for found in changes for key, (owner, _) in found.items()}
    held = [[found[k][1] if k in found else contents(owner) for k, owner in owners.items()] for found in changes]
    levelled = [with_all_names(owner, *pair) for owner, *pair in zip(owners.values(), *held, strict=True)]
    for n, end in enumerate(ends):
        if end is not None:
            end += [pair[n] for pair in levelled]
    makers = [region if end is not None else other for region, end, other in zip(regions, ends, regions[::-1], strict=True)]
    forms = _forms(ends, makers)
    outputs = [_outputs(region, end, forms, found) for region, end, found in zip(regions, ends, changes, strict=True)]
    reads, (then, otherwise) = tracer.adopt(regions, outputs)
    results = tracer.choose(tracer.resolve(test), reads, then, otherwise)
    tracer.number_joined(test.value, results, [found for found, end in zip(outputs, ends, strict=True) if end is not None])
    if all(end is None for end in ends):
        raise Ended
    tracer.root.joined.update(s.value for s in results)
    symbols = iter(results)
    one: dict[tuple[int, ...], Any] = {}
    values = [decode(form, symbols, tracer.root.heap.made, one) for form in forms]
    kept = kept_one(forms)
    for region, end in zip(regions, ends, strict=True):
        _note_joined(region, end or [], values, list(owners.values()))
        part_shared(tracer, shared(region, end or [], kept), values)
    for pair, value, form in zip(_pairs(ends), values, forms, strict=True):
        _note(tracer, test, pair, value, form, makers)
    count = len(values) - len(owners)
    for container, held in zip(owners.values(), values[count:], strict=True):
        put_back(tracer, container, held)
    return values[:count]


def _note_joined(region: Tracer, ends: Sequence[Any], values: Sequence[Any], owners: Sequence[Any]) -> None:
    """The same of all that is joined: the memory of a tensor stays that tensor's, whatever values a path hands on in it."""
    first = len(values) - len(owners)
    memory = {first + n for n, owner in enumerate(owners) if isinstance(owner, Memory)}
    where = user_line()  # asked once: it looks through all frames, and there may be many values
    for n, (end, value) in enumerate(zip(ends, values, strict=False)):
        noted = region.root.overlapping if n in memory else region.root.aliased
        for pair in place_by_place(end, value) if n >= first else [(end, value)]:
            noted.update(dict.fromkeys(aliases(region, *pair), where))


def place_by_place(end: Any, value: Any) -> list[tuple[Any, Any]]:
    """What a dict or an object holds at the end of a path, beside what it holds where paths have joined."""
    if isinstance(end, dict) and isinstance(value, dict):
        return [(held, value[key]) for key, held in end.items() if key in value]
    return [(end, value)]


def note_aliases(region: Tracer, ends: Sequence[Any], values: Sequence[Any]) -> None:
    """Tensors that a path did not make but hands on are one with what is made where paths join: none may change in place."""
    where = user_line()
    for end, value in zip(ends, values, strict=False):
        region.root.aliased.update(dict.fromkeys(aliases(region, end, value), where))


def aliases(region: Tracer, end: Any, value: Any) -> list[Value]:
    """The tensors that a path hands on as `end`, and what they are one with where paths join."""

    def known(value: Value) -> bool:
        return value in region.root.aliased or value in region.root.sharing

    found = [s.value for s in tensors_in(region, _moving(region, value))]
    old = [s for s in tensors_in(region, _moving(region, end)) if s.recorder is not region or known(s.value)]
    new = [s.value for s in old if s.value not in found]  # what stays the one it is gets no other name
    return [*new, *found] if new else []


def _moving(region: Tracer, end: Any) -> Any:
    """What a path hands on without the containers that stay what they are: no tensor in them gets a second name."""
    if isinstance(end, list | dict) and stays(end, region):
        return ()
    if by_path(end) or not isinstance(end, list | dict | tuple):
        return end
    held = end if isinstance(end, tuple) else contents(end)
    return tuple([_moving(region, part) for part in (held.values() if isinstance(held, dict) else held)])


def shared(region: Tracer, ends: Sequence[Any], kept: Sequence[Set[int]] | None = None) -> dict[int, list[int]]:
    """Containers that this path made and that stand in several places, with the values these are in: they become several.

    But for those that are kept one, by their ids, of each value.
    """
    inside = [_times(region, end) for end in ends]
    places: dict[int, list[int]] = {}
    for n, found in enumerate(inside):
        for key in found.elements():
            places.setdefault(key, []).append(n)
    lost = {key for n, found in enumerate(inside) for key in found if kept is None or key not in kept[n]}
    return {key: where for key, where in places.items() if len(where) > 1 and key in lost}


def _times(tracer: Tracer, value: Any) -> collections.Counter[int]:
    """How often containers that paths make stand in a value, by their ids: among what is one of several, once."""
    found = collections.Counter(id(c) for c in containers(value) if type(c) is not tuple and not stays(c, tracer))
    inside = [_times(tracer, one) for leaf in flatten(value)[0] if isinstance(leaf, OneOf) for one in leaf.alternatives]
    for leaf in flatten(value)[0]:
        if by_path(leaf):
            found += _times(tracer, leaf.held)
        elif not isinstance(leaf, OneOf) and tracer.root.heap.has(leaf) and not stays(leaf, tracer):
            held = contents(leaf)
            found[id(leaf)] += 1
            found += _times(tracer, tuple(held.values()) if isinstance(held, dict) else held)
    return found | collections.Counter(set().union(*inside))


def part_shared(tracer: Tracer, several: dict[int, list[int]], values: Sequence[Any]) -> None:
    """Notes which values hold what was one container: none of these may change, nor two of them leave."""
    for where in several.values():
        inside = {n: [id(c) for c in _containers_in(tracer, values[n])] for n in where}
        tracer.root.parted.append(
            [set(found) for found in inside.values()] if len(inside) > 1 else [{c} for c in inside[where[0]]]
        )
        for n in inside:
            part(tracer, values[n])


def kept_one(forms: Sequence[Form]) -> list[Set[int]]:
    """By value, the ids of the containers of paths that are one wherever they stand behind the paths."""
    inside = [{tuple(map(id, origins)) for origins in origins_in(form)} for form in forms]
    met = collections.Counter(key for origins in set().union(*inside) for key in origins)
    return [{key for origins in found for key in origins if met[key] == 1} for found in inside]


def part(tracer: Tracer, value: Any) -> None:
    """The containers in a value may be one with others: none may change from here on."""
    tracer.root.twins.update({id(c): user_line() for c in _containers_in(tracer, value)})


def parted(tracer: Tracer, value: Any) -> bool:
    """Whether a value holds a container that may be one with others."""
    return any(id(c) in tracer.root.twins for c in _containers_in(tracer, value))


def _containers_in(tracer: Tracer, value: Any) -> Iterator[Any]:
    for leaf in flatten(value)[0]:
        if isinstance(leaf, OneOf):
            yield from (c for one in leaf.alternatives for c in _containers_in(tracer, one))
        elif by_path(leaf):
            yield from _containers_in(tracer, leaf.held)
        elif tracer.root.heap.has(leaf):
            held = contents(leaf)
            yield leaf
            yield from _containers_in(tracer, tuple(held.values()) if isinstance(held, dict) else held)
    yield from (c for c in containers(value) if type(c) is not tuple)


def tensors_in(tracer: Tracer, value: Any) -> Iterator[SymbolicTensor]:
    """The symbols of tensors in a value."""
    for leaf in flatten(value)[0]:
        if isinstance(leaf, OneOf):
            yield from (s for one in leaf.alternatives for s in tensors_in(tracer, one))
        elif by_path(leaf):
            yield from tensors_in(tracer, leaf.held)
        elif isinstance(leaf, Tensor):
            yield tracer.lift(leaf)
        elif tracer.root.heap.has(leaf):
            yield from tensors_in(tracer, contents(leaf))
        elif isinstance(leaf, SymbolicTensor) and not leaf.value.type.python:
            yield leaf


def put_back(tracer: Tracer, container: Any, held: Any) -> None:
    """Gives a container, or a place, what it holds after paths have joined."""
    if isinstance(held, OneOf | Grown) and not isinstance(container, (Place, *STAND_INS)):
        what = described(held) if isinstance(held, OneOf) else "any number of items"
        message = f"a {type(container).__name__} would hold {what}, by the path a run takes"
        refuse_unheld(container, message, "give it as many items, or the same keys, on every path")
    tracer.root.heap.set(container, held)


def _note(tracer: Tracer, test: SymbolicTensor, ends: Sequence[Any], value: Any, form: Form, makers: Any) -> None:
    """What the condition tells of which alternative a value is, here and wherever it is asked again."""
    if isinstance(value, OneOf):
        assert isinstance(form, Union)
        for when, end, maker in zip((True, False), ends, makers, strict=True):
            found = places(form, form_of(end, maker))
            inner = end.tag.value if isinstance(end, OneOf) else None
            tracer.come(test.value, when, value.tag.value, inner, found)
            tracer.imply(test.value, when, value.tag.value, frozenset().union(*found))


def recorded(region: Tracer, arm: Arm) -> list[Any] | None:
    """Records an arm; None where it ends in an exception, which a run that comes there will raise."""
    try:
        with handling(region):
            return arm()
    except (CaptureError, Ended) as error:
        if isinstance(error, CaptureError):
            raise
    except RecursionError as error:
        message = "a function calls itself as long as a tensor says so, with other kinds of values each time, or inside a `try`"
        raise Endless("D2S1003", message, hint="write it as a `while`") from error
    except Exception as error:
        if is_internal(error):
            raise
        refuse_stand_in(error)
        if region.root.attempts:
            raise Forked from error
        region.where = line_of(error) or region.where
        fails(region, error)
    return None


def fails(region: Tracer, error: Exception) -> None:
    """Records that a run that comes here raises, and leaves what it has changed so far."""
    if found_by_run(region, error):
        raise_in_run(region, error, region.where)
        error = RuntimeError(f"a {type(error).__name__} that a run makes")  # raised by the step before
    _forget_frames(error.__cause__, error.__context__)
    changed, stores = pending(region)
    found = {"stores": stores} if stores else {}
    region.add("fail", [region.resolve(s) for s in changed], [], {"error": Raised(_as_eager(error))} | found)


def _forget_frames(*errors: BaseException | None) -> None:
    """Has what an exception was raised from tell the line it came from, and not how the capture came there."""
    waiting, seen = [error for error in errors if error is not None], set[int]()
    while waiting:
        error = waiting.pop()
        if id(error) not in seen and not is_internal(error):
            seen.add(id(error))
            error.__traceback__ = raised_at(Exception(), line_of(error)).__traceback__
            waiting += [other for other in (error.__cause__, error.__context__) if other is not None]


def is_internal(error: BaseException) -> bool:
    """Whether an exception is no business of the user's code: it ends the capture, or a path of it."""
    return isinstance(error, Ended | Forked | Awaited) or (
        isinstance(error, D2SError) and error.code.startswith(("D2S1", "D2S9"))
    )


def _as_eager(error: Exception) -> Exception:
    """The exception as eager code would word it."""
    text = error.args[0] if len(error.args) == 1 else ""
    if type(error) is TypeError and isinstance(text, str) and SymbolicTensor.__name__ in text:
        return TypeError(text.replace(SymbolicTensor.__name__, Tensor.__name__))
    return error


def refuse_stand_in(error: Exception) -> None:
    """Refuses what only the stand-in of a value cannot do: the user's code would have gone on with the value itself."""
    refuse_fault(error)
    if any(kind in part for kind in _STAND_INS for part in error.args if isinstance(part, str)):
        text = error.message if isinstance(error, D2SError) else error
        hint = error.hint if isinstance(error, D2SError) else ""
        hint = hint or (WAY_OUT if OF_RUN in str(text) else "")
        raise CaptureError("D2S1003", f"{type(error).__name__}: {text}", where=line_of(error), hint=hint) from error


def _forms(ends: Sequence[list[Any] | None], makers: Sequence[Tracer]) -> list[Form]:
    """Of what either arm makes; where but one comes to its end, what it has made is made anew, too."""
    if None in ends:
        return [_kept(form_of(value, makers[0]), (value,), makers) for value, _ in _pairs(ends)]
    return [_kept(join(*map(form_of, pair, makers)), pair, makers) for pair in _pairs(ends)]


def _kept(form: Form, ends: Sequence[Any], makers: Sequence[Tracer]) -> Form:
    """The same where a tensor that was there before the paths, and that all of them hand on, stays the one it is."""
    if isinstance(form, Slot) and all(isinstance(end, SymbolicTensor) for end in ends) and not form.type.python:
        there = all(end.value is ends[0].value and end.recorder is not maker for end, maker in zip(ends, makers, strict=False))
        return Fixed(ends[0]) if there else form
    if isinstance(form, Tree) and all(isinstance(end, tuple) for end in ends):
        return dataclasses.replace(
            form, parts=tuple(_kept(part, at, makers) for part, *at in zip(form.parts, *ends, strict=True))
        )
    return form


def _pairs(ends: Sequence[list[Any] | None]) -> Iterator[tuple[Any, Any]]:
    """What either arm made, value by value; an arm that ended makes what the other does."""
    first, second = ends
    return zip(first or second or [], second or first or [], strict=True)


def _outputs(region: Tracer, end: list[Any] | None, forms: Sequence[Form], changes: Changes) -> list[SymbolicTensor]:
    if end is None:
        return [symbol for form in forms for symbol in holes(region, form)]
    return encoded_at_end(region, end, forms, changes)


def encoded_at_end(region: Tracer, end: Sequence[Any], forms: Sequence[Form], changes: Changes) -> list[SymbolicTensor]:
    """The symbols of values as a path with these changes leaves them."""
    with region.root.heap.at_end_of(changes):
        try:
            found = [s for value, form in zip(end, forms, strict=True) for s in encoded(region, value, form)]
        except Unreachable:
            found = [symbol for form in forms for symbol in holes(region, form)]
        return [SymbolicTensor(region, region.resolve(s)) for s in found]


def encoded(region: Tracer, value: Any, form: Form) -> list[SymbolicTensor]:
    """The symbols that a value is in a form that holds it."""
    with handling(region):
        return encode(region, value, form, _switched)


def _switched(tracer: Tracer, value: OneOf, chosen: Chosen) -> list[SymbolicTensor]:
    return switch(tracer, value, lambda one: chosen(_here(tracer), one))


def _here(tracer: Tracer) -> Tracer:
    found = capturing()
    assert found is not None
    return found


def switch(tracer: Tracer, value: OneOf, chosen: Callable[[Any], list[Any]]) -> list[Any]:
    """What `chosen` makes of the alternative a run has."""
    first, *others = possible(tracer, value)
    if not others:
        return chosen(value.alternatives[first])
    test = test_of(tracer, value, {first})
    assert isinstance(test, SymbolicTensor)
    return branch(tracer, test, (lambda: chosen(value.alternatives[first]), lambda: switch(_here(tracer), value, chosen)))


def possible(tracer: Tracer, value: OneOf) -> list[int]:
    """Which alternatives can be meant on this path."""
    found = tracer.known(value.tag.value, frozenset(range(len(value.alternatives))))
    if not found:
        raise Unreachable
    return sorted(found)


def test_of(tracer: Tracer, value: OneOf, among: Collection[int]) -> SymbolicTensor | bool:
    """Whether the alternative a run has is one of these, as a Python bool of run time if only a run can tell."""
    here = possible(tracer, value)
    inside = [k for k in here if k in among]
    if len(inside) in (0, len(here)):
        return bool(inside)
    test = OPS["equal"](value.tag, inside[0])
    for k in inside[1:]:
        test = OPS["bitwise_or"](test, OPS["equal"](value.tag, k))
    tracer.imply(test.value, True, value.tag.value, frozenset(inside))
    others = frozenset(range(len(value.alternatives))).difference(inside)  # not only those here: elsewhere there may be more
    tracer.imply(test.value, False, value.tag.value, others)
    return test  # type: ignore[no-any-return]
