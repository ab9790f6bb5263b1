"""Tensors and others: memory shared through DLPack, NumPy's protocols, pickles and copies, and what a tensor says of itself."""

import copy
import ctypes
import gc
import html.parser
import pickle
import subprocess
import sys
import weakref

import numpy as np
import printed
import pytest

import d2s
from d2s.errors import ArgumentError, D2SError, DTypeError, ExchangeError
from d2s.utils.dlpack import to_dlpack

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64"]


def tensor(values=(1.0, 2.0, 3.0), **given):
    return d2s.to_tensor(list(values), **given)


def in_numpy(x):
    """A tensor's memory as NumPy takes it, made writable where NumPy (before 2.1) takes all such memory for read-only."""
    found = np.from_dlpack(x)
    if found.flags.writeable or not found.size:
        return found if found.size else found.copy()
    pointer = ctypes.cast(found.ctypes.data, ctypes.POINTER(ctypes.c_ubyte))
    return np.ctypeslib.as_array(pointer, (found.nbytes,)).view(found.dtype).reshape(found.shape)


# --- DLPack ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0)])
def test_memory_is_shared_with_numpy_both_ways(dtype, shape):
    ours = d2s.to_tensor(np.ones(shape, dtype))
    theirs = in_numpy(ours)
    assert theirs.shape == shape and theirs.dtype == dtype
    theirs[...] = 0
    assert not ours.numpy().any()
    back = d2s.from_dlpack(theirs)
    theirs[...] = 1
    assert back.numpy().all() and back.dtype == dtype


class Foreign:
    """What a library other than NumPy hands over: `asked` sees how it was asked."""

    def __init__(self, array, device=(1, 0), versioned=True):
        self.array, self.device, self.versioned, self.asked = array, device, versioned, []

    def __dlpack__(self, **asked):
        self.asked.append(asked)
        if asked and not self.versioned:
            raise TypeError("__dlpack__() got an unexpected keyword argument")
        return self.array.__dlpack__(**asked)

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("versioned", [True, False])
def test_memory_of_other_libraries_is_shared(versioned):
    theirs = np.zeros(3, "float32")
    ours = d2s.from_dlpack(Foreign(theirs, versioned=versioned))
    theirs[0] = 5
    ours.set_value([5.0, 7.0, ours.tolist()[2]])
    assert ours.tolist() == theirs.tolist() == [5, 7, 0]


def test_capsules_share_memory_once():
    ours = tensor()
    capsule = to_dlpack(ours)
    again = d2s.from_dlpack(capsule)
    again.array[0] = 9
    assert ours.tolist() == [9, 2, 3]
    with pytest.raises(ExchangeError, match=r"D2S3003.*a capsule that is used up"):
        d2s.from_dlpack(capsule)


def test_results_are_computed_from_what_the_other_side_wrote():
    ours = tensor()
    theirs = in_numpy(ours)
    theirs += 1
    assert (ours * 2).tolist() == [4, 6, 8]


def misaligned():
    memory = np.zeros(4 * 4 + 1, "uint8")
    return memory[1:].view("float32")


def read_only():
    array = np.zeros(4, "float32")
    array.flags.writeable = False
    return array


ODD = {
    "strided": lambda: np.zeros(8, "float32")[::2],
    "backwards": lambda: np.zeros(4, "float32")[::-1],
    "transposed": lambda: np.zeros((2, 3), "float32").T,
    "broadcast": lambda: np.broadcast_to(np.float32(1), (4,)),
    "misaligned": misaligned,
    "read-only": read_only,
    "of another byte order": lambda: np.arange(3, dtype=">f4"),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_memory_is_copied(kind):
    array = ODD[kind]()
    ours = d2s.from_dlpack(array)
    assert ours.tolist() == array.tolist()
    assert ours.array.flags.c_contiguous and ours.array.flags.aligned and ours.array.flags.writeable
    assert not np.shares_memory(ours.array, array)
    with pytest.raises(ExchangeError, match="D2S3003"):
        d2s.from_dlpack(array, copy=False)


@pytest.mark.parametrize("kind", ["strided", "backwards", "transposed"])
def test_odd_memory_of_other_libraries_is_copied(kind):
    array = ODD[kind]()
    ours = d2s.from_dlpack(Foreign(array))
    ours.array[...] = 1
    assert not array.any()


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="this NumPy cannot say that memory is read-only")
def test_read_only_memory_of_other_libraries_is_copied():
    array = read_only()
    ours = d2s.from_dlpack(Foreign(array))
    ours.array[0] = 1
    assert not array.any()


