"""Doctests see the package as `d2s`."""

import pytest

import d2s


@pytest.fixture(autouse=True)
def _names(doctest_namespace):
    doctest_namespace["d2s"] = d2s
