"""A saved function, reloaded in a fresh process without its source: same bits, same structure, errors that name the input."""

import json
import subprocess
import sys

import numpy as np
import pytest

import d2s
from d2s import __main__ as command
from d2s.errors import ArgumentError, D2SError, FormatError
from d2s.static import InputSpec

RELOAD = """
import sys, json, pickle, numpy as np, d2s
net = d2s.jit.load(sys.argv[1])
data = np.load(sys.argv[2])
arguments = [d2s.to_tensor(data[k], stop_gradient=k == "n") for k in data.files]
result = net(*arguments)
flat = result if isinstance(result, (list, tuple)) else [result]
flat[0].sum().backward()
grads = [p.grad.numpy() for p in net.parameters() if p.grad is not None]
np.savez(sys.argv[3], *[np.asarray(t) for t in flat], *grads)
print(json.dumps([type(result).__name__, len(flat), sorted(net.state_dict()), repr(net), "numba" in sys.modules]))
"""


class Net(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = d2s.nn.Linear(3, 3)
        self.out = d2s.nn.Linear(3, 2)

    def forward(self, x, n):
        i = 0
        h = x
        while i < n:
            h = d2s.tanh(self.fc(h))
            if h.sum() > 0:
                h = h * 0.5
            i += 1
        return self.out(h), h


SPEC = [InputSpec([None, 3], name="x"), InputSpec([], "int64")]


@pytest.mark.parametrize("trips", [0, 1, 4])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_fresh_process_gives_the_same_bits(tmp_path, trips, rows):
    d2s.seed(3)
    net = Net()
    x = np.random.default_rng(rows).normal(size=(rows, 3)).astype("float32")
    d2s.jit.save(net, str(tmp_path / "net"), SPEC)
    np.savez(tmp_path / "in.npz", x=x, n=np.array(trips))
    done = subprocess.run(
        [sys.executable, "-c", RELOAD, str(tmp_path / "net"), str(tmp_path / "in.npz"), str(tmp_path / "out.npz")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    kind, count, names, shown, _ = json.loads(done.stdout)
    assert (kind, count, names) == ("tuple", 2, sorted(net.state_dict()))
    assert "x: f32[" in shown
    y, h = net(d2s.to_tensor(x, stop_gradient=False), d2s.to_tensor(trips))
    y.sum().backward()
    wanted = [y.numpy(), h.numpy(), *(p.grad.numpy() for p in net.parameters() if p.grad is not None)]
    found = [v for v in np.load(tmp_path / "out.npz", allow_pickle=True).values() if v.dtype != object]
    assert len(wanted) == len(found)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(wanted, found, strict=True))


def test_functions_and_results_of_any_structure(tmp_path):
    def f(x):
        return {"twice": x * 2, "same": x, "pair": [x + 1, (x,)]}

    d2s.jit.save(f, str(tmp_path / "f"), [InputSpec([None])])
    x = d2s.to_tensor([1.0, 2.0])
    wanted, found = f(x), d2s.jit.load(str(tmp_path / "f"))(x)
    assert list(found) == list(wanted)
    assert isinstance(found["pair"], list) and isinstance(found["pair"][1], tuple)
    assert found["pair"][0].tolist() == wanted["pair"][0].tolist() and found["same"].tolist() == [1.0, 2.0]


def test_training_goes_on_after_loading(tmp_path):
    net = Net()
    d2s.jit.save(net, str(tmp_path / "net"), SPEC)
    loaded = d2s.jit.load(str(tmp_path / "net"))
    x, n = d2s.to_tensor(np.ones((2, 3), "float32")), d2s.to_tensor(2)
    for model in (net, loaded):
        sgd = d2s.optimizer.SGD(0.1, parameters=model.parameters())
        for _ in range(3):
            model(x, n)[0].sum().backward()
            sgd.step()
            sgd.clear_grad()
    for name, p in net.state_dict().items():
        assert p.numpy().tobytes() == loaded.state_dict()[name].numpy().tobytes(), name
    d2s.jit.save(loaded, str(tmp_path / "again"))
    again = d2s.jit.load(str(tmp_path / "again"))
    assert again(x, n)[0].numpy().tobytes() == net(x, n)[0].numpy().tobytes()
    assert list(again.state_dict()) == list(loaded.state_dict())


def test_a_saved_file_does_not_follow_later_training(tmp_path):
    net = Net()
    d2s.jit.save(net, str(tmp_path / "net"), SPEC)
    x, n = d2s.to_tensor(np.ones((2, 3), "float32")), d2s.to_tensor(1)
    before = net(x, n)[0].numpy()
    net.out.weight.set_value(net.out.weight * 2.0)
    assert d2s.jit.load(str(tmp_path / "net"))(x, n)[0].numpy().tobytes() == before.tobytes()


def test_errors_name_the_input(tmp_path):
    d2s.jit.save(Net(), str(tmp_path / "net"), SPEC)
    net = d2s.jit.load(str(tmp_path / "net"))
    x, n = d2s.to_tensor(np.ones((2, 3), "float32")), d2s.to_tensor(1)
    for arguments in [(x, x), (d2s.to_tensor([[1.0]]), n), (x.astype("float64"), n), (x, 3), (x,), (x.numpy(), n)]:
        with pytest.raises(ArgumentError, match=r"'(x|n)'|takes x, n"):
            net(*arguments)


def test_without_a_spec_it_asks_for_one(tmp_path):
    with pytest.raises(D2SError, match="input_spec"):
        d2s.jit.save(lambda x: x, str(tmp_path / "f"))


def test_what_a_file_cannot_hold_is_refused_before_it_is_written(tmp_path):
    with pytest.raises(D2SError):
        d2s.jit.save(lambda x: (x, json), str(tmp_path / "f"), [InputSpec([2])])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["net.pdmodel", "net.pdiparams"])
def test_missing_and_damaged_files(tmp_path, name):
    d2s.jit.save(Net(), str(tmp_path / "net"), SPEC)
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError):
        d2s.jit.load(str(tmp_path / "net"))
    (tmp_path / name).unlink()
    with pytest.raises((FormatError, FileNotFoundError)):
        d2s.jit.load(str(tmp_path / "net"))


