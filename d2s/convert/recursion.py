"""A function that calls itself as long as a tensor says so: a `call` of the graph, and inside of it `again`.

What Python decides stays Python: such calls are captured one in another. Only where a call under a tensor's condition is given
what a call around it was given - or, some calls deep, nothing but other numbers - would that never end. Then the body is
captured by itself until nothing new changes: what kinds of values it is given, what it gives on the paths that do not call it,
what else it changes, and what it reads from outside.

In: functions of the user's as they are called. Out: what they give.

>>> def factorial(n):
...     return 1 if n == 0 else n * factorial(n - 1)
>>> entered(factorial, 3)
6
"""

import inspect
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from d2s.capture.branch import (
    Ended,
    Endless,
    encoded,
    encoded_at_end,
    note_aliases,
    part,
    parted,
    put_back,
    recorded,
    refuse_unheld,
)
from d2s.capture.containers import STAND_INS, is_container
from d2s.capture.encode import decode
from d2s.capture.forms import Form, Union, alike, anonymous, form_of, join, only_numbers_differ, slots
from d2s.capture.guards import MISSING
from d2s.capture.heap import Changes, contents
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import refuse, user_line
from d2s.convert.conversion import converted, signature_of
from d2s.errors import CaptureError
from d2s.ir.program import Program, Value, calls_of
from d2s.ops.control import described

ROUNDS = 50  # each finds another kind of value, or something else that is changed or read
INLINE = 3  # calls in one another that differ in numbers only, before these become numbers of run time


class Activation:
    """A call that goes on: what it was given, on which path."""

    def __init__(self, tracer: Tracer, bound: inspect.BoundArguments, recursion: "Recursion | None" = None) -> None:
        self.tracer, self.recursion, self.mark = tracer, recursion, tracer.root.heap.mark()
        self.declined = False  # whether its numbers have to be Python's
        self.within = _innermost(tracer)
        self.forms = forms_of(bound.arguments.values(), tracer)

    def is_like(self, tracer: Tracer, values: Sequence[Any]) -> bool:
        """Whether a call on another path, of these, does the same again."""
        apart = self.tracer is not tracer and self.within is _innermost(tracer)
        return (
            apart
            and not tracer.root.heap.changed_since(self.mark)
            and all(map(alike, self.forms, forms_of(values, self.tracer)))
        )

    def is_counting(self, tracer: Tracer, values: Sequence[Any]) -> bool:
        apart = self.tracer is not tracer and self.within is _innermost(tracer)
        return apart and all(map(only_numbers_differ, self.forms, forms_of(values, self.tracer)))


def _innermost(tracer: Tracer) -> "Recursion | None":
    """The body that is being captured."""
    found: list[Recursion] = tracer.root.bodies
    return found[-1] if found else None


def forms_of(values: Iterable[Any], tracer: Tracer) -> list[Form]:
    """What a call is given; containers made since a path began are any such containers."""
    return [anonymous(form_of(value, tracer)) for value in values]


def entered(function: types.FunctionType, /, *args: Any, **kwargs: Any) -> Any:
    """The call of a function of the user's."""
    tracer, run = capturing(), converted(function).function
    if tracer is None:
        return run(*args, **kwargs)
    bound = _bound(function, args, kwargs)
    if bound is None:
        return run(*args, **kwargs)
    active: list[Activation] = tracer.root.active.setdefault(function, [])
    found = _again(tracer, function, active, bound) if active else MISSING
    if found is not MISSING:
        return found
    active.append(Activation(tracer, bound))
    try:
        return run(*args, **kwargs)
    except Endless as error:
        raise (error.at(user_line()) if len(active) > 1 else error) from error.__cause__
    finally:
        active.pop()


def _bound(function: types.FunctionType, args: Any, kwargs: Any) -> inspect.BoundArguments | None:
    """What the parameters are; None for a wrong call, which says so when it is made."""
    try:
        bound = signature_of(function).bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    return bound


def _again(tracer: Tracer, function: types.FunctionType, active: list[Activation], bound: inspect.BoundArguments) -> Any:
    """What a call in a call of the same function gives, if it cannot be captured inside of that."""
    innermost = active[-1].recursion
    if innermost is not None:
        return innermost.again(tracer, bound)
    values = list(bound.arguments.values())
    if any(one.is_like(tracer, values) for one in active):
        return Recursion(tracer, function, active, bound).captured()
    if len(active) < INLINE or any(one.declined for one in active) or not active[-1].is_counting(tracer, values):
        return MISSING
    try:
        return Recursion(tracer, function, active, bound).captured()
    except CaptureError:
        active[-1].declined = True
        return MISSING


