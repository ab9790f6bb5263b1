"""What a call costs before it runs, why a function was captured again, and for how long captures are kept."""

import copy
import gc
import inspect
import linecache
import pickle
import re
import sys
import timeit
import types
import warnings
import weakref

import numpy as np
import pytest

import d2s
from d2s.errors import CaptureError, DTypeError, ShapeError
from d2s.jit.binding import binder

X = d2s.to_tensor([1.0, 2.0])


class Net(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.flag, self.inner = True, d2s.nn.Linear(2, 2)

    def forward(self, x):
        y = x * 2
        return y if self.flag else y + 1


class Box:
    value = 1.5


BOX, MODE, ITEMS = Box(), "a", [1, 2]


def test_what_changed_is_named_with_its_line(capsys):
    net = d2s.to_static(Net())
    line = inspect.getsourcelines(Net.forward)[1] + 2
    net(X)
    net.flag = False
    with d2s.config(PRINT="recompiles"):
        net(X)
    expected = f"self.flag: True → False (test_recompiles.py:{line})"
    assert expected in capsys.readouterr().out
    assert net.forward.recompiles() == [expected]


def reads_much(x, k=2):
    for item in ITEMS:
        x = x + item
    return x * BOX.value if MODE == "a" else x * k


def changes():
    global MODE
    BOX.value = 2
    yield r"BOX.value: 1.5 → 2 \(test_recompiles.py:\d+\)"
    BOX.value = 1.5
    ITEMS.append(3)
    yield r"ITEMS: a list → changed \(test_recompiles.py:\d+\)"
    ITEMS.pop()
    MODE = "b"
    yield r"MODE: 'a' → 'b' \(test_recompiles.py:\d+\)"
    MODE = "a"


def test_every_kind_of_change_is_seen_and_named():
    static = d2s.to_static(reads_much)
    for _ in range(3):
        static(X)
    for expected in changes():
        found = static(X)
        assert found.numpy().tolist() == reads_much(X).numpy().tolist()
        assert re.fullmatch(expected, static.recompiles()[-1]), static.recompiles()[-1]
        static(X)
    static(X)
    before = len(static.variants)
    static(X, 2)
    assert len(static.variants) == before
    static(X, 3)
    assert static.recompiles()[-1] == "k: 2 → 3"
    static(d2s.to_tensor([1, 2]))
    assert static.recompiles()[-1] == "x: f32[2] → i64[2]"


def test_numbers_of_numpys_are_told_by_their_values():
    static = d2s.to_static(lambda x, s: x * s)
    x = d2s.to_tensor([1.0])
    for s in (np.float32(2), np.float32(2), np.float32(3), np.int64(3), np.float32(2)):
        static(x, s)
    assert len(static.variants) == 3
    assert static.recompiles() == ["s: float32(2.0) → float32(3.0)", "s: float32(3.0) → int64(3)"]


def test_the_reason_is_what_the_nearest_variant_has_otherwise():
    net = d2s.to_static(Net())
    net.scale = 1

    def scaled(x, k, mode="a"):
        y = x * (net.scale if mode == "a" else k)
        return y if net.flag else -y

    static = d2s.to_static(scaled)
    for scale, flag, *args in ((1, True, 2), (1, True, 3), (4, True, 3), (4, False, 3), (1, False, 3), (1, False, 3, "b")):
        net.scale, net.flag = scale, flag
        static(X, *args)
    said = [text.partition(" (")[0] for text in static.recompiles()]
    assert said == ["k: 2 → 3", "net.scale: 1 → 4", "net.flag: True → False", "mode: 'a' → 'b'"]


def test_recompiles_can_be_forbidden():
    static = d2s.to_static(lambda x, k: x * k)
    with d2s.jit.fail_on_recompile():
        static(X, 2)
        static(X, 2)
        with pytest.raises(CaptureError, match=r"k: 2 → 3") as caught:
            static(X, 3)
    assert caught.value.code == "D2S1006"
    assert static(X, 3).numpy().tolist() == [3.0, 6.0]


def test_checks_see_what_they_read_otherwise():
    """Extents, aliases, subclasses, equal numbers of other types: each where a written check could take one for another."""
    static = d2s.to_static(lambda x, y, k=1, *rest, **more: (x + y, k, rest, more))
    y = d2s.to_tensor([3.0, 4.0])
    calls = [(X, y), (X, X), (X, y, True), (X, y, 1.0), (X, y, 1), (X, y, 1, 2), (X, y, -0.0), (X, y, 0.0)]
    for args in calls * 3:
        got, *others = static(*args)
        assert got.numpy().tolist() == (args[0] + args[1]).numpy().tolist()
        assert repr(others) == repr([args[2] if len(args) > 2 else 1, args[3:], {}]) and type(others[0]) is type(
            args[2] if len(args) > 2 else 1
        )
    for n in (2, 3, 4, 1, 5, 1):
        z = d2s.to_tensor([1.0] * n)
        assert static(z, z + 1)[0].shape == [n]
    assert static(X, y=y, other=3)[3] == {"other": 3}


def test_fifty_extents_are_two_captures_and_floats_one():
    static = d2s.to_static(lambda x, lr: x * lr)
    for n in range(1, 51):
        static(d2s.to_tensor([1.0] * n), 0.01 * n)
    assert len(static.variants) == 2 and static.recompiles() == ["x: f32[1] → f32[2]"]


def test_variants_go_with_the_function():
    static = d2s.to_static(lambda x, k: x * k)
    static(X, 2)
    static(X, 2)
    gone = weakref.ref(static.variants[0][1])
    del static
    gc.collect()
    assert gone() is None


class Scaled(d2s.nn.Layer):
    def __init__(self, k):
        super().__init__()
        self.k, self.inner, self.seen = k, d2s.nn.Linear(2, 2), 0

    @d2s.to_static
    def forward(self, x):
        self.seen += 1
        return self.inner(x) * self.k if x.sum() > 0 else x


@pytest.mark.filterwarnings("error")
def test_variants_go_with_the_layer_whose_method_was_called():
    layers = [Scaled(k) for k in range(40)]
    for layer in layers * 2:
        layer(d2s.ones([1, 2])).sum().backward()
    assert [len(layer.forward.variants) for layer in layers] == [1] * 40
    assert not any(layer.forward.recompiles() for layer in layers)
    copied, loaded = copy.deepcopy(layers[3]), pickle.loads(pickle.dumps(layers[3]))
    for other in (copied, loaded):
        assert not other.forward.variants and other(d2s.ones([1, 2])).tolist() == layers[3](d2s.ones([1, 2])).tolist()
    gone = [weakref.ref(layer) for layer in layers]
    del layers, layer
    gc.collect()
    assert not any(one() for one in gone)


def test_variants_are_bounded_and_the_last_used_stay():
    static = d2s.to_static(lambda x, k: x * len(k))
    with pytest.warns(UserWarning, match="captured 33 times"):
        for k in range(40):
            static(X, f"{k}")
            static(X, "0")
    assert len(static.variants) == 32 and len(static.recompiles()) == 35  # 0 to 32, then the 1st, 2nd and 4th miss
    assert "0" in {variant.key.leaves[1].fixed[1] for _, variant in static.variants}


CALLS = [
    (lambda x, s: x * len(s), lambda n: f"{n}"),
    (lambda x, s: x * len(s), lambda n: f"{n % 50}" * (n % 50)),
    (lambda x, f: f(x), lambda n: lambda v: v * n),
    (lambda x, b: x.sum() * b.n[0], lambda n: type("B", (), {"n": (str(n), n)[1:]})),
]


@pytest.mark.filterwarnings("ignore:.*was captured 33 times")
@pytest.mark.parametrize("function, other", CALLS)
def test_what_is_another_at_each_call_is_captured_a_few_times_only(function, other):
    static, x = d2s.to_static(function), d2s.to_tensor([1.0, 2.0], stop_gradient=False)
    for n in range(300):
        given = other(n)
        want, got = function(x, given), static(x, given)
        assert got.tolist() == want.tolist()
        assert d2s.grad(got.sum(), [x])[0].tolist() == d2s.grad(want.sum(), [x])[0].tolist()
    assert len(static.recompiles()) <= 32 + 9
    with d2s.jit.fail_on_recompile(), pytest.raises(CaptureError, match="would be captured again"):
        for n in range(300, 310):
            static(d2s.to_tensor([1.0]), other(n))


@pytest.mark.filterwarnings("ignore:.*was captured 33 times")
def test_what_stays_behind_much_that_changed_is_captured_after_all():
    static, seen = d2s.to_static(lambda x, s: x * len(s)), []
    for n in range(100):
        static(X, f"{n}")
    for _ in range(200):
        static(X, "stays")
        seen.append(len(static.recompiles()))
    assert len(static.quick) and seen[-1] == seen[100] <= 40


@pytest.mark.filterwarnings("ignore:.*was captured 33 times")
@pytest.mark.parametrize("kind", ["function", "method"])
def test_what_is_left_to_eager_code_begins_there_at_once(kind):
    def scaled(x, /, cfg, *rest, by=2.0, **more):
        return x * cfg.n * by + len(rest) + sum(more.values())

    class Owner:
        method = d2s.to_static(lambda self, x, /, cfg, *rest, **more: scaled(x, cfg, *rest, **more))

    static, owner, called = d2s.to_static(scaled), Owner(), []
    call = static if kind == "function" else owner.method
    for n in range(70):
        call(X, types.SimpleNamespace(n=n))
    cfg = types.SimpleNamespace(n=3)
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        found = call(X, cfg)
    finally:
        sys.setprofile(None)
    assert found.tolist() == (X * 6.0).tolist()
    own = ["scaled"] if kind == "function" else ["__get__", "bound", "<lambda>", "scaled"]
    assert len(called[: called.index(own[-1]) + 1]) <= 8 and "_called" not in called, called
    assert call(X, cfg, 1, 2, by=0.5, k=3).tolist() == scaled(X, cfg, 1, 2, by=0.5, k=3).tolist()
    with pytest.raises(DTypeError, match="missing 1 required positional argument: 'cfg'"):
        call(X)
    if kind == "function":
        scaled.__kwdefaults__["by"] = 3.0
        assert call(X, cfg).tolist() == call(X, cfg).tolist() == (X * 9.0).tolist()
        scaled.__kwdefaults__ = {"by": 4.0}
        assert call(X, cfg).tolist() == (X * 12.0).tolist()
    with pytest.raises(ZeroDivisionError):
        call(X, types.SimpleNamespace(n=3), k=_Bad())


class _Bad:
    def __radd__(self, other):
        raise ZeroDivisionError


def test_many_known_forms_of_arguments_are_found_without_writing_their_checks_again():
    static = d2s.to_static(lambda ts: sum(t.sum() for t in ts))
    lists = [[d2s.ones([2]) * k for k in range(n)] for n in range(1, 21)]
    for _ in range(3):
        for ts in lists:
            static(ts)
    checks = {id(variant): variant.matches for _, variant in static.variants}
    with d2s.jit.fail_on_recompile():
        assert [static(ts).item() for ts in lists] == [sum(t.sum() for t in ts).item() for ts in lists]
    assert all(variant.matches is checks[id(variant)] for _, variant in static.variants)
    switches = min(timeit.repeat(lambda: [static(ts) for ts in lists], number=1, repeat=5)) / 20
    alone = min(timeit.repeat(lambda: static(lists[-1]), number=20, repeat=5)) / 20
    assert switches < 12 * alone  # 1 to 3 times


def test_a_check_of_twenty_guards_is_a_matter_of_microseconds():
    box = Box()
    for n in range(10):
        setattr(box, f"a{n}", n)
    scope = {"box": box, **{f"g{n}": n for n in range(10)}}
    reads = ", ".join([f"box.a{n}" for n in range(10)] + [f"g{n}" for n in range(10)])
    text = f"def f(x):\n    found = ({reads})\n    return x * found[3]\n"
    _registered(text, scope)
    static = d2s.to_static(scope["f"])
    static(X)
    static(X)
    variant = static.variants[0][1]
    assert len(variant.captured.guards) >= 20
    alone = min(timeit.repeat(lambda: variant.matches((X,)), number=200, repeat=5)) / 200
    slowly = min(timeit.repeat(lambda: variant.changed([X]), number=20, repeat=5)) / 20
    assert alone < slowly / 4 and alone < 20e-6  # 1.2 µs on a quiet core


def _registered(text, scope):
    linecache.cache["<recompiles>"] = len(text), None, text.splitlines(True), "<recompiles>"
    exec(compile(text, "<recompiles>", "exec"), scope)


@pytest.mark.parametrize(
    "function",
    [
        lambda: (),
        lambda a, /, b, *, c: (a, b, c),
        lambda a, b=2, /, *rest, c=3, **more: (a, b, rest, c, more),
        lambda *rest: (rest,),
        lambda a, /: (a,),
        lambda **more: (more,),
    ],
)
def test_binding_is_that_of_python(function):
    bind = binder(inspect.signature(function))
    for args, kwargs in (((), {}), ((1,), {}), ((1, 2), {"c": 4}), ((1, 2, 3), {}), ((), {"a": 1, "b": 2}), ((1,), {"x": 5})):
        try:
            expected = function(*args, **kwargs)
        except TypeError:
            with pytest.raises(TypeError):
                bind(*args, **kwargs)
            continue
        assert bind(*args, **kwargs) == expected


def test_a_wrong_call_is_refused_by_name():
    with pytest.raises(DTypeError, match=r"missing 1 required positional argument: 'y'"):
        d2s.to_static(lambda x, y: x)(X)


def test_one_warning_of_a_function_that_is_captured_again_and_again():
    holder = type("Holder", (), {"count": 0})()

    @d2s.to_static
    def rolled(x):
        holder.count += 1
        return x.roll(holder.count)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(300):
            rolled(X)
    (warning,) = seen
    assert warning.filename == __file__
    said = re.sub(r"[\w/.-]*test_recompiles", "test_recompiles", str(warning.message))
    assert re.fullmatch(
        r"'rolled' was captured 33 times \(holder\.count: 31 → 32 \(test_recompiles\.py:\d+\)\), and 32 captures are kept: "
        r"most calls from now on that are like none of them run as plain Python\n"
        r"  way out: make what changes a tensor or a float; recompiles\(\) lists all reasons",
        said,
    )


def on_one_path(x):
    y = None
    if x.sum() > 50:
        y = x.flatten()
    return x if y is None else y


SIZED = [  # by the size of a batch, in each way that users write
    lambda x: x.reshape([x.shape[0] * 3, 2]),
    lambda x: x.reshape([-1]).sum() + x.flatten()[0],
    lambda x: d2s.zeros([x.shape[0], 4]) + d2s.ones([len(x), 1]),
    lambda x: d2s.nn.functional.pad(x, [0, 0, 1, 1]),
    lambda x: d2s.tile(x, [2, 1]),
    lambda x: d2s.eye(x.shape[0]) @ x / x.size,
    lambda x: d2s.nn.functional.interpolate(x.reshape([1, 1, -1, 6]), scale_factor=2),
    lambda x: x.repeat_interleave(2, 0),
    lambda x: d2s.concat([x, x], 0)[: x.shape[0] // 2],
    lambda x: sum(x.reshape([x.shape[0], 3, 2]).transpose([1, 0, 2])),
    on_one_path,
]


@pytest.mark.parametrize("number", range(len(SIZED)))
def test_any_number_of_batch_sizes_costs_two_captures(number):
    function = SIZED[number]
    captured = d2s.to_static(function)
    for n in (2, 3, 5, 4, 7, 30):
        x = d2s.to_tensor([[float(k * j) for j in range(6)] for k in range(n)], stop_gradient=False)
        want, got = function(x), captured(x)
        assert got.numpy().tobytes() == want.numpy().tobytes()
        found = [d2s.grad(y.sum(), [x], allow_unused=True)[0] for y in (want, got)]
        assert (found[0] is None) == (found[1] is None)
        assert found[0] is None or found[0].numpy().tobytes() == found[1].numpy().tobytes()
    assert len(captured.recompiles()) == 1


def within(x):
    y = x * 1
    y[1:, 1:] = x[0, 0] * 0.5
    return y * x


def bordered(x):
    y = x * 1
    y[:-1, :-1] += x[:1, :1]
    y[0, 1:] = y[0, :-1]
    return y * x


@pytest.mark.parametrize("function", [within, bordered])
def test_blocks_of_what_has_any_size_are_assigned_as_eagerly(function):
    captured = d2s.to_static(function)
    for shape in ((3, 3), (4, 4), (5, 5), (2, 6), (7, 3)):
        x = d2s.to_tensor(np.arange(np.prod(shape), dtype="float32").reshape(shape) + 1, stop_gradient=False)
        want, got = function(x), captured(x)
        assert got.numpy().tolist() == want.numpy().tolist()
        assert d2s.grad(got.sum(), x)[0].numpy().tolist() == d2s.grad(want.sum(), x)[0].numpy().tolist()
    assert len(captured.recompiles()) < 3


def searched(x, y):
    print("called")
    return d2s.searchsorted(d2s.sort(x), y)


def searched_on_a_path(x, y):
    print("called")
    if x.sum() > 0:
        y = d2s.searchsorted(d2s.sort(x), y)
    return y


def searched_in_a_loop(x, y):
    print("called")
    for _ in range(d2s.to_tensor(2)):
        y = d2s.searchsorted(d2s.sort(x), y).astype(x.dtype)
    return y


@pytest.mark.parametrize("function", [searched, searched_on_a_path, searched_in_a_loop])
def test_a_call_whose_sizes_do_not_fit_leaves_no_graph_that_complains_of_those_that_do(function, capsys):
    static = d2s.to_static(function)
    for sizes in [(2, 2), (3, 3), (6, 5), (7, 4), (6, 6), (8, 8)]:
        x, y = (d2s.ones([size, 3]) for size in sizes)
        if sizes[0] == sizes[1]:
            assert static(x, y).tolist() == function(x, y).tolist()
        else:
            with pytest.raises(ShapeError, match=rf"f32\[{sizes[0]},3\]"):
                static(x, y)
    assert capsys.readouterr().out == "called\n" * (6 + 4)
