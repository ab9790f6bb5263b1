"""Models built in the same way by Paddle and by d2s; `python tests/vision/built.py` records what Paddle makes of them.

In: `vision.models` and NumPy arrays, which both know. Out: names and shapes of all state, as a digest, and what a model says
of an image when its state holds values that a formula gives.
"""

import hashlib
import importlib
import json
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MODELS = {  # how to build it, and the extents of an image
    "lenet": (lambda m: m.LeNet(), [1, 28, 28]),
    "resnet18": (lambda m: m.resnet18(num_classes=5), [3, 32, 32]),
    "resnet50": (lambda m: m.resnet50(num_classes=5), [3, 32, 32]),
    "vgg11": (lambda m: m.vgg11(num_classes=0), [3, 32, 32]),
    "vgg13_bn": (lambda m: m.vgg13(batch_norm=True, num_classes=0, with_pool=False), [3, 32, 32]),
    "mobilenet_v1": (lambda m: m.mobilenet_v1(scale=0.5, num_classes=5), [3, 32, 32]),
    "mobilenet_v2": (lambda m: m.mobilenet_v2(scale=0.35, num_classes=5), [3, 32, 32]),
}
ONLY_BUILT = {
    "resnet34": lambda m: m.resnet34(num_classes=0),
    "resnet101": lambda m: m.resnet101(num_classes=0),
    "resnet152": lambda m: m.resnet152(num_classes=0),
    "wide_resnet50_2": lambda m: m.wide_resnet50_2(num_classes=0),
    "vgg16": lambda m: m.vgg16(num_classes=0),
    "vgg19_bn": lambda m: m.vgg19(batch_norm=True, num_classes=0),
    "mobilenet_v1": lambda m: m.mobilenet_v1(),
    "mobilenet_v2": lambda m: m.mobilenet_v2(scale=1.4),
}


def digest(model):
    """The names and shapes of all state, in order, as 16 digits."""
    text = "\n".join(f"{name} {list(t.shape)}" for name, t in model.state_dict().items())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def fill(model):
    """Gives all state the values of a formula."""
    for k, (name, tensor) in enumerate(model.state_dict().items()):
        shape = tensor.shape
        waves = np.sin(np.arange(int(np.prod(shape))) * 0.7 + k).reshape(shape)
        fan = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
        values = waves * (2 / fan) ** 0.5 if len(shape) > 1 else 1 + waves / 4 if name[-6:] != ".bias" else waves / 4
        tensor.set_value(values.astype("float32"))


def said(library, model, extents):
    """What a filled model says of one image."""
    fill(model)
    model.eval()
    image = np.cos(np.arange(int(np.prod(extents))) * 0.1).reshape([1, *extents]).astype("float32")
    return model(library.to_tensor(image)).numpy().reshape(-1)[:8]


def record():
    paddle = importlib.import_module("paddle")
    models = paddle.vision.models
    found = {
        "digests": {name: digest(build(models)) for name, build in ONLY_BUILT.items()},
        "said": {name: [float(f"{v:.6g}") for v in said(paddle, b(models), e)] for name, (b, e) in MODELS.items()},
    }
    (HERE / "built_by_paddle.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    record()
