"""A loaded layer is a part of functions that are captured and of programs that are declared, as a layer with a source is."""

import collections

import numpy as np
import pytest

import d2s
from d2s import nn, static
from d2s.errors import ArgumentError
from d2s.static import InputSpec


class Net(nn.Layer):
    """A loop, an `if`, a result that depends on the path, and what training does otherwise."""

    def __init__(self):
        super().__init__()
        self.fc, self.norm, self.drop = nn.Linear(3, 3), nn.BatchNorm1D(3), nn.Dropout(0.3)

    def forward(self, x):
        h, k = self.drop(self.norm(self.fc(x))), 0
        while h.sum() > 0 and k < 3:
            h, k = h - 1, k + 1
        if h.sum() < -9:
            return h, None
        return h * 2, x


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    d2s.seed(1)
    path = str(tmp_path_factory.mktemp("loaded") / "net")
    d2s.jit.save(Net(), path, [InputSpec([None, 3], name="x")])
    return path


def around(layer):
    def outer(x):
        y, z = layer(x * 2)
        if z is None:
            return y
        return y + 1 if y.sum() > 0 else y - z

    return outer


def step(layer, function, rows):
    """A result, all gradients and the buffers behind it."""
    d2s.seed(3)
    x = d2s.to_tensor(np.random.RandomState(rows).rand(rows, 3).astype("float32") * rows, stop_gradient=False)
    y = function(x)
    y.sum().backward()
    found = [y, x.grad, *(p.grad for p in layer.parameters()), *layer.buffers()]
    found = [t.numpy() for t in found]
    layer.clear_gradients()
    return found