def test_a_copy_is_made_where_asked_for():
    array = np.zeros(3)
    ours = d2s.from_dlpack(array, copy=True)
    ours.array[0] = 1
    theirs = d2s.from_dlpack(ours.__dlpack__(copy=True))
    theirs.array[1] = 1
    assert array.tolist() == [0, 0, 0] and ours.tolist() == [1, 0, 0]
    assert np.shares_memory(d2s.from_dlpack(array, copy=False).array, array)


def test_read_only_memory_of_ours_is_handed_over_as_a_copy():
    ours = d2s.Tensor(read_only())
    theirs = in_numpy(d2s.from_dlpack(ours.__dlpack__()))
    theirs[0] = 1
    assert not ours.numpy().any()
    with pytest.raises(ExchangeError, match="read-only"):
        ours.__dlpack__(copy=False)


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_either_side_may_go_first(first):
    both = {"ours": d2s.to_tensor(np.arange(100_000.0))}
    both["theirs"] = np.from_dlpack(both["ours"])
    del both[first]
    gc.collect()
    np.arange(100_000.0) * -1  # takes the memory if it is free
    assert float(np.asarray(next(iter(both.values()))).sum()) == 99_999 * 50_000


@pytest.mark.parametrize("versioned", [True, False])
def test_memory_lives_as_long_as_a_tensor_needs_it(versioned):
    freed = []

    class Watched(np.ndarray):
        def __del__(self):
            freed.append(1)

    array = np.zeros(1000).view(Watched)
    ours = d2s.from_dlpack(Foreign(array, versioned=versioned))
    del array
    gc.collect()
    assert not freed and ours.numpy().sum() == 0
    del ours
    gc.collect()
    assert freed


def test_a_capsule_keeps_memory_until_nobody_takes_it():
    ours = tensor()
    memory = weakref.ref(ours.array)
    capsule = to_dlpack(ours)
    del ours
    gc.collect()
    assert memory() is not None
    del capsule
    gc.collect()
    assert memory() is None


def test_a_tensor_that_wants_a_gradient_is_detached_first():
    ours = tensor(stop_gradient=False)
    for x in (ours, ours * 2):
        with pytest.raises(BufferError, match=r"D2S3003.*(.|\n)*x\.detach\(\)"):
            x.__dlpack__()
    assert np.from_dlpack(ours.detach()).tolist() == [1, 2, 3]
    assert d2s.from_dlpack(to_dlpack(ours)).stop_gradient


@pytest.mark.parametrize(
    "asked",
    [{"stream": 1}, {"dl_device": (2, 0)}, {"dl_device": "cpu"}, {"max_version": 1}, {"max_version": ("1", "0")}],
)
def test_a_tensor_refuses_what_it_cannot_hand_over(asked):
    with pytest.raises(ExchangeError, match="D2S3003"):
        tensor().__dlpack__(**asked)


def test_a_tensor_says_where_it_is():
    assert tensor().__dlpack_device__() == (1, 0)
    assert tensor().__dlpack__(dl_device=(1, 0), stream=None, max_version=(1, 0)) is not None


class Hostile:
    def __init__(self, capsule=None, device=(1, 0)):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **_):
        return self.capsule() if callable(self.capsule) else self.capsule

    def __dlpack_device__(self):
        return self.device() if callable(self.device) else self.device


def fails():
    raise ZeroDivisionError("on the other side")


def unknown_capsule():
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(1, None, None)


class OnlyHalf:
    def __dlpack__(self):
        return None


GARBAGE = [
    *(None, 3, "x", [1.0], object(), np.float32(1), OnlyHalf(), unknown_capsule),
    *(Hostile(c) for c in (None, 3, "dltensor", fails, object(), unknown_capsule)),
    *(Hostile(np.zeros(2).__dlpack__, d) for d in ((2, 0), (13, 0), None, 3, (1,), (1, 0, 0), ("cpu", 0), fails)),
    *(Foreign(np.zeros(2, dtype)) for dtype in ("complex64", "float16", "uint32", "S3", "O")),
    *(np.zeros(2, dtype) for dtype in ("complex64", "uint64", "S3", "O", "M8[s]")),
]


