"""What stands for a tensor, or a Python number of run time, while a function is captured; and the recorder behind it.

In: types of arguments, eager tensors met on the way. Out: nodes that carry the user's line. Python that wants to know a
value only a run can tell is refused at that line.

>>> tracer = Tracer("f")
>>> x = tracer.input(Type(types.float32, (2,)), "x")
>>> from d2s.ops.dispatch import handling
>>> with handling(tracer):
...     bool(x.sum() > 0)
Traceback (most recent call last):
d2s.errors.CaptureError: [D2S1001] bool() of a tensor: Python needs to know a value that only a run will tell
  way out: go on with the tensor itself: an `if`, `while` or `for` on it becomes part of the graph; or do this before the call
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from d2s import later, types
from d2s.capture import in_place
from d2s.capture.extents import NamesExtents, Sized
from d2s.capture.facts import Coming, Fact, Facts
from d2s.capture.fork import Attempt
from d2s.capture.guards import Guard
from d2s.capture.heap import Heap, Memory, Place
from d2s.capture.outside import Read, ReadsOutside
from d2s.capture.users_code import refuse, user_line
from d2s.eager.in_place import refuse_leaf
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError, DTypeError
from d2s.ir.program import Program, Value
from d2s.ops import OPS, Op
from d2s.ops.dispatch import current
from d2s.ops.item import get_item
from d2s.ops.recording import Recorder, Symbolic
from d2s.runtime import launch
from d2s.types import Type

Overwritten = dict[Value, tuple[Value, str]]  # by what, and at which of the user's lines
OF_RUN = " that only a run computes"  # with this a message tells a number from one that Python knows
WAY_OUT = "compute the number before the call, and pass it; or say this in ops that take tensors, as d2s.where does"
ROWS = 1024  # that Python may take apart one by one: each is a node of its own
_HINT = "go on with the tensor itself: an `if`, `while` or `for` on it becomes part of the graph; or do this before the call"


def _unknown(asked: str) -> Callable[..., NoReturn]:
    def method(self: "SymbolicTensor", *_: Any, **__: Any) -> NoReturn:
        what = "a Python number of run time" if self.value.type.python else "a tensor"
        refuse("D2S1001", f"{asked} of {what}: Python needs to know a value that only a run will tell", _HINT)

    return method


class SymbolicTensor(in_place.ChangesInPlace, Sized):
    """A tensor, or a Python number, of the function being captured."""

    __slots__ = ()

    __bool__, __int__, __float__ = map(_unknown, ("bool()", "int()", "float()"))
    __array__ = _unknown("a NumPy array")
    numpy, item, tolist, backward = map(_unknown, ("numpy()", "item()", "tolist()", "backward()"))
    __getitem__, __setitem__ = map(_unknown, ("indexing", "assignment"))

    __lshift__, __rlshift__, __rshift__, __rrshift__ = map(_unknown, ("<<", "<<", ">>", ">>"))

    @property
    def size(self) -> Any:
        return math.prod(self.shape)

    def __len__(self) -> int:
        if not self.ndim:
            raise DTypeError("D2S0001", "len() of a 0-D tensor")
        rows = self.value.type.shape[0]
        if isinstance(rows, str):
            message = f"the rows of a tensor of shape {list(self.value.type.shape)}: only a run will tell how many they are"
            refuse("D2S1001", message, "use sizes that do not change")
        return rows

    def __index__(self) -> NoReturn:
        if not self.value.type.python and self.dtype.kind != "i":
            raise DTypeError("D2S0003", f"a {self.dtype.name} tensor is not an index")
        _unknown("an index")(self)

    def __iter__(self) -> Iterator[Any]:
        """The rows, where it is known how many: what Python takes apart, it takes one by one."""
        if self.value.type.python:
            raise TypeError(f"'{ {'b': 'bool', 'i': 'int', 'f': 'float'}[self.dtype.kind] }' object is not iterable")
        if not self.ndim:
            raise DTypeError("D2S0001", "iteration over a 0-D tensor")
        rows = len(self)
        if rows > ROWS:
            refuse("D2S1003", f"{rows} rows of a tensor one by one, outside of a `for` statement", "loop with `for row in x`")
        return iter([get_item(self, k) for k in range(rows)])

    def __hash__(self) -> int:
        """Tensors are found by which one they are; a number by its value, as it may be equal to another."""
        if self.value.type.python:
            hint = "keep pairs in a list, or ask for each key in an `if`"
            refuse("D2S1001", "a key or an item of a set that only a run will tell", hint)
        return object.__hash__(self)

    def detach(self) -> "SymbolicTensor":
        """The same values, without history; eagerly in the same memory."""
        found: SymbolicTensor = OPS["detached"](self)
        root = found.recorder.root  # type: ignore[attr-defined]
        root.sharing |= dict.fromkeys([self.value, found.value], user_line())
        root.detached[found.value] = root.detached.get(self.value, self.value)
        return found

    @property
    def data(self) -> "SymbolicTensor":
        """The same memory without history."""
        return self.detach()

    def __getattr__(self, name: str) -> Any:
        method = None if self.value.type.python else in_place.method(self, name)
        if method is not None:
            return method
        function = vars(Tensor).get(name)
        if isinstance(function, later.Method):
            return function.__get__(self, type(self))
        if hasattr(Tensor, name):
            refuse("D2S1003", f"'{name}' of a tensor is not part of graphs yet", "ask for it outside of the captured function")
        raise AttributeError(f"'Tensor' object has no attribute '{name}'")

    def stands_for(self) -> str:
        """In messages, where a tensor would be."""
        of = self.value.type
        return self.stands_for_number() or f"Tensor(shape={list(of.shape)}, dtype={of.dtype.name})"

    def stands_for_number(self) -> str:
        """In messages, where a Python number would be; empty where it is none."""
        of = self.value.type
        number = {"b": "a bool", "i": "an int", "f": "a float"}.get(of.dtype.kind)
        return f"{number}{OF_RUN}" if of.python else ""

    __str__ = __repr__ = __format__ = _unknown("the text")
    stop_gradient = property(_unknown("stop_gradient"))
    grad = property(_unknown("the gradient"))


SymbolicTensor.__name__ = SymbolicTensor.__qualname__ = Tensor.__name__  # Python's own errors call it what it is to the user


class Tracer(NamesExtents, ReadsOutside, Recorder):
    """The recorder of a capture. Eager tensors it meets become inputs; their identity is what later calls read again."""

    symbol = SymbolicTensor
    letter = "m"

    def __init__(self, name: str, parent: "Tracer | None" = None) -> None:
        super().__init__(name, parent)
        self.root: Tracer = parent.root if parent else self
        self.lifted: dict[int, tuple[Tensor, SymbolicTensor]] = {}
        self.called: dict[int, str] = {}  # the name a tensor was read by
        self.made: dict[int, Tensor] = {}  # tensors the capture made of constant data
        self.joined: set[Any] = set()  # values that are one of several, by the path taken
        self.iterators: dict[int, tuple[Any, Tracer | None]] = {}  # those the capture made, and on which path; None: on no more
        self.reached: set[int] = set()  # tensors met otherwise than as the symbols of arguments
        self.guards: dict[Any, Guard] = {}
        self.heap = Heap()
        self.families: dict[int, Any] = {}  # of arrays that steps will make which are not recorded yet
        self.leaves: list[Any] = []  # of the arguments
        self.containers: dict[int, int] = {}  # the number of a list or dict of the arguments, by the id of what stands for it
        self.arguments: dict[Value, int] = {}  # inputs that are leaves of the arguments
        self.stream_state: list[Any] = []  # the inputs that are seed and counter of the random numbers
        self.was: dict[Any, Sequence[Type]] = {}  # types that captures before found where calls read, by the key of the place
        self.opened_reads: dict[Any, str] = {}  # names of extents that were others there
        self.inputs: dict[Any, Read] = {}  # what is read anew at each call because a call changes it
        self.held: dict[Any, Any] = {}  # structures that are read anew, with what stands for them
        self.numbered = 0  # containers so far, of the arguments and of these
        self.compared = False  # whether it was asked if what is read anew is one with another tensor
        self.found: dict[Value, Any] = {}  # what was there at the capture, by the inputs that stand for it
        self.lifts: dict[Any, Any] = {}  # what is to be read so
        self.tails: dict[int, tuple[Any, Any]] = {}  # containers from outside, by id, that paths only add to; and what they add
        self.told: dict[Any, Any] = {}  # inputs that each call makes anew, unasked
        self.handed: dict[int, Any] = {}  # by id, arrays of NumPy's that steps are given: they may change them
        self.acted: dict[int, Any] = {}  # by id, objects whose methods a call runs behind all else: what is read of them there
        self.taping = True  # whether results have gradients
        self.lasting: list[tuple[Any, str]] = []  # switches of that which a `with` statement has to enter, and where
        self.asks_tape = False  # whether that is switched on somewhere, whatever the caller has
        self.products: dict[Any, str] = {}  # names of extents that are products of others
        self.training: Any = None  # gradients taken inside of the function
        self.overwritten: Overwritten = {}  # on all paths
        self.changes: dict[Value, tuple[Value, str]] = {}  # in place: by which value, of which, at which of the user's lines
        self.renewed: set[Value] = set()  # values that a tensor got without its place on the tape
        self.extents: dict[Value, str] = {}  # numbers of run time that are extents
        self.aliased: dict[Value, str] = {}  # tensors that may be another one by the path, and where
        self.sharing: dict[Value, str] = {}  # tensors whose memory another tensor has, too, and since where
        self.detached: dict[Value, Value] = {}  # of these what was detached, and of what
        self.outdated: list[tuple[Value, list[Value], str]] = []  # in place: by which value what was detached before, and where
        self.overlapping: dict[Value, str] = {}  # values that may lie in the memory of another, by the path
        self.defined: dict[int, Any] = {}  # classes that the function defines
        self.twins: dict[int, str] = {}  # containers that were one on some path, and where they became two
        self.parted: list[list[set[int]]] = []  # of one that became several, the ids in each of the values that hold it
        self.answers: Any = None  # of the capture, to questions that no graph holds; None where it answers none
        self.attempts: list[Attempt] = []  # runs of statements that may catch what is raised
        self.tried = 0  # such runs so far
        self.raising: set[Any] = set()  # loops whose trips raise what may be caught
        self.active: dict[Any, list[Any]] = {}  # the calls of the user's functions that go on
        self.bodies: list[Any] = []  # functions that call themselves, whose bodies are being captured
        self.given: set[int] = set()  # lists and dicts that were there before the capture
        self.facts: list[Fact] = []  # what is known in this region and was not outside of it
        self._known = Facts()
        self._numbers: dict[Any, int] = {}  # equal computations have one number
        self._opened: dict[int, tuple[Type, Type]] = {}  # types with open extents, and with names for these
        self._names: dict[int, str] = {}  # of extents, by the number of their value

    def number(self, value: Value) -> int:
        """A number that values have in common which are computed alike from the same."""
        numbers = self.root._numbers
        return numbers.setdefault(value, len(numbers))

    def add(self, op: str, inputs: Sequence[Value], types: Sequence[Type], attrs: dict[str, Any]) -> list[Any]:
        runs = [run for run in self.root.attempts if run.tracer is self and op != "constant"]
        again = [known for run in runs if (known := run.again(op, len(types)))]
        made: list[Any] = again[0][1] if again else self._added(op, inputs, types, attrs)
        for run in runs:
            run.recorded.append(again[0] if again else (op, made, self.builder.nodes[-1]))
        return made

    def replays(self, op: str) -> bool:
        """Whether this was recorded in a run before: what goes in need not be told again."""
        return any(run.tracer is self and run.before and run.before[0][0] == op for run in self.root.attempts)

    def _added(self, op: str, inputs: Sequence[Value], types: Sequence[Type], attrs: dict[str, Any]) -> list[Any]:
        if op not in ("fail", "host"):  # which know better where they belong
            self.where = user_line()
        made = super().add(op, inputs, types, attrs)
        if op not in ("cond", "while_loop", "call", "again", "hole", "fail", "host"):
            key = op, tuple(map(self.number, inputs)), repr(attrs)
            for n, symbol in enumerate(made):
                self.root._numbers[symbol.value] = self.root._numbers.setdefault((n, key), len(self.root._numbers))
        return made

    def number_joined(self, test: Value, results: Sequence[Any], paths: Sequence[Sequence[Any]]) -> None:
        """Results of a branch that are equal on each path have one number, as the tags of lists that grow side by side."""
        for result, *ends in zip(results, *paths, strict=True):
            key = "joined", self.number(test), *(self.number(end.value) for end in ends)
            self.root._numbers[result.value] = self.root._numbers.setdefault(key, len(self.root._numbers))

    def found_before(self, container: Any) -> bool:
        """Whether a container was made before this path began: others may know it, so it stays the one it is."""
        if isinstance(container, tuple) or self.parent is None or not self.root.heap.has(container):
            return False
        home, region = self.root.heap.home(container), self.parent  # type: Any, Recorder | None
        home = home.tracer if isinstance(home, Attempt) else home or self.root
        while region is not None and region is not home:
            region = region.parent
        return region is not None

    def catches(self) -> bool:
        """Whether something around may catch what is raised here."""
        return bool(self.root.attempts)

    def begun(self, iterator: Any) -> Any:
        """An iterator that was made on this path: only here it may go on."""
        self.root.iterators[id(iterator)] = iterator, self
        return iterator

    def left_by_run(self, iterable: Any) -> None:
        """A loop over it ends where a run says: an iterator may not go on behind that."""
        if hasattr(type(iterable), "__next__"):
            self.root.iterators[id(iterable)] = iterable, None

    def resolve(self, symbol: Symbolic) -> Value:
        symbol = self.now(symbol)
        if self.parent is None and symbol.recorder is not self and isinstance(symbol, SymbolicTensor):
            hint = "make a list of its values first"
            refuse("D2S1003", "a value of another path is used here: a generator went on in an `if` or loop on a tensor", hint)
        found = super().resolve(symbol)
        if found is not symbol.value:
            self.root._numbers[found] = self.number(symbol.value)
        return found

    def now(self, symbol: Any) -> Any:
        """The symbol of what a tensor holds on this path, where it was changed in place."""
        place = self.root.heap.places.get(symbol.value)
        return symbol if place is None else place.now

    def become(self, symbol: SymbolicTensor, result: SymbolicTensor, history: bool) -> None:
        """The tensor a symbol stands for now holds what `result` is."""
        beside = [detached for detached, of in self.root.detached.items() if of is symbol.value]
        if beside and symbol.value not in self.root.detached and self.parent is None and not self.root.attempts:
            self.root.outdated.append((result.value, beside, self.line()))
        else:
            self._refuse_one_with_another(self.root.sharing.get(symbol.value))
        self.begin_anew(symbol, result, history)
        if not (history and self.root.taping):
            self.root.renewed.add(result.value)

    def begin_anew(self, symbol: SymbolicTensor, result: SymbolicTensor, history: bool) -> None:
        """The same where only the tensor is another from now on, not its memory."""
        self._refuse_one_with_another(self.root.aliased.get(symbol.value))
        training = self.root.training
        if history and self.root.taping and training is not None and training.is_opened(self.now(symbol).value):
            refuse_leaf()
        home = None if symbol.recorder is self.root else symbol.recorder
        place = self.root.heap.place(symbol.value, lambda: Memory(self.now(symbol), home))
        place.history |= history and self.root.taping
        self.root.heap.set(place, SymbolicTensor(result.recorder, result.value))

    def refuse_outdated(self, program: Program) -> None:
        """What was detached from a tensor that was changed then is not read any more: eagerly it has changed, too."""
        for by, detached, where in self.outdated:
            outdated, behind = set(detached), False
            for node in program.nodes:
                if behind and not outdated.isdisjoint(node.inputs):
                    self._refuse_outdated(where)
                if node.regions() and not outdated.isdisjoint(node.inputs):
                    outdated.update(node.outputs)  # which may be it, by the path
                behind |= by in node.outputs
            if not outdated.isdisjoint(program.outputs):
                self._refuse_outdated(where)

    def _refuse_outdated(self, where: str) -> NoReturn:
        message = "what was detached from a tensor is read behind a change of that: they have one memory"
        raise CaptureError("D2S1003", message, where=where, hint="read a copy: x.detach().clone(), made before the change")

    def _refuse_one_with_another(self, where: str | None) -> None:
        if where is not None:
            message = f"a tensor is changed in place that may be one with another{where and ', since '}{where}"
            refuse("D2S1003", message, "change a copy of it: x = x.clone()")

    def overwrite(self, symbol: SymbolicTensor, result: SymbolicTensor) -> None:
        """Notes that what a tensor holds is written over: eager code refuses gradients that need it."""
        before = self.now(symbol).value if result.recorder is not self else self.resolve(symbol)
        if self.parent is None:
            self.overwritten[before] = result.value, self.line()
        self.root.changes[result.value] = before, self.line()
        for lain in self.root.training.lain(before) if self.root.training else ():
            self.overwritten.setdefault(lain, (result.value, self.line()))
            self.root.changes[Value(lain.type)] = lain, self.line()

    def stream(self, blocks: Any) -> tuple[Any, Any]:
        """Seed and counter of a draw, which moves the counter on."""
        seed, counter = self.stream_places()
        at = counter.held()
        self.root.heap.set(counter, OPS["add"](at, blocks))
        return seed.held(), at

    def stream_places(self) -> tuple[Place, Place]:
        """Where seed and counter of the random numbers are."""
        root, whole = self.root, Type(types.int64)
        if not root.stream_state:
            root.stream_state += [root.input(whole, "seed"), root.input(whole, "counter")]
        seed, counter = root.stream_state
        return (
            root.heap.place("seed", lambda: Place(seed, None, ("seed", None))),
            root.heap.place("stream", lambda: Place(counter, None, ("stream", None))),
        )

    def imply(self, test: Value, when: bool, tag: Value, among: frozenset[int]) -> None:
        """Notes that where a condition is `when`, a value that is one of several is one of these."""
        self.root._known.imply(self.number(test), when, [Fact(self.number(tag), among)])

    def imply_all(self, test: Value, when: bool, other: Value, then: bool) -> None:
        """Notes that where a condition is `when`, another one is `then`."""
        self.root._known.imply(self.number(test), when, self.consequences(other, then))

    def consequences(self, test: Value, truth: bool) -> list[Fact]:
        return self.root._known.consequences(self.number(test), truth)

    def come(self, test: Value, when: bool, tag: Value, inner: Value | None, places: list[frozenset[int]]) -> None:
        """Notes how a tag comes by the path on which a condition is `when`."""
        coming = Coming(self.consequences(test, when), None if inner is None else self.number(inner), places)
        self.root._known.come(self.number(tag), when, coming)

    def known(self, tag: Value, among: frozenset[int]) -> frozenset[int]:
        """Those of `among` that a tag can be on this path."""
        return self.root._known.possible(self.number(tag), among, self._here())

    def _here(self) -> Iterator[Fact]:
        """What is known on this path."""
        region: Tracer | None = self
        while region is not None:
            if not any(run.is_before(region) for run in self.root.attempts):
                yield from region.facts
            region = region.parent  # type: ignore[assignment]

    def type_of(self, value: Any) -> Type | None:
        return launch.type_of(value.array) if isinstance(value, Tensor) else super().type_of(value)

    def lift(self, tensor: Tensor) -> SymbolicTensor:
        """The input that stands for an eager tensor."""
        self.root.reached.add(id(tensor))
        if id(tensor) not in self.root.lifted:
            symbol = self.root.input(launch.type_of(tensor.array), self.root.called.get(id(tensor), "tensor"))
            self.root.lifted[id(tensor)] = tensor, symbol
        return self.root.lifted[id(tensor)][1]

    def run(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        held = (part for value in attrs.values() for part in (value if type(value) is tuple else (value,)))
        if any(isinstance(part, SymbolicTensor) for part in held):
            refuse("D2S1001", f"{op.name}() with a number that only a run will tell, in the place of a fixed one", _HINT)
        found = super().run(op, tuple(self.lift(x) if isinstance(x, Tensor) else x for x in inputs), attrs)
        if self.root.taping:
            return found
        return tuple(map(self._detached, found)) if isinstance(found, tuple | list) else self._detached(found)

    def _detached(self, symbol: Any) -> Any:
        """What was computed where nothing is put on the tape."""
        return super().run(OPS["detached"], (symbol,), {}) if symbol.value.type.is_float else symbol

    def data(self, made: Tensor) -> Tensor:
        """A tensor of what every call has."""
        self.root.made[id(made)] = made
        return made

    def line(self) -> str:
        return user_line()

    def symbol_of(self, value: Any) -> SymbolicTensor | None:
        """A tensor or a number as a symbol; None for anything else."""
        if isinstance(value, SymbolicTensor):
            return value
        if isinstance(value, Tensor):
            return self.lift(value)
        if type(value) in (bool, int, float) and not (type(value) is int and not -(1 << 63) <= value < 1 << 63):
            symbol: SymbolicTensor = self.constant(value, Type(types.python_dtype(value), python=True))
            return symbol
        return None


def capturing() -> Tracer | None:
    """The tracer of the capture going on in this thread, if there is one."""
    handler = current()
    return handler if isinstance(handler, Tracer) else None
