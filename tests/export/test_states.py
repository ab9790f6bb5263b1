"""`d2s.load` of a model's files gives the state of its layer, as Paddle's does."""

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import FileError, FormatError
from d2s.static import InputSpec

OPEN = InputSpec([None, 4], name="x")


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.enter, self.leave, self.norm = nn.Linear(4, 3), nn.Linear(3, 2), nn.BatchNorm1D(3)
        self.tied = self.enter
        self.register_buffer("unread", d2s.ones([2]))
        self.register_buffer("passing", d2s.ones([1]), persistable=False)

    def forward(self, x):
        return self.norm(self.tied(x)) * self.passing

    @d2s.to_static(input_spec=[OPEN])
    def further(self, x):
        return self.leave(self.enter(x))


@pytest.fixture
def saved(tmp_path):
    net, path = Net(), str(tmp_path / "net")
    d2s.jit.save(net, path, [OPEN])
    return net, path


def test_a_model_has_the_state_of_its_layer(saved):
    net, path = saved
    found, wanted = d2s.load(path), net.state_dict()
    assert {key: value.tolist() for key, value in found.items()} == {key: value.tolist() for key, value in wanted.items()}
    other = Net()
    assert other.set_state_dict(found) == ([], [])
    assert other(d2s.ones([2, 4])).tolist() == net(d2s.ones([2, 4])).tolist()


def test_arrays_in_place_of_tensors(saved):
    assert all(type(value) is np.ndarray for value in d2s.load(saved[1], return_numpy=True).values())


def test_a_program_saved_for_inference_has_one_too(tmp_path):
    path = str(tmp_path / "net")
    d2s.enable_static()
    try:
        with d2s.static.program_guard(d2s.static.Program(), d2s.static.Program()) as _:
            x = d2s.static.data("x", [None, 4])
            layer = nn.Linear(4, 3)
            executor = d2s.static.Executor()
            executor.run(d2s.static.default_startup_program())
            d2s.static.save_inference_model(path, [x], [layer(x)], executor)
    finally:
        d2s.disable_static()
    assert {value.shape for value in d2s.load(path, return_numpy=True).values()} == {(4, 3), (3,)}


def test_what_is_damaged_or_not_there_is_refused(saved):
    path = saved[1]
    with open(f"{path}.pdiparams", "r+b") as file:
        file.truncate(20)
    with pytest.raises(FormatError, match=r"net\.pdiparams"):
        d2s.load(path)
    with pytest.raises(FileError, match="other cannot be read"):
        d2s.load(path.replace("net", "other"))
