"""The quick way of a static call: same bits and objects as the long way, and the long way wherever anything is unusual."""

import gc
import random
import sys
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

import d2s
from d2s import config, nn
from d2s.errors import ArgumentError, D2SError
from d2s.jit.quick import MISSED
from d2s.ops.dispatch import handlers

pytestmark = pytest.mark.skipif(handlers.base.classes is None, reason="no native calls on this system")
LINE = d2s.static.InputSpec([None])
Pair = namedtuple("Pair", "first second")


def tensor(values, dtype="float32", stop_gradient=True):
    return d2s.to_tensor(np.array(values, dtype), stop_gradient=stop_gradient)


def quick_of(function, *args, **kwargs):
    """A static function and its quick way, after calls that are answered so from then on."""
    static = d2s.to_static(function)
    for _ in range(3):
        static(*args, **kwargs)
    (quick,) = static.quick
    return static, quick


def test_python_floats_defaults_and_keywords():
    static, quick = quick_of(lambda x, k=2.0, *, add=True: x * k + 1.0 if add else x, tensor([1.0, 2.0]))
    assert quick(tensor([3.0, 4.0])).tolist() == [7.0, 9.0]
    assert quick(tensor([3.0, 4.0]), 0.5, add=True).tolist() == [2.5, 3.0]
    assert quick(tensor([3.0, 4.0]), 2) is MISSED
    assert quick(tensor([3.0, 4.0]), add=False) is MISSED
    static.function.__kwdefaults__ = {"add": False}
    assert quick(tensor([3.0, 4.0])) is MISSED
    assert static(tensor([3.0, 4.0])).tolist() == [3.0, 4.0]


def test_python_ints_are_read_where_they_lie():
    static = d2s.to_static(lambda x, n, m: (x * n, n + m, n == m))
    for n in (2, 3, 4, 5):
        static(tensor([1, 2], "int64"), n, n + 7)
    quick = static.quick[-1]
    numbers = [0, 1, -1, 255, 2**30 - 1, 2**30, -(2**30), 2**31, -(2**45), 2**59, 2**60 - 1, 1 - 2**60]
    for n in numbers:
        product, total, same = quick(tensor([1, 2], "int64"), n, 1)
        assert (product.tolist(), total, type(total), same) == ([n, 2 * n], n + 1, int, n == 1)
    for n in (2**60, -(2**60), 2**62):
        assert quick(tensor([1, 2], "int64"), n, 0) is MISSED
        assert static(tensor([1, 2], "int64"), n, 0)[1] == n
    assert quick(tensor([1, 2], "int64"), True, 1) is MISSED


def test_what_a_run_finds_the_extents_of_is_the_callers_own():
    static = d2s.to_static(lambda x: (x[x > 0.0], x[x > 0.0], d2s.nonzero(x)), input_spec=[LINE])
    for _ in range(3):
        static(tensor([1.0, -2.0]))
    (quick,) = static.quick
    given = [tensor(row) for row in ([1.0, 2.0, 0.0], [-1.0, -2.0], [3.0, -1.0, 4.0, 5.0])]
    found = [quick(x) for x in given] + [static(x) for x in given]
    for (first, again, places), x in zip(found, given * 2, strict=True):
        wanted = x.numpy()[x.numpy() > 0]
        assert first.tolist() == again.tolist() == wanted.tolist() and places.tolist() == np.argwhere(x.numpy()).tolist()
        first.add_(1.0)
        assert again.tolist() == wanted.tolist()
    large = [static(tensor(np.arange(-k, k))) for k in (1 << 17, 1 << 18)]
    assert [r[0].shape[0] for r in large] == [(1 << 17) - 1, (1 << 18) - 1]
    assert [int(r[0].numpy()[-1]) for r in large] == [(1 << 17) - 1, (1 << 18) - 1]


@pytest.mark.parametrize("count", [2**40, 2**62, 2**63 - 1])
def test_extents_that_no_memory_holds(count):
    static, x = d2s.to_static(lambda x, n: d2s.expand(x[:1], [n.sum()])), tensor([5.0, 6.0])
    for n in (2, 3, 4):
        assert static(x, tensor([n], "int64")).tolist() == [5.0] * n
    with pytest.raises(ArgumentError, match=r"do(es)? not fit into memory"):
        static(x, tensor([count], "int64"))
    assert static(x, tensor([2], "int64")).tolist() == [5.0, 5.0]


