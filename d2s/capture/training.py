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

import functools
from collections.abc import Sequence
from typing import Any

from d2s.autodiff.active import active_values
from d2s.autodiff.mode import recording
from d2s.autodiff.totals import FLAG, Total
from d2s.capture.answers import UnderAnIf
from d2s.capture.branch import branch
from d2s.capture.forms import OneOf
from d2s.capture.hooks import hooked, keep, watch
from d2s.capture.sweeps import Training, as_held
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import refuse, user_columns, user_line
from d2s.eager.history import Handle, hook_of
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, GradientError
from d2s.ir.program import Value
from d2s.ops import OPS
from d2s.ops.dispatch import current
from d2s.types import Type

_ALONE = "backward() of a tensor that depends on nothing that wants a gradient"
_ALL_ALONE = "backward() of tensors that depend on nothing that wants a gradient"


def training(what: str) -> Training:
    """Of the capture going on; `what` is done at its top level, or not at all."""
    tracer = capturing()
    assert tracer is not None
    if tracer.parent is not None:
        around = "an `if` or a loop on a tensor"
        hint = "take gradients at the top level of the captured function, or call it eagerly"
        raise UnderAnIf("D2S1003", f"{what} in {around}", where=user_line(), hint=hint, columns=user_columns())
    if tracer.training is None:
        tracer.training = Training(tracer)
    return tracer.training


def backward(symbol: SymbolicTensor, grad_tensor: Any = None, retain_graph: bool = False) -> None:
    """`loss.backward()`."""
    _backward([(symbol, grad_tensor)], retain_graph)


def _backward(given: Sequence[tuple[Any, Any]], retain_graph: bool) -> None:
    here = training("backward()")
    roots = [_root(here, y, weight, "backward(): 'grad_tensor'") for y, weight in given]
    _refuse_alone(here, [here.tracer.symbol_of(y) for y, _ in given])
    here.keep_places()
    wanted = set(here.leaves())
    active = active_values(here._program([]), wanted, here.stopped)
    here.refuse_renewed([v for v, _ in roots], wanted)
    found = hooked(here, here.sweep([root for root in roots if root[0] in active], wanted, retain_graph, False), False)
    for value in here.leaves():
        if value in found:
            if value not in here.opened or value in here.outside:
                _refuse_history(here.tensors()[here.outside.get(value, value)])
            here.gather(value, found[value])


def _refuse_alone(here: Training, roots: Sequence[Any]) -> None:
    """What eager code says where none of the roots wants a gradient, be it on this path."""

    def complain() -> list[Any]:
        raise GradientError("D2S0006", _ALONE if len(roots) == 1 else _ALL_ALONE)

    wants = [here.wants(y) for y in roots] if recording() else []
    flags = [one for one in wants if not isinstance(one, bool)]
    if any(one is True for one in wants):
        return
    if not flags:
        complain()
    some = functools.reduce(OPS["logical_or"], flags)
    branch(here.tracer, OPS["logical_not"](some), (complain, list))


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
    """A gradient ends at leaves."""
    if tensor.node is not None:
        refuse("D2S1003", "backward() to a tensor that was computed outside of the captured function", "compute it inside")


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
    here.keep_places()
    values = [here.standing(x) for x in wanted]
    cut = {v for x in _symbols(tracer, no_grad_vars or [], "no_grad_vars") for v in here.held_by(tracer.resolve(x))}
    here.refuse_renewed([v for v, _ in roots], values)
    _refuse_watched(here)
    again = create_graph if retain_graph is None else retain_graph
    wants = [recording() and (here.rests(x) or here.wants(x)) for x in wanted]
    towards = {v for v, wanting in zip(values, wants, strict=True) if wanting is not False}
    found = hooked(here, here.sweep(roots, towards, again or create_graph, create_graph, cut), create_graph)
    missing = [n for n, v in enumerate(values) if v not in found]
    if missing and not allow_unused:
        raise _unused(missing)
    totals = [_on_path(found.get(v), wanting) for v, wanting in zip(values, wants, strict=True)]
    return [_result(tracer, n, total, allow_unused) for n, total in enumerate(totals)]


def _refuse_watched(here: Training) -> None:
    """Where a sweep towards some tensors comes on the path taken, a run would have to tell."""
    if here.watched and any(node.regions() for node in here.tracer.builder.nodes):
        message = "grad() past an `if` or a loop, where a tensor computed here has a hook or keeps its gradient"
        refuse("D2S1003", message, "backward(), or ask for the gradient of that tensor")


def _on_path(total: Total | None, wants: Any) -> Total | None:
    """A gradient in what may want one by the path taken: there is none where it does not."""
    if total is None or isinstance(wants, bool):
        return total
    return Total(total.value, wants if total.present is None else OPS["logical_and"](wants, total.present))


