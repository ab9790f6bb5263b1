"""L-BFGS: steps by a curvature that is learnt from the gradients of the last steps.

>>> p = d2s.nn.Parameter(np.array([3.0, -2.0], "float32"), stop_gradient=False)
>>> lbfgs = LBFGS(line_search_fn="strong_wolfe", parameters=[p])
>>> def closure():
...     lbfgs.clear_grad()
...     loss = ((p - 1.0) * (p - 1.0)).sum()
...     loss.backward()
...     return loss
>>> _ = lbfgs.step(closure)
>>> [round(v, 4) for v in p.tolist()]
[1.0, 1.0]
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from d2s.arguments import expect
from d2s.autodiff import writes
from d2s.eager.history import acts
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.optimizer.line_search import Point, strong_wolfe
from d2s.optimizer.optimizer import Optimizer

CURVED = 1e-10  # below it, a step tells nothing of the curvature


@dataclasses.dataclass
class Memory:
    """What is known of the steps so far: changes of the gradient, steps, and the last of each."""

    func_evals: int = 0
    n_iter: int = 0
    alpha: float = 0.0  # the last step's length, in directions
    H_diag: float = 1.0
    prev_loss: float = 0.0
    d: np.ndarray | None = None
    prev_flat_grad: np.ndarray | None = None
    old_yk: list[np.ndarray] = dataclasses.field(default_factory=list)
    old_sk: list[np.ndarray] = dataclasses.field(default_factory=list)

    def learn(self, gradient: np.ndarray, most: int) -> None:
        """Takes note of the last step, now that the gradient behind it is known."""
        assert self.d is not None and self.prev_flat_grad is not None
        change, step = gradient - self.prev_flat_grad, self.d * gradient.dtype.type(self.alpha)
        curvature = float(change @ step)
        if curvature > CURVED:
            self.old_yk, self.old_sk = [*self.old_yk, change][-most:], [*self.old_sk, step][-most:]
            self.H_diag = curvature / float(change @ change)

    def direction(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient through the inverse of the curvature, downhill: the two loops of Nocedal."""
        found, weights = -gradient, []
        pairs = list(zip(self.old_yk, self.old_sk, strict=True))
        for change, step in reversed(pairs):
            weights.append(gradient.dtype.type(step @ found / (change @ step)))
            found = found - weights[-1] * change
        found = found * gradient.dtype.type(self.H_diag)
        for (change, step), weight in zip(pairs, reversed(weights), strict=True):
            found = found + step * (weight - gradient.dtype.type(change @ found / (change @ step)))
        return found


