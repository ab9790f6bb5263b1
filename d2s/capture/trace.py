"""One capture: a function is run once on symbols, and what it did is a Program.

In: a function, the leaves of its arguments and which of them are values of run time. Out: `Captured`.

>>> from d2s import types
>>> from d2s.capture.tree import flatten
>>> arguments, skeleton = flatten({"x": None})
>>> captured = trace(lambda given: given["x"] + 1.0, "f", arguments, skeleton, {0: ("x", Type(types.float32, (2,)))}, {})
>>> [node.op for node in captured.program.nodes]
['constant', 'add']
"""

import contextlib
import dataclasses
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from d2s.autodiff.mode import Switch
from d2s.capture.answers import MOST, Answered, Answers, Assumed, QuestionKey, Undecided, Unheld
from d2s.capture.branch import Ended, Unreachable, fails, refuse_stand_in
from d2s.capture.containers import stand_in
from d2s.capture.faults import line_of
from d2s.capture.guards import Guard
from d2s.capture.held import Held, Where, are_apart, containers_held, counts
from d2s.capture.histories import History, history_of
from d2s.capture.leaves import Leaves, found_outside, refuse_parted, tighten
from d2s.capture.outside import Read, liftable
from d2s.capture.raised import found_by_run
from d2s.capture.reads import add_to, empty, read_contents, read_variable, refuse_looked_into, together
from d2s.capture.result import Made, Recipe, describe
from d2s.capture.result import leaves as leaves_of
from d2s.capture.standing import Standing
from d2s.capture.stores import Pending, Store, Target, pending, stores
from d2s.capture.sweeps import Told
from d2s.capture.symbolic import Overwritten, Tracer
from d2s.capture.taping import Untaped, depends_on_tape, refuse_lasting, refuse_untaped
from d2s.capture.tree import Skeleton, changeable, containers, flatten, rebuild
from d2s.capture.variables import guard_key
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError, D2SError
from d2s.ir.program import Node, Program, Value
from d2s.ir.text import show
from d2s.once import once
from d2s.ops import OPS
from d2s.ops.dispatch import handling
from d2s.runtime import host
from d2s.types import Type

ROUNDS = 16  # captures until nothing new is found that is different at each call


@dataclasses.dataclass(eq=False)
class Captured:
    """A Program and how to call it: its inputs are argument leaves (by position), then `lifted` tensors met on the way."""

    program: Program
    arguments: list[int]
    lifted: list[Tensor]
    reads: list[Read]  # what is found anew at each call, behind the lifted ones
    told: list[Told]  # what each call makes anew, behind those
    draws: bool  # whether the last two inputs are the state of the random numbers
    aliases: list[tuple[int, Tensor]]  # arguments that were also reached another way
    guards: list[Guard]
    result: Recipe  # of leaves ("output", n), ("argument", leaf), ("read", n), ("container", n), ("outside", object)
    stores: list[Target]  # where a call leaves something
    stored: Recipe  # of a tuple: what
    whole: Recipe  # of the two
    returned: int  # so many outputs are part of the result, those behind them are stored only
    standing: Standing | None = None  # of tensors, where gradients are taken inside
    taped: bool | None = None  # whether it is for callers with a tape; None where it is for all
    history: History | None = None  # what they make of the histories of results
    overwritten: Overwritten = dataclasses.field(default_factory=dict)  # what every path has changed in place
    changes: dict[Value, tuple[Value, str]] = dataclasses.field(default_factory=dict)  # what some path has
    lifts: dict[Any, Any] = dataclasses.field(default_factory=dict)  # which attributes and variables are read anew
    held: dict[Any, Held] = dataclasses.field(default_factory=dict)  # structures among these
    apart: bool = False  # whether no tensor read anew may be one with another input: else, if it wants no gradient
    answered: list[Answered] = dataclasses.field(default_factory=list)  # what each call is asked
    assumed: list[Assumed] = dataclasses.field(default_factory=list)  # what a run asks of tensors

    def complaints(self, kind: type[Exception]) -> set[str]:
        """Where a run may end in such an error."""
        return {where for where, error in self._ends() if isinstance(error, kind)}

    def doubts(self) -> set[tuple[str, str]]:
        """How a run may end of what only the capture does not know: an argument that may be a number, or extents."""
        extents = {d for v in self.program.inputs for d in v.type.shape if isinstance(d, str)}
        ends = [(where, str(error), error) for where, error in self._ends()]
        of_classes = {(where, text) for where, text, error in ends if isinstance(error, TypeError) and Tensor.__name__ in text}
        of_sizes = [(where, text) for where, text, error in ends if isinstance(error, D2SError)]
        return of_classes.union((where, text) for where, text in of_sizes if extents.intersection(re.findall(r"\w+", text)))

    def _ends(self) -> list[tuple[str, Any]]:
        ends = [node for node in self.program.every_node() if node.op == "fail"]
        return [(node.where, getattr(node.attrs["error"], "error", None)) for node in ends]

    @once
    def has_containers(self) -> bool:
        """Whether a call returns or changes one that it finds, be it on a path that ends in an exception."""
        written = (node.attrs.get("stores") for node in self.program.every_node())
        ends = [end for end in written if isinstance(end, Pending)]  # in a program of a file it is a text
        targets = itertools.chain(self.stores, *(end.targets for end in ends))
        owners = [target[1] for target in targets if isinstance(target[1], tuple)]
        found = itertools.chain(owners, *(leaves_of(recipe) for recipe in (self.whole, *(end.recipe for end in ends))))
        return any(kind == "container" for kind, _ in found)

    def containers(self, arguments: Any) -> list[Any]:
        """The containers that a call finds, in the order in which leaves number them."""
        return containers(arguments) + containers_held(list(self.held.values()))

    def own_containers(self, given: Sequence[Any]) -> bool:
        """Whether lists and dicts in places are none that a call knows otherwise."""
        found = [id(c) for c in containers_held(list(self.held.values())) if not isinstance(c, tuple)]
        others = {id(c) for guard in self.guards for c in changeable(guard.kept)} if found else set()
        return len(set(found)) == len(found) and others.union(map(id, given)).isdisjoint(found)

    def tells_apart(self, leaves: Sequence[Any]) -> bool:
        """Whether tensors that a call reads anew are no others of its inputs, where that matters."""
        found = [read.read() for read in self.reads if not read.type.python]
        return not found or are_apart([*found, *self.lifted, *(leaves[n] for n in self.arguments)], self.apart)


