"""Callbacks do what they say, with evaluations that are told to them as a Model tells them."""

import io
import re
import struct
import sys
import types

import numpy as np
import pytest

import d2s
from d2s.callbacks import EarlyStopping, LRScheduler, ModelCheckpoint, ProgBarLogger, ReduceLROnPlateau, VisualDL, progress
from d2s.errors import ArgumentError
from d2s.export import protobuf

BATCHES = [(np.ones([2, 1], "float32"), np.zeros([2, 1], "float32"))] * 4


class Recorded:
    """A model that notes what is asked of it."""

    def __init__(self, rate=0.5):
        self.saved, self.stop_training = [], False
        self._optimizer = d2s.optimizer.SGD(rate, d2s.nn.Linear(1, 1).parameters())

    def save(self, path):
        self.saved.append(path)


def shown(callback, values, name="loss"):
    """Tells a callback the results of evaluations; how many of them it takes until it stops."""
    callback.set_model(Recorded())
    callback.on_train_begin()
    for epoch, value in enumerate(values):
        callback.on_epoch_begin(epoch)
        callback.on_eval_end({name: [value], "step": 1})
        if callback.model.stop_training:
            return epoch + 1
    return None


@pytest.mark.parametrize(
    ("options", "values", "stops"),
    [
        ({}, [3, 2, 1, 1.5, 0.5], 4),
        ({"patience": 2}, [3, 2, 2.5, 1, 1.5, 2, 0], 6),
        ({"min_delta": 0.5}, [3, 2.6, 1], 2),
        ({"baseline": 1.0}, [3, 0.5], 1),
        ({"mode": "max", "patience": 1}, [1, 2, 3, 2], 4),
        ({"monitor": "acc"}, [0.1, 0.2, 0.2], 3),
        ({"monitor": "acc", "mode": "min"}, [0.1, 0.2], 2),
        ({"patience": 9}, [3, 4, 5], None),
    ],
)
def test_stopping_early(options, values, stops, capsys):
    stop = EarlyStopping(**options)
    stop.save_dir = "kept"
    assert shown(stop, values, stop.monitor) == stops
    assert set(stop.model.saved) <= {"kept/best_model"}
    assert capsys.readouterr().out.startswith(f"Epoch {stops}:") == (stops is not None)


def test_the_best_model_is_kept_as_it_was(tmp_path):
    model = d2s.Model(d2s.nn.Linear(1, 1))
    model.prepare(d2s.optimizer.SGD(3.0, model.parameters()), d2s.nn.MSELoss())  # grows
    stop = EarlyStopping(patience=2, verbose=0)
    model.fit(BATCHES, BATCHES, epochs=9, verbose=0, save_dir=str(tmp_path), callbacks=[stop])
    assert stop.stopped_epoch == 2
    best, first = (d2s.load(str(tmp_path / f"{name}.pdparams")) for name in ("best_model", "0"))
    assert best["weight"].tolist() == first["weight"].tolist() != model.network.weight.tolist()


def test_watching_what_nobody_says():
    for callback in (EarlyStopping("area"), ReduceLROnPlateau("area")):
        with pytest.warns(UserWarning, match="'area', which no evaluation says"):
            shown(callback, [1.0])


@pytest.mark.parametrize(
    ("options", "values", "rate"),
    [
        ({"patience": 1}, [1, 1, 1], 0.5 * 0.5**2),
        ({"patience": 2}, [1, 1, 1, 1, 1, 1], 0.5 * 0.5**2),
        ({"patience": 1, "cooldown": 2}, [1, 1, 1, 1, 1], 0.5 * 0.5**2),
        ({"patience": 1, "min_lr": 0.4}, [1, 1, 1], 0.4),
        ({"patience": 1, "min_delta": 0.5}, [1, 0.9, 0.3], 0.5 * 0.5),
        ({"patience": 1, "mode": "max"}, [1, 2, 3], 0.5),
    ],
)
def test_reducing_the_rate(options, values, rate, capsys):
    reduce = ReduceLROnPlateau(factor=0.5, **options)
    shown(reduce, values)
    assert reduce.model._optimizer.get_lr() == rate
    assert ("reduced to" in capsys.readouterr().out) == (rate != 0.5)


