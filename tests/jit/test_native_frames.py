"""Frames of native calls: as many as calls at the same time, with the memory that their runs took; no call runs twice."""

import sys
import threading

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.ir.text import parse
from d2s.jit.graph import Graph
from d2s.ops.dispatch import handlers
from d2s.runtime.call import Call
from d2s.runtime.frames import Frames
from d2s.runtime.growing import Growing
from d2s.runtime.native_call import Entry
from d2s.runtime.native_text import CALL, HEAD

pytestmark = pytest.mark.skipif(handlers.base.classes is None, reason="no native calls on this system")
W = d2s.to_tensor(np.random.default_rng(0).standard_normal((16, 16)).astype("float32") * 0.1)
LAYERS = nn.LayerList([nn.Linear(16, 16) for _ in range(3)])


def rows(n, wants=False):
    return d2s.to_tensor(np.ones((n, 16), "float32"), stop_gradient=not wants)


@pytest.fixture
def counted(monkeypatch):
    """How many frames were made for native calls, and how many runs went through Python."""
    found = {"frames": 0, "runs": 0}

    def counting(owner, name, key):
        plain = getattr(owner, name)

        def one_more(*args):
            found[key] += 1
            return plain(*args)

        monkeypatch.setattr(owner, name, one_more)

    counting(Entry, "add", "frames")
    counting(Frames, "run", "runs")
    return found


def around_a_step(x):
    y = d2s.tanh(x @ W)
    if y.sum() > 0:
        y = d2s.tanh(y @ W) @ W + d2s.exp(y @ W)
    print(end="")
    if y.sum() > 0:
        y = d2s.tanh(y @ W) @ W + d2s.exp(y @ W)
    return y


def a_list_of_a_loop(x):
    out = []
    for _ in range(d2s.to_tensor(5)):
        out.append(d2s.exp(x * 2) @ W)
    return out


def numpy_decides(x):
    for _ in range(3):
        x = d2s.tanh(x @ W) @ W
        if x.numpy()[0, 0] > 1e30:
            print(end="")
    return x


def layers_that_print(x):
    for k, layer in enumerate(LAYERS):
        x = d2s.tanh(layer(x)) @ W
        print(k, float(x.mean()))
    return x


def a_tensor_that_grows(x):
    for _ in range(d2s.to_tensor(3)):
        x = d2s.concat([x, x])
    return x


def calls_in_one_another(x):
    def deep(x, n):
        return x.sum() if n <= 0 else deep(x + 1, n - 1) + deep(x * 0.5, n - 1)

    return deep(x, d2s.to_tensor(4))


PROGRAMS = [around_a_step, a_list_of_a_loop, numpy_decides, layers_that_print, a_tensor_that_grows, calls_in_one_another]


@pytest.mark.parametrize("function", PROGRAMS)
def test_calls_that_take_more_than_a_frame_has_add_none_and_run_once(function, counted):
    static = d2s.to_static(function)
    for n in (2, 3, 4, 5, 6):
        static(rows(n))
    before = dict(counted)
    for n in (3000, 3000, 20_000, 20_000, 7, 20_001, *[3000] * 20):
        static(rows(n))
    assert counted == before
    for n in (7, 20_000):
        assert all(map(np.array_equal, arrays_of(static(rows(n))), arrays_of(function(rows(n)))))


def arrays_of(found):
    return [t.numpy() for t in (found if isinstance(found, list) else [found])]


def test_sweeps_and_what_they_keep(counted):
    """Residuals of a loop lie on stacks, which a run makes larger."""

    def function(x, n):
        for _ in range(n):
            x = d2s.tanh(x @ W)
        return x.sum()

    def gradient(call, rows_, trips):
        x = rows(rows_, wants=True)
        call(x, d2s.to_tensor(trips)).backward()
        return x.grad.numpy().tobytes()

    static = d2s.to_static(function)
    for n in (2, 3, 4, 5):
        gradient(static, n, n)
    before = dict(counted)
    sizes = [(100, 40), (100, 40), (3000, 3), (3000, 90), (3000, 90), (2, 2)]
    found = [gradient(static, *size) for size in sizes]
    assert counted == before
    assert found == [gradient(function, *size) for size in sizes]


DOUBLE = "program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 }"


def meanwhile(monkeypatch, owner, name, do):
    """Has another thread do something where this one is about to do what has this name."""
    plain, others = getattr(owner, name), []

    def interrupted(*args):
        if not others:
            others.append(threading.Thread(target=do))
            others[0].start()
            others[0].join()
        return plain(*args)

    monkeypatch.setattr(owner, name, interrupted)


