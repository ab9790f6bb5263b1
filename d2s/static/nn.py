"""`d2s.static.nn`: layers and control flow of declared programs.

>>> d2s.static.nn.cond(d2s.to_tensor(True), lambda: 1, lambda: 2)
1
"""

from d2s.static.control_flow import case, cond, py_func, switch_case, while_loop
from d2s.static.layers import batch_norm, conv2d, conv3d, embedding, fc
from d2s.static.learning import (
    bilinear_tensor_product,
    conv2d_transpose,
    conv3d_transpose,
    group_norm,
    instance_norm,
    layer_norm,
    prelu,
    row_conv,
    spectral_norm,
)

__all__ = [
    "batch_norm",
    "bilinear_tensor_product",
    "case",
    "cond",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "embedding",
    "fc",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "prelu",
    "py_func",
    "row_conv",
    "spectral_norm",
    "switch_case",
    "while_loop",
]
