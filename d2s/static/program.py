"""`Program`: what is declared, and how its parameters begin; which one is being declared now; and the two modes.

In: `enable_static()`, `program_guard(main, startup)`, `data(...)`. Out: a program that an Executor runs.

>>> main, startup = Program(), Program()
>>> enable_static()
>>> with program_guard(main, startup):
...     x = data("x", [None, 2])
...     y = x * 2.0
>>> disable_static()
>>> y.shape, [op.type for op in main.global_block().ops]
([-1, 2], ['constant', 'multiply'])
"""

import contextlib
import copy
import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from d2s import types
from d2s.arguments import expect, one_of
from d2s.convert.calls import RECORDED
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.ir.program import Program as Graph
from d2s.ir.program import Value
from d2s.ir.text import show
from d2s.nn.initializer import Initializer
from d2s.nn.parameter import Parameter
from d2s.ops.dispatch import handlers
from d2s.static.blocks import Block, named_extents
from d2s.static.input_spec import InputSpec
from d2s.static.recording import Recording
from d2s.static.scope import Scope, global_scope
from d2s.static.variable import Fed, Held, Variable
from d2s.types import Type


class Program:
    """A program that is declared op by op. As a startup program it holds how parameters begin."""

    def __init__(self) -> None:
        self.random_seed = 0
        self.starts: list[tuple[Tensor, Initializer]] = []
        self.compiled: dict[Any, Any] = {}  # by what a run is given and asked for
        self.notes: dict[str, Any] = {}  # by key: what was declared once, such as a counter
        self.recording = self._recording()
        self.origin: Program | None = None  # what this is a clone of

    def _recording(self) -> Recording:
        found = Recording("main")
        found.postponed, found.program = _Starts(), self
        return found

    @property
    def version(self) -> tuple[int, ...]:
        """What changes when more is declared."""
        held = self.recording
        return len(held.builder.nodes), len(held.assigned), len(held.steps), len(held.stopped), len(held.builder.inputs)

    def global_block(self) -> Block:
        return Block(self)

    current_block = global_block

    def block(self, index: int) -> Block:
        """The one block there is: branches and loops are attributes of their operators."""
        expect("block", "index", index, int, "an int")
        if index != 0:
            raise ArgumentError("D2S0004", f"block(): there is no block {brief(index)}", hint="0")
        return Block(self)

    @property
    def blocks(self) -> list[Block]:
        return [Block(self)]

    num_blocks = 1

    def has(self, name: str) -> bool:
        expect("has_var", "name", name, str, "a str")
        return self._variable(name) is not None or any(t.name == name for t in self._held())

    def _variable(self, name: str) -> Variable | None:
        """The variable of that name; of a clone also one its origin named since."""
        own = self.recording.names.get(name)
        if own is not None or self.origin is None:
            return own
        later = self.origin._variable(name)
        return later if later is not None and self._computes(later.value) else None

    def _computes(self, value: Value) -> bool:
        return any(value in node.outputs for node in self.recording.builder.nodes)

    def named(self, name: str) -> Any:
        """The variable, or the tensor the program reads, of that name."""
        expect("var", "name", name, str, "a str")
        for tensor in self._held():
            if tensor.name == name:
                return tensor
        found = self._variable(name)
        of = self._variable(name.removesuffix("@GRAD")) if name.endswith("@GRAD") else None
        if found is None and of is not None:
            found = self.recording.gradient_in(of)
        if found is None:
            known = ", ".join(sorted(self.recording.names)[:20])
            raise ArgumentError("D2S0004", f"no variable of the program is named {brief(name)}", hint=f"one of {known}")
        return found

    def _held(self) -> list[Tensor]:
        held = [t for t, _ in self.recording.lifted.values()]
        return held + [t for t, _ in self.starts if not any(t is known for known in held)]

    def list_vars(self) -> Iterator[Any]:
        """The tensors the program reads, what it is fed, and what it computes."""
        yield from self._held()
        names = self.recording.names
        known = {variable.value for variable in names.values()}
        for value in [v for node in self.recording.builder.nodes for v in node.outputs if v not in known]:
            self.recording.name_of(Variable(self.recording, value))
        yield from [v for v in names.values() if not v.persistable]

    def all_parameters(self) -> list[Tensor]:
        """The tensors the program reads that are learnt."""
        return [t for t in self._held() if isinstance(t, Parameter)]

    def clone(self, for_test: bool = False) -> "Program":
        """A program of the same nodes; `for_test`, without gradients, updates and what only training does."""
        found, held = Program(), self.recording
        found.random_seed, found.starts, found.origin = self.random_seed, list(self.starts), self
        nodes = [n for n in held.builder.nodes if not for_test or n.op != "backward"]
        found.recording.builder.nodes, found.recording.builder.inputs = nodes, list(held.builder.inputs)
        for name in ("roles", "lifted", "stopped", "names", "assigned", "calls", "seed", "counter"):
            value = getattr(held, name)
            setattr(found.recording, name, value if isinstance(value, Variable) else copy.copy(value))
        found.recording.ledger = held.ledger
        found.recording.tested = held.tested or for_test
        found.recording.steps = [] if for_test else list(held.steps)
        found.recording.followers = [] if for_test else list(held.followers)
        return found

    def state_dict(self, mode: str = "all", scope: Scope | None = None) -> dict[str, Tensor]:
        """The values of parameters, and of the optimizers' state, by name."""
        found: dict[str, Tensor] = {}
        one_of("state_dict", "mode", mode, ("all", "param", "opt"))
        held = global_scope() if scope is None else scope
        expect("state_dict", "scope", held, Scope, "a Scope")
        if mode in ("all", "param"):
            found |= {t.name: held.now(t) for t in self.persistables()}
        if mode in ("all", "opt"):
            for step in self.recording.steps:
                found |= held.optimizer(step.optimizer).state_dict()
        return found

    def set_state_dict(self, state_dict: dict[str, Any], scope: Scope | None = None) -> None:
        """Gives parameters, and the optimizers, values by name; warns of names that neither has."""
        expect("set_state_dict", "state_dict", state_dict, dict, "a dict")
        held = global_scope() if scope is None else scope
        expect("set_state_dict", "scope", held, Scope, "a Scope")
        for tensor in self.persistables():
            if tensor.name in state_dict:
                held.place(tensor).set_value(state_dict[tensor.name])
        known = {tensor.name for tensor in self.persistables()}
        for step in self.recording.steps:
            optimizer = held.optimizer(step.optimizer)
            optimizer.set_state_dict(state_dict)
            known |= optimizer.state_dict().keys()
        unknown = [name for name in state_dict if name not in known]
        if unknown:
            listed = ", ".join(brief(name) for name in unknown[:10])
            warnings.warn(f"set_state_dict(): nothing in the program is named {listed}", stacklevel=2)

    def persistables(self) -> list[Tensor]:
        """The tensors the program reads that have names of their own."""
        return [t for t in self._held() if t.name]

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        return show(self.graph())

    __str__ = __repr__ = to_string

    def graph(self) -> Graph:
        """All that is declared, with no outputs: to be shown."""
        builder = self.recording.builder
        return Graph(builder.name, tuple(builder.inputs), tuple(builder.nodes), ())

    def feeds(self) -> list[str]:
        """What each run is given."""
        return [role.name for role in self.recording.roles.values() if isinstance(role, Fed)]


