"""d2s, from the tree this file stands in."""

SETUP = """
import d2s

x = d2s.to_tensor([1.0] * 8)
w = d2s.to_tensor([1.0] * 8, stop_gradient=False)
v = d2s.to_tensor([1.0] * 8)

@d2s.to_static
def tiny(x):
    return x * 2 + 1

@d2s.to_static
def counter(x, n):
    i = d2s.to_tensor(0)
    while i < n:
        if i % 2 == 0:
            x = x * 0.5 + 1.0
        else:
            x = x - 0.25
        i = i + 1
    return x

n = d2s.to_tensor(1000)
"""
STATEMENTS = {
    "eager_add_grad": "x + w",
    "eager_add": "x + v",
    "tiny_call_eager": "x * 2 + 1",
    "tiny_call_static": "tiny(x)",
    "counter1000": "counter(x, n)",
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
