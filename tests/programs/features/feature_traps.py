"""Static-only traps."""

from feature_rows import rows_of, t

import d2s

row = rows_of("Static-only traps")


@row.check("batch size None used as a Python int")
def batch_size_as_int():
    def f(x):
        n = x.shape[0]
        if n > 2:
            return x * n
        return x.reshape([n * 1]) - n

    static = d2s.to_static(f, input_spec=[d2s.static.InputSpec([None], "float32")])
    for data in ([1.0, 2.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0], [1.0]):
        try:
            got = static(t(data))
        except d2s.errors.D2SError as error:
            return error.code
        assert got.numpy().tolist() == f(t(data)).numpy().tolist()
    return None


@row.check("50 batch sizes: at most 2 captures")
def batch_sizes():
    static = d2s.to_static(lambda x: x * 2 if x.sum() > 0 else x - 1)
    for n in range(2, 52):
        static(t([1.0] * n))
    assert len(static.variants) <= 2


@row.check("learning-rate floats that change every step never recompile")
def learning_rates():
    static = d2s.to_static(lambda x, lr: x - x * lr if lr < 0.5 else x)
    for n in range(9):
        x = t([1.0, 2.0])
        assert static(x, 0.1 * n).numpy().tolist() == (x - x * (0.1 * n) if 0.1 * n < 0.5 else x).numpy().tolist()
    assert len(static.variants) == 1


@row.check("trip count never affects compile time")
def trip_counts():
    def f(x, n):
        for _ in range(n):
            x = x * 0.5 + 1
        return x

    static = d2s.to_static(f)
    sizes = []
    for n in (3, 50_000):
        static(t([1.0, 2.0]), t(n))
        sizes.append(sum(1 for _, v in static.variants for _ in v.captured.program.every_node()))
    assert sizes[0] == sizes[1]


@row("undefined variable read raises only on the path that reads it")
def undefined_read(x):
    if x.sum() > 0:
        y = x * 2
    if x.max() < 9:
        return y
    return x
