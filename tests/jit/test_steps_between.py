"""Python's steps between native calls, on the tape, too: text, results, gradients, errors and order are eager code's."""

import random
import sys
import types

import numpy as np
import pytest

import d2s
from d2s.jit.quick import MISSED
from d2s.ops.dispatch import handlers

pytestmark = pytest.mark.skipif(handlers.base.classes is None, reason="no native calls on this system")
WEIGHT = d2s.to_tensor([3.0, -4.0], stop_gradient=False)


def tensor(*values, wants=True):
    return d2s.to_tensor(np.array(values, "float32"), stop_gradient=not wants)


def line(x):
    print("a line")
    return x * 2.0


def numbers(x):
    y = d2s.tanh(x) * x
    print("sum", y.sum().item(), f"{float(x.max()):.2f}")
    return y


def tensors(x):
    y = x * WEIGHT
    print(y)
    z = d2s.exp(x)
    print("of x", z, x, "of none", y.detach(), z > 1.0, sep=" | ")
    return y + 1.0


def several(x):
    y, z = x * 2.0, d2s.exp(x)
    print(y, "twice", y)
    return y, x, {"z": z, "again": y}


def without(x):
    print("in no_grad")
    with d2s.no_grad():
        y = x * 2.0
    print(y)
    return y + x


def drawn(x):
    y = d2s.rand([2]) * x
    print(y)
    return y


def on_a_path(x):
    if x.sum() > 0:
        print("positive")
    return x * 2.0


def on_either_path(x):
    print("before")
    if x.sum() > 0:
        y = d2s.tanh(x)
        print("arm", y, x, y.sum().item())
    else:
        y = x - 1.0
        print(f"else {float(y.sum()):.3f}")
    print("behind", y)
    return y * x


def on_paths_in_paths(x):
    y = x * WEIGHT
    if y.sum() > 0:
        print("outer", y)
        z = d2s.exp(y)
        if z.sum() > 50.0:
            print("inner", z, "of", y, x.sum().item())
            z = z * 2.0
        elif x[0] > 0.7:
            w = z + x
            print("middle", w)
        print("end of arm", z)
        y = z
    else:
        print("none")
    return y


def left_early(x):
    if x.sum() < 0:
        print("early", x * 2.0)
        return x * 3.0
    print("late")
    return x + 1.0


def raising(x):
    y = x * 2.0
    if x.sum() < 0:
        print("below", y)
        if x[1] < -10.0:
            raise ValueError("much")
    return y


def of_numpy(x):
    a = x.numpy()
    if np.any(np.isnan(a)):
        return x * 0.0
    return x * float(a.max()) + d2s.to_tensor(a) * WEIGHT


def in_arms(x):
    y = d2s.exp(x)
    if float(np.abs(y.numpy()).sum()) > 3.0:
        print("large", y)
        z = y * float(y.numpy().mean())
        if z.sum() > 10.0:
            z = d2s.tanh(z) + y
    else:
        z = y - d2s.to_tensor(np.sign(x.numpy()))
    return z * x


def in_a_loop(x):
    total, y = 0.0, x
    while y.sum() < 20.0:
        total += float(np.float32(y.numpy()[0]))
        print("trip", total)
        y = y * y + WEIGHT * 0.0 + 1.0
        if y.max() > 15.0:
            print("leaves", y)
            break
    return y * total, total


def left_in_the_midst(x):
    """Bools of run time go into native calls that are on the tape."""
    i = 0
    while True:
        i += 1
        x = x * 1.3
        print(i, x.sum().item())
        if x.abs().sum() > 5:
            return x * i
        if i > 6:
            break
    return x


def loops_in_loops(x):
    for i in range(3):
        y = x * i
        while y.sum() < 2.0:
            print("in", i, float(y.numpy()[0]))
            y = y + 1.0
            if y.max() > 3.0:
                continue
            x = x + 0.1 * y
        print("out", i)
    return x * y


def over_rows(x):
    found = []
    for row in d2s.stack([x, x * 2.0, x - 1.0]):
        print("row", row.numpy().tolist())
        if float(row.sum().numpy()) > 2.0:
            found.append(row * WEIGHT)
    return sum(found) if found else x


