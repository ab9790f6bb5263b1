"""Ops that read class labels: cross entropy of logits, the value at a label, and its transpose.

In: scores with classes along one axis, and integer labels without that axis (or with 1 for it). A label that is
`ignore_index` contributes nothing and gets no gradient; any other one outside of the classes is an error.

>>> from d2s.types import float32, int64
>>> pick_class.infer([Type(float32, ("n", 4)), Type(int64, ("n",))], {"axis": 1, "ignore_index": -100})
(f32[n],)
"""

import contextlib
import functools

from d2s.errors import ArgumentError, DTypeError, ShapeError, brief
from d2s.ops.lines import SUM, Do, Each, Let, Step, Total, kernel, put
from d2s.ops.op import OPS, Op, Share, op
from d2s.ops.reduce import kept_shape
from d2s.ops.shapes import fitting
from d2s.ops.softmax import along, floats, one_axis, peak_of
from d2s.ops.tree import Part, over_a_run
from d2s.types import Shape, Type

PLACE = """\
@inlined
def place_of(label, classes, ignored):
    if label == ignored:
        return -1
    return label if (label >= 0) & (label < classes) else -2

"""
BAD = Do("if {place} == -2: r[o[fault]] = 1")


def _place(ignore_index: int) -> Let:
    """The class of a line: -1 where it is ignored, -2 where it is none."""
    return Let("place", f"place_of(int64(label[{{line}}]), classes, {ignore_index})", "i64_local64")


def _with_labels(steps: list[Step], x: Type, axis: int):
    groups = along(x, axis)
    extents, body, share, above = kernel(steps, groups)
    classes = next(k for k, group in enumerate(groups) if group.reduced)
    return extents, f"classes = n{classes}\n{body}", share, PLACE + above


def _lines(x: Type, axis: int) -> Shape:
    return kept_shape(x.shape, (axis,), False)


def _label_rules(of: Op) -> None:
    """Attributes and errors of an op of scores and labels."""

    @of.rule("canonical")
    def _(x, label, *others, axis, ignore_index):
        if not isinstance(ignore_index, int) or isinstance(ignore_index, bool):
            raise ArgumentError("D2S0004", f"{of.name}(): 'ignore_index' is {brief(ignore_index)}, expected an int")
        return {"axis": one_axis(axis, len(x.shape), of.name), "ignore_index": ignore_index}

    @of.rule("fault")
    def _(value, x, label, axis, ignore_index):
        message = f"{of.name}(): 'label' holds a number that is none of the {x.shape[axis]} classes"
        return ArgumentError("D2S0004", message, hint=f"a label of {ignore_index} (ignore_index) is left out")


def check_labels(name: str, x: Type, label: Type, axis: int) -> None:
    """Refuses labels that do not go with scores."""
    floats(name, x)
    if label.dtype.kind != "i":
        raise DTypeError("D2S0003", f"{name}(): 'label' is {label.dtype.name}, expected integers")
    with contextlib.suppress(ShapeError):
        if x.shape:
            fitting(name, "label", label.shape, _labelled(x, label, axis))
            return
    wanted = list(_lines(x, axis)) if x.shape else "at least one axis"
    raise ShapeError("D2S0002", f"{name}(): 'label' has shape {list(label.shape)}, {x} needs {wanted}")


def _labelled(x: Type, label: Type, axis: int) -> Shape:
    """The shape of labels of some scores: with the axis of the classes or without it."""
    return kept_shape(x.shape, (axis,), len(label.shape) == len(x.shape))


@op(paddle=None, onnx="SoftmaxCrossEntropyLoss")
def class_entropy(x, label, axis: int, ignore_index: int):
    """Minus the logarithm of the softmax at each label; behind it what its gradient reads: the largest score, and the rest.

    >>> loss, _, _ = d2s.ops.label.class_entropy(d2s.to_tensor([[0.0, 0.0]]), d2s.to_tensor([1]), -1, -100)
    >>> print(loss.numpy().round(4))
    [0.6931]
    """


_label_rules(class_entropy)


@class_entropy.rule("infer")
def _(x, label, axis, ignore_index):
    check_labels("class_entropy", x, label, axis)
    return (Type(x.dtype, _lines(x, axis)),) * 3


@class_entropy.rule("requires")
def _(x, label, axis, ignore_index):
    return fitting("class_entropy", "label", label.shape, _labelled(x, label, axis))


@class_entropy.rule("kernel")
def _(x, label, *out, axis, ignore_index):
    whole = Total("whole", SUM, "x", "vm.exp(x[k] - {peak})", uses=("peak",))
    steps = [peak_of(x), whole, Let("rest", "vm.log({whole})"), _place(ignore_index), BAD]
    steps += [put("out1", "{peak}"), put("out2", "{rest}"), put("out", "T(0)")]
    steps += [Do("if {place} >= 0: out[{line}] = {rest} - (x[{first} + {place} * {step}] - {peak})")]
    return _with_labels(steps, x, axis)