class Given(NamedTuple):
    """What is captured: a function, and the leaves of its arguments with those that are values of run time."""

    function: Callable[[Any], Any]
    name: str
    leaves: Sequence[Any]
    skeleton: Skeleton
    symbols: dict[int, tuple[str, Type]]
    same: dict[int, int]
    assumed: Mapping[QuestionKey, bool] | None  # answers to questions of tensors; None where no question may be answered
    varying: dict[Any, Any]  # what calls have found changed
    tails: tuple[Any, ...] = ()  # lists and dicts from outside that paths or loops add to
    was: Mapping[Any, Sequence[Type]] = {}  # types that captures before found where calls read, by the keys of places
    unheld: bool = False  # whether there is a capture for each path on which a container from outside holds something else
    taped: bool = True  # whether results have gradients from the start


class Changing(CaptureError):
    """What was read is another thing behind the capture."""


def trace(
    function: Callable[[Any], Any],
    name: str,
    leaves: Sequence[Any],
    skeleton: Skeleton,
    symbols: dict[int, tuple[str, Type]],
    same: dict[int, int],
    assumed: Mapping[QuestionKey, bool] | None = None,
    varying: dict[Any, Any] | None = None,
    was: Mapping[Any, Sequence[Type]] | None = None,
) -> Captured:
    """Runs `function` on its arguments with the leaves in `symbols` replaced by symbols, those in `same` by that of another.

    What it both reads and changes is different at each call: then it is captured once more, reading that anew at each. So is
    what `varying` says, where the graph can have it so. What no graph holds under an `if` is captured for one answer: of
    questions of tensors the one in `assumed`, if it is there.
    """
    given = Given(function, name, leaves, skeleton, symbols, same, assumed, varying or {}, was=was or {})
    with contextlib.suppress(Untaped):
        return _lasting(given)
    with Switch(True):
        return _lasting(given._replace(taped=False))


def _lasting(given: Given) -> Captured:
    with contextlib.suppress(Changing):  # by another thread, perhaps: what changes by itself will do so again
        return _held(given)
    return _held(given)


def _held(given: Given) -> Captured:
    try:
        return _settled(given)
    except Unheld as error:
        refused = error  # behind this handler: what the user's code raises has no context of ours
    return _added_to(given, refused)


