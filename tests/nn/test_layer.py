"""Layers as Paddle's users know them: names, walks, states, texts, hooks, attributes. Texts and names are Paddle 2.6's."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import ArgumentError, D2SError, DTypeError
from d2s.utils import unique_name


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.register_buffer("kept", d2s.to_tensor([1.0, 2.0]))
        self.register_buffer("lost", d2s.to_tensor([3.0]), persistable=False)
        self.also_lost = d2s.to_tensor([4.0])
        self.drop = nn.Dropout(0.3)
        self.nothing = None

    def forward(self, x):
        return self.fc(x)


class MyBigNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a = Block()
        self.list = nn.LayerList([nn.Linear(2, 2), nn.Linear(2, 2)])
        self.seq = nn.Sequential(nn.Linear(2, 2), nn.Identity())
        self.named = nn.Sequential(("x", nn.Linear(2, 2)), ("y", nn.Identity()))
        self.w = self.create_parameter([2, 2])
        self.emb = nn.Embedding(3, 4)
        self.pl = nn.ParameterList([self.create_parameter([2]), self.create_parameter([1])])
        self.ld = nn.LayerDict({"k": nn.Linear(1, 1)})
        self.shared = self.a.fc

    def forward(self, x):
        return self.a(x)


@pytest.fixture
def net():
    with unique_name.guard():
        yield MyBigNet()


TEXT = """\
MyBigNet(
  (a): Block(
    (fc): Linear(in_features=2, out_features=3, dtype=float32)
    (drop): Dropout(p=0.3, axis=None, mode=upscale_in_train)
  )
  (list): LayerList(
    (0): Linear(in_features=2, out_features=2, dtype=float32)
    (1): Linear(in_features=2, out_features=2, dtype=float32)
  )
  (seq): Sequential(
    (0): Linear(in_features=2, out_features=2, dtype=float32)
    (1): Identity()
  )
  (named): Sequential(
    (x): Linear(in_features=2, out_features=2, dtype=float32)
    (y): Identity()
  )
  (emb): Embedding(3, 4, sparse=False)
  (pl): ParameterList()
  (ld): LayerDict(
    (k): Linear(in_features=1, out_features=1, dtype=float32)
  )
  (shared): Linear(in_features=2, out_features=3, dtype=float32)
)"""
PARAMETERS = {
    "w": "my_big_net_0.w_0",
    "a.fc.weight": "linear_0.w_0",
    "a.fc.bias": "linear_0.b_0",
    "list.0.weight": "linear_1.w_0",
    "list.0.bias": "linear_1.b_0",
    "list.1.weight": "linear_2.w_0",
    "list.1.bias": "linear_2.b_0",
    "seq.0.weight": "linear_3.w_0",
    "seq.0.bias": "linear_3.b_0",
    "named.x.weight": "linear_4.w_0",
    "named.x.bias": "linear_4.b_0",
    "emb.weight": "embedding_0.w_0",
    "pl.0": "my_big_net_0.w_1",
    "pl.1": "my_big_net_0.w_2",
    "ld.k.weight": "linear_5.w_0",
    "ld.k.bias": "linear_5.b_0",
}


def test_the_text_is_paddles(net):
    assert repr(net) == TEXT
    assert repr(nn.Linear(2, 3, name="first")) == "Linear(in_features=2, out_features=3, dtype=float32, name=first)"
    assert repr(nn.Sequential()) == "Sequential()"


def test_names_are_paddles(net):
    assert {path: p.name for path, p in net.named_parameters()} == PARAMETERS
    assert list(dict(net.named_parameters())) == list(PARAMETERS)
    layers = (net, net.a, net.seq, net.list, net.a.drop)
    assert [x.full_name() for x in layers] == ["my_big_net_0", "block_0", "sequential_0", "layer_list_0", "dropout_0"]
    assert nn.Layer("mine").full_name() == "mine_0"
    with unique_name.guard("left_"):
        assert nn.Linear(1, 1).weight.name == "left_left_linear_0.w_0"  # as in Paddle: the layer's name has the prefix, too


def test_walks(net):
    below = "a a.fc a.drop list list.0 list.1 seq seq.0 seq.1 named named.x named.y emb pl ld ld.k"
    assert [name for name, _ in net.named_sublayers()] == below.split()
    assert [name for name, _ in net.named_sublayers("net", include_self=True)][:3] == ["net", "net.a", "net.a.fc"]
    assert [name for name, _ in net.named_children()] == ["a", "list", "seq", "named", "emb", "pl", "ld", "shared"]
    assert list(net.children()) == [layer for _, layer in net.named_children()]
    assert net.sublayers() == [layer for _, layer in net.named_sublayers()]
    assert net.sublayers(include_self=True)[0] is net
    assert [name for name, _ in net.named_buffers()] == ["a.kept", "a.lost", "a.also_lost"]
    assert [b.tolist() for b in net.buffers()] == [[1.0, 2.0], [3.0], [4.0]]
    assert net.buffers(include_sublayers=False) == []
    assert [p.name for p in net.parameters(include_sublayers=False)] == ["my_big_net_0.w_0"]
    assert [name for name, _ in net.named_parameters("m", include_sublayers=False)] == ["m.w"]
    assert len(list(net.named_parameters(remove_duplicate=False))) == len(PARAMETERS) + 2


def test_a_walk_ends_where_a_layer_is_in_itself():
    layer = nn.Layer()
    layer.inner = nn.Linear(1, 1)
    layer.inner.outer = layer
    assert [name for name, _ in layer.named_sublayers()] == ["inner"]
    assert len(layer.parameters()) == 2
    assert layer.train() is layer


def test_state_holds_the_tensors_themselves(net):
    state = net.state_dict()
    expected = [*PARAMETERS, "shared.weight", "shared.bias"]
    assert list(state) == as_paddle_orders(expected)
    assert state["w"] is net.w
    assert state["a.kept"] is net.a.kept
    assert list(net.state_dict(include_sublayers=False)) == ["w"]
    assert list(net.a.fc.state_dict(structured_name_prefix="z.")) == ["z.weight", "z.bias"]
    assert "a.lost" in net.to_static_state_dict()
    destination = {}
    net.a.fc.state_dict(destination)
    assert list(destination) == ["weight", "bias"]


def as_paddle_orders(names):
    """A layer's own parameters and buffers stand before those of its sublayers."""
    return ["w", "a.kept", *[name for name in names if name != "w"]]


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("Conv2D", "conv2d"),
        ("BatchNorm1D", "batch_norm1d"),
        ("Conv2DTranspose", "conv2d_transpose"),
        ("PReLU", "p_re_lu"),
        ("LSTMCell", "lstm_cell"),
        ("ResNet50V2", "res_net50v2"),
        ("Conv2DBN", "conv2dbn"),
    ],
)
def test_classes_name_their_parameters_as_paddle_does(name, named):
    """`.pdopt` files name state by them."""
    with unique_name.guard():
        layer = type(name, (nn.Layer,), {})()
        assert layer.create_parameter([1]).name == f"{named}_0.w_0"


