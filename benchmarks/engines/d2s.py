"""d2s, from the tree this file stands in."""

SETUP = """
import d2s

x = d2s.to_tensor([1.0] * 8)
v = d2s.to_tensor([1.0] * 8)
scope = {f"k{n}": n for n in range(20)}
scope["d2s"] = d2s
text = "def f(x):\\n    return x * (" + " + ".join(f"k{n}" for n in range(20)) + ")\\n"
exec(text, scope)
static = d2s.to_static(scope["f"])
for _ in range(3):
    static(x)
matches = static.variants[0][1].matches
"""
STATEMENTS = {
    "eager_add": "x + v",
    "guards_20": "matches((x,))",
}
_FIRST = """
import time
import d2s

x = d2s.to_tensor([1.0] * 8)
start = time.perf_counter()
x + x
print((time.perf_counter() - start) * 1e3)
"""
_CAPTURE = """
import time
import d2s

{net}
static = d2s.to_static(net)
start = time.perf_counter()
static.forward.program(x)
print((time.perf_counter() - start) * 1e3)
"""
_MLP = """
parts = [part for _ in range(100) for part in (d2s.nn.Linear(8, 8), d2s.nn.ReLU())]
net, x = d2s.nn.Sequential(*parts), d2s.to_tensor([[1.0] * 8])
"""
_RESNET = "net, x = d2s.vision.models.resnet50(), d2s.ones([1, 3, 64, 64])"
_CONVERT = """
import time
import d2s

block = "    if x.sum() > 0:\\n        x = x * 2\\n    else:\\n        x = x - 1\\n    y = g(x, y)[0] + x.shape[0]\\n"
text = "def f(x, g):\\n    y = 0\\n" + block * 39 + "    return y\\n"
exec(text, scope := {})
assert len(text.splitlines()) > 195
d2s.to_static(lambda x: x).text
start = time.perf_counter()
d2s.convert.converted(scope["f"])
print((time.perf_counter() - start) * 1e3)
"""
_STEPS = """
import time
import d2s
from d2s import nn


def mlp():
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))


def lenet():
    stages = [layer for i, o in ((1, 20), (20, 50)) for layer in (nn.Conv2D(i, o, 5), nn.ReLU(), nn.MaxPool2D(2, 2))]
    return nn.Sequential(*stages, nn.Flatten(), nn.Linear(800, 10))


def trained(network):
    optimizer = d2s.optimizer.Adam(1e-3, parameters=network.parameters())

    @d2s.jit.to_static
    def step(x, y):
        nn.functional.cross_entropy(network(x), y).backward()
        optimizer.step()
        optimizer.clear_grad()

    return step


def taken(step, count, *shape):
    start = time.perf_counter()
    step(d2s.ones([count, *shape]), d2s.zeros([count, 1], "int64"))
    return (time.perf_counter() - start) * 1e3


step = trained({network}())
first = taken(step, 64, *{shape})
"""
_MLP_STEPS, _LENET_STEPS = _STEPS.format(network="mlp", shape=(784,)), _STEPS.format(network="lenet", shape=(1, 28, 28))
_LATER = """
for _ in range(3):
    known = taken(step, 64, 784)
"""
PROGRAMS = {
    "lenet_step_cold": _LENET_STEPS + "print(first)",
    "lenet_step_warm": _LENET_STEPS + "print(first)",
    "mlp_step_cold": _MLP_STEPS + "print(first)",
    "mlp_step_warm": _MLP_STEPS + "print(first)",
    "mlp_second_model": _MLP_STEPS + _LATER + "print(taken(trained(mlp()), 64, 784))",
    "mlp_second_batch": _MLP_STEPS + _LATER + "print(taken(step, 32, 784) - known)",
    "capture_mlp": _CAPTURE.format(net=_MLP),
    "capture_resnet50": _CAPTURE.format(net=_RESNET),
    "convert_200": _CONVERT,
    "import": "import time; start = time.perf_counter(); import d2s; print((time.perf_counter() - start) * 1e3)",
    "first_call_cold": _FIRST,
    "first_call_warm": _FIRST,
}
