"""The recorder of a declared program: it makes nodes of what is done to variables.

In: ops called on variables and on tensors, which are read anew in each run. Out: nodes of the IR, with the user's lines, and
two kinds of node that only a run resolves: `backward`, which asks for gradients, and `host`, which calls Python.

>>> recording = Recording("main")
>>> x = recording.feed("x", Type(types.float32, (2,)))
>>> with handling(recording):
...     y = d2s.tanh(x)
>>> y.shape, [node.op for node in recording.builder.nodes]
([2], ['tanh'])
"""

import math
import re
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import Any

from d2s import types, unique_name
from d2s.arguments import expect
from d2s.autodiff.mode import recording as grad_wanted
from d2s.capture.symbolic import SymbolicTensor
from d2s.capture.users_code import refuse, user_line
from d2s.eager.tensor import Tensor
from d2s.extents import Extent, Ledger
from d2s.ir.program import Node, Value
from d2s.nn.initializer import Initializer, Postpones
from d2s.ops import OPS
from d2s.ops.compare import cast
from d2s.ops.create import zeros_like
from d2s.ops.dispatch import handling
from d2s.ops.op import Op
from d2s.ops.recording import Recorder, Symbolic
from d2s.runtime import launch
from d2s.static.variable import Called, Drawn, Fed, Held, Step, Variable
from d2s.types import Type

awaiting: "weakref.WeakValueDictionary[int, Tensor]" = weakref.WeakValueDictionary()  # parameters that have no values yet


