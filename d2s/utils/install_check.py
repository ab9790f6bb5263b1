"""Whether d2s works where it is installed: a small model, trained for a step, eagerly and as a graph.

>>> run_check()
d2s 0.1.0 works on this CPU: eager and static results are the same bits.
"""

from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import MismatchError
from d2s.jit.to_static import to_static
from d2s.version import full_version


def run_check() -> None:
    """Computes a loss and its gradient, eagerly and captured, and says that they agree.

    >>> d2s.utils.run_check()  # doctest: +ELLIPSIS
    d2s ... works on this CPU: ...
    """
    if _gradient(_loss) != _gradient(to_static(_loss)):
        raise MismatchError("D2S2001", "run_check(): eager and static gradients differ")
    print(f"d2s {full_version} works on this CPU: eager and static results are the same bits.")


def _loss(x: Tensor, weight: Tensor) -> Tensor:
    y = x.matmul(weight).tanh()
    if y.sum() > 0:
        y = y * 2.0
    return (y * y).sum()


def _gradient(loss: object) -> bytes:
    weight = to_tensor([[0.5, -0.25], [1.0, 0.125]], stop_gradient=False)
    loss(to_tensor([[1.0, 2.0], [3.0, -4.0]]), weight).backward()  # type: ignore[operator]
    assert weight.grad is not None
    return weight.grad.numpy().tobytes()
