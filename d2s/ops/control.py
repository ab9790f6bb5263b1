"""Control flow and what it needs: ops whose attributes are Programs, constants, and the stack of residuals.

`cond(c, *captured) {then(captured) else(captured)}` and `while_loop(*carry, *fixed) {test(carry, fixed) body(carry, fixed)}`:
regions are closed, what they read comes in as an input. `fused(*captured) {body}` is what passes make of elementwise nodes,
behind gradients. A function that calls itself is `call(*carry, *fixed) {body(carry, fixed)}`; inside of the body, `again` is
another call of it. Interpreter, plan and gradients know these by name.

>>> from d2s import types
>>> push.infer([STACK, Type(types.float32)], {})
(stack,)
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from d2s.errors import InternalError
from d2s.ir.program import Program
from d2s.ops.compare import cast
from d2s.ops.dispatch import current
from d2s.ops.op import op
from d2s.ops.rows import extent
from d2s.types import STACK, Dim, DType, Shape, Type, bool_, int64


@op(paddle="conditional_block", onnx="If")
def cond(condition, captured, then: Any, otherwise: Any, finds: Any = ()):
    """One of two regions, chosen at run time; extents of results that only the region taken tells have names of `finds`."""


@cond.rule("infer")
def _(condition, *captured, then, otherwise, finds=()):
    _same([v.type for v in then.inputs], list(captured), "then's inputs")
    _same([v.type for v in otherwise.inputs], list(captured), "else's inputs")
    _is_truth(condition)
    pairs = apart(then, otherwise)
    if len(pairs) != len(finds):
        _same([v.type for v in then.outputs], [v.type for v in otherwise.outputs], "the arms' outputs")
    names = dict(zip(pairs, finds, strict=True))
    both = [(a.type, b.type) for a, b in zip(then.outputs, otherwise.outputs, strict=True)]
    return tuple(_with(a, [names.get(pair, pair[0]) for pair in zip(a.shape, b.shape, strict=True)]) for a, b in both)


def _with(of: Type, shape: Sequence[Dim]) -> Type:
    """A type with another shape; the very type, if it has that shape."""
    return of if of.shape == tuple(shape) else dataclasses.replace(of, shape=tuple(shape))


def apart(then: Program, otherwise: Program) -> list[tuple[Dim, Dim]]:
    """The pairs of extents of the arms' results that need a name: they differ, or only the arms know them."""
    _alike([v.type for v in then.outputs], [v.type for v in otherwise.outputs], "the arms' outputs")
    known = {d for v in then.inputs for d in v.type.shape}
    pairs = _beside(then, otherwise)
    return list(dict.fromkeys((a, b) for a, b in pairs if a != b or (type(a) is str and a not in known)))


def _beside(then: Program, otherwise: Program) -> list[tuple[Dim, Dim]]:
    both = zip(then.outputs, otherwise.outputs, strict=True)
    return [pair for a, b in both for pair in zip(a.type.shape, b.type.shape, strict=True)]


def still_apart(finds: Sequence[Any], was: Sequence[Program], now: Sequence[Program]) -> tuple[Any, ...]:
    """Of the names of a `cond` with arms `was`, those that the same arms need with other types: `now`."""
    names = dict(zip(apart(*was), finds, strict=True))
    wanted, places = apart(*now), dict[Any, Any]()
    for old, new in zip(_beside(*was), _beside(*now), strict=True):
        if new in wanted:
            places.setdefault(new, names[old])
    return tuple(places.values())


@op(paddle="while", onnx="Loop")
def while_loop(carry, test: Any, body: Any, carries: int, finds: Any = ()):
    """The body again and again as long as the test holds; the first `carries` inputs change, the others are fixed.

    Where the body has an extent of a carried value by a name that the input has not, trips change it; what it is in the end
    has a name of `finds`.
    """


