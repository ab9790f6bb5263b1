"""Softmax and its kin, one kernel each, along any axis; their gradients are kernels of their own.

In: numbers of any size. Out: shares of a whole, or their logarithms. The largest element is taken away before exponentials.

>>> from d2s.types import float32
>>> softmax_.infer([Type(float32, ("n", 4))], {"axis": 1})
(f32[n,4],)
"""

from typing import Any

from d2s.errors import DTypeError
from d2s.ops.compare import cast
from d2s.ops.lines import SUM, Each, Let, Total, along_lines, groups_of, kernel, put
from d2s.ops.op import OPS, axes, flag, op
from d2s.ops.reduce import kept_shape, spread, sum
from d2s.ops.tree import extreme
from d2s.types import Type

# A finite element counts as e^-64 of the largest one, if it is less, as in Paddle: so the logarithm of its share is a number.
FLOORED = "vm.exp(vm.select(x[k] - {peak} < T(-64), T(-64), x[k] - {peak}))"
FINITE = "@inlined\ndef finite(v):\n    return select(abs_of(v) == T(math.inf), T(0), v)\n\n"


def one_axis(axis: Any, rank: int, name: str) -> int:
    """An axis as a number that is not negative; of 0-D the only one there could be."""
    if type(axis) is int and -rank <= axis < rank:
        return axis % rank
    return axes(axis, max(rank, 1), name)[0] if isinstance(axis, int) else axes([axis], rank, name)[0]


def peak_of(x: Type) -> Total:
    """The largest element of a line."""
    return Total("peak", extreme("max", x.dtype), "x", "x[k]")


def along(x: Type, axis: int):
    """The groups of a shape whose lines go along one axis."""
    return groups_of(x.shape, (axis,) if x.shape else ())


def no_bools(name: str, x: Type) -> None:
    """Refuses bools, which have no order."""
    if x.dtype.kind == "b":
        raise DTypeError("D2S0003", f"{name}() does not take bool")


def floats(name: str, *operands: Type) -> None:
    """Refuses what is not a float, or not of one dtype."""
    if operands[0].dtype.kind != "f" or len({t.dtype for t in operands}) > 1:
        raise DTypeError("D2S0003", f"{name}() does not take {', '.join(t.dtype.name for t in operands)}")


@op(paddle="softmax", onnx="Softmax")
def softmax_(x, axis: int = -1):
    """Exponentials, divided by their sum along an axis.

    >>> d2s.ops.softmax.softmax_(d2s.to_tensor([0.0, 0.0])).numpy().tolist()
    [0.5, 0.5]
    """


@softmax_.rule("canonical")
def _(x, axis):
    return {"axis": one_axis(axis, len(x.shape), "softmax")}


@softmax_.rule("infer")
def _(x, axis):
    floats("softmax", x)
    return x


@along_lines(softmax_)
def _(x, out, axis):
    exponentials = [
        peak_of(x),
        Each(f"out[k] = vm.select(x[k] == -T(math.inf), T(0), {FLOORED})"),
        Total("whole", SUM, "out", "out[k]"),
    ]
    return [*exponentials, Let("scale", "T(1) / {whole}"), Each("out[k] = out[k] * {scale}")], along(x, axis)


@softmax_.rule("vjp")
def _(g, out, x, axis):
    return lambda: softmax_grad(g, out, axis)


@op(paddle=None)
def softmax_grad(x, y, axis: int):
    """y * (x - the sum of x * y along an axis): the gradient x of a softmax y, passed on.

    >>> y = d2s.to_tensor([0.5, 0.5])
    >>> d2s.ops.softmax.softmax_grad(d2s.to_tensor([1.0, 0.0]), y, -1).numpy().tolist()
    [0.25, -0.25]
    """


@softmax_grad.rule("canonical")
def _(x, y, axis):
    return {"axis": one_axis(axis, len(x.shape), "softmax_grad")}


@softmax_grad.rule("infer")
def _(x, y, axis):
    floats("softmax_grad", x, y)
    return x


@along_lines(softmax_grad)
def _(x, y, out, axis):
    steps = [Total("common", SUM, "x, y", "x[k] * y[k]"), Each("out[k] = y[k] * (x[k] - {common})")]
    return steps, along(x, axis)


@softmax_grad.rule("vjp")
def _(g, out, x, y, axis):
    def of_y():
        return g * (x - sum(x * y, axis, None, True)) - x * sum(g * y, axis, None, True)

    return lambda: softmax_grad(g, y, axis), of_y