def test_who_asks_for_too_much_is_named():
    static = d2s.to_static(lambda x: d2s.zeros([x.sum(), 0]))
    for n in (2, 3, 4):
        static(tensor([n], "int64"))
    with pytest.raises(ArgumentError, match=r"<lambda>\(\): a float32 tensor"):
        static(tensor([2**62], "int64"))


def test_results_of_all_forms():
    x = tensor([1.0, 2.0])
    kept = tensor([5.0])

    def forms(x):
        y = x + 1.0
        return {"pair": Pair(y, x), "list": [y * 2.0, None, 3, "text", kept], "count": len(x.shape), "nothing": ()}

    found = quick_of(forms, x)[1](x)
    assert found["pair"].second is x and found["list"][4] is kept and type(found["pair"]) is Pair
    assert found["pair"].first.tolist() == [2.0, 3.0] and found["list"][0].tolist() == [4.0, 6.0]
    assert (found["list"][1:4], found["count"], found["nothing"]) == ([None, 3, "text"], 1, ())


def test_an_input_that_comes_out_is_that_very_tensor():
    def settled(x, n):
        i = d2s.to_tensor(0)
        while i < n:
            x, i = x * 2.0, i + 1
        return x

    x = tensor([1.0])
    _, quick = quick_of(settled, x, tensor(1, "int64"))
    assert quick(x, tensor(0, "int64")) is x
    assert quick(x, tensor(3, "int64")).tolist() == [8.0]


def test_what_is_not_as_it_was_goes_the_long_way():
    static, quick = quick_of(lambda x, w: x * w, tensor([1.0, 2.0]), tensor([3.0, 4.0]))
    x, w = tensor([1.0, 2.0]), tensor([3.0, 4.0])
    wanting = tensor([3.0, 4.0], stop_gradient=False)
    others = (x, tensor([1.0])), (x, tensor([3, 4], "int64")), (x, 3.0), (x, x), (nn.Parameter(x.array), w), (x, wanting)
    assert [quick(*pair) is MISSED for pair in others] == [True] * len(others)
    with pytest.raises(D2SError, match="missing"):
        static(x)
    assert static(x, w).tolist() == [3.0, 8.0]
    with d2s.no_grad():
        assert quick(x, wanting).tolist() == [3.0, 8.0]
    y = static(x, wanting)
    y.sum().backward()
    assert wanting.grad.tolist() == [1.0, 2.0]
    for knob in ({"EAGER": 1}, {"EXECUTOR": "interpreter"}, {"CHECK": 2}):
        with config(**knob):
            assert quick(x, w) is MISSED
            assert static(x, w).tolist() == [3.0, 8.0]


def test_guards_are_asked():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    x = tensor([[1.0, -1.0]])
    with d2s.no_grad():
        static, quick = quick_of(lambda x: net(x), x)
        assert quick(x).tolist() == net(x).tolist()
        net[0].weight.set_value(np.ones((2, 2), "float32"))
        assert quick(x).tolist() == net(x).tolist()
        net[0].bias = nn.Parameter(np.array([5.0, -5.0], "float32"))
        assert quick(x) is MISSED
        assert static(x).tolist() == net(x).tolist() == [[5.0, 0.0]]


