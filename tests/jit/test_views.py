"""Views of dicts that a captured function returns or stores are views of the dicts it returns, or was given."""

import collections

import pytest

import d2s

X, Y = d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([-3.0, 1.0])


def by_path(x):
    d = {"a": x, "b": x * 2}
    if x.sum() > 0:
        d["c"] = 1
    return d


RETURNING = {
    "keys by the path": lambda x: by_path(x).keys(),
    "values by the path": lambda x: by_path(x).values(),
    "items by the path": lambda x: by_path(x).items(),
    "keys": lambda x: {"a": x}.keys(),
    "items": lambda x: {"a": x * 2}.items(),
    "of an OrderedDict": lambda x: collections.OrderedDict(a=x, b=1).keys(),
    "one of two": lambda x: by_path(x).keys() if x[0] > 0 else {"q": x}.values(),
    "several": lambda x: [by_path(x).keys(), {"v": by_path(x).values()}],
}


def shown(value):
    if isinstance(value, d2s.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {k: shown(v) for k, v in value.items()}
    return (type(value), [shown(v) for v in value]) if hasattr(value, "__iter__") and type(value) is not str else value


@pytest.mark.parametrize("name", RETURNING)
def test_what_is_returned(name):
    function = RETURNING[name]
    static = d2s.to_static(function)
    for x in (X, Y, X, X, Y):
        assert shown(static(x)) == shown(function(x))


def test_a_view_is_of_the_dict_that_is_returned_with_it():
    @d2s.to_static
    def both(x):
        d = by_path(x)
        return d, d.keys(), d.values()

    for x in (X, Y, X):
        d, keys, values = both(x)
        d["new"] = 7
        assert "new" in keys
        assert list(values)[-1] == 7


def test_a_view_is_of_the_dict_that_is_given():
    @d2s.to_static
    def shows(d):
        seen = d.values()
        d["n"] = 1
        return seen, len(seen), d.keys()

    for _ in range(3):
        d = {"a": X}
        seen, count, keys = shows(d)
        d["later"] = 2
        assert (list(seen), count, list(keys)) == ([X, 1, 2], 2, ["a", "n", "later"])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: enumerate(list(by_path(x))),
        lambda x: zip(by_path(x), by_path(x), strict=True),
        lambda x: reversed(list(by_path(x))),
        lambda x: map(len, by_path(x)),
        lambda x: iter([x]),
        lambda x: (v for v in [x]),
    ],
)
def test_an_iterator_that_leaves_is_refused(function):
    with pytest.raises(d2s.errors.CaptureError, match="D2S10"):
        d2s.to_static(function)(X)
