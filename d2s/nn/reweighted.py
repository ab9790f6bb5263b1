"""Layers whose weight is computed whenever it is read, of parameters that say it otherwise: a length and a direction, or a
matrix to be divided by its largest singular value.

>>> layer = weight_norm(d2s.nn.Linear(2, 3), dim=1)
>>> sorted(layer.state_dict()), layer.weight_g.shape
(['bias', 'weight_g', 'weight_v'], [3])
>>> sorted(remove_weight_norm(layer).state_dict())
['bias', 'weight']
"""

import functools
from collections.abc import Callable
from typing import Any

from d2s.arguments import expect, number
from d2s.autodiff.mode import no_grad
from d2s.errors import ArgumentError
from d2s.nn.initializer import Assign, Normal
from d2s.nn.layer import Layer
from d2s.nn.parameter import Parameter
from d2s.ops.arrange import transpose
from d2s.ops.exponential import sqrt
from d2s.ops.extremes import maximum
from d2s.ops.math import square
from d2s.ops.matmul import matmul
from d2s.ops.reduce import sum
from d2s.ops.shape import flatten, reshape
from d2s.ops.shapes import one_axis, whole_number

LEAST = 1e-12  # of a squared length that is divided by
_TURNED = ("Linear", "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose")  # their weight's axis 1 is that of their results


class _Computed:
    """What computes a layer's weight whenever it is read."""

    name: str

    def __init__(self, layer: Layer, name: str, function: str) -> None:
        self.name, self.rank = name, len(_weight(layer, name, function).shape)

    def begin(self, layer: Layer) -> None:
        """Takes the place of the parameter."""
        _compute(layer, {**_computed(layer), self.name: self})

    def weight(self, layer: Layer) -> Any:
        raise NotImplementedError

    def part(self, layer: Layer, end: str) -> Any:
        return getattr(layer, f"{self.name}_{end}")


def _computed(layer: Layer) -> dict[str, _Computed]:
    return layer.__dict__.get("_computed", {})


def _compute(layer: Layer, computed: dict[str, _Computed]) -> None:
    """Has a layer compute these weights, and no others."""
    plain = getattr(type(layer), "_plain", type(layer))
    object.__setattr__(layer, "_computed", computed)
    layer.__class__ = _computing(plain, tuple(computed)) if computed else plain  # type: ignore[arg-type]


@functools.cache
def _computing(plain: type, names: tuple[str, ...]) -> type:
    """A class of layers like another one, but for weights that are computed: nothing is kept that could be out of date."""
    found = {name: Computed(_reader(name)) for name in names}
    return type(plain.__name__, (plain,), {**found, "_plain": plain, "__module__": plain.__module__, "__doc__": plain.__doc__})


class Computed(property):
    """A property of layers that a captured function computes like code of its own."""

    def captured_as(self) -> Any:
        return self.fget


def _reader(name: str) -> Callable[[Any], Any]:
    return lambda layer: layer._computed[name].weight(layer)


class _Normed(_Computed):
    """A length for each place of an axis, or one for all, and a direction."""

    def __init__(self, layer: Layer, name: str, dim: int | None) -> None:
        super().__init__(layer, name, "weight_norm")
        self.dim = (
            None if dim is None or dim == -1 else one_axis(whole_number(dim, "weight_norm", "dim"), self.rank, "weight_norm")
        )
        weight = getattr(layer, name)
        delattr(layer, name)
        with no_grad():
            lengths = sqrt(self._squared(weight))
            lengths = lengths if self.dim is None else flatten(lengths)
        for end, value in (("g", lengths), ("v", weight)):
            layer.add_parameter(f"{name}_{end}", layer.create_parameter(value.shape, None, value.dtype, False, Assign(value)))
        self.begin(layer)

    def _squared(self, v: Any) -> Any:
        """Squared lengths, with the axis they are along."""
        around = [k for k in range(self.rank) if k != self.dim]
        return sum(square(v), around, keepdim=self.dim is not None)

    def weight(self, layer: Layer) -> Any:
        g, v = self.part(layer, "g"), self.part(layer, "v")
        if self.dim is not None:
            g = reshape(g, [-1 if k == self.dim else 1 for k in range(self.rank)])
        return v / sqrt(maximum(self._squared(v), LEAST)) * g


