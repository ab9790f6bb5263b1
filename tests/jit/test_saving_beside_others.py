"""Saving changes nothing for others: not for who runs the layer meanwhile, nor for who saves it, to any path."""

import builtins
import errno
import io
import os
import threading

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import FileError, FormatError
from d2s.static import InputSpec

SPEC = [InputSpec([None, 4])]


class Marked(nn.Layer):
    """Its dropout is not rewritten, so that it asks for the mode itself."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    @d2s.jit.not_to_static
    def drop(self, x):
        return nn.functional.dropout(x, 0.5, training=self.training)

    def forward(self, x):
        return self.drop(self.linear(x))


def dropping():
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.Dropout(0.5), nn.Linear(8, 2))


def in_threads(*works):
    """Runs each in a thread of its own, and gives what they raised."""
    raised = []

    def run(work):
        try:
            work()
        except Exception as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_a_layer_that_several_threads_save_is_what_it_is_in_each_file(tmp_path):
    net, x = dropping(), d2s.randn([3, 4])
    net.eval()
    wanted, paths = net(x).tolist(), [[str(tmp_path / f"{k}_{n}") for n in range(6)] for k in range(3)]
    assert in_threads(*(lambda own=own: [d2s.jit.save(net, path, SPEC) for path in own] for own in paths)) == []
    assert [d2s.jit.load(path)(x).tolist() for own in paths for path in own] == [wanted] * 18
    assert not any(layer.training for layer in net.sublayers(include_self=True))


@pytest.mark.parametrize("training", [False, True])
def test_the_mode_of_a_layer_is_its_own_while_it_is_saved(training, tmp_path):
    net, x, seen, done = dropping(), d2s.randn([3, 4]), set(), threading.Event()
    net.train(training)

    def watch():
        while not done.is_set():
            seen.update(layer.training for layer in net.sublayers(include_self=True))

    def save():
        try:
            for n in range(6):
                d2s.jit.save(net, str(tmp_path / f"{n}"), SPEC)
        finally:
            done.set()

    assert in_threads(watch, save) == []
    assert seen == {training}
    net.eval()
    assert d2s.jit.load(str(tmp_path / "5"))(x).tolist() == net(x).tolist()


def test_what_is_not_rewritten_is_saved_as_in_inference(tmp_path):
    net, x = Marked(), d2s.randn([3, 4])
    d2s.jit.save(net, str(tmp_path / "net"), SPEC)
    assert net.training and "training" not in vars(nn.Layer)
    loaded = d2s.jit.load(str(tmp_path / "net"))
    loaded.train()
    assert (loaded(x).numpy() == 0).any()
    loaded.eval()
    net.eval()
    assert np.array_equal(loaded(x), net(x))


def test_what_is_not_rewritten_is_captured_once_for_each_mode():
    net, x = Marked(), d2s.randn([3, 4])
    static = d2s.to_static(net.forward)
    assert (static(x).numpy() == 0).any()
    net.eval()
    assert np.array_equal(static(x), net(x))


def test_files_of_one_path_are_of_one_saving(tmp_path):
    """Whoever of several threads is the last; and who loads meanwhile finds the files of one of them."""
    path, x = str(tmp_path / "net"), d2s.ones([2, 4])
    nets = [nn.Linear(4, 2) for _ in range(3)]
    wanted, found, left = [net(x).tolist() for net in nets], [], threading.Semaphore(0)
    d2s.jit.save(nets[0], path, SPEC)

    def save(net):
        for _ in range(8):
            d2s.jit.save(net, path, SPEC)
            left.release()

    def load():
        for _ in range(24):
            left.acquire(timeout=60)
            found.append(d2s.jit.load(path)(x).tolist())

    assert in_threads(load, *(lambda net=net: save(net) for net in nets)) == []
    assert len(found) == 24 and all(each in wanted for each in found)
    assert d2s.jit.load(path)(x).tolist() in wanted
    assert sorted(os.listdir(tmp_path)) == ["net.pdiparams", "net.pdiparams.info", "net.pdmodel"]


def test_onnx_files_of_one_path_are_whole(tmp_path):
    nets, path = [nn.Linear(4, 2) for _ in range(2)], str(tmp_path / "net.onnx")
    wanted = []
    for net in nets:
        d2s.onnx.export(net, path, SPEC)
        wanted.append((tmp_path / "net.onnx").read_bytes())
    assert in_threads(*(lambda net=net: [d2s.onnx.export(net, path, SPEC) for _ in range(20)] for net in nets)) == []
    assert (tmp_path / "net.onnx").read_bytes() in wanted
    assert os.listdir(tmp_path) == ["net.onnx"]


@pytest.mark.parametrize("failing", [".onnx", ".pdmodel", ".pdiparams", ".pdparams"])
def test_of_a_file_that_cannot_be_written_nothing_is_left(failing, tmp_path, monkeypatch):
    """A full disk shows when what was written is put there."""
    really = io.open

    def full(path, mode="r", *args, **kwargs):
        file = really(path, mode, *args, **kwargs)
        if "w" in mode and failing in str(path):
            monkeypatch.setattr(builtins, "open", really)
            file.write(b"begun")
            file.close()
            raise OSError(errno.ENOSPC, "No space left on device")
        return file

    monkeypatch.setattr(builtins, "open", full)
    net = nn.Linear(4, 2)
    with pytest.raises(FileError, match="No space left"):
        if failing == ".onnx":
            d2s.onnx.export(net, str(tmp_path / "net"), SPEC)
        elif failing == ".pdparams":
            d2s.save(net.state_dict(), str(tmp_path / "net.pdparams"))
        else:
            d2s.jit.save(net, str(tmp_path / "net"), SPEC)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes among its files")
def test_nobody_waits_for_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "net.pdmodel")
    with pytest.raises(FormatError, match="it is no file, but a pipe"):
        d2s.jit.load(str(tmp_path / "net"))
    with pytest.raises(FormatError, match="it is no file, but a pipe"):
        d2s.load(str(tmp_path / "net.pdmodel"))