class _Starts:
    """Where a recorder notes how parameters begin: the startup program of the moment."""

    def append(self, start: tuple[Tensor, Initializer]) -> None:
        """What begins under a name that has begun is that, as in Paddle: the first initializer is the one."""
        starts, tensor = default_startup_program().starts, start[0]
        if not any(t.name == tensor.name and t.shape == tensor.shape for t, _ in starts):
            starts.append(start)


_current = [Program(), Program()]


def default_main_program() -> Program:
    """The program that is being declared.

    >>> d2s.static.default_main_program().random_seed
    0
    """
    return _current[0]


def default_startup_program() -> Program:
    """The program that gives the parameters of the one being declared their first values."""
    return _current[1]


@contextlib.contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Declares other programs inside a `with` block."""
    expect("program_guard", "main_program", main_program, Program, "a Program")
    expect("program_guard", "startup_program", startup_program, Program | None, "a Program")
    before = list(_current)
    _declare([main_program, startup_program or before[1]])
    try:
        yield
    finally:
        _declare(before)


def _declare(programs: Sequence[Program]) -> None:
    _current[:] = programs
    if not in_dynamic_mode():
        handlers.stack[0] = _current[0].recording


def enable_static() -> None:
    """From now on, code declares programs.

    >>> d2s.enable_static()
    >>> d2s.in_dynamic_mode()
    False
    >>> d2s.disable_static()
    """
    if in_dynamic_mode():
        handlers.stack.insert(0, _current[0].recording)


def disable_static(place: Any = None) -> None:
    """From now on, code computes at once."""
    if not in_dynamic_mode():
        del handlers.stack[0]


def in_dynamic_mode() -> bool:
    """Whether code computes at once, and declares no program."""
    return not (handlers.stack and isinstance(handlers.stack[0], Recording))


RECORDED[in_dynamic_mode] = lambda tracer: True  # a captured function is the one that computes at once


@contextlib.contextmanager
def eagerly() -> Iterator[None]:
    """Computes at once inside a `with` block, whatever the mode."""
    before, handlers.stack = handlers.stack, []
    try:
        yield
    finally:
        handlers.stack = before


def current_recording() -> Recording | None:
    """The recorder of what is being declared, if that is going on."""
    found = handlers.stack[-1] if handlers.stack else None
    return found if isinstance(found, Recording) else None


def declaring(function: str) -> Recording:
    """The recorder of what is being declared; refused in the other mode."""
    found = current_recording()
    if found is None:
        raise DTypeError("D2S0001", f"{function}() declares a part of a program", hint="call d2s.enable_static() first")
    return found


def data(name: str, shape: Any, dtype: Any = None, lod_level: int = 0) -> Variable:
    """A variable that every run is given a value for; None or -1 in its shape is any extent."""
    recording = declaring("data").root
    expect("data", "name", name, str, "a str")
    spec = InputSpec(shape, "float32" if dtype is None else dtype)
    known = recording.names.get(name)
    of = Type(types.dtype(spec.dtype), named_extents(spec.shape))
    if known is not None and isinstance(recording.roles.get(known.value), Fed):
        if str(known.value.type) != str(of):
            raise ArgumentError("D2S0004", f"data(): '{name}' was declared as another kind of tensor before")
        return known
    return recording.feed(name, of)


_scopes: list[str] = []


@contextlib.contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Groups what is declared in a `with` block under a name, for who shows programs; names of variables stay as they are."""
    expect("name_scope", "prefix", prefix, str | None, "a str")
    _scopes.append(prefix or "")
    try:
        yield
    finally:
        _scopes.pop()


def held_tensors(program: Program) -> Iterator[Tensor]:
    """The tensors runs read."""
    return itertools.chain(role.tensor for role in program.recording.roles.values() if isinstance(role, Held))
