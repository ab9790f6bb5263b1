"""Normalisation: lines brought to mean 0 and variance 1, scaled and shifted; one kernel each way.

In: values and, where `weighted` and `shifted` say so, a weight and a bias. Out: the normalised values and, behind them, what
gradients and running averages read of each line. Sums go by the law of `tree.py`, over differences from the mean: nothing is
lost where the mean is large. What a line is, the groups of a kernel say: the last axes, a channel, some channels of a sample.

>>> from d2s.types import float32
>>> x = Type(float32, ("n", 4))
>>> layer_norm_.infer([x], {"dims": 1, "centred": True, "epsilon": 1e-5, "weighted": False, "shifted": False})
(f32[n,4], f32[n], f32[n])
"""

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

from d2s.errors import ArgumentError, ShapeError, brief
from d2s.ops.lines import SUM, Each, Group, Let, Step, Total, along_lines, groups_of, kernel, put
from d2s.ops.op import Op, flag, op
from d2s.ops.shapes import unnamed
from d2s.ops.softmax import floats
from d2s.types import Shape, Type


def positive(name: str, argument: str, value: Any) -> float:
    """A number that is not negative."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise ArgumentError("D2S0004", f"{name}(): '{argument}' is {brief(value)}, expected a number that is not negative")
    return float(value)


# --- steps that norms share --------------------------------------------------------------------------------------------------


def moments(epsilon: float, centred: bool = True) -> list[Step]:
    """The mean and the variance of a line, and one over its standard deviation; around 0 where it is not centred."""
    centre = [Total("whole", SUM, "x", "x[k]"), Let("mean", "{whole} / {count}")] if centred else [Let("mean", "T(0)")]
    squares = Total("squares", SUM, "x", "(x[k] - {mean}) * (x[k] - {mean})", uses=("mean",))
    return [*centre, squares, Let("variance", "{squares} / {count}"), scale(epsilon)]


def scale(epsilon: float) -> Let:
    return Let("scale", f"vm.rsqrt({{variance}} + T({epsilon!r}))")


def normalised(at: str, weighted: bool, shifted: bool) -> Each:
    """The element of the result; `at` says which element of weight and bias goes with it."""
    weight, bias = f" * affine0[{at}]" if weighted else "", f" + affine{int(weighted)}[{at}]" if shifted else ""
    return Each(f"out[k] = (x[k] - {{mean}}) * {{scale}}{weight}{bias}")


def pulled(weighted: bool, centred: bool, at: str, factor: str, run: tuple[str, str]) -> list[Step]:
    """Through a normalisation: the cotangent, less its mean, less its part along the normalised line.

    `at` says which element of the weight goes with an element; in a total that is `factor`, which reads the `run`: a name
    and its value for each run.
    """
    weight = f" * {factor}" if weighted else ""
    given, each_run = "cotangent, x" + (", weight0" if weighted else ""), ((run,) if weighted else ())
    parts = Total("parts", SUM, given, f"(cotangent[k]{weight}) * (x[k] - {{mean}})", ("mean",), each_run=each_run)
    common = Total("common", SUM, given, f"cotangent[k]{weight}", each_run=each_run)
    steps: list[Step] = [parts, common, Let("shift", "{common} / {count}")] if centred else [parts, Let("shift", "T(0)")]
    steps += [Let("tilt", "{parts} * {scale} * {scale} / {count}")]
    weight = f" * weight0[{at}]" if weighted else ""
    return [*steps, Each(f"out[k] = (cotangent[k]{weight} - {{shift}} - (x[k] - {{mean}}) * {{tilt}}) * {{scale}}")]


def _affine_kernel(mean: str, deviation: str, groups: list[Group], by_row: bool, each_run: Any = ()):
    """Gradients of weight and bias: totals of the cotangent times the normalised value, and of the cotangent."""
    given = "cotangent, x, means, scales"
    element = f"cotangent[k] * ((x[k] - {mean}) * {deviation})"
    weight = Total("along", SUM, given, element, by_row=by_row, each_run=each_run)
    common = Total("common", SUM, "cotangent", "cotangent[k]")
    return kernel([weight, common, put("out", "{along}"), put("out1", "{common}")], groups)


def _settings(of: Op) -> None:
    """The attributes that norms share, checked."""

    @of.rule("canonical")
    def _(x, *affine, epsilon, weighted, shifted, **own):
        found = {"epsilon": positive(of.name, "epsilon", epsilon)}
        return own | found | {"weighted": flag(weighted, "weighted"), "shifted": flag(shifted, "shifted")}


def _types(name: str, x: Type, affine: Sequence[Type], which: tuple[bool, bool], wanted: Shape, lines: Shape):
    """The types of a norm's results, if weight and bias have the shape wanted."""
    floats(name, x, *affine)
    for argument, t in zip(itertools.compress(("weight", "bias"), which), affine, strict=True):
        if t.shape != wanted:
            raise ShapeError("D2S0002", f"{name}(): '{argument}' has shape {list(t.shape)}, expected {list(wanted)}")
    return x, Type(x.dtype, lines), Type(x.dtype, lines)


