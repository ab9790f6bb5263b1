"""`PyLayer.apply` in a captured function: the forward is followed as it is, and the backward becomes a Program of its own.

In: `call`, which says what a function becomes, a PyLayer and what it is applied to. Out: the forward's result, whose gradient
is what the backward makes of its cotangent.
"""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.taping import Taping
from d2s.capture.users_code import refuse
from d2s.convert.library_objects import PyLayerContext
from d2s.convert.loads import guard_attribute
from d2s.convert.making import make
from d2s.eager.tensor import Tensor
from d2s.ir.text import show
from d2s.ops import OPS
from d2s.ops.create import zeros_like
from d2s.ops.dispatch import handling
from d2s.ops.own_gradient import own_gradient

Call = Callable[[Any], Callable[..., Any]]
_HINT = "write it of ops, whose gradients are known, or apply it outside of the captured function"


def applied(call: Call, tracer: Tracer, cls: Any, *args: Any, **kwargs: Any) -> Any:
    """What `cls.apply` gives."""
    tracer = capturing() or tracer
    for name in ("forward", "backward"):
        guard_attribute(tracer, cls, name)
    context = make(call, tracer, PyLayerContext)
    with Taping(tracer, False):
        outcome = call(cls.forward)(context, *args, **kwargs)
    inputs = [_symbol(tracer, x) for x in (*args, *kwargs.values()) if _is_tensor(x)]
    if not tracer.root.taping or not any(x.value.type.is_float for x in inputs):
        return outcome
    constant = {id(y) for y in context.constant}
    floats = [y for y in _parts(outcome) if _is_tensor(y) and _symbol(tracer, y).value.type.is_float]
    learned = [y for y in floats if id(y) not in constant]
    if len(learned) != 1:
        _refuse(cls, f"gives {len(learned)} results with gradients")
    made = _with_gradient(call, tracer, cls, context, learned[0], outcome, inputs)
    return made if outcome is learned[0] else tuple(made if y is learned[0] else y for y in outcome)


def _parts(outcome: Any) -> Sequence[Any]:
    return outcome if isinstance(outcome, tuple) else (outcome,)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, SymbolicTensor) and not value.value.type.python)


def _symbol(tracer: Tracer, value: Any) -> SymbolicTensor:
    symbol = tracer.symbol_of(value)
    assert symbol is not None
    return symbol


def _with_gradient(
    call: Call, tracer: Tracer, cls: Any, context: Any, learned: Any, outcome: Any, inputs: Sequence[SymbolicTensor]
) -> Any:
    y: Any = OPS["detached"](tracer.symbol_of(learned))
    region: Any = tracer.region("backward")
    with handling(region), tracer.root.heap.path(region) as changes:
        g = region.input(y.value.type, "g")
        gs = [g if part is learned else zeros_like(part) for part in _parts(outcome) if _is_tensor(part)]
        found = _parts(call(cls.backward)(context, *gs))
        given = [None if one is None else region.symbol_of(one) for one in found]
    _check(cls, inputs, given, changes, region)
    reads, (program,) = tracer.adopt([region], [[one for one in given if one is not None]])
    backward = cls.__name__, show(program), tuple(one is not None for one in given)
    return own_gradient(y, *inputs, *(SymbolicTensor(tracer, value) for value in reads), backward=backward)


def _check(cls: Any, inputs: Sequence[SymbolicTensor], given: Sequence[Any], changes: Any, region: Any) -> None:
    """Refuses a backward that is more than its gradients, or gives others than those of the inputs."""
    if changes or any(node.op in ("host", "update") for node in region.builder.nodes):
        _refuse(cls, "changes or tells something in its backward")
    if len(given) != len(inputs):
        _refuse(cls, f"gives {len(given)} gradients for {len(inputs)} tensors")
    for x, one in zip(inputs, given, strict=True):
        if one is not None and one.value.type != x.value.type:
            _refuse(cls, f"gives a gradient of {one.value.type} for a tensor of {x.value.type}")


def _refuse(cls: Any, what: str) -> NoReturn:
    refuse("D2S1003", f"'{cls.__name__}' is a PyLayer that {what}: a graph cannot hold that", _HINT)
