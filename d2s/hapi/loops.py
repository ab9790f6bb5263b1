"""The loops of a `Model`: epochs of batches, with callbacks told of each.

In: a model that can do one batch, data, a plan. Out: a trained model; losses and metrics; predictions.

>>> len(batches(Data([1, 2, 3], 1, False, False, 0)))
3
"""

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s.callbacks import CallbackList, EarlyStopping, LRScheduler, ModelCheckpoint, ProgBarLogger
from d2s.callbacks.callback import listed
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.io import DataLoader, Dataset


class Data(NamedTuple):
    """What batches are made of: a Dataset, or what gives batches when it is iterated over."""

    source: Any
    batch_size: Any
    shuffle: bool
    drop_last: bool
    num_workers: int


class Plan(NamedTuple):
    """How a `fit` goes."""

    epochs: int
    eval_freq: int
    log_freq: int
    save_dir: str | None
    save_freq: int
    verbose: int
    accumulate: int
    iterations: int | None


def batches(data: Data) -> Any:
    """What gives the batches of an epoch each time it is iterated over."""
    if isinstance(data.source, Dataset):
        return DataLoader(
            data.source,
            batch_size=data.batch_size,
            shuffle=data.shuffle,
            drop_last=data.drop_last,
            num_workers=data.num_workers,
        )
    if not isinstance(data.source, Iterable) or isinstance(data.source, str | bytes | Iterator):
        got = type(data.source).__name__
        raise DTypeError("D2S0001", f"data to train on expects a Dataset, a DataLoader or a list of batches, got {got}")
    return data.source


def _steps(loader: Any, most: int | None) -> int | None:
    """How many batches there will be; None where nobody knows."""
    try:
        count = len(loader)
    except (TypeError, NotImplementedError):
        return most
    return count if most is None else min(count, most)


def _positive(function: str, **numbers: Any) -> None:
    for name, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= sys.maxsize:
            raise ArgumentError("D2S0004", f"Model.{function}(): '{name}' is {brief(value)}, expected an int of 1 or more")


def _told(model: Any, callbacks: list[Any], params: dict[str, Any]) -> CallbackList:
    found = CallbackList(callbacks)
    found.set_model(model)
    found.set_params(params)
    return found


def _with_progress(given: Any, log_freq: int, verbose: int) -> list[Any]:
    callbacks = listed(given)
    shown = any(isinstance(c, ProgBarLogger) for c in callbacks)
    return callbacks if shown or not verbose else [ProgBarLogger(log_freq, verbose), *callbacks]


def _for_training(given: Any, plan: Plan) -> list[Any]:
    """The user's callbacks and those every training has."""
    callbacks = _with_progress(given, plan.log_freq, plan.verbose)
    if not any(isinstance(c, LRScheduler) for c in callbacks):
        callbacks.insert(0, LRScheduler())
    if not any(isinstance(c, ModelCheckpoint) for c in callbacks):
        callbacks.append(ModelCheckpoint(plan.save_freq, plan.save_dir))
    for callback in callbacks:
        if isinstance(callback, EarlyStopping):
            callback.save_dir = plan.save_dir
    return callbacks


def fit(model: Any, data: Data, eval_source: Any, plan: Plan, callbacks: Any) -> None:
    """Trains, and evaluates every `eval_freq` epochs."""
    _positive("fit", epochs=plan.epochs, eval_freq=plan.eval_freq, accumulate_grad_batches=plan.accumulate)
    if plan.iterations is not None:
        _positive("fit", num_iters=plan.iterations)
    sizes = data.batch_size if isinstance(data.batch_size, list | tuple) else [data.batch_size] * 2
    if len(sizes) != 2:
        raise ArgumentError("D2S0004", f"Model.fit(): 'batch_size' is {brief(data.batch_size)}, expected an int or a pair")
    loader = batches(data._replace(batch_size=sizes[0]))
    evaluated = None if eval_source is None else batches(Data(eval_source, sizes[1], False, False, data.num_workers))
    left, logs = plan.iterations, dict[str, Any]()
    params = {"batch_size": sizes[0], "epochs": plan.epochs, "steps": _steps(loader, left), "verbose": plan.verbose}
    told = _told(model, _for_training(callbacks, plan), params | {"metrics": model.names()})
    model.stop_training = False
    told.on_begin("train")
    for epoch in range(plan.epochs):
        told.on_epoch_begin(epoch)
        logs = _epoch(model, loader, plan.accumulate, left, told)
        left = None if left is None else left - logs.get("step", -1) - 1
        told.on_epoch_end(epoch, logs)
        if evaluated is not None and epoch % plan.eval_freq == 0:
            _evaluation(model, evaluated, told, None)
        if model.stop_training or left == 0:
            break
    told.on_end("train", logs)