@pytest.mark.parametrize("n", range(len(GARBAGE)))
def test_garbage_is_a_coded_error(n):
    given = GARBAGE[n]() if GARBAGE[n] is unknown_capsule else GARBAGE[n]
    with pytest.raises(ExchangeError, match=r"D2S3003\] from_dlpack\(\): "):
        d2s.from_dlpack(given)


def test_the_error_of_the_other_side_is_told():
    with pytest.raises(ExchangeError, match="ZeroDivisionError: on the other side") as caught:
        d2s.from_dlpack(Hostile(fails))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_gpus_are_not_wanted():
    with pytest.raises(ArgumentError, match="there is no GPU"):
        d2s.from_dlpack(np.zeros(2), device=d2s.CUDAPlace(0))


def test_memory_is_shared_with_torch_both_ways():
    torch = pytest.importorskip("torch")
    ours = tensor()
    theirs = torch.from_dlpack(ours)
    theirs[0] = 5
    ours.set_value([5.0, 7.0, ours.tolist()[2]])
    assert theirs.tolist() == ours.tolist() == [5, 7, 3]
    theirs = torch.ones(2, 3)
    ours = d2s.from_dlpack(theirs)
    theirs[0, 0] = 5
    ours.set_value([[5.0, 1.0, 1.0], [1.0, 1.0, 7.0]])
    assert theirs.tolist() == ours.tolist() == [[5, 1, 1], [1, 1, 7]]
    assert d2s.from_dlpack(torch.ones(2, 3).t()).shape == [3, 2]
    assert d2s.from_dlpack(torch.tensor([True, False])).tolist() == [True, False]
    with pytest.raises(ExchangeError):
        d2s.from_dlpack(torch.ones(2, requires_grad=True))
    with pytest.raises(ExchangeError):
        d2s.from_dlpack(torch.ones(2, dtype=torch.bfloat16))


# --- NumPy's protocols -------------------------------------------------------------------------------------------------------


def test_arrays_are_copies():
    ours = tensor()
    for array in (np.asarray(ours), np.array(ours), ours.__array__(), ours.__array__(None, True), ours.numpy()):
        array[0] = 9
        assert array.dtype == np.float32
    assert ours.tolist() == [1, 2, 3]


def test_arrays_take_a_dtype():
    assert np.asarray(tensor(), "float64").dtype == np.float64
    assert np.array(tensor(), dtype=np.int32).tolist() == [1, 2, 3]
    assert np.asarray(tensor(stop_gradient=False)).tolist() == [1, 2, 3]


def test_an_array_without_a_copy_is_the_memory_itself():
    ours = tensor()
    ours.__array__(copy=False)[0] = 9
    assert ours.tolist() == [9, 2, 3]
    assert np.shares_memory(ours.__array__(np.float32, False), ours.array)
    with pytest.raises(ValueError, match=r"D2S0004.*without a copy"):
        ours.__array__("float64", copy=False)


# --- pickles and copies ------------------------------------------------------------------------------------------------------

WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{f"pickle {p}": lambda x, p=p: pickle.loads(pickle.dumps(x, protocol=p)) for p in range(6)},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_copies_have_memory_of_their_own(way, dtype):
    first = d2s.to_tensor(np.ones((2, 3), dtype))
    second = WAYS[way](first)
    assert type(second) is d2s.Tensor and second.dtype == dtype and second.shape == [2, 3]
    second.array[...] = 0
    assert first.numpy().all() and second.stop_gradient


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_leaf_is_a_leaf_that_wants_a_gradient(way):
    first = tensor(stop_gradient=False)
    first.name = "w"
    (first * 2).sum().backward()
    second = WAYS[way](first)
    assert second.is_leaf and not second.stop_gradient and second.grad is None
    assert second.name.startswith("w")
    (second * 3).sum().backward()
    assert second.grad.tolist() == [3, 3, 3] and first.grad.tolist() == [2, 2, 2]


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_result_is_a_leaf_without_history(way):
    x = tensor(stop_gradient=False)
    y = x * 2
    second = WAYS[way](y)
    assert second.is_leaf and not second.stop_gradient and second.tolist() == [2, 4, 6]
    second.sum().backward()
    assert x.grad is None and not y.is_leaf