def _pull(of_x, of_affine, weighted: bool, shifted: bool):
    """Cotangents of x, weight and bias; the last two come of one kernel."""
    both = functools.cache(of_affine)
    return of_x, *([lambda: both()[0]] if weighted else []), *([lambda: both()[1]] if shifted else [])


# --- over the last axes ------------------------------------------------------------------------------------------------------


@op(paddle=None, onnx="LayerNormalization")
def layer_norm_(x, *affine, dims: int, centred: bool, epsilon: float, weighted: bool, shifted: bool):
    """Each line over the last `dims` axes normalised, around its mean or around 0; then means, and 1 / standard deviation.

    >>> norm = d2s.ops.norm.layer_norm_
    >>> x = d2s.to_tensor([[1.0, 3.0]])
    >>> norm(x, dims=1, centred=True, epsilon=0.0, weighted=False, shifted=False)[0].numpy().tolist()
    [[-1.0, 1.0]]
    """


def _split(x: Type, dims: int) -> tuple[Shape, Shape]:
    return x.shape[len(x.shape) - dims :], x.shape[: len(x.shape) - dims]


_settings(layer_norm_)


@layer_norm_.rule("infer")
def _(x, *affine, dims, centred, epsilon, weighted, shifted):
    return _types("layer_norm", x, affine, (weighted, shifted), *_split(x, dims))


def _line_groups(x: Type, dims: int, turned: bool = False) -> list[Group]:
    inner, outer = _split(x, dims)
    return [Group(turned, outer), Group(not turned, inner)]


@along_lines(layer_norm_)
def _(*tensors, dims, centred, epsilon, weighted, shifted):
    steps = [*moments(epsilon, centred), put("out1", "{mean}"), put("out2", "{scale}")]
    return [*steps, normalised("e", weighted, shifted)], _line_groups(tensors[0], dims)


@layer_norm_.rule("vjp")
def _(g, out, x, *affine, dims, centred, epsilon, weighted, shifted):
    def of_x():
        return layer_norm_grad(g, x, out[1], out[2], *affine[:weighted], dims=dims, centred=centred)

    return _pull(of_x, lambda: layer_norm_affine(g, x, out[1], out[2], dims, centred), weighted, shifted)


@op(paddle=None)
def layer_norm_grad(cotangent, x, means, scales, *weight, dims: int, centred: bool):
    """The gradient of `layer_norm_` with respect to x.

    >>> x, zero, one = d2s.to_tensor([[-1.0, 1.0]]), d2s.to_tensor([0.0]), d2s.to_tensor([1.0])
    >>> d2s.ops.norm.layer_norm_grad(x, x, zero, one, dims=1, centred=True).numpy().tolist()
    [[0.0, 0.0]]
    """


