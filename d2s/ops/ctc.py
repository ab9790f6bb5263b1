"""Connectionist temporal classification: how unlikely a text is, by scores of letters at every step, over all alignments.

In: scores [steps, batch, letters], which need not be logarithms of likelihoods, texts [batch, length] of letters that are not
blank, and of how many steps and letters each really is. Out: minus the logarithm of the likelihood of each text; behind it the
gradient of their sum. Sequences do not meet: threads share them.

The text is put between blanks; alpha[s] is the likelihood of all that was read so far and of ending at its letter s, beta[s]
that of all that is still to come. Both are kept as logarithms, in the dtype of the scores.

>>> from d2s.types import float32, int64
>>> ctc.infer([Type(float32, ("t", "b", 5)), Type(int64, ("b", 3)), Type(int64, ("b",)), Type(int64, ("b",))], {"blank": 0})
(f32[b], f32[t,b,5])
"""

from d2s.errors import ArgumentError, DTypeError, ShapeError
from d2s.ops.op import Share, op
from d2s.ops.shapes import fitting
from d2s.ops.softmax import floats
from d2s.types import Type

_TEXT = """\
@inlined
def joined(x, y):
    top, low = (x, y) if x > y else (y, x)
    return top if top == T(-math.inf) else top + vm.log1p(vm.exp(low - top))

"""


@op(paddle=None)
def ctc(scores, labels, steps, lengths, blank: int):
    """How unlikely each text is; behind it the gradient.

    >>> scores, one = d2s.zeros([1, 1, 2]), d2s.ones([1], "int64")
    >>> print(d2s.ops.ctc.ctc(scores, one.reshape([1, 1]), one, one, 0)[0].numpy().round(4))
    [0.6931]
    """


@ctc.rule("infer")
def _(scores, labels, steps, lengths, blank):
    floats("ctc_loss", scores)
    for name, t in (("labels", labels), ("input_lengths", steps), ("label_lengths", lengths)):
        if t.dtype.kind != "i":
            raise DTypeError("D2S0003", f"ctc_loss(): '{name}' is {t.dtype.name}, expected whole numbers")
    if len(scores.shape) != 3 or len(labels.shape) != 2:
        wanted = "[steps, batch, letters] and [batch, length]"
        raise ShapeError("D2S0002", f"ctc_loss(): 'log_probs' is {scores}, 'labels' is {labels}, expected {wanted}")
    batch, letters = scores.shape[1:]
    for name, t in (("labels", labels), ("input_lengths", steps), ("label_lengths", lengths)):
        fitting("ctc_loss", name, t.shape, (batch, *t.shape[1:]) if name == "labels" else (batch,))
    if not 0 <= blank < (letters if isinstance(letters, int) else blank + 1):
        raise ArgumentError("D2S0004", f"ctc_loss(): 'blank' is {blank}, expected one of the {letters} letters")
    return Type(scores.dtype, (batch,)), scores


@ctc.rule("requires")
def _(scores, labels, steps, lengths, blank):
    return [pair for t in (labels, steps, lengths) for pair in fitting("ctc_loss", "labels", t.shape[:1], scores.shape[1:2])]


