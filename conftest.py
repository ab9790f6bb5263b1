"""Doctests see the package as `d2s`, and NumPy as `np`."""

import numpy as np
import pytest

import d2s


@pytest.fixture(autouse=True)
def _names(doctest_namespace):
    doctest_namespace["d2s"], doctest_namespace["np"] = d2s, np