def test_a_state_is_given_back(net):
    other = MyBigNet()
    assert net.set_state_dict(other.state_dict()) == ([], [])
    mine, others = net.state_dict(), other.state_dict()
    assert all(mine[name].tolist() == others[name].tolist() for name in mine)
    assert mine["w"] is net.w is not other.w
    assert net.set_dict.__func__ is net.load_dict.__func__ is net.set_state_dict.__func__


def test_what_does_not_fit_is_named_and_left(net):
    before = {name: t.tolist() for name, t in net.state_dict().items()}
    state = {name: np.zeros(t.shape, "float32") for name, t in net.state_dict().items()}
    del state["w"]
    state |= {"unknown": np.ones(1), "a.fc.bias": np.ones(7), "a.kept": "text"}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        missing, unknown = net.set_state_dict(state)
    assert sorted(missing) == ["a.fc.bias", "a.kept", "w"]  # what does not fit is in both, as Paddle says it
    assert sorted(unknown) == ["a.fc.bias", "a.kept", "unknown"]
    words = " ".join(str(w.message) for w in said)
    assert "w is not found in the provided dict" in words
    assert "a.fc.bias receives a shape [7], but the expected shape is [3]" in words
    assert "a.kept receives no tensor" in words
    kept = ("w", "a.fc.bias", "a.kept", "shared.bias")
    now = {name: t.tolist() for name, t in net.state_dict().items()}
    assert all(now[name] == before[name] for name in kept if name != "shared.bias")
    assert np.all(np.array(now["list.0.weight"]) == 0)


