"""Gradients inside a captured function: `loss.backward()`, `d2s.grad(...)`, and what the `grad` of a tensor is on the way.

In: symbols. Out: the nodes of the sweep, recorded behind all that was recorded so far; the `grad` of each tensor a place that a
call writes. What a gradient reads of an `if` or a loop is pushed on a stack there, as where a whole Program is differentiated.

>>> from d2s.ops.dispatch import handling
>>> from d2s.types import float32
>>> w = d2s.to_tensor([3.0], stop_gradient=False)
>>> tracer = Tracer("f")
>>> with handling(tracer):
...     y = tracer.lift(w) * w
...     y.backward()
...     found = tracer.lift(w).grad
>>> [node.op for node in tracer.builder.nodes], found.value.type
(['multiply', 'constant', 'spread', 'multiply', 'multiply', 'add'], f32[1])
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from d2s import types
from d2s.autodiff.mode import recording
from d2s.autodiff.program import active_values, linearize
from d2s.autodiff.totals import FLAG, Total, add
from d2s.capture.branch import branch
from d2s.capture.forms import OneOf
from d2s.capture.heap import Place
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import refuse
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, CaptureError, DTypeError, GradientError
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.types import Type

_FREED = "backward() a second time through a graph whose buffers were freed by the first"
_ALONE = "backward() of a tensor that depends on nothing that wants a gradient"


class Told(NamedTuple):
    """An input that each call is given anew, made of the leaves of its arguments; `symbol` stands for it."""

    read: Callable[[Sequence[Any]], Tensor]
    symbol: Any


class Training:
    """What gradients a capture has taken: of its root, for they are taken at its top level only."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.swept = False  # whether a gradient was taken: to ask for one, or whether there may be one, is no sweep
        self.freed: set[Value] = set()  # what no gradient goes through any more
        self.retained: set[Value] = set()  # what one goes through again: the user said so
        self.stopped: set[Value] = set()  # gradients, which are no part of a tape
        self.written: set[Value] = set()  # what optimizers have written where it lies

    def tensors(self) -> dict[Value, Tensor]:
        """The tensors the function has met so far, by the inputs that stand for them."""
        root = self.tracer
        given = {value: root.leaves[n] for value, n in root.arguments.items() if isinstance(root.leaves[n], Tensor)}
        return given | {s.value: t for t, s in root.lifted.values() if s.value not in given}

    def leaves(self) -> dict[Value, Value]:
        """The inputs that want a gradient, and what they are now."""
        wanting = [v for v, t in self.tensors().items() if not t.stop_gradient and v.type.is_float]
        return {v: self.tracer.now(self._symbol(v)).value for v in wanting}

    def _symbol(self, value: Value) -> Any:
        return self.tracer.symbol(self.tracer, value)

    def sweep(
        self, roots: Sequence[tuple[Value, Value]], wanted: set[Value], retain: bool, connected: bool, cut: Iterable[Value] = ()
    ) -> dict[Value, Total]:
        """The gradients of roots, weighted, in the values wanted of them; where `connected`, they have gradients themselves."""
        builder = self.tracer.builder
        stopped = self.stopped | set(cut)
        passed = _between(builder.nodes, [v for v, _ in roots], active_values(self._program([]), set(wanted), stopped))
        if not passed.isdisjoint(self.freed):
            raise GradientError("D2S0006", _FREED, hint="call the first one with retain_graph=True")
        self.swept = True
        (self.retained if retain else self.freed).update(passed.difference(builder.inputs, wanted))
        found = self._recorded(roots, wanted, stopped)
        self.stopped |= set() if connected else {total.value.value for total in found.values()}
        return found

    def _program(self, outputs: Sequence[Value]) -> Program:
        builder = self.tracer.builder
        return Program(builder.name, tuple(builder.inputs), tuple(builder.nodes), tuple(outputs))

    def _recorded(self, roots: Sequence[tuple[Value, Value]], wanted: set[Value], stopped: set[Value]) -> dict[Value, Total]:
        """Puts the forward half in the place of what was recorded, and the backward half behind it."""
        builder, program = self.tracer.builder, self._program([v for v, _ in roots])
        begun = [v in wanted for v in program.inputs]
        watched = wanted.difference(program.inputs)
        linear = linearize(program, begun, [True] * len(roots), [False] * len(begun), stopped, watched)
        builder.nodes[:] = linear.forward.nodes
        weights = [g for n, (_, g) in enumerate(roots) if n in linear.reached]
        behind, results = linear.behind(weights)
        builder.nodes += behind
        outputs = [self._symbol(v) for v in results]
        places = {program.inputs[n]: (total, flag) for n, total, flag in linear.totals} | linear.found
        return {v: Total(outputs[total], outputs[flag] if flag >= 0 else None) for v, (total, flag) in places.items()}

    def learnt(self, program: Program) -> tuple[int, ...] | None:
        """Outputs that depend on what wants a gradient: eagerly they have a history. None where no gradient was taken."""
        if not self.swept and not self.written:
            return None
        if not self.retained.difference(self.freed).isdisjoint(program.outputs):
            message = "a result whose graph is retained for another backward() leaves the captured function"
            raise CaptureError("D2S1003", message, hint="return a copy without a history: y.detach()")
        active = active_values(program, set(self.leaves()), self.stopped)
        return tuple(n for n, v in enumerate(program.outputs) if v in active)

    def refuse_shared(self, program: Program) -> None:
        """What may be one tensor with a parameter, and so eagerly has changed with it, is not read behind the step."""
        aliased = self.tracer.aliased | self.tracer.overlapping
        for n, node in enumerate(program.nodes):
            if node.op == "update" and node.inputs[0] in aliased:
                later = {v for behind in program.nodes[n + 1 :] for v in behind.inputs} | set(program.outputs)
                if any(v in aliased and v.type == node.inputs[0].type for v in later - {node.inputs[0]}):
                    message = "a tensor that may be a parameter, or shares its memory, is read behind the step that changes it"
                    raise CaptureError("D2S1003", message, where=node.where, hint="read a copy: p.clone(), made before")

    # --- the grad of a tensor

    def place(self, value: Value) -> Place:
        """Where the gradient of a tensor is gathered: None, a symbol, or one of these by the path taken."""
        return self.tracer.heap.place(("grad", value), lambda: self._found(value))

    def _found(self, value: Value) -> Place:
        target = ("grad", _leaf(self.tracer, value))
        if self.tensors()[value].grad is None:
            return Place(None, None, target)
        given = told(self.tracer, ("grad", value), lambda leaves: _tensor_of(target[1], leaves).grad, value.type, "grad")
        return Place(given, None, target)

    def gather(self, value: Value, more: Total) -> None:
        """Adds to the gradient of a tensor."""
        place = self.place(value)
        held = place.held()
        if held is None:
            found = more
        elif isinstance(held, OneOf):
            totals = {value: _as_total(held)}
            add(totals, value, more)
            found = totals[value]
        else:
            found = Total(OPS["add"](held, more.value))
        self.tracer.heap.set(place, _as_held(found))


