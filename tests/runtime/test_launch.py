"""Eager code by its native doors and by the plain way: same bits, same tape, same errors; and nothing is left behind."""

import gc
import itertools
import sys
import sysconfig
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import d2s
from d2s.autodiff import writes
from d2s.errors import D2SError, DTypeError
from d2s.ops import OPS
from d2s.ops.dispatch import handlers
from d2s.ops.label import class_entropy
from d2s.runtime import launch, native_launcher
from d2s.runtime.differing import same_bits

EAGER = handlers.base
KNOWN = sys.implementation.name == "cpython" and sys.platform == "linux" and not sysconfig.get_config_var("Py_GIL_DISABLED")
native = pytest.mark.skipif(not KNOWN, reason="the native door is for CPython with a GIL")


@pytest.fixture(autouse=True)
def fresh_doors(monkeypatch):
    """Doors learned here are not those of other tests."""
    for op in OPS.values():
        monkeypatch.setattr(op, "door", None)
    monkeypatch.setattr(EAGER, "doors", {})
    monkeypatch.setattr(EAGER, "seen", {})
    monkeypatch.setattr(EAGER, "plans", {})


@pytest.fixture(params=["native", "plain"])
def way(request, monkeypatch):
    """Both ways an eager call can go."""
    if request.param == "native" and not KNOWN:
        pytest.skip("no native door here")
    if request.param == "plain":
        monkeypatch.setitem(EAGER.__dict__, "classes", None)
    return request.param


def tensor(values, dtype="float32", stop_gradient=True):
    return d2s.to_tensor(np.array(values, dtype), stop_gradient=stop_gradient)


def thrice(function, *args):
    """A call made the plain way, once more, and - where that is possible - natively."""
    return [function(*args) for _ in range(3)]


def natively(op, *args):
    """The result of the op's door, after it has learned this call."""
    for _ in range(2):
        op(*args)
    assert op.door is not None
    found = op.door(args)
    assert found is not None
    return found


@native
def test_this_machine_has_doors():
    assert EAGER.classes is not None
    assert isinstance(natively(d2s.add, tensor([1.0]), tensor([2.0])), d2s.Tensor)


def test_a_door_is_made_for_what_happens_twice(way):
    x = tensor([1.0, 2.0])
    d2s.add(x, x)
    assert d2s.add.door is None
    d2s.add(x, x)
    assert (d2s.add.door is not None) == (way == "native")


SHAPES = [((8,), (8,)), ((8,), ()), ((), ()), ((2, 3), (3,)), ((2, 1, 3), (4, 1)), ((0, 3), (3,)), ((1,), (5,))]


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "int8", "uint8"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "less_than", "equal"])
def test_every_call_gives_the_same_bits(name, dtype, shapes):
    rng = np.random.default_rng(0)
    x, y = (tensor(rng.integers(-99, 99, s) * (0.37 if dtype[0] == "f" else 1), dtype) for s in shapes)
    first, *others = thrice(OPS[name], x, y)
    for other in others:
        assert same_bits(first.array, other.array)
        assert other.array is not first.array
        assert (other.stop_gradient, other.node, other.grad, other.name, other.hooks) == (True, None, None, "", None)


def test_other_extents_dtypes_and_ranks_are_told_apart(way):
    found = {}
    for _ in range(3):
        for dtype, shape in itertools.product(["float32", "int32", "float64"], [(4,), (2, 2), (1, 4), (4, 1), ()]):
            x = tensor(np.ones(shape), dtype)
            result = x + x
            assert (result.dtype.name, tuple(result.shape)) == (dtype, shape)
            found.setdefault((dtype, shape), []).append(result.array)
    assert all(same_bits(a[0], b) for a in found.values() for b in a)


NUMBERS = [
    0,
    1,
    -1,
    2.5,
    -0.0,
    0.0,
    1e-50,
    1e300,
    -1e300,
    float("nan"),
    float("inf"),
    2**53 + 1,
    2**62,
    True,
    False,
    np.float32(1.5),
]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "uint8", "int16", "int32", "bool"])
def test_numbers_become_what_they_become_the_plain_way(number, dtype):
    x = tensor([0, 1, 100], dtype)
    for way_round in (lambda: d2s.add(x, number), lambda: d2s.add(number, x)):
        outcomes = []
        for _ in range(4):
            try:
                outcomes.append(way_round().array)
            except D2SError as error:
                outcomes.append(str(error))
        assert all(o == outcomes[0] if isinstance(o, str) else same_bits(o, outcomes[0]) for o in outcomes)