def _added_to(given: Given, refused: Unheld) -> Captured:
    """The capture that has lists and dicts from outside get what depends on the path, where it does not ask for what they hold.

    Otherwise that for one path, where the function can be captured for one answer to what it asks.
    """
    container, told = refused.container, refused.plainly()
    while type(container) in (list, dict) and not any(container is known for known in given.tails):
        if len(given.tails) == MOST:  # one that was made on the way is another one in each capture
            break
        given = given._replace(tails=(*given.tails, container))
        try:
            return _settled(given)
        except Unheld as other:
            container = other.container
        except CaptureError as other:  # it looks into one of them, or they are given what no list of the graph holds
            told = other if other.where and other.code.startswith("D2S1") else told
            break
    try:
        return _settled(given._replace(tails=(), unheld=True))
    except CaptureError:
        raise told from None


def _settled(given: Given) -> Captured:
    """A capture that reads anew at each call what it changes there."""
    captured, found = _decided(given, {}, [])
    lifts: dict[Any, Any] = {}
    exactly = given._replace(was={})  # where it does with an extent what it cannot with one that only a run will tell
    varying = together(found, given.varying)
    attempts = ((given, varying), (exactly, varying), (exactly, found))
    for given, known in attempts if given.was else attempts[1:]:  # noqa: B020 - what is settled on
        if not known:
            continue
        try:
            reading, more = _reading(given, known)
        except Unheld:
            if not given.unheld:
                raise
            continue
        except Exception:
            continue  # it does with a number what it cannot with one that only a run will tell: a capture for each value
        if reading.complaints(D2SError) <= captured.complaints(D2SError):
            captured, lifts = reading, more
            break
    loose = _without_content(captured, lifts, lambda containers: _decided(given, lifts, containers)[0])
    if given.tails and loose is captured:
        raise CaptureError("D2S1003", "a container from outside is looked into that a path or a loop adds to")
    loose.lifts = {key: where for key, where in lifts.items() if key[1] != "content"}
    return loose


def _reading(given: Given, lifts: dict[Any, Any]) -> tuple[Captured, dict[Any, Any]]:
    """A capture that reads this anew at each call, and what else it turns out to change."""
    captured, found = _decided(given, lifts, [])
    for _ in range(ROUNDS):
        more = together(found, lifts)
        if more.keys() <= lifts.keys():
            break
        try:
            captured, found = _decided(given, more, [])
        except CaptureError:
            break
        lifts = more
    return captured, lifts


_ADDED = ("more", "entries")  # kinds of stores to which it does not matter what is there


def _without_content(captured: Captured, lifts: dict[Any, Any], again: Callable[[list[Any]], Captured]) -> Captured:
    """The same for any content of the containers that are only added to, if that is so: another capture tells."""
    added = [target[1][1] for target in captured.stores if target[0] in _ADDED] + _counted_alone(captured, lifts)
    if not added:
        return captured
    try:
        found = again(added)
        return found if _told(found) == _told(captured) else captured
    except Exception:  # it did something with what is there, or holds what cannot be told
        return captured


def _counted_alone(captured: Captured, lifts: dict[Any, Any]) -> list[Any]:
    """The lists of which only the length is known, or read anew."""
    keys = [guard.key for guard in captured.guards]
    found = [guard.source[1] for guard in captured.guards if guard.source and guard.key[1] == "length"]
    found += [container for key, container in lifts.items() if key[1] == "length"]
    return [container for container in found if (id(container), "content") not in keys]


def _told(captured: Captured) -> tuple[str, str, str]:
    return show(captured.program), repr(captured.whole), repr([t for t in captured.stores if t[0] not in _ADDED])


def _decided(given: Given, lifts: dict[Any, Any], added: list[Any]) -> tuple[Captured, dict[Any, Any]]:
    """One capture, for one answer to each question whose arms no graph holds."""
    decided: dict[int, bool] = {}
    assumed, said = given.assumed or {}, dict[str, bool]()
    while True:
        try:
            return _traced(given, decided, lifts, added)
        except Undecided as undecided:
            error = undecided
        likely = said.get(error.asked, error.side)
        answer = error.question.answer(given.leaves) if error.question else assumed.get(error.known_by, likely)
        if answer is None or len(decided) == MOST:
            raise CaptureError(error.code, error.message, where=error.where, hint=error.hint, columns=error.columns)
        decided[error.place] = said[error.asked] = answer