@layer_norm_grad.rule("infer")
def _(cotangent, x, means, scales, *weight, dims, centred):
    return x


@along_lines(layer_norm_grad)
def _(cotangent, x, means, scales, *weight, dims, centred):
    steps = [Let("mean", "means[{line}]"), Let("scale", "scales[{line}]")]
    steps += pulled(len(weight) > 1, centred, "e", "weight0[k - begin]", ("begin", "piece * n1"))
    return steps, _line_groups(x, dims)


@op(paddle=None)
def layer_norm_affine(cotangent, x, means, scales, dims: int, centred: bool):
    """The gradients of `layer_norm_` with respect to weight and bias.

    >>> x, zero, one = d2s.to_tensor([[-1.0, 1.0]]), d2s.to_tensor([0.0]), d2s.to_tensor([1.0])
    >>> d2s.ops.norm.layer_norm_affine(x, x, zero, one, 1, True)[0].numpy().tolist()
    [1.0, 1.0]
    """


@layer_norm_affine.rule("infer")
def _(cotangent, x, means, scales, dims, centred):
    return (Type(x.dtype, _split(x, dims)[0]),) * 2


@layer_norm_affine.rule("kernel")
def _(cotangent, x, means, scales, *out, dims, centred):
    return _affine_kernel("means[e]", "scales[e]", _line_groups(x, dims, turned=True), by_row=True)


# --- over some channels of a sample ------------------------------------------------------------------------------------------


@op(paddle=None)
def group_norm_(x, *affine, groups: int, epsilon: float, weighted: bool, shifted: bool):
    """Channels of a sample (axis 1) normalised in so many groups; then means, and 1 / standard deviation.

    >>> norm = d2s.ops.norm.group_norm_
    >>> norm(d2s.to_tensor([[1.0, 3.0]]), groups=1, epsilon=0.0, weighted=False, shifted=False)[0].numpy().tolist()
    [[-1.0, 1.0]]
    """


def _channels(x: Type, groups: int) -> tuple[Shape, Shape]:
    if len(x.shape) > 1 and isinstance(x.shape[1], str):
        raise unnamed("group_norm", f"whether 'num_groups' {groups!r:.40} divides {x.shape[1]} channels")
    if len(x.shape) < 2 or not isinstance(x.shape[1], int) or groups < 1 or x.shape[1] % groups:
        message = f"group_norm(): 'x' is {x}, expected a number of channels (axis 1) that 'num_groups' {groups!r:.40} divides"
        raise ShapeError("D2S0002", message)
    return (x.shape[1],), (x.shape[0], groups)


_settings(group_norm_)


@group_norm_.rule("infer")
def _(x, *affine, groups, epsilon, weighted, shifted):
    return _types("group_norm", x, affine, (weighted, shifted), *_channels(x, groups))