def _between(nodes: Sequence[Node], roots: Sequence[Value], active: set[Value]) -> set[Value]:
    """The values that a sweep from some roots passes."""
    found = active.intersection(roots)
    for node in reversed(nodes):
        if not found.isdisjoint(node.outputs):
            found.update(active.intersection(node.inputs))
    return found


def _as_held(total: Total) -> Any:
    """A gradient as Python sees it: where a path has none, it is None there."""
    if total.present is None:
        return total.value
    return OneOf(OPS["cast"](total.present, types.int64, python=True), [None, total.value])


def _as_total(held: OneOf) -> Total:
    """The same the other way round: an absent total is -0.0."""
    present = OPS["not_equal"](OPS["cast"](held.tag, types.int64), 0)
    return Total(OPS["where"](present, held.alternatives[1], -0.0), present)


def presence(held: Any) -> Any:
    """The bool that says whether a gradient is there; None where it surely is."""
    return _as_total(held).present if isinstance(held, OneOf) else None


def told(tracer: Tracer, key: Any, read: Callable[[Sequence[Any]], Tensor], of: Type, name: str) -> Any:
    """The input that stands for what each call is given anew."""
    root = tracer.root
    if key not in root.told:
        root.told[key] = Told(read, root.input(of, name))
    return root.told[key].symbol


def _leaf(tracer: Tracer, value: Value) -> tuple[str, Any]:
    if value in tracer.arguments:
        return "argument", tracer.arguments[value]
    return "outside", next(t for t, s in tracer.lifted.values() if s.value is value)


def _tensor_of(leaf: tuple[str, Any], leaves: Sequence[Any]) -> Any:
    return leaves[leaf[1]] if leaf[0] == "argument" else leaf[1]


# --- what the user calls


