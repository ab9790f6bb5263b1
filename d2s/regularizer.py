"""Weight decay: what an optimizer adds to the gradient of a parameter so that it stays small.

>>> L2Decay(0.01)
L2Decay, coeff=0.010000
"""

from d2s.arguments import number


class WeightDecayRegularizer:
    """The base of the two kinds; `coeff` says how much."""

    def __init__(self, coeff: float = 0.0) -> None:
        self.coeff = number(type(self).__name__, "coeff", coeff)

    def __repr__(self) -> str:
        return f"{type(self).__name__}, coeff={self.coeff:f}"


class L1Decay(WeightDecayRegularizer):
    """Adds `coeff * sign(parameter)` to the gradient.

    >>> layer = d2s.nn.Linear(2, 1, weight_attr=d2s.ParamAttr(regularizer=d2s.regularizer.L1Decay(0.1)))
    """


class L2Decay(WeightDecayRegularizer):
    """Adds `coeff * parameter` to the gradient.

    >>> layer = d2s.nn.Linear(2, 1)
    >>> sgd = d2s.optimizer.SGD(0.1, layer.parameters(), weight_decay=d2s.regularizer.L2Decay(0.1))
    """