def test_a_state_by_parameter_name(net):
    state = {"linear_0.w_0": np.full([2, 3], 7.0, "float32")}
    with pytest.warns(UserWarning, match="Skip loading"):
        missing, unknown = net.set_state_dict(state, use_structured_name=False)
    assert net.a.fc.weight.tolist() == [[7.0] * 3] * 2
    assert unknown == []
    assert "list.0.weight" in missing


def test_hooks_on_states():
    layer = nn.Linear(1, 1)
    handle = layer.register_state_dict_hook(lambda state: {"weight": state["weight"]})
    assert list(layer.state_dict()) == ["weight"]
    assert list(layer.state_dict(use_hook=False)) == ["weight", "bias"]
    handle.remove()
    assert list(layer.state_dict()) == ["weight", "bias"]


def test_hooks_around_forward():
    layer = nn.Linear(1, 1, weight_attr=nn.initializer.Constant(1.0))
    x, calls = d2s.to_tensor([[1.0]]), []
    handles = [
        layer.register_forward_pre_hook(lambda layer, inputs: calls.append(("before", inputs[0].item()))),
        layer.register_forward_pre_hook(lambda layer, inputs: inputs[0] * 2),
        layer.register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 3,)),
        layer.register_forward_post_hook(lambda layer, inputs, y: calls.append(("behind", inputs[0].item(), y.item()))),
        layer.register_forward_post_hook(lambda layer, inputs, y: y + 1),
    ]
    assert layer(x).item() == 7.0
    assert calls == [("before", 1.0), ("behind", 6.0, 6.0)]
    for handle in handles:
        handle.remove()
        handle.remove()
    assert layer(x).item() == 1.0
    assert len(calls) == 2


def test_hooks_in_a_captured_function():
    layer = nn.Linear(1, 1, weight_attr=nn.initializer.Constant(1.0))
    static = d2s.to_static(lambda x: layer(x))
    x = d2s.to_tensor([[2.0]])
    assert static(x).item() == 2.0
    handle = layer.register_forward_post_hook(lambda layer, inputs, y: y * 10)
    assert static(x).item() == 20.0
    handle.remove()
    assert static(x).item() == 2.0


def test_attributes_are_registered_by_kind():
    layer = nn.Layer()
    layer.x = nn.Linear(1, 1)
    layer.x = layer.create_parameter([1])
    assert ("x" in layer._parameters, "x" in layer._sub_layers) == (True, False)
    layer.x = None
    assert (layer.x, layer._parameters) == (None, {"x": None})
    assert layer.parameters() == []
    layer.x = layer.create_parameter([2])
    del layer.x
    assert not hasattr(layer, "x")
    layer.x = 3
    layer.x = d2s.to_tensor([1.0])
    assert "x" in layer._buffers
    assert "x" not in vars(layer)
    assert layer.state_dict() == {}
    layer.register_buffer("x", d2s.to_tensor([2.0]))
    layer.x = d2s.to_tensor([3.0])
    assert layer.state_dict()["x"].tolist() == [3.0]
    assert "x" in dir(layer)


def test_attributes_that_are_none_yet():
    layer = nn.Layer()
    layer.bias = None
    layer.register_buffer("seen", None)
    layer.add_parameter("w", None)
    layer.add_sublayer("inner", None)
    assert (layer.bias, layer.seen, layer.w, layer.inner) == (None, None, None, None)
    assert (layer.parameters(), layer.buffers(), layer.sublayers(), list(layer.state_dict())) == ([], [], [], [])
    assert repr(layer) == "Layer(\n  (inner): None\n)"
    layer.bias = layer.create_parameter([1], is_bias=True)
    layer.seen = d2s.to_tensor([1.0])
    assert list(layer.state_dict()) == ["bias", "seen"]


def test_modes_reach_all_layers(net):
    assert net.eval() is net
    assert not any(layer.training for layer in net.sublayers(include_self=True))
    net.train()
    assert all(layer.training for layer in net.sublayers(include_self=True))


def test_apply_visits_children_first(net):
    seen = []
    assert net.apply(seen.append) is net
    assert seen[-1] is net
    assert seen.index(net.a.fc) < seen.index(net.a) < seen.index(net)