class Held(nn.Layer):
    """What guards look into: lists of layers, containers in containers, methods of dicts."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([nn.Linear(2, 2), nn.ReLU()])
        self.settings = {"scale": [1.0, 2.0], "more": (3.0, {"deep": 4.0})}
        self.named = nn.LayerDict({"one": nn.ReLU()})

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        for layer in self.named.values():
            x = layer(x)
        return x * self.settings["scale"][1] + self.settings["more"][1]["deep"]


@pytest.mark.parametrize(
    "change",
    [
        lambda layer: layer.blocks.append(nn.ReLU()),
        lambda layer: layer.blocks.__setitem__(1, nn.Tanh()),
        lambda layer: layer.named.update({"two": nn.Tanh()}),
        lambda layer: layer.settings["scale"].__setitem__(1, -7.0),
        lambda layer: layer.settings["scale"].insert(0, 5.0),
        lambda layer: layer.settings["more"][1].update(deep=9.0),
        lambda layer: layer.settings.update(more=(0.0, {"deep": 1.0})),
        lambda layer: setattr(layer, "settings", {"scale": [0.0, 3.0], "more": (3.0, {"deep": 4.0})}),
    ],
)
def test_what_containers_hold_is_asked(change):
    layer, x = Held(), tensor([[1.0, 2.0]])
    static = d2s.to_static(lambda x: layer(x))
    for _ in range(3):
        static(x)
    (quick,) = static.quick
    assert quick(x).tolist() == layer(x).tolist()
    change(layer)
    assert quick(x) is MISSED
    assert static(x).tolist() == layer(x).tolist()


def test_named_extents_and_what_does_not_fit_into_memory():
    static = d2s.to_static(lambda x, y: x.unsqueeze(1) + y, input_spec=[LINE, LINE])
    for n in (2, 3, 4):
        assert static(tensor(range(n)), tensor(range(n + 1))).shape == [n, n + 1]
    (quick,) = static.quick
    assert quick(tensor(range(5)), tensor([1, 2])).tolist() == [[k + 1, k + 2] for k in range(5)]
    assert quick(tensor([1]), tensor([1, 2])) is MISSED
    many = tensor(np.zeros(1 << 21))
    assert quick(many, many) is MISSED
    with pytest.raises(D2SError, match="memory"):
        static(many, many)


def test_values_that_need_more_space_than_a_frame_has():
    static = d2s.to_static(lambda x: (x @ x) @ x, input_spec=[d2s.static.InputSpec([None, None])])
    for _ in range(5):
        for n in (2, 3, 200, 300):
            x = tensor(np.eye(n))
            assert np.array_equal(static(x).numpy(), np.eye(n))
    assert static.quick[0](tensor(np.eye(300))) is not MISSED


def test_errors_of_a_run_are_those_of_the_long_way():
    static = d2s.to_static(lambda x, y: x + y, input_spec=[LINE, LINE])
    for n in (2, 3, 4):
        static(tensor(range(n)), tensor(range(n)))
    with pytest.raises(D2SError, match="add"):
        static(tensor([1, 2]), tensor([1, 2, 3]))
    assert static(tensor([1, 2]), tensor([1, 2])).tolist() == [2, 4]


def test_methods_and_many_variants():
    class Scaled(nn.Layer):
        def __init__(self, k):
            super().__init__()
            self.k = k

        @d2s.to_static
        def forward(self, x):
            return x * self.k

    first, second = Scaled(2.0), Scaled(3.0)
    for _ in range(4):
        assert first(tensor([1.0])).tolist() == [2.0]
        assert second(tensor([1.0])).tolist() == [3.0]
    assert len(first.forward.quick) == len(second.forward.quick) == 1
    first.k = 5.0
    assert first(tensor([1.0])).tolist() == [5.0]


def test_a_parameter_named_as_a_part_of_the_text():
    static = d2s.to_static(lambda call_, handlers_: call_ * handlers_)
    found = [static(tensor([2.0]), tensor([3.0])).tolist() for _ in range(4)]
    assert found == [[6.0]] * 4 and not static.quick


def test_nothing_is_left_behind():
    x, w = tensor(np.ones((4, 4))), tensor(np.ones((4, 4)))
    _, quick = quick_of(lambda x, w: (x @ w, x), x, w)
    watched = (x, w, x.array, w.array, x.array.dtype, None, True)
    gc.collect()
    before = [sys.getrefcount(o) for o in watched]
    for _ in range(1000):
        quick(x, w)
        quick(x, 1.0)
    assert all(abs(sys.getrefcount(o) - n) < 50 for o, n in zip(watched, before, strict=True))


def test_many_threads_at_once():
    net = d2s.to_static(lambda x: d2s.tanh(x @ x) @ x)
    x = tensor(np.random.default_rng(0).standard_normal((96, 96)))
    for _ in range(3):
        wanted = net(x).numpy()
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda _: np.array_equal(net(x).numpy(), wanted), range(200)))


def test_a_call_of_a_free_function_is_as_one_of_any_other():
    """Where it stands in front of its quick ways: what misses, fits nothing or raises goes on as it did."""
    static, _ = quick_of(lambda x, /, k=2.0, *, add=1.0: x * k + add, tensor([1.0]))
    assert static(tensor([1.0]), 3.0, add=2.0).tolist() == [5.0] == static(*(tensor([1.0]), 3.0), add=2.0).tolist()
    assert static(tensor([1.0, 2.0])).tolist() == [3.0, 5.0] and static(tensor([1], "int64"), 2, add=1).tolist() == [3]
    for args, kwargs in (((), {}), ((tensor([1.0]),) * 3, {}), ((tensor([1.0]),), {"x": 1}), ((tensor([1.0]),), {"odd": 1})):
        for _ in range(2):
            with pytest.raises(D2SError, match="argument"):
                static(*args, **kwargs)
    for _ in range(4):
        assert static(tensor([1.0])).tolist() == [3.0] and static(tensor([1], "int64"), 2, add=1).tolist() == [3]
    assert len(static.quick) >= 2 and callable(static) and isinstance(static, d2s.jit.StaticFunction)
    call = static.__call__
    del static, _
    gc.collect()
    assert call(tensor([1.0])).tolist() == [3.0]


class Counted:
    def __init__(self):
        self.calls, self.total, self.seen = 0, tensor(0.0), None


def test_what_a_call_changes_is_written_behind_it():
    def counted(x):
        box.calls += 1
        box.total = box.total + x.sum()
        box.seen = x
        kept.add_(x)
        return x * 2.0

    x = tensor([1.0, 2.0])
    found = []
    for way in (counted, d2s.to_static(counted)):
        box, kept = Counted(), tensor([0.0, 0.5])
        results = [way(x).tolist() for _ in range(6)]
        found.append((results, box.calls, box.total.item(), box.seen is x, kept.tolist()))
    assert found[0] == found[1] and found[0][1] == 6


def test_a_tensor_that_shares_its_memory_is_not_changed_in_place_quickly():
    static, quick = quick_of(lambda x, y: (x.add_(y), y * 2.0)[1], tensor([1.0, 2.0]), tensor([1.0, 2.0]))
    memory = np.ones(4, "float32")
    x, y = d2s.Tensor(memory[:2]), d2s.Tensor(memory[2:])
    assert quick(x, y) is MISSED
    with pytest.raises(D2SError, match="memory"):
        static(d2s.Tensor(memory[:2]), d2s.Tensor(memory[:2]))


def test_draws_are_eagers_and_so_is_the_stream_behind_them():
    def drawn(x):
        return nn.functional.dropout(x, 0.5) + d2s.rand([8])

    x = tensor(np.ones(8))
    static, quick = quick_of(drawn, x)
    found = []
    for way in (drawn, static, quick):
        d2s.seed(7)
        found.append([way(x).tolist() for _ in range(3)] + [d2s.rand([2]).tolist()])
    assert found[0] == found[1] == found[2]


def test_batch_norm_in_training_is_quick_and_checked_once():
    norms = [nn.BatchNorm1D(4), nn.BatchNorm1D(4)]
    static = d2s.to_static(lambda x: norms[1](x))
    for k in range(6):
        x = tensor(np.arange(12).reshape(3, 4) * (k + 1))
        assert static(x).tolist() == norms[0](x).tolist()
    assert norms[0]._mean.tolist() == norms[1]._mean.tolist() and len(static.quick) == 1
    assert static.variants[0][1].matches((x,)) is not None


def test_nothing_to_compute_and_one_of_several():
    x = tensor([1.0])
    _, quick = quick_of(lambda x: x, x)
    assert quick(x) is x and quick(tensor([1, 2], "int64")) is MISSED
    _, quick = quick_of(lambda x: x * 2.0 if x.sum() > 0.0 else None, x)
    assert quick(x).tolist() == [2.0] and quick(tensor([-1.0])) is None


def printing(x, k):
    print("given", x.tolist(), end="; ")
    y = x * 2.0
    print(f"{y.sum().item():.1f} of {k}", y, sep=" | ")
    return d2s.gather(y, k)


def test_what_is_printed_is_printed_behind_the_native_call(capsys):
    static, quick = quick_of(printing, tensor([1.0, 2.0]), tensor([1], "int64"))
    capsys.readouterr()
    given = tensor([0.5, 4.0]), tensor([0], "int64")
    found = [call(*given).tolist() for call in (printing, quick)]
    texts = capsys.readouterr().out
    assert found[0] == found[1] and texts[: len(texts) // 2] == texts[len(texts) // 2 :] != ""
    assert quick(tensor([0.5, 4.0], stop_gradient=False), given[1]) is MISSED
    outside = tensor([0.5, 4.0]), tensor([7], "int64")
    for call in (printing, static):
        with pytest.raises(IndexError):
            call(*outside)
    texts = capsys.readouterr().out
    assert texts[: len(texts) // 2] == texts[len(texts) // 2 :] != ""


def test_steps_that_say_what_is_computed_stand_between_native_calls(capsys):
    def timed(x, draw):
        print("x")
        return x * draw.random()

    draw, again = random.Random(1), random.Random(1)
    static, quick = quick_of(timed, tensor([1.0]), draw)
    found = [static(tensor([1.0]), draw).item(), quick(tensor([1.0]), draw).item()]
    assert found == [timed(tensor([1.0]), again).item() for _ in range(5)][3:]
    assert capsys.readouterr().out == "x\n" * 10


def test_results_that_are_one_tensor_are_one_natively():
    def function(x, w):
        y, z = x * 2.0, w
        if x.sum() > 0:
            z = y
        if x.max() > 3.0:
            y = z = x
        return y, z

    static, quick = quick_of(function, tensor([-1.0, 2.0]), tensor([1.0, 1.0]))
    for values in ([-1.0, 0.5], [1.0, 2.0], [-9.0, 5.0], [4.0, 1.0]) * 2:
        x, w = tensor(values), tensor([1.0, 3.0])
        for call in (function, static, quick):
            y, z = call(x, w)
            expected = [function(x, w)[k].tolist() for k in (0, 1)]
            assert [y.tolist(), z.tolist()] == expected
            assert (y is z, y is x, z is w) == (
                sum(values) > 0 or max(values) > 3.0,
                max(values) > 3.0,
                max(values) <= 3.0 and sum(values) <= 0,
            )


class Doubled:
    def __init__(self, x):
        self.x = x * 2.0


@dataclass
class Checked:
    x: object
    n: int = 0

    def __post_init__(self):
        self.n += 1


def test_what_makes_an_object_runs_once():
    """Its class is not asked again by a quick way, for what a call gives is made already."""
    static, quick = quick_of(lambda x: (Doubled(x), Checked(x + 1.0), {"a": Checked(x, 5)}.items()), tensor([1.0]))
    for call in (static, quick):
        one, two, three = call(tensor([3.0]))
        assert (type(one), one.x.tolist()) == (Doubled, [6.0])
        assert (type(two), two.x.tolist(), two.n) == (Checked, [4.0], 1)
        ((name, held),) = three
        assert (name, held.n) == ("a", 6)


def test_parameters_have_any_names():
    """None of them is taken for what the quick way's own text names."""

    def function(x, seed, counter, held=0, call=1.0, declined=None, handlers=2, given=3, r=4, o5=5, v0=6, values=7, a=8):
        return x * seed + counter * held + d2s.rand([2]) * call * 0.0 + handlers + given + r + o5 + v0 + values + a

    static = d2s.to_static(function)
    for k in range(2, 9):
        given = tensor([1.0, 2.0]), k, 10.0 + k, 2 * k
        assert static(*given, r=k).tolist() == function(*given, r=k).tolist()
    assert any(quick(*given, r=4) is not MISSED for quick in static.quick)