def tried(x):
    try:
        y = x * (10 // int(x.numpy()[0]))
    except ZeroDivisionError as error:
        print("zero", error)
        y = x
    return y


def one_or_two(x):
    """What is multiplied may be one tensor, or two: contributions are added in the order of eager code."""
    y = d2s.tanh(x)
    z = y
    if float(x.numpy().sum()) > 1.0:
        print("another")
        z = d2s.exp(y)
    w = y * 0.3 + z * 0.7
    return (w * y + z * y) * z, z


def rounded(x):
    """Numbers of Python's, and texts that are returned."""
    loss = (x * WEIGHT).sum()
    return loss, round(float(loss), 3), f"loss {loss.item():.3f}"


def by_chance(x):
    if random.random() < 0.5:
        return x * 2.0
    return x * (1.0 + random.random())


LONG = [over_rows, tried]  # which go the long way
FUNCTIONS = [
    *LONG,
    left_in_the_midst,
    loops_in_loops,
    of_numpy,
    in_arms,
    in_a_loop,
    one_or_two,
    rounded,
    by_chance,
    line,
    numbers,
    tensors,
    several,
    without,
    drawn,
]
FUNCTIONS += [on_a_path, on_either_path, on_paths_in_paths, left_early, raising]
VALUES = [(1.0, 2.0), (0.5, -3.0), (3.0, 0.25), (0.9, 0.1)]


def swept(call, capsys, *values, wants=True):
    """What a call prints and gives, and the gradients behind it."""
    d2s.seed(5)
    random.seed(5)
    x = tensor(*values, wants=wants)
    WEIGHT.clear_grad()
    found = call(x)
    results = _leaves(found)
    for y in results:
        if isinstance(y, d2s.Tensor) and not y.stop_gradient and not y.is_leaf:
            y.sum().backward(retain_graph=True)
    grads = [None if t.grad is None else t.grad.numpy().tobytes() for t in (x, WEIGHT)]
    told = [(y.numpy().tobytes(), y.stop_gradient, y is x) if isinstance(y, d2s.Tensor) else (type(y), y) for y in results]
    return told, grads, capsys.readouterr().out


def _leaves(found):
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, tuple) else None
    return [found] if parts is None else [leaf for part in parts for leaf in _leaves(part)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("order", [(True, False), (False, True)])
def test_native_calls_are_as_eager_ones(function, order, capsys):
    """In both orders of calls on the tape and off it."""
    static = d2s.to_static(function)
    for wants in (*order, *order, *order):
        for values in VALUES:
            expected = swept(function, capsys, *values, wants=wants)
            assert swept(static, capsys, *values, wants=wants) == expected
    assert len(static.quick) == (function not in LONG)
    for wants, quick in zip(order, static.quick * 2, strict=False):
        d2s.seed(5)
        assert quick(tensor(1.0, 2.0, wants=wants)) is not MISSED
        capsys.readouterr()


def read_behind_a_step_first(x):
    y = x + d2s.to_tensor(np.ones([2, 30], "float32"))
    return y * x + x * x


def waiting_for_a_branch(x):
    s = random.random()
    y = x * s
    if s > 0.0:
        print("in the branch")
        z = x * x * 0.3 + x * 1.7
    else:
        z = x
    return y * 0.9 + z


def what_went_in_by_a_loop(x):
    s, z = random.random(), x * 2.0
    for _ in d2s.arange(2):
        z = x
    print("behind the loop")
    return z * z * s + x * x * 0.3 + z * x + x * 1.3


def one_by_a_loop(x):
    s, z, w = random.random(), x * 2.0, x * 3.0
    for _ in d2s.arange(2):
        z, w = w, w
    print("behind the loop")
    return z * z * s + w * w * 0.3 + z * w + w * 1.3


def handed_out_behind(x):
    y = WEIGHT * random.random()
    return y, x * 2.0


@pytest.mark.parametrize(
    "function",
    [read_behind_a_step_first, waiting_for_a_branch, what_went_in_by_a_loop, one_by_a_loop, handed_out_behind],
    ids=lambda f: f.__name__,
)
def test_contributions_and_hooks_in_the_order_of_the_statements(function, capsys):
    static = d2s.to_static(function)
    for seed in range(6):
        found = []
        for call in (function, static):
            random.seed(seed)
            x = d2s.to_tensor(np.random.RandomState(seed).randn(2, 30).astype("float32"), stop_gradient=False)
            results, seen = _leaves(call(x)), []
            for n, y in enumerate(results):
                y.register_hook(lambda g, n=n, seen=seen: seen.append((n, g.numpy().tobytes())))
            sum([(y * y).sum() for y in results]).backward()
            found.append((x.grad.numpy().tobytes(), seen, capsys.readouterr().out))
        assert found[0] == found[1]
    assert len(static.quick) == 1


def read_behind_a_step_by_another(x):
    s, y = float(x.numpy().max()), x * x.mean()
    z = x * s
    return x * z * random.random() + x * x * 0.3 + x * 1.3 + y * 0.9 + x


def test_second_order_in_the_order_of_the_statements():
    static = d2s.to_static(read_behind_a_step_by_another)
    for seed in range(6):
        found = []
        for call in (read_behind_a_step_by_another, static):
            random.seed(seed)
            x = d2s.to_tensor(np.random.RandomState(seed).randn(2, 30).astype("float32"), stop_gradient=False)
            y = call(x)
            (g,) = d2s.grad([(y * y).sum() + (y * 0.7).sum()], [x], create_graph=True)
            (g * g).sum().backward()
            found.append((g.numpy().tobytes(), x.grad.numpy().tobytes()))
        assert found[0] == found[1]
    assert len(static.quick) == 1


class Refusing:
    """A stream that raises at a text, as Ctrl-C does while it is written."""

    def __init__(self, error):
        self.error = error

    def write(self, text):
        if self.error is not None:
            raise self.error


@pytest.mark.parametrize("error", [ValueError("full"), KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_what_ends_a_step_leaves_what_was_changed_by_then(error, monkeypatch):
    def call(x):
        box.n += 1
        box.y = x * box.n
        print("a line")
        box.n += 1
        return box.y + x

    seen = []
    for function in (call, d2s.to_static(call)):
        box, found = types.SimpleNamespace(n=0, y=None), []
        for raised in (None, error, None, None, None, error, None):
            with monkeypatch.context() as patched:
                patched.setattr(sys, "stdout", Refusing(raised))
                try:
                    found.append(function(tensor(1.0, 2.0)).tolist())
                except type(error):
                    found.append("ended")
            found += [box.n, box.y.tolist()]
        seen.append(found)
    assert seen[0] == seen[1]
    assert seen[0].count("ended") == 2


def test_within_no_grad(capsys):
    static = d2s.to_static(tensors)
    for _ in range(3):
        swept(static, capsys, 1.0, 2.0)
    with d2s.no_grad():
        static(tensor(1.0, 2.0))
        capsys.readouterr()
        for call in (tensors, static):
            assert call(tensor(1.0, 2.0)).stop_gradient
        assert static.quick[0](tensor(1.0, 2.0)) is not MISSED
    capsys.readouterr()
    with d2s.no_grad():
        for call in (tensors, static):
            call(tensor(1.0, 2.0))
    text = capsys.readouterr().out
    assert text[: len(text) // 2] == text[len(text) // 2 :]


def test_hooks_and_second_order(capsys):
    static = d2s.to_static(numbers)
    for _ in range(3):
        swept(static, capsys, 1.0, 2.0)
    found = []
    for call in (numbers, static):
        x, seen = tensor(1.0, 2.0), []
        y = call(x)
        y.register_hook(lambda g, seen=seen: seen.append(g.tolist()))
        (g,) = d2s.grad(y.sum(), x, create_graph=True)
        (second,) = d2s.grad((g * g).sum(), x)
        found.append((y.tolist(), g.tolist(), second.tolist(), seen))
    assert found[0] == found[1]
    capsys.readouterr()


def test_what_is_changed_in_place_goes_the_long_way_on_the_tape(capsys):
    buffer = d2s.zeros([2])

    def function(x):
        print("adding", x)
        buffer.add_(x.detach())
        return x * buffer

    static = d2s.to_static(function)
    found = []
    for call in (function, static):
        buffer.zero_()
        found.append([swept(call, capsys, 1.0, 2.0) for _ in range(4)])
    assert found[0] == found[1]


def test_what_was_printed_before_a_raise_is_printed(capsys):
    static = d2s.to_static(raising)
    for _ in range(4):
        swept(static, capsys, 1.0, 2.0)
    for wants in (True, False):
        texts = []
        for call in (raising, static):
            with pytest.raises(ValueError, match="much"):
                call(tensor(1.0, -20.0, wants=wants))
            texts.append(capsys.readouterr().out)
        assert texts[0] == texts[1] != ""


def test_a_program_without_its_steps_is_one(capsys):
    """The passes and the verifier find it so."""
    with d2s.config(CHECK=1):
        for function in (on_either_path, on_paths_in_paths, left_early):
            static = d2s.to_static(function)
            for _ in range(3):
                for values in VALUES:
                    swept(static, capsys, *values)
            assert len(static.quick) == 1


def test_of_a_batch_of_any_size(capsys):
    """What is long, or may be, waits for its steps in order."""

    def function(x):
        y = (x * WEIGHT).sum(1)
        print("rows", y.shape[0], float(y.numpy().max()))
        return y / y.shape[0] + d2s.zeros([x.shape[0]]), x * float(np.ptp(x.numpy()))

    static, batches = d2s.to_static(function), [np.arange(2.0 * n, dtype="float32").reshape(n, 2) for n in (2, 3, 5, 7, 2)]
    for wants in (True, False) * 3:
        for batch in batches:
            found = []
            for call in (function, static):
                x = d2s.to_tensor(batch, stop_gradient=not wants)
                WEIGHT.clear_grad()
                y, z = call(x)
                (y.sum() + z.sum()).backward()
                grads = [WEIGHT.grad.tolist(), x.grad.tolist() if wants else None]
                found.append((y.tolist(), z.tolist(), grads, capsys.readouterr().out))
            assert found[0] == found[1]
    assert static.recompiles() == ["x: f32[2,2] → f32[3,2]"]
    assert all(quick(d2s.to_tensor(batches[2])) is not MISSED for quick in static.quick[:1])
    capsys.readouterr()


ENDS = {
    "of the first call": lambda x, box: (print("before"), x.reshape([int(x.sum())])),
    "a step": lambda x, box: (print("before"), float(x.numpy()[int(x[0])]), print("behind")),
    "a step's TypeError": lambda x, box: (print("before"), f"{x.numpy():d}" if x[0] > 2 else ""),
    "behind a step": lambda x, box: (print("before"), x.reshape([int(x.numpy()[0])]), print("behind")),
}


def _store_and_step(x, box):
    box.count += 1
    box.total = box.total + x
    print("count", box.count)
    box.last = float(x.numpy()[int(x[0])])
    return box.total * box.last


def _raise_behind(x, box):
    box.count += 1
    print("count", box.count)
    if x[0] > 2:
        box.count += 10
        print("too much")
        raise ValueError(f"of {x.sum().item()} behind {box.count}")
    return x * box.count


def _checked(x, box):
    assert x[0] < 3, f"the first is {x[0].item()}, of {x}"
    box.count += 1
    return x * 2.0


ENDS |= {"behind a store": _store_and_step, "raised": _raise_behind, "asserted": _checked}


@pytest.mark.parametrize("function", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("wants", [True, False])
def test_errors_come_where_they_do_eagerly(function, wants, capsys):
    """What was printed and changed by then is as eagerly, once; the next call goes on as if nothing had been."""
    found = []
    for call in (function, d2s.to_static(function)):
        box, told = types.SimpleNamespace(count=0, total=tensor(0.0, 0.0, wants=False), last=0.0), []
        for values in [(1.0, 1.0), (0.0, 2.0), (1.0, 1.0), (0.0, 2.0), (1.0, 1.0), (5.0, 1.0), (3.0, 0.5), (1.0, 1.0)]:
            try:
                made = call(tensor(*values, wants=wants), box)
                told.append([leaf.tolist() if isinstance(leaf, d2s.Tensor) else leaf for leaf in _leaves(made)])
            except d2s.errors.D2SError as error:
                told.append((type(error), error.code))
            except (ValueError, IndexError, TypeError, AssertionError) as error:
                told.append((type(error), str(error).splitlines()[0]))  # pytest adds to what an assert says
            told.append((box.count, box.total.tolist(), box.total.stop_gradient, box.last, capsys.readouterr().out))
        found.append(told)
    assert found[0] == found[1]


def test_steps_in_the_order_of_lists_they_see(capsys):
    """A list from outside that calls make longer is as long as eagerly where a step looks at it."""
    found = []
    for static in (False, True):
        seen = []

        def function(x, seen=seen):
            print(len(seen), "before")
            seen.append(float(x.numpy().sum()))
            return x * 2.0

        call = d2s.to_static(function) if static else function
        found.append([(call(tensor(k, 1.0)).tolist(), capsys.readouterr().out, list(seen)) for k in range(6)])
    assert found[0] == found[1]


def test_methods_have_native_calls_each():
    """Also those that were bound before anything was captured."""

    class Counter:
        def __init__(self):
            self.count = 0

        @d2s.to_static
        def add(self, x, *, by=1.0):
            self.count += 1
            return x * by + self.count

    one, two = Counter(), Counter()
    bound, other = one.add, two.add
    for k in range(1, 5):
        assert bound(tensor(1.0), by=2.0).tolist() == [2.0 + 2 * k - 1] and one.add(tensor(1.0)).tolist() == [1.0 + 2 * k]
        assert other(tensor(1.0)).tolist() == [1.0 + k]
    assert (one.count, two.count) == (8, 4)
    assert any(quick(one, tensor(1.0), by=2.0) is not MISSED for quick in bound.quick)
    with pytest.raises(d2s.errors.DTypeError, match="missing"):
        bound()


def test_an_array_becomes_a_tensor_once():
    static, x = d2s.to_static(lambda x: d2s.to_tensor(np.sqrt((x * 2.0).numpy()))), tensor(2.0, 8.0, wants=False)
    for _ in range(3):
        static(x)
    made = []
    sys.setprofile(lambda frame, event, _: event == "call" and made.append(frame.f_code.co_name))
    try:
        found = static(x)
    finally:
        sys.setprofile(None)
    assert found.tolist() == [2.0, 4.0] and made.count("__init__") == 2, made  # what the array is of, and the result


KEPT = []


def kept_and_given_back_on_a_path(x):
    y = x * 1.0
    KEPT.append(y)
    print("kept")
    if x.sum() > 1.0:
        return y * 2.0
    return y


def kept_behind_a_branch(x):
    y = x * 1.0
    z = y
    if x.sum() > 1.0:
        z = y - 1.0
    print(z.sum().item())
    KEPT.append(z)
    return y


def kept_beside_a_raise(x):
    y = x * 1.0
    KEPT.append(y)
    if x.sum() > 1.0:
        [][0] = y
        return y * 2.0
    return y


@pytest.mark.parametrize("function", [kept_and_given_back_on_a_path, kept_behind_a_branch, kept_beside_a_raise])
def test_what_is_kept_outside_is_the_tensor_that_is_given_back(function, capsys):
    found = []
    for call in (function, d2s.to_static(function)):
        KEPT.clear()
        told = []
        for values in [(0.5, 0.25), (1.0, 2.0)] * 3:
            try:
                given = call(tensor(*values))
                told.append((given.tolist(), [given is kept for kept in KEPT]))
            except IndexError as error:
                told.append(str(error).splitlines()[0])
        found.append((told, capsys.readouterr().out))
    assert found[0] == found[1]