def test_a_result_that_depends_on_the_path(tmp_path):
    def f(x):
        y = None
        if x.sum() > 0:
            y = x * 2
        return y, x + 1

    d2s.jit.save(f, str(tmp_path / "f"), [InputSpec([None])])
    loaded = d2s.jit.load(str(tmp_path / "f"))
    assert loaded(d2s.to_tensor([1.0]))[0].tolist() == [2.0]
    assert loaded(d2s.to_tensor([-1.0]))[0] is None


def test_files_of_two_savings_do_not_go_together(tmp_path):
    """What a crash between the files would leave."""
    for name in ("one", "two"):
        d2s.jit.save(Net(), str(tmp_path / name), SPEC)
    (tmp_path / "one.pdiparams").write_bytes((tmp_path / "two.pdiparams").read_bytes())
    with pytest.raises(FormatError, match="interrupted"):
        d2s.jit.load(str(tmp_path / "one"))


def test_the_command_line_shows_and_runs_a_model(tmp_path, capsys):
    net = Net()
    d2s.jit.save(net, str(tmp_path / "net"), SPEC)
    x, n = np.ones((2, 3), "float32"), np.array(2)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "n.npy", n)
    path, given = str(tmp_path / "net"), [f"--input={tmp_path / name}" for name in ("x.npy", "n.npy")]
    assert command.main(["inspect", path]) == 0
    assert "1 if, 1 while" in capsys.readouterr().out
    assert command.main(["inspect", path + ".pdmodel", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"]["fc.weight"] == ["float32", [3, 3], True]
    assert command.main(["run", path, *given, f"--output={tmp_path / 'y.npz'}"]) == 0
    with np.load(tmp_path / "y.npz") as held:
        assert held["output_0"].tobytes() == net(d2s.to_tensor(x), d2s.to_tensor(n))[0].numpy().tobytes()
    assert command.main(["run", path, given[0]]) == 1
    assert command.main(["inspect", str(tmp_path / "none")]) == 1
    assert "no file" in capsys.readouterr().err