def test_threads_that_begin_at_once_have_one_entry(monkeypatch):
    graph, x, found = Graph(parse(DOUBLE)), rows(1).reshape([16]), []
    graph([x])
    meanwhile(monkeypatch, Call, "entry", lambda: found.append(graph.entry([x])))
    found.append(graph.entry([x]))
    assert found[0] is found[1]
    assert found[0]._behind is None
    assert found[0].call((x,)).tolist() == [2.0] * 16


def test_no_way_is_lost_where_threads_begin_two_at_once(monkeypatch):
    graph, x, y = Graph(parse(DOUBLE)), d2s.ones([16]), d2s.to_tensor(np.ones(16, "float32"), stop_gradient=False)
    graph.entry([x])
    meanwhile(monkeypatch, Call, "entry", lambda: graph([y]))
    graph([x])
    assert [graph.entry([x]).call((t,)).stop_gradient for t in (x, y)] == [True, False]


def test_frames_are_made_once(monkeypatch):
    call, found = Call(parse(DOUBLE)), []
    run = [np.ones(4, "float32")]
    meanwhile(monkeypatch, Frames, "__init__", lambda: (call(run), found.append(call.frames)))
    call(run)
    assert found == [call.frames]
    assert len(call.frames.pool) == 1


def entry_that_keeps_residuals():
    """A function whose forward half pushes on a stack at each trip, its gradient, and the entry of that half."""

    def function(x, n):
        for _ in range(n):
            x = d2s.tanh(x @ W)
        return x.sum()

    static = d2s.to_static(function)

    def gradient(call, n, trips):
        x = rows(n, wants=True)
        call(x, d2s.to_tensor(trips)).backward()
        return x.grad.numpy().tobytes()

    for n in (2, 3, 4, 5):
        gradient(static, n, n)
    return function, static, gradient


def frames_of(static):
    """Of the native calls that a gradient of one input is recorded by."""
    return [frame for entry in static.variants[0][1].graph._entries for (frame,) in entry.frames]


def in_calls_of(names, do):
    """Does something at each call that functions of these names make; what `sys.setprofile` takes."""

    def look(frame, event, _):
        caller = frame.f_back if event == "call" else frame
        if event in ("call", "c_call") and caller is not None and caller.f_code.co_name in names:
            do()

    return look


@pytest.mark.parametrize("names", [("more", "_grow"), ("_work_in",)])
@pytest.mark.parametrize("at", range(6))
def test_an_interrupt_while_a_frame_gets_memory_leaves_it_whole(names, at):
    function, static, gradient = entry_that_keeps_residuals()
    seen = []

    def interrupt():
        seen.append(0)
        if len(seen) == at + 1:
            sys.setprofile(None)
            raise KeyboardInterrupt

    try:
        sys.setprofile(in_calls_of(names, interrupt))
        gradient(static, 1000, 40)
        interrupted = False
    except KeyboardInterrupt:
        interrupted = True
    finally:
        sys.setprofile(None)
    assert interrupted
    for frame in frames_of(static):
        assert (frame.stacks.ctypes.data, frame.room) == tuple(frame.registers[-4:-2].tolist())
    assert gradient(static, 4, 5) == gradient(function, 4, 5)


def test_a_frame_that_a_call_takes_while_another_is_added_is_not_free():
    graph, x = Graph(parse(DOUBLE)), d2s.ones([16])
    graph([x])
    entry = graph.entry([x])
    free = (*HEAD, *CALL).index("free")

    def listed():
        cells, found = {frame.cells.ctypes.data: frame.cells for (frame,) in entry.frames}, []
        following = int(entry.head[free])
        while following:
            found.append(following)
            following = int(cells[following][0])
        return found

    for n in range(12):
        calls, taken = [], []

        def take(n=n, calls=calls, taken=taken):
            calls.append(0)
            if len(calls) == n + 1:
                sys.setprofile(None)
                (first, *others) = listed()
                taken.append(first)
                entry.head[free] = others[0] if others else 0

        entry.add()
        sys.setprofile(in_calls_of(("add",), take))
        entry.add()
        sys.setprofile(None)
        assert not {*taken}.intersection(listed())
        assert taken or n > 3, "fewer calls than are looked at"


def test_a_run_that_an_interrupt_ends_keeps_no_memory(monkeypatch):
    function, static, gradient = entry_that_keeps_residuals()
    plain, times = Growing.more, []

    def interrupted(self, *args):
        times.append(0)
        if len(times) == 3:
            raise KeyboardInterrupt
        return plain(self, *args)

    monkeypatch.setattr(Growing, "more", interrupted)
    with pytest.raises(KeyboardInterrupt):
        gradient(static, 1000, 400)
    for frame in frames_of(static):
        assert (len(frame.growing.chunks), frame.growing.buffers) == (1, {})
    assert gradient(static, 4, 5) == gradient(function, 4, 5)
