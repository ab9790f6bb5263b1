"""`while`: Python's as long as the test is Python's, from there on a `while_loop`.

What a trip changes is carried; a Python number that changes becomes a number of run time, and what changes its kind one of
several. Which variables are carried, and as what, is found by capturing the body until nothing new changes.

>>> n = [3]
>>> while_loop(lambda: n[0] > 0, lambda: n.__setitem__(0, n[0] - 1), lambda: (), lambda values: None, ())
>>> n
[0]
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from d2s.capture.branch import (
    encoded,
    encoded_at_end,
    kept_one,
    note_aliases,
    part,
    part_shared,
    place_by_place,
    put_back,
    recorded,
    refuse_unheld,
    shared,
)
from d2s.capture.containers import STAND_INS, List, is_container
from d2s.capture.encode import decode
from d2s.capture.fork import Forked
from d2s.capture.forms import Fixed, Form, Grown, Later, OneOf, Union, alike, anonymous, depth, form_of, join, same, slots
from d2s.capture.growing import Moved
from d2s.capture.heap import Changes, Place, contents, restore
from d2s.capture.lengthening import carried_as, moved_form, widened
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.undefined import with_names
from d2s.capture.users_code import refuse, user_line
from d2s.convert.if_else import Get, Set, guard_truth, truth, truth_of
from d2s.convert.methods import truth_asked
from d2s.convert.raising_loops import Raising
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError
from d2s.ops.dispatch import handling

GUARDED = 256  # trips of a loop that nothing but an exception ends, where what a trip does cannot be looked at
ROUNDS = 50  # each round carries at least one variable more, or one of them as one kind more
DEEPER = 10  # rounds in a row that find containers one deeper in each other: there will be no end
Test = Callable[[], Any]
Body = Callable[[], None]
Indices = frozenset[int]  # of variables


def while_loop(
    test: Test, body: Body, get: Get, set: Set, names: Sequence[str], leaves: bool = False, endless: bool = False
) -> None:
    """`leaves`: a `break` may end the loop, so a trip may make a tensor's test of one that was Python's.

    `endless`: nothing ends it but what a trip raises.
    """
    tracer = capturing()
    if tracer:
        _captured(tracer, lambda: truth_asked(test()), body, get, set, names, leaves, endless)
        return
    while test():
        body()


def _captured(
    tracer: Tracer, test: Test, body: Body, get: Get, set: Set, names: Sequence[str], leaves: bool, endless: bool
) -> None:
    for trips in itertools.count():
        before = get()
        if _is_symbolic(tracer, test) or (
            (leaves or endless)
            and _becomes_symbolic(tracer, test, body, before, get, set, endless and trips < GUARDED, endless)
        ):
            if any(a is not b for a, b in zip(before, get(), strict=True)):
                hint = "assign before the loop and at the end of its body"
                refuse("D2S1003", "the test of a `while` on a tensor assigns a variable", hint)
            set(before)
            loop(tracer, test, body, get, set, names)
            return
        set(before)
        answer = test()
        guard_truth(tracer, answer)
        if not answer:
            return
        body()


def _is_symbolic(tracer: Tracer, test: Test) -> bool:
    """Whether the test asks about a tensor; what it records to say so is thrown away."""
    region: Any = tracer.region("test")
    try:
        with handling(region), tracer.root.heap.path(region):
            return _is_of_run(test())
    except Forked:  # and raises by what the answer is
        return True


def _is_of_run(answer: Any) -> bool:
    return isinstance(answer, SymbolicTensor | Tensor | OneOf | Later)


def _becomes_symbolic(
    tracer: Tracer, test: Test, body: Body, before: tuple[Any, ...], get: Get, set: Set, goes_on: bool, endless: bool
) -> bool:
    """Whether a tensor may end the loop after a trip; what is recorded to say so is thrown away."""
    raising = Raising(test, body, get, set)

    def trip() -> list[Any]:
        if not test():
            return [False]
        body()
        return [test()]

    def raising_trip() -> list[Any]:
        raising.begin()
        if raising.more:
            raising.trip()
        return [raising.more]

    set(before)
    try:
        region, ends = _thrown_away(tracer, trip, lambda: set(before))
        if region is None:
            region, ends = _thrown_away(tracer, raising_trip, lambda: set(before))
    except CaptureError:
        if not goes_on:
            raise
        return False  # so far it is Python's
    return ends is not None and (_is_of_run(ends[0]) or (endless and _may_raise(region)))


def _thrown_away(tracer: Tracer, trip: Callable[[], list[Any]], reset: Callable[[], None]) -> tuple[Any, list[Any] | None]:
    """A trip, recorded to look at it; no region where it raises, for certain or by a tensor, what may be caught."""
    region: Any = tracer.region("body")
    try:
        with tracer.root.heap.path(region):
            return region, recorded(region, trip)
    except Forked:
        return None, None
    finally:
        reset()


def _may_raise(region: Any) -> bool:
    return any(inner.op == "fail" for node in region.builder.nodes for r in node.regions().values() for inner in r.every_node())


def loop(tracer: Tracer, test: Test, body: Body, get: Get, set: Set, names: Sequence[str]) -> None:
    """Records the loop, and sets the variables as it leaves them."""
    if _raises(tracer, names, lambda: _recorded(tracer, test, body, get, set, names)):
        raising = Raising(test, body, get, set)
        raising.begin()
        _recorded(tracer, lambda: raising.more, raising.trip, raising.get, raising.set, ("more", "raised", *names))
        raising.end()


def _raises(tracer: Tracer, names: Sequence[str], record: Callable[[], None]) -> bool:
    """Whether a loop cannot be recorded, as its test or a trip raises what may be caught; what was found once is known."""
    if not tracer.catches():
        record()
        return False
    runs, key = [run for run in tracer.root.attempts if run.tracer is tracer], (user_line(), *names)
    before = [len(run.recorded) for run in runs]
    if key in tracer.root.raising:
        return True
    try:
        record()
    except Forked as found:
        if found.test is not None:
            raise
        if before == [len(run.recorded) for run in runs]:  # else another run would not do the same
            tracer.root.raising.add(key)
        return True
    return False


def _recorded(tracer: Tracer, test: Test, body: Body, get: Get, set: Set, names: Sequence[str]) -> None:
    """Records a loop; containers it changes are variables, too."""
    state = _State(tracer, get, set, names)
    get, set, names = state.get, state.set, state.names
    before = get()
    forms: dict[int, Form] = {}
    parted: Indices = frozenset()
    depths, changed = [0], dict[int, Form]()
    for _ in range(ROUNDS):
        inside, entered, ends, found = _trip(tracer, body, before, forms, parted, get, set, names)
        if state.takes_in(found):
            before = get()
            continue
        if state.moves(before, ends or entered, forms):
            before, parted = get(), frozenset()
            continue
        changed = _changed(inside, before, entered, ends or entered, forms, state.is_list)
        more = frozenset(n for where in shared(inside, ends or entered).values() for n in where) - parted
        if not changed and not more:
            break
        state.refuse_unheld(changed)
        deepest = max(map(depth, changed.values()), default=0)
        depths = [*depths, deepest] if deepest > depths[-1] else [deepest]
        if len(depths) > DEEPER:
            _refuse_kinds([names[k] for k in changed])
        forms |= changed
        parted |= more
    else:
        _refuse_kinds([names[k] for k in changed])
    firsts = [SymbolicTensor(tracer, tracer.resolve(s)) for k, form in forms.items() for s in encoded(tracer, before[k], form)]
    left = ends or entered
    outputs = encoded_at_end(inside, [left[k] for k in forms], list(forms.values()), found)
    asking, answer = _asked(tracer, test, before, forms, parted, set, names)
    reads, (asked, trip) = tracer.adopt([asking, inside], [[answer], outputs])
    results = tracer.repeat([s.value for s in firsts], reads, asked, trip)
    tracer.root.joined.update(s.value for s in results)
    symbols = iter(results)
    told = {k: _of_last_round(form, before[k], left[k], tracer, inside) for k, form in forms.items()}
    one: dict[tuple[int, ...], Any] = {}
    after = {k: decode(form, symbols, tracer.root.heap.made, one) for k, form in told.items()}
    pairs = [pair for k in forms if not state.is_place(k) for pair in state.pairs(k, before[k], after[k])]
    note_aliases(inside, [first for first, _ in pairs], [last for _, last in pairs])
    behind = [after.get(k, value) for k, value in enumerate(before)]
    part_shared(tracer, shared(inside, left, kept_one([told.get(k, Fixed(None)) for k, _ in enumerate(behind)])), behind)
    state.leave(behind)


def _refuse_kinds(names: Sequence[str]) -> NoReturn:
    if not names:
        hint = "fill them with append(), or make a tensor"
        refuse("D2S1002", "every trip of this loop makes lists of other lengths", hint)
    listed = ", ".join(map(repr, names))
    refuse("D2S1002", f"{listed} would be of another kind after every trip of this loop", "give it one kind throughout")


def _of_last_round(form: Form, before: Any, left: Any, tracer: Tracer, inside: Any) -> Form:
    """The form of a variable, with the objects that it is at the end of each trip and before the first."""
    told = join(form_of(before, tracer), form_of(left, inside))
    return told if alike(told, form) else anonymous(form)


class _State:
    """The variables of a loop, and behind them the contents of the containers it changes."""

    def __init__(self, tracer: Tracer, get: Get, set: Set, names: Sequence[str]) -> None:
        self.tracer, self._get, self._set = tracer, get, set
        self.names, self.containers = list(names), list[Any]()

    def get(self) -> tuple[Any, ...]:
        return *self._get(), *map(contents, self.containers)

    def set(self, values: tuple[Any, ...]) -> None:
        count = len(values) - len(self.containers)
        self._set(values[:count])
        for owner, held in zip(self.containers, values[count:], strict=True):
            restore(owner, held)

    def is_place(self, k: int) -> bool:
        """Whether number k is no variable but what a place holds."""
        return isinstance(self._owner(k), Place)

    def pairs(self, k: int, before: Any, after: Any) -> list[tuple[Any, Any]]:
        """What number k was and is, of what a container holds place by place."""
        return [(before, after)] if self._owner(k) is None else place_by_place(before, after)

    def _owner(self, k: int) -> Any:
        """The container, or the place, whose contents number k is; None of a variable."""
        count = len(self.names) - len(self.containers)
        return self.containers[k - count] if k >= count else None

    def is_list(self, k: int) -> bool:
        """Whether number k is what a list holds."""
        return isinstance(self._owner(k), List)

    def refuse_unheld(self, forms: dict[int, Form]) -> None:
        """Refuses what a container that was there before the capture cannot hold."""
        for k, form in forms.items():
            owner = self._owner(k)
            if is_container(owner) and isinstance(form, Union) and not isinstance(owner, STAND_INS):
                message = f"a {type(owner).__name__} from outside would hold {form!r}, by the trips a loop makes"
                refuse_unheld(owner, message, "fill a list of the function's, and return it")

    def takes_in(self, found: Changes) -> bool:
        """Whether a trip changed containers that are not known to be changed."""
        new = [c for c, _ in found.values() if not any(c is known for known in self.containers)]
        self.containers += new
        self.names += ["items"] * len(new)
        return self._named(found) or bool(new)

    def _named(self, found: Changes) -> bool:
        """Has objects lack, before the loop, the attributes that a trip gives them; whether there are any."""
        named = False
        for owner, held in found.values():
            before = contents(owner)
            names = [name for name in held if name not in before] if isinstance(held, dict) and isinstance(before, dict) else []
            now = with_names(owner, before, names)
            if now is not before and names:
                self.tracer.root.heap.set(owner, now)
                named = True
        return named

    def moves(self, before: Sequence[Any], ends: Sequence[Any], forms: dict[int, Form]) -> bool:
        """Whether a trip gives a variable another list in the place of one that the function has made.

        From before the loop on the variable then has a list of its own of the same items, and nobody may ask for the one it
        had, which others may know. What stays known of the variable is a form, which is no longer that of the very object.
        """
        count = len(before) - len(self.containers)
        new = [k for k in range(count) if k not in forms and _is_rebound(self.tracer, before[k], ends[k])]
        alone = [k for k in new if sum(value is before[k] for value in before[:count]) == 1]
        values = list(before[:count])
        for k in alone:
            values[k] = self._moved(before[k])
        self._set(tuple(values))
        if alone:
            kept = {k: forms[k] for k in forms if k < count}
            forms.clear()
            forms.update(kept | {k: moved_form(values[k], self.tracer) for k in alone})
        return bool(alone)

    def _moved(self, first: List) -> List:
        made = List()
        restore(made, contents(first))
        for n in [n for n, c in enumerate(self.containers) if c is first]:
            del self.names[len(self.names) - len(self.containers) + n]
            del self.containers[n]
        self.tracer.root.heap.set(first, Moved())
        return self.tracer.root.heap.made(made)  # type: ignore[no-any-return]

    def leave(self, values: Sequence[Any]) -> None:
        """Sets all as the loop leaves it."""
        count = len(values) - len(self.containers)
        self._set(tuple(values[:count]))
        for container, held in zip(self.containers, values[count:], strict=True):
            put_back(self.tracer, container, held)


def _is_rebound(tracer: Tracer, first: Any, end: Any) -> bool:
    """Whether a list the function has made, and nobody outside knows, is not the one a trip leaves, or not on every path."""
    if type(first) is not List or id(first) in tracer.root.given or not tracer.root.heap.has(first):
        return False
    ends = end.alternatives if isinstance(end, OneOf) else [end]
    return all(type(one) is List for one in ends) and any(one is not first for one in ends)


def _asked(
    tracer: Tracer, test: Test, before: Sequence[Any], forms: dict[int, Form], parted: Indices, set: Set, names: Sequence[str]
) -> tuple[Any, SymbolicTensor]:
    """The test, recorded in a region of its own."""
    asking: Any = tracer.region("test")
    try:
        with tracer.root.heap.path(asking) as found:
            _enter(asking, before, forms, parted, set, names)
            answers = recorded(asking, lambda: [_answer(asking, test)])
        if any(is_container(c) and _changes(asking, held, contents(c)) for c, held in found.values()):
            refuse("D2S1003", "the test of a `while` on a tensor changes a list", "change it before the loop and in its body")
    finally:  # also where something is refused: the loop may be unrolled instead
        set(tuple(before))
    with handling(asking):
        answer = asking.now(answers[0] if answers else asking.symbol_of(False))
    return asking, answer


def _changes(region: Any, held: Any, before: Any) -> bool:
    """Whether a region leaves something else in a container than it found; reading a list of the graph makes it a new value."""
    if not isinstance(held, Grown):
        return not same(held, before)
    every = (n for node in region.builder.nodes for n in (node, *(n for r in node.regions().values() for n in r.every_node())))
    return any(node.op in ("list_append", "list_pop", "list_set") for node in every)


def _answer(tracer: Any, test: Test) -> SymbolicTensor:
    answer = test()
    return truth(tracer, truth_of(answer) if isinstance(answer, OneOf | Later) else answer)


def _trip(
    tracer: Tracer,
    body: Body,
    before: Sequence[Any],
    forms: dict[int, Form],
    parted: Indices,
    get: Get,
    set: Set,
    names: Sequence[str],
) -> tuple[Any, Sequence[Any], Sequence[Any] | None, Changes]:
    """One trip, recorded: how it finds the variables and how it leaves them (None: it never comes to its end); and the
    containers it changes."""
    region: Any = tracer.region("body")

    def run() -> list[Any]:
        body()
        return list(get())

    try:
        with tracer.root.heap.path(region) as found:
            _enter(region, before, forms, parted, set, names)  # what is made for the trip is the trip's
            entered = get()
            ends = recorded(region, run)
    finally:
        set(tuple(before))
    return region, entered, ends, found


def _changed(
    inside: Any,
    before: Sequence[Any],
    entered: Sequence[Any],
    ends: Sequence[Any],
    forms: dict[int, Form],
    is_list: Callable[[int], bool],
) -> dict[int, Form]:
    """The variables that have to be carried as more than they are."""
    found = {}
    for k, (first, start, end) in enumerate(zip(before, entered, ends, strict=True)):
        if k in forms or not same(start, end):
            now = forms[k] if k in forms else form_of(first, inside)
            wanted = widened(carried_as(now, form_of(end, inside), is_list(k)))
            if k not in forms or not alike(now, wanted):
                found[k] = wanted
    return found


def _enter(region: Any, before: Sequence[Any], forms: dict[int, Form], parted: Indices, set: Set, names: Sequence[str]) -> None:
    """Sets the variables as a trip finds them: those carried are inputs of the region."""
    values = list(before)
    for k, form in forms.items():
        values[k] = decode(form, _inputs(region, form, names[k]), region.root.heap.made)
        if k in parted:
            part(region, values[k])
    set(tuple(values))


def _inputs(region: Any, form: Form, name: str) -> Iterator[SymbolicTensor]:
    for of in slots(form):
        symbol = region.input(region.with_names(of), name)
        region.root.aliased[symbol.value] = ""  # at the first trip it is what was there before the loop
        region.root.joined.add(symbol.value)
        yield symbol