def _unused(missing: Sequence[int]) -> GradientError:
    message = f"grad(): 'outputs' do not depend on 'inputs' number {', '.join(map(str, missing))}"
    return GradientError("D2S0006", message, hint="allow_unused=True gives None for them")


def _result(tracer: Tracer, n: int, total: Total | None, allow_unused: bool) -> Any:
    """One gradient; where the path taken has none, None or eager code's complaint."""
    if total is None or total.present is None:
        return None if total is None else total.value
    if allow_unused:
        return as_held(total)

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
    here = _training_of(symbol)
    leaf = here.leaf(symbol)
    return None if leaf is None else here.place(leaf).held()


def _training_of(symbol: SymbolicTensor) -> Training:
    tracer = symbol.recorder.root  # type: ignore[attr-defined]
    if tracer.training is None:
        tracer.training = Training(tracer)
    found: Training = tracer.training
    return found


def set_stop_gradient(symbol: SymbolicTensor, stops: bool) -> None:
    """`y.stop_gradient = stops`, of what is computed here: it counts for what reads it from now on."""
    if symbol.value in _training_of(symbol).tensors():
        training("a store to the 'stop_gradient' of a tensor from outside").set_stop(symbol, stops)
        return
    if stops:
        current().begin_anew(symbol, OPS["detached"](symbol), False)  # type: ignore[attr-defined]
        return
    here = training("a store of False to 'stop_gradient'")
    if here.depends_on_path(symbol):
        refuse(
            "D2S1003",
            "a store of False to 'stop_gradient' of what wants a gradient on some paths only",
            "store it outside of the captured function",
        )
    if symbol.value.type.is_float and not here.has_history(symbol):
        here.opened[here.stand_anew(symbol)] = symbol


def _stop_gradient(symbol: SymbolicTensor) -> bool:
    """`p.stop_gradient`."""
    here = _training_of(symbol)
    tensors = here.tensors()
    if symbol.value in tensors:
        return here.stops(symbol.value)
    tracer = capturing()
    if tracer is None or tracer.parent is not None or not recording():
        refuse("D2S1001", "stop_gradient of what is computed here", "ask for it outside of the captured function")
    if here.depends_on_path(symbol):
        message = "stop_gradient of what wants a gradient on some paths only"
        refuse("D2S1001", message, "ask for it outside of the captured function")
    return not here.has_history(symbol)


def set_grad(symbol: SymbolicTensor, gradient: Any) -> None:
    """`p.grad = gradient`."""
    here = training("a store to 'grad'")
    leaf = here.leaf(symbol)
    if leaf is None or not (gradient is None or isinstance(gradient, SymbolicTensor)):
        refuse("D2S1003", "this store to 'grad'", "store None, or a tensor computed here, in the grad of a leaf")
    here.tracer.heap.set(here.place(leaf), gradient)


def clear_gradient(symbol: SymbolicTensor, set_to_zero: bool = True) -> None:
    """`p.clear_gradient()`."""
    here = training("clear_gradient()")
    leaf = here.leaf(symbol)
    if leaf is None:
        return
    place = here.place(leaf)
    held = place.held()
    if not set_to_zero:
        here.tracer.heap.set(place, None)
    elif held is not None:
        zeroed = held.alternatives[1] if isinstance(held, OneOf) else held
        nothing = here.tracer.constant(0.0, Type(zeroed.value.type.dtype))
        zeroed._become(OPS["spread"](nothing, zeroed, None, False) if zeroed.value.type.shape else nothing, history=False)


def register_hook(symbol: SymbolicTensor, hook: Any) -> Handle:
    """`y.register_hook(hook)`, of what is computed here."""
    here = training("register_hook()")
    made = hook_of(symbol, hook)
    watch(here, symbol, made)
    return Handle(here.watched[here.tracer.resolve(symbol)], made)


def retain_grads(symbol: SymbolicTensor) -> None:
    """`y.retain_grads()`; a leaf's gradient is kept anyway."""
    here = training("retain_grads()")
    if symbol.value not in here.tensors() and not symbol.stop_gradient and not here.is_opened(here.tracer.resolve(symbol)):
        keep(here, symbol)
    elif symbol.value in here.tensors():
        _refuse_history(here.tensors()[symbol.value])


SymbolicTensor.register_hook = register_hook  # type: ignore[attr-defined]
SymbolicTensor.retain_grads = retain_grads  # type: ignore[attr-defined]
SymbolicTensor.backward = backward  # type: ignore[assignment, method-assign]
SymbolicTensor.clear_gradient = clear_gradient  # type: ignore[attr-defined]
SymbolicTensor.clear_grad = lambda self: self.clear_gradient()  # type: ignore[attr-defined]
SymbolicTensor.stop_gradient = property(_stop_gradient)
SymbolicTensor.grad = property(_grad, set_grad)  # type: ignore[assignment]
