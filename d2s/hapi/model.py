"""`Model`: a network with what it takes to train it, and one batch of that.

In: a Layer, an optimizer, a loss, metrics; batches. Out: losses and metrics, predictions, files. `loops` does many batches.

>>> model = Model(d2s.nn.Linear(2, 1))
>>> model.prepare(d2s.optimizer.SGD(0.1, model.parameters()), d2s.nn.MSELoss())
>>> [loss.shape for loss in model.train_batch(d2s.ones([4, 2]), d2s.zeros([4, 1]))]
[()]
"""

import inspect
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s import jit
from d2s.arguments import expect
from d2s.autodiff.mode import no_grad
from d2s.callbacks import Callback
from d2s.checkpoint import load, save
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import ArgumentError, DTypeError, FileError, ShapeError, brief
from d2s.hapi import loops
from d2s.hapi.summary import summary
from d2s.metric import Metric
from d2s.nn.layer import Layer
from d2s.optimizer.optimizer import Optimizer
from d2s.static.input_spec import InputSpec

LEVELS = ("O0", "O1", "O2")  # of mixed precision
DEEPEST = 32


class Model:
    """A network that can be fitted, evaluated, used and saved. `inputs` and `labels` are InputSpecs, or lists of them.

    Without `inputs`, the first things of a batch are taken for them, as many as the network's `forward` asks for.

    >>> model = d2s.Model(d2s.vision.models.LeNet(), d2s.static.InputSpec([None, 1, 28, 28]))
    >>> model.summary()["total_params"]  # doctest: +ELLIPSIS
    layer ...
    61610
    """

    def __init__(self, network: Layer, inputs: Any = None, labels: Any = None) -> None:
        expect("Model", "network", network, Layer, "a Layer")
        self.network, self.mode, self.stop_training = network, "train", False
        self._inputs, self._labels = _specs("inputs", inputs), _specs("labels", labels)
        self._optimizer: Any = None
        self._loss: Any = None
        self._metrics: list[Metric] = []

    def prepare(self, optimizer: Any = None, loss: Any = None, metrics: Any = None, amp_configs: Any = None) -> None:
        """Says how the network is trained: by which optimizer and loss, and which metrics are counted.

        `amp_configs`, a level of mixed precision such as "O1" or a dict with one, is accepted: arithmetic stays as it is.
        """
        expect("Model.prepare", "optimizer", optimizer, Optimizer | None, "an optimizer")
        if loss is not None and not callable(loss):
            raise DTypeError("D2S0001", f"Model.prepare(): 'loss' expects a Layer or a function, got {type(loss).__name__}")
        given = _list(metrics)
        if not all(isinstance(metric, Metric) for metric in given):
            raise DTypeError("D2S0001", f"Model.prepare(): 'metrics' expects Metrics, got {type(metrics).__name__}")
        level = amp_configs.get("level", "O1") if isinstance(amp_configs, dict) else amp_configs
        if level is not None and not (isinstance(level, str) and level in LEVELS):
            raise ArgumentError("D2S0004", f"Model.prepare(): 'amp_configs' is {brief(amp_configs)}", hint="O0, O1 or O2")
        self._optimizer, self._loss, self._metrics = optimizer, loss, given

    # --- one batch

    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """Trains on a batch; the losses as arrays, and with metrics a pair of losses and metrics.

        Without `update` gradients are added up for the next batch that does.
        """
        if self._optimizer is None or self._loss is None:
            raise ArgumentError("D2S0004", "Model.train_batch(): there is no optimizer or loss", hint="call prepare() first")
        self._enter("train")
        wanted = _tensors(labels)
        outputs = _list(self.network(*_tensors(inputs)))
        losses = self._losses(outputs, wanted)
        whole = losses[0]
        for loss in losses[1:]:
            whole = whole + loss
        whole.backward()
        if update:
            self._optimizer.step()
            self._optimizer.clear_grad()
        return self._said(losses, outputs, wanted)

    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """Losses and metrics of a batch that is not trained on."""
        if self._loss is None and not self._metrics:
            raise ArgumentError("D2S0004", "Model.eval_batch(): there is no loss and no metric", hint="call prepare() first")
        self._enter("eval")
        wanted = _tensors(labels)
        with no_grad():
            outputs = _list(self.network(*_tensors(inputs)))
            losses = self._losses(outputs, wanted) if self._loss is not None else []
        return self._said(losses, outputs, wanted)

    def predict_batch(self, inputs: Any) -> list[np.ndarray]:
        """What the network says of a batch, as arrays."""
        self._enter("predict")
        with no_grad():
            return [output.numpy() for output in _list(self.network(*_tensors(inputs)))]

    def _enter(self, mode: str) -> None:
        self.mode = mode
        if self.network.training != (mode == "train"):
            self.network.train(mode == "train")

    def _losses(self, outputs: list[Any], wanted: list[Any]) -> list[Any]:
        found = _list(self._loss(*outputs, *wanted))
        for loss in found:
            if not isinstance(loss, Tensor) or loss.size != 1:
                got = f"a tensor of shape {loss.shape}" if isinstance(loss, Tensor) else f"a {type(loss).__name__}"
                raise ShapeError("D2S0002", f"the loss of a Model is one number, or a list of such, not {got}")
        return found

    def _said(self, losses: list[Any], outputs: list[Any], wanted: list[Any]) -> Any:
        said = [loss.numpy() for loss in losses]
        if not self._metrics:
            return said
        with no_grad():
            found = [_list(metric.compute(*outputs, *wanted)) for metric in self._metrics]
        counted = [m.update(*map(_array, seen)) for m, seen in zip(self._metrics, found, strict=True)]
        return said, counted

    def split(self, batch: Any) -> tuple[list[Any], list[Any]]:
        """A batch as inputs and labels."""
        flat = _flat(batch)
        count = len(self._inputs) or _asked(self.network, len(flat) - max(len(self._labels), 1))
        return flat[:count], flat[count:]

    def numbers(self) -> dict[str, Any]:
        """All metrics so far, by name."""
        found: dict[str, Any] = {}
        for metric in self._metrics:
            found |= dict(zip(_list(metric.name()), _list(metric.accumulate()), strict=True))
        return found

    def names(self) -> list[str]:
        """The names of what is reported of a batch."""
        loss = ["loss"] if self._loss is not None else []
        return loss + [name for metric in self._metrics for name in _list(metric.name())]

    # --- many batches

    def fit(
        self,
        train_data: Any = None,
        eval_data: Any = None,
        batch_size: int | list[int] = 1,
        epochs: int = 1,
        eval_freq: int = 1,
        log_freq: int = 10,
        save_dir: str | None = None,
        save_freq: int = 1,
        verbose: int = 2,
        drop_last: bool = False,
        shuffle: bool = True,
        num_workers: int = 0,
        callbacks: Callback | Sequence[Callback] | None = None,
        accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> None:
        """Trains for so many epochs on a Dataset, a DataLoader or any iterable of batches, and evaluates in between.

        `batch_size` may be a pair, for training and evaluation. The optimizer steps every `accumulate_grad_batches` batches;
        `num_iters` batches are the most, over all epochs. `save_dir` is where checkpoints go, every `save_freq` epochs.

        >>> model = d2s.Model(d2s.nn.Linear(1, 1))
        >>> model.prepare(d2s.optimizer.SGD(0.1, model.parameters()), d2s.nn.MSELoss())
        >>> batches = [(d2s.ones([4, 1]), d2s.full([4, 1], 3.0))] * 20
        >>> model.fit(batches, epochs=2, verbose=0)
        >>> round(model.predict_batch(d2s.ones([1, 1]))[0].item(), 1)
        3.0
        """
        loops.fit(
            self,
            loops.Data(train_data, batch_size, shuffle, drop_last, num_workers),
            eval_data,
            loops.Plan(epochs, eval_freq, log_freq, save_dir, save_freq, verbose, accumulate_grad_batches, num_iters),
            callbacks,
        )

    def evaluate(
        self,
        eval_data: Any,
        batch_size: int = 1,
        log_freq: int = 10,
        verbose: int = 2,
        num_workers: int = 0,
        callbacks: Callback | Sequence[Callback] | None = None,
        num_iters: int | None = None,
    ) -> dict[str, Any]:
        """The loss, a mean over all samples, and the metrics over data that is not trained on.

        >>> model = d2s.Model(d2s.nn.Identity())
        >>> model.prepare(loss=d2s.nn.MSELoss())
        >>> model.evaluate([(d2s.ones([2, 1]), d2s.zeros([2, 1])), (d2s.ones([1, 1]), d2s.ones([1, 1]))], verbose=0)
        {'loss': [0.6666666666666666]}
        """
        data = loops.Data(eval_data, batch_size, False, False, num_workers)
        return loops.evaluate(self, data, log_freq, verbose, callbacks, num_iters)

    def predict(
        self,
        test_data: Any,
        batch_size: int = 1,
        num_workers: int = 0,
        stack_outputs: bool = False,
        verbose: int = 1,
        callbacks: Callback | Sequence[Callback] | None = None,
    ) -> list[Any]:
        """For each output of the network a list of arrays, one a batch; with `stack_outputs` one array instead of the list.

        >>> model = d2s.Model(d2s.nn.Identity())
        >>> [y.shape for y in model.predict([d2s.ones([2, 3])] * 4, stack_outputs=True, verbose=0)]
        [(8, 3)]
        """
        data = loops.Data(test_data, batch_size, False, False, num_workers)
        return loops.predict(self, data, stack_outputs, verbose, callbacks)

    # --- files

    def save(self, path: str, training: bool = True) -> None:
        """Writes `path`.pdparams and `path`.pdopt, or (not `training`) what `jit.load` runs without the source."""
        prefix = _prefix("save", path)
        if training:
            save(self.network.state_dict(), f"{prefix}.pdparams")
            if self._optimizer is not None:
                save(self._optimizer.state_dict(), f"{prefix}.pdopt")
            return
        if not self._inputs:
            message = "Model.save(): a network that is saved to be run needs to know its inputs"
            raise ArgumentError("D2S0004", message, hint="Model(network, inputs=[InputSpec(...)])")
        self._enter("eval")
        jit.save(self.network, prefix, input_spec=self._inputs)

    def load(self, path: str, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Reads what `save` wrote; of the optimizer only if there is one and it is not to begin anew.

        What does not fit is refused, or with `skip_mismatch` left as it is, with a warning.
        """
        prefix = _prefix("load", path)
        state = load(f"{prefix}.pdparams")
        if not skip_mismatch:
            self._check_fits(state)
        self.network.set_state_dict(state)
        if self._optimizer is None or reset_optimizer:
            return
        if not os.path.exists(f"{prefix}.pdopt"):
            hint = "load(..., reset_optimizer=True)"
            raise FileError("D2S3004", f"{prefix}.pdopt, the state of the optimizer, is not there", hint=hint)
        self._optimizer.set_state_dict(load(f"{prefix}.pdopt"))

    def _check_fits(self, state: Any) -> None:
        expect("Model.load", "path", state, dict, "a file of parameters")
        for name, own in self.network.state_dict().items():
            got = list(np.shape(state[name])) if name in state else None
            if got != own.shape:
                said = f"has shape {got} in the file" if name in state else "is not in the file"
                raise ShapeError("D2S0002", f"Model.load(): '{name}' of shape {own.shape} {said}", hint="skip_mismatch=True")

    # --- what it is

    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """The parameters of the network."""
        return self.network.parameters(*args, **kwargs)

    def summary(self, input_size: Any = None, dtype: Any = None) -> dict[str, int]:
        """Prints the layers with their outputs, parameters and multiplications: see `d2s.summary`."""
        if input_size is None and not self._inputs:
            raise ArgumentError("D2S0004", "Model.summary(): 'input_size' is missing", hint="or Model(network, inputs=...)")
        return summary(self.network, self._inputs if input_size is None else input_size, dtype)


def _specs(name: str, given: Any) -> list[InputSpec]:
    found = list(given.values()) if isinstance(given, dict) else _list(given)
    if not all(isinstance(spec, InputSpec) for spec in found):
        raise DTypeError("D2S0001", f"Model(): '{name}' expects InputSpecs, got {type(given).__name__}")
    return found


def _list(value: Any) -> list[Any]:
    """One thing, several, or none, as a list."""
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]


def _flat(value: Any, depth: int = 0) -> list[Any]:
    if depth > DEEPEST:
        raise ArgumentError("D2S0004", f"a batch of more than {DEEPEST} lists in lists")
    if isinstance(value, list | tuple):
        return [leaf for held in value for leaf in _flat(held, depth + 1)]
    return [value]


def _tensors(given: Any) -> list[Any]:
    return [x if isinstance(x, Tensor) else to_tensor(x) for x in _list(given)]


def _array(value: Any) -> Any:
    return value.numpy() if isinstance(value, Tensor) else value


def _asked(network: Layer, rest: int) -> int:
    """How many inputs a network asks for; `rest` where it takes any number."""
    try:
        parameters = inspect.signature(network.forward).parameters.values()
    except (TypeError, ValueError):
        return rest
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return rest
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def _prefix(function: str, path: Any) -> str:
    if not isinstance(path, str | os.PathLike) or not os.path.basename(os.fspath(path)):
        raise ArgumentError("D2S0004", f"Model.{function}(): {brief(path)} is no path of a file")
    found = os.fspath(path)
    return found[: -len(".pdparams")] if isinstance(found, str) and found.endswith(".pdparams") else found
