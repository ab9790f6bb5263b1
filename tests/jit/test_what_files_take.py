"""The inputs of files are what InputSpecs name: numbers beside them are what they are where the layer is saved."""

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import ArgumentError
from d2s.static import InputSpec

OPEN = InputSpec([None, 4])


class Scaled(nn.Layer):
    def forward(self, x, scale=2.0, shift=(0.5, {"by": 1.5}), times=3, *, temperature=4.0):
        return x * scale / temperature + shift[0] * shift[1]["by"] + times


@pytest.mark.parametrize(
    "given",
    [(), (3.0,), (float("inf"),), (np.float32(3.0),), (-0.0, (2.5, {"by": 0.25})), (7,)],
    ids=["defaults", "float", "infinite", "numpy", "nested", "int"],
)
def test_numbers_that_no_input_spec_names_are_bound(given, tmp_path):
    net, x = Scaled(), d2s.randn([3, 4])
    d2s.jit.save(net, str(tmp_path / "net"), [OPEN, *given])
    loaded = d2s.jit.load(str(tmp_path / "net"))
    assert loaded(x).tolist() == net(x, *given).tolist()
    with pytest.raises(ArgumentError, match=r"forward\(\) takes x"):
        loaded(x, 2.0)


def test_a_tensor_that_an_input_spec_names_beside_numbers_is_an_input(tmp_path):
    net, x, by = Scaled(), d2s.randn([3, 4]), d2s.to_tensor(0.25)
    d2s.jit.save(net, str(tmp_path / "net"), [OPEN, 3.0, (2.5, {"by": InputSpec([])})])
    assert d2s.jit.load(str(tmp_path / "net"))(x, by).tolist() == net(x, 3.0, (2.5, {"by": by})).tolist()


def test_what_was_called_is_saved_with_the_defaults_it_had(tmp_path):
    x, path = d2s.ones([2, 4]), str(tmp_path / "f")
    static = d2s.to_static(lambda x, scale=2.0: x * scale)
    static(x)
    d2s.jit.save(static, path)
    assert d2s.jit.load(path)(x).tolist() == (x * 2.0).tolist()
    told = d2s.to_static(lambda x, scale=2.0: x * scale)
    told(x, 3.0)
    d2s.jit.save(told, path)
    assert d2s.jit.load(path)(x, 5.0).tolist() == (x * 5.0).tolist()


def test_a_path_that_ends_like_a_file_is_one_for_saving_and_loading(tmp_path):
    """Paddle puts its endings behind any path, too."""
    path, x = str(tmp_path / "net.pdmodel"), d2s.ones([2, 4])
    d2s.jit.save(Scaled(), path, [OPEN])
    assert d2s.jit.load(path)(x).tolist() == d2s.jit.load(f"{path}.pdmodel")(x).tolist() == Scaled()(x).tolist()


class Attending(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        y = self.inner(x)
        scores = nn.functional.softmax(y @ y.t() / np.sqrt(y.shape[-1]))
        return (scores @ y).reshape([-1, np.prod([2, 2])]) * np.float32(0.1)


def test_numbers_that_numpy_makes_of_constants_are_in_files(tmp_path):
    net, x = Attending(), d2s.randn([3, 4])
    d2s.jit.save(net, str(tmp_path / "net"), [OPEN])
    assert d2s.jit.load(str(tmp_path / "net"))(x).tolist() == net(x).tolist()


class Alone(nn.Layer):
    def __init__(self):
        super().__init__()
        self.w = self.create_parameter([3])

    def forward(self, times=2.0):
        return self.w * times


@pytest.mark.parametrize("spec", [[], None])
def test_what_needs_no_arguments_is_saved_without_inputs(spec, tmp_path):
    net = Alone()
    d2s.jit.save(net, str(tmp_path / "net"), spec)
    assert d2s.jit.load(str(tmp_path / "net"))().tolist() == net().tolist()


class Apart(nn.Layer):
    def forward(self, x, *, scale=2.0, y, z=None):
        return x * scale + y * 3.0 + (0.0 if z is None else z)


X, Y, Z = InputSpec([None, 4], name="x"), InputSpec([None, 4], name="y"), InputSpec([None, 4], name="z")
BY_KEYWORD = {
    "by name": ([X, Y], {}),
    "by name, others too": ([X, Z, Y], {"z": d2s.full([3, 4], 7.0)}),
    "by name and in order": ([X, Y, 0.5], {"scale": 0.5}),
    "in order": ([OPEN, 0.5, OPEN, OPEN], {"scale": 0.5, "z": d2s.full([3, 4], 7.0)}),
}


@pytest.mark.parametrize("name", BY_KEYWORD)
def test_what_is_given_by_keyword_only_is_an_input(name, tmp_path):
    net, x, path = Apart(), d2s.randn([3, 4]), str(tmp_path / "net")
    spec, given = BY_KEYWORD[name]
    wanted = net(x, y=x + 1.0, **given).tolist()
    d2s.jit.save(net, path, spec)
    tensors = {key: value for key, value in given.items() if isinstance(value, d2s.Tensor)}
    assert d2s.jit.load(path)(x, y=x + 1.0, **tensors).tolist() == wanted
    static = d2s.to_static(net, input_spec=spec)
    assert static(x, y=x + 1.0, **given).tolist() == wanted
    d2s.jit.save(static, path)
    assert d2s.jit.load(path)(y=x + 1.0, x=x, **tensors).tolist() == wanted


def test_more_input_specs_than_arguments_are_refused(tmp_path):
    with pytest.raises(ArgumentError, match="says what 5 arguments are, of 4"):
        d2s.jit.save(Apart(), str(tmp_path / "net"), [OPEN] * 5)


class Encoding(nn.Layer):
    """What users write with NumPy in `forward`, and real Paddle computes where it traces."""

    def __init__(self):
        super().__init__()
        self.extents = [3, 4]

    def forward(self, x):
        n, d = self.extents
        found, at = np.zeros((n, d), "float32"), np.arange(n)[:, None]
        by = np.exp(np.arange(0, d, 2) * -(np.log(10000.0) / d))
        found[:, 0::2], found[:, 1::2] = np.sin(at * by), np.cos(at * by)
        x = x + d2s.to_tensor(found)
        scores = x @ x.transpose([0, 2, 1]) / np.sqrt(d)
        scores = scores + d2s.to_tensor(np.triu(np.full((n, n), -1e9, "float32"), 1))
        x = nn.functional.softmax(scores) @ x * np.linspace(0, 1, d).astype("float32")
        if x.sum() > 0:
            x = x + np.arange(d).astype("float32")
        return x[:, np.array([2, 0, 1])], x[:, :, np.array([True, False, True, True])]


@pytest.mark.parametrize("batch", [None, 2])
def test_arrays_that_numpy_makes_of_constants_are_in_the_file(batch, tmp_path):
    net, x = Encoding(), d2s.randn([2, 3, 4])
    d2s.jit.save(net, str(tmp_path / "net"), [InputSpec([batch, 3, 4])])
    for found, expected in zip(d2s.jit.load(str(tmp_path / "net"))(x), net(x), strict=True):
        assert found.tolist() == expected.tolist()
    assert d2s.jit.verify(d2s.to_static(net.forward), x)
