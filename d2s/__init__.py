"""d2s: dynamic deep-learning Python, made static native code."""

from d2s import jit, nn, ops, optimizer, static
from d2s.autodiff.tape import no_grad
from d2s.config import config
from d2s.eager.tensor import Tensor, to_tensor
from d2s.jit import to_static
from d2s.nn.layer import seed
from d2s.ops.compare import cast, equal, greater_equal, greater_than, less_equal, less_than, not_equal, where
from d2s.ops.linalg import matmul
from d2s.ops.math import add, multiply, neg, relu, subtract, tanh
from d2s.ops.reduce import sum
from d2s.types import bool_, float32, float64, int8, int16, int32, int64, uint8

__version__ = "0.1.0"
