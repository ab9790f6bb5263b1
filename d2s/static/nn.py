"""`d2s.static.nn`: layers and control flow of declared programs.

>>> d2s.static.nn.cond(d2s.to_tensor(True), lambda: 1, lambda: 2)
1
"""

from d2s.static.control_flow import case, cond, py_func, switch_case, while_loop
from d2s.static.layers import batch_norm, conv2d, embedding, fc

__all__ = ["batch_norm", "case", "cond", "conv2d", "embedding", "fc", "py_func", "switch_case", "while_loop"]
