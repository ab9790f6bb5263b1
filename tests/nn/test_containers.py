"""Sequential, LayerList, LayerDict and ParameterList: as Python's own containers, and in captured functions."""

import collections

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import ArgumentError, CaptureError, D2SError, DTypeError

X = d2s.to_tensor([[1.0, -2.0]])


def linears(count):
    return [nn.Linear(2, 2) for _ in range(count)]


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda a, b: nn.Sequential(a, b), ["0", "1"]),
        (lambda a, b: nn.Sequential([a, b]), ["0", "1"]),
        (lambda a, b: nn.Sequential(("x", a), ("y", b)), ["x", "y"]),
        (lambda a, b: nn.Sequential([("x", a), ("y", b)]), ["x", "y"]),
        (lambda a, b: nn.Sequential(["x", a], b), ["x", "1"]),
        (lambda a, b: nn.Sequential({"x": a, "y": b}), ["x", "y"]),
        (lambda a, b: nn.Sequential(collections.OrderedDict(x=a, y=b)), ["x", "y"]),
        (lambda a, b: nn.Sequential(a).append(b), ["0", "1"]),
        (lambda a, b: nn.Sequential(b).insert(0, a), ["0", "1"]),
        (lambda a, b: nn.Sequential().extend([a, b]), ["0", "1"]),
        (lambda a, b: nn.Sequential(("x", a)).append(b), ["x", "1"]),
    ],
)
def test_sequential_is_made_of(make, names):
    a, b = linears(2)
    found = make(a, b)
    assert [name for name, _ in found.named_children()] == names
    assert found(X).tolist() == b(a(X)).tolist()
    assert (list(found), len(found)) == ([a, b], 2)


def test_sequential_by_index_name_and_slice():
    a, b, c = linears(3)
    found = nn.Sequential(("x", a), ("y", b), ("z", c))
    assert (found[0], found[-1], found["y"]) == (a, c, b)
    assert list(found[1:]) == [b, c]
    assert isinstance(found[1:], nn.Sequential)
    found["w"] = nn.Identity()
    found["y"] = c
    assert list(found)[1] is c
    del found["w"], found[0]
    assert [name for name, _ in found._sub_layers.items()] == ["y", "z"]
    plain = nn.Sequential(a, b)
    plain[-1] = c
    assert list(plain) == [a, c]


def test_layer_list_is_a_list():
    a, b, c, d = linears(4)
    found = nn.LayerList([a, b])
    assert found.append(c) is found
    found.insert(0, d)
    assert list(found) == [d, a, b, c]
    assert [name for name, _ in found.named_children()] == ["0", "1", "2", "3"]
    assert (found[-1], list(found[1:3]), len(found)) == (c, [a, b], 4)
    found[-1] = a
    del found[0]
    assert found.pop() is a
    assert list(found) == [a, b]
    assert list(found.extend(nn.LayerList([c]))) == [a, b, c]
    del found[:2]
    assert list(found) == [c]
    assert [name for name, _ in found.named_parameters()] == ["0.weight", "0.bias"]


def test_layer_dict_is_a_dict():
    a, b, c = linears(3)
    found = nn.LayerDict([("keys", a), ("b", b)])
    assert (list(found), list(found.keys()), list(found.values())) == (["keys", "b"], ["keys", "b"], [a, b])
    assert found["keys"] is a
    assert "b" in found
    found["c"] = c
    found.update(nn.LayerDict({"b": c}))
    assert dict(found.items()) == {"keys": a, "b": c, "c": c}
    assert found.pop("b") is c
    del found["c"]
    assert len(found) == 1
    found.clear()
    assert list(found) == []


def test_parameter_list_is_a_list():
    layer = nn.Layer()
    first, second, third = (layer.create_parameter([n]) for n in (1, 2, 3))
    found = nn.ParameterList([first])
    assert found.append(second) is found
    found[0] = third
    assert (list(found), len(found), found[-1], list(found[:1])) == ([third, second], 2, second, [third])
    assert [name for name, _ in found.named_parameters()] == ["0", "1"]


class Mixed(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList(linears(3))
        self.inner = nn.Sequential(*linears(2))
        self.keyed = nn.LayerDict({"a": nn.Linear(2, 2)})
        self.added = nn.ParameterList([self.create_parameter([2])])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).tanh()
        for k, layer in enumerate(self.layers):
            x = x + layer(x) * k
        for layer, other in zip(self.layers, reversed(self.layers), strict=True):
            x = x + layer(other(x))
        for key in self.keyed:
            x = x + self.keyed[key](x)
        for _, layer in self.keyed.items():
            x = x + layer(x)
        for p in self.added:
            x = x * p
        if x.sum() > 0:
            x = x + self.layers[-1](x) * len(self.layers)
        return self.inner(x) + self.added[0]