@op(paddle="log_softmax", onnx="LogSoftmax")
def log_softmax_(x, axis: int = -1):
    """The logarithm of a softmax, without the detour.

    >>> d2s.ops.softmax.log_softmax_(d2s.to_tensor([0.0])).numpy().tolist()
    [0.0]
    """


@log_softmax_.rule("canonical")
def _(x, axis):
    return {"axis": one_axis(axis, len(x.shape), "log_softmax")}


@log_softmax_.rule("infer")
def _(x, axis):
    floats("log_softmax", x)
    return x


@along_lines(log_softmax_)
def _(x, out, axis):
    exponentials = [peak_of(x), Each("out[k] = vm.exp(x[k] - {peak})"), Total("whole", SUM, "out", "out[k]")]
    return [*exponentials, Let("rest", "vm.log({whole})"), Each("out[k] = (x[k] - {peak}) - {rest}")], along(x, axis)


@log_softmax_.rule("vjp")
def _(g, out, x, axis):
    return lambda: log_softmax_grad(g, out, axis)


@op(paddle=None)
def log_softmax_grad(x, y, axis: int):
    """x - exp(y) * the sum of x along an axis: the gradient x of a log_softmax y, passed on.

    >>> y = d2s.nn.functional.log_softmax(d2s.to_tensor([0.0, 0.0]))
    >>> print(d2s.ops.softmax.log_softmax_grad(d2s.to_tensor([1.0, 0.0]), y, -1).numpy().round(3))
    [ 0.5 -0.5]
    """


@log_softmax_grad.rule("canonical")
def _(x, y, axis):
    return {"axis": one_axis(axis, len(x.shape), "log_softmax_grad")}


@log_softmax_grad.rule("infer")
def _(x, y, axis):
    floats("log_softmax_grad", x, y)
    return x


@along_lines(log_softmax_grad)
def _(x, y, out, axis):
    return [Total("whole", SUM, "x", "x[k]"), Each("out[k] = x[k] - vm.exp(y[k]) * {whole}")], along(x, axis)


@log_softmax_grad.rule("vjp")
def _(g, out, x, y, axis):
    return (
        lambda: g - sum(g * OPS["exp"](y), axis, None, True),
        lambda: OPS["neg"](g * OPS["exp"](y) * sum(x, axis, None, True)),
    )


def softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Any:
    """Exponentials, divided by their sum along an axis; of x in another dtype, if one is given.

    >>> d2s.nn.functional.softmax(d2s.to_tensor([0.0, 0.0])).numpy().tolist()
    [0.5, 0.5]
    """
    return softmax_(x if dtype is None else cast(x, dtype), axis)


def log_softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Any:
    """The logarithm of a softmax, without the detour; of x in another dtype, if one is given.

    >>> d2s.nn.functional.log_softmax(d2s.to_tensor([0.0])).numpy().tolist()
    [0.0]
    """
    return log_softmax_(x if dtype is None else cast(x, dtype), axis)


@op(paddle="logsumexp", onnx="ReduceLogSumExp")
def logsumexp(x, axis: Any = None, keepdim: bool = False):
    """The logarithm of the sum of exponentials over some axes, or over all.

    >>> d2s.logsumexp(d2s.to_tensor([0.0, float("-inf")])).item()
    0.0
    """


@logsumexp.rule("canonical")
def _(x, axis, keepdim):
    named = None if isinstance(axis, (list, tuple)) and not axis else axis
    return {"axis": axes(named, len(x.shape), "logsumexp"), "keepdim": flag(keepdim, "keepdim")}


@logsumexp.rule("infer")
def _(x, axis, keepdim):
    floats("logsumexp", x)
    return Type(x.dtype, kept_shape(x.shape, axis, keepdim))


@logsumexp.rule("kernel")
def _(x, out, axis, keepdim):
    whole = Total("whole", SUM, "x", "vm.exp(x[k] - {top})", uses=("top",))
    steps = [peak_of(x), Let("top", "finite({peak})"), whole, put("out", "{top} + vm.log({whole})")]
    *rest, above = kernel(steps, groups_of(x.shape, axis))
    return *rest, FINITE + above


@logsumexp.rule("vjp")
def _(g, out, x, axis, keepdim):
    return lambda: spread(g, x, axis, keepdim) * OPS["exp"](x - spread(out, x, axis, keepdim))
