"""The loss of texts read from sequences whose alignment nobody knows.

>>> scores, one = d2s.zeros([1, 1, 2]), d2s.ones([1], "int64")
>>> print(ctc_loss(scores, one.reshape([1, 1]), one, one).numpy().round(4))
0.6931
"""

from typing import Any

from d2s.arguments import one_of
from d2s.nn.layer import Layer
from d2s.nn.loss import reduced
from d2s.ops.compare import cast, equal, where
from d2s.ops.ctc import ctc
from d2s.ops.extremes import clip
from d2s.ops.op import flag
from d2s.ops.reduce import mean
from d2s.ops.shapes import tensor_type, whole_number
from d2s.ops.unlearnt import unlearnt


def ctc_loss(
    log_probs: Any,
    labels: Any,
    input_lengths: Any,
    label_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    norm_by_times: bool = False,
    zero_infinity: bool = False,
) -> Any:
    """Minus the logarithm of the likelihood of texts, over all alignments, by scores [steps, batch, letters].

    Their softmax is taken here. A mean is one of losses per letter. `norm_by_times` divides gradients by the number of steps;
    with `zero_infinity`, a text for which there are too few steps counts as nothing.

    >>> scores, two = d2s.zeros([1, 1, 2]), d2s.to_tensor([[1, 1]])
    >>> lengths = d2s.to_tensor([1]), d2s.to_tensor([2])
    >>> d2s.nn.functional.ctc_loss(scores, two, *lengths, zero_infinity=True).item()
    0.0
    """
    found, _ = ctc(log_probs, labels, input_lengths, label_lengths, whole_number(blank, "ctc_loss", "blank"))
    if flag(norm_by_times, "norm_by_times"):
        short = found / clip(cast(input_lengths, tensor_type(found, "ctc_loss", "log_probs").dtype), 1.0)
        found = where(equal(found, float("inf")), found, unlearnt(found - short) + short)
    if flag(zero_infinity, "zero_infinity"):
        found = where(equal(found, float("inf")), 0.0, found)
    one_of("ctc_loss", "reduction", reduction, ("mean", "sum", "none"))
    if reduction == "mean":
        return mean(found / clip(cast(label_lengths, tensor_type(found, "ctc_loss", "log_probs").dtype), 1.0))
    return reduced("ctc_loss", found, reduction)


class CTCLoss(Layer):
    """`functional.ctc_loss` as a layer.

    >>> scores, one = d2s.zeros([1, 1, 2]), d2s.ones([1], "int64")
    >>> print(d2s.nn.CTCLoss(reduction="sum")(scores, one.reshape([1, 1]), one, one).numpy().round(4))
    0.6931
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        one_of("CTCLoss", "reduction", reduction, ("mean", "sum", "none"))
        self.blank, self.reduction, self.zero_infinity = blank, reduction, zero_infinity

    def forward(self, log_probs: Any, labels: Any, input_lengths: Any, label_lengths: Any, norm_by_times: bool = False) -> Any:
        how = (self.blank, self.reduction, norm_by_times, self.zero_infinity)
        return ctc_loss(log_probs, labels, input_lengths, label_lengths, *how)
