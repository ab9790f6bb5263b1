"""Where memory ends: eager code and graphs, in Python and natively, refuse the same with one code before it is used up.

The machine of these tests has 64 MB, of which 20 MB are free whatever happens; 8 MB and more are asked for.
"""

import subprocess
import sys

import numpy as np
import pytest

import d2s
from d2s import memory
from d2s.errors import ArgumentError
from d2s.ops.dispatch import handlers
from d2s.runtime.native_items import Items

MB = 1 << 20


@pytest.fixture
def free(monkeypatch):
    """What is free, to be changed."""
    found = {"bytes": 20 * MB}
    monkeypatch.setattr(memory, "available", lambda: 64 * MB)
    monkeypatch.setattr(memory, "_free", lambda: found["bytes"])
    return found


def doubled(x, n):
    for _ in range(n):
        x = d2s.concat([x, x])
    return x.shape[0]


def kept(x, n):
    for _ in range(n):
        x = d2s.concat([x, x])
    return x


def on_its_way(x, n):
    return d2s.exp(d2s.ones([2**n, 1]) @ x.reshape([1, 1])).sum()


def repeated(x, n):
    return d2s.ones([2**n]) * x[0]


@pytest.mark.parametrize("function", [doubled, kept, on_its_way, repeated])
@pytest.mark.parametrize("native", [False, True])
def test_what_is_not_free_is_refused_as_eager_code_does(function, native, free):
    def refused(call):
        found = []
        for n in (19, 22, 23):
            try:
                call(d2s.ones([1]), d2s.to_tensor(n))
            except ArgumentError as error:
                assert error.code == "D2S0004"
                found.append(n)
        return found

    static = d2s.to_static(function)
    for n in (3, 4, 5, 6) if native else (3,):
        static(d2s.ones([1]), d2s.to_tensor(n))
    assert len(static.quick) == (native and handlers.base.classes is not None)
    assert refused(function) == [23]  # of 32 MB
    assert refused(static) == [23]
    assert refused(static) == [23]
    free["bytes"] = 40 * MB
    assert refused(static) == []


def test_what_many_values_take_together_is_asked_for(free):
    def items(x, n):
        out = []
        for _ in range(n):
            out.append(x * 2)
        return len(out)

    static, x = d2s.to_static(items), d2s.ones([MB // 4])
    for n in (3, 4, 5):
        assert static(x, d2s.to_tensor(n)) == n
    free["bytes"] = 4 * MB
    with pytest.raises(ArgumentError, match="D2S0004"):
        static(x, d2s.to_tensor(40))
    assert static(x, d2s.to_tensor(3)) == 3


def test_items_of_a_list_are_asked_for(free):
    def items(x, n):
        out = []
        for _ in range(n):
            out.append(x * 2)
        return out

    static, x = d2s.to_static(items), d2s.ones([3 * MB])
    for n in (1, 1, 1, 1):
        assert len(static(x, d2s.to_tensor(n))) == n
    free["bytes"] = 10 * MB
    with pytest.raises(ArgumentError, match="D2S0004"):
        static(x, d2s.to_tensor(1))


@pytest.mark.skipif(handlers.base.classes is None, reason="no native calls on this system")
def test_an_item_there_is_no_room_for(free):
    items = Items(handlers.base.classes)
    found = np.ones((1, 3 * MB), "float32")
    assert items.tensors(found)[0].shape == [3 * MB]
    free["bytes"] = 10 * MB
    with pytest.raises(MemoryError):
        items.tensors(found)


EAGER = """
import d2s
from d2s import memory
free = [20 << 20]
memory.available, memory._free = lambda: 64 << 20, lambda: free[0]
x = d2s.ones([4 << 20])
for _ in range(5):
    x + 1
free[0] = 10 << 20
try:
    x + 1
except d2s.errors.ArgumentError as error:
    print(error.code)
"""


def test_eager_code_asks_at_each_call():
    found = subprocess.run([sys.executable, "-c", EAGER], capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("D2S0004\n", "")


def much_and_an_item(x, n, k):
    items = []
    for _ in range(n):
        y = d2s.exp(d2s.ones([2**20]) * x[0])
        items.append((d2s.concat([y, y, y]) @ d2s.ones([3 * 2**20, 1])).sum())
    return items[k]


@pytest.mark.parametrize(
    ("function", "right", "wrong"), [(doubled, [(3,), (4,), (5,)], (24,)), (much_and_an_item, [(3, 0), (4, 1), (5, 0)], (3, 7))]
)
def test_a_run_that_failed_keeps_no_memory(function, right, wrong, free):
    static, x = d2s.to_static(function), d2s.ones([1])
    for numbers in right:
        static(x, *map(d2s.to_tensor, numbers))
    with pytest.raises((ArgumentError, IndexError)):
        static(x, *map(d2s.to_tensor, wrong))
    graph = static.variants[-1][1].graph
    assert graph._entries or handlers.base.classes is None
    held = [chunk for entry in graph._entries for (frame,) in entry.frames for chunk in frame.growing.chunks]
    assert sum(map(len, [*held, *(frame.arena for frame in graph._plain.frames.pool)])) < MB


def test_memory_on_its_way():
    assert len(memory.space(10, 100)) == 100
    with pytest.raises(ArgumentError, match=r"more than 2\*\*63 bytes"):
        memory.space(-1, 100)
    assert memory.allocated("full", (2,), np.dtype("float32")).shape == (2,)


def test_what_stays_between_runs_has_a_bound_for_all_together(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 8 << 20)
    monkeypatch.setattr(memory, "_kept", {})
    large = 1 << 20
    assert memory.kept(large + 1, 0) is None
    one, other = memory.kept(large, 0), memory.kept(large, 0)
    assert len(one) == len(other) == large
    assert memory.kept(large, 0) is None
    assert len(memory.kept(large, large)) == large  # in the place of one of them
    del one
    assert len(memory.kept(large, 0)) == large
