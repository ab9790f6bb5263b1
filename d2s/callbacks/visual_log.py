"""Losses and metrics as a log VisualDL shows, written without it.

A file `vdlrecords.*.log` is a row of records, each with its length in 8 bytes before it; a record is a message of protobuf.

>>> record("train/loss", 3, 0.5, 1000)[8:].hex()
'0a160803120a747261696e2f6c6f737318e807250000003f'
"""

import os
import struct
import time
from typing import Any

from d2s.callbacks.callback import Callback, watched
from d2s.errors import ArgumentError, FileError, brief
from d2s.export import protobuf

LARGEST = 1 << 14  # bytes that wait to be written


def record(tag: str, step: int, value: float, milliseconds: int) -> bytes:
    """One number as it stands in the log."""
    said = {"id": step, "tag": tag, "timestamp": milliseconds, "value": value}
    message = protobuf.encode("Record", {"values": [said]})
    return struct.pack("<Q", len(message)) + message


class VisualDL(Callback):
    """Writes losses, metrics and the learning rate of training per batch, those of evaluation per evaluation, to `log_dir`.

    `visualdl --logdir log_dir` shows them.
    """

    def __init__(self, log_dir: str) -> None:
        super().__init__()
        if not isinstance(log_dir, str | os.PathLike) or not os.fspath(log_dir) or "\0" in str(log_dir):
            raise ArgumentError("D2S0004", f"VisualDL(): 'log_dir' is {brief(log_dir)}, expected a folder")
        self.log_dir = os.fspath(log_dir)
        self.path = os.path.join(self.log_dir, f"vdlrecords.{int(time.time()):010d}.log")
        self.steps = self.evaluations = 0
        self._pending = bytearray()

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        self.steps += 1
        self._add("train", self.steps, logs)
        self._pending += record("train/lr", self.steps, self.model._optimizer.get_lr(), _now())
        if len(self._pending) > LARGEST:
            self._flush()

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        self.evaluations += 1
        self._add("eval", self.evaluations, logs)
        self._flush()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._flush()

    def _add(self, mode: str, step: int, logs: dict[str, Any] | None) -> None:
        for name in self.params.get("metrics", ()):
            value = watched(logs, name)
            if value is not None:
                self._pending += record(f"{mode}/{name}", step, value, _now())

    def _flush(self) -> None:
        try:
            os.makedirs(self.log_dir, exist_ok=True)
            with open(self.path, "ab") as file:
                file.write(self._pending)
        except OSError as error:
            raise FileError("D2S3004", f"{self.path} cannot be written: {error.strerror}") from None
        self._pending.clear()


def _now() -> int:
    return round(time.time() * 1000)