def training(what: str) -> Training:
    """Of the capture going on; `what` is done at its top level, or not at all."""
    tracer = capturing()
    assert tracer is not None
    if tracer.parent is not None or tracer.root.attempts:
        around = "a `try` or `with`" if tracer.parent is None else "an `if` or a loop on a tensor"
        refuse("D2S1003", f"{what} in {around}", "take gradients at the top level of the captured function, or call it eagerly")
    if tracer.training is None:
        tracer.training = Training(tracer)
    return tracer.training


def backward(symbol: SymbolicTensor, grad_tensor: Any = None, retain_graph: bool = False) -> None:
    """`loss.backward()`."""
    _backward([(symbol, grad_tensor)], retain_graph)


def _backward(given: Sequence[tuple[Any, Any]], retain_graph: bool) -> None:
    here = training("backward()")
    now = here.leaves()
    roots = [_root(here, y, weight, "backward(): 'grad_tensor'") for y, weight in given]
    active = active_values(here._program([]), set(now.values()) | set(now), here.stopped)
    if not recording() or not any(v in active for v, _ in roots):
        raise GradientError("D2S0006", _ALONE)
    found = here.sweep([root for root in roots if root[0] in active], set(now) | set(now.values()), retain_graph, False)
    for value, current in now.items():
        if current is not value and value in found:
            refuse(
                "D2S1003", "the gradient of what was computed before step() changed a parameter", "compute it again behind it"
            )
        if current in found:
            _refuse_history(here.tensors()[value])
            here.gather(value, found[current])


def _root(here: Training, y: Any, weight: Any, said: str) -> tuple[Value, Value]:
    """A value a sweep begins at, and its cotangent."""
    tracer = here.tracer
    symbol = tracer.symbol_of(y)
    assert symbol is not None
    value = tracer.resolve(symbol)
    if weight is None:
        one = tracer.constant(1.0, Type(value.type.dtype))
        return value, tracer.resolve(OPS["spread"](one, symbol, None, False) if value.type.shape else one)
    cotangent = tracer.symbol_of(weight) if isinstance(weight, Tensor | SymbolicTensor) else None
    if cotangent is None:
        raise DTypeError("D2S0001", f"{said} expects a Tensor, got {type(weight).__name__}")
    if cotangent.value.type != value.type:
        raise GradientError("D2S0006", f"{said} is {cotangent.value.type}, the tensor {value.type}")
    return value, tracer.resolve(cotangent)


def _refuse_history(tensor: Tensor) -> None:
    """A gradient ends at leaves that nobody watches."""
    if tensor.node is not None:
        refuse("D2S1003", "backward() to a tensor that was computed outside of the captured function", "compute it inside")
    if any((tensor.hooks or {}).values()):
        refuse("D2S1003", "backward() to a tensor with a hook", "apply the hook's function to the gradient, or train eagerly")


def backward_of(tracer: Tracer, tensors: Any, grad_tensors: Any = None, retain_graph: bool = False) -> None:
    """`d2s.autograd.backward(tensors)`."""
    roots = list(tensors) if isinstance(tensors, list | tuple) else [tensors]
    weights = [None] * len(roots) if grad_tensors is None else list(grad_tensors)
    if len(weights) != len(roots):
        raise ArgumentError("D2S0004", f"backward(): {len(weights)} 'grad_tensors' for {len(roots)} tensors")
    _backward(list(zip(roots, weights, strict=True)), retain_graph)


def grad_of(
    tracer: Tracer,
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
) -> list[Any]:
    """`d2s.grad(outputs, inputs)`."""
    here = training("grad()")
    results, wanted = _symbols(tracer, outputs, "outputs"), _symbols(tracer, inputs, "inputs")
    weights = [None] * len(results) if grad_outputs is None else _listed(grad_outputs)
    if len(weights) != len(results):
        raise ArgumentError("D2S0004", f"grad(): {len(weights)} 'grad_outputs' for {len(results)} tensors")
    roots = [_root(here, y, weight, "grad(): one of 'grad_outputs'") for y, weight in zip(results, weights, strict=True)]
    values = [tracer.resolve(x) for x in wanted]
    cut = {tracer.resolve(x) for x in _symbols(tracer, no_grad_vars or [], "no_grad_vars")}
    keep = create_graph if retain_graph is None else retain_graph
    found = here.sweep(roots, set(values), keep or create_graph, create_graph, cut)
    missing = [n for n, v in enumerate(values) if v not in found]
    if missing and not allow_unused:
        raise _unused(missing)
    return [_result(tracer, n, found.get(v), allow_unused) for n, v in enumerate(values)]


def _unused(missing: Sequence[int]) -> GradientError:
    message = f"grad(): 'outputs' do not depend on 'inputs' number {', '.join(map(str, missing))}"
    return GradientError("D2S0006", message, hint="allow_unused=True gives None for them")


