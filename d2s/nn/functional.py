"""What layers compute, as functions.

>>> linear(d2s.to_tensor([[1.0, 2.0]]), d2s.to_tensor([[3.0], [4.0]])).tolist()
[[11.0]]
"""

from d2s.nn.conv import conv1d, conv1d_transpose, conv2d, conv2d_transpose, conv3d, conv3d_transpose
from d2s.nn.dropout import alpha_dropout, dropout, dropout2d, dropout3d
from d2s.nn.linear import linear
from d2s.nn.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from d2s.ops.activation import (
    elu,
    gelu,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_sigmoid,
    mish,
    relu6,
    selu,
    silu,
    softplus,
    softsign,
    swish,
    tanhshrink,
)
from d2s.ops.exponential import sigmoid
from d2s.ops.gather import embedding
from d2s.ops.math import relu, tanh

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "dropout",
    "dropout2d",
    "dropout3d",
    "elu",
    "embedding",
    "gelu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "linear",
    "log_sigmoid",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mish",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "softplus",
    "softsign",
    "swish",
    "tanh",
    "tanhshrink",
]
