"""d2s, from the tree this file stands in."""

SETUP = """
import d2s

x = d2s.to_tensor([1.0] * 8)
v = d2s.to_tensor([1.0] * 8)
"""
STATEMENTS = {
    "eager_add": "x + v",
}
_FIRST = """
import time
import d2s

x = d2s.to_tensor([1.0] * 8)
start = time.perf_counter()
x + x
print((time.perf_counter() - start) * 1e3)
"""
PROGRAMS = {
    "import": "import time; start = time.perf_counter(); import d2s; print((time.perf_counter() - start) * 1e3)",
    "first_call_cold": _FIRST,
    "first_call_warm": _FIRST,
}
