"""Models have the names, shapes and results of Paddle's; what they refuse is named."""

import json
import pathlib
import sys

import pytest

import d2s
from d2s.errors import ArgumentError, FileError, FormatError

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import built

PADDLE = json.loads((built.HERE / "built_by_paddle.json").read_text())  # 3.3.1; 2.6.2 says the same
models = d2s.vision.models


@pytest.mark.parametrize("name", built.ONLY_BUILT)
def test_names_and_shapes_are_paddles(name):
    assert built.digest(built.ONLY_BUILT[name](models)) == PADDLE["digests"][name]


@pytest.mark.parametrize("name", built.MODELS)
def test_results_are_paddles(name):
    build, extents = built.MODELS[name]
    said = built.said(d2s, build(models), extents)
    assert said.tolist() == pytest.approx(PADDLE["said"][name], rel=2e-3, abs=1e-4)


def test_trained_weights_are_read_from_their_place(tmp_path, monkeypatch):
    monkeypatch.setenv("D2S_DATA_HOME", str(tmp_path))
    with pytest.raises(FileError, match=r"weights.mobilenet_v1_0\.25\.pdparams is not there"):
        models.mobilenet_v1(pretrained=True, scale=0.25)
    net = models.mobilenet_v1(scale=0.25, num_classes=3)
    built.fill(net)
    d2s.save(net.state_dict(), str(tmp_path / "weights" / "mobilenet_v1_0.25.pdparams"))
    again = models.mobilenet_v1(pretrained=True, scale=0.25, num_classes=3)
    assert all((a.numpy() == b.numpy()).all() for a, b in zip(net.parameters(), again.parameters(), strict=True))
    with pytest.raises(FormatError, match=r"does not fit the model: .*fc\.weight"):
        models.mobilenet_v1(pretrained=True, scale=0.25, num_classes=4)


def test_what_is_refused():
    block = models.resnet.BasicBlock
    for call in (
        lambda: models.ResNet(block, 19),
        lambda: models.ResNet(object, 18),
        lambda: models.ResNet(block, 18, groups=2),
    ):
        with pytest.raises(ArgumentError):
            call()
