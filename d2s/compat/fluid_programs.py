"""What `fluid` has around programs: feeding them rows, keeping their parameters in a folder, averages of metrics.

In: a program's variables; rows of a reader. Out: what `Executor.run` is fed; a folder with a file for each parameter, in the
format of then, or one file for all.

>>> accuracy = Accuracy()
>>> accuracy.update(0.5, 10)
>>> accuracy.update(1.0, 30)
>>> accuracy.eval()
0.875
"""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from d2s import metric, static
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.export import tensors
from d2s.nn.parameter import Parameter
from d2s.static.files import load_from_file, save_to_file


class DataFeeder:
    """Makes what a run is fed of rows: one array for each variable, in its dtype and shape."""

    def __init__(self, feed_list: Sequence[Any], place: Any = None, program: Any = None) -> None:
        main = program or static.default_main_program()
        self._variables = [main.named(one) if isinstance(one, str) else one for one in feed_list]

    def feed(self, iterable: Iterable[Sequence[Any]]) -> dict[str, np.ndarray]:
        """The arrays of a batch, by the names of the variables."""
        rows = list(iterable)
        for row in rows:
            if len(row) != len(self._variables):
                message = f"feed(): a row has {len(row)} parts, but {len(self._variables)} variables are fed"
                raise ArgumentError("D2S0004", message)
        return {v.name: _batch(v, [row[n] for row in rows]) for n, v in enumerate(self._variables)}


def _batch(variable: Any, parts: Sequence[Any]) -> np.ndarray:
    found = np.stack([np.asarray(part) for part in parts]).astype(variable.dtype.name)
    wanted = [len(parts), *variable.shape[1:]]
    return found.reshape(wanted) if all(isinstance(d, int) and d >= 0 for d in wanted) else found


class MetricBase:
    """The base of metrics of a user's own: `update` counts a batch, `eval` says what all come to.

    >>> class Sum(MetricBase):
    ...     total = 0
    ...     def update(self, value):
    ...         self.total += value
    ...     def eval(self):
    ...         return self.total
    >>> counted = Sum("sum")
    >>> counted.update(2)
    >>> before = counted.eval()
    >>> counted.reset()
    >>> before, counted.eval(), str(counted)
    (2, 0, 'sum')
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = type(self).__name__ if name is None else str(name)

    def __str__(self) -> str:
        return self._name

    def reset(self) -> None:
        """Numbers and arrays without an underscore in front are 0 again."""
        for name, value in list(vars(self).items()):
            if not name.startswith("_") and isinstance(value, int | float | np.ndarray):
                setattr(self, name, value * 0)

    def update(self, preds: Any, labels: Any) -> None:
        """Counts one batch."""
        raise NotImplementedError(f"{type(self).__name__} defines no update()")

    def eval(self) -> Any:
        """What all batches come to."""
        raise NotImplementedError(f"{type(self).__name__} defines no eval()")


class Accuracy(MetricBase):
    """A mean of accuracies, weighed by the sizes of their batches."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.reset()

    def reset(self) -> None:
        """Nothing counts any more."""
        self.value, self.weight = 0.0, 0.0

    def update(self, value: Any, weight: Any) -> None:
        """Counts one batch."""
        self.value += float(np.asarray(value).item()) * float(np.asarray(weight).item())
        self.weight += float(np.asarray(weight).item())

    def eval(self) -> float:
        """The mean so far."""
        if self.weight == 0:
            raise ArgumentError("D2S0004", "eval(): no batch was counted", hint="call update() first")
        return self.value / self.weight


class Auc(metric.Auc):
    """The area under the curve, its name first."""

    def __init__(self, name: str | None = None, curve: str = "ROC", num_thresholds: int = 4095) -> None:
        super().__init__(curve, num_thresholds, name or "auc")

    eval = metric.Auc.accumulate


class Precision(metric.Precision):
    """Of what was found, the share that is right."""

    eval = metric.Precision.accumulate


