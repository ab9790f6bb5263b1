"""Averages of what a program learns, which may stand in for it where the program is tried.

In: a program that learns, and how much of an average stays at each run. Out: averages that each run moves; inside of `apply`
they stand in the place of the parameters.

>>> d2s.enable_static()
>>> with d2s.static.program_guard(d2s.static.Program(), d2s.static.Program()):
...     x = d2s.static.data("x", [1])
...     w = d2s.static.create_parameter([1], default_initializer=d2s.nn.initializer.Constant(3.0))
...     loss = x * w
...     _ = d2s.optimizer.SGD(1.0).minimize(loss)
...     average = ExponentialMovingAverage(0.5)
...     average.update()
...     exe = d2s.static.Executor()
...     ran = exe.run(d2s.static.default_startup_program())
...     for _ in range(2):
...         ran = exe.run(feed={"x": np.ones(1, "float32")})
...     with average.apply(exe):
...         found = w.tolist(), average.name
>>> d2s.disable_static()
>>> print(round(found[0][0], 4), w.tolist())
1.3333 [1.0]
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from d2s.arguments import expect
from d2s.autodiff import writes
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, brief
from d2s.static.program import declaring, default_main_program
from d2s.static.scope import Scope, global_scope
from d2s.static.variable import Held, Variable


class ExponentialMovingAverage:
    """Averages of parameters: `decay` of one stays at each run, or less at first, where `thres_steps` counts steps.

    They begin at 0, and are divided by what that takes off them.
    """

    def __init__(self, decay: float = 0.999, thres_steps: Any = None, name: str | None = None) -> None:
        if isinstance(decay, bool) or not isinstance(decay, int | float) or not 0 <= decay <= 1:
            raise ArgumentError("D2S0004", f"ExponentialMovingAverage(): 'decay' is {brief(decay)}, expected 0 to 1")
        expect("ExponentialMovingAverage", "thres_steps", thres_steps, Variable | Tensor | None, "a Tensor")
        expect("ExponentialMovingAverage", "name", name, str | None, "a str")
        self.decay, self.name = float(decay), name or ""
        self.steps = _held(thres_steps) if isinstance(thres_steps, Variable) else thres_steps
        self.parameters = [p for p in default_main_program().all_parameters() if not p.stop_gradient]
        self._held: dict[int, tuple[int, list[np.ndarray]]] = {}  # by scope: runs so far, and the averages
        self._before: list[np.ndarray] | None = None

    def update(self) -> None:
        """Declares that each run of the program moves the averages, behind the steps of optimizers."""
        declaring("ExponentialMovingAverage.update").root.followers.append(self._follow)

    def _follow(self, scope: Scope) -> None:
        now = [scope.now(p).array for p in self.parameters]
        count, averages = self._held.get(id(scope)) or (0, [np.zeros_like(a) for a in now])
        decay = self._decay(scope)
        for average, array in zip(averages, now, strict=True):
            average[...] = average * decay + array * (1 - decay)
        self._held[id(scope)] = count + 1, averages

    def _decay(self, scope: Scope) -> float:
        if self.steps is None:
            return self.decay
        steps = float(scope.now(self.steps).array.reshape(-1)[0])
        return min(self.decay, (steps + 1) / (steps + 10))

    def averages(self, scope: Scope) -> list[np.ndarray]:
        """What stands in the place of the parameters."""
        count, averages = self._held.get(id(scope), (0, []))
        if not count:
            raise ArgumentError("D2S0004", "ExponentialMovingAverage.apply(): no run has moved the averages yet", hint="run it")
        rest = 1 - self._decay(scope) ** count
        return [average / (rest or 1.0) for average in averages]

    @contextlib.contextmanager
    def apply(self, executor: Any, need_restore: bool = True) -> Iterator[None]:
        """Puts the averages in the place of the parameters, inside of a `with` block."""
        scope = global_scope()
        averages = self.averages(scope)
        self._before = [scope.now(p).array.copy() for p in self.parameters]
        self._put(averages)
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor: Any) -> None:
        """Puts the parameters back."""
        if self._before is None:
            raise ArgumentError(
                "D2S0004", "ExponentialMovingAverage.restore(): nothing is in their place", hint="apply() first"
            )
        self._put(self._before)
        self._before = None

    def _put(self, arrays: list[np.ndarray]) -> None:
        for parameter, array in zip(self.parameters, arrays, strict=True):
            now = global_scope().now(parameter).array
            np.copyto(now, array)
            writes.noted(now)


def _held(steps: Variable) -> Tensor:
    role = steps.root.roles.get(steps.value)
    if not isinstance(role, Held):
        raise ArgumentError(
            "D2S0004", f"ExponentialMovingAverage(): 'thres_steps' is {steps!r}, expected a tensor that is kept"
        )
    return role.tensor
