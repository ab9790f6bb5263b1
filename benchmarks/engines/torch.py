"""PyTorch."""

SETUP = """
import torch

x = torch.ones(8)
v = torch.ones(8)
"""
STATEMENTS = {
    "eager_add": "x + v",
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