@pytest.mark.parametrize("mode", ["eval", "train"])
def test_the_bits_are_those_of_a_call_outside(path, mode):
    alone, inside = d2s.jit.load(path), d2s.jit.load(path)
    captured = d2s.to_static(around(inside))
    for layer in (alone, inside):
        getattr(layer, mode)()
    for rows in (4, 7):
        for a, b in zip(step(alone, around(alone), rows), step(inside, captured, rows), strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_change_of_mode_captures_anew(path):
    layer, x = d2s.jit.load(path), d2s.ones([4, 3]) * 3
    captured = d2s.to_static(around(layer))
    calm = captured(x).tolist()
    layer.train()
    assert captured(x).tolist() != calm
    layer.eval()
    captured(x)
    assert len(captured.variants) == 2


def test_a_train_step_with_a_loaded_layer_is_one_graph(path):
    losses = []
    for static_too in (False, True):
        layer = d2s.jit.load(path)
        sgd = d2s.optimizer.SGD(0.1, parameters=layer.parameters())

        def train(x, layer=layer, sgd=sgd):
            loss = layer(x)[0].square().mean()
            loss.backward()
            sgd.step()
            sgd.clear_grad()
            return loss

        run = d2s.to_static(train) if static_too else train
        losses.append([run(d2s.ones([2, 3])).item() for _ in range(3)])
    assert losses[0] == losses[1]
    assert losses[0][0] > losses[0][2]


def test_it_is_saved_again_with_what_is_around_it(path, tmp_path):
    layer = d2s.jit.load(path)
    d2s.jit.save(around(layer), str(tmp_path / "outer"), [InputSpec([None, 3])])
    again, x = d2s.jit.load(str(tmp_path / "outer")), d2s.ones([2, 3])
    assert again(x).tolist() == around(layer)(x).tolist()
    again.train()
    x = d2s.ones([50, 3])
    assert again(x).tolist() != around(layer)(x).tolist()  # what training does went along


def test_arguments_that_do_not_fit_are_named(path):
    layer = d2s.jit.load(path)
    with pytest.raises(ArgumentError, match=r"'x' expects f32\[n0,3\], got f32\[2,4\]"):
        d2s.to_static(lambda x: layer(x)[0])(d2s.ones([2, 4]))


def test_it_is_trained_and_saved_in_a_declared_program(tmp_path):
    parts = [nn.Linear(3, 3), nn.ReLU(), nn.Dropout(0.5), nn.Linear(3, 1)]
    d2s.jit.save(nn.Sequential(*parts), str(tmp_path / "net"), [InputSpec([None, 3])])
    layer, main = d2s.jit.load(str(tmp_path / "net")), static.Program()
    before = layer.state_dict()["3.weight"].numpy()
    layer.train()
    d2s.enable_static()
    try:
        with static.program_guard(main, static.Program()):
            x = static.data("x", [None, 3])
            y = layer(x)
            d2s.optimizer.SGD(0.1).minimize(y.mean())
            exe = static.Executor()
            for rows in (2, 5):
                exe.run(main, feed={"x": np.ones((rows, 3), "float32")})
            static.save_inference_model(str(tmp_path / "more"), [x], [y], exe)
    finally:
        d2s.disable_static()
    layer.eval()
    x = d2s.ones([2, 3])
    assert not np.array_equal(layer.state_dict()["3.weight"].numpy(), before)
    assert d2s.jit.load(str(tmp_path / "more"))(x).tolist() == layer(x).tolist()


def test_a_traced_layer_runs_and_is_written_with_chosen_results(tmp_path):
    net, x = nn.Linear(2, 3), d2s.ones([4, 2])
    outputs, traced = d2s.jit.TracedLayer.trace(lambda x: (net(x), net(x) * 2), [x])
    assert [t.tolist() for t in traced([x[:2]])] == [t[:2].tolist() for t in outputs]
    traced.set_strategy(static.BuildStrategy(), static.ExecutionStrategy())
    traced.save_inference_model(str(tmp_path / "net"), feed=[0], fetch=[1])
    assert d2s.jit.load(str(tmp_path / "net"))(x).tolist() == outputs[1].tolist()
    with pytest.raises(ArgumentError, match="'fetch' is"):
        traced.save_inference_model(str(tmp_path / "net"), fetch=[2])
    with pytest.raises(ArgumentError, match="has 2 tensors, expected 1"):
        traced([x, x])


def numbers(x):
    n, listed = 0, []
    while x.sum() > n:
        n += 1
        listed.append(n)
    return n, float(x.sum()), bool(x.max() > 1), x.shape[0], {"half": [n * 0.5]}, listed


def test_numbers_come_back_as_numbers(tmp_path):
    def few(x):
        return numbers(x)[:4]

    for name, function in (("net", numbers), ("few", few)):
        d2s.jit.save(function, str(tmp_path / name), [InputSpec([None, 2])])
    layer, fewer = d2s.jit.load(str(tmp_path / "net")), d2s.jit.load(str(tmp_path / "few"))
    inside = d2s.to_static(lambda x: [v + 1 for v in fewer(x)])
    for x in (d2s.ones([2, 2]), d2s.ones([1, 2]) * 1.25):
        assert repr(layer(x)) == repr(numbers(x))  # the types, too
        assert repr(inside(x)) == repr([v + 1 for v in numbers(x)[:4]])


def a_set_by_the_path(x):
    found = set()
    if x.sum() > 0:
        found.add("a")
    else:
        found.add("b")
    return found, {"kinds": frozenset([3])}


def containers_of_collections(x):
    counted = collections.Counter("aab")
    return collections.deque([x, x + 1.0]), collections.OrderedDict(x=x), counted


class Held:
    def __init__(self, x):
        self.x = x


def test_sets_and_containers_come_back_as_what_they_hold(tmp_path):
    for function in (a_set_by_the_path, containers_of_collections):
        d2s.jit.save(function, str(tmp_path / "net"), [InputSpec([None], name="x")])
        loaded = d2s.jit.load(str(tmp_path / "net"))
        if function is a_set_by_the_path:
            assert [loaded(d2s.to_tensor([sign]))[0] for sign in (1.0, -1.0)] == [{"a"}, {"b"}]
            assert loaded(d2s.to_tensor([1.0]))[1] == {"kinds": {3}}
        else:
            listed, named, counted = loaded(d2s.ones([1]))
            assert [t.tolist() for t in listed] == [[1.0], [2.0]] and named["x"].tolist() == [1.0]
            assert counted == {"a": 2, "b": 1}


def test_an_object_of_a_class_is_not_returned_as_something_else(tmp_path):
    with pytest.raises(d2s.errors.ArgumentError, match="returns a Held; a file holds tensors only"):
        d2s.jit.save(lambda x: Held(x), str(tmp_path / "net"), [InputSpec([None], name="x")])


def made_in_an_arm(x):
    row = None
    if x.sum() > 0:
        row = [x * 1]
        if x.max() > 1:
            row.append(x * 3)
        row.append(x * 5)
    return row


def test_what_a_path_did_not_make_is_not_looked_into(tmp_path):
    d2s.jit.save(made_in_an_arm, str(tmp_path / "net"), [InputSpec([2], name="x")])
    loaded = d2s.jit.load(str(tmp_path / "net"))
    for x in map(d2s.to_tensor, ([-1.0, 0.0], [0.5, 0.25], [3.0, 1.0])):
        found, wanted = loaded(x), made_in_an_arm(x)
        assert (found is None) == (wanted is None)
        assert [t.tolist() for t in found or ()] == [t.tolist() for t in wanted or ()]


def test_a_tensor_given_twice_has_the_gradient_of_both_places(tmp_path):
    def product(x, w):
        return (d2s.tanh(x) * w * 0.3 + w * w * 1.7).sum()

    spec = [InputSpec([None], name="x"), InputSpec([None], name="w")]
    d2s.jit.save(product, str(tmp_path / "net"), spec)
    loaded, found = d2s.jit.load(str(tmp_path / "net")), []
    for function in (product, loaded):
        x = d2s.to_tensor([0.1, 0.2, -0.3], stop_gradient=False)
        function(x, x).backward()
        found.append(x.grad.numpy().tobytes())
    assert found[0] == found[1]


def test_a_key_that_may_be_missing_leaves_the_graph_what_it_was(tmp_path):
    def counted(x):
        groups = collections.defaultdict(list)
        for v in x:
            groups["pos" if v > 0 else "neg"].append(v)
        return {key: len(values) for key, values in groups.items()}, {"pos": x.sum()}["pos" if x.max() > 0 else "neg"]

    d2s.jit.save(counted, str(tmp_path / "net"), [InputSpec([2], name="x")])
    loaded = d2s.jit.load(str(tmp_path / "net"))
    counts, total = loaded(d2s.to_tensor([1.0, 2.0]))
    assert (counts, type(counts["pos"]), total.item()) == ({"pos": 2}, int, 3.0)
    with pytest.raises(KeyError, match=r"^'neg'$"):
        loaded(d2s.to_tensor([-1.0, -2.0]))