@native
def test_a_case_serves_every_number():
    x = tensor([1.0, 2.0])
    natively(d2s.multiply, x, 3.0)
    before = EAGER.doors[d2s.multiply].learned
    for number in (0.5, -0.0, 1e-45, 7.0, float("inf")):
        assert same_bits(d2s.multiply.door((x, number)).array, x.array * np.float32(number))
    assert EAGER.doors[d2s.multiply].learned == before
    assert d2s.multiply.door((x, 1e300)) is None  # too large: Python says what becomes of it
    assert d2s.multiply.door((x, True)) is None
    assert d2s.multiply.door((x, 1)) is None  # an int is another case


@pytest.mark.parametrize("number", [128, -129, 2**63, -(2**63) - 1, 2**200])
def test_a_number_too_large_is_refused_every_time(way, number):
    x = tensor([1], "int8")
    thrice(d2s.add, x, 1)
    for _ in range(3):
        with pytest.raises(D2SError, match="does not fit into int8"):
            d2s.add(x, number)


def gradients(way_names=("x", "w")):
    x, w = tensor([1.0, -2.0, 3.0], stop_gradient=False), tensor([[0.5], [2.0]], stop_gradient=False)
    y = (x * w + 2.0) * x - 1
    (y * y).sum().backward()
    return x.grad.array, w.grad.array


def test_gradients_have_the_same_bits(monkeypatch):
    natively_found = [gradients() for _ in range(4)]
    for op in OPS.values():
        monkeypatch.setattr(op, "door", None)
    monkeypatch.setitem(EAGER.__dict__, "classes", None)
    for found in natively_found:
        assert all(same_bits(a, b) for a, b in zip(found, gradients(), strict=True))


@native
def test_the_tape_is_what_the_plain_way_makes():
    x, w = tensor([1.0, 2.0]), tensor([3.0, 4.0], stop_gradient=False)
    plain = d2s.multiply(x, w)
    made = natively(d2s.multiply, x, w)
    assert type(made.node) is type(plain.node)
    assert made.node.op is d2s.multiply
    assert made.node.edges[0] is None and made.node.edges[1] is w
    assert natively(d2s.multiply, plain, w).node.edges[0] is plain.node
    assert [a is b for a, b in zip(made.node.saved, (x.array, w.array, made.array), strict=True)] == [True] * 3
    assert (made.node.released, made.node.attrs, made.node.hooks, made.stop_gradient) == (False, {}, None, False)
    assert made.node.order > plain.node.order
    assert d2s.multiply(x, w).node.order > made.node.order


@native
def test_several_results_are_those_of_the_plain_way():
    """The first is on the tape, its node has saved all; the others are on none."""
    x, label = tensor(np.arange(12).reshape(3, 4), stop_gradient=False), d2s.to_tensor([0, 3, 1])
    plain = class_entropy(x, label, 1, -100)
    made = natively(class_entropy, x, label, 1, -100)
    assert type(made) is tuple and len(made) == 3
    assert all(same_bits(a.array, b.array) for a, b in zip(made, plain, strict=True))
    assert [t.stop_gradient for t in made] == [False, True, True] == [t.stop_gradient for t in plain]
    assert [t.node is None for t in made] == [False, True, True]
    saved = (x.array, label.array, *(t.array for t in made))
    assert [a is b for a, b in zip(made[0].node.saved, saved, strict=True)] == [True] * 5
    assert made[0].node.edges == (x, None)
    gradients = [d2s.grad(t[0].sum(), x)[0].array for t in (made, plain)]
    assert same_bits(*gradients)


def test_a_fault_is_found_and_named_each_time(way):
    x, label = tensor(np.ones((3, 4))), d2s.to_tensor([0, 3, 1])
    for number in (1, 4, 2, 1, -1, 3, 7, 0):
        label.set_value(np.array([0, 3, number]))
        if 0 <= number < 4:
            assert class_entropy(x, label, 1, -100)[0].tolist() == pytest.approx([np.log(4)] * 3)
        else:
            with pytest.raises(D2SError, match="none of the 4 classes"):
                class_entropy(x, label, 1, -100)


@native
def test_a_number_on_the_tape_is_an_array():
    x = tensor([1.0, 2.0], stop_gradient=False)
    made = natively(d2s.multiply, 3, x)
    assert made.node.edges[0] is None and made.node.edges[1] is x
    number = made.node.saved[0]
    assert number.dtype == np.float32 and number.shape == () and number == 3


