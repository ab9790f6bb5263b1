"""One capture made callable: inputs bound, run as native code, its gradient one node on the tape.

In: the leaves of a call's arguments. Out: what the function returns, with the bits eager code gives.

>>> double = d2s.to_static(lambda x: x * 2.0)
>>> variant = double.concrete_program(d2s.to_tensor([1.0]))
>>> variant([d2s.to_tensor([3.0])], ()).tolist()
[6.0]
"""

import collections
import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from d2s.autodiff import moved
from d2s.autodiff.mode import Switch, recording
from d2s.capture.answers import OtherAnswer, QuestionKey
from d2s.capture.locks import acting, had
from d2s.capture.raised import only_raises
from d2s.capture.reads import varying
from d2s.capture.result import Made, build
from d2s.capture.result import leaves as leaves_of
from d2s.capture.steps import takes_lock
from d2s.capture.stores import Target, write
from d2s.capture.trace import Captured, trace
from d2s.default_dtype import default_dtype
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError, D2SError, GradientError, MismatchError, PythonIntOverflow, TooDeep
from d2s.ir.program import Program
from d2s.jit.checks import Check, Matches
from d2s.jit.graph import Graph
from d2s.jit.quick import Quick, quick_of
from d2s.jit.signature import Key
from d2s.jit.staying import stays
from d2s.jit.turns import changed_reads, turn_of
from d2s.once import once
from d2s.runtime import host, interpreter, launch, random_state
from d2s.runtime.plan import Plan
from d2s.types import Type

_WRITTEN = ("tensor", "stream", "seed", "grad", "stepped")  # into something that is there


class Unfinished(Exception):
    """A run that ended before anything it had changed by then was written: by an op's `error`, or else by one of the user's."""

    def __init__(self, error: D2SError | None = None) -> None:
        super().__init__(str(error))
        self.error = error


class Outdated(Exception):
    """What a capture depends on is another one since it was asked for: another thread changed it."""


