"""Learning rates that change as training goes on: an optimizer takes one in place of a number; `step()` goes on.

>>> scheduler = StepDecay(0.5, step_size=2, gamma=0.5)
>>> rates = []
>>> for _ in range(4):
...     rates.append(scheduler())
...     scheduler.step()
>>> rates
[0.5, 0.5, 0.25, 0.25]
"""

from d2s.optimizer.lr.cycles import CosineAnnealingDecay, CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from d2s.optimizer.lr.decays import (
    ExponentialDecay,
    InverseTimeDecay,
    LambdaDecay,
    LinearLR,
    MultiplicativeDecay,
    MultiStepDecay,
    NaturalExpDecay,
    NoamDecay,
    PiecewiseDecay,
    PolynomialDecay,
    StepDecay,
)
from d2s.optimizer.lr.plateau import ReduceOnPlateau
from d2s.optimizer.lr.scheduler import LRScheduler
from d2s.optimizer.lr.warmup import LinearWarmup

__all__ = [
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LRScheduler",
    "LambdaDecay",
    "LinearLR",
    "LinearWarmup",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "OneCycleLR",
    "PiecewiseDecay",
    "PolynomialDecay",
    "ReduceOnPlateau",
    "StepDecay",
]
