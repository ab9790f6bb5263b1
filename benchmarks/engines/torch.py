"""PyTorch; static is torch.compile with its default backend."""

SETUP = """
import torch

x = torch.ones(8)
w = torch.ones(8, requires_grad=True)
v = torch.ones(8)

@torch.compile
def tiny(x):
    return x * 2 + 1

def counter(x, n):
    i = torch.tensor(0)
    while i < n:
        if i % 2 == 0:
            x = x * 0.5 + 1.0
        else:
            x = x - 0.25
        i = i + 1
    return x

n = torch.tensor(1000)
"""
STATEMENTS = {
    "eager_add_grad": "x + w",
    "eager_add": "x + v",
    "tiny_call_eager": "x * 2 + 1",
    "tiny_call_static": "tiny(x)",
    "counter1000": "counter(x, n)",  # torch.compile breaks its graph at each test and runs it as eager code does
}
_FIRST = """
import time
import torch

x = torch.ones(8)
start = time.perf_counter()
x + x
print((time.perf_counter() - start) * 1e3)
"""
PROGRAMS = {
    "import": "import time; start = time.perf_counter(); import torch; print((time.perf_counter() - start) * 1e3)",
    "first_call_cold": _FIRST,
    "first_call_warm": _FIRST,
}
