"""d2s, from the tree this file stands in."""

SETUP = """
import d2s

x = d2s.to_tensor([1.0] * 8)
w = d2s.to_tensor([1.0] * 8, stop_gradient=False)
v = d2s.to_tensor([1.0] * 8)

@d2s.to_static
def tiny(x):
    return x * 2 + 1
"""
STATEMENTS = {"eager_add_grad": "x + w", "eager_add": "x + v", "tiny_call_eager": "x * 2 + 1", "tiny_call_static": "tiny(x)"}
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