class Variant:
    """One capture of a function: for which calls it stands says its key, for how long its guards."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        name: str,
        key: Key,
        leaves: list[Any],
        names: list[str],
        assumed: Mapping[QuestionKey, bool] | None = None,
        varying: dict[Any, Any] | None = None,
        was: Mapping[Any, Sequence[Type]] | None = None,
    ) -> None:
        symbols = {n: (names[n], leaf.type) for n, leaf in enumerate(key.leaves) if leaf.dtype and leaf.same_as < 0}
        same = {n: leaf.same_as for n, leaf in enumerate(key.leaves) if leaf.same_as >= 0}
        self.default = default_dtype()
        self.captured = trace(function, name, leaves, key.skeleton, symbols, same, assumed, varying, was)
        self.lifted = [(t, launch.type_of(t.array)) for t in self.captured.lifted]
        named, in_place = _named(self.captured), _in_place(self.captured)
        program, self.moved = moved.told(self.captured.program, in_place.values())
        returned, history = self.captured.returned, self.captured.history
        overwritten, changes = self.captured.overwritten, self.captured.changes
        self.graph = Graph(program, returned, history, overwritten, named, changes, in_place, self.moved)
        self.graph.may_be_left = True
        self.takes_lock = takes_lock(program)  # what is read and changed then, a graph reads before and writes behind it
        self.turn = None if self.takes_lock else turn_of(changed_reads(self.captured))
        self.kept = [leaf for leaf in leaves if not isinstance(leaf, Tensor)]  # the key holds identities: theirs stay theirs
        self.in_place = [(owner, *details, by) for (kind, owner, *details), by in self.stores if kind == "tensor"]
        self.key = key
        self.matches: Matches | None = None  # written once a second call fits
        self.quick: Quick | None = None  # written once it has run before
        self._tried = 0  # the ways of running known when that was tried

    @once
    def stores(self) -> list[tuple[Target, int | None]]:
        """Where a call leaves something, with the output that says whether it does where that is a matter of the path."""
        assert isinstance(self.captured.stored, Made)
        made = [part[1] if isinstance(part, tuple) and part[0] == "output" else -1 for part in self.captured.stored.parts]
        pairs = zip(self.captured.stores, made, strict=True)
        return [(target, self.moved.get(at) if target[0] == "tensor" else None) for target, at in pairs]

    def write_check(self, leaves: Sequence[Any]) -> None:
        """From now on one function answers whether this is the variant of a call like the one with these leaves."""
        check = Check()
        check.arguments(self.key)
        check.guards(self.captured.guards)
        check.rest(self)
        self.matches = None if self.changed(leaves) else check.function()  # the text is of what containers hold now

    @property
    def is_slow(self) -> bool:
        """Whether it ran in a way that `quick` may do, and there is none."""
        return self.quick is None and self._tried < self.graph.ways

    def hasten(self, function: Callable[..., Any], signature: inspect.Signature, leaves: Sequence[Any]) -> None:
        """From now on `quick` answers calls like the one with these leaves, if that can be."""
        tried, quick = self.graph.ways, quick_of(self, function, signature, leaves)
        if not self.changed(leaves):
            self._tried, self.quick = tried, quick

    def changed(self, leaves: Sequence[Any]) -> str:
        """What no longer is as it was at capture; empty if nothing."""
        return next(self.changes(leaves), "")

    def changes(self, leaves: Sequence[Any] | None) -> Iterator[str]:
        """All of that; without arguments like those of the capture, what was read otherwise."""
        for guard in self.captured.guards:
            if not guard.holds():
                yield guard.change()
        if self.captured.taped is not None and self.captured.taped is not recording():
            yield "no_grad() is around the call, or no longer"
        if default_dtype() is not self.default:
            yield "the default dtype changed"
        yield from () if leaves is None else self._changes_of_tensors(leaves)

    def _changes_of_tensors(self, leaves: Sequence[Any]) -> Iterator[str]:
        standing = self.captured.standing
        if standing is not None and standing.now(leaves) != standing.kept:
            yield "a tensor wants a gradient, or has one, that did not before, or the other way round"
        for tensor, was in self.lifted:
            if launch.type_of(tensor.array) != was:
                yield f"a tensor {was} it reads is {launch.type_of(tensor.array)}"
        named = dict[str, int]()
        for read in self.captured.reads:
            if not read.fits(named):
                yield f"{read.described} changed its type"
        yield from (f"{held.described} has another structure" for held in self.captured.held.values() if not held.holds())
        if not (self.captured.tells_apart(leaves) and self.captured.own_containers(())):
            yield "what it finds in a place is something it also reads otherwise"
        arguments = {id(leaf) for leaf in leaves if isinstance(leaf, Tensor)}
        if any(id(t) in arguments for t in self.captured.lifted):
            yield "an argument is a tensor it also reads otherwise"
        if any(leaves[n] is not t for n, t in self.captured.aliases):
            yield "an argument is no longer the tensor it also reads otherwise"
        yield from filter(None, [answered.change(leaves) for answered in self.captured.answered])

    def varying(self) -> dict[Any, Any]:
        """Numbers from outside that calls find changed."""
        return varying(self.captured.guards, self.captured.lifts, self.captured.held)

    def found(self) -> Iterator[tuple[Any, Type]]:
        """The types of tensors and numbers from outside, by the keys of their places."""
        yield from ((read.key, read.type) for read in self.captured.reads)
        for guard in self.captured.guards:
            if isinstance(guard.kept, Tensor):
                yield guard.key, launch.type_of(guard.kept.array)

    def other_answer(self, leaves: Sequence[Any]) -> int | None:
        """Which question of tensors a call would answer otherwise; only what is computed before is run."""
        program, asked = self.graph.program, len(self.captured.assumed)
        ends = [n for n, node in enumerate(program.nodes, 1) if any(_ends_otherwise(r) for r in node.regions().values())]
        if not asked or not ends:
            return None
        try:
            before = Program(program.name, program.inputs, program.nodes[: ends[-1]], ())
            interpreter.run(before, self.arrays(leaves))
        except OtherAnswer as other:
            return other.place
        return None

    def assumes(self, answers: Mapping[QuestionKey, bool]) -> bool:
        """Whether it stands for these answers, as far as its runs ask for them."""
        return all(answers.get(one.known_by, one.answer) is one.answer for one in self.captured.assumed)

    def arrays(self, leaves: Sequence[Any]) -> list[np.ndarray]:
        """What the Program is run on."""
        with random_state.held() as state:
            return [t.array for t in self._inputs(leaves, self._found(), state)]

    def plans(self, leaves: Sequence[Any]) -> list[Plan]:
        """What a call runs, first the plan of its forward half."""
        with random_state.held() as state:
            return self.graph.plans(self._inputs(leaves, self._found(), state))

    def _found(self) -> list[Any]:
        """What calls change, as it is now."""
        return [read.read() for read in self.captured.reads]

    def _inputs(self, leaves: Sequence[Any], found: Sequence[Any], state: Sequence[int]) -> list[Tensor]:
        given = [_tensor(leaves[n]) for n in self.captured.arguments] + self.captured.lifted
        given += [*map(_tensor, found), *(one.read(leaves) for one in self.captured.told)]
        return [*given, *(_tensor(n) for n in state if self.captured.draws)]

    def is_left(self, leaves: Sequence[Any]) -> bool:
        """Whether eager code makes a call: it is the faster one, or alone has the gradient, or what a lock guards, in time."""
        if self.takes_lock and not stays():
            return True

        def inputs() -> list[Tensor]:
            with random_state.held() as state:
                return self._inputs(leaves, self._found(), state)

        with self._mode():
            return self.graph.is_left(inputs, bool(self.in_place))

    def _mode(self) -> contextlib.AbstractContextManager[Any]:
        """What it runs in: what is captured without a tape says itself what is on one."""
        return Switch(True) if self.captured.taped is False else contextlib.nullcontext()

    def in_turn(self, leaves: Sequence[Any], values: tuple[Any, ...]) -> Any:
        """A call, which for other threads is one step where it reads what it changes."""
        if self.turn is None:
            return self(leaves, values)
        with acting(self.turn) if self.graph.acts else had(self.turn):
            if (self.matches is None or self.matches(values) is None) and self.changed(leaves):
                raise Outdated
            return self(leaves, values)

    def __call__(self, leaves: Sequence[Any], arguments: Any) -> Any:
        with self._mode():
            if not self.captured.draws:
                return self._run(leaves, arguments, ())
            with random_state.held() as state:
                return self._run(leaves, arguments, state)

    def _run(self, leaves: Sequence[Any], arguments: Any, state: Sequence[int]) -> Any:
        found, objects = self._found(), list[Any]()
        there = self.captured.containers(arguments) if self.captured.has_containers else []

        def leaf(kind: str, at: Any) -> Any:
            if kind == "output":
                return outputs[at].item() if self.graph.program.outputs[at].type.python else outputs[at]
            if kind == "row":
                return [t.item() for t in outputs[at]] if self.graph.program.outputs[at].type.python else outputs[at]
            if kind == "object":
                return objects[int(outputs[at].item())]
            if kind == "copy":
                return Tensor(at.array.copy())
            if kind == "argument":
                return leaves[at]
            if kind == "told":
                given = inputs[len(self.captured.arguments) + len(self.captured.lifted) + len(found) + at]
                return given.item() if self.captured.told[at].symbol.value.type.python else given
            return found[at] if kind == "read" else there[at] if kind == "container" else at

        inputs = self._inputs(leaves, found, state)
        if self.in_place:
            self._check_memory(leaf, inputs)
            with _left_to_eager_code():  # which comes to that behind what it does before
                self._check_places(leaf, [])
        # `leaf` does not know the run: no cycle keeps what a call has made
        run = host.Run(objects, leaf=leaf, repeatable=self.can_be_repeated)
        if not self.changes_places:
            outputs = self._outputs(inputs, run)
            return build(self.captured.result, leaf)
        try:
            outputs = self._outputs(inputs, run)
            self._check_places(leaf, outputs)
        except (PythonIntOverflow, TooDeep, MismatchError):
            raise  # eager code has no such error
        except host.Untold:
            raise Unfinished from None
        except D2SError as error:
            raise (error if run.left else Unfinished(error)) from error.__cause__
        result, values = build(self.captured.whole, leaf)
        for (target, by), value in zip(self.stores, values, strict=True):
            if by is None or outputs[by].item():
                write(target, value, run)
        return result

    def _outputs(self, inputs: Sequence[Tensor], run: host.Run) -> list[Tensor]:
        if not self.graph.acts:
            return self.graph(inputs)
        with host.running(run):
            return self.graph(inputs)

    @once
    def changes_places(self) -> bool:
        """Whether a run may change what was there before it, be it on paths only that end in an exception."""
        return bool(self.captured.stores) or any(node.attrs.get("stores") for node in self.graph.program.every_node())

    @once
    def can_be_repeated(self) -> bool:
        """Whether a run that ended early has acted on nothing."""
        return not any(node.op in ("host", "update") and not only_raises(node) for node in self.graph.program.every_node())

    def _check_places(self, leaf: Callable[[str, Any], Any], outputs: Sequence[Tensor]) -> None:
        """A leaf that wants a gradient cannot be changed in place: asked before a run; of what its path changes behind it."""
        for owner, history, by in self.in_place:
            if history and recording() and (by is None if not outputs else by is not None and outputs[by].item()):
                leaf(*owner)._check_place()

    def _check_memory(self, leaf: Callable[[str, Any], Any], inputs: Sequence[Tensor]) -> None:
        """Before a run that changes tensors in place: none has memory of another input, which would have to change with it."""
        there = collections.Counter(t.array.ctypes.data for t in inputs if t.array.size)
        for owner, *_ in self.in_place:
            if there[leaf(*owner).array.ctypes.data] > 1:
                message = f"'{self.graph.program.name}' changes a tensor in place whose memory another tensor has that it reads"
                raise CaptureError("D2S1003", message, hint="give it copies: x.clone()")


@contextlib.contextmanager
def _left_to_eager_code() -> Iterator[None]:
    """Has eager code make a call that has acted on nothing yet, where it cannot come to its end."""
    try:
        yield
    except GradientError:
        raise Unfinished from None


def _ends_otherwise(region: Program) -> bool:
    return any(n.op == "fail" and isinstance(getattr(n.attrs["error"], "error", None), OtherAnswer) for n in region.nodes)


def _named(captured: Captured) -> set[int]:
    """The outputs that come to somebody as tensors; what is written into the memory of one is none."""
    assert isinstance(captured.stored, Made)
    parts = [part for store, part in zip(captured.stores, captured.stored.parts, strict=True) if store[0] not in _WRITTEN]
    return {at for recipe in (captured.result, *parts) for kind, at in leaves_of(recipe) if kind in ("output", "row")}


def _in_place(captured: Captured) -> dict[int, int]:
    """The inputs that a call changes in place, each with the output that it writes there."""
    assert isinstance(captured.stored, Made)
    inputs = [("argument", n) for n in captured.arguments] + [("outside", id(t)) for t in captured.lifted]
    inputs += [("read", n) for n, _ in enumerate(captured.reads)]
    found = {}
    for (kind, *details), part in zip(captured.stores, captured.stored.parts, strict=True):
        at, held = details[0] if kind == "tensor" else ("", None)
        place = at, id(held) if at == "outside" else held
        if place in inputs and isinstance(part, tuple) and part[0] == "output":
            found[inputs.index(place)] = part[1]
    return found


def _tensor(leaf: Any) -> Tensor:
    return leaf if isinstance(leaf, Tensor) else Tensor(np.array(leaf))
