"""What models learn: a `Parameter`, and `ParamAttr`, which says how one is to be made and trained.

>>> p = Parameter(np.ones(2, "float32"), stop_gradient=False, name="scale")
>>> p.trainable, p.optimize_attr, p.name
(True, {'learning_rate': 1.0}, 'scale')
"""

import dataclasses
from typing import Any, ClassVar

import numpy as np

from d2s import unique_name
from d2s.eager.tensor import Tensor
from d2s.errors import DTypeError
from d2s.nn.initializer import Initializer
from d2s.regularizer import WeightDecayRegularizer


class Parameter(Tensor):
    """A tensor a model learns: a leaf with a name, with what an optimizer is to know about it, and what users note on it."""

    __slots__ = ("__dict__", "is_distributed", "need_clip", "optimize_attr", "persistable", "regularizer")

    def __init__(self, array: np.ndarray, stop_gradient: bool = True, name: str | None = None) -> None:
        super().__init__(array, stop_gradient)
        self.name = name or unique_name.generate("_eager_param_base")
        self.optimize_attr: dict[str, float] = {"learning_rate": 1.0}
        self.regularizer: WeightDecayRegularizer | None = None
        self.need_clip, self.persistable, self.is_distributed = True, True, False

    @property
    def trainable(self) -> bool:
        """Whether it is learnt; the opposite of `stop_gradient`."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, trainable: bool) -> None:
        if not isinstance(trainable, bool):
            raise DTypeError("D2S0001", f"trainable: expects a bool, got {type(trainable).__name__}")
        self.stop_gradient = not trainable

    def _head(self) -> str:
        return f"Parameter containing:\n{super()._head()}"


@dataclasses.dataclass
class ParamAttr:
    """How a parameter is made (its name, how it begins) and trained (its share of the learning rate, its decay, clipping).

    >>> attr = d2s.ParamAttr(name="w", learning_rate=0.5, initializer=d2s.nn.initializer.Constant(2.0))
    >>> layer = d2s.nn.Linear(1, 1, weight_attr=attr)
    >>> layer.weight.name, layer.weight.item()
    ('w', 2.0)
    """

    name: str | None = None
    initializer: Initializer | None = None
    learning_rate: float = 1.0
    regularizer: WeightDecayRegularizer | None = None
    trainable: bool = True
    do_model_average: bool = True
    need_clip: bool = True

    _EXPECTED: ClassVar[dict[str, Any]] = {
        "name": str | None,
        "initializer": Initializer | None,
        "learning_rate": float | int,
        "regularizer": WeightDecayRegularizer | None,
        "trainable": bool,
        "do_model_average": bool,
        "need_clip": bool,
    }

    def __post_init__(self) -> None:
        for name, kind in self._EXPECTED.items():
            if not isinstance(getattr(self, name), kind):
                got = type(getattr(self, name)).__name__
                raise DTypeError("D2S0001", f"ParamAttr(): '{name}' expects {getattr(kind, '__name__', kind)}, got {got}")


def param_attr(attr: Any) -> ParamAttr | None:
    """What users give for a ParamAttr: one, a name, an initializer, a regularizer; False for no parameter at all."""
    if attr is False:
        return None
    if attr is None or attr is True:
        return ParamAttr()
    if isinstance(attr, ParamAttr):
        return attr
    if isinstance(attr, str):
        return ParamAttr(name=attr or None)
    if isinstance(attr, Initializer):
        return ParamAttr(initializer=attr)
    if isinstance(attr, WeightDecayRegularizer):
        return ParamAttr(regularizer=attr)
    message = (
        f"a parameter's attribute is a ParamAttr, a name, an initializer, a regularizer or False, not a {type(attr).__name__}"
    )
    raise DTypeError("D2S0001", message)


def made(attr: ParamAttr, array: np.ndarray, name: str) -> Parameter:
    """The parameter an attribute describes, with its first values."""
    parameter = Parameter(array, stop_gradient=not attr.trainable, name=attr.name or name)
    parameter.optimize_attr = {"learning_rate": attr.learning_rate}
    parameter.regularizer, parameter.need_clip = attr.regularizer, attr.need_clip
    return parameter