class Recording(Recorder, Postpones):
    """The recorder of a declared program. It stays open: more may be declared after a run."""

    symbol = Variable
    at_once = (
        "set_value",
        "set_state_dict",
        "seed",
        "get_rng_state",
        "set_rng_state",
    )  # what is done to a tensor itself, and not by a run

    def __init__(self, name: str, parent: "Recording | None" = None) -> None:
        super().__init__(name, parent)
        self.root: Recording = parent.root if parent else self
        self.roles: dict[Value, Fed | Held | Drawn] = {}
        self.lifted: dict[int, tuple[Tensor, Variable]] = {}
        self.stopped: set[Value] = set()
        self.assigned: list[tuple[Tensor, Value]] = []  # what a run writes into tensors
        self.found: dict[Value, str] = {}  # names of extents that runs find, by the numbers these are
        self.ledger = Ledger()  # of what code was told about open extents
        self.names: dict[str, Variable] = {}
        self.parameters: dict[str, Tensor] = {}  # and buffers, that begin when the program starts
        self.seed: Variable | None = None  # of the stream of random numbers
        self.counter: Variable | None = None  # where a run leaves it
        self.steps: list[Step] = []
        self.followers: list[Callable[[Any], None]] = []  # what is done behind each run, with its scope
        self.calls: list[Called] = []  # of Python, that gradients pass
        self.losses: list[tuple[Variable, list[Value]]] = []  # whose gradients are appended, and what these do not pass
        self.tested = False  # it is a clone for tests: what only training does is left out of runs
        self.postponed: Any = None  # the startup program's list of tensors and how they begin
        self.program: Any = None  # what is declared here

    def region(self, name: str) -> "Recording":
        return Recording(name, self)

    # --- inputs

    def feed(self, name: str, of: Type) -> Variable:
        """A variable that every run is given a value for. Extents that are names are open."""
        symbol: Variable = self._rooted(of, name, Fed(name))
        symbol.value.type = self.ledger.opened(of, symbol.value)
        self.stopped.add(symbol.value)
        self.names[name] = symbol
        return symbol

    def lift(self, tensor: Tensor) -> Variable:
        """The variable that stands for a tensor."""
        root = self.root
        if id(tensor) not in root.lifted:
            of, name = launch.type_of(tensor.array), tensor.name or "tensor"
            root.lifted[id(tensor)] = tensor, root._rooted(of, name, Held(tensor))
            root.names.setdefault(name, root.lifted[id(tensor)][1])
            if tensor.stop_gradient:
                root.stopped.add(root.lifted[id(tensor)][1].value)
        return root.lifted[id(tensor)][1]

    def _rooted(self, of: Type, name: str, role: Fed | Held | Drawn) -> Variable:
        symbol: Variable = self.root.input(of, re.sub(r"\W", "_", name, flags=re.ASCII))
        self.root.roles[symbol.value] = role
        return symbol

    def stream(self, blocks: Any) -> tuple[Variable, Variable]:
        """Seed and counter of a draw, which moves the counter on, also where a branch with a draw is not taken."""
        if any(region.builder.name in ("body", "test") for region in self._regions()):
            refuse("D2S1004", "a draw in a loop of a declared program", "draw outside of the loop")
        root = self.root
        seed, at = root.stream_state()
        with handling(root):
            root.counter = OPS["add"](at, root.ledger.of_feeds(blocks) if isinstance(blocks, Extent) else blocks)
        return seed, at

    def stream_state(self) -> tuple[Variable, Variable]:
        """Seed and counter as they are here."""
        if self.seed is None or self.counter is None:
            whole = Type(types.int64)
            self.seed, self.counter = self._rooted(whole, "seed", Drawn(0)), self._rooted(whole, "counter", Drawn(1))
        return self.seed, self.counter

    def _regions(self) -> "list[Recording]":
        return [self, *(self.parent._regions() if isinstance(self.parent, Recording) else [])]

    # --- what is recorded

    def type_of(self, value: Any) -> Type | None:
        if isinstance(value, Extent):
            return Type(types.int64, python=True)
        return launch.type_of(value.array) if isinstance(value, Tensor) else super().type_of(value)

    def resolve(self, symbol: Symbolic) -> Value:
        """Variables of a program may be used in its clones, which have the same values."""
        if isinstance(symbol, Variable) and self.parent is None and symbol.recorder.parent is None:
            if symbol.root is not self and symbol.value in symbol.root.roles and symbol.value not in self.roles:
                self._adopted(symbol)
            return symbol.value
        return super().resolve(symbol)

    def _adopted(self, symbol: Variable) -> None:
        """An input of another program becomes one of this one."""
        role = symbol.root.roles[symbol.value]
        if isinstance(role, Fed):
            refuse("D2S1003", f"'{role.name}' belongs to another program", "declare it under this program's program_guard()")
        self.roles[symbol.value] = role
        self.builder.inputs.append(symbol.value)

    def line(self) -> str:
        return user_line()

    def extent_called(self, number: Variable) -> str:
        """The name of an extent that a run finds, of the number it is."""
        name = self.root.found.setdefault(number.value, f"m{len(self.root.found)}")
        self.root.ledger.found.add(name)
        return name

    def call_extent(self, number: Variable, name: Any) -> None:
        """A number that is an extent of a value has no name besides: a run knows it."""

    def constant(self, number: bool | int | float, type: Type) -> Any:
        self.where = user_line()
        return super().constant(number, type)

    def run(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        self.where = user_line()
        if op.name == "extent":
            dim = inputs[0].value.type.shape[attrs["axis"]]
            return super().run(op, inputs, attrs) if isinstance(dim, Extent) and dim.is_found else dim
        return super().run(op, tuple(x if isinstance(x, Variable) else self.symbol_of(x) for x in inputs), attrs)

    def add(self, op: str, inputs: Sequence[Value], types: Sequence[Type], attrs: dict[str, Any]) -> list[Any]:
        made = super().add(op, inputs, types, attrs)
        for symbol in made:
            symbol.value.type = self.root.ledger.opened(symbol.value.type, symbol.value)
        if not grad_wanted():
            self.root.stopped.update(symbol.value for symbol in made)
        return made

    def symbol_of(self, value: Any) -> Variable:
        """A variable, a tensor or a number as a variable."""
        if isinstance(value, Variable):
            return value
        if isinstance(value, Tensor):
            return self.lift(value)
        if isinstance(value, Extent) and value.is_found:
            return self._counted(value)
        if isinstance(value, Extent):  # a run puts in what it comes to
            attrs = {"value": value, "dtype": types.int64, "python": True}
            return self.add("constant", [], [Type(types.int64, python=True)], attrs)[0]  # type: ignore[no-any-return]
        found: Variable = self.constant(value, Type(types.python_dtype(value)))
        return found

    def _counted(self, extent: Extent) -> Variable:
        """An extent that a run's values tell, as the number it is there."""
        products = list(extent.meant)
        if len(products) != 1 or len(products[0]) != 1 or extent.meant[products[0]] != 1:
            refuse("D2S1001", f"a number made of {extent}, which a run's values tell", "d2s.shape() of the tensor")
        ((value, axis),) = products[0]
        return self.run(OPS["extent"], (Variable(self.root, value),), {"axis": axis})  # type: ignore[no-any-return]

    # --- effects of a run

    def assign(self, tensor: Tensor, value: Any) -> None:
        """Each run writes a value into a tensor; what is declared from here on reads that."""
        if self.parent is not None:
            refuse("D2S1003", "a tensor is changed in a branch or loop of a declared program", "change it outside")
        with handling(self):
            value = cast(value, tensor.dtype) if value.dtype is not tensor.dtype else value
        if list(value.value.type.shape) != tensor.shape:
            refuse("D2S0002", f"'{tensor.name}' has shape {tensor.shape}, and is given {value.value.type}")
        self.lift(tensor)
        self.assigned = [(t, v) for t, v in self.assigned if t is not tensor] + [(tensor, self.resolve(value))]
        self.lifted[id(tensor)] = tensor, value

    def postpone(self, parameter: Tensor, initializer: Initializer) -> None:
        """The startup program gives a parameter its first values."""
        awaiting[id(parameter)] = parameter
        self.root.parameters[parameter.name] = parameter
        self.root.postponed.append((parameter, initializer))

    def named(self, name: str) -> Tensor | None:
        return self.root.parameters.get(name)

    # --- gradients

    def append_backward(self, loss: Variable, parameters: Any = None, no_grad_set: Any = None) -> list[tuple[Tensor, Variable]]:
        """Gradients of a loss in the parameters it depends on, or in those of them that are listed."""
        if math.prod(loss.value.type.shape) != 1:  # type: ignore[arg-type]
            refuse("D2S0004", f"append_backward(): 'loss' is {loss!r}, expected one number", "loss.mean()")
        left_out = _named("append_backward", "no_grad_set", no_grad_set) or set()
        listed = _named("append_backward", "parameter_list", parameters)
        learnt = [t for t, _ in self.lifted.values() if not t.stop_gradient and t.dtype.kind == "f"]
        chosen = [t for t in learnt if t.name not in left_out and (listed is None or t.name in listed)]
        self.losses.append((loss, self.left_out("append_backward", no_grad_set)))
        found = self.backward([loss], [self.first(t) for t in chosen], stops=self.losses[-1][1])
        return [(t, g) for t, g in zip(chosen, found, strict=True) if g is not None]

    def gradient_in(self, variable: Variable) -> Variable | None:
        """The gradient of what `append_backward` was called for, in a variable on the way."""
        for loss, stops in reversed(self.losses):
            (found,) = self.backward([loss], [variable], stops=stops)
            if found is not None:
                return found
        return None

    def left_out(self, function: str, no_grad_set: Any) -> list[Value]:
        """The values of tensors and variables that no gradient passes; some are listed by name."""
        names = _named(function, "no_grad_set", no_grad_set) or ()
        return [variable.value for name, variable in self.names.items() if name in names]

    def first(self, tensor: Tensor) -> Variable:
        """The variable of a tensor as a run finds it."""
        return next(Variable(self, v) for v, role in self.roles.items() if isinstance(role, Held) and role.tensor is tensor)

    def backward(
        self, targets: Sequence[Variable], wanted: Sequence[Variable], given: Sequence[Any] = (), stops: Collection[Value] = ()
    ) -> list[Variable | None]:
        """Gradients of the sum of some variables in others, that pass no value of `stops`; None where there is none."""
        sources = [(targets, given)]
        for call in reversed(self.calls):
            found = self._from(sources, call.outputs, stops)
            if any(g is not None for g in found):
                sources.append(self._through(call, found))
        totals = self._from(sources, wanted, stops)
        for w, total in zip(wanted, totals, strict=True):
            if total is not None:
                self.names.setdefault(f"{w.name}@GRAD", total)
        return totals

    def _through(self, call: Called, found: Sequence[Variable | None]) -> tuple[list[Variable], list[Variable]]:
        """The inputs of a call of Python that have gradients, and these: what another call makes of those of its results."""
        floats = [v for v in call.inputs if v.value.type.is_float]
        with handling(self):
            gradients = [zeros_like(v) if g is None else g for v, g in zip(call.outputs, found, strict=True)]
        told = [(*call.inputs, *call.outputs)[n] for n in call.told]
        return floats, self.host(call.backward, [*told, *gradients], [v.value.type for v in floats])

    def _from(
        self, sources: Sequence[tuple[Any, Any]], wanted: Sequence[Variable], stops: Collection[Value]
    ) -> list[Variable | None]:
        """The gradients in some variables, added up in the order of where they come from."""
        totals: list[Variable | None] = [None] * len(wanted)
        for targets, given in sources:
            for n, gradient in enumerate(self._directly(targets, wanted, given, stops)):
                before = totals[n]
                with handling(self):
                    totals[n] = gradient if before is None else before if gradient is None else before + gradient
        return totals

    def _directly(
        self, targets: Sequence[Variable], wanted: Sequence[Variable], given: Sequence[Any], stops: Collection[Value]
    ) -> list[Variable | None]:
        """Gradients that pass no call of Python."""
        for target in targets:
            if not target.value.type.is_float:
                refuse("D2S0006", f"the gradient of '{target.name}', which is {target.value.type}", "floats have gradients")
        called = {v.value for call in self.calls for v in call.outputs}
        stopped = (self.stopped - called.intersection(w.value for w in wanted)).union(stops)
        reached = _reached(self.builder.nodes, {t.value for t in targets}, stopped)
        found = [w for w in wanted if w.value in reached and w.value.type.is_float]
        if not found:
            return [None] * len(wanted)
        told = [self.resolve(v) for v in (*targets, *(g for g in given if g is not None))]
        inputs = [*told, *stops, *(self.resolve(v) for v in found)]
        attrs = {"targets": len(targets), "given": tuple(g is not None for g in given) or (False,) * len(targets)}
        attrs["stops"] = len(stops)
        self.where = user_line()
        made = dict(
            zip((w.value for w in found), self.add("backward", inputs, [w.value.type for w in found], attrs), strict=True)
        )
        return [made.get(w.value) for w in wanted]

    # --- calls of Python

    def host(self, function: Callable[..., Any], inputs: Sequence[Any], outputs: Sequence[Type]) -> list[Variable]:
        """Calls a function in each run; variables of these types are what it returns."""
        if self.parent is not None:
            refuse("D2S1003", "Python is called in a branch or loop of a declared program", "call it outside")
        self.where = user_line()
        values = [self.resolve(self.symbol_of(x)) for x in inputs]
        made: list[Variable] = self.add("host", values, outputs, {"function": function, "types": tuple(outputs)})
        self.stopped.update(v.value for v in made)
        return made

    # --- names

    def name_of(self, variable: Variable) -> str:
        for name, known in self.names.items():
            if known.value is variable.value:
                return name
        node = next((n for n in self.builder.nodes if variable.value in n.outputs), None)
        self.call(variable, unique_name.generate(node.op if node else "var") + ".tmp_0")
        return self.name_of(variable)

    def call(self, variable: Variable, name: str) -> None:
        """Gives a variable another name."""
        for old in [n for n, v in self.names.items() if v.value is variable.value]:
            del self.names[old]
        self.names[name] = variable


def _named(function: str, argument: str, given: Any) -> set[str] | None:
    """The names of tensors and variables that are listed, some by name."""
    expect(function, argument, given, list | tuple | set | frozenset | None, "a list")
    for one in given or ():
        expect(function, argument, one, str | Tensor | SymbolicTensor, "Tensors or their names")
    return None if given is None else {one if isinstance(one, str) else one.name for one in given}


def _reached(nodes: Sequence[Node], targets: set[Value], stopped: Collection[Value]) -> set[Value]:
    """The values that some targets depend on, up to those where gradients stop."""
    found = {t for t in targets if t not in stopped}
    for node in reversed(nodes):
        if not found.isdisjoint(node.outputs):
            found.update(v for v in node.inputs if v not in stopped)
    return found
