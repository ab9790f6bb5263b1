"""Parameters all together: as one vector, and their gradients within a limit.

>>> layer = d2s.nn.Linear(2, 3)
>>> vector = parameters_to_vector(layer.parameters())
>>> vector_to_parameters(vector * 0, layer.parameters())
>>> vector.shape, layer.weight.sum().item()
([9], 0.0)
"""

import math
from collections.abc import Iterable
from typing import Any

from d2s.arguments import expect, number
from d2s.autodiff.mode import no_grad
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.ops.create import full
from d2s.ops.extremes import clip, minimum
from d2s.ops.join import concat, stack
from d2s.ops.math import abs, pow
from d2s.ops.reduce import max, sum
from d2s.ops.rounding import isfinite
from d2s.ops.shape import flatten, reshape
from d2s.ops.shapes import tensor_type


def parameters_to_vector(parameters: Iterable[Any], name: str | None = None) -> Any:
    """The values of parameters in one vector, through which gradients reach them."""
    found = _listed("parameters_to_vector", parameters)
    return concat([flatten(p) for p in found])


@no_grad()
def vector_to_parameters(vec: Any, parameters: Iterable[Any], name: str | None = None) -> None:
    """Gives parameters the values that a vector has for them."""
    found = _listed("vector_to_parameters", parameters)
    count, wanted = math.prod(tensor_type(vec, "vector_to_parameters", "vec").shape), math.fsum(p.size for p in found)
    if count != wanted:
        raise ArgumentError("D2S0004", f"vector_to_parameters(): 'vec' holds {count} values, the parameters {int(wanted)}")
    at = 0
    for p in found:
        p.set_value(reshape(vec[at : at + p.size], p.shape))
        at += p.size


@no_grad()
def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """Makes all gradients together no longer than `max_norm`, in place; returns how long they were.

    >>> layer = d2s.nn.Linear(1, 1, weight_attr=d2s.nn.initializer.Constant(1.0))
    >>> layer(d2s.to_tensor([[3.0]])).sum().backward()
    >>> round(d2s.nn.utils.clip_grad_norm_(layer.parameters(), 1.0).item(), 4), round(layer.weight.grad.item(), 4)
    (3.1623, 0.9487)
    """
    limit, power = number("clip_grad_norm_", "max_norm", max_norm), number("clip_grad_norm_", "norm_type", norm_type)
    if not power > 0:
        raise ArgumentError("D2S0004", f"clip_grad_norm_(): 'norm_type' is {norm_type}, expected a number above 0, or inf")
    having = _with_gradients("clip_grad_norm_", parameters)
    if not having:
        return full([], 0.0)
    if math.isinf(power):
        total = max(stack([max(abs(p.grad)) for p in having]))
    else:
        total = pow(sum(stack([sum(pow(abs(p.grad), power)) for p in having])), 1.0 / power)
    if error_if_nonfinite and not isfinite(total):
        message = f"clip_grad_norm_(): the gradients together are {total.item()} long"
        raise ArgumentError("D2S0004", message, hint="error_if_nonfinite=False changes them all the same")
    factor = minimum(limit / (total + 1e-6), 1.0)
    for p in having:
        p.grad.set_value(p.grad * factor)
    return total


@no_grad()
def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Brings each value of the gradients between `-clip_value` and `clip_value`, in place."""
    limit = number("clip_grad_value_", "clip_value", clip_value)
    for p in _with_gradients("clip_grad_value_", parameters):
        p.grad.set_value(clip(p.grad, -limit, limit))


def _with_gradients(function: str, parameters: Any) -> list[Any]:
    return [p for p in _listed(function, [parameters] if isinstance(parameters, Tensor) else parameters) if p.grad is not None]


def _listed(function: str, parameters: Iterable[Any]) -> list[Any]:
    expect(function, "parameters", parameters, Iterable, "a list of Parameters")
    found = list(parameters)
    for p in found:
        expect(function, "parameters", p, Tensor, "Parameters")
    return found