def _traced(given: Given, decided: dict[int, bool], lifts: dict[Any, Any], added: list[Any]) -> tuple[Captured, dict[Any, Any]]:
    """One capture that reads anew at each call what `lifts` says, and nothing of what `added` holds.

    Returned with it: what else it might have read anew.
    """
    tracer = Tracer(given.name)
    with tracer.heap.turns:
        return _traced_by(tracer, given, decided, lifts, added)


def _traced_by(
    tracer: Tracer, given: Given, decided: dict[int, bool], lifts: dict[Any, Any], added: list[Any]
) -> tuple[Captured, dict[Any, Any]]:
    tracer.lifts, tracer.was, tracer.taping = lifts, dict(given.was), given.taped
    answers = tracer.answers = None if given.assumed is None else Answers(decided, given.unheld)
    structure = _arguments(tracer, given)
    with handling(tracer):
        try:
            _prepare(tracer, lifts, added)
            for container in given.tails:
                add_to(tracer, container)
            outcome = _outcome(tracer, given.function, structure, given.assumed is None)
            refuse_looked_into(tracer)
            refuse_lasting(tracer)
        finally:
            changed = tracer.heap.put_back()
        results, returned, whole, changes = _described(tracer, outcome, changed)
    targets = [store.target for store in changes]
    lifted = [(t, s.value) for t, s in tracer.lifted.values() if s.value not in tracer.arguments]
    if tracer.training is not None and tracer.training.acts:
        tracer.training.keep_places()
    program = _program(tracer, [value for _, value in lifted], results)
    tracer.refuse_outdated(program)
    by_tape = depends_on_tape(tracer, program)
    if by_tape:
        refuse_untaped()
    reached = [(t, s.value) for t, s in tracer.lifted.values() if s.value in tracer.arguments and id(t) in tracer.reached]
    _check_guards(tracer, (*map(id, added), *(key[0] for key in lifts if key[1] == "content")))
    result, stored = whole.parts
    captured = Captured(
        program=program,
        arguments=list(given.symbols),
        lifted=[t for t, _ in lifted],
        reads=list(tracer.inputs.values()),
        told=list(tracer.told.values()),
        draws=bool(tracer.stream_state),
        aliases=[(tracer.arguments[value], t) for t, value in reached],
        guards=list(tracer.guards.values()),
        result=result,
        stores=targets,
        stored=stored,
        whole=whole,
        returned=returned,
        overwritten=tracer.overwritten,
        changes=tracer.changes,
        answered=answers.of_numbers if answers else [],
        assumed=answers.of_tensors if answers else [],
        held={key: held for key, (held, _) in tracer.held.items()},
        apart=tracer.compared or any(target[0] == "tensor" for target in targets),
        taped=given.taped if by_tape else None,
    )
    if not (captured.tells_apart(given.leaves) and captured.own_containers(())):
        raise CaptureError("D2S1003", "what calls find in a place is something they also read otherwise")
    if tracer.training is not None:
        captured.standing = Standing(captured.arguments, captured.lifted, captured.reads, given.leaves)
        tracer.training.refuse_shared(program)
        captured.history = history_of(tracer.training, program)
    return captured, _changed_reads(tracer, changes)


def _arguments(tracer: Tracer, given: Given) -> Any:
    """The arguments as the function finds them, noted as what was there before."""
    inside = list(given.leaves)
    for n, (called, of) in given.symbols.items():
        inside[n] = tracer.input(of, called)
        tracer.arguments[inside[n].value] = n
        if isinstance(given.leaves[n], Tensor):
            tracer.lifted[id(given.leaves[n])] = given.leaves[n], inside[n]
    for n, first in given.same.items():
        inside[n] = inside[first]
    structure = rebuild(given.skeleton, inside, stand_in)
    tracer.leaves = list(given.leaves)
    tracer.numbered = len(containers(structure))
    tracer.containers = {id(c): n for n, c in enumerate(containers(structure))}
    tracer.given.update(map(id, changeable(structure)))
    for leaf in given.leaves:
        tracer.give(leaf)
    return structure


def _described(tracer: Tracer, outcome: Any, changed: Any) -> tuple[list[Any], int, Made, list[Store]]:
    """What the function returned and changed, as symbols and a recipe of them; and where a call leaves what it changed."""
    changes = stores(tracer, tracer.containers, changed)
    results, outside = Leaves(tracer), found_outside(tracer)
    seen: dict[int, Made] = {}
    result = describe(outcome, results.leaf, outside, seen)
    returned = len(results.outputs)
    stored = Made(tuple, (), [describe(store.value, results.leaf, outside, seen) for store in changes])
    whole = Made(tuple, (), [result, stored])
    tighten(tracer, whole)
    refuse_parted(tracer, seen)
    return results.outputs, returned, whole, changes


