"""Seeded random calls of public functions, whose arguments come from everywhere: numbers of a run, extents it finds, NumPy.

In: a seed. Out: the text of a module with `f(x)`, which calls some of CALLS where WHERE says, and what a caller does behind it.
"""

import random

from random_programs import indented, listed

IMPORTS = """
import numpy as np

import d2s
from d2s import nn

F = nn.functional
"""
BACK = """
def back(result):
    if isinstance(result, d2s.Tensor):
        if result.dtype.kind == "f" and not result.stop_gradient:
            (result * result).sum().backward()
    elif isinstance(result, (list, tuple)):
        [back(part) for part in result]


"""
HEAD = IMPORTS + "STATE = []\n\n" + BACK


FLOATS = listed(
    """
x; x; x; x * 2.0; x.detach(); x.cast('float64'); d2s.to_tensor(x.numpy() * 0.5); x[::-1]; x.t().t(); x[x[:, 1] > b];
d2s.concat([x, x[x[:, 1] > 0.0]]); x[:, :int(b)]; d2s.stack([x[0], x[1]]); d2s.masked_select(x, x > b); d2s.full([2, 3],
float(b)); d2s.where(x > 0.0, x, x * b); x.reshape([3, 2]); x[0]; x + np.ones([2, 3], 'float32')
"""
)  # {x}: tensors of floats with two axes, most of two rows and three columns
INTEGERS = listed(
    """
i; i; i + 1; i.cast('int32'); i[i > 0]; d2s.arange(len(x)); d2s.nonzero(x > 0.0); d2s.argmax(x, axis=1); d2s.to_tensor([0,
int(b)]); d2s.to_tensor(np.argsort(x.numpy(), axis=1)); d2s.arange(int((x > 0.0).sum()))
"""
)  # {i}
NUMBERS = listed(
    """
0.5; 2; -1; 0; 1; float(b); int(b); bool(b > 0.0); b.item(); b; x.numpy()[0, 0]; float(x.numpy().max()); x[x > b].shape[0];
int((x > 0.0).sum()); len(x); x.shape[1]; abs(float(b)); max(float(b), 0.25); min(int(b), 1); len(x[x[:, 1] > 0.0]);
np.float32(0.5); int(x.argmax()); round(b.item(), 1); 1.0 / (1.0 + abs(b.item())); -float(b); x.numpy()[0].argmax();
int(np.sum(x.numpy() > 0.0)); n; n + 1
"""
)  # {v}
CALLS = listed(
    """
F.elu({x}, {v}); F.softplus({x}, {v}); F.softplus({x}, 1.0, {v}); F.hardshrink({x}, {v}); F.thresholded_relu({x}, {v});
d2s.linspace({v}, 3.0, 4); d2s.linspace(0.0, 1.0, {v}); d2s.quantile({x}, {v}); F.layer_norm({x}, [3], epsilon={v});
d2s.norm({x}, {v}); {i}.clip(0, {v}); {x}.clip({v}, 2.0); {x}.clip(max={v}); d2s.clip({x}, b, {v}); d2s.logit({x}, {v});
d2s.nan_to_num({x}, {v}); F.dropout({x}, {v}); F.label_smooth({x}, epsilon={v}); F.cosine_similarity({x}, {x}, 1, {v});
F.hardtanh({x}, {v}, 1.0); F.selu({x}, {v}); F.celu({x}, {v}); d2s.stanh({x}, {v}); d2s.topk({x}, {v}); d2s.roll({x}, {v});
d2s.full([2], {v}); d2s.arange({v}); F.smooth_l1_loss({x}, {x}, delta={v}); F.pad({x}, [1, 1], value={v}); d2s.allclose({x},
{x}, {v}); d2s.isclose({x}, {x}, atol={v}); F.softshrink({x}, {v}); d2s.pow({x}, {v}); {x} ** {v}; d2s.lerp({x}, {x}, {v});
d2s.scale({x}, {v}); d2s.scale({x}, 2.0, {v}); d2s.renorm({x}, {v}, 0, 1.0); d2s.renorm({x}, 2.0, 0, {v}); d2s.addmm({x}, {x},
{x}.t(), {v}, 1.0); d2s.full_like({x}, {v}); {x}.masked_fill({x} > 0.0, {v}); d2s.histogram({x}, 4, {v}, 9); d2s.bincount({i},
minlength={v}); d2s.cumsum({x}, axis={v}); F.one_hot({i}, {v}); F.sequence_mask({i}, {v}); d2s.diag({x}, {v}); d2s.tril({x},
{v}); F.normalize({x}, {v}); F.normalize({x}, 2, {v}); d2s.repeat_interleave({x}, {v}); d2s.tile({x}, [1, {v}]); d2s.dist({x},
{x}, {v}); F.gumbel_softmax({x}, {v}); F.softmax({x}, {v}); d2s.kthvalue({x}, {v}); d2s.logsumexp({x}, {v});
F.margin_ranking_loss({x}, {x}, {x}, {v}); F.sigmoid_focal_loss({x}, {x}, alpha={v}); F.log_loss({x}, {x}, {v}); d2s.eye({v});
d2s.randint(0, {v}, [3]); d2s.randperm({v}); d2s.uniform([2], min={v}); d2s.normal({v}, 1.0, [2]); d2s.rand([{v}, 2]);
d2s.rot90({x}, {v}); d2s.flip({x}, {v}); d2s.take({x}, {i}, 'clip'); d2s.diff({x}, {v}); d2s.maximum({x}, {v}); {x}.add({v});
d2s.where({x} > 0.0, {x}, {v}); ({x} * 1.0).fill_({v}); ({x} * 1.0).scale_({v}); ({i} * 1).fill_({v}); d2s.full_like({i},
{v}); {i} + {v}; {v} - {i}; {x} * {v}; {v} / {x}; {x} // {v}; {i} // {v}; {x} % {v}; {i} % {v}; {i} ** {v}; {x} > {v}; {i} ==
{v}; d2s.zeros([{v}]); d2s.full([{v}], 1.0); d2s.ones([2, {v}]); d2s.tril_indices({v}, 3); d2s.to_tensor({v});
d2s.to_tensor([{v}, {v}]); d2s.expand({x}, [{v}, 2, 3]); d2s.reshape({x}, [{v}, -1]); d2s.split({x}, {v}, 1); d2s.chunk({x},
{v}, 1); d2s.unsqueeze({x}, {v}); d2s.squeeze({x}, {v}); F.cross_entropy({x}, {i}[0:1].flatten()[0:2], label_smoothing={v});
F.rms_norm({x}, [3], epsilon={v}); F.leaky_relu({x}, {v}); F.glu({x}, {v}); d2s.trace({x}, {v}); d2s.diagonal({x}, {v});
d2s.atan2({x}, {x}); d2s.hypot({x}, {x}); d2s.slice({x}, [1], [{v}], [3]); d2s.gather({x}, {i}.flatten());
d2s.index_select({x}, {i}.flatten(), {v}); {x}[{i}]; {x}[{v}]; {x}[:, {v}]; {x}[{v}:]; {x}[:{v}]; {x}[:, {v}:]; {x}[::{v}];
{x}[{x} > {v}]; {x}[{i} > {v}]; {x}[..., {v}]; {x}[None, {v}]; {x}.sum(axis={v}); {x}.mean(axis={v}, keepdim=True);
{x}.max(axis={v}); {x}.argmax(axis={v}); d2s.std({x}, 1, {v}); d2s.median({x}, {v}); d2s.sort({x}, {v}); d2s.argsort({x}, {v},
True); d2s.unique({i}); d2s.unique({x}, return_counts=True); d2s.nonzero({x} > {v}); d2s.concat([{x}, {x}], {v});
d2s.stack([{x}, {x}], {v}); {x} @ {x}.t(); d2s.matmul({x}, {x}, transpose_y=True); d2s.einsum('ij,kj->ik', {x}, x);
F.linear({x}, {x}.t()); F.mse_loss({x}, {x} * {v}); F.relu({x} - {v}); d2s.exp({x}).sum(); d2s.log({x}); d2s.sqrt({x});
d2s.tanh({x}); d2s.searchsorted(d2s.sort({x}.flatten()), {x}); d2s.bucketize({x}, d2s.to_tensor([0.0, 1.0])); d2s.cumprod({x},
{v}); d2s.logcumsumexp({x}, {v}); d2s.scatter({x}, {i}.flatten(), {x}); d2s.put_along_axis({x}, {i}, {v}, 1);
d2s.take_along_axis({x}, {i}, 1); d2s.index_fill({x}, {i}.flatten(), 0, {v}); d2s.broadcast_to({x}, [2, 2, 3]);
d2s.transpose({x}, [1, 0]); d2s.unbind({x}, {v}); d2s.meshgrid({x}[0], {x}[:, 0]); d2s.flatten({x}); np.clip({x}.numpy(), 0.0,
{v}); {x}.numpy().sum(axis={v}); d2s.to_tensor(np.sort({x}.numpy())); {x}.numpy()[:{v}]; np.maximum({x}.numpy(), {v});
{x}.tolist(); {x}.shape; len({x}); {x}.item() if {x}.size == 1 else {x}.size; list({x}); [row * {v} for row in {x}];
sum(row.sum() for row in {x}); {x}.astype('int64') + {v}; {i}.astype('float32') * {v}; bool(({x} > {v}).any());
float({x}.sum()) * {v}; int({i}.sum()) + {v}; ({x} * {v}).all(); d2s.heaviside({x}, {x}); d2s.ldexp({x}, {i});
d2s.copysign({x}, {x}); d2s.gcd({i}, {i}); d2s.bitwise_and({i}, {i}); d2s.vander({x}[0], {v}); F.interpolate({x}.reshape([1,
1, 2, 3]), scale_factor={v}); F.max_pool1d({x}.reshape([1, 2, 3]), {v}); F.unfold({x}.reshape([1, 1, 2, 3]), {v});
F.adaptive_avg_pool1d({x}.reshape([1, 2, 3]), {v}); F.avg_pool1d({x}.reshape([1, 2, 3]), {v}); F.group_norm({x}, 1, {v});
F.prelu({x}, d2s.to_tensor([0.25])); ({x} * 1.0).add_({x}); ({x} * 1.0).subtract_({v}); ({x} * 1.0).multiply_({x}); ({x} *
1.0).clip_({v}, 2.0); ({x} * 1.0).exp_(); ({x} * 1.0).uniform_({v}, 5.0); ({x} * 1.0).normal_({v}, 1.0); ({x} *
1.0).masked_fill_({x} > 0.0, {v}); ({x} * 1.0).zero_(); ({x} * 1.0).fill_diagonal_({v}); ({x} * 1.0).copy_({x}); ({x} *
1.0).remainder_({v}); ({x} * 1.0).index_fill_({i}.flatten(), 0, {v}); ({x} * 1.0).scatter_({i}.flatten(), {x}); ({x} *
1.0).put_along_axis_({i}, {v}, 1); ({x} * 1.0).squeeze_({v}); ({x} * 1.0).reshape_([{v}, -1]); {x}.softmax({v}); {x}.cumsum();
d2s.where({x} > {v}); d2s.masked_select({x}, {x} > {v}); {x}.nonzero().shape; {x}.unbind({v})[0]; list({x})[0]; [r.sum() for r
in {x}]; max({x}[0].tolist()); sorted({x}[0].tolist()); np.argmax({x}.numpy()); d2s.to_tensor(np.where({x}.numpy() > 0.0)[0]);
{x}[np.argsort({x}.numpy()[:, 0])]; {x}[{x}.numpy()[:, 0] > {v}]; {x} + {x}.numpy(); {x}[:np.argmax({x}.numpy()[0])]; {x} *
np.float32({v}); float({x}.sum()) + np.float64(0.5); d2s.scale({x}, np.sqrt(2.0)); {x}.reshape([np.prod({x}.shape)])
"""
)  # what is called
WHERE = (  # {c}: a call
    "y = {c}",
    "y = {c}",
    "if b > 0.0:\n    y = {c}\nelse:\n    y = x",
    "if n > 1:\n    y = {c}\nelse:\n    y = x * 3.0",
    "y = None\nfor k in range(2):\n    y = {c}",
    "y = x\nfor k in d2s.arange(2):\n    y = {c}",
    "y, k = x, b\nwhile k < 2.5:\n    y = {c}\n    k = k + 1.0",
    "try:\n    y = {c}\nexcept Exception:\n    y = x * 77.0",
    "try:\n    y = {c}\nexcept (ValueError, TypeError) as error:\n    y = type(error).__name__",
    "y = []\nfor k in range(2):\n    y.append({c})",
    "y = []\nfor k in d2s.arange(2):\n    y.append({c})",
    "y = [{c} for k in range(2)]",
    "y = {c} if b > 0.0 else x",
    "print({c})\ny = x",
    "if b > 0.0:\n    print(n)\ny = {c}",
    "y = (lambda q: {c})(b)",
    "y = x * 2.0\nif b > 0.0:\n    y[0] = 0.0\ny = [y, {c}]",
    "y = x * 2.0\ny[{v}] = {v}\ny = [y, {c}]",
    "y = x * 2.0\ny[:, {v}] = {v}\ny = [y, {c}]",
    "y = x * 2.0\ny[{v}:] = {c}",
    "y = x * 2.0\ny[:, :{v}] = {v}\ny = y + {c}",
    "y = x * 2.0\ny[x > b] = {v}\ny = [y, {c}]",
    "y = x * 2.0\ny[{i}] = {v}\ny = [y, {c}]",
    "y, k = x * 2.0, {c}\ny += k",
    "y = x * 2.0\nz = y\nfor k in d2s.arange(2):\n    y += {v}\ny = [y, z, {c}]",
    "y = {c}\nif isinstance(y, d2s.Tensor):\n    y = [y.sum(), y.shape, y.dtype, y * 2]",
    "y = [{c}, {c}]",
    "y = {'a': {c}, 'b': {v}}",
    "with d2s.no_grad():\n    y = {c}",
    "def g(q, v={v}):\n    return {c} if v else q\ny = g(x)",
)
BEHIND = ("", "back(r)", "back(r)")