def test_a_deep_copy_has_a_name_of_its_own():
    x = tensor()
    assert copy.deepcopy(x).name == ""
    x.name = "w"
    names = {copy.deepcopy(x).name for _ in range(3)}
    assert len(names) == 3 and all(name.startswith("w_deepcopy_") for name in names)
    assert pickle.loads(pickle.dumps(x)).name == copy.copy(x).name == "w"


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_copied_dtype_is_the_dtype(dtype):
    found = d2s.to_tensor(np.zeros(1, dtype)).dtype
    assert all(way(found) is found for way in WAYS.values())


def test_one_tensor_met_twice_is_copied_once():
    x = tensor()
    for way in ("deepcopy", "pickle 4"):
        a, b, c = WAYS[way]([x, x, tensor()])
        assert a is b and a is not c


def test_a_parameter_carries_what_users_note_on_it():
    weight = d2s.nn.Linear(2, 2).weight
    weight.notes, weight.itself = ["kept"], weight
    twin = copy.deepcopy(weight)
    assert twin.notes == ["kept"] and twin.notes is not weight.notes and twin.itself is twin
    twin.optimize_attr["learning_rate"] = 0.5
    assert weight.optimize_attr == {"learning_rate": 1.0}
    del weight.itself
    assert pickle.loads(pickle.dumps(weight)).notes == ["kept"]


class Tagged(d2s.Tensor):
    __slots__ = ("tag", "unset")


class Free(d2s.Tensor):
    pass


@pytest.mark.parametrize("way", WAYS)
def test_kinds_of_tensors_keep_what_they_add(way):
    x = Tagged(np.zeros(2))
    x.tag = "t"
    assert type(WAYS[way](x)) is Tagged and WAYS[way](x).tag == "t" and not hasattr(WAYS[way](x), "unset")
    y = Free(np.zeros(2))
    y.note = [1]
    assert type(WAYS[way](y)) is Free and WAYS[way](y).note == [1]
    assert isinstance(WAYS[way](d2s.nn.Linear(2, 2).weight), d2s.nn.Parameter)


def test_a_pickle_of_buffers_out_of_band_is_writable():
    buffers = []
    data = pickle.dumps(tensor(), 5, buffer_callback=buffers.append)
    back = pickle.loads(data, buffers=[bytes(b.raw()) for b in buffers])
    assert back.array.flags.writeable and back.tolist() == [1, 2, 3]