def test_schedulers_step_behind_batches_or_epochs():
    for callbacks, epochs in ((None, 8), ([LRScheduler(by_step=False, by_epoch=True)], 2)):
        rate = d2s.optimizer.lr.StepDecay(0.5, 100)
        model = d2s.Model(d2s.nn.Linear(1, 1))
        model.prepare(d2s.optimizer.SGD(rate, model.parameters()), d2s.nn.MSELoss())
        model.fit(BATCHES, epochs=2, verbose=0, callbacks=callbacks)
        assert rate.last_epoch == epochs


def test_a_log_for_visualdl(tmp_path):
    model = d2s.Model(d2s.nn.Linear(1, 1))
    model.prepare(d2s.optimizer.SGD(0.25, model.parameters()), d2s.nn.MSELoss())
    model.fit(BATCHES, BATCHES[:2], epochs=2, verbose=0, callbacks=[VisualDL(str(tmp_path / "log"))])
    (path,) = (tmp_path / "log").iterdir()
    assert re.fullmatch(r"vdlrecords\.\d{10}\.log", path.name)
    raw, found = path.read_bytes(), []
    while raw:
        (length,) = struct.unpack("<Q", raw[:8])
        (value,) = protobuf.decode("Record", raw[8 : 8 + length])["values"]
        found.append((value["tag"], value["id"], value["value"]))
        raw = raw[8 + length :]
    assert [tag for tag, *_ in found] == (["train/loss", "train/lr"] * 4 + ["eval/loss"]) * 2
    assert [step for tag, step, _ in found if tag == "train/loss"] == [*range(1, 9)]
    assert {value for tag, _, value in found if tag == "train/lr"} == {0.25}


# --- progress


class Screen(io.StringIO):
    def isatty(self):
        return True


def fitted(monkeypatch, out, **options):
    monkeypatch.setattr(progress, "OFTEN", 0.0)
    monkeypatch.setattr(sys, "stdout", out)
    model = d2s.Model(d2s.nn.Linear(1, 1))
    model.prepare(d2s.optimizer.SGD(0.25, model.parameters()), d2s.nn.MSELoss())
    model.fit(BATCHES, BATCHES, epochs=2, **options)
    model.predict(BATCHES, verbose=options.get("verbose", 1))
    return out.getvalue()


def test_a_file_gets_a_line_per_epoch(monkeypatch):
    lines = fitted(monkeypatch, io.StringIO()).splitlines()
    heads = ["Epoch 1/2", "Evaluation", "Epoch 2/2", "Evaluation", "Prediction"]
    assert [line.partition(" - ")[0] for line in lines] == heads
    assert all(re.search(r"step 4/4( - loss: \d\.\d+(e-\d+)?)? - [\d.]+ (ms|µs|s)/step$", line) for line in lines)
    assert fitted(monkeypatch, io.StringIO(), verbose=0) == ""


def test_a_terminal_gets_one_line_that_changes(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = fitted(monkeypatch, Screen(), log_freq=2)
    assert text.count("\n") == 5
    first = text.split("\n")[0].split("\r")
    assert [re.search(r"step (\d)/4", part)[1] for part in first[1:]] == ["2", "4", "4"]
    assert first[1].startswith("Epoch 1/2 [==========>.........] step 2/4 - loss: ")
    assert "ETA" in first[1]
    assert "ETA" not in first[-1]
    assert all(len(part) < 100 for part in re.split("[\r\n]", text))


def test_a_notebook_gets_a_bar(monkeypatch):
    put = []
    handle = types.SimpleNamespace(update=put.append)
    shell = type("ZMQInteractiveShell", (), {})()
    display = types.SimpleNamespace(HTML=str, display=lambda x, display_id: put.append(x) or handle)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell, display=display))
    assert fitted(monkeypatch, io.StringIO(), log_freq=1) == ""
    assert put[0].startswith('<div><progress value="1" max="4"></progress> Epoch 1/2 - step 1/4')
    assert sum("progress" not in text for text in put) == 5


def test_times():
    assert [progress._time(s) for s in (0, 2e-5, 0.0123, 1.5, 61, 7322)] == [
        *("0 s", "20 µs", "12.3 ms", "1.5 s"),
        *("1 min 1 s", "2 h 2 min"),
    ]


def test_what_is_refused():
    for call in (
        lambda: EarlyStopping(mode="up"),
        lambda: ReduceLROnPlateau(factor=1.0),
        lambda: LRScheduler(by_step=True, by_epoch=True),
        lambda: ModelCheckpoint(save_freq=0),
        lambda: ProgBarLogger(log_freq=0),
        lambda: ProgBarLogger(verbose=3),
        lambda: VisualDL(""),
    ):
        with pytest.raises(ArgumentError):
            call()