@class_entropy.rule("vjp")
def _(g, out, x, label, axis, ignore_index):
    return lambda: class_entropy_grad(g, x, label, out[1], out[2], axis, ignore_index), None


@op(paddle=None)
def class_entropy_grad(cotangent, x, label, top, rest, axis: int, ignore_index: int):
    """The gradient of `class_entropy`: the softmax, less 1 at the label, times what came in for its line.

    >>> x, y = d2s.to_tensor([[0.0, 0.0]]), d2s.to_tensor([1])
    >>> loss, top, rest = d2s.ops.label.class_entropy(x, y, -1, -100)
    >>> print(d2s.ops.label.class_entropy_grad(loss / loss, x, y, top, rest, -1, -100).numpy().round(4))
    [[ 0.5 -0.5]]
    """


@class_entropy_grad.rule("canonical")
def _(cotangent, x, label, top, rest, axis, ignore_index):
    return class_entropy.canonical([x, label], {"axis": axis, "ignore_index": ignore_index})


@class_entropy_grad.rule("infer")
def _(cotangent, x, label, top, rest, axis, ignore_index):
    check_labels("class_entropy_grad", x, label, axis)
    return x


@class_entropy_grad.rule("kernel")
def _(cotangent, x, label, top, rest, out, axis, ignore_index):
    steps = [_place(ignore_index), Let("scale", "select({place} < 0, T(0), cotangent[{line}])")]
    steps += [Let("shift", "top[{line}]"), Let("less", "rest[{line}]")]
    steps += [Each("out[k] = vm.exp((x[k] - {shift}) - {less}) * {scale}")]
    steps += [Do("if {place} >= 0: out[{first} + {place} * {step}] -= {scale}")]
    return _with_labels(steps, x, axis)


@class_entropy_grad.rule("vjp")
def _(g, out, cotangent, x, label, top, rest, axis, ignore_index):
    def line(of, like):
        return OPS["spread"](of, like, axis, False)

    def seen(lines):
        return OPS["where"](OPS["equal"](OPS["reshape_like"](label, lines), ignore_index), 0.0, lines)

    def of_cotangent():
        return seen(OPS["sum"](g * softmaxes(), axis)) - pick_class(g, label, axis, ignore_index)

    @functools.cache
    def softmaxes():
        return OPS["exp"](x - line(top, x) - line(rest, x))

    def of_x():
        return line(seen(cotangent), x) * OPS["softmax_grad"](g, softmaxes(), axis)

    return of_cotangent, of_x, None, None, None


@op(paddle=None)
def pick_class(x, label, axis: int, ignore_index: int):
    """The element of each line along an axis that its label names; 0 where the label is to be ignored.

    >>> d2s.ops.label.pick_class(d2s.to_tensor([[1.0, 2.0]]), d2s.to_tensor([1]), -1, -100).numpy().tolist()
    [2.0]
    """


_label_rules(pick_class)


@pick_class.rule("infer")
def _(x, label, axis, ignore_index):
    check_labels("pick_class", x, label, axis)
    return Type(x.dtype, _lines(x, axis))


@pick_class.rule("requires")
def _(x, label, axis, ignore_index):
    return fitting("pick_class", "label", label.shape, _labelled(x, label, axis))


@pick_class.rule("kernel")
def _(x, label, out, axis, ignore_index):
    steps = [_place(ignore_index), BAD, put("out", "T(0)")]
    steps += [Do("if {place} >= 0: out[{line}] = x[{first} + {place} * {step}]")]
    return _with_labels(steps, x, axis)


@pick_class.rule("vjp")
def _(g, out, x, label, axis, ignore_index):
    return lambda: place_class(g, label, x, axis, ignore_index), None


@op(paddle=None)
def place_class(x, label, like, axis: int, ignore_index: int):
    """The transpose of `pick_class`: x at the label of its line, 0 elsewhere, in the shape of `like`.

    >>> like = d2s.to_tensor([[0.0, 0.0]])
    >>> d2s.ops.label.place_class(d2s.to_tensor([3.0]), d2s.to_tensor([1]), like, -1, -100).numpy().tolist()
    [[0.0, 3.0]]
    """


@place_class.rule("canonical")
def _(x, label, like, axis, ignore_index):
    return pick_class.canonical([like, label], {"axis": axis, "ignore_index": ignore_index})


@place_class.rule("fault")
def _(value, x, label, like, axis, ignore_index):
    return pick_class.rules["fault"](value, like, label, axis=axis, ignore_index=ignore_index)


