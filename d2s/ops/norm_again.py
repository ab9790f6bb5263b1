"""What the gradients of norms come to in ops that have gradients themselves: for gradients of gradients.

In: what a gradient's kernel takes. Out: the same values in plain ops, as they depend on x. The means and scales that the kernel
takes are made of x again; what was added to the variance is held by the scales only.

>>> x = d2s.to_tensor([[1.0, 3.0]], stop_gradient=False)
>>> y = d2s.nn.functional.layer_norm(x, 2, epsilon=1.0)
>>> (first,) = d2s.grad(y[0, 1], x, create_graph=True)
>>> print(d2s.grad(first[0, 1], x)[0].numpy().round(4))
[[ 0.1326 -0.1326]]
"""

from collections.abc import Sequence
from typing import Any

from d2s.ops.dispatch import current
from d2s.ops.exponential import rsqrt
from d2s.ops.norm import batch_norm_grad, group_norm_affine, group_norm_grad, layer_norm_affine, layer_norm_grad
from d2s.ops.reduce import mean, sum
from d2s.ops.shape import reshape, reshape_like, unsqueeze
from d2s.ops.unlearnt import unlearnt


def _rank(x: Any) -> int:
    return len(current().type_of(x).shape)  # type: ignore[union-attr]


def _normalised(x: Any, scales: Any, axes: Sequence[int], centred: bool = True) -> tuple[Any, Any]:
    """Lines along some axes normalised, and their scales, as they depend on x."""
    centre = x - mean(x, axes, True) if centred else x
    variance = mean(centre * centre, axes, True)
    moved = scales * scales * (variance - unlearnt(variance))  # 0, but its gradient is not
    scale = scales * rsqrt(moved + 1.0)
    return centre * scale, scale


def _pulled(w: Any, y: Any, scale: Any, axes: Sequence[int], centred: bool = True) -> Any:
    """The cotangent of x for that of the normalised lines y."""
    less = w - mean(w, axes, True) if centred else w
    return (less - y * mean(w * y, axes, True)) * scale


def _total(x: Any, axes: Sequence[int]) -> Any:
    return sum(x, axes) if axes else x


# --- over the last axes ------------------------------------------------------------------------------------------------------


def _last(x: Any, dims: int) -> tuple[int, ...]:
    return tuple(range(_rank(x) - dims, _rank(x)))


@layer_norm_grad.rule("composed")
def _(cotangent, x, means, scales, *weight, dims, centred):
    axes = _last(x, dims)
    y, scale = _normalised(x, unsqueeze(scales, axes), axes, centred)
    return _pulled(cotangent * weight[0] if weight else cotangent, y, scale, axes, centred)


@layer_norm_affine.rule("composed")
def _(cotangent, x, means, scales, dims, centred):
    lines, axes = tuple(range(_rank(x) - dims)), _last(x, dims)
    y, _ = _normalised(x, unsqueeze(scales, axes), axes, centred)
    return _total(cotangent * y, lines), _total(cotangent, lines)


# --- over some channels of a sample ------------------------------------------------------------------------------------------


def _along_channels(weight: Any, rank: int, channel: int) -> Any:
    return unsqueeze(weight, tuple(k for k in range(rank) if k != channel))


def _in_groups(x: Any, groups: int) -> Any:
    return reshape(x, (0, groups, -1))


@group_norm_grad.rule("composed")
def _(cotangent, x, means, scales, *weight, groups):
    y, scale = _normalised(_in_groups(x, groups), unsqueeze(scales, (2,)), (2,))
    w = cotangent * _along_channels(weight[0], _rank(x), 1) if weight else cotangent
    return reshape_like(_pulled(_in_groups(w, groups), y, scale, (2,)), x)


@group_norm_affine.rule("composed")
def _(cotangent, x, means, scales, groups):
    y, _ = _normalised(_in_groups(x, groups), unsqueeze(scales, (2,)), (2,))
    others = (0, *range(2, _rank(x)))
    return sum(cotangent * reshape_like(y, x), others), sum(cotangent, others)


# --- over a batch ------------------------------------------------------------------------------------------------------------


@batch_norm_grad.rule("composed")
def _(cotangent, x, means, variances, *weight, channel, epsilon, fixed):
    axes = tuple(k for k in range(_rank(x)) if k != channel)
    scales = rsqrt(unsqueeze(variances, axes) + epsilon)
    w = cotangent * _along_channels(weight[0], _rank(x), channel) if weight else cotangent
    if fixed:
        y, found = (x - unsqueeze(means, axes)) * scales, w * scales
    else:
        y, scale = _normalised(x, scales, axes)
        found = _pulled(w, y, scale, axes)
    return found, sum(cotangent * y, axes), sum(cotangent, axes)
