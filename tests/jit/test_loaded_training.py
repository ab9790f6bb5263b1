"""A loaded layer in training does what the layer did before it was saved, bit for bit; or says why it cannot."""

import types

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import ArgumentError, FormatError
from d2s.nn import functional as F
from d2s.static import InputSpec
from tests.export.test_paddle_round_trip import strip


class Reweighted(nn.Layer):
    """Weights that are computed, and what training turns them to."""

    def __init__(self):
        super().__init__()
        self.fc = nn.utils.spectral_norm(nn.Linear(3, 3))
        self.other = nn.utils.weight_norm(nn.Linear(3, 3))

    def forward(self, x):
        return self.other(self.fc(x).tanh())


class Averages(nn.Layer):
    """Buffers that only training reads, that it puts others in the place of, and that it changes in place."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        for name in ("count", "mean", "last", "total"):
            self.register_buffer(name, d2s.zeros([1] if name == "count" else [3]))

    def forward(self, x):
        if self.training:
            self.count += 1
            with d2s.no_grad():
                self.mean = self.mean * 0.9 + x.mean(0) * 0.1
                self.last = x.mean(0)
                self.total.add_(x.sum(0))
        return self.fc(x) - self.mean


class OnPaths(nn.Layer):
    """Batch norms and dropout in an `if` in a loop."""

    def __init__(self, moves, drops):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.inside = nn.Sequential(nn.BatchNorm1D(3) if moves else nn.Identity(), nn.Dropout(0.5 if drops else 0.0))
        self.after = nn.Dropout(0.3)

    def forward(self, x):
        k = 0
        while k < 3 and x.sum() < 100:
            if x.sum() > -50:
                x = x + self.inside(self.fc(x))
            k += 1
        return self.after(x)


class MovesOnPaths(nn.Layer):
    """Buffers that get another tensor in one arm or the other, in a loop, and with a history."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        for name in ("trips", "positive", "negative", "mean", "last"):
            self.register_buffer(name, d2s.zeros([3] if name in ("mean", "last") else [1]))

    def forward(self, x):
        k = d2s.zeros([])
        while k < 3:
            if self.training:
                self.trips += 1
            x = self.fc(x)
            k += 1
        if x.sum() > 0:
            if self.training:
                self.positive = self.positive + 1
        elif self.training:
            self.negative += 1
            self.last = x.mean(0)
            if x.sum() < -1:
                self.mean = self.mean * 0.5 + x.mean(0).detach()
        return x + self.mean


class MakingTensors(nn.Layer):
    """Tensors made of constant data, in training and in inference."""

    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(3, 3), nn.Dropout(0.3)

    def forward(self, x):
        y = self.drop(self.fc(x)) * d2s.to_tensor([1.0, 2.0, 3.0])
        return y + d2s.gather(y, d2s.to_tensor([1, 0, 1]))[:1]


class Sampling(nn.Layer):
    """Draws in inference too, among batch norms and dropout."""

    def __init__(self):
        super().__init__()
        self.mean, self.deviation = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1D(3), nn.Dropout(0.3)), nn.Linear(3, 3)

    def forward(self, x):
        return self.mean(x) + self.deviation(x).exp() * d2s.randn([3])


class ByMode(nn.Layer):
    """Returns more in training, of an input that inference does not need; some of it never drops."""

    def __init__(self):
        super().__init__()
        self.fc, self.aside = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x, wanted):
        y = F.dropout(self.fc(x), 0.5, training=False)
        return {"y": y, "loss": (self.aside(y) - wanted).square()} if self.training else y


LAYERS = {
    "reweighted": Reweighted, "averages": Averages, "moves on paths": MovesOnPaths, "making tensors": MakingTensors,
    "norm on paths": lambda: OnPaths(True, False),
    "drop on paths": lambda: OnPaths(False, True), "both on paths": lambda: OnPaths(True, True), "sampling": Sampling,
}  # fmt: skip


def saved(layer, path, inputs=1):
    d2s.jit.save(layer, str(path / "net"), [InputSpec([None, 3], name=f"x{n}") for n in range(inputs)])
    return str(path / "net")


def batch(rows):
    return d2s.to_tensor(np.random.default_rng(rows).normal(size=(rows, 3)).astype("float32"))


def trained(layer, function=None):
    """Results, values and the stream of random numbers after three steps, in turn of different sizes."""
    layer.train()
    d2s.seed(3)
    adam, found = d2s.optimizer.Adam(0.05, parameters=layer.parameters()), []
    for rows in (4, 3, 4):
        y = (function or layer)(batch(rows))
        y.square().sum().backward()
        adam.step()
        adam.clear_grad()
        found.append(y.numpy().tobytes())
    layer.eval()
    found.append(layer(batch(2)).numpy().tobytes())
    return found, {name: value.numpy().tobytes() for name, value in layer.state_dict().items()}, repr(d2s.get_rng_state())


