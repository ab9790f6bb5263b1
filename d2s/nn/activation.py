"""Activations as layers: each is one function of `functional`, with the settings its constructor was given.

>>> LeakyReLU(0.5)(d2s.to_tensor([-2.0, 2.0])).tolist()
[-1.0, 2.0]
>>> LeakyReLU(), ReLU(name="first")
(LeakyReLU(negative_slope=0.01), ReLU(name=first))
"""

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from d2s.errors import ArgumentError, DTypeError
from d2s.nn import functional
from d2s.nn.layer import Layer
from d2s.ops.softmax import log_softmax, softmax


def activated(x: Any, act: str | None) -> Any:
    """A value behind the activation of that name."""
    if act is None:
        return x
    found = getattr(functional, act, None) if isinstance(act, str) else None
    if not callable(found):
        raise ArgumentError("D2S0004", f"'{act}' is no activation", hint="relu, softmax, sigmoid, tanh, ...")
    return found(x)


class _Activation(Layer):
    """A function of one tensor; `settings` are the arguments behind it, with their defaults."""

    function: ClassVar[Callable[..., Any]]
    settings: ClassVar[inspect.Signature]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        try:
            bound = self.settings.bind(*args, **kwargs)
        except TypeError as error:
            raise DTypeError("D2S0001", f"{type(self).__name__}{self.settings}: {error}") from None
        bound.apply_defaults()
        self._name = bound.arguments.pop("name")
        self._settings = dict(bound.arguments)

    def forward(self, x: Any) -> Any:
        return self.function(x, **self._settings)

    def extra_repr(self) -> str:
        shown = self._settings | ({"name": self._name} if self._name else {})
        return ", ".join(f"{key}={value}" for key, value in shown.items())


def described(function: Callable[..., Any]) -> str:
    """The description of a layer that is a function; with `python -OO` there is little to say."""
    words = inspect.cleandoc(function.__doc__ or "").partition(">>>")[0].rstrip()
    return f"`functional.{function.__name__}` as a layer.\n\n{words}"


def _layer(name: str, function: Any, **settings: Any) -> Any:
    """The layer of a function, with the arguments its constructor takes."""
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    taken = [inspect.Parameter(key, positional, default=value) for key, value in (settings | {"name": None}).items()]
    signature = inspect.Signature(taken)
    words = described(function)
    body = {"function": staticmethod(function), "settings": signature, "__signature__": signature, "__doc__": words}
    return type(name, (_Activation,), body | {"__module__": __name__})


CELU = _layer("CELU", functional.celu, alpha=1.0)
ELU = _layer("ELU", functional.elu, alpha=1.0)
GELU = _layer("GELU", functional.gelu, approximate=False)
GLU = _layer("GLU", functional.glu, axis=-1)
Hardshrink = _layer("Hardshrink", functional.hardshrink, threshold=0.5)
Hardsigmoid = _layer("Hardsigmoid", functional.hardsigmoid)
Hardswish = _layer("Hardswish", functional.hardswish)
Hardtanh = _layer("Hardtanh", functional.hardtanh, min=-1.0, max=1.0)
LeakyReLU = _layer("LeakyReLU", functional.leaky_relu, negative_slope=0.01)
LogSigmoid = _layer("LogSigmoid", functional.log_sigmoid)
LogSoftmax = _layer("LogSoftmax", log_softmax, axis=-1)
Maxout = _layer("Maxout", functional.maxout, groups=inspect.Parameter.empty, axis=1)
Mish = _layer("Mish", functional.mish)
ReLU = _layer("ReLU", functional.relu)
ReLU6 = _layer("ReLU6", functional.relu6)
SELU = _layer("SELU", functional.selu, scale=1.0507009873554805, alpha=1.6732632423543772)
Sigmoid = _layer("Sigmoid", functional.sigmoid)
Silu = _layer("Silu", functional.silu)
Softmax = _layer("Softmax", softmax, axis=-1)
Softplus = _layer("Softplus", functional.softplus, beta=1, threshold=20)
Softshrink = _layer("Softshrink", functional.softshrink, threshold=0.5)
Softsign = _layer("Softsign", functional.softsign)
Swish = _layer("Swish", functional.swish)
Tanh = _layer("Tanh", functional.tanh)
Tanhshrink = _layer("Tanhshrink", functional.tanhshrink)
ThresholdedReLU = _layer("ThresholdedReLU", functional.thresholded_relu, threshold=1.0, value=0.0)