def test_dtypes(net):
    w, grad_of = net.w, net.a.fc.weight
    (grad_of * 2.0).sum().backward()
    net.register_buffer("count", d2s.to_tensor([1]))
    assert net.to(dtype="float64") is net
    assert net.w is w
    assert {p.dtype.name for p in net.parameters()} == {"float64"}
    assert (net.a.kept.dtype, net.count.dtype) == ("float64", "int64")
    assert grad_of.grad is None
    assert net.create_parameter([1]).dtype == "float64"
    assert repr(net.a.fc) == "Linear(in_features=2, out_features=3, dtype=float64)"
    net.float(excluded_layers=[nn.Embedding])
    assert (net.w.dtype, net.emb.weight.dtype) == ("float32", "float64")
    assert net.astype("float64").count.dtype == "float64"
    assert net.to() is net


def test_a_captured_layer_follows_its_dtype():
    layer = nn.Linear(2, 2)
    static = d2s.to_static(lambda x: layer(x))
    x = d2s.to_tensor([[1.0, 2.0]])
    assert static(x).dtype == "float32"
    layer.to(dtype="float64")
    found = static(x.astype("float64"))
    assert found.dtype == "float64"
    assert found.numpy().tobytes() == layer(x.astype("float64")).numpy().tobytes()


def test_copies_are_alone(net):
    twin = copy.deepcopy(net)
    assert twin.shared is twin.a.fc is not net.a.fc
    assert repr(twin) == repr(net)
    twin.w.set_value(np.zeros([2, 2], "float32"))
    assert not np.all(net.w.numpy() == 0)
    names = [p.name for p in (*net.parameters(), *twin.parameters())]
    assert len(set(names)) == len(names)
    x = d2s.to_tensor([[1.0, 2.0]])
    assert twin(x).tolist() == net(x).tolist()


def test_pickles_are_the_same_layer(net):
    twin = pickle.loads(pickle.dumps(net))
    assert repr(twin) == repr(net)
    assert [p.name for p in twin.parameters()] == [p.name for p in net.parameters()]
    assert all(a.numpy().tobytes() == b.numpy().tobytes() for a, b in zip(twin.parameters(), net.parameters(), strict=True))
    assert type(twin.w) is nn.Parameter


def test_parameters_know_how_they_are_trained():
    decay = d2s.regularizer.L2Decay(0.1)
    attr = d2s.ParamAttr(name="mine", learning_rate=0.5, trainable=False, regularizer=decay, need_clip=False)
    p = nn.Linear(1, 2, weight_attr=attr).weight
    assert (p.name, p.trainable, p.stop_gradient) == ("mine", False, True)
    assert (p.optimize_attr, p.regularizer, p.need_clip) == ({"learning_rate": 0.5}, decay, False)
    plain = nn.Linear(1, 2).weight
    assert (plain.trainable, plain.optimize_attr, plain.regularizer, plain.persistable) == (
        True,
        {"learning_rate": 1.0},
        None,
        True,
    )
    plain.trainable = False
    assert plain.stop_gradient
    assert nn.Linear(1, 2, bias_attr=False).bias is None
    assert repr(plain).startswith("Parameter containing:\nTensor(shape=[1, 2]")


@pytest.mark.parametrize(
    ("attr", "expected"),
    [
        (None, ("x_0.w_0", None)),
        (True, ("x_0.w_0", None)),
        ("own", ("own", None)),
        (nn.initializer.Constant(2.0), ("x_0.w_0", 2.0)),
        (d2s.ParamAttr(initializer=nn.initializer.Constant(3.0)), ("x_0.w_0", 3.0)),
    ],
)
def test_attributes_of_parameters_are_given_shortly(attr, expected):
    with unique_name.guard():
        p = nn.Layer("x").create_parameter([1], attr)
    assert p.name == expected[0]
    assert expected[1] in (None, p.item())


def test_dtypes_of_parameters():
    assert nn.Layer(dtype="float64").create_parameter([1]).dtype == "float64"
    assert nn.Layer().create_parameter([1], dtype="float64").dtype == "float64"
    ints = nn.Layer().create_parameter([2], dtype="int64", default_initializer=nn.initializer.Constant(2.7))
    assert ints.tolist() == [2, 2]
    d2s.set_default_dtype("float64")
    try:
        assert nn.Linear(1, 1).weight.dtype == "float64"
    finally:
        d2s.set_default_dtype("float32")


def test_clear_gradients(net):
    (net.w * 2.0).sum().backward()
    net.clear_gradients()
    assert net.w.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    net.clear_gradients(set_to_zero=False)
    assert net.w.grad is None


