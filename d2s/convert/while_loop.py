"""`while`: Python's as long as the test is Python's, from there on a `while_loop`.

What a trip changes is carried; a Python number that changes becomes a number of run time. Which variables are carried is
found by capturing the body until nothing new changes.

>>> n = [3]
>>> while_loop(lambda: n[0] > 0, lambda: n.__setitem__(0, n[0] - 1), lambda: (), lambda values: None, ())
>>> n
[0]
"""

from collections.abc import Callable, Sequence
from typing import Any

from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing, refuse
from d2s.capture.undefined import Undefined
from d2s.convert.if_else import Get, Set, refuse_truth, same, taken_at_run_time, truth
from d2s.eager.tensor import Tensor
from d2s.ops.dispatch import handling

ROUNDS = 50  # each round carries at least one variable more


def while_loop(test: Callable[[], Any], body: Callable[[], None], get: Get, set: Set, names: Sequence[str]) -> None:
    tracer = capturing()
    while True:
        before = get()
        if tracer and _is_symbolic(tracer, test):
            if any(a is not b for a, b in zip(before, get(), strict=True)):
                hint = "assign before the loop and at the end of its body"
                refuse("D2S1003", "the test of a `while` on a tensor assigns a variable", hint)
            set(before)
            _while_graph(tracer, test, body, get, set, names)
            return
        set(before)
        answer = test()
        refuse_truth(tracer, answer)
        if not answer:
            return
        body()


def _is_symbolic(tracer: Tracer, test: Callable[[], Any]) -> bool:
    """Whether the test asks about a tensor; what it records to say so is thrown away."""
    with handling(tracer.region("test")):
        return isinstance(test(), SymbolicTensor | Tensor)


def _while_graph(
    tracer: Tracer, test: Callable[[], Any], body: Callable[[], None], get: Get, set: Set, names: Sequence[str]
) -> None:
    before = get()
    carried: list[int] = []
    for _ in range(ROUNDS):
        firsts = [_symbol(tracer, before[k], names[k]) for k in carried]
        entering = dict(zip(carried, firsts, strict=True))
        inside, ends, changed = _capture(tracer, body, before, entering, get, set, names)
        if not changed:
            break
        carried = sorted({*carried, *changed})
    with handling(inside):
        outputs = [_symbol(inside, ends[k], names[k]) for k in carried]
    for k, first, output in zip(carried, firsts, outputs, strict=True):
        if first.value.type != output.value.type:
            message = f"'{names[k]}' is {first.value.type} before this `while` and {output.value.type} after a trip"
            refuse("D2S1002", message, "give it one dtype and one shape throughout")
    asking = tracer.region("test")
    _enter(asking, before, entering, set, names)
    with handling(asking):
        answer = truth(asking, test())  # type: ignore[arg-type]
    reads, (asked, trip) = tracer.adopt([asking, inside], [[answer], outputs])
    inputs = [*(tracer.resolve(s) for s in firsts), *reads]
    attrs = {"test": asked, "body": trip, "carries": len(carried)}
    results = tracer.add("while_loop", inputs, [s.value.type for s in firsts], attrs)
    tracer.root.joined.update(s.value for s in results)
    after = dict(zip(carried, results, strict=True))
    set(tuple(after.get(k, _left(names[k], value, ends[k])) for k, value in enumerate(before)))


def _capture(
    tracer: Tracer,
    body: Callable[[], None],
    before: Any,
    carried: dict[int, SymbolicTensor],
    get: Get,
    set: Set,
    names: Sequence[str],
) -> Any:
    """One trip, recorded; also the variables it changes that are not carried yet."""
    region = tracer.region("body")
    _enter(region, before, carried, set, names)
    entered = get()
    with taken_at_run_time(region):
        body()
    ends = get()
    set(before)
    pairs = enumerate(zip(entered, ends, strict=True))
    changed = [k for k, (a, b) in pairs if k not in carried and not isinstance(a, Undefined) and not same(a, b)]
    return region, ends, changed


def _enter(region: Any, before: Sequence[Any], carried: dict[int, SymbolicTensor], set: Set, names: Sequence[str]) -> None:
    """Sets the variables as a trip finds them: those carried are inputs of the region."""
    values = list(before)
    for k, first in carried.items():
        values[k] = region.input(first.value.type, names[k])
    set(tuple(values))


def _symbol(tracer: Any, value: Any, name: str) -> SymbolicTensor:
    symbol = tracer.symbol_of(value)
    if symbol is None:
        message = f"'{name}' is a {type(value).__name__} and changes in a `while` on a tensor"
        refuse("D2S1002", message, "only tensors and Python numbers can be carried from trip to trip yet")
    return symbol


def _left(name: str, before: Any, end: Any) -> Any:
    """A variable that is not carried: as it was, or, where only the loop sets it, nothing a graph can hold."""
    if not isinstance(before, Undefined) or (isinstance(end, Undefined) and not end.why):
        return before
    if isinstance(end, Undefined):
        return end
    return Undefined(name, f"'{name}' is set only inside a `while` on a tensor, which may make no trip")
