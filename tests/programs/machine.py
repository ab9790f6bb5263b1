"""What Python's library offers for leaving, ordering, and asking the machine: what a run does, in Python's order."""

import contextlib
import datetime
import decimal
import functools
import hashlib
import io
import itertools
import operator
import os
import pathlib
import string
import tempfile
import threading
import time
import typing
import uuid
import warnings

import numpy as np
from programs_compare import program, t

X, Y = t([1.0, -2.0, 3.0]), t([9.0, 2.0, -3.0])
SETS = (X,), (Y,)
LOCK = threading.Lock()


class Shower:
    """A method that looks at what it is given."""

    @functools.singledispatchmethod
    def show(self, value):
        return value * 1

    @show.register
    def _(self, value: int):
        return value + 100

    @show.register
    def _(self, value: list):
        return [self.show(v) for v in value]


SHOWER = Shower()


class Config:
    """Names to list."""

    a = 1
    b = 2


@contextlib.contextmanager
def simple(n):
    """Says when it is entered and left."""
    print("in", n)
    yield n * 2
    print("out", n)


@program(*SETS)
def exit_stack(x):
    with contextlib.ExitStack() as stack:
        stack.callback(print, "left")
        if x.sum() > 0:
            x = x * 2
    return x


@program(*SETS)
def redirected(x):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print("hello", x.sum())
    return out.getvalue(), x * 1


@program(*SETS)
def warnings_caught(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("x", stacklevel=1)
        y = x * 2
        if x.sum() > 5:
            y = y + 1
    return y


@program(*SETS)
def single_dispatch_method(x):
    return SHOWER.show(x), SHOWER.show(3), SHOWER.show([1, x])


@program(*SETS)
def compared_by_function(x):
    values = [3, 1, 2]
    got = sorted(values, key=functools.cmp_to_key(lambda a, b: b - a))
    return x * got[0], got


@program(*SETS)
def dir_of(x):
    return [name for name in dir(Config) if not name.startswith("_")], x * 1


@program(*SETS)
def dir_of_instance(x):
    c = Config()
    c.z = 3
    return [name for name in dir(c) if not name.startswith("_")], x * 1


@program(*SETS)
def stack_enters(x):
    with contextlib.ExitStack() as s:
        vs = [s.enter_context(simple(k)) for k in range(2)]
        x = x * vs[1]
        print("body")
    return x, vs


@program(*SETS)
def stack_swallows(x):
    with contextlib.ExitStack() as s:
        s.push(lambda *a: a[0] is ValueError)
        s.callback(print, "end", 1)
        if x.sum() > 5:
            s.callback(print, "more")
            raise ValueError("a")
        return x * 2
    return x * 3


@program(*SETS)
def raising_in_with(x):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            print("in")
            if x.sum() > 5:
                raise ValueError("a")
            print("behind")
    except ValueError as e:
        print("caught", e)
    print("out:", out.getvalue())
    return x * 1


@program(*SETS)
def what_the_machine_says_caught(x):
    try:
        n = int(os.getenv("NOPE", "x"))
    except ValueError:
        n = 3
    return x * n


@program(*SETS)
def warnings_recorded(x):
    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("always")
        warnings.warn("one", stacklevel=1)
    return x * 1, len(got)


@program(*SETS)
def under_a_lock(x):
    with LOCK:
        x = x * 2
        if x.sum() > 5:
            x = x + 1
    return x


@program(*SETS)
def the_time_now(x):
    t0 = datetime.datetime.now()
    d = datetime.datetime.now() - t0
    return x * 1, d.total_seconds() >= 0, t0.year > 2000


@program(*SETS)
def asking_the_machine(x):
    return os.getpid() == os.getpid(), os.getenv("NOPE", "a"), os.path.join("a", "b"), x * 1


@program(*SETS)
def values_of_the_library(x):
    return str(decimal.Decimal("1.10") + 1), str(pathlib.Path("a") / "b.txt"), hashlib.md5(b"a").hexdigest(), x * 1


@program(*SETS)
def files_written_and_read(x):
    with tempfile.TemporaryDirectory() as d:
        p = os.path.join(d, "a.txt")
        with open(p, "w") as f:
            f.write(f"{float(x.sum())}")
        with open(p) as f:
            s = f.read()
    return x * float(s)


@program(*SETS)
def numpy_told_to_be_silent(x):
    with np.errstate(divide="ignore"):
        a = np.log(x.numpy() * 0)
    return x * 1, str(a)


@program(*SETS)
def texts_and_names_made(x):
    return string.Template("$a!").substitute(a=1), x * 1, string.ascii_lowercase[:3], uuid.uuid4() != uuid.uuid4()


@program(*SETS)
def the_time_as_text(x):
    return len(time.strftime("%Y")), x * 1


@program(*SETS)
def tee_tensors(x):
    a, b = itertools.tee(x)
    return sum(a), list(b)


@program(*SETS)
def casted(x):
    y = typing.cast(object, x)
    z: typing.Final = y * 2
    return z, typing.cast("int", 3)


@program(*SETS)
def an_index_asked(x):
    return operator.index(3), operator.index(int(x.sum())), x * 1
