"""Hooks of leaves in gradients that a captured function takes: their text is a part of the function.

In: the totals of a sweep, in the order in which the leaves got them. Out: the totals as the hooks leave them. Which hooks there
are each call asks (`capture.standing`).

>>> from d2s.ops.dispatch import handling
>>> w = d2s.to_tensor([3.0], stop_gradient=False)
>>> handle = w.register_hook(lambda g: g * 2.0)
>>> tracer = Tracer("f")
>>> with handling(tracer):
...     here = Training(tracer)
...     y = tracer.lift(w) * 1.0
...     found = here.sweep([(y.value, y.value)], set(tracer.builder.inputs), False, False)
...     seen = hooked(here, found, False)
>>> [node.op for node in tracer.builder.nodes][-4:]
['multiply', 'detached', 'cast', 'detached']
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from d2s.autodiff import tape
from d2s.autodiff.totals import Total
from d2s.capture.alternatives import each
from d2s.capture.branch import branch
from d2s.capture.forms import OneOf
from d2s.capture.heap import UNREAD
from d2s.capture.sweeps import Training
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.capture.taping import Taping
from d2s.capture.users_code import refuse
from d2s.eager.history import Hook, refuse_other, refuse_unlike
from d2s.eager.tensor import Tensor
from d2s.ir.program import Program, Value
from d2s.ops.dispatch import current


class Keep:
    """The hook of what keeps its gradient."""

    def __init__(self, keeps: Callable[[Any], None]) -> None:
        self.keeps = keeps

    def __call__(self, total: Any) -> None:
        self.keeps(total)


class _Calling:
    through: Callable[[Any], Callable[..., Any]] = staticmethod(lambda function: function)  # what the user's functions become


calling = _Calling()


def hooked(here: Training, totals: dict[Value, Total], connected: bool) -> dict[Value, Total]:
    """The finished totals of a sweep as the hooks of its leaves leave them; `connected` ones have gradients themselves."""
    watched = {v: held for v in totals if v not in here.watched and (held := _hooks(here, v))}
    known = _Known(here.tracer)
    places = {v: n for n, node in enumerate(known.nodes) for v in node.outputs}
    inner = sorted(totals.keys() & here.watched.keys(), key=lambda value: -places[value])
    found = dict(totals)
    with Taping(here.tracer, connected and here.tracer.root.taping):
        for value in inner:
            _seen(here.tracer, here.watched[value], totals[value], _observed)
        for value, held in watched.items():
            found[value] = _seen(here.tracer, held, totals[value], _taken)
    if len(watched) + len(inner) > 1 and known.acted():
        message = "hooks that change or tell something, of several tensors whose gradients come by paths or behind a step"
        refuse("D2S1003", message, "do that in one hook, or behind backward()")
    if not connected:
        here.stopped |= {found[v].value.value for v in watched}
    return found


def _hooks(here: Training, value: Value) -> list[Hook]:
    """The user's hooks of what a sweep ends at, where that is a tensor from outside."""
    tensor = here.tensors().get(here.outside.get(value, value))
    held: list[Any] = [] if tensor is None else list(tape.held_hooks(tensor))
    if held and tensor is not None and tensor.node is not None:
        message = "a gradient to a tensor with a hook that was computed outside of the captured function"
        refuse("D2S1003", message, "compute it inside")
    return held


def watch(here: Training, symbol: SymbolicTensor, hook: tape.Hook) -> None:
    """Has a hook see the gradient of what a tensor that is computed here is now."""
    if here.leaf(symbol) is not None and symbol.value not in here.keeping:
        message = "a hook of a leaf is registered inside: every call would add one"
        refuse("D2S1003", message, "register it outside of the captured function")
    here.watched.setdefault(here.tracer.resolve(symbol), []).append(hook)


def keep(here: Training, symbol: SymbolicTensor) -> None:
    """Has a tensor that is computed here keep its gradient in `grad` at every sweep."""
    value = here.tracer.resolve(symbol)
    if here.keeping.get(symbol.value) is value:
        return
    if symbol.value in here.keeping:
        message = "retain_grads() of a tensor that kept its gradient before it was changed in place"
        refuse("D2S1003", message, "give the other values a name of their own")

    def kept(total: Any) -> None:
        here.tracer.heap.set(here.place(value), total)

    watch(here, symbol, Keep(kept))
    here.keeping[symbol.value] = value


def _seen(tracer: Tracer, hooks: Sequence[Any], total: Total, taken: Callable[[Any, Any, Any], Any]) -> Total:
    """A total behind the hooks, which see it where the path has one; `taken` is what becomes of it by what they give."""

    def through() -> list[Any]:
        value = total.value
        for hook in hooks:
            given = value.clone()
            found = hook(given) if isinstance(hook, Keep) else calling.through(hook.function)(given)
            take = functools.partial(taken, hook, value)
            value = each(found, take) if isinstance(found, OneOf) else take(found)
        return [value]

    value = through()[0] if total.present is None else branch(tracer, total.present, (through, lambda: [total.value]))[0]
    return Total(value.clone(), total.present)  # no tensor that a hook knows


def _taken(hook: Hook, total: SymbolicTensor, found: Any) -> Any:
    """What a hook gives in the place of a total."""
    if found is None:
        return total
    if not isinstance(found, Tensor | SymbolicTensor) or (symbol := _symbol(found)).value.type.python:
        refuse_other(found, hook.gives)
    refuse_unlike(symbol.value.type, total.value.type, hook.gives)
    return symbol


def _observed(hook: Hook, total: SymbolicTensor, found: Any) -> SymbolicTensor:
    """The same of a tensor on the way: what its hook gives is not taken."""
    if found is not None:
        message = f"{hook.gives} another gradient for a tensor that is computed in the captured function"
        refuse("D2S1003", message, "a d2s.autograd.PyLayer whose backward does that; or train eagerly")
    return total


def _symbol(found: Any) -> SymbolicTensor:
    symbol: SymbolicTensor = current().symbol_of(found)  # type: ignore[attr-defined]
    return symbol


class _Known:
    """What there was before hooks ran."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer, self.mark, self.nodes = tracer, tracer.heap.mark(), list(tracer.builder.nodes)
        self.places = {key: place.now for key, place in tracer.heap.places.items()}

    def acted(self) -> bool:
        """Whether hooks have changed or told something, where the order of leaves is the run's."""
        if not any(node.regions() for node in self.nodes) and not self.tracer.training.before:
            return False
        heap, behind = self.tracer.heap, self.tracer.builder.nodes[len(self.nodes) :]
        stored = any(p.now is not self.places.get(key, UNREAD) and p.now is not p.before for key, p in heap.places.items())
        program = Program("hooks", (), tuple(behind), ())
        return stored or heap.changed_since(self.mark) or any(node.op == "host" for node in program.every_node())