@place_class.rule("infer")
def _(x, label, like, axis, ignore_index):
    check_labels("place_class", like, label, axis)
    fitting("place_class", "x", x.shape, _lines(like, axis))
    if x.dtype is not like.dtype:
        raise DTypeError("D2S0003", f"place_class(): 'x' is {x.dtype.name}, 'like' {like.dtype.name}")
    return like


@place_class.rule("requires")
def _(x, label, like, axis, ignore_index):
    lines = fitting("place_class", "x", x.shape, _lines(like, axis))
    return [*lines, *fitting("place_class", "label", label.shape, _labelled(like, label, axis))]


@place_class.rule("kernel")
def _(x, label, like, out, axis, ignore_index):
    steps = [_place(ignore_index), BAD, Each("out[k] = T(0)")]
    steps += [Do("if {place} >= 0: out[{first} + {place} * {step}] = x[{line}]")]
    return _with_labels(steps, like, axis)


@place_class.rule("vjp")
def _(g, out, x, label, like, axis, ignore_index):
    return lambda: pick_class(g, label, axis, ignore_index), None, None


@op(paddle=None, onnx="Gather(weight, label)")
def class_weight(weight, label, ignore_index: int):
    """The weight of each label's class; 0 where the label is to be ignored.

    >>> d2s.ops.label.class_weight(d2s.to_tensor([1.0, 0.5]), d2s.to_tensor([1, 0]), -100).numpy().tolist()
    [0.5, 1.0]
    """


@class_weight.rule("infer")
def _(weight, label, ignore_index):
    floats("class_weight", weight)
    if len(weight.shape) != 1 or label.dtype.kind != "i":
        message = f"class_weight(): 'weight' is {weight}, 'label' {label}: expected a number per class, and integers"
        raise ShapeError("D2S0002", message)
    return Type(weight.dtype, label.shape)


@class_weight.rule("kernel")
def _(weight, label, out, ignore_index):
    body = f"""\
for i in range(lo, hi):
    place = place_of(int64(label[i]), n1, {ignore_index})
    if place == -2: r[o[fault]] = 1
    out[i] = weight[place] if place >= 0 else T(0)
"""
    return [label.shape, weight.shape], body, Share("n0", "4096"), PLACE


@class_weight.rule("fault")
def _(value, weight, label, ignore_index):
    return pick_class.rules["fault"](value, weight, label, axis=0, ignore_index=ignore_index)


@class_weight.rule("vjp")
def _(g, out, weight, label, ignore_index):
    return None, None


@op(paddle=None)
def mean_of_seen(x, label, ignore_index: int):
    """The sum of all elements, divided by the number of labels that are not to be ignored; 0 where there are none.

    >>> d2s.ops.label.mean_of_seen(d2s.to_tensor([3.0, 0.0]), d2s.to_tensor([1, -100]), -100).item()
    3.0
    """


_COUNTED = """\
@inlined
def count_of(label, count, ignored):
    seen = 0
    for i in range(count):
        seen += select(int64(label[i]) != ignored, 1, 0)
    return select(seen > 0, seen, 1)

"""


@mean_of_seen.rule("infer")
def _(x, label, ignore_index):
    return Type(x.dtype)


@mean_of_seen.rule("kernel")
def _(x, label, out, ignore_index):
    body = f"out[0] = sum_of(x, 0, n0) / T(count_of(label, n1, {ignore_index}))\n"
    return [x.shape, label.shape], body, None, _COUNTED + over_a_run("sum_of", "x", [Part("x[k]", SUM)])


@mean_of_seen.rule("vjp")
def _(g, out, x, label, ignore_index):
    return lambda: share_of_seen(g, x, label, ignore_index), None


@op(paddle=None)
def share_of_seen(x, like, label, ignore_index: int):
    """One number divided by the number of labels that are not to be ignored, in the shape of `like`.

    >>> like, label = d2s.to_tensor([0.0, 0.0]), d2s.to_tensor([1, 0])
    >>> d2s.ops.label.share_of_seen(d2s.to_tensor(3.0), like, label, -100).numpy().tolist()
    [1.5, 1.5]
    """


@share_of_seen.rule("infer")
def _(x, like, label, ignore_index):
    return Type(x.dtype, like.shape)


@share_of_seen.rule("kernel")
def _(x, like, label, out, ignore_index):
    body = f"share = x[0] / T(count_of(label, n1, {ignore_index}))\nfor i in range(n0):\n    out[i] = share\n"
    return [like.shape, label.shape], body, None, _COUNTED


@share_of_seen.rule("vjp")
def _(g, out, x, like, label, ignore_index):
    return lambda: mean_of_seen(g, label, ignore_index), None, None
