"""A run of a network that notes what each of its layers was given and said.

In: a Layer and what to give it: shapes, InputSpecs, or tensors. Out: a `Visit` of each layer, in the order they stand in.

>>> [(visit.path, visit.outputs) for visit in visits(d2s.nn.Sequential(d2s.nn.Linear(2, 3)), example((1, 2)))]
[('', [1, 3]), ('0', [1, 3])]
"""

import dataclasses
from typing import Any

import numpy as np

from d2s import types
from d2s.autodiff.mode import no_grad
from d2s.default_dtype import default_dtype
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, brief
from d2s.memory import allocated
from d2s.nn.layer import Layer
from d2s.static.input_spec import InputSpec


@dataclasses.dataclass
class Visit:
    """A layer by its path, and its calls: inputs and outputs of each; none where it was not called."""

    path: str
    layer: Layer
    again: bool  # it stands under another path, too, before this one
    calls: list[tuple[Any, Any]]

    @property
    def inputs(self) -> Any:
        """The shapes of the first call's inputs."""
        return _shapes(self.calls[0][0]) if self.calls else None

    @property
    def outputs(self) -> Any:
        """The shapes of the first call's outputs."""
        return _shapes(self.calls[0][1]) if self.calls else None


def _shapes(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_shapes(held) for held in value]
    return getattr(value, "shape", None)


def example(input_size: Any, dtypes: Any = None) -> list[Tensor]:
    """Tensors of zeros of the sizes given: one shape or InputSpec, or a list of them. An open extent is 1."""
    given = [input_size] if _one(input_size) else input_size
    if not isinstance(given, list | tuple) or not given or not all(map(_one, given)):
        raise ArgumentError("D2S0004", f"'input_size' is {brief(input_size)}, expected a shape, an InputSpec or a list of them")
    kinds = list(dtypes) if isinstance(dtypes, list | tuple) else [dtypes] * len(given)
    if len(kinds) != len(given):
        raise ArgumentError("D2S0004", f"{len(kinds)} dtypes for {len(given)} inputs")
    return [_zeros(size, kind) for size, kind in zip(given, kinds, strict=True)]


def _one(size: Any) -> bool:
    """Whether it is one shape."""
    if isinstance(size, int | InputSpec):
        return not isinstance(size, bool)
    return isinstance(size, list | tuple) and bool(size) and all(d is None or type(d) is int for d in size)


def _zeros(size: Any, dtype: Any) -> Tensor:
    spec = size if isinstance(size, InputSpec) else InputSpec([size] if isinstance(size, int) else list(size))
    held = types.dtype(dtype) if dtype is not None else spec.dtype if spec is size else default_dtype()
    array = allocated("summary", [1 if d is None else d for d in spec.shape], held.numpy)
    array.fill(0)
    return Tensor(array)


def visits(net: Layer, inputs: Any) -> list[Visit]:
    """Runs the network on inputs, as it is used and not as it is trained, without gradients."""
    found, noted = list[Visit](), dict[int, list[tuple[Any, Any]]]()
    for path, layer in net.named_sublayers(include_self=True, remove_duplicate=False):
        found.append(Visit(path, layer, id(layer) in noted, noted.setdefault(id(layer), [])))
    modes = [(visit.layer, visit.layer.training) for visit in found]
    hooks = [
        v.layer.register_forward_post_hook(lambda layer, x, y: noted[id(layer)].append((x, y))) for v in found if not v.again
    ]
    net.eval()
    try:
        with no_grad():
            net(**inputs) if isinstance(inputs, dict) else net(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
        for layer, training in modes:
            layer.training = training
    return found


def size(value: Any) -> int:
    """How many elements the tensors in a value have."""
    if isinstance(value, list | tuple):
        return sum(map(size, value))
    return int(np.prod(value.shape)) if isinstance(value, Tensor) else 0