def before_init():
    class Hasty(nn.Layer):
        def __init__(self):
            self.fc = nn.Linear(1, 1)

    Hasty()


LAYER = nn.Layer()
LAYER.w, LAYER.fc = LAYER.create_parameter([1]), nn.Linear(1, 1)
LAYER.register_buffer("seen", d2s.to_tensor([1.0]))
REFUSED = {
    "a number for a parameter": (
        lambda: setattr(LAYER, "w", 3),
        DTypeError,
        "parameter 'w': expects a Parameter or None, got int",
    ),
    "a tensor for a parameter": (lambda: setattr(LAYER, "w", d2s.to_tensor([1.0])), DTypeError, "got Tensor"),
    "a number for a sublayer": (lambda: setattr(LAYER, "fc", 3), DTypeError, "sublayer 'fc': expects a Layer or None, got int"),
    "a number for a buffer": (
        lambda: setattr(LAYER, "seen", 3),
        DTypeError,
        "buffer 'seen': expects a Tensor or None, got int",
    ),
    "a buffer where a parameter is": (lambda: LAYER.register_buffer("w", None), ArgumentError, "has an attribute 'w' already"),
    "a parameter where a sublayer is": (
        lambda: LAYER.add_parameter("fc", LAYER.w),
        ArgumentError,
        "has an attribute 'fc' already",
    ),
    "a parameter that is none": (lambda: LAYER.add_parameter("z", 3), DTypeError, "'parameter' expects a Parameter, got int"),
    "a name with a point": (lambda: LAYER.add_parameter("a.b", LAYER.w), ArgumentError, "'a.b'"),
    "an empty name": (lambda: LAYER.register_buffer("", None), ArgumentError, "''"),
    "a name that is a number": (lambda: LAYER.register_buffer(3, None), DTypeError, "'name' expects a str, got int"),
    "a buffer that is a number": (lambda: LAYER.register_buffer("z", 3), DTypeError, "'tensor' expects a Tensor, got int"),
    "a sublayer that is a number": (lambda: LAYER.add_sublayer("z", 3), DTypeError, "'sublayer' expects a Layer, got int"),
    "a hook that cannot be called": (lambda: LAYER.register_forward_pre_hook(3), DTypeError, "callable"),
    "a shape that is a number": (lambda: LAYER.create_parameter(3), ArgumentError, "3 is not a shape"),
    "a negative extent": (lambda: LAYER.create_parameter([-1]), ArgumentError, "[-1] is not a shape"),
    "half an extent": (lambda: LAYER.create_parameter([2.5]), ArgumentError, "[2.5] is not a shape"),
    "an attribute that is a number": (lambda: LAYER.create_parameter([1], 0.5), DTypeError, "not a float"),
    "ints drawn at random": (lambda: LAYER.create_parameter([1], dtype="int32"), DTypeError, "int32"),
    "a ParamAttr of a number": (lambda: d2s.ParamAttr(name=3), DTypeError, "'name' expects"),
    "a state that is a list": (lambda: LAYER.set_state_dict([]), DTypeError, "'state_dict' expects a dict, got list"),
    "an unknown dtype": (lambda: LAYER.to(dtype="foo"), DTypeError, "'foo'"),
    "half floats": (lambda: LAYER.float16(), DTypeError, "float16"),
    "a sublayer before super().__init__()": (before_init, ArgumentError, "before super().__init__()"),
    "a layout that is a number": (lambda: d2s.nn.PixelShuffle(2, 3), ArgumentError, "'data_format' is 3"),
    "a way of padding that is a number": (lambda: d2s.nn.Conv1D(1, 1, 1, padding_mode=3), DTypeError, "'padding_mode'"),
    "channels below 0": (lambda: d2s.nn.Conv1D(-1, 1, 1), ArgumentError, "[-1, 1] channels"),
    "names counted by a number": (lambda: unique_name.guard(3).__enter__(), DTypeError, "'new_generator'"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    function, error, words = REFUSED[what]
    with pytest.raises(error) as caught:
        function()
    assert isinstance(caught.value, D2SError)
    assert words in str(caught.value)


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="'Layer' object has no attribute 'nope'"):
        _ = LAYER.nope
    with pytest.raises(AttributeError, match="nope"):
        del LAYER.nope
    with pytest.raises(NotImplementedError, match="forward"):
        LAYER(1)
