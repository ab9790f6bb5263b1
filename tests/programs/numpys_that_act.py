"""NumPy's functions that write, read, draw or call the user's own: runs call them, as often as eager code, and no capture does.

Rows as in `effects`; a state holds what they have changed.
"""

import io
import pathlib
import tempfile

import numpy as np
from effects import row
from programs_compare import t

X, Y = t([0.5, -2.0, 0.25]), t([-1.0, 3.0, 0.0])
BOTH, ONE_CAPTURE = ((X,), (Y,), (X,)), 1


def _file():
    return pathlib.Path(tempfile.mkdtemp(), "kept.npy")


def _written(write):
    """A row of a function that may change an array, or a file, from outside on a path that no run takes."""

    def make():
        path, best = _file(), np.zeros(3, "float32")
        np.save(path, np.arange(5.0))

        def writes(x):
            if x.sum() > 1000:
                write(x.numpy(), best, path)
            while x.sum() > 1000:
                write(x.numpy(), best, path)
                x = x - 1
            return x * 2

        return writes, lambda: [path.read_bytes(), best.tolist()]

    return make


def _changed(change):
    """A row of a function that changes an array from outside in each run."""

    def make():
        best = np.zeros(3, "float32")

        def changes(x):
            change(x.numpy(), best)
            return x * 2

        return changes, best.tolist

    return make


def _called(call):
    """A row of a function that calls one of the user's, which counts its calls."""

    def make():
        calls = [0]

        def users(value, *_):
            calls[0] += 1
            return value

        def asks(x):
            found = np.empty(3, "float32")
            found[:] = call(users, x.numpy())
            return t(found) * 2

        return asks, lambda: calls

    return make


def _rows(kind, of):
    for name, function in of.items():
        make = kind(function)
        make.__name__ = f"{kind.__name__}_{name}"
        row(*BOTH, captures=3)(make)  # what an array from outside holds is guarded


def _sorted_into(n, best):
    n.sort()
    np.put(best, np.where(n > 0)[0], 1.0)


_rows(
    _written,
    {
        "save": lambda n, best, path: np.save(path, n),
        "savetxt": lambda n, best, path: np.savetxt(path, n),
        "tofile": lambda n, best, path: n.tofile(path),
        "dump": lambda n, best, path: n.dump(path),
        "out": lambda n, best, path: np.maximum(best, n, out=best),
        "third_argument": lambda n, best, path: np.maximum(best, n, best),
        "copyto": lambda n, best, path: np.copyto(best, n),
        "view": lambda n, best, path: np.asarray(best).fill(7.0),
        "write_bytes": lambda n, best, path: pathlib.Path(str(path)).write_bytes(b"1"),
    },
)
_rows(
    _changed,
    {
        "putmask": lambda n, best: np.putmask(best, n > 0, 7.0),
        "place": lambda n, best: np.place(best, n > 0, 7.0),
        "where": lambda n, best: np.multiply(n, 2, out=best, where=n > 0),
        "put": _sorted_into,
    },
)
_rows(
    _called,
    {
        "vectorize": lambda users, n: np.vectorize(users)(n),
        "apply_along_axis": lambda users, n: np.apply_along_axis(users, 0, n),
        "frompyfunc": lambda users, n: np.frompyfunc(users, 1, 1)(n),
        "fromfunction": lambda users, n: np.fromfunction(users, (3,)) + n,
        "piecewise": lambda users, n: np.piecewise(n, [n > 0], [users, 1]),
        "apply_over_axes": lambda users, n: np.apply_over_axes(users, n, [0]),
        "pad": lambda users, n: np.pad(n, 1, lambda row, *_: users(None))[1:-1],
    },
)


def _goes_on(make, take):
    """A row of a function that goes on where the last run has stopped."""

    def goes_on():
        source = make()

        def takes(x):
            found = np.empty(2)
            found[:] = take(source)
            return t(found) + x.sum()

        return takes, lambda: None

    return goes_on


for _name, _make, _take in (
    ("iterator", lambda: iter(range(100)), lambda source: np.fromiter(source, "float32", 2)),
    ("lines", lambda: io.StringIO("1\n2\n" * 9), lambda source: np.loadtxt(source, max_rows=2)),
    ("bits", lambda: np.random.PCG64(3), lambda source: source.random_raw(2)),
):
    _row = _goes_on(_make, _take)
    _row.__name__ = f"_goes_on_{_name}"
    row(*BOTH, captures=ONE_CAPTURE)(_row)


@row(*BOTH, captures=ONE_CAPTURE)
def an_open_file_is_written_once():
    file = io.BytesIO()

    def saves(x):
        np.savetxt(file, x.numpy())
        np.save(file, x.numpy())
        return x * 2

    return saves, file.getvalue


class Counting:
    asked = 0

    def __array__(self, dtype=None, copy=None):
        self.asked += 1
        return np.full(3, self.asked, "float32")


@row(*BOTH, captures=ONE_CAPTURE)
def an_object_says_what_array_it_is():
    counting = Counting()

    def adds(x):
        found = np.empty(3, "float32")
        found[:] = np.add(x.numpy(), counting)
        return t(found)

    return adds, lambda: counting.asked


@row(*BOTH, captures=ONE_CAPTURE)
def help_is_printed_once():
    def prints(x):
        np.info(abs)
        return x * 2

    return prints, lambda: None
