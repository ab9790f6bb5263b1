"""One capture made callable: inputs bound, run as native code, its gradient one node on the tape.

In: the leaves of a call's arguments. Out: what the function returns, with the bits eager code gives.

>>> from d2s.ir.text import parse
>>> graph = Graph(parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = tanh(x) return %0 }"))
>>> graph([d2s.to_tensor([0.0])])[0].numpy().tolist()
[0.0]
"""

import collections
import inspect
from collections.abc import Callable, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from d2s import passes
from d2s.autodiff import reads, tape, writes
from d2s.autodiff.linear import Linear
from d2s.autodiff.mode import recording
from d2s.autodiff.program import depending, linearize
from d2s.capture.result import build
from d2s.capture.stores import write
from d2s.capture.symbolic import liftable
from d2s.capture.trace import trace
from d2s.capture.tree import containers
from d2s.config import knob
from d2s.default_dtype import default_dtype
from d2s.eager.handler import again, refuse_changed
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError, GradientError
from d2s.ir.program import Program, Value
from d2s.ir.text import show
from d2s.jit.checks import Check, Matches
from d2s.jit.quick import Quick, quick_of
from d2s.jit.signature import Key
from d2s.ops.dispatch import handlers
from d2s.runtime import host, launch, native_call, random_state
from d2s.runtime.call import Call
from d2s.runtime.plan import Plan
from d2s.stages import stage

Mask = tuple[bool, ...]