def _channel_groups(x: Type, groups: int, turned: bool = False) -> list[Group]:
    """Samples, groups, channels of a group, and the rest: what of it is reduced, forward and for the gradient of the weight."""
    dims = ((x.shape[0],), (groups,), (int(x.shape[1]) // groups,), x.shape[2:])
    return [Group(r, d) for r, d in zip((turned, False, not turned, True), dims, strict=True)]


@along_lines(group_norm_)
def _(*tensors, groups, epsilon, weighted, shifted):
    steps = [*moments(epsilon), put("out1", "{mean}"), put("out2", "{scale}")]
    return [*steps, normalised("i1 * n2 + i2", weighted, shifted)], _channel_groups(tensors[0], groups)


@group_norm_.rule("vjp")
def _(g, out, x, *affine, groups, epsilon, weighted, shifted):
    def of_x():
        return group_norm_grad(g, x, out[1], out[2], *affine[:weighted], groups=groups)

    return _pull(of_x, lambda: group_norm_affine(g, x, out[1], out[2], groups), weighted, shifted)


@op(paddle=None)
def group_norm_grad(cotangent, x, means, scales, *weight, groups: int):
    """The gradient of `group_norm_` with respect to x.

    >>> x, zero, one = d2s.to_tensor([[-1.0, 1.0]]), d2s.to_tensor([[0.0]]), d2s.to_tensor([[1.0]])
    >>> d2s.ops.norm.group_norm_grad(x, x, zero, one, groups=1).numpy().tolist()
    [[0.0, 0.0]]
    """


@group_norm_grad.rule("infer")
def _(cotangent, x, means, scales, *weight, groups):
    return x


@along_lines(group_norm_grad)
def _(cotangent, x, means, scales, *weight, groups):
    steps = [Let("mean", "means[{line}]"), Let("scale", "scales[{line}]")]
    steps += pulled(len(weight) > 1, True, "i1 * n2 + i2", "factor", ("factor", "weight0[i1 * n2 + i2]"))
    return steps, _channel_groups(x, groups)


@op(paddle=None)
def group_norm_affine(cotangent, x, means, scales, groups: int):
    """The gradients of `group_norm_` with respect to weight and bias.

    >>> x, zero, one = d2s.to_tensor([[-1.0, 1.0]]), d2s.to_tensor([[0.0]]), d2s.to_tensor([[1.0]])
    >>> d2s.ops.norm.group_norm_affine(x, x, zero, one, 1)[0].numpy().tolist()
    [1.0, 1.0]
    """


@group_norm_affine.rule("infer")
def _(cotangent, x, means, scales, groups):
    return (Type(x.dtype, x.shape[1:2]),) * 2


@group_norm_affine.rule("kernel")
def _(cotangent, x, means, scales, *out, groups):
    each_run = (("middle", "means[i0 * n1 + i1]"), ("deviation", "scales[i0 * n1 + i1]"))
    return _affine_kernel("middle", "deviation", _channel_groups(x, groups, turned=True), False, each_run)


# --- over a batch ------------------------------------------------------------------------------------------------------------


@op(paddle=None, onnx="BatchNormalization")
def batch_norm_(x, *affine, channel: int, epsilon: float, weighted: bool, shifted: bool):
    """Each channel of a batch normalised; then the means and variances of the channels.

    >>> norm = d2s.ops.norm.batch_norm_
    >>> norm(d2s.to_tensor([[1.0], [3.0]]), channel=1, epsilon=0.0, weighted=False, shifted=False)[0].numpy().tolist()
    [[-1.0], [1.0]]
    """


def _one_channel(x: Type, channel: int) -> tuple[Shape, Shape]:
    if len(x.shape) < 2:
        raise ShapeError("D2S0002", f"batch_norm(): 'x' is {x}, expected at least 2 axes")
    return x.shape[channel : channel + 1], x.shape[channel : channel + 1]


_settings(batch_norm_)


@batch_norm_.rule("infer")
def _(x, *affine, channel, epsilon, weighted, shifted):
    return _types("batch_norm", x, affine, (weighted, shifted), *_one_channel(x, channel))


def _batch_groups(x: Type, channel: int) -> list[Group]:
    return groups_of(x.shape, tuple(a for a in range(len(x.shape)) if a != channel))


@along_lines(batch_norm_)
def _(*tensors, channel, epsilon, weighted, shifted):
    steps = [*moments(epsilon), put("out1", "{mean}"), put("out2", "{variance}")]
    return [*steps, normalised("{line}", weighted, shifted)], _batch_groups(tensors[0], channel)


@batch_norm_.rule("vjp")
def _(g, out, x, *affine, channel, epsilon, weighted, shifted):
    @functools.cache
    def found():
        return batch_norm_grad(g, x, out[1], out[2], *affine[:weighted], channel=channel, epsilon=epsilon, fixed=False)

    return _pull(lambda: found()[0], lambda: found()[1:], weighted, shifted)


@op(paddle=None)
def batch_norm_grad(cotangent, x, means, variances, *weight, channel: int, epsilon: float, fixed: bool):
    """The gradients of `batch_norm_`, or with fixed means and variances of `batch_norm_fixed`: of x, weight and bias.

    >>> x, zero, one = d2s.to_tensor([[-1.0], [1.0]]), d2s.to_tensor([0.0]), d2s.to_tensor([1.0])
    >>> d2s.ops.norm.batch_norm_grad(x, x, zero, one, channel=1, epsilon=0.0, fixed=False)[1].numpy().tolist()
    [2.0]
    """


@batch_norm_grad.rule("infer")
def _(cotangent, x, means, variances, *weight, channel, epsilon, fixed):
    return x, means, means


@along_lines(batch_norm_grad)
def _(cotangent, x, means, variances, *weight, channel, epsilon, fixed):
    parts = Total("parts", SUM, "cotangent, x", "cotangent[k] * (x[k] - {mean})", uses=("mean",))
    steps = [Let("mean", "means[{line}]"), Let("variance", "variances[{line}]"), scale(epsilon), parts]
    steps += [Total("common", SUM, "cotangent", "cotangent[k]"), put("out1", "{parts} * {scale}"), put("out2", "{common}")]
    steps += [Let("factor", "{scale}" + (" * weight0[{line}]" if len(weight) > 3 else ""))]
    steps += [Let("shift", "{common} / {count}"), Let("tilt", "{parts} * {scale} * {scale} / {count}")]
    moved = "cotangent[k]" if fixed else "(cotangent[k] - {shift} - (x[k] - {mean}) * {tilt})"
    return [*steps, Each(f"out[k] = {moved} * {{factor}}")], _batch_groups(x, channel)


@op(paddle=None, onnx="BatchNormalization")
def batch_norm_fixed(x, means, variances, *affine, channel: int, epsilon: float, weighted: bool, shifted: bool):
    """Each channel of a batch normalised by a mean and a variance that are given.

    >>> norm, x = d2s.ops.norm.batch_norm_fixed, d2s.to_tensor([[1.0], [3.0]])
    >>> mean, variance = d2s.to_tensor([1.0]), d2s.to_tensor([4.0])
    >>> norm(x, mean, variance, channel=1, epsilon=0.0, weighted=False, shifted=False).numpy().tolist()
    [[0.0], [1.0]]
    """


@batch_norm_fixed.rule("canonical")
def _(x, means, variances, *affine, **attrs):
    return batch_norm_.canonical([x, *affine], attrs)


@batch_norm_fixed.rule("infer")
def _(x, means, variances, *affine, channel, epsilon, weighted, shifted):
    wanted, _ = _one_channel(x, channel)
    for name, t in (("running_mean", means), ("running_var", variances)):
        if t.shape != wanted or t.dtype is not x.dtype:
            raise ShapeError("D2S0002", f"batch_norm(): '{name}' is {t}, expected {Type(x.dtype, wanted)}")
    return _types("batch_norm", x, affine, (weighted, shifted), wanted, wanted)[0]


@along_lines(batch_norm_fixed)
def _(x, *tensors, channel, epsilon, weighted, shifted):
    steps = [Let("mean", "means[{line}]"), Let("variance", "variances[{line}]"), scale(epsilon)]
    return [*steps, normalised("{line}", weighted, shifted)], _batch_groups(x, channel)


@batch_norm_fixed.rule("vjp")
def _(g, out, x, means, variances, *affine, channel, epsilon, weighted, shifted):
    @functools.cache
    def found():
        return batch_norm_grad(g, x, means, variances, *affine[:weighted], channel=channel, epsilon=epsilon, fixed=True)

    of_x, *rest = _pull(lambda: found()[0], lambda: found()[1:], weighted, shifted)
    return of_x, None, None, *rest
