"""No stale result of what Python's own library keeps: caches, the environment, containers around containers, `vars`."""

import collections
import functools
import os
import types

import pytest

import d2s

X = d2s.to_tensor([1.0, 2.0])
AMOUNT = {"n": 1}
MADE = []
INNER = {"a": 1.0}
AROUND = {
    "dict": collections.UserDict(a=1.0),
    "chain": collections.ChainMap({}, INNER),
    "proxy": types.MappingProxyType(INNER),
}
LISTED = collections.UserList([1.0])
BYTES = bytearray(b"ab")
SEEN = memoryview(BYTES)
SETTINGS = types.SimpleNamespace(a=1.0)


@functools.lru_cache
def amount(k):
    MADE.append(k)
    return AMOUNT["n"] * k


@functools.cache
def weights():
    return d2s.to_tensor([1.0 * AMOUNT["n"], 2.0])


class Holder:
    def __init__(self):
        self.scale = 2

    @functools.cached_property
    def total(self):
        return self.scale * AMOUNT["n"]


HOLDER = Holder()


def shown(value):
    return value.tolist() if isinstance(value, d2s.Tensor) else value


def compared(function, begin, *changes):
    """Calls of the function, each behind a change, eager and static."""

    def run(called):
        begin()
        found = [shown(called(X)), shown(called(X))]
        for change in changes:
            change()
            found += [shown(called(X)), shown(called(X))]
        return found

    expected = run(function)
    assert run(d2s.to_static(function)) == expected
    assert expected[0] != expected[-1]


def begin():
    amount.cache_clear()
    weights.cache_clear()
    vars(HOLDER).pop("total", None)
    AMOUNT["n"] = 1


@pytest.mark.parametrize("function", [lambda x: x * amount(3), lambda x: weights() * x, lambda x: amount(k=2)])
def test_a_cache_that_is_cleared(function):
    def clear():
        amount.cache_clear()
        weights.cache_clear()

    compared(function, begin, lambda: AMOUNT.update(n=5), clear, lambda: AMOUNT.update(n=7), clear)


def test_what_a_cached_function_does_it_does_as_often():
    counts = []
    for function in (amount, d2s.to_static(lambda x: amount(4) * x)):
        begin()
        MADE.clear()
        for _ in range(3):
            function(4) if function is amount else function(X)
        counts.append(list(MADE))
    assert counts == [[4], [4]]


def test_a_cached_property_that_is_deleted_and_set():
    def set():
        HOLDER.total = 99

    def delete():
        del HOLDER.total

    compared(lambda x: x * HOLDER.total, begin, lambda: AMOUNT.update(n=5), delete, set, delete)


def of_environment(x):
    try:
        return x * float(os.environ["D2S_TEST_AMOUNT"])
    except KeyError:
        return x


@pytest.mark.parametrize("function", [of_environment, lambda x: x * 2 if "D2S_TEST_AMOUNT" in os.environ else x])
def test_the_environment(function, monkeypatch):
    compared(
        function,
        lambda: monkeypatch.delenv("D2S_TEST_AMOUNT", raising=False),
        lambda: monkeypatch.setenv("D2S_TEST_AMOUNT", "2"),
        lambda: monkeypatch.setenv("D2S_TEST_AMOUNT", "3"),
    )


def by_key(held):
    def found(x):
        try:
            return x * held["b"]
        except KeyError:
            return x

    return found


@pytest.mark.parametrize("kind", AROUND)
@pytest.mark.parametrize(
    "asks",
    [
        by_key,
        lambda held: lambda x: x * 2 if "b" in held else x,
        lambda held: lambda x: [k for _, k in enumerate(held)],
        lambda held: lambda x: (lambda first, *rest: rest)(*held),
        lambda held: lambda x: (lambda **named: sorted(named))(**held),
        lambda held: lambda x: list(map(str, held)),
    ],
    ids=["key", "in", "enumerate", "star", "two stars", "map"],
)
def test_an_object_around_a_dict(kind, asks):
    def begin():
        AROUND["dict"].pop("b", None)
        INNER.pop("b", None)

    def add():
        AROUND["dict"]["b"] = INNER["b"] = 2.0

    compared(asks(AROUND[kind]), begin, add)


@pytest.mark.parametrize(
    "asks",
    [
        lambda x: x * 2 if 3.0 in LISTED else x,
        lambda x: x if LISTED == [1.0] else x * 2,
        lambda x: list(zip(LISTED, LISTED, strict=True)),
        lambda x: list(reversed(LISTED)),
    ],
    ids=["in", "equal", "zip", "reversed"],
)
def test_an_object_around_a_list(asks):
    def begin():
        LISTED[:] = [1.0]

    compared(asks, begin, lambda: LISTED.append(3.0))


def test_memory_that_is_looked_at():
    def begin():
        BYTES[:] = b"ab"

    compared(lambda x: list(map(int, SEEN)), begin, lambda: BYTES.__setitem__(0, 7))


@pytest.mark.parametrize("function", [lambda x: dict(vars(SETTINGS)), lambda x: f"{SETTINGS}", lambda x: repr(SETTINGS)])
def test_an_attribute_that_is_there_later(function):
    def begin():
        vars(SETTINGS).clear()
        SETTINGS.a = 1.0

    compared(function, begin, lambda: setattr(SETTINGS, "b", 2.0))
