"""Losses as layers: each is one function of `loss`, with the settings its constructor was given.

>>> MSELoss(reduction="sum")(d2s.to_tensor([1.0, 3.0]), d2s.to_tensor([1.0, 1.0])).item()
4.0
>>> HingeEmbeddingLoss(0.5)
HingeEmbeddingLoss(margin=0.5, reduction=mean)
"""

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from d2s.errors import DTypeError
from d2s.nn import loss, margins, pairs
from d2s.nn.activation import described
from d2s.nn.layer import Layer


class _Loss(Layer):
    """A function of tensors; `settings` are the arguments behind them, with their defaults."""

    function: ClassVar[Callable[..., Any]]
    settings: ClassVar[inspect.Signature]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        try:
            bound = self.settings.bind(*args, **kwargs)
        except TypeError as error:
            raise DTypeError("D2S0001", f"{type(self).__name__}{self.settings}: {error}") from None
        bound.apply_defaults()
        self._settings = dict(bound.arguments)
        self._settings.pop("name", None)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        return self.function(*inputs, **named, **self._settings)

    def extra_repr(self) -> str:
        return ", ".join(f"{key}={value}" for key, value in self._settings.items() if isinstance(value, int | float | str))


def _layer(name: str, function: Any, tensors: int = 2) -> Any:
    """The layer of a function of so many tensors."""
    signature = inspect.Signature(list(inspect.signature(function).parameters.values())[tensors:])
    words = described(function)
    body = {"function": staticmethod(function), "settings": signature, "__signature__": signature, "__doc__": words}
    return type(name, (_Loss,), body | {"__module__": __name__})


BCELoss = _layer("BCELoss", loss.binary_cross_entropy)
BCEWithLogitsLoss = _layer("BCEWithLogitsLoss", loss.binary_cross_entropy_with_logits)
CosineEmbeddingLoss = _layer("CosineEmbeddingLoss", pairs.cosine_embedding_loss, 3)
CosineSimilarity = _layer("CosineSimilarity", pairs.cosine_similarity)
CrossEntropyLoss = _layer("CrossEntropyLoss", loss.cross_entropy)
HingeEmbeddingLoss = _layer("HingeEmbeddingLoss", pairs.hinge_embedding_loss)
KLDivLoss = _layer("KLDivLoss", loss.kl_div)
L1Loss = _layer("L1Loss", loss.l1_loss)
MarginRankingLoss = _layer("MarginRankingLoss", pairs.margin_ranking_loss, 3)
MSELoss = _layer("MSELoss", loss.mse_loss)
NLLLoss = _layer("NLLLoss", loss.nll_loss)
SmoothL1Loss = _layer("SmoothL1Loss", loss.smooth_l1_loss)
GaussianNLLLoss = _layer("GaussianNLLLoss", margins.gaussian_nll_loss, 3)
MultiLabelSoftMarginLoss = _layer("MultiLabelSoftMarginLoss", margins.multi_label_soft_margin_loss)
MultiMarginLoss = _layer("MultiMarginLoss", margins.multi_margin_loss)
PairwiseDistance = _layer("PairwiseDistance", margins.pairwise_distance)
PoissonNLLLoss = _layer("PoissonNLLLoss", margins.poisson_nll_loss)
SoftMarginLoss = _layer("SoftMarginLoss", margins.soft_margin_loss)
TripletMarginWithDistanceLoss = _layer("TripletMarginWithDistanceLoss", margins.triplet_margin_with_distance_loss, 3)
TripletMarginLoss = _layer("TripletMarginLoss", pairs.triplet_margin_loss, 3)