@while_loop.rule("infer")
def _(*carry, test, body, carries, finds=()):
    changing, starts, names = moving(carry, body, carries), list(carry), dict[Dim, Dim]()
    if changing and len(changing) == len(finds):
        names = dict(zip(changing, finds, strict=True))
        starts = [v.type for v in body.inputs[:carries]] + starts[carries:]
    _same([v.type for v in test.inputs], starts, "the test's inputs")
    _same([v.type for v in body.inputs], starts, "the body's inputs")
    _is_truth(test.outputs[0].type)
    for found, start in zip(body.outputs, starts[:carries], strict=True):
        ends = [s if s in names else e for e, s in zip(found.type.shape, start.shape, strict=False)]
        _same([_with(found.type, ends)], [start], "the body's outputs")
    return tuple(_with(t, [names.get(d, d) for d in t.shape]) for t in starts[:carries])


def moving(carry: Sequence[Type], body: Program, carries: int) -> list[str]:
    """The names that the body has for extents that trips change."""
    inside = [v.type for v in body.inputs[:carries]]
    _alike(list(carry[:carries]), inside, "the body's inputs")
    pairs = [pair for a, b in zip(carry, inside, strict=False) for pair in zip(a.shape, b.shape, strict=True)]
    return list(dict.fromkeys(b for a, b in pairs if a != b and isinstance(b, str)))


def _alike(have: Sequence[Type], want: Sequence[Type], what: str) -> None:
    """Types that may differ in extents."""
    without = [[dataclasses.replace(t, shape=(0,) * len(t.shape)) for t in types] for types in (have, want)]
    _same(without[0], without[1], what)


def _is_truth(condition: Type) -> None:
    if condition.dtype is not bool_ or any(d != 1 for d in condition.shape):
        raise InternalError("D2S9001", f"a condition is one bool, not {condition}")


def _same(have: list[Type], want: list[Type], what: str) -> None:
    if have != want:
        raise InternalError("D2S9001", f"{what} are {have}, expected {want}")


@op(paddle=None)
def call(carry, body: Any, carries: int, name: Any):
    """A function that may call itself, by `again` of this name; of its inputs, only the first `carries` change then."""


@call.rule("infer")
def _(*carry, body, carries, name):
    _same([v.type for v in body.inputs], list(carry), "the body's inputs")
    return tuple(v.type for v in body.outputs)


@op(paddle=None)
def again(carry, name: Any, results: Any):
    """The innermost `call` of this name around it, on other inputs; `results` are dtypes, shapes and kinds of its outputs."""


@again.rule("infer")
def _(*carry, name, results):
    return tuple(STACK if one == "stack" else Type(*one) for one in results)


def described(types: Any) -> tuple[Any, ...]:
    """Types as an attribute says them."""
    return tuple("stack" if t is STACK else (t.dtype, t.shape, t.python) for t in types)


@op(paddle=None)
def fused(captured, body: Any):
    """What a Program of elementwise ops computes, in one kernel."""


@fused.rule("infer")
def _(*captured, body):
    _same([v.type for v in body.inputs], list(captured), "the body's inputs")
    return tuple(v.type for v in body.outputs)


@op(paddle="fill_constant", onnx="Constant")
def constant(value: Any, dtype: DType, python: bool):
    """A number known at capture."""


@constant.rule("infer")
def _(value, dtype, python):
    return Type(dtype, (), python)


@op(paddle=None)
def stack() -> None:
    """An empty stack of residuals."""


@stack.rule("infer")
def _():
    return STACK


@op(paddle=None)
def push(stack, x, slot: Any = -1):
    """The stack with one value more; a stack is used by one reader only. `slot` is the number of the pop that takes it."""


@push.rule("infer")
def _(stack, x, slot=-1):
    return STACK


@op(paddle=None)
def pop(stack, *sizes, dtype: DType, shape: Any, python: bool, slot: Any = -1, finds: Any = ()):
    """The stack without its last value, and that value, whose type is given; `sizes` are the extents it finds."""