def _program(tracer: Tracer, lifted: Sequence[Value], results: Sequence[Any]) -> Program:
    """All that was recorded; its inputs are the arguments, then what was met on the way, then what each call reads."""
    reads = [read.symbol.value for read in tracer.inputs.values()]
    told = [one.symbol.value for one in tracer.told.values()]
    tracer.builder.inputs = [*tracer.arguments, *lifted, *reads, *told, *(symbol.value for symbol in tracer.stream_state)]
    return tracer.builder.finish([tracer.resolve(s) for s in results])


def _check_guards(tracer: Tracer, loose: tuple[int, ...]) -> None:
    """What was read is still there, or no call could ever be like this one."""
    for guard in tracer.guards.values():
        if tracer.heap.given:  # it was made while a container held something else
            guard.loosen(loose)
        if not guard.holds():
            message = f"reading {guard.described} gives another object each time"
            raise Changing("D2S1003", message, where=guard.where, hint="read it outside of the captured function")


def _prepare(tracer: Tracer, lifts: dict[Any, Any], added: list[Any]) -> None:
    """Gives containers from outside the content they have for this capture."""
    for key, container in lifts.items():
        if key[1] == "content":
            read_contents(tracer, container)
        elif key[1] in ("global", "closure"):
            read_variable(tracer, key, container)
    for container in added:
        empty(tracer, container)


def _changed_reads(tracer: Tracer, changes: Sequence[Store]) -> dict[Any, Any]:
    """What was guarded by its value though calls change it; with it the container or the place that is read anew."""
    found: dict[Any, Any] = {}
    structures = set[int]()
    for target, value in changes:
        counted = (id(target[1][1]), "length") if target[0] in ("content", "more") and target[1][0] == "outside" else None
        if counted in tracer.guards:
            found[counted] = target[1][1]
        key, owner = read_of(target)
        guard = tracer.guards.get(key)
        held = guard.kept if guard else None
        parts: Any = flatten(held)[0]
        if target[0] == "content" and isinstance(held, list | dict):
            parts = held.values() if isinstance(held, dict) else held
        if key and key not in tracer.lifts and any(liftable(part) for part in parts):
            found[key] = owner if target[0] == "content" else Where(owner[0], owner[1], counts(held, value))
            structures |= set() if target[0] == "content" else {id(c) for c in changeable(held)}
    return {key: where for key, where in found.items() if key[1] != "content" or key[0] not in structures}


def read_of(target: Target) -> tuple[Any, Any]:
    """By which key a read of a target is guarded, and what is needed to read it anew."""
    kind, owner, *details = target
    if kind == "attribute":
        return (id(owner), "attribute", details[0]), (owner, details[0])
    if kind == "variable":
        return guard_key(owner, details[0]), (owner, details[0])
    if kind == "content" and owner[0] == "outside":
        return (id(owner[1]), "content"), owner[1]
    return None, None


def _may_fail(node: Node) -> bool:
    """Whether a run may end at a node, in front of what is behind it."""
    return node.op == "fail" or OPS[node.op].has("fault")


def _outcome(tracer: Tracer, function: Callable[[Any], Any], structure: Any, stays_open: bool) -> Any:
    """What the function returns; where every run raises, nothing."""
    try:
        return function(structure)
    except Unreachable:  # its answers contradict each other: each run gives another one before
        fails(tracer, CaptureError("D2S9001", "a run came to where none comes, by what was captured", where=tracer.line()))
        return None
    except Ended:
        return None
    except Exception as error:
        if isinstance(error, D2SError) and error.code.startswith(("D2S1", "D2S9")):
            raise
        refuse_stand_in(error)
        program = tracer.builder.finish([])
        fails_before = not stays_open and any(map(_may_fail, program.every_node()))  # a file that only fails is of no use
        before = host.acts(program) or pending(tracer)[1] or fails_before
        if isinstance(error, RecursionError) or not (before or found_by_run(tracer, error)):
            raise
        tracer.where = line_of(error) or tracer.where
        fails(tracer, error)  # at each call, behind what was done before
        return None