class LBFGS(Optimizer):
    """Minimizes what `closure` computes: `step(closure)` asks it several times for the loss and its gradients.

    >>> layer = d2s.nn.Linear(2, 1)
    >>> lbfgs = d2s.optimizer.LBFGS(0.5, max_iter=4, parameters=layer.parameters())
    >>> def closure():
    ...     lbfgs.clear_grad()
    ...     loss = d2s.square(layer(d2s.to_tensor([[1.0, 2.0]]))).sum()
    ...     loss.backward()
    ...     return loss
    >>> bool(lbfgs.step(closure).item() >= closure().item())
    True
    """

    def __init__(
        self,
        learning_rate: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        expect("LBFGS", "line_search_fn", line_search_fn, str | None, "a str")
        if line_search_fn not in (None, "strong_wolfe"):
            raise ArgumentError(
                "D2S0004", f"LBFGS(): 'line_search_fn' is {brief(line_search_fn)}, expected 'strong_wolfe' or None"
            )
        if weight_decay is not None or grad_clip is not None:
            raise ArgumentError("D2S0004", "LBFGS() minimizes the loss as it is: 'weight_decay' and 'grad_clip' belong into it")
        expect("LBFGS", "max_iter", max_iter, int, "an int")
        expect("LBFGS", "max_eval", max_eval, int | None, "an int")
        self.max_iter, self.max_eval = max_iter, max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad, self.tolerance_change = tolerance_grad, tolerance_change
        self.history_size, self.line_search_fn, self.memory = history_size, line_search_fn, Memory()
        super().__init__(learning_rate, parameters, None, None, name)

    @acts
    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # type: ignore[override]
        """Some steps; returns the loss there was before. `closure` clears the gradients, computes them and returns the loss."""
        if not callable(closure):
            got = type(closure).__name__
            raise DTypeError("D2S0001", f"LBFGS.step(): 'closure' expects a function that returns the loss, got {got}")
        first = closure()
        loss, gradient = float(first), self._gradient()
        memory, evaluations = self.memory, 1
        memory.func_evals += 1
        for count in range(1, self.max_iter + 1):
            if np.abs(gradient).max(initial=0.0) <= self.tolerance_grad:
                break
            direction = self._direction(gradient)
            before, memory.prev_loss = loss, loss
            if gradient @ direction > -self.tolerance_change:
                break
            last = count == self.max_iter
            loss, gradient, asked = self._moved(closure, Point(0.0, loss, gradient, direction), direction, last)
            evaluations, memory.func_evals = evaluations + asked, memory.func_evals + asked
            small = np.abs(direction * memory.alpha).max() <= self.tolerance_change
            if evaluations >= self.max_eval or small or abs(loss - before) < self.tolerance_change:
                break
        return first

    def _direction(self, gradient: np.ndarray) -> np.ndarray:
        """Where to, and how far without a search: the first step is short, for nothing is known of the curvature yet."""
        memory, rate = self.memory, self.get_lr()
        memory.n_iter += 1
        if memory.n_iter == 1:
            memory.alpha = min(1.0, 1.0 / float(np.abs(gradient).sum())) * rate
            memory.d = -gradient
        else:
            memory.learn(gradient, self.history_size)
            memory.alpha, memory.d = rate, memory.direction(gradient)
        memory.prev_flat_grad = gradient
        return memory.d

    def _moved(
        self, closure: Callable[[], Any], begin: Point, direction: np.ndarray, last: bool
    ) -> tuple[float, np.ndarray, int]:
        """The loss and the gradient behind the step, and how often the closure was asked."""
        values = [p.numpy() for p in self._parameter_list]

        def at(step: float) -> tuple[float, np.ndarray]:
            self._place(values, direction, step)
            return float(closure()), self._gradient()

        if self.line_search_fn is None:
            if not last:
                return *at(self.memory.alpha), 1
            self._place(values, direction, self.memory.alpha)
            return begin.value, begin.gradient, 0
        found, asked = strong_wolfe(at, begin, self.memory.alpha, direction, self.tolerance_change)
        self.memory.alpha = found.step
        self._place(values, direction, found.step)
        return found.value, found.gradient, asked

    def _gradient(self) -> np.ndarray:
        """All gradients behind one another; zeros where there is none."""
        parts = [np.zeros_like(p.array) if p.grad is None else p.grad.numpy() for p in self._parameter_list]
        return np.concatenate([part.reshape(-1) for part in parts]) if parts else np.zeros(0, "float32")

    def _place(self, values: list[np.ndarray], direction: np.ndarray, step: float) -> None:
        """Puts the parameters a step away from values they had."""
        begin = 0
        for p, old in zip(self._parameter_list, values, strict=True):
            part = direction[begin : begin + old.size].reshape(old.shape)
            begin += old.size
            np.copyto(p.array, old + part * old.dtype.type(step))
            writes.noted(p.array)

    def state_dict(self) -> dict[str, Any]:
        """What is known of the steps so far."""
        return {"state": {name: _tensors(value) for name, value in vars(self.memory).items()}}

    @acts
    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on where `state_dict` was taken."""
        known = {field.name for field in dataclasses.fields(Memory)}
        state = state_dict.get("state") if isinstance(state_dict, dict) else None
        if not isinstance(state, dict) or not known <= state.keys():
            raise ArgumentError("D2S0004", "LBFGS.set_state_dict(): this is no state of an LBFGS")
        self.memory = Memory(**{name: _arrays(state[name]) for name in known})


def _tensors(value: Any) -> Any:
    if isinstance(value, list):
        return [Tensor(v) for v in value]
    return Tensor(value) if isinstance(value, np.ndarray) else value


def _arrays(value: Any) -> Any:
    if isinstance(value, list):
        return [_arrays(v) for v in value]
    return value.numpy() if isinstance(value, Tensor) else value