@pop.rule("infer")
def _(stack, *sizes, dtype, shape, python, slot=-1, finds=()):
    return STACK, Type(dtype, shape, python)


@op(paddle=None)
def renamed(x, *sizes, shape: Any, finds: Any):
    """x with other names for its extents, which are `sizes`; where the name is a number, the run checks that it is.

    >>> d2s.ops.control.renamed(d2s.to_tensor([1.0, 2.0]), shape=(2,), finds=()).tolist()
    [1.0, 2.0]
    """


@renamed.rule("infer")
def _(x, *sizes, shape, finds):
    return Type(x.dtype, shape, x.python)


@renamed.rule("requires")
def _(x, *sizes, shape, finds):
    return [(a, b) for a, b in zip(x.shape, shape, strict=True) if a != b and b not in finds]


@renamed.rule("kernel")
def _(x, *sizes_and_out, shape, finds):
    return [x.shape], "for i in range(n0):\n    out[i] = x[i]\n"


@renamed.rule("vjp")
def _(g, out, x, *sizes, shape, finds):
    return lambda: called_as(g, current().type_of(x).shape), *(None for _ in sizes)  # type: ignore[union-attr]


def called_as(x: Any, shape: Shape) -> Any:
    """x, whose extents are those of a shape, with the names they have there."""
    have = current().type_of(x).shape  # type: ignore[union-attr]
    new = {d: k for k, d in enumerate(shape) if isinstance(d, str) and d != have[k]}
    return renamed(x, *(cast(extent(x, k), int64) for k in new.values()), shape=shape, finds=tuple(new)) if have != shape else x


@op(paddle=None)
def hole(*defining, dtype: DType, shape: Any, python: bool):
    """A value that is not there, on a path where another one is; nothing reads it. The inputs define its extents."""


@hole.rule("infer")
def _(*defining, dtype, shape, python):
    return Type(dtype, shape, python)


@hole.rule("vjp")
def _(g, out, *defining, dtype, shape, python):
    return (None,) * len(defining)


@op(paddle=None)
def fail(*changed, error: Any, stores: Any = None):
    """Ends the run with an exception; `changed` are the values that `stores` leaves in what was there before."""


@fail.rule("infer")
def _(*changed, error, stores=None):
    return ()


@op(paddle=None)
def stream():
    """Seed and counter of the random numbers, in a file; what runs it says where they are (`export/streams.py`)."""


@stream.rule("infer")
def _():
    return Type(int64), Type(int64)


@op(paddle=None)
def moved(counter):
    """Where a file's Program leaves the stream."""


@moved.rule("infer")
def _(counter):
    return ()


@op(paddle=None)
def host(
    *inputs,
    call: Any,
    dtype: DType,
    shape: Any,
    python: bool,
    count: Any = None,
    stores: Any = None,
    finds: Any = None,
    told: Any = None,
):
    """A step that Python takes: `call` gets the first `count` inputs, the others are what the run has changed so far.

    With `finds` they are the numbers of its extents. `told`: by which inputs, the last ones, it is told of which of those
    that it is given whether they want a gradient.
    """


@host.rule("infer")
def _(*inputs, call, dtype, shape, python, count=None, stores=None, finds=None, told=None):
    return Type(dtype, shape, python)


@host.rule("vjp")
def _(g, out, *inputs, call, dtype, shape, python, count=None, stores=None, finds=None, told=None):
    return (None,) * len(inputs)


@op(paddle=None)
def update(parameter, gradient, *more, rule: Any, state: Any):
    """A step of an optimizer, written where the parameter and its state lie; in the end they hold what the results are.

    `more` is the state, then the numbers of the step and, of a gradient not every path has, the bool that says it is there.
    `state` names the state, `rule` has the text of the kernel, by dtype. Only the top level of a Program has such nodes.
    """


@update.rule("infer")
def _(parameter, gradient, *more, rule, state):
    _same([gradient], [parameter], "the gradient")
    return parameter, *more[: len(state)]
