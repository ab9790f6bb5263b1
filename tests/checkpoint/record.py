"""Writes small files with real Paddle, for tests that run without it: `python tests/checkpoint/record.py` where Paddle is."""

import importlib
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def record(paddle, prefix):
    weight = paddle.ParamAttr(initializer=paddle.nn.initializer.Assign([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
    layer = paddle.nn.Linear(2, 3, weight_attr=weight)
    paddle.save(layer.state_dict(), f"{prefix}.pdparams")
    adam = paddle.optimizer.Adam(paddle.optimizer.lr.StepDecay(0.1, 3), parameters=layer.parameters())
    layer(paddle.ones([1, 2])).sum().backward()
    adam.step()
    paddle.save(adam.state_dict(), f"{prefix}.pdopt")
    dtypes = ("bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64")
    nest = {
        "list": [paddle.to_tensor([1.0, 2.0]), 1, "a", None, True, 2.5, (1, {"set": {1, 2}})],
        "dtypes": {name: paddle.to_tensor(1).astype(name) for name in dtypes},
        "empty": paddle.zeros([0, 3]),
    }
    paddle.save(nest, f"{prefix}.nest", protocol=2)


if __name__ == "__main__":
    found = importlib.import_module("paddle")
    record(found, HERE / f"paddle-{found.__version__}" if len(sys.argv) < 2 else sys.argv[1])
