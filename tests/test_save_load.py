"""A saved function, reloaded in a fresh process without its source: same bits, same structure, errors that name the input."""

import json
import subprocess
import sys

import numpy as np
import pytest

import d2s
from d2s import __main__ as command
from d2s.errors import ArgumentError, D2SError, DTypeError, FormatError
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
    for arguments in [(x, x), (d2s.to_tensor([[1.0]]), n), (x.astype("float64"), n), (x, 3), (x,), ([1.0], n), (x, n, n)]:
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


def test_a_return_out_of_a_loop(tmp_path):
    def f(x):
        for k in range(4):
            if (x * k).sum() > 5:
                return x * 2
        return x - 1

    d2s.jit.save(f, str(tmp_path / "f"), [InputSpec([None])])
    loaded = d2s.jit.load(str(tmp_path / "f"))
    assert loaded(d2s.to_tensor([2.0])).tolist() == [4.0]
    assert loaded(d2s.to_tensor([1.0])).tolist() == [0.0]


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


# --- several methods ---------------------------------------------------------------------------------------------------------


class Coder(d2s.nn.Layer):
    """Methods whose names stand on either side of `forward`."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = d2s.nn.Linear(3, 2), d2s.nn.Linear(2, 3)
        self.register_buffer("shift", d2s.to_tensor([1.0, 2.0]))
        self.passing = d2s.to_tensor([5.0, 6.0])
        self.register_buffer("unsaved", d2s.to_tensor([0.5, 0.5]), persistable=False)

    @d2s.to_static(input_spec=[InputSpec([None, 3], name="image")])
    def encode(self, x):
        return self.inner(x) + self.shift

    @d2s.to_static(input_spec=[InputSpec([None, 2], name="code")])
    def reconstruct(self, h):
        return {"image": self.outer(h), "pair": [h, self.passing * self.unsaved]}

    def forward(self, x):
        return self.outer(self.encode(x))


@pytest.fixture
def coder(tmp_path):
    d2s.seed(5)
    net = Coder()
    d2s.jit.save(net, str(tmp_path / "net"), [InputSpec([None, 3], name="x")])
    return net, str(tmp_path / "net")


def test_all_methods_are_saved_and_share_what_they_read(coder):
    net, path = coder
    x, h = d2s.ones([2, 3]), d2s.ones([1, 2])
    loaded = d2s.jit.load(path)
    for _ in range(2):
        assert loaded(x).tolist() == net(x).tolist()
        assert loaded.encode(image=x).tolist() == net.encode(x).tolist()
        found, wanted = loaded.reconstruct(h), net.reconstruct(h)
        assert found["image"].tolist() == wanted["image"].tolist()
        assert [t.tolist() for t in found["pair"]] == [t.tolist() for t in wanted["pair"]] == [[[1.0, 1.0]], [2.5, 3.0]]
        for layer in (net, loaded):  # a step through one method is seen by the others
            sgd = d2s.optimizer.SGD(0.1, parameters=layer.parameters())
            layer.encode(x).sum().backward()
            sgd.step()


def test_parameters_buffers_and_constants_are_what_they_were(coder):
    net, path = coder
    loaded = d2s.jit.load(path)
    assert sorted(loaded.state_dict()) == sorted(net.state_dict())
    assert sorted(n for n, _ in loaded.named_parameters()) == sorted(n for n, _ in net.named_parameters())
    assert sorted(n for n, _ in loaded.named_buffers()) == sorted(n for n, _ in net.named_buffers())
    loaded.set_state_dict({name: value * 2 for name, value in net.state_dict().items()})
    assert loaded.state_dict()["shift"].tolist() == [2.0, 4.0]


def test_methods_go_through_a_second_saving(coder, tmp_path):
    again = tmp_path / "again"
    d2s.jit.save(d2s.jit.load(coder[1]), str(again / "net"))
    endings = ("net.pdmodel", "net.encode.pdmodel", "net.reconstruct.pdmodel", "net.encode.pdiparams", "net.pdiparams.info")
    for ending in endings:
        assert (again / ending).read_bytes() == (tmp_path / ending).read_bytes(), ending


def test_files_of_methods_that_were_not_saved_together_are_refused(coder, tmp_path):
    net, path = coder
    d2s.jit.save(net, str(tmp_path / "other"), [InputSpec([None, 3], name="x")])
    net.inner.weight.set_value(net.inner.weight * 2)
    d2s.jit.save(net, str(tmp_path / "other"), [InputSpec([None, 3], name="x")])
    for ending in (".reconstruct.pdmodel", ".reconstruct.pdiparams"):
        (tmp_path / f"net{ending}").write_bytes((tmp_path / f"other{ending}").read_bytes())
    with pytest.raises(FormatError, match="interrupted"):
        d2s.jit.load(path)


def test_the_text_of_a_loaded_layer_says_what_it_takes_and_returns(coder):
    loaded = d2s.jit.load(coder[1])
    shown = repr(loaded).replace(coder[1], "net")
    assert shown.startswith("TranslatedLayer('net': forward(x: f32[n0,3]) -> f32[n0,3], encode(image: f32[n0,3]) -> f32[n0,2]")
    assert shown.endswith("4 parameters of 17 numbers, 3 buffers)")
    assert "relu" not in str(loaded.program()) and "linear" in str(loaded.program("encode"))
    with pytest.raises(D2SError, match="'decode'") as caught:
        loaded.program("decode")
    assert "forward, encode, reconstruct" in str(caught.value)


def test_a_layer_whose_forward_is_left_out(coder, tmp_path):
    d2s.jit.save(coder[0], str(tmp_path / "parts"), skip_forward=True)
    loaded = d2s.jit.load(str(tmp_path / "parts"))
    assert loaded.encode(d2s.ones([2, 3])).shape == [2, 2]
    with pytest.raises(D2SError, match="has no method 'forward'"):
        loaded(d2s.ones([2, 3]))


def test_another_model_whose_path_begins_alike_is_no_method(coder, tmp_path):
    d2s.jit.save(lambda x: x, str(tmp_path / "net.best"), [InputSpec([2])])
    assert list(d2s.jit.load(coder[1])._methods) == ["forward", "encode", "reconstruct"]


# --- what is saved -----------------------------------------------------------------------------------------------------------


def test_inputs_nothing_depends_on_are_left_out_with_one_warning(tmp_path):
    def f(x, flag, y, also):
        return x * y

    spec = [InputSpec([None, 2], name=name) for name in ("x", "flag", "y", "also")]
    with pytest.warns(UserWarning, match=r"depends on 'flag', 'also': what is loaded takes \(x, y\)") as caught:
        d2s.jit.save(f, str(tmp_path / "f"), spec)
    assert len(caught) == 1 and caught[0].filename == __file__
    x = d2s.to_tensor([[1.0, 2.0]])
    assert d2s.jit.load(str(tmp_path / "f"))(x, x).tolist() == [[1.0, 4.0]]


def test_an_input_only_whose_extent_is_used_is_kept(tmp_path):
    d2s.jit.save(lambda x, like: d2s.expand_as(x, like), str(tmp_path / "f"), [InputSpec([1]), InputSpec([None], name="like")])
    assert d2s.jit.load(str(tmp_path / "f"))(d2s.ones([1]), d2s.zeros([3])).tolist() == [1.0, 1.0, 1.0]


def test_a_layer_in_training_is_saved_as_it_is_in_inference(tmp_path):
    net = d2s.nn.Sequential(d2s.nn.Linear(3, 3), d2s.nn.BatchNorm1D(3), d2s.nn.Dropout(0.5))
    x = d2s.randn([4, 3])
    d2s.jit.save(net, str(tmp_path / "net"), [InputSpec([None, 3])])
    assert net.training and net[2].training
    loaded = d2s.jit.load(str(tmp_path / "net"))
    net.eval()
    assert not loaded.training
    assert loaded(x).tolist() == net(x).tolist()
    assert sorted(n for n, _ in loaded.named_buffers()) == ["1._mean", "1._variance"]


def test_a_loaded_layer_in_training_does_what_the_layer_did(tmp_path):
    """Averages of the batch, running ones that move, values dropped by the same draws: the same bits after three steps."""
    d2s.seed(3)
    parts = [d2s.nn.Conv2D(1, 3, 3, padding=1), d2s.nn.BatchNorm2D(3, momentum=0.8), d2s.nn.ReLU(), d2s.nn.Dropout(0.3)]
    parts += [d2s.nn.Flatten(), d2s.nn.Dropout(0.5, mode="downscale_in_infer"), d2s.nn.Linear(48, 2)]
    net, x = d2s.nn.Sequential(*parts), d2s.randn([3, 1, 4, 4])
    d2s.jit.save(net, str(tmp_path / "net"), [InputSpec([None, 1, 4, 4], name="x")])
    loaded, untouched = d2s.jit.load(str(tmp_path / "net")), d2s.jit.load(str(tmp_path / "net"))
    outer = d2s.nn.Sequential(loaded)  # whose modes reach the layers in it
    for layer in (net, outer):
        layer.train()
        d2s.seed(7)
        adam = d2s.optimizer.Adam(0.01, parameters=layer.parameters())
        for _ in range(3):
            layer(x).square().mean().backward()
            adam.step()
            adam.clear_grad()
        layer.eval()
    assert net(x).tolist() == loaded(x).tolist() != untouched(x).tolist()
    for name, value in net.state_dict().items():
        assert (
            value.numpy().tobytes()
            == loaded.state_dict()[name].numpy().tobytes()
            != untouched.state_dict()[name].numpy().tobytes()
        )


class Drops(d2s.nn.Layer):
    """All that drops and is no layer of its own: weights of attention, what a layer of cells hands on; and AlphaDropout."""

    def __init__(self):
        super().__init__()
        self.cells, self.alpha = d2s.nn.LSTM(4, 4, num_layers=2, dropout=0.5), d2s.nn.AlphaDropout(0.3)
        self.attention = d2s.nn.MultiHeadAttention(4, 2, dropout=0.4)

    def forward(self, x, seen):
        return self.alpha(self.attention(self.cells(x)[0], attn_mask=seen))


def test_what_drops_inside_of_layers_drops_once_loaded(tmp_path):
    net, x = Drops(), d2s.to_tensor(np.random.default_rng(0).normal(size=(2, 5, 4)).astype("float32"))
    seen = d2s.to_tensor(np.tri(5).astype(bool))
    spec = [InputSpec([None, 5, 4], name="x"), InputSpec([5, 5], "bool", name="seen")]
    d2s.jit.save(net, str(tmp_path / "net"), spec)
    loaded, found = d2s.jit.load(str(tmp_path / "net")), []
    net.eval()
    assert loaded(x, seen).tolist() == net(x, seen).tolist()
    for layer in (net, loaded):
        layer.train()
        d2s.seed(3)
        y = layer(x, seen)
        y.square().sum().backward()
        found.append([y.tolist(), *(p.grad.tolist() for _, p in sorted(layer.named_parameters())), d2s.get_rng_state()])
    assert repr(found[0]) == repr(found[1])


UP = "upscale_in_train"
NORMS = [[[0, "norm"]], [[9, "norm", 0.9]], [[0, "norm", 0.9]], [[1, "norm", 2.0]], [[1, "norm", 0.9]] * 2]
DROPS = [[[1, "drop", 0.5, None, UP]], [[3, "drop", 0.5, [7], UP]], [[3, "drop", 0.5, None, "at will"]], [[3, [], 0.5]]]


@pytest.mark.parametrize("marks", [3, [3], [[0]], *NORMS, *DROPS])
def test_damaged_notes_on_training_are_refused(marks, tmp_path):
    net = d2s.nn.Sequential(d2s.nn.Linear(2, 2), d2s.nn.BatchNorm1D(2), d2s.nn.ReLU(), d2s.nn.Dropout(0.3))
    net.eval()
    d2s.jit.save(net, str(tmp_path / "net"), [InputSpec([None, 2])])
    model = d2s.export.load(tmp_path / "net")
    model.training, model.notes["training"] = None, marks
    d2s.export.save(model, tmp_path / "net")
    loaded, x = d2s.jit.load(str(tmp_path / "net")), d2s.ones([3, 2])
    assert loaded(x).tolist() == net(x).tolist()
    loaded.train()
    with pytest.raises(FormatError, match="notes on what training does"):
        loaded(x)


def test_a_layer_that_was_called_is_saved_without_a_spec(tmp_path):
    net = d2s.to_static(d2s.nn.Sequential(d2s.nn.Linear(3, 3), d2s.nn.Dropout(0.5)))
    for rows in (2, 3, 4):
        net(d2s.ones([rows, 3]))
    d2s.jit.save(net, str(tmp_path / "net"))
    net.eval()
    assert d2s.jit.load(str(tmp_path / "net"))(d2s.ones([7, 3])).tolist() == net(d2s.ones([7, 3])).tolist()


def test_hooks_are_part_of_what_is_saved(tmp_path):
    net = d2s.nn.Linear(3, 2)
    net.register_forward_pre_hook(lambda layer, inputs: inputs[0] * 2)
    net.register_forward_post_hook(lambda layer, inputs, output: output + 1)
    d2s.jit.save(net, str(tmp_path / "net"), [InputSpec([None, 3])])
    x = d2s.ones([2, 3])
    assert d2s.jit.load(str(tmp_path / "net"))(x).tolist() == net(x).tolist()


def test_tied_weights_stay_one_tensor_under_both_names(tmp_path):
    class Tied(d2s.nn.Layer):
        def __init__(self):
            super().__init__()
            self.one, self.two = d2s.nn.Linear(2, 2), d2s.nn.Linear(2, 2)
            self.two.weight = self.one.weight

        def forward(self, x):
            return self.two(self.one(x))

    net = Tied()
    d2s.jit.save(net, str(tmp_path / "net"), [InputSpec([None, 2])])
    state = d2s.jit.load(str(tmp_path / "net")).state_dict()
    assert sorted(state) == sorted(net.state_dict())
    assert state["one.weight"] is state["two.weight"]


def test_options_of_paddle_are_taken_and_others_refused(tmp_path):
    d2s.jit.save(lambda x: x + 1, str(tmp_path / "f"), [InputSpec([2])], combine_params=True, clip_extra=False)
    with pytest.raises(ArgumentError, match="'clip' is no option"):
        d2s.jit.save(lambda x: x, str(tmp_path / "f"), [InputSpec([2])], clip=True)


@pytest.mark.parametrize("path", ["", "folder/"])
def test_a_path_without_a_name_is_refused(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentError, match="names a folder and no file in it"):
        d2s.jit.save(lambda x: x + 1, path, [InputSpec([2])])
    assert list(tmp_path.iterdir()) == []


def test_the_ending_may_stand_in_the_path_that_is_loaded(tmp_path):
    d2s.jit.save(lambda x: x + 1, str(tmp_path / "f"), [InputSpec([1])])
    assert d2s.jit.load(str(tmp_path / "f.pdmodel"))(d2s.ones([1])).tolist() == [2.0]
    with pytest.raises(DTypeError, match="'params_filename' expects a str, got int"):
        d2s.jit.load(str(tmp_path / "f"), params_filename=3)


def test_numpy_arrays_are_taken_like_tensors(tmp_path):
    d2s.jit.save(lambda x, y: x + y, str(tmp_path / "f"), [InputSpec([None], name="x"), InputSpec([None], name="y")])
    f = d2s.jit.load(str(tmp_path / "f"))
    assert f(np.float32([1, 2]), y=d2s.ones([2])).tolist() == [2.0, 3.0]
    with pytest.raises(ArgumentError, match=r"'y' expects f32\[n1\], got f32\[2,2\]"):
        f(d2s.ones([2]), d2s.ones([2, 2]))


def test_the_command_line_knows_methods_and_names_of_inputs(coder, tmp_path, capsys):
    net, path = coder
    np.save(tmp_path / "x.npy", np.ones((2, 3), "float32"))
    np.save(tmp_path / "wide.npy", np.ones((2, 3)))
    assert command.main(["inspect", path]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("forward: ") and "other methods: encode, reconstruct" in shown and "control flow" not in shown
    assert "  shift         float32[2], not trained" in shown
    run = ["run", path, "--method=encode", f"--output={tmp_path / 'y.npz'}"]
    assert command.main([*run, f"--input=image={tmp_path / 'x.npy'}"]) == 0
    with np.load(tmp_path / "y.npz") as held:
        assert held["output_0"].tolist() == net.encode(d2s.ones([2, 3])).tolist()
    several = ("several.npz", "it holds several, a, b")
    np.savez(tmp_path / several[0], a=np.ones(2), b=np.ones(2))
    for wrong, said in (("wide.npy", "image.astype('float32')"), ("none.npy", "No such file"), several):
        assert command.main([*run, f"--input={tmp_path / wrong}"]) == 1
        assert said in capsys.readouterr().err
    assert command.main([*run[:3], f"--output={tmp_path / 'x.npy' / 'y'}", f"--input={tmp_path / 'x.npy'}"]) == 1
    assert "y.npz cannot be written" in capsys.readouterr().err
    assert command.main(["run", path, "--method=decode"]) == 1
    assert "--method forward, encode, reconstruct" in capsys.readouterr().err