class _Spectral(_Computed):
    """A matrix, and the vectors that powers of it turn to."""

    def __init__(self, layer: Layer, name: str, steps: int, epsilon: float, dim: int | None) -> None:
        super().__init__(layer, name, "spectral_norm")
        self.steps, self.epsilon = (
            whole_number(steps, "spectral_norm", "n_power_iterations"),
            number("spectral_norm", "eps", epsilon),
        )
        if self.steps < 1:
            raise ArgumentError("D2S0004", f"spectral_norm(): 'n_power_iterations' is {self.steps}, expected 1 at least")
        own = int(type(layer).__name__ in _TURNED) if dim is None else whole_number(dim, "spectral_norm", "dim")
        self.dim = one_axis(own, self.rank, "spectral_norm")
        weight = getattr(layer, name)
        delattr(layer, name)
        layer.add_parameter(f"{name}_orig", weight)
        rows, columns = self._matrix(weight).shape
        for end, count in (("u", rows), ("v", columns)):
            begin: Any = layer.create_parameter([count], None, weight.dtype, False, Normal(0.0, 1.0))
            layer.register_buffer(f"{name}_{end}", self._unit(begin.detach()))
        self.begin(layer)
        layer.register_forward_pre_hook(self)

    def _matrix(self, weight: Any) -> Any:
        axes = (self.dim, *(k for k in range(self.rank) if k != self.dim))
        return flatten(transpose(weight, axes), 1) if self.rank > 1 else reshape(weight, [-1, 1])

    def _unit(self, vector: Any) -> Any:
        return vector / maximum(sqrt(sum(square(vector))), self.epsilon)

    def weight(self, layer: Layer) -> Any:
        weight, u, v = (self.part(layer, end) for end in ("orig", "u", "v"))
        matrix = self._matrix(weight)
        return weight / sum(u.clone() * matmul(matrix, v.clone()))

    def __call__(self, layer: Layer, inputs: Any) -> None:
        """Before each call in training: the vectors come nearer to where they turn to."""
        if layer.training:
            weight, u, v = (self.part(layer, end) for end in ("orig", "u", "v"))
            with no_grad():
                matrix = self._matrix(weight)
                for _ in range(self.steps):
                    v.set_value(self._unit(matmul(matrix, u, True)))
                    u.set_value(self._unit(matmul(matrix, v)))


def _weight(layer: Any, name: Any, function: str) -> Any:
    expect(function, "layer", layer, Layer, "a Layer")
    expect(function, "name", name, str, "the name of a parameter")
    found = getattr(layer, name, None)
    if not isinstance(found, Parameter):
        raise ArgumentError("D2S0004", f"{function}(): {type(layer).__name__} has no parameter '{name}'")
    return found


def weight_norm(layer: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """Has a parameter computed of its lengths along an axis, `weight_g`, and its directions, `weight_v`, which learn instead.

    >>> layer = d2s.nn.utils.weight_norm(d2s.nn.Conv2D(2, 4, 3))
    >>> layer.weight_g.shape, layer.weight_v.shape
    ([4], [4, 2, 3, 3])
    """
    _Normed(layer, name, dim)
    return layer


def remove_weight_norm(layer: Layer, name: str = "weight") -> Layer:
    """Makes one parameter again of what `weight_norm` made two of."""
    expect("remove_weight_norm", "layer", layer, Layer, "a Layer")
    computed = _computed(layer)
    if not isinstance(computed.get(name), _Normed):
        message = f"remove_weight_norm(): '{name}' of this {type(layer).__name__} is not computed by weight_norm"
        raise ArgumentError("D2S0004", message)
    with no_grad():
        value = computed[name].weight(layer)
    _compute(layer, {key: one for key, one in computed.items() if key != name})
    for end in ("g", "v"):
        delattr(layer, f"{name}_{end}")
    layer.add_parameter(name, layer.create_parameter(value.shape, None, value.dtype, False, Assign(value)))
    return layer


def spectral_norm(
    layer: Layer, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Layer:
    """Has a parameter divided by its largest singular value, which each call in training finds more exactly.

    >>> layer = d2s.nn.utils.spectral_norm(d2s.nn.Linear(2, 3))
    >>> sorted(layer.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    _Spectral(layer, name, n_power_iterations, eps, dim)
    return layer