def test_a_function_that_only_prints(capsys):
    _, quick = quick_of(lambda x: print("only", x.tolist()), tensor([1.0]))
    assert quick(tensor([2.0])) is None
    assert capsys.readouterr().out.endswith("only [2.0]\n")


def counted_down(x, n):
    out = []
    while n > 0:
        out.append(x * n)
        n = n - 1
    return out


def with_itself(x, n):
    out, y = [x], x * 2.0
    while n > 0:
        if n > 2:
            out.append(y)
        elif n > 1:
            out.append(x)
        else:
            out.append(y + 1.0)
        n = n - 1
    return {"all": out, "last": out[-1], "y": y}


def pairs_and_numbers(x, n):
    pairs, sizes, k = [], [], 0
    while n > 0:
        k += 1
        pairs.append((x + n, k))
        sizes.append(k * 0.5)
        n = n - 1
    return pairs, sizes, len(pairs)


def replaced(x, n):
    out = [x, x + 1.0]
    while n > 0:
        out.append(out[0])
        out[0] = out[1] * 2.0
        n = n - 1
    return out, [*out, x]


@pytest.mark.parametrize("function", [counted_down, with_itself, pairs_and_numbers, replaced])
@pytest.mark.parametrize("x", [[1.0, -2.0], 3.0, [[]]], ids=str)
def test_lists_whose_length_a_run_finds(function, x):
    x = tensor(x)
    static = d2s.to_static(function)
    for n in (3.0, 2.0, 3.0):
        static(x, tensor(n))
    (quick,) = static.quick
    for n in (0.0, 1.0, 4.0, 3.0, 40.0):
        wanted, found = (shown(call(x, tensor(n)), x) for call in (function, quick))
        assert found == wanted
    first, second = quick(x, tensor(2.0)), quick(x, tensor(2.0))
    assert shown(first, x) == shown(second, x) and first is not second


