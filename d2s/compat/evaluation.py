"""Layers whose `eval()` stops recording for gradients, as `fluid` had it, and what `fluid.Variable` is a name for.

>>> isinstance(d2s.ones([1]), AnyVariable), isinstance(3.0, AnyVariable)
(True, False)
"""

from typing import Any

from d2s import nn
from d2s.autodiff.mode import mode
from d2s.capture.symbolic import SymbolicTensor
from d2s.compat import layers
from d2s.eager.tensor import Tensor
from d2s.nn.layer import Layer


def _eval(self: Any) -> Any:
    mode.recording = False
    return Layer.eval(self)


def _train(self: Any, mode_: bool = True) -> Any:
    mode.recording = mode.recording or mode_
    return Layer.train(self, mode_)


def _of_fluid(kind: type[Layer]) -> type[Layer]:
    return type(kind.__name__, (kind,), {"eval": _eval, "train": _train, "__doc__": kind.__doc__, "__module__": __name__})


Linear, Sequential, LayerList = map(_of_fluid, (layers.Linear, nn.Sequential, nn.LayerList))


class _Instances(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor | SymbolicTensor)


class AnyVariable(metaclass=_Instances):
    """What a program computes, and what is computed at once: one class then, two here."""
