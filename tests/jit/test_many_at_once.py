"""Static functions in many threads, behind forks, and on many shapes: always right, and nothing piles up."""

import gc
import itertools
import os
import pathlib
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import d2s
from d2s.capture import locks, trace
from d2s.ir.text import parse
from d2s.jit.opened import Opened
from d2s.runtime import interpreter

STATUS = pathlib.Path("/proc/self/status")


def data(*shape, wants=False):
    values = np.random.default_rng(len(shape)).standard_normal(shape).astype("float32")
    return d2s.to_tensor(values, stop_gradient=not wants)


def loss(x, w):
    while x.abs().max() > 1.0:
        x = x * 0.5
    return d2s.tanh(x @ w).sum() if x.shape[0] % 2 else (x @ w).exp().mean()


def gradient(call, shape):
    """The loss of a shape and the gradient of its weight, as bytes."""
    w = data(shape[-1], 3, wants=True)
    y = call(data(*shape), w)
    y.backward()
    return y.numpy().tobytes(), w.grad.numpy().tobytes()


def test_eight_threads_and_twenty_shapes_from_cold():
    shapes = [(n % 5 + 1, n % 4 + 2) for n in range(20)]
    wanted = [gradient(loss, shape) for shape in shapes]
    static = d2s.to_static(loss)
    with ThreadPoolExecutor(8) as pool:
        for k in range(8):  # each thread begins with another shape
            order = shapes[k:] + shapes[:k]
            found = list(pool.map(lambda shape: gradient(static, shape), order))
            assert found == wanted[k:] + wanted[:k]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_forked_behind_parallel_work_does_the_same():
    """It has none of the threads: it runs alone, or starts its own."""
    static, x = d2s.to_static(lambda x, w: ((x @ w).exp() + 1.0).log().sum()), data(600, 300)
    wanted = gradient(static, (600, 300))
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda _: gradient(static, (600, 300)), range(8))) == [wanted] * 8
        child = os.fork()
        if not child:
            signal.alarm(30)
            again = [gradient(static, (600, 300)) for _ in range(3)]
            os._exit(0 if again == [wanted] * 3 and static(x, x.T).shape == [] else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not STATUS.exists(), reason="this system does not tell how much memory is used")