def shown(result, x):
    """A result as text, each tensor told by when it comes first."""
    known = {id(x): "x"}

    def one(value):
        if isinstance(value, dict):
            return {key: one(v) for key, v in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(map(one, value))
        if isinstance(value, d2s.Tensor):
            return known.setdefault(id(value), len(known)), value.numpy().tolist(), str(value.dtype), value.shape
        return value

    return repr(one(result))


def test_an_item_of_a_list_keeps_no_memory_but_its_own():
    _, quick = quick_of(counted_down, tensor([1.0, 2.0]), tensor(3.0))
    assert all(t.array.flags.owndata for t in quick(tensor([1.0, 2.0]), tensor(3.0)))


def test_lists_on_the_tape_go_the_long_way():
    static, quick = quick_of(counted_down, tensor([1.0, 2.0]), tensor(3.0))
    x = tensor([1.0, 2.0], stop_gradient=False)
    assert quick(x, tensor(2.0)) is MISSED
    sum(t.sum() for t in static(x, tensor(2.0))).backward()
    assert x.grad.tolist() == [3.0, 3.0]
    with d2s.no_grad():
        assert [t.stop_gradient for t in quick(x, tensor(2.0))] == [True, True]


def appending(log, x):
    log.append(x.sum().item())
    return x * 2


def appending_tensors(log, x):
    log.extend([x, x + 1])
    return x * 2


def counting(found, x):
    found["n"] += 1
    found["total"] += float(x.sum())
    return x * found["n"]


def replacing(log, x):
    log[0] = log[0] * 0.5 + x
    return log[0]


@pytest.mark.parametrize(
    "change, start",
    [
        (appending, list),
        (appending_tensors, list),
        (counting, lambda: {"n": 0, "total": 0.5}),
        (replacing, lambda: [tensor([1.0, 2.0]), "kept"]),
    ],
)
def test_what_is_added_to_containers_from_outside_is_written_behind_the_call(change, start):
    eager, kept = start(), start()
    static = d2s.to_static(lambda x: change(kept, x))
    for k in range(8):
        x = tensor([k, 2.0])
        assert static(x).tolist() == change(eager, x).tolist()
        assert str(kept) == str(eager)
    kept.clear()
    kept.update(start()) if isinstance(kept, dict) else kept.extend(start())
    assert static(x).tolist() == change(eager := start(), x).tolist()
    assert str(kept) == str(eager) and len(static.quick) == len(static.variants) == 1


@dataclass
class Results:
    loss: d2s.Tensor
    logits: d2s.Tensor


STATE = {"m": d2s.zeros([2]), "n": 0}


def kept_in_a_dict(x):
    STATE["m"] = STATE["m"] * 0.5 + x
    STATE["n"] += 1
    return STATE["m"]


@pytest.mark.parametrize("function", [lambda x: Results(x.sum(), x * 2.0), kept_in_a_dict], ids=["object", "dict"])
def test_what_is_made_and_kept_takes_a_few_functions_of_ours(function):
    static, _ = quick_of(function, x := tensor([1.0, 2.0]))
    called = []
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        static(x)
    finally:
        sys.setprofile(None)
    assert called[0] == "quick" and len(called) <= 5, called


def test_keywords_and_their_defaults_are_asked_one_by_one():
    static, quick = quick_of(lambda x, *rest, bias=1.0, **more: x * 2.0 + bias, x := tensor([1.0, 2.0]))
    assert not {"values", "map"} & {*quick.__code__.co_varnames, *quick.__code__.co_names}  # no tuple of all, no list of ids
    assert quick(x, bias=3.0).tolist() == [5.0, 7.0]
    assert quick(x, 1) is MISSED and quick(x, other=1) is MISSED and quick(x, bias=1) is MISSED
    static.function.__kwdefaults__["bias"] = 5.0
    assert quick(x) is MISSED and static(x).tolist() == [7.0, 9.0]
    static.function.__kwdefaults__["bias"], static.function.__kwdefaults__["another"] = 1.0, 2.0
    assert quick(x) is MISSED
