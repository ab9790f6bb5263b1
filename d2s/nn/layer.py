"""`Layer`: parameters and sublayers found by attribute, under structured names.

>>> layer = d2s.nn.Linear(2, 3)
>>> [(name, p.shape) for name, p in layer.named_parameters()]
[('weight', [2, 3]), ('bias', [3])]
"""

from collections.abc import Iterator
from typing import Any

from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.ops.random import uniform


class Parameter(Tensor):
    """A tensor a model learns."""

    __slots__ = ()


class Layer:
    """The base of models. Subclasses define `forward`."""

    def __init__(self) -> None:
        self.training = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no forward()")

    def captured_as(self) -> Any:
        """What a capture that meets this layer calls."""
        return self.forward

    def named_children(self) -> Iterator[tuple[str, "Layer"]]:
        yield from ((name, value) for name, value in vars(self).items() if isinstance(value, Layer))

    def sublayers(self) -> list["Layer"]:
        return [layer for _, child in self.named_children() for layer in (child, *child.sublayers())]

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        for name, value in vars(self).items():
            if isinstance(value, Parameter):
                yield prefix + name, value
        for name, child in self.named_children():
            yield from child.named_parameters(f"{prefix}{name}.")

    def parameters(self) -> list[Parameter]:
        return list(dict(self.named_parameters()).values())

    def state_dict(self) -> dict[str, Parameter]:
        return dict(self.named_parameters())

    def set_state_dict(self, state: dict[str, Any]) -> None:
        own = self.state_dict()
        if set(own) != set(state):
            missing, unknown = sorted(set(own) - set(state)), sorted(set(state) - set(own))
            raise ArgumentError("D2S0004", f"set_state_dict(): missing {missing}, unexpected {unknown}")
        for name, value in state.items():
            own[name].set_value(value)

    def create_parameter(self, shape: list[int], bound: float = 0.0) -> Parameter:
        """A float32 parameter, uniform in [-bound, bound]."""
        return Parameter(uniform(shape, "float32", -bound, bound).array, stop_gradient=False)

    def train(self) -> None:
        for layer in (self, *self.sublayers()):
            layer.training = True

    def eval(self) -> None:
        for layer in (self, *self.sublayers()):
            layer.training = False