class Recursion:
    """One function that becomes a `call`. Its state is what it is given, and behind that what it changes of what was there."""

    def __init__(
        self, tracer: Tracer, function: types.FunctionType, active: list[Activation], bound: inspect.BoundArguments
    ) -> None:
        self.tracer, self.function, self.active, self.bound = tracer, function, active, bound
        around = len(tracer.root.bodies)
        self.name = function.__name__ + (f"_{around}" if around else "")
        self.owners: list[Any] = []  # containers and places it changes
        self.state = list(map(join, active[-1].forms, forms_of(bound.arguments.values(), active[-1].tracer)))
        self.result: Form | None = None
        self.reads: list[Value] = []
        self.settled = self.hands_on = False
        self.changing: set[int] = set()  # the inputs that some call of itself is given otherwise

    def captured(self) -> Any:
        """Records the call, and gives what it gives."""
        for _ in range(ROUNDS):
            self.settled, self.changing = True, set()
            region, end, found = self._round()
            self._take_in(region, end, found)
            if self.settled and self.result is None:
                if any(body.result is None for body in self.tracer.root.bodies):
                    raise Ended  # it waits for what a body around it gives
                refuse("D2S1003", f"'{self.function.__name__}' calls itself on every path", "return something on some path")
            self._refuse_unheld()
            self._refuse_types(region)
            outputs = self._outputs(region, end, found) if self.settled else []
            if self.settled and not self._reads_more(region):
                break
        else:
            message = f"what '{self.function.__name__}' is given or gives would be of another kind in every call of itself"
            refuse("D2S1002", message, "give it one kind throughout")
        tracer, values = self.tracer, self._values(self.bound)
        firsts = [s for v, form in zip(values, self.state, strict=True) for s in encoded(tracer, v, form)]
        reads, (body,) = tracer.adopt([region], [outputs])
        inputs, carries = self._carried_first(body, [*map(tracer.resolve, firsts), *reads], len(firsts))
        attrs = {"body": body, "carries": carries, "name": self.name}
        symbols = tracer.add("call", inputs, [v.type for v in body.outputs], attrs)
        result = self._left(tracer, symbols, values)
        note_aliases(region, [end], [result])
        return result

    def _carried_first(self, body: Program, inputs: list[Value], count: int) -> tuple[list[Value], int]:
        """What all calls are given alike is fixed, as what they read from outside: it stands behind what changes."""
        order = sorted(range(len(inputs)), key=lambda n: n >= count or n not in self.changing)
        body.inputs = tuple(body.inputs[n] for n in order)
        for node in calls_of(body, self.name):
            node.inputs = tuple(node.inputs[n] for n in order)
        return [inputs[n] for n in order], sum(n in self.changing for n in range(count))

    def again(self, here: Tracer, bound: inspect.BoundArguments) -> Any:
        """Another call of it, on a path of its body."""
        values = self._values(bound)
        self._widen(forms_of(values, self.region))
        if self.result is None or not self.settled:
            raise Ended  # what is behind it another round will tell
        given = [s for v, form in zip(values, self.state, strict=True) for s in encoded(here, v, form)]
        own = self.region.builder.inputs
        self.changing |= {n for n, s in enumerate(given) if s.value is not own[n] or here.now(s) is not s}
        inputs = [*map(here.resolve, given), *(here.resolve(SymbolicTensor(self.tracer, v)) for v in self.reads)]
        types = [t for form in self._left_forms() for t in slots(form)]
        return self._left(here, here.add("again", inputs, types, {"name": self.name, "results": described(types)}), values)

    def _round(self) -> tuple[Tracer, Any, Changes]:
        """The body captured once, on what is known so far; what it gives, MISSING if it never comes to its end."""
        region: Any = self.tracer.region("body")
        self.region: Tracer = region
        self.tracer.root.bodies.append(self)
        self.active.append(Activation(region, self.bound, self))
        try:
            with self.tracer.root.heap.path(region) as found:
                ends = recorded(region, lambda: [self._run(region)])
        finally:
            self.active.pop()
            self.tracer.root.bodies.pop()
        return region, MISSING if ends is None else ends[0], found

    def _run(self, region: Any) -> Any:
        names = [*self.bound.arguments, *("items" for _ in self.owners)]
        values = [
            decode(form, _inputs(region, form, name), region.root.heap.made)
            for form, name in zip(self.state, names, strict=True)
        ]
        count = len(self.bound.arguments)
        for value in values[:count]:
            part(region, value)
        for owner, held in zip(self.owners, values[count:], strict=True):
            region.root.heap.set(owner, held)
        for v in self.reads:
            region.resolve(SymbolicTensor(self.tracer, v))
        given = inspect.BoundArguments(self.bound.signature, dict(zip(self.bound.arguments, values, strict=False)))  # type: ignore[arg-type]
        return converted(self.function).function(*given.args, **given.kwargs)

    def _values(self, bound: inspect.BoundArguments) -> list[Any]:
        return [*bound.arguments.values(), *map(contents, self.owners)]

    def _left_forms(self) -> list[Form]:
        assert self.result is not None
        return [self.result, *self.state[len(self.bound.arguments) :]]

    def _widen(self, forms: Sequence[Form]) -> None:
        """Takes in forms of the state."""
        wanted = [join(old, new) for old, new in zip(self.state, forms, strict=True)]
        self.settled = self.settled and all(map(alike, wanted, self.state))
        self.state = wanted

    def _take_in(self, region: Tracer, end: Any, found: Changes) -> None:
        """Takes in what a round has found out: its result, and what it has changed."""
        count = len(self.bound.arguments)
        left = [found[id(owner)][1] if id(owner) in found else contents(owner) for owner in self.owners]
        self._widen([*self.state[:count], *forms_of(left, region)])
        for owner, held in found.values():
            if not any(owner is known for known in self.owners):
                self.owners.append(owner)
                self.state.append(join(*forms_of([contents(owner)], self.tracer), *forms_of([held], region)))
                self.settled = False
        if end is MISSING:
            return
        (result,) = forms_of([end], region)
        result = result if self.result is None else join(self.result, result)
        hands_on = self.hands_on or parted(region, end)
        self.settled = self.settled and self.result is not None and alike(result, self.result) and hands_on == self.hands_on
        self.result, self.hands_on = result, hands_on

    def _outputs(self, region: Any, end: Any, found: Changes) -> list[SymbolicTensor]:
        left = [found[id(owner)][1] if id(owner) in found else contents(owner) for owner in self.owners]
        return encoded_at_end(region, [end, *left], self._left_forms(), found)

    def _refuse_unheld(self) -> None:
        """Refuses what a container that was there before the capture cannot hold."""
        for owner, form in zip(self.owners, self.state[len(self.bound.arguments) :], strict=True):
            if is_container(owner) and isinstance(form, Union) and not isinstance(owner, STAND_INS):
                message = f"a {type(owner).__name__} from outside would hold {form!r}, by the calls that a run makes"
                refuse_unheld(owner, message, "fill a list of the function's, and return it")

    def _refuse_types(self, region: Tracer) -> None:
        """A list that a run makes longer, and extents that only a run finds, do not go from call to call."""
        known = {d for v in region.builder.inputs for d in v.type.shape}
        forms = [*self.state, *([] if self.result is None else [self.result])]
        if any(t.listed or any(isinstance(d, str) and d not in known for d in t.shape) for f in forms for t in slots(f)):
            message = f"'{self.function.__name__}' calls itself with a list, or an extent, that only a run will tell"
            refuse("D2S1003", message, "write it as a `while`")

    def _reads_more(self, region: Tracer) -> bool:
        known, self.reads = len(self.reads), list(region.captured)
        return len(self.reads) > known

    def _left(self, here: Tracer, symbols: Sequence[Any], values: Sequence[Any]) -> Any:
        """What a call gives; what it changed is as it left that."""
        root, left = here.root, iter(symbols)
        root.joined.update(s.value for s in symbols)
        for value in values[: len(self.bound.arguments)]:
            part(here, value)
        result = decode(self._left_forms()[0], left, root.heap.made)
        for owner, form in zip(self.owners, self._left_forms()[1:], strict=True):
            put_back(here, owner, decode(form, left, root.heap.made))
        if self.hands_on:
            part(here, result)
        return result


def _inputs(region: Any, form: Form, name: str) -> Iterator[SymbolicTensor]:
    for of in slots(form):
        symbol = region.input(of, name)
        region.root.aliased[symbol.value] = ""  # it is what some call around hands over
        region.root.joined.add(symbol.value)
        yield symbol