class Recall(metric.Recall):
    """Of what is right, the share that was found."""

    eval = metric.Recall.accumulate


class CompositeMetric:
    """Several metrics of the same values.

    >>> both = CompositeMetric()
    >>> both.add_metric(Precision())
    >>> both.add_metric(Recall())
    >>> both.update(np.array([0.9, 0.8, 0.1]), np.array([1, 0, 0]))
    >>> both.eval()
    [0.5, 1.0]
    """

    def __init__(self, name: str | None = None) -> None:
        self._metrics: list[Any] = []

    def add_metric(self, metric: Any) -> None:
        """One more."""
        self._metrics.append(metric)

    def update(self, preds: Any, labels: Any) -> None:
        """Counts one batch."""
        for one in self._metrics:
            one.update(preds, labels)

    def eval(self) -> list[Any]:
        """What each comes to."""
        return [one.eval() for one in self._metrics]


# --- the values of a program in a folder -------------------------------------------------------------------------------------


Asked = Callable[[Any], Any] | None  # of a variable: whether it is meant


def _kept(main_program: Any, meant: Asked, variables: Any = None) -> dict[str, Tensor]:
    """The tensors of a program that are meant, by name: those of a list, which may be names, or those of which it holds."""
    program = main_program or static.default_main_program()
    found = {name: t for name, t in program.state_dict().items() if isinstance(t, Tensor)}
    if variables is not None:
        names = [one if isinstance(one, str) else one.name for one in variables]
        return {name: found[name] for name in names if name in found}
    return {name: t for name, t in found.items() if meant is None or meant(t)}


def _learns(variable: Any) -> bool:
    return isinstance(variable, Parameter)


def _write(kept: dict[str, Tensor], dirname: str, filename: str | None) -> None:
    arrays = {name: kept[name].numpy() for name in sorted(kept)}
    if filename is not None:
        save_to_file(os.path.join(dirname, filename), tensors.write_parameters(arrays))
        return
    for name, array in arrays.items():
        save_to_file(os.path.join(dirname, name), tensors.write_parameters({name: array}))


def _read(kept: dict[str, Tensor], dirname: str, filename: str | None, main_program: Any) -> None:
    names = sorted(kept)
    if filename is not None:
        arrays = tensors.read_parameters(load_from_file(os.path.join(dirname, filename)), names)
    else:
        files = ((name, load_from_file(os.path.join(dirname, name))) for name in names)
        arrays = {name: tensors.read_parameters(data, [name])[name] for name, data in files}
    (main_program or static.default_main_program()).set_state_dict(arrays)


def save_vars(
    executor: Any,
    dirname: str,
    main_program: Any = None,
    vars: Any = None,
    predicate: Asked = None,
    filename: str | None = None,
) -> None:
    """Writes what of a program is listed, or what of it a function says."""
    _write(_kept(main_program, predicate, vars), dirname, filename)


def load_vars(
    executor: Any,
    dirname: str,
    main_program: Any = None,
    vars: Any = None,
    predicate: Asked = None,
    filename: str | None = None,
) -> None:
    """Reads what `save_vars` wrote."""
    _read(_kept(main_program, predicate, vars), dirname, filename, main_program)


def save_params(executor: Any, dirname: str, main_program: Any = None, filename: str | None = None) -> None:
    """Writes what a program learns."""
    _write(_kept(main_program, _learns), dirname, filename)


def load_params(executor: Any, dirname: str, main_program: Any = None, filename: str | None = None) -> None:
    """Reads what `save_params` wrote."""
    _read(_kept(main_program, _learns), dirname, filename, main_program)


def save_persistables(executor: Any, dirname: str, main_program: Any = None, filename: str | None = None) -> None:
    """Writes what a program learns and keeps, moments of optimizers among it."""
    _write(_kept(main_program, None), dirname, filename)


def load_persistables(executor: Any, dirname: str, main_program: Any = None, filename: str | None = None) -> None:
    """Reads what `save_persistables` wrote."""
    _read(_kept(main_program, None), dirname, filename, main_program)
