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

from d2s import unique_name
from d2s.autodiff import writes
from d2s.compat.runs import now
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.nn.initializer import Constant, Initializer
from d2s.static.averages import ExponentialMovingAverage
from d2s.static.program import default_startup_program
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
        self._pairs: list[tuple[Tensor, Tensor]] = []  # parameters and their slow weights
        self._step = Tensor(np.zeros([1], "int32"))

    def minimize(self, loss: Any, startup_program: Any = None) -> Any:
        """A step; of a declared loss, one in each run. There the slow weights begin where the startup program runs."""
        if not isinstance(loss, Variable):
            learning = [p for p in self.inner_optimizer._parameter_list if not p.stop_gradient]
            self._pairs = self._pairs or [(p, p.clone().detach()) for p in learning]
            found = self.inner_optimizer.minimize(loss, startup_program)
            self._move(self._step, self._pairs)
            return found
        found = self.inner_optimizer.minimize(loss, startup_program)
        starts = (startup_program or default_startup_program()).starts
        for parameter, _ in found[1]:
            slow = Tensor(np.zeros_like(parameter.array))
            slow.name = f"{parameter.name}@SLOW"
            starts.append((slow, _Beginning(parameter)))
            self._pairs.append((parameter, slow))
        self._step.name = unique_name.generate("lookahead_step")
        starts.append((self._step, Constant(0)))
        loss.root.followers.append(self._follow)
        return found

    def _follow(self, scope: Scope) -> None:
        self._move(scope.now(self._step), [(scope.now(fast), scope.now(slow)) for fast, slow in self._pairs])

    def _move(self, step: Tensor, pairs: list[tuple[Tensor, Tensor]]) -> None:
        step.array += 1
        if step.array[0] % self.k:
            return
        for fast, slow in pairs:
            alpha = fast.array.dtype.type(self.alpha)
            slow.array[...] = fast.array * alpha + slow.array * (1 - alpha)
            np.copyto(fast.array, slow.array)
            writes.noted(fast.array)


class _Beginning(Initializer):
    """The values another tensor begins with, in the scope of the run that starts them."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def __call__(self, parameter: Any, block: Any = None) -> Any:
        parameter.set_value(now().scope.now(self.tensor))
        return parameter


class RecomputeOptimizer:
    """An optimizer that may compute values again instead of keeping them: here they are kept, and the results are the same."""

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    def _set_checkpoints(self, checkpoints: Any) -> None:
        """Where to begin to compute again: not needed."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._optimizer, name)
