"""What `d2s.autograd` holds: gradients, their matrices, and functions with a gradient of their own.

>>> x = d2s.to_tensor([3.0], stop_gradient=False)
>>> backward(x * x)
>>> x.grad.tolist()
[6.0]
"""

from d2s.autodiff.mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from d2s.eager.gradients import backward, grad
from d2s.eager.jacobian import Hessian, Jacobian, hessian, jacobian
from d2s.eager.py_layer import Context as PyLayerContext
from d2s.eager.py_layer import PyLayer

__all__ = ["Hessian", "Jacobian", "PyLayer", "PyLayerContext", "backward", "enable_grad", "grad", "hessian"]
__all__ += ["is_grad_enabled", "jacobian", "no_grad", "set_grad_enabled"]