@pytest.mark.parametrize("name", LAYERS)
def test_it_is_trained_as_before_it_was_saved(name, tmp_path):
    layer = LAYERS[name]()
    path = saved(layer, tmp_path)
    alone, inside = d2s.jit.load(path), d2s.jit.load(path)
    d2s.jit.save(d2s.jit.load(path), str(tmp_path / "again"))
    wanted = trained(layer)
    assert trained(alone) == wanted
    assert trained(inside, d2s.to_static(lambda x: inside(x) * 1.0)) == wanted
    assert trained(d2s.jit.load(str(tmp_path / "again"))) == wanted


def test_a_trained_layer_is_saved_as_it_has_become(tmp_path):
    layer = Averages()
    loaded = d2s.jit.load(saved(layer, tmp_path))
    trained(loaded)
    d2s.jit.save(loaded, str(tmp_path / "trained"))
    again = d2s.jit.load(str(tmp_path / "trained"))
    assert again.count.tolist() == [3.0]
    assert again(batch(2)).tolist() == loaded(batch(2)).tolist()


def test_training_may_take_and_return_what_inference_does_not(tmp_path):
    layer = ByMode()
    with pytest.warns(UserWarning, match="nothing forward\\(\\) returns depends on 'x1'"):
        loaded = d2s.jit.load(saved(layer, tmp_path, inputs=2))
    layer.eval()
    assert loaded(batch(2)).tolist() == layer(batch(2), batch(2)).tolist()
    layer.train()
    loaded.train()
    wanted, found = layer(batch(2), batch(3)[:2]), loaded(batch(2), batch(3)[:2])
    assert {key: t.tolist() for key, t in found.items()} == {key: t.tolist() for key, t in wanted.items()}


def test_what_a_function_calls_is_in_training_where_it_is_asked(tmp_path):
    layer = OnPaths(True, True)
    layer.eval()
    d2s.jit.save(lambda x: layer(x) * 2.0, str(tmp_path / "f"), [InputSpec([None, 3], name="x")])
    loaded, results = d2s.jit.load(str(tmp_path / "f")), []
    for one in (loaded, lambda x: layer(x) * 2.0):
        loaded.train()
        layer.train()
        d2s.seed(1)
        results.append(one(batch(4)).tolist())
    assert results[0] == results[1]