LINES = """
def made(x, w):
    a = x * w
    b = (
        w
        +
        x * w
    )
    return a, b, *map(add, [x], [w]), sorted([x], key=lambda x: add(x, w))[0]
"""


@pytest.mark.parametrize("path", ["user.py", "/a/longer/path/of/the/user's/own/that/goes/on/and/on/and/on/model.py", "<input>"])
def test_a_node_knows_the_users_line(way, path):
    names = {"add": d2s.add}
    exec(compile(LINES, path, "exec"), names)
    x, w = tensor([1.0, 2.0]), tensor([3.0, 4.0], stop_gradient=False)
    for results in thrice(names["made"], x, w):
        assert [y.node.line for y in results if y.node] == [f"{path}:{n}" for n in (3, 5, 9)]


def test_a_generators_nodes_know_its_line(way):
    w = tensor([3.0, 4.0], stop_gradient=False)

    def steps():
        while True:
            yield w * w

    first, *others = itertools.islice(steps(), 4)
    assert {y.node.line for y in others} == {first.node.line}
    assert first.node.line == f"{__file__}:{steps.__code__.co_firstlineno + 2}"


def test_no_grad_makes_no_tape(way):
    w = tensor([1.0], stop_gradient=False)
    thrice(d2s.add, w, w)
    with d2s.no_grad():
        for result in thrice(d2s.add, w, w):
            assert result.stop_gradient and result.node is None
    assert not d2s.add(w, w).stop_gradient


def test_integers_and_comparisons_want_no_gradient(way):
    w = tensor([1.0, 2.0], stop_gradient=False)
    assert all(r.stop_gradient and r.node is None for r in thrice(d2s.less_than, w, 1.5))


@pytest.mark.parametrize("value", [False, True, np.bool_(False), np.bool_(True)])
def test_stop_gradient_may_be_a_bool_of_numpy(way, value):
    w, x = tensor([1.0], stop_gradient=False), tensor([1.0])
    thrice(d2s.add, w, x)
    w.stop_gradient = value
    assert [r.stop_gradient for r in thrice(d2s.add, w, x)] == [bool(value)] * 3


SETTERS = {
    "attribute": lambda x, stop: setattr(x, "stop_gradient", stop),
    "to_tensor": lambda x, stop: d2s.to_tensor([1.0], stop_gradient=stop),
    "Tensor": lambda x, stop: d2s.Tensor(x.array, stop),
    "Parameter": lambda x, stop: d2s.nn.Parameter(x.array, stop_gradient=stop),
}


@pytest.mark.parametrize("setter", SETTERS)
@pytest.mark.parametrize("value", ["False", "", 0, 1, 0.0, None, [], np.array(True)])
def test_stop_gradient_is_nothing_else(setter, value):
    x = tensor([1.0], stop_gradient=False)
    with pytest.raises(DTypeError, match=r"\[D2S0001\] 'stop_gradient' expects True or False, got "):
        SETTERS[setter](x, value)
    assert x.stop_gradient is False


def test_a_second_backward_needs_the_graph_retained(way):
    w = tensor([3.0], stop_gradient=False)
    thrice(d2s.multiply, w, w)
    y = w * w
    y.backward(retain_graph=True)
    y.backward()
    assert w.grad.tolist() == [12.0]
    with pytest.raises(D2SError, match="D2S0006"):
        y.backward()


def test_new_values_are_seen(way):
    w = tensor([3.0], stop_gradient=False)
    thrice(d2s.multiply, w, w)
    w.set_value([5.0])
    y = w * w
    assert y.tolist() == [25.0]
    y.backward()
    assert w.grad.tolist() == [10.0]


def test_errors_are_the_same_each_time(way):
    x = tensor([1.0, 2.0])
    thrice(d2s.add, x, x)
    for wrong in (tensor([1.0, 2.0, 3.0]), tensor([1, 2], "int64"), "2", None, [1.0, 2.0]):
        messages = set()
        for _ in range(3):
            with pytest.raises(D2SError) as caught:
                d2s.add(x, wrong)
            messages.add(str(caught.value))
        assert len(messages) == 1


@pytest.mark.parametrize(
    "call", [lambda x: d2s.add(x), lambda x: d2s.add(x, x, x), lambda x: d2s.add(x, z=x), lambda x: d2s.sum(x, 0, axis=0)]
)
def test_arguments_that_do_not_bind_are_refused(way, call):
    x = tensor([1.0, 2.0])
    thrice(d2s.add, x, x)
    with pytest.raises(D2SError, match="D2S0001"):
        call(x)


