"""What `fluid.optimizer` wraps around an optimizer, or puts beside it: averages of runs, slow weights, recomputation.

In: a program whose runs learn. Out: parameters that each run moves once more, or averages that may stand in their place.

>>> d2s.enable_static()
>>> with d2s.static.program_guard(d2s.static.Program(), d2s.static.Program()):
...     w = d2s.static.create_parameter([1], default_initializer=d2s.nn.initializer.Constant(4.0))
...     loss = d2s.sum(w)
...     _ = LookaheadOptimizer(d2s.optimizer.SGD(1.0), alpha=0.5, k=2).minimize(loss)
...     exe = d2s.static.Executor()
...     ran = exe.run(d2s.static.default_startup_program())
...     found = [float(exe.run(fetch_list=[loss])[0]) for _ in range(3)]
>>> d2s.disable_static()
>>> found
[4.0, 3.0, 3.0]
"""

from typing import Any

import numpy as np

from d2s.autodiff import writes
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.static.averages import ExponentialMovingAverage
from d2s.static.scope import Scope
from d2s.static.variable import Variable

_HALF = 16384  # updates after which a sum is put aside, so that it stays exact


class ModelAverage(ExponentialMovingAverage):
    """Means of the latest parameters: of `average_window_rate` of all runs, between two bounds."""

    def __init__(
        self,
        average_window_rate: float,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        regularization: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(0.0, name=name)
        self._window = average_window_rate, min_average_window, max_average_window
        self._sums: dict[int, _Sums] = {}  # by scope
        self.update()

    def _follow(self, scope: Scope) -> None:
        now = [scope.now(p).array for p in self.parameters]
        self._sums.setdefault(id(scope), _Sums(now)).add(now, *self._window)

    def averages(self, scope: Scope) -> list[np.ndarray]:
        if id(scope) not in self._sums:
            raise ArgumentError("D2S0004", "ModelAverage.apply(): no run has moved the averages yet", hint="run it")
        return self._sums[id(scope)].means()


class _Sums:
    """Sums of parameters: of the window that runs, in two parts, and of the one before it."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.parts = [[np.zeros_like(a) for a in arrays] for _ in range(3)]
        self.updates = self.count = self.before = 0

    def add(self, arrays: list[np.ndarray], rate: float, least: int, most: int) -> None:
        """Counts what one run left."""
        self.updates, self.count = self.updates + 1, self.count + 1
        for held, array in zip(self.parts[0], arrays, strict=True):
            held += array
        if self.updates % _HALF == 0:
            self._move(1, clear=False)
        if self.count >= max(least, min(most, self.updates * rate)):
            self._end()

    def _move(self, to: int, clear: bool) -> None:
        for source, target in zip(self.parts[0], self.parts[to], strict=True):
            target[...] = source + (0 if clear else target)
            source[...] = 0

    def _end(self) -> None:
        """The window is full: it is the one before from here on."""
        for first, second in zip(*self.parts[:2], strict=True):
            first += second
            second[...] = 0
        self._move(2, clear=True)
        self.before, self.count = self.count, 0

    def means(self) -> list[np.ndarray]:
        """The means of both windows."""
        return [(a + b + c) / (self.count + self.before) for a, b, c in zip(*self.parts, strict=True)]


class LookaheadOptimizer:
    """Every `k` steps of another optimizer, parameters go back part of the way: to `alpha` of what these steps made."""

    def __init__(self, inner_optimizer: Any, alpha: float = 0.5, k: int = 5) -> None:
        if inner_optimizer is None or not 0 <= alpha <= 1 or not isinstance(k, int) or k < 1:
            raise ArgumentError(
                "D2S0004", "LookaheadOptimizer(): expects an optimizer, 'alpha' of 0 to 1, and 'k' of 1 or more"
            )
        self.inner_optimizer, self.alpha, self.k, self.type = inner_optimizer, alpha, k, "lookahead"
        self._parameters: list[Tensor] = []
        self._slow: list[np.ndarray] = []
        self._steps = 0

    def minimize(self, loss: Any, startup_program: Any = None) -> Any:
        """A step; of a declared loss, one in each run."""
        if not isinstance(loss, Variable):
            self._begin(*[p for p in self.inner_optimizer._parameter_list if not p.stop_gradient])
            found = self.inner_optimizer.minimize(loss, startup_program)
            self._follow(None)
            return found
        found = self.inner_optimizer.minimize(loss, startup_program)
        self._parameters = [p for p, _ in found[1]]
        recording = loss.root
        recording.host(self._begin, self._parameters, [])
        recording.followers.append(self._follow)
        return found

    def _begin(self, *parameters: Tensor) -> None:
        """Where the slow weights begin: in front of the first step."""
        self._parameters = self._parameters or list(parameters)
        self._slow = self._slow or [p.array.copy() for p in parameters]

    def _follow(self, scope: Scope | None) -> None:
        self._steps += 1
        if self._steps % self.k:
            return
        for slow, parameter in zip(self._slow, self._parameters, strict=True):
            now = (parameter if scope is None else scope.now(parameter)).array
            slow += now.dtype.type(self.alpha) * (now - slow)
            np.copyto(now, slow)
            writes.noted(now)


class RecomputeOptimizer:
    """An optimizer that may compute values again instead of keeping them: here they are kept, and the results are the same."""

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    def _set_checkpoints(self, checkpoints: Any) -> None:
        """Where to begin to compute again: not needed."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)
