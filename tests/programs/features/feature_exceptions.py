"""Exceptions and context."""

import contextlib

import numpy as np
from feature_rows import Subject, rows_of

row = rows_of("Exceptions and context")


class Scaled:
    def __enter__(self):
        return 2.0

    def __exit__(self, *error):
        return False


SCALED = Scaled()


def positive(x):
    if x.sum() > 0:
        return x * 2
    raise ValueError("not positive")


@row("try/except with a tensor if")
def try_with_if(x):
    try:
        if x.sum() > 0:
            x = x * 2
        y = x - 1
    except ValueError:
        y = x
    return y


@row("try/except around a raise in a tensor branch")
def try_around_raise(x):
    try:
        y = positive(x)
    except ValueError as error:
        y = x - len(str(error))
    else:
        y = y + 1
    return y


@row("try/except around a NumPy call that raises in some runs")
def try_around_numpy(x):
    try:
        place = np.arange(2)[int(x.sum().item() > 0) * 2]
    except IndexError as error:
        return x * len(str(error))
    return x * float(place)


@row("try/finally with return")
def finally_with_return(x):
    try:
        if x.sum() > 0:
            return x * 2
    finally:
        x = x * 100
    return x - 1


@row.fresh("`with` and return inside a tensor if")
def with_and_return():
    log = []

    @contextlib.contextmanager
    def entered(scale):
        log.append("in")
        try:
            yield scale
        finally:
            log.append("out")

    def f(x):
        with entered(2.0) as scale:
            if x.sum() > 0:
                return x * scale
        return x - 1

    return Subject(f, lambda: list(log))


@row("`with` of a class of the user's that only computes")
def with_of_class(x):
    with SCALED as scale:
        if x.sum() > 0:
            return x * scale
    return x - 1


@row("`assert` fires (user's message)")
def assertion(x):
    assert x.sum() > 0, "not positive"
    return x * 2


@row("`raise` in a tensor branch")
def raises(x):
    if x.sum() > 0:
        raise ValueError("positive")
    return x * 2


@row("`return` in `finally` forgets what was raised")
def return_in_finally(x):
    try:
        y = positive(x)
    finally:
        if x.max() < 0:
            return x * 100  # noqa: B012
    return y