def test_a_pickle_is_read_by_another_process():
    text = "import pickle, sys; x = pickle.load(sys.stdin.buffer); print(x.tolist(), x.stop_gradient)"
    data = pickle.dumps(tensor(stop_gradient=False))
    done = subprocess.run([sys.executable, "-c", text], input=data, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[1.0, 2.0, 3.0] False"


@d2s.to_static
def decorated(x):
    return x * 2 if x.sum() > 0 else x


def undecorated(x):
    return x * 3 if x.sum() > 0 else x


class Net(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = d2s.nn.Linear(3, 1)

    def forward(self, x):
        return self.inner(x) if x.sum() > 0 else self.inner(-x)


class StaticNet(Net):
    @d2s.to_static
    def forward(self, x):
        return self.inner(x) if x.sum() > 0 else self.inner(x * 0.0)


def row():
    return d2s.to_tensor([[1.0, 2.0, 3.0]])


def through_pickle(x):
    return pickle.loads(pickle.dumps(x))


def test_static_functions_pickle_by_name():
    assert through_pickle(decorated) is decorated
    again = through_pickle(d2s.to_static(undecorated))
    assert again(tensor()).tolist() == [3, 6, 9] and type(again) is type(decorated)


@pytest.mark.parametrize("made", [Net, StaticNet])
def test_static_layers_pickle(made):
    layer = made() if made is StaticNet else d2s.to_static(made())
    before = layer(row())
    again = through_pickle(layer)
    assert again(row()).tolist() == before.tolist()
    again.inner.weight.set_value(np.zeros((3, 1), "float32"))
    assert again(row()).tolist() == [[0.0]] and layer(row()).tolist() == before.tolist()
    assert "forward" not in vars(again) or again.forward.owner is again


def test_a_bound_static_method_pickles_with_its_layer():
    layer = StaticNet()
    assert through_pickle(layer.forward)(row()).tolist() == layer(row()).tolist()


# --- text --------------------------------------------------------------------------------------------------------------------

HEAD = "Tensor(shape={}, dtype={}, place=Place(cpu), stop_gradient=True,\n       "
PRINTED = [  # as Paddle 3.3.1 prints them
    (np.float32(3.5), "3.50000000"),
    (np.float32(-0.0), "-0."),
    (np.float32("nan"), "nan"),
    (np.float32("-inf"), "-inf."),
    (np.float32(1e-40), "0.00000000"),
    (np.float32(3e38), "300000000549775575777803994281145270272."),
    (np.int64(-3), "-3"),
    (np.bool_(True), "True"),
    (np.zeros(0, "float32"), "[]"),
    (np.zeros((3, 0, 2), "int64"), "[[],\n\n        [],\n\n        []]"),
    (np.array([1, 2], "float32"), "[1., 2.]"),
    (np.array([1, -20, 300]), "[ 1 , -20, 300]"),
    (np.array([True, False]), "[True , False]"),
    (np.array([-(2**63), 2**63 - 1]), "[-9223372036854775808,  9223372036854775807]"),
    (
        np.array([1.5, np.nan, np.inf, -np.inf, 0, -0.0], "float32"),
        "[1.50000000,  nan      ,  inf.     , -inf.     ,  0.       ,  -0.      ]",
    ),
    (
        np.array([[-0.24989827, 0.66201270], [-1.58135796, 0.07232992]], "float32"),
        "[[-0.24989827,  0.66201270],\n        [-1.58135796,  0.07232992]]",
    ),
    (np.arange(8.0).reshape(2, 2, 2), "[[[0., 1.],\n         [2., 3.]],\n\n        [[4., 5.],\n         [6., 7.]]]"),
    (np.zeros(2000, "float32"), "[0., 0., 0., ..., 0., 0., 0.]"),
    (
        np.arange(2002).reshape(1001, 2) % 7,
        "[[0, 1],\n        [2, 3],\n        [4, 5],\n        ...,\n        [1, 2],\n        [3, 4],\n        [5, 6]]",
    ),
    (
        np.arange(20, dtype="float32"),
        "[0. , 1. , 2. , 3. , 4. , 5. , 6. , 7. , 8. , 9. , 10., 11., 12., 13.,\n        14., 15., 16., 17., 18., 19.]",
    ),
]


@pytest.mark.parametrize("n", range(len(PRINTED)))
def test_a_tensor_prints_as_in_paddle(n):
    array, text = PRINTED[n]
    assert repr(d2s.to_tensor(array)) == HEAD.format(list(array.shape), array.dtype) + text + ")"


@pytest.mark.parametrize("options", printed.OPTIONS, ids=str)
@pytest.mark.parametrize("kind", printed.KINDS)
def test_many_tensors_print_as_in_paddle(kind, options):
    found = printed.digests(d2s, options, kind).split()
    wanted = printed.stored()[printed.name(options, kind)].split()
    assert [shape for shape, a, b in zip(printed.SHAPES, found, wanted, strict=True) if a != b] == []


def test_str_is_repr_and_a_gradient_shows():
    x = tensor(stop_gradient=False)
    assert str(x) == repr(x) and "stop_gradient=False,\n" in str(x)
    assert repr(d2s.nn.Linear(1, 1).bias) == "Parameter containing:\n" + repr(tensor([0.0], stop_gradient=False))


@pytest.mark.parametrize("shape", [(10**9, 0), (0, 10**9), (3, 10**9, 0)])
def test_many_rows_of_nothing_are_left_out(shape):
    assert len(repr(d2s.Tensor(np.empty(shape)))) < 400


BAD_OPTIONS = [
    *({"precision": -1}, {"precision": 10**6}, {"edgeitems": 0}, {"linewidth": 0}, {"threshold": -5}),
    *({"precision": "8"}, {"threshold": 2.5}, {"edgeitems": True}, {"sci_mode": 1}, {"linewidth": [80]}),
]


@pytest.mark.parametrize("given", BAD_OPTIONS, ids=str)
def test_bad_print_options_change_nothing(given):
    with pytest.raises(D2SError, match=rf"set_printoptions\(\): '{next(iter(given))}'"):
        d2s.set_printoptions(**{"precision": 2, **given})
    assert "1.50000000" in repr(tensor([1.5]))


class Checked(html.parser.HTMLParser):
    """Counts tags; every tag is closed, in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.text = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize(
    "shape, rows, cells",
    [((3,), 2, 3), ((2, 4), 3, 8), ((10, 1), 11, 10), ((11, 1), 12, 11), ((1000, 1000), 12, 121), ((10**6,), 2, 11)],
)
def test_notebooks_show_a_table(shape, rows, cells):
    text = d2s.to_tensor(np.ones(shape, "float32"))._repr_html_()
    page = Checked(text)
    assert page.seen.count("tr") == rows and page.seen.count("td") == cells and len(text) < 8000
    assert page.text[0] == f"Tensor(shape={list(shape)}, dtype=float32, place=Place(cpu), stop_gradient=True)"
    indices = {"4", "…", str(max(shape) - 5), str(max(shape) - 1)}
    assert max(shape) <= 10 or indices <= set(page.text)


@pytest.mark.parametrize("shape", [(), (0,), (2, 2, 2), (0, 3)])
def test_notebooks_show_other_tensors_as_text(shape):
    page = Checked(d2s.to_tensor(np.ones(shape, "float32"))._repr_html_())
    assert "pre" in page.seen and "table" not in page.seen


def test_what_notebooks_show_is_escaped():
    class Odd(d2s.Tensor):
        def _head(self):
            return "<script>&"

    assert "&lt;script&gt;&amp;" in Odd(np.zeros(2))._repr_html_()


def test_one_element_takes_a_format():
    assert (
        f"{d2s.to_tensor(1.5):.3f}|{d2s.to_tensor([[1.5]]):.1f}|{d2s.to_tensor(7):04d}|{d2s.to_tensor(True)}"
        == "1.500|1.5|0007|True"
    )
    assert f"{d2s.to_tensor(3.0)}" == "3.0" and f"{tensor()}" == repr(tensor()) and f"{tensor([1.0])}" == repr(tensor([1.0]))
    with pytest.raises(DTypeError, match=r"shape \[3\] takes no format"):
        f"{tensor():.2f}"
    with pytest.raises(ArgumentError, match=r"D2S0004.*Unknown format code"):
        f"{d2s.to_tensor(1.5):d}"


# --- facts -------------------------------------------------------------------------------------------------------------------


def test_facts_of_a_tensor():
    x = d2s.to_tensor(np.zeros((2, 3), "float64"))
    assert (x.dim(), x.ndimension(), x.element_size(), x.itemsize, x.nbytes, len(x)) == (2, 2, 8, 8, 48, 2)
    assert (x.numel().item(), x.numel().dtype, x.numel().shape) == (6, "int64", [])
    assert (x.rank().item(), x.rank().dtype) == (2, "int32")
    assert x.cpu() is x and x.place == d2s.CPUPlace() and x.place.is_cpu_place() and not x.place.is_gpu_place()
    assert hash(x) == hash(x) and x in {x} and complex(d2s.to_tensor([2])) == 2 + 0j
    assert d2s.is_tensor(x) and not d2s.is_tensor(x.numpy())
    with pytest.raises(TypeError, match=r"D2S0001.*0-D"):
        len(d2s.to_tensor(1.0))
    with pytest.raises(ArgumentError, match=r"shape \[2, 3\]"):
        complex(x)
    with pytest.raises(ArgumentError, match="no GPU"):
        x.cuda()


@pytest.mark.parametrize("place", ["cpu", "CPU", "cpu:0", None, d2s.CPUPlace()])
def test_the_cpu_is_the_place(place):
    assert d2s.to_tensor([1.0], place=place).place == d2s.CPUPlace()
    assert d2s.set_device(place) == d2s.CPUPlace() and d2s.get_device() == "cpu"


@pytest.mark.parametrize("place", [d2s.CUDAPlace(0), d2s.CUDAPlace(3), "gpu", "gpu:1", "xpu"])
def test_using_a_gpu_says_that_there_is_none(place):
    for use in (lambda: d2s.to_tensor([1.0], place=place), lambda: d2s.set_device(place)):
        with pytest.raises(ValueError, match=r"D2S0004.*no GPU"):
            use()
    assert not d2s.is_compiled_with_cuda()


@pytest.mark.parametrize("place", ["", "tpu", "cpu:", "gpu:x", "gpu:٣", 3, b"cpu", ["cpu"]])
def test_what_is_no_place_is_refused(place):
    with pytest.raises(D2SError, match=r"D2S000[14]"):
        d2s.set_device(place)


@pytest.mark.parametrize("id", [-1, 1.5, "0", True, None])
def test_what_is_no_number_of_a_gpu_is_refused(id):
    with pytest.raises(ArgumentError):
        d2s.CUDAPlace(id)


@pytest.fixture
def float64():
    d2s.set_default_dtype("float64")
    yield
    d2s.set_default_dtype("float32")


def test_the_default_dtype_is_that_of_floats_without_one(float64):
    assert d2s.get_default_dtype() == "float64"
    for made in (
        tensor(),
        d2s.rand([2]),
        d2s.randn([2]),
        d2s.uniform([2]),
        d2s.normal(0.0, 1.0, [2]),
        d2s.nn.Linear(1, 1).weight,
    ):
        assert made.dtype == "float64"
    for kept in (
        d2s.to_tensor(np.zeros(2, "float32")),
        tensor(dtype="float32"),
        d2s.to_tensor([1]) / 2,
        d2s.to_tensor([1]) + 2.5,
    ):
        assert kept.dtype == "float32"
    assert d2s.to_tensor([1]).dtype == "int64"


def test_what_was_captured_under_another_default_dtype_is_captured_anew(capsys):
    static, x = d2s.to_static(lambda x: x + 1), tensor()
    static(x)
    try:
        d2s.set_default_dtype("float64")
        with d2s.config(PRINT="recompiles"):
            static(x)
    finally:
        d2s.set_default_dtype("float32")
    assert "the default dtype changed" in capsys.readouterr().out


@pytest.mark.parametrize("dtype", ["int32", None, "bool", "flaot32", 3, [1]])
def test_other_default_dtypes_are_refused(dtype):
    with pytest.raises(TypeError, match="D2S0003"):
        d2s.set_default_dtype(dtype)
    assert d2s.get_default_dtype() == "float32"


def test_limits():
    assert (d2s.iinfo("int8").min, d2s.iinfo(d2s.int64).max, d2s.iinfo("uint8").bits) == (-128, 2**63 - 1, 8)
    single = d2s.finfo("float32")
    assert (single.max, single.tiny) == (
        3.4028234663852886e38,
        1.1754943508222875e-38,
    ) and single.smallest_normal == single.tiny
    assert (single.eps, single.resolution, single.bits, single.dtype) == (1.1920928955078125e-07, 1e-06, 32, "float32")
    assert repr(single) == (
        "d2s.finfo(min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, resolution=1e-06, smallest_normal=1.17549e-38, "
        "tiny=1.17549e-38, bits=32, dtype=float32)"
    )
    for wrong in (lambda: d2s.iinfo("float32"), lambda: d2s.finfo("int8"), lambda: d2s.iinfo("bool"), lambda: d2s.finfo(None)):
        with pytest.raises(DTypeError, match="D2S0003"):
            wrong()


def test_flags():
    before = d2s.get_flags("FLAGS_benchmark")
    d2s.set_flags({"FLAGS_benchmark": True})
    assert d2s.get_flags(["FLAGS_benchmark", "FLAGS_use_mkldnn"]) == {"FLAGS_benchmark": True, "FLAGS_use_mkldnn": False}
    d2s.set_flags(before)
    d2s.set_flags({"FLAGS_check_nan_inf": False})
    wrong = [{"FLAGS_zzz": 1}, {3: 1}, {"FLAGS_benchmark": []}, 3, None, ["FLAGS_benchmark"]]
    for flags in wrong:
        with pytest.raises(D2SError):
            d2s.set_flags(flags)
    for names in ("zzz", 3, None, [3], [["FLAGS_benchmark"]]):
        with pytest.raises(D2SError):
            d2s.get_flags(names)
    assert d2s.get_flags("FLAGS_benchmark") == before


def test_an_installation_checks_itself(capsys):
    d2s.utils.run_check()
    assert f"d2s {d2s.__version__} works" in capsys.readouterr().out


def test_one_float_made_an_int_stays_0_d():
    assert d2s.to_tensor(1.5, "int64").shape == []
    assert d2s.to_tensor(np.float64(-1.5), "int32").tolist() == -1
