"""`Callback`: what a `Model` tells while it trains, evaluates and predicts; and a list of them that is told at once.

In: events, with `logs`: the loss and the metrics so far. The model is `self.model`; setting its `stop_training` ends a `fit`.

>>> class Loud(Callback):
...     def on_epoch_begin(self, epoch, logs=None):
...         print("epoch", epoch)
>>> CallbackList([Loud()]).on_epoch_begin(3)
epoch 3
"""

from collections.abc import Sequence
from typing import Any

from d2s.errors import DTypeError


class Callback:
    """The base of callbacks: a subclass says what it does when. `params` holds epochs, steps, verbose and metrics."""

    def __init__(self) -> None:
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        """Is told what is about to happen: epochs, steps (None where nobody knows), verbose, metrics."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Is told whose callback it is."""
        self.model = model

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Behind the last epoch."""

    def on_eval_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before an evaluation."""

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        """Behind an evaluation: `logs` are its results."""

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Before predictions."""

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        """Behind predictions."""

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Before an epoch; the first is 0."""

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Behind an epoch, before its evaluation."""

    def on_train_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Before a batch of an epoch; the first is 0."""

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Behind a batch."""

    def on_eval_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Before a batch of an evaluation."""

    def on_eval_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Behind a batch of an evaluation."""

    def on_predict_batch_begin(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Before a batch of predictions."""

    def on_predict_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        """Behind a batch of predictions."""


class CallbackList:
    """Callbacks in order; what one event is told to this list, it tells to each."""

    def __init__(self, callbacks: Sequence[Callback] = ()) -> None:
        self.callbacks = listed(callbacks)

    def append(self, callback: Callback) -> None:
        """Adds one, as the last."""
        self.callbacks.append(callback)

    def __iter__(self) -> Any:
        return iter(self.callbacks)

    def set_params(self, params: dict[str, Any]) -> None:
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model: Any) -> None:
        for callback in self.callbacks:
            callback.set_model(model)

    def on_begin(self, mode: str, logs: dict[str, Any] | None = None) -> None:
        """The beginning of "train", "eval" or "predict"."""
        self._tell(f"on_{mode}_begin", logs)

    def on_end(self, mode: str, logs: dict[str, Any] | None = None) -> None:
        """The end of it."""
        self._tell(f"on_{mode}_end", logs)

    def on_batch_begin(self, mode: str, step: int, logs: dict[str, Any] | None = None) -> None:
        """The beginning of a batch of it."""
        self._tell(f"on_{mode}_batch_begin", step, logs)

    def on_batch_end(self, mode: str, step: int, logs: dict[str, Any] | None = None) -> None:
        """The end of a batch of it."""
        self._tell(f"on_{mode}_batch_end", step, logs)

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._tell("on_epoch_begin", epoch, logs)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._tell("on_epoch_end", epoch, logs)

    def _tell(self, event: str, *told: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, event)(*told)


def listed(callbacks: Any) -> list[Callback]:
    """What users give for callbacks: none, one, or several."""
    found = [] if callbacks is None else [callbacks] if isinstance(callbacks, Callback) else callbacks
    if not isinstance(found, Sequence) or not all(isinstance(c, Callback) for c in found):
        raise DTypeError("D2S0001", f"'callbacks' expects Callbacks, got {type(callbacks).__name__}")
    return list(found)


def watched(logs: dict[str, Any] | None, monitor: str) -> float | None:
    """The number of that name in logs; of several the first, None where there is none."""
    found = (logs or {}).get(monitor)
    if isinstance(found, list | tuple):
        found = found[0] if found else None
    return None if found is None else float(found)