class Graph:
    """A Program with its gradients: what runs, for a captured function and for one that was loaded."""

    def __init__(self, program: Program, returned: int | None = None, learnt: Sequence[int] | None = None) -> None:
        self.program = passes.prepare(program)
        self.returned = len(program.outputs) if returned is None else returned  # outputs behind them get no cotangent as a rule
        self.learnt = learnt  # where the Program has its own gradients: outputs with a history, which is used up
        self._plain = Call(self.program, passes.lower)
        made = {v for node in self.program.nodes if not node.regions() for v in node.outputs}
        self.hands_on = not made.issuperset(self.program.outputs)  # an input that comes out is the tensor that went in
        self._runs: dict[Mask, _Run] = {}
        self.acts = host.acts(self.program)
        self._active: dict[Mask, Set[Value]] = {}
        self._graphs: dict[tuple[Mask, Mask, Mask], tuple[Linear, Graph]] = {}
        self._halves: dict[tuple[Mask, Mask, Mask], tuple[Linear, Call, Call]] = {}

    def halves(self, wanted: Mask, given: Mask, started: Mask) -> tuple[Linear, Call, Call]:
        """The forward and the backward half for what a sweep has and wants."""
        key = wanted, given, started
        if key not in self._halves:
            linear = linearize(self.program, *key)
            stage(f"forward:{self.program.name}", lambda: show(linear.forward))
            stage(f"backward:{self.program.name}", lambda: show(linear.backward))
            self._halves[key] = linear, Call(linear.forward, passes.lower), Call(linear.backward, passes.lower)
        return self._halves[key]

    def connected(self, wanted: Mask, given: Mask, started: Mask) -> "tuple[Linear, Graph]":
        """Both halves as one graph, for gradients of gradients."""
        key = wanted, given, started
        if key not in self._graphs:
            linear = self.halves(*key)[0]
            self._graphs[key] = linear, Graph(linear.whole())
        return self._graphs[key]

    def __call__(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Runs on tensors (Python numbers as 0-D ones)."""
        arrays = [t.array for t in inputs]
        wanted = tuple([not t.stop_gradient for t in inputs]) if recording() and self.learnt is None else ()
        if self.acts and not host.is_running():
            with host.running():
                return self(inputs)
        if self.acts:
            host.current().wanting = self._wanting(wanted or (False,) * len(inputs))
        if True not in wanted:
            results = self._plain(arrays)
            if self.learnt:
                return [_used_up(a) if n in self.learnt else Tensor(a) for n, a in enumerate(results)]
            if not self.hands_on:
                return [Tensor(a) for a in results]
            own = {id(a): t for a, t in zip(arrays, inputs, strict=True)}
            return [own[id(a)] if id(a) in own else Tensor(a) for a in results]
        run = self._runs.get(wanted)
        if run is None:
            run = self._runs[wanted] = self._run_of(wanted)
        before = len(host.current().found) if self.acts else 0
        results = run.forward(arrays)
        node = GraphNode(self, inputs, arrays, wanted, run.given, results)
        node.found = host.current().found[before:] if self.acts else []
        own = {id(a): t for a, t in zip(arrays, inputs, strict=True)} if self.hands_on else {}
        return [
            own[id(a)] if id(a) in own else Tensor(a, not reached, tape.result(node, n) if reached else None)
            for n, (a, reached) in enumerate(zip(results, run.reached, strict=False))
        ]

    @property
    def has_run(self) -> bool:
        """Whether it ran without gradients."""
        return self._plain.has_run

    def entry(self, inputs: Sequence[Any]) -> native_call.Entry | None:
        """The way past Python for such inputs, Python floats as they are; without gradients."""
        return self._plain.entry(handlers.base.classes, inputs)

    def plans(self, inputs: Sequence[Tensor]) -> list[Plan]:
        """What a call on such tensors runs: one plan, or where a gradient is wanted those of both halves."""
        wanted = tuple(not t.stop_gradient for t in inputs)
        if not recording() or True not in wanted or self.learnt is not None:
            return [self._plain.plan]
        given = self._run_of(wanted).given
        return [half.plan for half in self.halves(wanted, given, (False,) * len(wanted))[1:]]

    def _run_of(self, wanted: Mask) -> "_Run":
        given = tuple(n < self.returned and v.type.is_float for n, v in enumerate(self.program.outputs))
        linear, forward, _ = self.halves(wanted, given, (False,) * len(wanted))
        return _Run(forward, given, [n in linear.reached for n in range(len(given))])

    def _wanting(self, wanted: Mask) -> Set[Value]:
        """The values that depend on a wanted input."""
        if wanted not in self._active:
            self._active[wanted] = depending(self.program, wanted)
        return self._active[wanted]


class _Run(NamedTuple):
    """How a call runs whose inputs want gradients: the forward half, which outputs get cotangents, which have a gradient."""

    forward: Call
    given: Mask
    reached: list[bool]


class GraphNode(tape.TapeNode):
    """A call of a Graph on the tape: inputs as they were, and what its forward half kept for the backward one."""

    __slots__ = ("arrays", "executor", "found", "given", "graph", "results", "sweeping", "swept", "wanted")

    found: list[Any]  # what Python's steps found in the forward half

    def __init__(
        self, graph: Graph, inputs: Sequence[Tensor], arrays: list[Any], wanted: Mask, given: Mask, results: list[Any]
    ) -> None:
        super().__init__(tape.edge(t) if w else None for t, w in zip(inputs, wanted, strict=True))
        self.graph, self.arrays, self.wanted, self.given, self.results = graph, arrays, wanted, given, results
        self.swept: set[int] = set()
        self.executor = knob("EXECUTOR")

    def blamed(self) -> tuple[str, str]:
        return f"'{self.graph.program.name}'", ""

    def pull(self, cotangents: dict[int, Any], totals: tape.Totals) -> None:
        if not self.swept.isdisjoint(cotangents):
            message = "backward() a second time through a result of a static call whose buffers were freed by the first"
            raise GradientError("D2S0006", message, hint="call the first one with retain_graph=True")
        self.sweeping = set(cotangents)
        if totals.connected:
            self.pull_connected(cotangents, totals)
            return
        given = tuple(n in cotangents for n in range(len(self.given)))
        so_far = [None if edge is None else totals.get(edge) for edge in self.edges]
        started = tuple(t is not None for t in so_far)
        linear, forward, backward = self.graph.halves(self.wanted, given, started)
        same = self.executor == knob("EXECUTOR")  # stacks of one executor are nothing to another
        assumed = same and linear is self.graph.halves(self.wanted, self.given, (False,) * len(started))[0]
        kept = self.results if assumed else self._again(lambda: forward(self.arrays))  # it keeps other values
        saved = [self.arrays[n] if is_input else kept[n] for is_input, n in linear.saved]
        if writes.after(self.order):
            self.check(linear.backward, saved)
            if not assumed:
                self.check(linear.forward, self.arrays)
        gs = [cotangents[n].array for n in sorted(cotangents) if n in linear.reached]
        results = backward([*saved, *gs, *(t.array for t in so_far if t is not None)])
        for n, total, flag in linear.totals:
            if flag < 0 or results[flag]:
                totals.put(self.edges[n], Tensor(results[total]))

    def _again(self, run: Callable[[], Any]) -> Any:
        """A forward half once more, for a sweep that was not foreseen: what Python did before it does not do again."""
        with host.replaying(self.found):
            return run()

    def pull_connected(self, cotangents: dict[int, Any], totals: tape.Totals) -> None:
        """The same on the tape: both halves run as a graph of its own, whose gradient is that of the gradient."""
        given = tuple(n in cotangents for n in range(len(self.given)))
        so_far = [None if edge is None else totals.get(edge) for edge in self.edges]
        linear, whole = self.graph.connected(self.wanted, given, tuple(t is not None for t in so_far))
        if writes.after(self.order):
            self.check(linear.forward, self.arrays)
        inputs = [again(edge, a) for edge, a in zip(self.edges, self.arrays, strict=True)]
        gs = [cotangents[n] for n in sorted(cotangents) if n in linear.reached]
        results = self._again(lambda: whole([*inputs, *gs, *(t for t in so_far if t is not None)]))
        for n, total, flag in linear.totals:
            if flag < 0 or results[flag].item():
                totals.put(self.edges[n], results[total])

    def check(self, program: Program, arrays: Sequence[Any]) -> None:
        """Refuses to run a half that reads values changed since the call."""
        read = reads.of_program(program)
        for value, array in zip(program.inputs, arrays, strict=False):
            if value in read and isinstance(array, np.ndarray):
                line = next((node.where for node in program.nodes if value in node.inputs and node.where), self.line)
                refuse_changed(array, self.order, f"'{self.graph.program.name}'", line)

    def release(self) -> None:
        """Frees the buffers once every result has been swept: each has a gradient of its own, as eagerly."""
        self.swept |= self.sweeping
        reached = self.graph.halves(self.wanted, self.given, (False,) * len(self.wanted))[0].reached
        if not reached <= self.swept:
            return
        super().release()
        self.results, self.arrays = [], []


class Variant:
    """One capture of a function: for which calls it stands says its key, for how long its guards."""

    def __init__(self, function: Callable[[Any], Any], name: str, key: Key, leaves: list[Any], names: list[str]) -> None:
        symbols = {n: (names[n], leaf.type) for n, leaf in enumerate(key.leaves) if leaf.dtype and leaf.same_as < 0}
        same = {n: leaf.same_as for n, leaf in enumerate(key.leaves) if leaf.same_as >= 0}
        self.default = default_dtype()
        self.captured = trace(function, name, leaves, key.skeleton, symbols, same)
        self.lifted = [(t, launch.type_of(t.array)) for t in self.captured.lifted]
        learnt = self.captured.learnt if self.captured.standing else None
        self.graph = Graph(self.captured.program, self.captured.returned, learnt)
        self.kept = [leaf for leaf in leaves if not isinstance(leaf, Tensor)]  # the key holds identities: theirs stay theirs
        self.in_place = [(owner, details[0]) for kind, owner, *details in self.captured.stores if kind == "tensor"]
        self.key = key
        self.matches: Matches | None = None  # written once a second call fits
        self.quick: Quick | None = None  # once a call without gradients has run
        self.tried = False

    def write_check(self) -> None:
        """From now on one function answers whether this is the variant of a call."""
        check = Check()
        check.arguments(self.key)
        check.guards(self.captured.guards)
        check.rest(self)
        self.matches = check.function()

    def hasten(self, function: Callable[..., Any], signature: inspect.Signature, leaves: Sequence[Any]) -> bool:
        """Whether from now on `quick` answers calls like the one with these leaves."""
        inputs = [*(leaves[n] for n in self.captured.arguments), *self.captured.lifted]
        self.tried = True
        self.quick = quick_of(self, function, signature, inputs)
        return self.quick is not None

    def changed(self, leaves: Sequence[Any]) -> str:
        """What no longer is as it was at capture; empty if nothing."""
        for guard in self.captured.guards:
            if not guard.holds():
                return guard.change()
        if default_dtype() is not self.default:
            return "the default dtype changed"
        standing = self.captured.standing
        if standing is not None and standing.now(leaves) != standing.kept:
            return "a tensor wants a gradient, or has one, that did not before, or the other way round"
        for tensor, was in self.lifted:
            if launch.type_of(tensor.array) != was:
                return f"a tensor {was} it reads is {launch.type_of(tensor.array)}"
        for read in self.captured.reads:
            if liftable(read.read()) != read.type:
                return f"{read.described} changed its type"
        arguments = {id(leaf) for leaf in leaves if isinstance(leaf, Tensor)}
        if any(id(t) in arguments for t in self.captured.lifted):
            return "an argument is a tensor it also reads otherwise"
        if any(leaves[n] is not t for n, t in self.captured.aliases):
            return "an argument is no longer the tensor it also reads otherwise"
        return ""

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

    def __call__(self, leaves: Sequence[Any], arguments: Any) -> Any:
        if not self.captured.draws:
            return self._run(leaves, arguments, ())
        with random_state.held() as state:
            return self._run(leaves, arguments, state)

    def _run(self, leaves: Sequence[Any], arguments: Any, state: Sequence[int]) -> Any:
        found, objects = self._found(), list[Any]()

        def leaf(kind: str, at: Any) -> Any:
            if kind == "output":
                return outputs[at].item() if self.graph.program.outputs[at].type.python else outputs[at]
            if kind == "object":
                return objects[int(outputs[at].item())]
            if kind == "copy":
                return Tensor(at.array.copy())
            if kind == "argument":
                return leaves[at]
            if kind == "told":
                return inputs[len(self.captured.arguments) + len(self.captured.lifted) + len(found) + at]
            return found[at] if kind == "read" else containers(arguments)[at] if kind == "container" else at

        inputs = self._inputs(leaves, found, state)
        if self.in_place:
            self._check_places(leaf, inputs)
        run = host.Run(objects, leaf=leaf)  # which `leaf` does not know: no cycle keeps what a call has made
        if self.graph.acts:
            with host.running(run):
                outputs = self.graph(inputs)
        else:
            outputs = self.graph(inputs)
        if not self.captured.stores:
            return build(self.captured.result, leaf)
        result, values = build(self.captured.whole, leaf)
        for target, value in zip(self.captured.stores, values, strict=True):
            write(target, value, run)
        return result

    def _check_places(self, leaf: Callable[[str, Any], Any], inputs: Sequence[Tensor]) -> None:
        """Before a run that changes tensors in place: a leaf that wants a gradient cannot be changed so, nor can a tensor whose
        memory another input has, which would have to change with it."""
        there = collections.Counter(t.array.ctypes.data for t in inputs if t.array.size)
        for owner, history in self.in_place:
            tensor = leaf(*owner)
            if history and recording():
                tensor._check_place()
            if there[tensor.array.ctypes.data] > 1:
                message = f"'{self.graph.program.name}' changes a tensor in place whose memory another tensor has that it reads"
                raise CaptureError("D2S1003", message, hint="give it copies: x.clone()")


def _used_up(array: np.ndarray) -> Tensor:
    """A result whose gradient was taken where it was computed."""
    node = tape.TapeNode(())
    node.release()
    return Tensor(array, False, node)


def _tensor(leaf: Any) -> Tensor:
    return leaf if isinstance(leaf, Tensor) else Tensor(np.array(leaf))
