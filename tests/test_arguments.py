"""Paddle's `name=`: every published function takes it, says what it cannot be, and stays what it is otherwise."""

import inspect
import pickle
import types

import pytest

import d2s
from d2s.arguments import labelled
from d2s.errors import ArgumentError, DTypeError

PUBLISHED = {"d2s": d2s, "Tensor": d2s.Tensor, "nn.functional": d2s.nn.functional, "linalg": d2s.linalg}
MADE_OF_OPS = ("d2s.ops.", "d2s.linalg.")


def takes_name(function):
    code = function.__code__
    return "name" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] or code.co_flags & inspect.CO_VARKEYWORDS


def test_every_published_function_takes_a_name():
    found = {}
    for where, namespace in PUBLISHED.items():
        for name in dir(namespace):
            value = getattr(namespace, name)
            if isinstance(value, types.FunctionType) and value.__module__.startswith(MADE_OF_OPS) and name[0] != "_":
                found[f"{where}.{name}"] = takes_name(value)
    assert len(found) > 150
    assert [name for name, takes in found.items() if not takes] == []


def test_nothing_comes_of_a_name():
    x = d2s.to_tensor([[1.5, -2.0], [0.5, 4.0]])
    calls = [d2s.frac, d2s.nansum, d2s.t, d2s.median, d2s.diagflat, d2s.tril_, d2s.linalg.inv, d2s.unique, d2s.nonzero]
    for call in calls:
        assert repr(call(x.clone(), name="label")) == repr(call(x.clone(), name=None)) == repr(call(x.clone()))
    assert x.frac(name="label").tolist() == x.frac().tolist() and x.clone().uniform_(2.0, 3.0, name="u").shape == [2, 2]
    for call in (d2s.frac, x.frac, d2s.add, x.cumsum, x.tril_):
        with pytest.raises(ArgumentError, match=r"'name' is 3, expected a string or None"):
            call(*([x] if call in (d2s.frac, d2s.add) else []), name=3)


def test_one_function_under_all_its_names():
    assert d2s.frac is d2s.Tensor.frac is d2s.ops.near.frac and pickle.loads(pickle.dumps(d2s.frac)) is d2s.frac
    assert labelled(d2s.frac.__wrapped__) is d2s.frac and d2s.frac.__name__ == "frac" and "behind the point" in d2s.frac.__doc__
    with pytest.raises(TypeError, match=r"frac\(\) missing 1 required positional argument: 'x'"):
        d2s.frac()


def test_names_in_a_captured_function():
    def f(x):
        return d2s.lerp(x, x * 2.0, 0.5, name="between").frac(name="rest")

    assert d2s.to_static(f)(d2s.ones([2])).tolist() == f(d2s.ones([2])).tolist() == [0.5, 0.5]


def test_a_name_behind_all_arguments():
    x = d2s.to_tensor([[1.5, -2.0], [0.5, 4.0]])
    assert d2s.add(x, x, "label").tolist() == d2s.add(x, x, None).tolist() == (x + x).tolist()
    assert d2s.sum(x, 0, None, True, "label").tolist() == x.sum(0, None, True).tolist()
    assert d2s.std(x, 0, True, False, "label").tolist() == x.std(0).tolist()
    assert d2s.tril_(x.clone(), 0, "label").tolist() == x.tril().tolist()
    for call in (lambda: d2s.add(x, x, 3), lambda: d2s.add(x, x, "label", "label"), lambda: d2s.std(x, 0, True, False, 3)):
        with pytest.raises((ArgumentError, TypeError), match=r"too many positional arguments|takes from 1 to 4 positional"):
            call()


def test_results_are_put_into_out():
    x, y, out = d2s.to_tensor([6, 12]), d2s.to_tensor([4, 10]), d2s.zeros([2], "int64")
    assert d2s.bitwise_and(x, y, out) is out and out.tolist() == [4, 8]
    assert d2s.logical_not(x, out=out) is out and out.tolist() == [False, False] and out.dtype == d2s.bool
    assert d2s.bitwise_or(x, y, None).tolist() == d2s.bitwise_or(x, y).tolist()
    with pytest.raises(DTypeError, match=r"bitwise_xor\(\): argument 'out' expects a Tensor, got int"):
        d2s.bitwise_xor(x, y, out=3)


def test_functions_that_change_a_tensor_take_it_by_name():
    x = d2s.to_tensor([1.0, 2.0])
    assert d2s.addmm_(input=x.reshape([1, 2]), x=d2s.ones([1, 1]), y=d2s.ones([1, 2])).tolist() == [[2.0, 3.0]]
    assert d2s.where_(condition=x > 1.0, x=x, y=d2s.zeros([2])) is x and x.tolist() == [0.0, 2.0]
    with pytest.raises(TypeError, match=r"trunc_\(\) missing 1 required positional argument: 'input'"):
        d2s.trunc_()
    with pytest.raises(DTypeError, match=r"trunc_\(\): argument 'input' expects a Tensor, got int"):
        d2s.trunc_(3)
