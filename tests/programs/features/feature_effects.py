"""Effects, in Python order, every call."""

import logging
import random

import numpy as np
from feature_rows import Subject, rows_of

import d2s

row = rows_of("Effects, in Python order, every call")
SETTING = 1.0


class Box:
    flag = True


@row("print when the branch is taken")
def prints(x):
    if x.sum() > 0:
        print("positive")
    return x * 2


@row("print a tensor value")
def prints_tensor(x):
    print("x is", x, x.sum())
    return x * 2


@row.fresh("logging")
def logs():
    heard = []
    logger = logging.Logger("features")
    handler = logging.Handler()
    handler.emit = lambda record: heard.append(record.getMessage())
    logger.addHandler(handler)

    def f(x):
        if x.sum() > 0:
            logger.warning("positive: %s", 1)
        return x * 2

    return Subject(f, lambda: list(heard))


@row.fresh("a Python counter")
def counts():
    box = Box()
    box.n = 0

    def f(x):
        box.n += 1
        return x * box.n

    return Subject(f, lambda: box.n)


@row.fresh("global changed between calls")
def global_changed():
    def before(n):
        global SETTING
        SETTING = float(n)

    return Subject(lambda x: x * SETTING if x.sum() > 0 else x - SETTING, before=before)


@row.fresh("object flag changed")
def flag_changed():
    box = Box()

    def before(n):
        box.flag = n % 2 == 0

    return Subject(lambda x: x * 2 if box.flag else x - 1, before=before)


@row.fresh("closure tensor rebound")
def closure_rebound():
    w = d2s.to_tensor([1.0, 1.0])

    def before(n):
        nonlocal w
        w = d2s.to_tensor([float(n), 2.0])

    return Subject(lambda x: x * w, before=before)


@row.fresh("Python random fresh each call")
def python_random():
    random.seed(7)
    return Subject(lambda x: x * random.random())


@row("NumPy call inside")
def numpy_call(x):
    return x * float(np.sum(x.numpy()))


@row("`x.numpy()`")
def numpy_of_tensor(x):
    return x * float(x.numpy()[0])


@row("`x.item()`")
def item_of_tensor(x):
    return x * x.sum().item()