def _epoch(model: Any, loader: Any, accumulate: int, most: int | None, told: CallbackList) -> dict[str, Any]:
    """One pass over the data."""
    _reset(model)
    logs: dict[str, Any] = {}
    steps = _steps(loader, most)
    for step, batch in enumerate(itertools.islice(loader, most)):
        told.on_batch_begin("train", step, logs)
        inputs, labels = model.split(batch)
        due = (step + 1) % accumulate == 0 or step + 1 == steps
        losses = _losses(model.train_batch(inputs, labels, update=due))
        logs = {"loss": losses, **model.numbers(), "step": step, "batch_size": _count(inputs)}
        told.on_batch_end("train", step, logs)
        if model.stop_training:
            break
    return logs


def evaluate(model: Any, data: Data, log_freq: int, verbose: int, callbacks: Any, iterations: int | None) -> dict[str, Any]:
    """Losses and metrics of all the data."""
    if iterations is not None:
        _positive("evaluate", num_iters=iterations)
    loader = batches(data)
    params = {"batch_size": data.batch_size, "verbose": verbose, "metrics": model.names()}
    told = _told(model, _with_progress(callbacks, log_freq, verbose), params | {"steps": _steps(loader, iterations)})
    logs = _evaluation(model, loader, told, iterations)
    return {name: value for name, value in logs.items() if name not in ("step", "batch_size")}


def _evaluation(model: Any, loader: Any, told: CallbackList, most: int | None) -> dict[str, Any]:
    _reset(model)
    logs: dict[str, Any] = {}
    seen, whole = 0, np.zeros(0)
    told.on_begin("eval", {"steps": _steps(loader, most), "metrics": model.names()})
    for step, batch in enumerate(itertools.islice(loader, most)):
        told.on_batch_begin("eval", step, logs)
        inputs, labels = model.split(batch)
        losses = np.array(_losses(model.eval_batch(inputs, labels)))
        count = _count(inputs)
        seen, whole = seen + count, losses * count + (whole if step else 0)
        mean = {"loss": (whole / max(seen, 1)).tolist()} if len(whole) else {}
        logs = {**mean, **model.numbers(), "step": step, "batch_size": count}
        told.on_batch_end("eval", step, logs)
    told.on_end("eval", logs)
    return logs


def predict(model: Any, data: Data, stack: bool, verbose: int, callbacks: Any) -> list[Any]:
    """What the network says of all the data."""
    loader = batches(data)
    steps = _steps(loader, None)
    told = _told(model, _with_progress(callbacks, 1, verbose), {"steps": steps, "verbose": verbose, "metrics": []})
    outputs: list[list[np.ndarray]] = []
    told.on_begin("predict", {"steps": steps})
    for step, batch in enumerate(loader):
        told.on_batch_begin("predict", step)
        inputs, _ = model.split(batch)
        outputs.append(model.predict_batch(inputs))
        told.on_batch_end("predict", step, {"step": step, "batch_size": _count(inputs)})
    told.on_end("predict")
    columns = [list(column) for column in zip(*outputs, strict=True)]
    return [np.concatenate(column) for column in columns] if stack else columns


def _reset(model: Any) -> None:
    for metric in model._metrics:
        metric.reset()


def _losses(said: Any) -> list[float]:
    """The losses in what a batch says, as numbers."""
    losses = said[0] if isinstance(said, tuple) else said
    return [loss.item() for loss in losses]


def _count(inputs: Sequence[Any]) -> int:
    """How many samples a batch has."""
    shape = np.shape(inputs[0]) if inputs else ()
    return int(shape[0]) if shape else 1