def test_two_thousand_shapes_leave_no_memory_behind():
    def used():
        gc.collect()
        return int(STATUS.read_text().split("VmRSS:")[1].split()[0]) // 1024

    def run(numbers):
        for n in numbers:
            x = d2s.to_tensor(np.ones((n % 50 + 2, n // 50 + 2), "float32"), stop_gradient=n % 2 > 0)
            assert static(x).shape == x.shape

    static = d2s.to_static(lambda x: d2s.tanh(x) * 2.0)
    run(range(100))
    before = used()
    run(range(100, 2100))
    assert used() - before < 50
    assert len(static.variants) <= 4


def test_what_a_sweep_runs_again_is_not_mixed_with_what_other_threads_run():
    text = "program f(x: f32[2], y: f32[2]) -> (f32[2]) { %0: f32[2] = tanh(x) %1: f32[2] = multiply(%0, %0) return %1 }"
    program, x = parse(text), data(2, wants=True)

    class Interrupted(Opened):
        def _see(self, node, inputs, results):
            if depth.pop(0):
                with ThreadPoolExecutor(1) as other:
                    other.submit(interpreter.run, program, [x.array, x.array]).result()
            super()._see(node, inputs, results)

    depth = [True, False]
    opened = Interrupted(program, [x.array, x.array], [x, None], 0)
    assert [node.op.name for node in opened._nodes] == ["tanh", "multiply"] and not depth


class Box:
    n = 0


TOTAL = 0


def of_an_attribute():
    box = Box()

    def add(x):
        box.n += 1
        return x + box.n

    return add, lambda: box.n


def of_an_attribute_that_decides():
    box = Box()
    box.m = 0

    def add(x):
        box.n = (box.n + 1) % 3
        box.m += 1
        return x.reshape([-1]) if box.n else x

    return add, lambda: box.m


def of_a_global():
    global TOTAL
    TOTAL = 0

    def add(x):
        global TOTAL
        TOTAL += 1
        return x

    return add, lambda: TOTAL


def of_a_dict():
    found = {"n": 0, "m": 1}

    def add(x):
        found["n"] += 1
        return x * found["m"]

    return add, lambda: found["n"]


def of_a_dict_under_a_lock():
    found, lock = {"n": 0}, threading.Lock()

    def add(x):
        with lock:
            found["n"] += 1
        return x * 2

    return add, lambda: found["n"]


def of_a_list():
    found = []

    def add(x):
        found.append(x.sum())
        return x

    return add, lambda: len(found)


def of_a_buffer():
    layer = d2s.nn.Layer()
    layer.register_buffer("n", d2s.zeros([1]))

    def add(x):
        layer.n.add_(d2s.ones([1]))
        return x * layer.n

    return add, lambda: int(layer.n.item())


def behind_which_something_is_printed():
    box = Box()

    def add(x):
        box.n += 1
        print(end="")
        return x + box.n

    return add, lambda: box.n


def in_front_of_a_number_of_the_run():
    found = [0]

    def add(x):
        found[0] += 1
        if float(x.numpy().max()) > 0:
            print(end="")
        return x * found[0]

    return add, lambda: found[0]


def of_a_list_that_is_looked_into():
    """Captured again at each call, until eager code makes most."""
    found = []

    def add(x):
        found.append(len(found) % 50)
        return x * found[-1]

    return add, lambda: len(found)


@pytest.fixture
def switching():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def at_once(work, count=4):
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


KEEPING = [
    of_an_attribute,
    of_an_attribute_that_decides,
    of_a_global,
    of_a_dict,
    of_a_dict_under_a_lock,
    of_a_list,
    of_a_buffer,
    behind_which_something_is_printed,
    in_front_of_a_number_of_the_run,
]


@pytest.mark.parametrize("made", KEEPING)
def test_no_change_is_lost_among_threads(made, switching):
    function, told = made()
    static = d2s.to_static(function)
    at_once(lambda: [static(d2s.ones([2])) for _ in range(500)])
    assert told() == 2000


def test_two_functions_that_change_one_object_take_turns(switching):
    box = Box()

    def up(x):
        box.n += 1
        return x + 1

    def down(x, k):
        box.n -= k
        return x - k

    up, down = d2s.to_static(up), d2s.to_static(down)
    at_once(lambda: [(up(d2s.ones([1])), down(d2s.ones([1]), 2)) for _ in range(300)])
    assert box.n == -1200


@pytest.mark.filterwarnings("ignore::d2s.jit.captures.CaptureWarning")
def test_no_change_is_lost_of_a_dict_that_gets_keys_where_others_capture(switching):
    found = {}

    @d2s.to_static
    def add(x, name):
        found[name] = found.get(name, 0) + 1
        return x

    at_once(lambda: [add(d2s.ones([2]), name) for name in "abcdefgh" * 40])
    assert found == dict.fromkeys("abcdefgh", 160)


@pytest.mark.filterwarnings("ignore::d2s.jit.captures.CaptureWarning")
def test_no_change_is_lost_among_captures_and_calls_that_are_left_to_eager_code(switching):
    function, told = of_a_list_that_is_looked_into()
    static = d2s.to_static(function)
    at_once(lambda: [static(d2s.ones([2])) for _ in range(40)], 8)
    assert told() == 320


def test_captures_lose_nothing_of_what_calls_of_other_functions_add_meanwhile(switching):
    """Nor are they captured again and again, because what they read is another by the time they run."""
    found, ended, calls = [0], threading.Event(), itertools.count(1)

    def added(k):
        def add(x):
            found.append(k)
            return x * found[-1]

        return d2s.to_static(add)

    beside, x = d2s.to_static(lambda x: (found.append(1), x * 2)[1]), d2s.ones([2])

    def keep_on():
        while not ended.wait(0.001):
            beside(x)
            next(calls)

    other = threading.Thread(target=keep_on)
    other.start()
    functions = [added(k) for k in range(10)]
    try:
        assert [function(x).tolist() for function in functions] == [[k, k] for k in range(10)]
    finally:
        ended.set()
        other.join()
    assert len(found) == 10 + next(calls)
    assert sum(len(function.recompiles()) for function in functions) <= 10


def test_what_another_thread_changes_during_a_capture_is_captured_as_it_is_then(monkeypatch):
    box, check = Box(), trace._check_guards

    def changed_meanwhile(tracer, loose):
        monkeypatch.undo()
        box.kind = "other"
        check(tracer, loose)

    box.kind = "one"
    monkeypatch.setattr(trace, "_check_guards", changed_meanwhile)
    static = d2s.to_static(lambda x: x * 2 if box.kind == "one" else x * 3)
    assert [static(d2s.ones([1])).tolist() for _ in range(3)] == [[3.0]] * 3
    assert not static.recompiles()


def test_a_step_that_waits_for_a_thread_which_waits_for_its_turn_waits_only_so_long(monkeypatch):
    monkeypatch.setattr(locks, "PATIENCE", 0.2)
    box, beside = Box(), d2s.to_static(lambda x: x + changed())

    def changed():
        box.n += 1
        return box.n

    class Elsewhere:
        def __repr__(self):
            at_once(lambda: beside(d2s.ones([1])), 1)
            return "there"

    @d2s.to_static
    def add(x, other):
        box.n += 1
        print(other, end="")
        return x + box.n

    elsewhere = Elsewhere()
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="for 0.2 seconds: it goes on beside that"):
            add(d2s.ones([1]), elsewhere)
    assert len({variant.turn for static in (add, beside) for _, variant in static.variants}) == 1


def test_a_capture_waits_for_a_call_that_has_what_it_changes(monkeypatch):
    """What the capture puts back it has found behind the call: else what that adds meanwhile would be lost."""
    monkeypatch.setattr(locks, "SOON", 0.01)
    log, taken, done, x = [], threading.Event(), threading.Event(), d2s.ones([2])

    @d2s.to_static
    def add(x):
        try:
            log.append(len(log))
        except BaseException:
            log.append("what ends a capture is nothing to catch")
        return x * len(log)

    @d2s.to_static
    def beside(x):
        return x * 2

    def take():
        with locks.acting(locks.lock_of(log)):
            taken.set()
            done.wait()
            log.append("beside")

    holder = threading.Thread(target=take)
    holder.start()
    taken.wait()
    found = []
    waiting = threading.Thread(target=lambda: found.append(add(x).tolist()))
    waiting.start()
    waiting.join(0.5)
    assert log == [] and not add.variants and beside(x).tolist() == [2.0, 2.0]  # others may capture meanwhile
    done.set()
    holder.join()
    waiting.join()
    assert found == [[2.0, 2.0]] and log == ["beside", 1] and not add.recompiles()


def test_a_capture_waits_only_so_long_for_a_call_that_has_what_it_changes(monkeypatch):
    monkeypatch.setattr(locks, "SOON", 0.01)
    monkeypatch.setattr(locks, "PATIENCE", 0.1)
    log, taken, done, x = [], threading.Event(), threading.Event(), d2s.ones([2])

    @d2s.to_static
    def add(x):
        log.append(1)
        return x * len(log)

    def take():
        with locks.acting(locks.lock_of(log)):
            taken.set()
            done.wait()

    holder = threading.Thread(target=take)
    holder.start()
    taken.wait()
    with pytest.warns(RuntimeWarning, match="for 0.1 seconds: it goes on beside that"):
        assert add(x).tolist() == [1.0, 1.0] and log == [1]
    done.set()
    holder.join()


def test_a_forked_child_has_its_turn_though_another_thread_had_it():
    box, x = Box(), d2s.ones([2])

    @d2s.to_static
    def add(x):
        box.n += 1
        return x + box.n

    for _ in range(3):
        add(x)
    (turn,) = {variant.turn for _, variant in add.variants}
    taken, done = threading.Event(), threading.Event()

    def take():
        with locks.acting(turn):
            taken.set()
            done.wait()

    holder = threading.Thread(target=take)
    holder.start()
    taken.wait()
    child = os.fork()
    if not child:
        os._exit(int(add(x).tolist() != [5.0, 5.0]))
    assert os.waitpid(child, 0)[1] == 0
    done.set()
    holder.join()


def test_functions_that_change_nothing_they_read_take_no_turns():
    box = Box()

    def told(x):
        box.last = x.sum()
        return x * 2

    for function in (lambda x: x * 2, told):
        static = d2s.to_static(function)
        static(d2s.ones([2]))
        assert [variant.turn for _, variant in static.variants] == [None]
