"""PyTorch; static is torch.compile with its default backend."""

SETUP = """
import torch

x = torch.ones(8)
w = torch.ones(8, requires_grad=True)
v = torch.ones(8)

@torch.compile
def tiny(x):
    return x * 2 + 1
"""
STATEMENTS = {"eager_add_grad": "x + w", "eager_add": "x + v", "tiny_call_eager": "x * 2 + 1", "tiny_call_static": "tiny(x)"}
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