def test_captured_functions_walk_containers():
    net = Mixed()
    static = d2s.to_static(lambda x: net(x))

    def agrees():
        return all(static(x).numpy().tobytes() == net(x).numpy().tobytes() for x in (X, X * -3.0))

    assert agrees()
    assert len(static.variants) == 1
    net.layers.append(nn.Linear(2, 2))
    assert agrees()
    net.layers[0] = nn.Linear(2, 2)
    assert agrees()
    net.keyed["b"] = nn.Linear(2, 2)
    assert agrees()
    net.inner.append(nn.Identity())
    assert agrees()
    net.added.append(net.create_parameter([2]))
    assert agrees()
    assert len(static.variants) == 6


def test_a_layer_is_not_looped_over_unless_it_holds_some():
    net = nn.Linear(2, 2)

    def looping(x):
        for _ in net:
            x = x + 1
        return x

    with pytest.raises(CaptureError, match="Linear"):
        d2s.to_static(looping)(X)


FULL = nn.Sequential(*linears(2))
LISTED = nn.LayerList(linears(2))
KEYED = nn.LayerDict({"a": nn.Linear(1, 1)})
REFUSED = {
    "a number in a Sequential": (lambda: nn.Sequential(3), DTypeError, "got int"),
    "a number behind a Sequential": (lambda: FULL.append(3), DTypeError, "got int"),
    "an index behind the end": (lambda: FULL[2], IndexError, "index 2 of 2"),
    "a name no one has": (lambda: FULL["x"], KeyError, "'x'"),
    "an insertion between names": (
        lambda: nn.Sequential(("x", nn.Identity())).insert(0, nn.Identity()),
        ArgumentError,
        "appended",
    ),
    "a number in a list": (lambda: nn.LayerList([3]), DTypeError, "got int"),
    "a number put into a list": (lambda: LISTED.insert(0, 3), DTypeError, "got int"),
    "a position behind the end": (lambda: LISTED[-3], IndexError, "index -3 of 2"),
    "a position that is text": (lambda: LISTED["0"], DTypeError, "not str"),
    "an insertion behind the end": (lambda: LISTED.insert(9, nn.Identity()), IndexError, "index 9 of 2"),
    "a key no one has": (lambda: KEYED["b"], KeyError, "'b'"),
    "a key to take out that no one has": (lambda: KEYED.pop("b"), KeyError, "'b'"),
    "a key that is a list": (lambda: KEYED.pop([]), KeyError, "[]"),
    "a number in a dict": (lambda: nn.LayerDict({"a": 3}), DTypeError, "got int"),
    "no pairs": (lambda: nn.LayerDict(3), DTypeError, "got int"),
    "a pair of three": (lambda: nn.LayerDict([(1, 2, 3)]), ArgumentError, "(1, 2, 3)"),
    "a tensor in a list of parameters": (lambda: nn.ParameterList([X]), DTypeError, "expects a Parameter"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    function, error, words = REFUSED[what]
    with pytest.raises(error) as caught:
        function()
    assert isinstance(caught.value, D2SError)
    assert words in str(caught.value)
    assert len(FULL) == len(LISTED) == 2


def test_flatten_and_identity():
    x = d2s.to_tensor(np.arange(24.0, dtype="float32").reshape(2, 3, 4))
    assert nn.Flatten()(x).shape == [2, 12]
    assert nn.Flatten(0, 1)(x).shape == [6, 4]
    assert nn.Identity(1, a=2)(x) is x


def test_layers_added_at_the_end_keep_the_others_where_they_are():
    layers = nn.LayerList([nn.Identity()])
    layers.extend([nn.Flatten(), nn.Identity()]).append(nn.Flatten())
    assert list(layers._sub_layers) == ["0", "1", "2", "3"]
    with pytest.raises(DTypeError, match="got int"):
        layers.extend([nn.Identity(), 3])
    assert len(layers) == 4
    layers.add_sublayer("last", nn.Identity())
    assert list(layers.append(nn.Identity())._sub_layers) == ["0", "1", "2", "3", "4", "5"]
