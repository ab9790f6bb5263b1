"""Items of a list out of one array: tensors in memory of their own, on the tape by number; nothing is left counted."""

import gc
import sys

import numpy as np
import pytest

import d2s
from d2s.autodiff import tape
from d2s.ops.dispatch import handlers
from d2s.runtime.differing import same_bits
from d2s.runtime.native_items import Items

pytestmark = pytest.mark.skipif(handlers.base.classes is None, reason="no native calls here")
SHAPES = [(3, 4), (2, 3, 5), (4,), (0, 3), (3, 0), (2, 70_000), (1, 1)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "float64"])
def test_tensors_and_arrays(shape, dtype):
    array = (np.arange(np.prod(shape)).reshape(shape) % 5).astype(dtype)
    items = Items(handlers.base.classes)
    tensors, arrays = items.tensors(array), items.arrays(array)
    assert len(tensors) == len(arrays) == len(array)
    for n, (tensor, found) in enumerate(zip(tensors, arrays, strict=True)):
        assert type(tensor) is d2s.Tensor and tensor.is_leaf and tensor.stop_gradient and tensor.grad is None
        assert same_bits(tensor.array, np.array(array[n])) and same_bits(found, tensor.array)
        assert not np.shares_memory(tensor.array, array) and not np.shares_memory(found, array)
        assert tensor.array.flags.carray


def test_on_the_tape():
    x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
    node, array = (x * 2.0).node, np.ones((3, 2), "float32")
    items = Items(handlers.base.classes, tape.Result(node, 1), 1, 4)
    assert [t.node.position for t in items.tensors(array, node)] == [5, 9, 13]
    assert all(t.node.node is node and not t.stop_gradient for t in items.tensors(array, node))
    assert all(t.node is None and t.stop_gradient for t in items.tensors(array))


def test_nothing_is_kept():
    x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
    node, array = (x * 2.0).node, np.ones((3, 2), "float32")
    items = Items(handlers.base.classes, tape.Result(node, 1), 1, 4)
    watched = node, array, array.dtype, d2s.Tensor, tape.Result
    gc.collect()
    before = [sys.getrefcount(o) for o in watched]
    for _ in range(100):
        items.tensors(array, node)
        items.arrays(array)
    gc.collect()
    assert [sys.getrefcount(o) for o in watched] == before
