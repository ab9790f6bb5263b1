"""Progress as one line: rewritten on a terminal, one line per epoch in a file or pipe, a bar in a notebook.

>>> line("Epoch 1/2", 3, 10, {"loss": [0.5], "acc": 0.25}, ["loss", "acc"], 0.02)
'Epoch 1/2 - step 3/10 - loss: 0.5000 - acc: 0.2500 - 20 ms/step - ETA: 0 s'
"""

import html
import shutil
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s.arguments import expect
from d2s.callbacks.callback import Callback
from d2s.errors import ArgumentError, brief

OFTEN = 0.1  # seconds between two versions of a line


class Pipe:
    """Where nothing can be rewritten: what is done is a line, what is under way is not said."""

    def show(self, text: str, done: int, whole: int | None) -> None:
        """What is under way."""

    def end(self, text: str) -> None:
        """What is done."""
        print(text, flush=True)


class Terminal(Pipe):
    """One line that is written again and again."""

    def __init__(self) -> None:
        self.last = 0

    def show(self, text: str, done: int, whole: int | None) -> None:
        head, _, rest = text.partition(" - ")
        self._write(f"{head} {bar(done, whole)} {rest}" if whole else text)

    def end(self, text: str) -> None:
        self._write(text)
        sys.stdout.write("\n")
        self.last = 0

    def _write(self, text: str) -> None:
        text = text[: shutil.get_terminal_size().columns - 1]
        sys.stdout.write("\r" + text.ljust(self.last))
        sys.stdout.flush()
        self.last = len(text)


class Notebook(Pipe):
    """A bar of HTML that changes in its place."""

    def __init__(self, display: Any, html_of: Any) -> None:
        self.display, self.html_of, self.handle = display, html_of, None

    def show(self, text: str, done: int, whole: int | None) -> None:
        part = f' value="{done}" max="{whole}"' if whole else ""
        self._put(f"<progress{part}></progress> {html.escape(text)}")

    def end(self, text: str) -> None:
        self._put(html.escape(text))
        self.handle = None

    def _put(self, text: str) -> None:
        shown = self.html_of(f"<div>{text}</div>")
        if self.handle is None:
            self.handle = self.display(shown, display_id=True)
        else:
            self.handle.update(shown)


def bar(done: int, whole: int, width: int = 20) -> str:
    """How far it is, in signs."""
    filled = min(done, whole) * width // whole
    return "[" + "=" * filled + ">" * (filled < width) + "." * (width - filled - 1) + "]"


def screen() -> Pipe:
    """Where progress is shown to."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if type(shell).__name__ == "ZMQInteractiveShell":
        from IPython import display

        return Notebook(display.display, display.HTML)
    return Terminal() if getattr(sys.stdout, "isatty", lambda: False)() else Pipe()


def line(
    head: str, done: int, whole: int | None, logs: dict[str, Any], names: Sequence[str], pace: float, ended: bool = False
) -> str:
    """What is said of an epoch: how far it is, losses and metrics, seconds per step, and how long it will take."""
    parts = [head, f"step {done}/{whole}" if whole else f"step {done}"]
    parts += [f"{name}: {_number(logs[name])}" for name in names if name in logs]
    parts.append(f"{_time(pace)}/step")
    if whole and not ended:
        parts.append(f"ETA: {_time(round(pace * (whole - done)))}")
    return " - ".join(parts)


def _number(value: Any) -> str:
    return " ".join(f"{v:.4f}" if abs(v) >= 1e-3 or v == 0 else f"{v:.4e}" for v in np.asarray(value).reshape(-1).tolist())


def _time(seconds: float) -> str:
    if seconds >= 60:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s"
    return (
        f"{seconds:.3g} s"
        if seconds >= 1 or not seconds
        else f"{seconds * 1e3:.3g} ms"
        if seconds >= 1e-3
        else f"{seconds * 1e6:.0f} µs"
    )


class ProgBarLogger(Callback):
    """Shows progress each `log_freq` steps; with `verbose` 0 not at all.

    The loss is that of the last batch, metrics are over the epoch so far; those of an evaluation are over all of it.

    >>> progress = d2s.callbacks.ProgBarLogger(log_freq=10)
    """

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        super().__init__()
        expect("ProgBarLogger", "log_freq", log_freq, int, "an int")
        if log_freq < 1 or not isinstance(verbose, int) or verbose not in (0, 1, 2):
            given = f"'log_freq' is {brief(log_freq)}, 'verbose' {brief(verbose)}"
            raise ArgumentError("D2S0004", f"ProgBarLogger(): {given}; expected 1 or more, and 0, 1 or 2")
        self.log_freq, self.verbose = log_freq, verbose
        self.screen = Pipe()
        self._start("", None)

    def _start(self, head: str, steps: int | None) -> None:
        self.head, self.steps, self.done = head, steps, 0
        self.begun, self.shown = time.perf_counter(), 0.0

    def _said(self, logs: dict[str, Any] | None, ended: bool) -> str:
        pace = (time.perf_counter() - self.begun) / max(self.done, 1)
        return line(self.head, self.done, self.steps, logs or {}, self.params.get("metrics", ()), pace, ended)

    def _step(self, step: int, logs: dict[str, Any] | None) -> None:
        self.done = step + 1
        now = time.perf_counter()
        if self.verbose and self.done % self.log_freq == 0 and now - self.shown >= OFTEN:
            self.shown = now
            self.screen.show(self._said(logs, False), self.done, self.steps)

    def _end(self, logs: dict[str, Any] | None) -> None:
        if self.verbose:
            self.screen.end(self._said(logs, True))

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.screen = screen()

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._start(f"Epoch {epoch + 1}/{self.params.get('epochs', epoch + 1)}", self.params.get("steps"))

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        self._step(step, logs)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._end(logs)

    def on_eval_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.screen = screen()
        self._start("Evaluation", (logs or {}).get("steps"))

    def on_eval_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        self._step(step, logs)

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        self._end(logs)

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.screen = screen()
        self._start("Prediction", (logs or {}).get("steps"))

    def on_predict_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        self._step(step, logs)

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        self._end(logs)
