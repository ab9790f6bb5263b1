"""What no graph can say of exceptions is refused at the user's line."""

import importlib

import numpy as np
import pytest

import d2s
from d2s.errors import CaptureError

X = d2s.to_tensor([-1.0, 2.0])


def test_more_paths_than_can_be_followed(monkeypatch):
    def raises(x):
        try:
            for a in x:
                for b in x:
                    if a + b > 3:
                        raise ValueError("large")
        except ValueError:
            return x
        return x * 2

    monkeypatch.setattr(importlib.import_module("d2s.convert.forking"), "RUNS", 9)
    with pytest.raises(CaptureError, match=r"D2S1003.* so many paths(.|\n)*put the `try` into the inner loop"):
        d2s.to_static(raises)(X)


def test_a_recursion_that_raises():
    def halved(x):
        if x.sum() < 0:
            raise ValueError("negative")
        return halved(x * 0.5) if x.max() > 1 else x

    def catches(x):
        try:
            return halved(x)
        except ValueError:
            return x

    with pytest.raises(CaptureError, match=r"D2S1003.*calls itself"):
        d2s.to_static(catches)(X)


def test_the_frames_of_a_traceback_are_those_of_the_capture():
    """Which eager code does not have."""

    def tells(x):
        try:
            if x.sum() > 0:
                raise ValueError("positive")
        except ValueError as error:
            return error.__traceback__.tb_lineno
        return 0

    with pytest.raises(CaptureError, match=r"D2S1003.*'tb_lineno' of a traceback"):
        d2s.to_static(tells)(X)


def test_a_complaint_of_what_stands_for_an_object_of_the_run_is_not_handed_to_a_handler():
    def f(x):
        try:
            return d2s.gather(x, np.argsort(x.numpy()[:, 0]))
        except Exception:
            return x

    with pytest.raises(CaptureError, match="got object that only a run has"):
        d2s.to_static(f)(d2s.ones([2, 3]))