def test_keywords_and_defaults_are_one_call(way):
    x = tensor([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(3):
        assert d2s.sum(x).tolist() == d2s.sum(x=x).tolist() == d2s.sum(x, None, None, False).tolist() == 10.0
        assert d2s.sum(x, 0).tolist() == d2s.sum(x, axis=0).tolist() == [4.0, 6.0]
        assert d2s.sum(x, 1).tolist() == d2s.sum(keepdim=False, axis=1, x=x).tolist() == [3.0, 7.0]
        assert d2s.sum(x, axis=(0, 1), keepdim=True).tolist() == [[10.0]]
        with pytest.raises(D2SError, match="axis True"):  # equal to 1, and still no axis
            d2s.sum(x, axis=True)


def test_casts_are_not_skipped(way):
    x, y = tensor([1.0], "float32"), tensor([0.1], "float64")
    assert {r.dtype.name for r in thrice(d2s.add, x, y)} == {"float64"}
    assert {r.dtype.name for r in thrice(d2s.add, tensor([1], "int64"), 0.5)} == {"float32"}
    assert {r.dtype.name for r in thrice(d2s.add, tensor([True], "bool"), 2)} == {"int64"}


@native
def test_what_is_no_plain_array_is_declined():
    x = tensor(np.ones((2, 2)))
    natively(d2s.add, x, x)
    door = d2s.add.door
    strided, swapped = tensor(np.ones((2, 2))), tensor(np.ones((2, 2)))
    strided.array = np.ones((2, 4), "float32")[:, ::2]  # past the constructor, which would make it plain
    swapped.array = np.ones((2, 2), ">f4")
    empty = d2s.Tensor.__new__(d2s.Tensor)
    for odd in (strided, swapped, empty, np.ones((2, 2), "float32"), None, object()):
        assert door((x, odd)) is None
    assert door(()) is None
    assert door((x,) * 9) is None


@native
def test_subclasses_are_tensors():
    class Parameter(d2s.Tensor):
        __slots__ = ("trainable",)

    p = Parameter(np.ones(2, "float32"), False)
    made = natively(d2s.add, p, p)
    assert type(made) is d2s.Tensor
    assert made.node.edges[0] is p and made.node.edges[1] is p


def test_a_capture_records_what_eager_code_has_learned(way):
    x, w = tensor([1.0, 2.0]), tensor([3.0, 4.0])
    thrice(d2s.multiply, w, w)

    @d2s.to_static
    def scaled(x):
        return x * (w * w)

    assert scaled(x).tolist() == [9.0, 32.0]
    w.set_value([1.0, 1.0])
    assert scaled(x).tolist() == [1.0, 2.0]  # w * w is part of the graph


def test_nothing_is_left_behind(way):
    x, w, label = tensor([1.0, 2.0]), tensor([3.0, 4.0], stop_gradient=False), d2s.to_tensor(1)

    def work():
        y = x * w + 2 - w * 0.5
        y.sum().backward()
        w.clear_gradient(set_to_zero=False)
        class_entropy(w, label, 0, -100)[0].backward()
        w.clear_gradient(set_to_zero=False)
        with d2s.no_grad():
            w * x
            class_entropy(x, label, 0, -100)

    def counts():
        gc.collect()
        objects = (
            x,
            w,
            label,
            label.array,
            x.array,
            w.array,
            x.array.dtype,
            d2s.add,
            d2s.multiply,
            None,
            d2s.Tensor,
            writes.clock,
        )
        return [sys.getrefcount(o) for o in objects], len(gc.get_objects())

    for _ in range(5):
        work()
    (before, objects), _ = counts(), counts()
    for _ in range(500):
        work()
    after, more = counts()
    assert all(b - a < 100 for a, b in zip(before, after, strict=True)), (before, after)
    assert more - objects < 100


def test_many_threads(way):
    x, w = tensor(np.arange(1000)), tensor(np.ones(1000), stop_gradient=False)

    def work(k):
        total = x * float(k)
        for _ in range(50):
            total = total + w
        with d2s.no_grad():
            assert (total + w).node is None
        return total.array

    with ThreadPoolExecutor(8) as pool:
        for k, found in enumerate(pool.map(work, range(32))):
            assert same_bits(found, x.array * np.float32(k) + np.float32(50))


def test_long_kernels_let_other_threads_run(way):
    """Correctness only: 2^18 elements go the way that gives the lock away."""
    x = tensor(np.arange(1 << 18))
    with ThreadPoolExecutor(4) as pool:
        assert all(same_bits(y.array, x.array + x.array) for y in pool.map(lambda _: x + x, range(16)))


@native
def test_a_door_has_its_limits(monkeypatch):
    monkeypatch.setattr(native_launcher, "CASES", 3)
    for size in range(1, 8):
        x = tensor(np.ones(size))
        assert all(r.tolist() == [2.0] * size for r in thrice(d2s.add, x, x))
    assert EAGER.doors[d2s.add].learned == 3


@native
def test_attributes_that_always_differ_are_not_learned():
    x = tensor(np.ones((2, 2, 2)))
    for axis in itertools.permutations(range(3), 2):
        d2s.sum(x, axis=axis)
    assert d2s.sum.door is None or EAGER.doors[d2s.sum].learned <= 3  # axes are sorted: three kinds, seen twice


@native
def test_an_attribute_made_anew_each_time_is_learned_few_times():
    x = tensor(np.ones((2, 2, 2)))
    for _ in range(50):
        assert d2s.sum(x, axis=tuple([0, 1])).tolist() == [4.0, 4.0]  # noqa: C409 - another object each time
    assert EAGER.doors[d2s.sum].learned <= 3


@native
def test_what_a_door_learned_from_may_go():
    def made():
        x, w = tensor(np.ones(7)), tensor(np.ones(7), stop_gradient=False)
        y = natively(d2s.add, x * 2.0, natively(d2s.multiply, x, w))
        return [weakref.ref(t) for t in (x, w, y)] + [weakref.ref(x.array), weakref.ref(y.array)]

    assert [r() for r in made()] == [None] * 5


@native
def test_many_cases_in_one_bucket_are_all_found():
    for size in range(1, 600):
        x = tensor(np.ones(size))
        natively(d2s.add, x, x)
    for size in range(1, 600):
        x = tensor(np.ones(size))
        assert d2s.add.door((x, x)).shape == [size]


@native
def test_words_are_those_the_native_text_reads():
    """A case is found by the words Python computes: for dtypes that are equal but not the same object, too."""
    x = tensor([1.0, 2.0])
    natively(d2s.add, x, x)
    other = d2s.Tensor(np.ones(2, np.dtype("float32", metadata={"a": 1})))
    assert d2s.add.door((x, other)).tolist() == [2.0, 3.0]


@native
def test_an_unfit_class_means_the_plain_way():
    class Odd(d2s.Tensor):
        pass  # has a __dict__

    assert not native_launcher.usable(EAGER.classes._replace(tensor=Odd(np.zeros(()))))
    assert not native_launcher.usable(EAGER.classes._replace(mode=object()))


@native
def test_doors_are_found_usable_under_no_grad(monkeypatch):
    with d2s.no_grad():
        assert native_launcher.usable(EAGER.classes)


@native
def test_a_wrong_layout_is_noticed(monkeypatch):
    plain = native_launcher.offsets

    def shifted(cls):
        found = plain(cls)
        found["stopped"], found["_grad"] = found["_grad"], found["stopped"]
        return found

    monkeypatch.setattr(native_launcher, "offsets", lambda cls: shifted(cls) if cls is d2s.Tensor else plain(cls))
    assert not native_launcher.usable(EAGER.classes)


def test_the_interpreters_launch_is_the_same_kernel(way):
    x, y = tensor([1.5, -2.0]), tensor([0.3, 7.0])
    kinds = [launch.type_of(a) for a in (x.array, y.array)]
    for found in thrice(d2s.multiply, x, y):
        assert same_bits(found.array, launch.run(d2s.multiply, kinds, (x.array, y.array), {}))


@pytest.mark.parametrize("rows", [1 << 14, (1 << 14) + 1, 1 << 18])
def test_large_arrays_begin_where_a_line_of_the_cache_does(rows):
    """Whoever makes them: Python, a door from the second call on, or a graph's call."""
    x = d2s.to_tensor(np.arange(rows, dtype=np.float32))
    doubled = d2s.jit.to_static(lambda x: x * 2.0)
    made = [x, d2s.zeros([rows]), *(x + x for _ in range(4)), *(doubled(x) for _ in range(4))]
    assert [t.array.ctypes.data % 64 for t in made] == [0] * len(made)
    assert all(np.array_equal(t.array, 2 * x.array) and t.array.flags.writeable for t in made[2:10])


def test_the_memory_of_a_large_array_goes_with_it():
    x = d2s.ones([1 << 20])
    for _ in range(4):
        y = x + x
    room = weakref.ref(y.array.base)
    assert room() is not None
    del y
    assert room() is None