# the kernel's text: logarithms of the letters of each step; sums over all ways to come to a place of the text with blanks
# between its letters; how likely the text is; the same sums from the end, and with them the gradient step by step
_MEMORY = """\
memory = new_memory(SIZE * (n0 * n2 + (n0 + 2) * (2 * n3 + 1) + n2))
if memory == 0: r[o[fault]] = 1
logs = SHORT_out(memory)
alpha = SHORT_out(memory + SIZE * n0 * n2)
beta = SHORT_out(memory + SIZE * (n0 * n2 + n0 * (2 * n3 + 1)))
old = SHORT_out(memory + SIZE * (n0 * n2 + (n0 + 1) * (2 * n3 + 1)))
whole = SHORT_out(memory + SIZE * (n0 * n2 + (n0 + 2) * (2 * n3 + 1)))
"""
_CHECKED = """\
for b in range(lo, hi if memory != 0 else lo):
    count, letters = int64(steps[b]), int64(lengths[b])
    bad = (count < 0) | (count > n0) | (letters < 0) | (letters > n3)
    for s in range(0 if bad else letters):
        letter = int64(labels[b * n3 + s])
        bad = bad | (letter < 0) | (letter >= n2)
    for t in range(n0):
        for k in range(n2):
            out1[(t * n1 + b) * n2 + k] = T(0)
    out[b] = T(0)
    if bad:
        r[o[fault]] = 2
        count = 0
    width = 2 * letters + 1
"""
_LOGARITHMS = """\
    for t in range(count):
        top, total = T(-math.inf), T(0)
        for k in range(n2):
            v = scores[(t * n1 + b) * n2 + k]
            top = v if v > top else top
        for k in range(n2):
            total += vm.exp(scores[(t * n1 + b) * n2 + k] - top)
        total = vm.log(total) + top
        for k in range(n2):
            logs[t * n2 + k] = scores[(t * n1 + b) * n2 + k] - total
"""
_AHEAD = """\
    for t in range(count):
        for s in range(width):
            letter = BLANK if s & 1 == 0 else int64(labels[b * n3 + (s >> 1)])
            v = T(-math.inf)
            if t == 0:
                v = T(0) if s < 2 else v
            else:
                v = alpha[(t - 1) * width + s]
                if s > 0:
                    v = joined(v, alpha[(t - 1) * width + s - 1])
                if s > 2 and s & 1 == 1 and letter != int64(labels[b * n3 + (s >> 1) - 1]):
                    v = joined(v, alpha[(t - 1) * width + s - 2])
            alpha[t * width + s] = v + logs[t * n2 + letter]
"""
_LIKELY = """\
    likely = T(-math.inf)
    if count > 0:
        likely = alpha[(count - 1) * width + width - 1]
        if width > 1:
            likely = joined(likely, alpha[(count - 1) * width + width - 2])
    elif letters == 0:
        likely = T(0)
    out[b] = -likely
"""
_BACK = """\
    for back in range(count if likely > T(-math.inf) else 0):
        t = count - 1 - back
        for k in range(n2):
            whole[k] = T(-math.inf)
        for s in range(width):
            letter = BLANK if s & 1 == 0 else int64(labels[b * n3 + (s >> 1)])
            v = T(-math.inf)
            if back == 0:
                v = T(0) if s > width - 3 else v
            else:
                v = old[s]
                if s < width - 1:
                    v = joined(v, old[s + 1])
                if s < width - 2 and s & 1 == 1 and letter != int64(labels[b * n3 + (s >> 1) + 1]):
                    v = joined(v, old[s + 2])
            whole[letter] = joined(whole[letter], alpha[t * width + s] + v)
            beta[s] = v + logs[t * n2 + letter]
        for s in range(width):
            old[s] = beta[s]
        for k in range(n2):
            out1[(t * n1 + b) * n2 + k] = vm.exp(logs[t * n2 + k]) - vm.exp(whole[k] - likely)
"""


@ctc.rule("kernel")
def _(scores, labels, steps, lengths, out, index, blank):
    text = _MEMORY + _CHECKED + _LOGARITHMS + _AHEAD + _LIKELY + _BACK + "free_memory(memory)\n"
    body = text.replace("SHORT", scores.dtype.short).replace("BLANK", str(blank))
    extents = [(d,) for d in scores.shape] + [labels.shape[1:]]
    return extents, body, Share("n1", "1 + 16384 // (1 + n0 * (n2 + n3))"), _TEXT


@ctc.rule("fault")
def _(value, scores, labels, steps, lengths, blank):
    if value == 1:
        return ArgumentError("D2S0004", f"ctc_loss(): there is no memory for alignments of {labels} with {scores}")
    message = f"ctc_loss(): 'labels' holds a number that is none of the {scores.shape[2]} letters, or lengths are out of range"
    return ArgumentError("D2S0004", message, hint="input_lengths up to the steps, label_lengths up to the length of labels")


@ctc.rule("vjp")
def _(g, out, scores, labels, steps, lengths, blank):
    return lambda: ctc_loss_grad(g, scores, out[1]), None, None, None


@op(paddle=None)
def ctc_loss_grad(cotangent, scores, slopes):
    """The gradient of `ctc` with respect to its scores, which has none itself: the slopes times the cotangent of each text.

    >>> one = d2s.ones([2, 1, 2])
    >>> d2s.ops.ctc.ctc_loss_grad(d2s.to_tensor([3.0]), one, one).numpy().reshape([4]).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """


@ctc_loss_grad.rule("infer")
def _(cotangent, scores, slopes):
    return scores


@ctc_loss_grad.rule("kernel")
def _(cotangent, scores, slopes, out):
    row = "(piece * n1 + b) * n2 + k"
    loops = "for piece in range(lo, hi):\n    for b in range(n1):\n        for k in range(n2):\n"
    body = f"{loops}            out[{row}] = slopes[{row}] * cotangent[b]\n"
    return [(d,) for d in scores.shape], body, Share("n0", "1 + 16384 // (1 + n1 * n2)"), ""
