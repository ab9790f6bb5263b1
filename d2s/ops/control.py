"""Control flow and what it needs: ops whose attributes are Programs, constants, and the stack of residuals.

`cond(c, *captured) {then(captured) else(captured)}` and `while_loop(*carry, *fixed) {test(carry, fixed) body(carry, fixed)}`:
regions are closed, what they read comes in as an input. `fused(*captured) {body}` is what passes make of elementwise nodes,
behind gradients. A function that calls itself is `call(*carry, *fixed) {body(carry, fixed)}`; inside of the body, `again` is
another call of it. Interpreter, plan and gradients know these by name.

>>> from d2s import types
>>> push.infer([STACK, Type(types.float32)], {})
(stack,)
"""

from typing import Any

from d2s.errors import InternalError
from d2s.ops.op import op
from d2s.types import STACK, DType, Type, bool_


@op(paddle="conditional_block", onnx="If")
def cond(condition, captured, then: Any, otherwise: Any):
    """One of two regions, chosen at run time."""


@cond.rule("infer")
def _(condition, *captured, then, otherwise):
    _same([v.type for v in then.inputs], list(captured), "then's inputs")
    _same([v.type for v in otherwise.inputs], list(captured), "else's inputs")
    _is_truth(condition)
    _same([v.type for v in then.outputs], [v.type for v in otherwise.outputs], "the arms' outputs")
    return tuple(v.type for v in then.outputs)


@op(paddle="while", onnx="Loop")
def while_loop(carry, test: Any, body: Any, carries: int):
    """The body again and again as long as the test holds; the first `carries` inputs change, the others are fixed."""


@while_loop.rule("infer")
def _(*carry, test, body, carries):
    _same([v.type for v in test.inputs], list(carry), "the test's inputs")
    _same([v.type for v in body.inputs], list(carry), "the body's inputs")
    _is_truth(test.outputs[0].type)
    _same([v.type for v in body.outputs], list(carry[:carries]), "the body's outputs")
    return carry[:carries]


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
def pop(stack, dtype: DType, shape: Any, python: bool, slot: Any = -1):
    """The stack without its last value, and that value, whose type is given."""


@pop.rule("infer")
def _(stack, dtype, shape, python, slot=-1):
    return STACK, Type(dtype, shape, python)


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
def host(*inputs, call: Any, dtype: DType, shape: Any, python: bool, count: Any = None, stores: Any = None):
    """A step that Python takes: `call` gets the first `count` inputs, the others are what the run has changed so far."""


@host.rule("infer")
def _(*inputs, call, dtype, shape, python, count=None, stores=None):
    return Type(dtype, shape, python)


@host.rule("vjp")
def _(g, out, *inputs, call, dtype, shape, python, count=None, stores=None):
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
