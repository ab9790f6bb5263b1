"""Warnings and log records that name a line further out name the user's, as eagerly, and as often."""

import functools
import logging
import os
import sys
import warnings

import numpy as np
import pytest

import d2s

X, Y = d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([-3.0, 1.0])
LOG = logging.getLogger("callers")


def here(x):
    warnings.warn("here", stacklevel=2)
    return x * 2


def by_place(x):
    warnings.warn("by place", DeprecationWarning, 2)
    return x


def by_path(x):
    if x.sum() > 0:
        warnings.warn(f"positive {x.sum().item()}", UserWarning, stacklevel=2)
    return x * 2


def in_a_nested_function(x):
    def inner(y):
        warnings.warn("inner", stacklevel=2)
        return y

    y = inner(x)
    return inner(y * 2)


def further_out(x):
    def inner(y):
        warnings.warn("inner", stacklevel=3)
        return y

    def around(y):
        if y.sum() > 0:
            return inner(y)
        return inner(y * 2)

    return around(x)


def in_loops_and_branches(x):
    for _ in range(2):
        x = by_path(x)
    while x.sum() < 100:
        x = here(x.abs() + 1)
        x = by_path(x) if x.sum() > 5 else x * 3
    return sum(by_path(v) for v in (x, x * 2))


def deprecated(function):
    @functools.wraps(function)
    def called(*args):
        warnings.warn(f"{function.__name__} is deprecated", DeprecationWarning, stacklevel=2)
        return function(*args)

    return called


@deprecated
def old(x):
    return x * 2


class Net(d2s.nn.Layer):
    def forward(self, x):
        return self.half(x) + old(x)

    @deprecated
    def half(self, x):
        return x * 0.5


def beyond_all(x):
    warnings.warn("beyond", stacklevel=1000)
    return x


def logged(x):
    def inner():
        LOG.warning("two", stacklevel=2)
        LOG.warning("one")
        LOG.warning("three", stacklevel=3)

    inner()
    LOG.warning("outer %s", 2, stacklevel=2)
    return x


def of_constants(x):
    none, most = np.float32(0), np.int8(127)
    most += np.int8(1)
    if x.sum() > 0:
        x = x * (np.float32(1) / none)
    return x * np.sqrt(-1.0), most, -most


FUNCTIONS = [
    here,
    of_constants,
    by_place,
    by_path,
    in_a_nested_function,
    further_out,
    in_loops_and_branches,
    old,
    Net().forward,
    beyond_all,
    logged,
]


def told(function, action):
    """What several calls of a function warn of and log."""
    records = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append((record.getMessage(), record.pathname, record.lineno))
    LOG.addHandler(handler)
    globals().pop("__warningregistry__", None)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter(action)
            for _ in range(2):
                for x in (X, Y):
                    function(x)
            function(X)
    finally:
        LOG.removeHandler(handler)
    return [(str(w.message), w.category, w.filename, w.lineno) for w in warned], records


@pytest.mark.parametrize("action", ["always", "default", "once", "module"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_line_that_is_named(function, action):
    expected = told(function, action)
    assert told(d2s.to_static(function), action) == expected
    assert any(expected)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="warnings skip no files before")
def test_files_that_are_skipped():
    def skipping(x):
        warnings.warn("elsewhere", skip_file_prefixes=(os.path.dirname(__file__),))
        return x

    expected = told(skipping, "always")
    assert told(d2s.to_static(skipping), "always") == expected
    assert expected[0][0][2] != __file__


def test_a_warning_that_is_an_error_in_a_try_is_refused_where_it_would_be_caught():
    @d2s.to_static
    def careful(x):
        try:
            warnings.warn("careful", stacklevel=2)
        except UserWarning:
            return x
        return x * 2

    with pytest.warns(UserWarning, match="careful"):
        assert careful(X).tolist() == [2.0, 4.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(d2s.errors.CaptureError, match="D2S1003"):
            careful(X)
