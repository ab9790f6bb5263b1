"""What Paddle keeps under `paddle.nn.utils`."""

from d2s.nn.reweighted import remove_weight_norm, spectral_norm, weight_norm
from d2s.nn.vectors import clip_grad_norm_, clip_grad_value_, parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "remove_weight_norm",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]
