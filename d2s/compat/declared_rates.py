"""Learning rates of declared programs, as `fluid` had them: variables, which each run computes of a counter of runs.

In: numbers. Out: variables, which may be fetched, changed and given to an optimizer.

>>> d2s.enable_static()
>>> with d2s.static.program_guard(d2s.static.Program(), d2s.static.Program()):
...     rate = exponential_decay(0.5, 1, 0.5) * 2.0
...     exe = d2s.static.Executor()
...     ran = exe.run(d2s.static.default_startup_program())
...     found = [exe.run(fetch_list=[rate])[0].item() for _ in range(3)]
>>> d2s.disable_static()
>>> found
[1.0, 0.5, 0.25]
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from d2s.capture.users_code import refuse
from d2s.compat import decays, runs
from d2s.eager.assign import assign
from d2s.eager.tensor import Tensor
from d2s.ops import compare, create, exponential, extremes, rounding
from d2s.ops.trigonometry import cos
from d2s.optimizer.lr import LRScheduler
from d2s.static import executor
from d2s.static.layers import create_global_var
from d2s.static.program import default_main_program, in_dynamic_mode
from d2s.static.variable import Held, Variable


def autoincreased_step_counter(counter_name: str | None = None, begin: int = 1, step: int = 1) -> Any:
    """How many runs there were, this one among them: a number more in each."""
    name = counter_name or "@STEP_COUNTER@"
    program = default_main_program()
    counters = program.notes.setdefault(runs.COUNTERS, {})
    if name not in counters:
        counter = create_global_var([1], begin - 1, "int64", True, name=name)
        assign(program.recording.lift(counter) + step, counter)
        now = program.recording.lift(counter)
        now.stop_gradient = True
        counters[name] = counter, step, now
    return counters[name][-1]


def _step(begin: int = 0) -> Any:
    return compare.cast(autoincreased_step_counter("@LR_DECAY_COUNTER@", begin), "float32")


def _progress(steps: float, staircase: bool) -> Any:
    found = _step() / float(steps)
    return rounding.floor(found) if staircase else found


# --- schedules: at once, those of `fluid.dygraph` ----------------------------------------------------------------------------


def exponential_decay(learning_rate: Any, decay_steps: int, decay_rate: float, staircase: bool = False) -> Any:
    """`learning_rate * decay_rate ** (step / decay_steps)`."""
    if in_dynamic_mode():
        return decays.ExponentialDecay(learning_rate, decay_steps, decay_rate, staircase)
    return decay_rate ** _progress(decay_steps, staircase) * learning_rate


def natural_exp_decay(learning_rate: Any, decay_steps: int, decay_rate: float, staircase: bool = False) -> Any:
    """`learning_rate * exp(-decay_rate * step / decay_steps)`."""
    if in_dynamic_mode():
        return decays.NaturalExpDecay(learning_rate, decay_steps, decay_rate, staircase)
    return exponential.exp(_progress(decay_steps, staircase) * -decay_rate) * learning_rate


def inverse_time_decay(learning_rate: Any, decay_steps: int, decay_rate: float, staircase: bool = False) -> Any:
    """`learning_rate / (1 + decay_rate * step / decay_steps)`."""
    if in_dynamic_mode():
        return decays.InverseTimeDecay(learning_rate, decay_steps, decay_rate, staircase)
    return learning_rate / (_progress(decay_steps, staircase) * decay_rate + 1.0)


def polynomial_decay(
    learning_rate: Any, decay_steps: int, end_learning_rate: float = 0.0001, power: float = 1.0, cycle: bool = False
) -> Any:
    """From one rate to another, along a power; with `cycle`, again in twice as many steps, and so on."""
    if in_dynamic_mode():
        return decays.PolynomialDecay(learning_rate, decay_steps, end_learning_rate, power, cycle)
    step, steps = _step(), float(decay_steps)
    if cycle:
        steps = extremes.maximum(rounding.ceil(step / steps), create.ones([1])) * steps
    else:
        step = extremes.minimum(step, create.full([1], steps))
    return (learning_rate - end_learning_rate) * (1.0 - step / steps) ** float(power) + end_learning_rate


def piecewise_decay(boundaries: Sequence[int], values: Sequence[float]) -> Any:
    """One rate up to each boundary, and another behind it."""
    if in_dynamic_mode():
        return decays.PiecewiseDecay(boundaries, values, 0)
    step, found = _step(), create.full([1], float(values[-1]))
    for boundary, value in reversed(list(zip(boundaries, values, strict=False))):
        found = compare.where(step < float(boundary), create.full([1], float(value)), found)
    return found


def noam_decay(d_model: float, warmup_steps: float, learning_rate: Any = 1.0) -> Any:
    """Up for some steps, then down with the root of their number."""
    if in_dynamic_mode():
        return decays.NoamDecay(d_model, warmup_steps, learning_rate=learning_rate)
    step = _step(1)
    return extremes.minimum(step**-0.5, step * warmup_steps**-1.5) * d_model**-0.5 * learning_rate


def cosine_decay(learning_rate: Any, step_each_epoch: int, epochs: int) -> Any:
    """Half a wave of the cosine over some epochs."""
    if in_dynamic_mode():
        return decays.CosineDecay(learning_rate, step_each_epoch, epochs)
    return (cos(rounding.floor(_step() / float(step_each_epoch)) * (math.pi / epochs)) + 1.0) * 0.5 * learning_rate


def linear_lr_warmup(learning_rate: Any, warmup_steps: int, start_lr: float, end_lr: float) -> Any:
    """In a line from one rate to another, then a third, which may be a variable."""
    if in_dynamic_mode():
        return decays.LinearLrWarmup(learning_rate, warmup_steps, start_lr, end_lr, 0)
    step = _step()
    after = learning_rate if isinstance(learning_rate, Variable) else create.full([1], float(learning_rate))
    return compare.where(step < float(warmup_steps), step / float(warmup_steps) * (end_lr - start_lr) + start_lr, after)


FUNCTIONS: list[Callable[..., Any]] = [exponential_decay, natural_exp_decay, inverse_time_decay, polynomial_decay]
FUNCTIONS += [piecewise_decay, noam_decay, cosine_decay, linear_lr_warmup, autoincreased_step_counter]


# --- what an optimizer makes of them -----------------------------------------------------------------------------------------


class DeclaredRate(LRScheduler):
    """A learning rate that is a variable of a program: a run finds it first, then steps with it."""

    def __init__(self, rate: Any) -> None:
        super().__init__(0.0)
        self.rate = rate
        self.program: Any = None

    def get_lr(self) -> float:
        return 0.0

    def declare(self, loss: Variable) -> None:
        """The program of that loss is what computes it: as it is here."""
        variable = loss.root.lift(self.rate) if isinstance(self.rate, Tensor) else self.rate
        if math.prod(variable.value.type.shape) != 1:
            refuse("D2S0004", f"the learning rate is {variable!r}, expected one number", "reduce it first")
        role = variable.root.roles.get(variable.value)
        self.rate = role.tensor if isinstance(role, Held) else variable
        self.program = default_main_program().clone(for_test=True)

    def __call__(self) -> float:
        run = runs.now()
        if id(self) not in run.found:
            run.found[id(self)] = self._found(run)
        return float(run.found[id(self)])

    def _found(self, run: runs.Run) -> float:
        if isinstance(self.rate, Tensor):
            return float(run.scope.now(self.rate).item())
        fed = {name: value for name, value in run.feed.items() if name in self.program.feeds()}
        return float(executor.Executor().run(self.program, fed, [self.rate], scope=run.scope)[0].item())


def rate_of(given: Any) -> Any:
    """What an optimizer takes as its learning rate."""
    return DeclaredRate(given) if isinstance(given, Variable | Tensor) else given