class Counting(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc, self.steps = nn.Linear(3, 3), 0

    def forward(self, x):
        if self.training:
            self.steps += 1
        return self.fc(x)


class Raising(Counting):
    def forward(self, x):
        if self.training:
            raise ValueError("no targets are given")
        return self.fc(x)


class Printing(Counting):
    def forward(self, x):
        if self.training:
            print(x.sum())
        return self.fc(x)


@pytest.mark.parametrize(
    ("layer", "why"),
    [
        (Counting, "changes 'steps' of a Counting, which is no tensor"),
        (Raising, "ValueError: no targets are given"),
        (Printing, "calls 'print'"),
    ],
)
def test_training_that_no_file_holds_is_refused(layer, why, tmp_path):
    net = layer()
    loaded = d2s.jit.load(saved(net, tmp_path))
    assert loaded(batch(2)).tolist() == net.eval()(batch(2)).tolist()
    loaded.train()
    for call in (loaded, d2s.to_static(lambda x: loaded(x) * 2.0)):
        with pytest.raises(ArgumentError, match=f"D2S0004.*'forward' cannot be trained once it is loaded.*{why}"):
            call(batch(2))
    loaded.eval()
    assert loaded(batch(2)).tolist() == net(batch(2)).tolist()


def test_of_a_file_of_others_what_stands_in_a_loop_is_refused(tmp_path):
    layer = OnPaths(True, False)
    path = saved(layer, tmp_path)
    strip(tmp_path / "net")
    loaded = d2s.jit.load(path)
    assert loaded(batch(2)).tolist() == layer.eval()(batch(2)).tolist()
    loaded.train()
    with pytest.raises(ArgumentError, match=r"D2S0004.*takes the batch's own averages in an `if` or a loop"):
        loaded(batch(2))


def test_training_of_a_program_saved_for_inference_is_refused(tmp_path):
    d2s.enable_static()
    try:
        main = d2s.static.Program()
        with d2s.static.program_guard(main, d2s.static.Program()):
            x = d2s.static.data("x", [None, 3])
            y = F.dropout(x * 2.0, 0.5)
            exe = d2s.static.Executor()
            d2s.static.save_inference_model(str(tmp_path / "net"), [x], [y], exe, program=main)
    finally:
        d2s.disable_static()
    loaded = d2s.jit.load(str(tmp_path / "net"))
    assert loaded(d2s.ones([1, 3])).tolist() == [[2.0, 2.0, 2.0]]
    loaded.train()
    with pytest.raises(ArgumentError, match=r"has kept of it what inference does"):
        loaded(d2s.ones([1, 3]))


def test_what_is_no_layer_keeps_what_it_says_of_training(tmp_path):
    settings, drop = types.SimpleNamespace(training=False), nn.Dropout(0.5)

    def function(x):
        return drop(x) + (1.0 if settings.training else 2.0)

    d2s.jit.save(function, str(tmp_path / "f"), [InputSpec([None, 3], name="x")])
    drop.eval()
    d2s.jit.save(function, str(tmp_path / "g"), [InputSpec([None, 3], name="x")])
    assert not settings.training
    loaded = d2s.jit.load(str(tmp_path / "g"))
    loaded.train()
    assert {*loaded(d2s.zeros([4, 3])).flatten().tolist()} == {2.0}
    assert {*loaded(d2s.ones([9, 3])).flatten().tolist()} == {2.0, 4.0}


@pytest.mark.parametrize(
    "damage",
    [
        {"changes": [("fc_weight", "written")] * 2}, {"changes": [("nothing", "written")]}, {"changes": [("count", "at will")]},
    ],
)  # fmt: skip
def test_what_is_said_of_training_and_changes_nothing_stored_is_not_believed(damage, tmp_path):
    layer = Averages()
    path = saved(layer, tmp_path)
    rewritten(path, damage)
    loaded = d2s.jit.load(path)
    assert loaded.models()["forward"].training is None  # as in a file that only has ops
    assert loaded(batch(2)).tolist() == layer.eval()(batch(2)).tolist()


def rewritten(path, damage):
    model = d2s.export.load(path)
    for name, value in damage.items():
        setattr(model.training, name, value)
    d2s.export.save(model, path)


LIST = "%0: list[f32[1]] = list_new(dtype=f32, python=False, shape=(1,)) %1: list[f32[1]] = list_append(%0, count)"


def noted(lines, results):
    """A Program of training for `Averages`."""
    program = f"program f(x0: f32[n0,3], count: f32[1], mean: f32[3]) -> (f32[1]) {{ {lines} }}"
    return {"program": program, "fed": 1, "changes": [], "returns": d2s.jit.returned.several(results)}


@pytest.mark.parametrize(
    "damage",
    [
        {"fed": 9}, {"fed": -1}, {"changes": [("mean", "replaced"), ("count", "written")]},
        {"changes": [("count", "replaced where 1"), ("mean", "replaced")]},
        {"returns": ["tuple", [], [None, None]]}, {"program": ""}, {"program": "program f("},
        noted("return nothing", 1),
        noted("%0: stack = push(x0, count, slot=False) return %0", 1),
        noted("%0: stack, %1: f32[1] = pop(x0, dtype=f32, finds=(), python=False, shape=(1,), slot=True) return %1", 1),
        noted("%0: f32[1], %1: f32[1] = list_pop(count) return %1", 1),
        noted("%0: f32[1] = host(count, call='print', dtype=f32, python=False, shape=(1,)) return %0", 1),
        noted("%0: f32[1] = update(count, rule='print', state=()) return %0", 1),
        noted("%0: f32[1] = tanh(count, count, count) return %0", 1),
        noted(f"{LIST} %2: f32[1] = tanh(%1) return %2", 1),
        noted(f"{LIST} %2: list[f32[1]], %3: f32[1] = list_get(%1, count) return %3", 1),
        noted("%0: f32[1] = row(x0, count) return %0", 1),
        noted("%0: int = extent(x0, axis=2) return %0", 1),
        noted("%0: f32[n0,3] = rotate(x0, axis=(0,), shift=(1,)) return %0", 1),
        noted("%0: f32[m0,3] = cut(x0, mean, count, axis=0, finds=('m0',), step=1) return %0", 1),
    ],
)  # fmt: skip
def test_a_program_of_training_that_no_file_has_is_refused_where_training_begins(damage, tmp_path):
    layer = Averages()
    path = saved(layer, tmp_path)
    rewritten(path, damage)
    loaded = d2s.jit.load(path)
    assert loaded(batch(2)).tolist() == layer.eval()(batch(2)).tolist()
    loaded.train()
    for call in (loaded, d2s.to_static(lambda x: loaded(x) * 2.0)):
        with pytest.raises(FormatError, match=r"D2S3001.*/net"):
            call(batch(2))
    loaded.eval()
    assert loaded(batch(2)).tolist() == layer(batch(2)).tolist()


class Penalised(Counting):
    def forward(self, x):
        y = self.fc(x)
        if not self.training:
            return y
        x = x.detach()
        x.stop_gradient = False
        (slope,) = d2s.grad(F.softmax(self.fc(x)).square().sum(), [x], create_graph=True)
        return y + slope.square().mean()


def test_what_files_have_no_word_for_is_no_training_of_one(tmp_path):
    loaded = d2s.jit.load(saved(Penalised(), tmp_path))
    loaded.train()
    with pytest.raises(ArgumentError, match=r"D2S0004.*cannot be trained once it is loaded.*no spelling for"):
        loaded(batch(2))


class Bidirectional(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cells, self.out = nn.LSTM(3, 4, direction="bidirect"), nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.cells(x.unsqueeze(0))[0][0])[::-1] + x[-1]


def test_places_from_the_end_of_an_open_axis_are_found_in_captured_functions(tmp_path):
    layer = Bidirectional()
    loaded = d2s.jit.load(saved(layer, tmp_path))
    assert trained(loaded, d2s.to_static(lambda x: loaded(x) * 1.0)) == trained(layer)