def _result(tracer: Tracer, n: int, total: Total | None, allow_unused: bool) -> Any:
    """One gradient; where the path taken has none, None or eager code's complaint."""
    if total is None or total.present is None:
        return None if total is None else total.value
    if allow_unused:
        return _as_held(total)

    def complain() -> list[Any]:
        raise _unused([n])

    branch(tracer, OPS["equal"](total.present, tracer.constant(False, FLAG)), (complain, list))
    return total.value


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _symbols(tracer: Tracer, value: Any, name: str) -> list[SymbolicTensor]:
    listed = _listed(value)
    for item in listed:
        if not isinstance(item, Tensor | SymbolicTensor):
            raise DTypeError("D2S0001", f"grad(): '{name}' expects tensors, got {type(item).__name__}")
    return [tracer.lift(item) if isinstance(item, Tensor) else item for item in listed]


def _grad(symbol: SymbolicTensor) -> Any:
    """`p.grad`; None of what is no leaf."""
    training = _training_of(symbol)
    return training.place(symbol.value).held() if symbol.value in training.tensors() else None


def _training_of(symbol: SymbolicTensor) -> Training:
    tracer = symbol.recorder.root  # type: ignore[attr-defined]
    if tracer.training is None:
        tracer.training = Training(tracer)
    found: Training = tracer.training
    return found


def stop_gradient_of(symbol: SymbolicTensor) -> None:
    """`y.stop_gradient = True`, of what is computed here: what reads it from now on reads it without its history."""
    root = symbol.recorder.root  # type: ignore[attr-defined]
    if symbol.value in root.arguments or any(s.value is symbol.value for _, s in root.lifted.values()):
        refuse("D2S1003", "a store to the attribute 'stop_gradient' of a tensor from outside", "set it before the call")
    symbol._become(OPS["detached"](symbol), history=False)


def _stop_gradient(symbol: SymbolicTensor) -> bool:
    """`p.stop_gradient`, of a tensor that was there before."""
    tensors = _training_of(symbol).tensors()
    if symbol.value not in tensors:
        refuse("D2S1001", "stop_gradient of what is computed here", "ask for it outside of the captured function")
    return bool(tensors[symbol.value].stop_gradient)


def set_grad(symbol: SymbolicTensor, gradient: Any) -> None:
    """`p.grad = gradient`."""
    here = training("a store to 'grad'")
    if symbol.value not in here.tensors() or not (gradient is None or isinstance(gradient, SymbolicTensor)):
        refuse("D2S1003", "this store to 'grad'", "store None, or a tensor computed here, in the grad of a leaf")
    here.tracer.heap.set(here.place(symbol.value), gradient)


def clear_gradient(symbol: SymbolicTensor, set_to_zero: bool = True) -> None:
    """`p.clear_gradient()`."""
    here = training("clear_gradient()")
    if symbol.value not in here.tensors():
        return
    place = here.place(symbol.value)
    held = place.held()
    if not set_to_zero:
        here.tracer.heap.set(place, None)
    elif held is not None:
        zeroed = held.alternatives[1] if isinstance(held, OneOf) else held
        nothing = here.tracer.constant(0.0, Type(zeroed.value.type.dtype))
        zeroed._become(OPS["spread"](nothing, zeroed, None, False) if zeroed.value.type.shape else nothing, history=False)


class Standing:
    """What a capture that takes gradients depends on: which tensors want one, are leaves, are watched, have one already."""

    def __init__(self, arguments: Sequence[int], lifted: Sequence[Tensor], leaves: Sequence[Any]) -> None:
        self.arguments, self.lifted = [n for n in arguments if isinstance(leaves[n], Tensor)], lifted
        self.kept = self.now(leaves)

    def now(self, leaves: Sequence[Any]) -> list[Any]:
        found: list[Any] = [recording()]
        for t in (*(leaves[n] for n in self.arguments), *self.lifted):
            found.append((t.stop_gradient, t.node is None, t._grad is None, t.hooks and any(t.hooks.values())))
        return found


SymbolicTensor.backward = backward  # type: ignore[assignment, method-assign]
SymbolicTensor.clear_gradient = clear_gradient  # type: ignore[attr-defined]
SymbolicTensor.clear_grad = lambda self: self.clear_gradient()  # type: ignore[attr-defined]
SymbolicTensor.stop_gradient = property(_stop_gradient)
SymbolicTensor.grad = property(_grad, set_grad)  # type: ignore[assignment]
