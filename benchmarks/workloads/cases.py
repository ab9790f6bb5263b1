"""Whole workloads, each run eagerly and as a graph: networks, loops on tensors, small calls.

A case is a function that every file of this folder has (or has not: then that engine is not measured). It is called with one of
the engine's MODES and gives what is timed. The file of d2s is written with Paddle's names: it is Paddle's file, too.

>>> CASES["newton"].says
'square roots of 64 floats by a `while` until a tensor of errors is below 1e-4'
>>> MODES["d2s"]
('eager', 'static')
"""

from typing import NamedTuple


class Workload(NamedTuple):
    """Microseconds per run."""

    says: str


MODES = {"d2s": ("eager", "static"), "torch": ("eager", "compile"), "jax": ("jit",), "paddle": ("eager", "static")}
CASES = {
    "lenet_train": Workload("a step of LeNet, batch 64, Adam"),
    "lenet_infer_b1": Workload("LeNet, one image"),
    "lenet_infer_b64": Workload("LeNet, 64 images"),
    "mlp_infer_b1": Workload("784-512-512-10, one row"),
    "mlp_train": Workload("a step of 784-512-512-10, batch 128, Adam"),
    "lstm_train": Workload("a step of an LSTM cell in a Python loop of 50, batch 16, 64 → 128, Adam"),
    "lstm_infer_b1": Workload("that loop, batch 1"),
    "counter1000": Workload("`while i < n` 1,000 times with an `if` on `i % 2`, 8 floats, tensors all"),
    "newton": Workload("square roots of 64 floats by a `while` until a tensor of errors is below 1e-4"),
    "block_infer": Workload("a pre-norm Transformer block, [8,128,256], 4 heads"),
    "block_train": Workload("a step of that block, SGD"),
    "resnet18_infer": Workload("ResNet-18 for 32x32 images without max-pool, batch 8"),
    "resnet18_train": Workload("a step of it, batch 16, SGD"),
    "chain": Workload("gelu · sigmoid + tanh, exp, abs, log, sum over the last axis of [512,2048]"),
    "tiny_call": Workload("x * 2 + 1 on 8 floats"),
    "matmul768": Workload("x @ y, 768 x 768"),
    "eager_add_grad": Workload("x + w on 8 floats, w wants a gradient"),
}