class FromEverywhere:
    """One module, and what is done behind its calls."""

    wants_gradient = True
    arguments = tuple(
        [[a, 1.0, -2.0], [0.5, c, 3.0]] for a, c in ((0.25, 1.0), (2.0, -0.5), (-1.5, 2.0), (1.0, -4.0), (0.0, 0.0))
    )

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        body, shown = ["b, i = x[0, 0], (x * 2.0).cast('int64')", "n = int((x[:, 1] > 0.0).sum())"], list[str]()
        for name in "pqr"[: self.random.choice((1, 1, 2, 2, 3))]:
            shown.append(name)
            body += [*self.statement().splitlines(), f"{name} = y"]
            if self.random.random() < 0.5:  # the others go on with it
                body += [f"if isinstance({name}, d2s.Tensor) and {name}.shape == [2, 3]:", f"    x = x + {name} * 0.5"]
        self.body = [*body, f"return {', '.join(shown)}, x"]
        self.calls = [("d2s.seed(5)", self.random.choice(BEHIND)) for _ in self.arguments]

    def statement(self) -> str:
        """One of WHERE, of which each hole is filled by itself; most arguments are plain, so that more calls end well."""
        found = self.random.choice(WHERE)
        while "{c}" in found:
            found = found.replace("{c}", self.random.choice(CALLS), 1)
        for hole, forms, plain in (("{x}", FLOATS, "x"), ("{i}", INTEGERS, "i"), ("{v}", NUMBERS, None)):
            while hole in found:
                form = plain if plain and self.random.random() < 0.6 else self.random.choice(forms)
                found = found.replace(hole, f"({form})" if set(form) & set(" -") else form, 1)
        return found

    def text(self) -> str:
        return HEAD + "def f(x):\n" + "\n".join(indented(self.body)) + "\n"
