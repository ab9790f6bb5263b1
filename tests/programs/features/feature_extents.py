"""Extents that only the values of a run tell."""

import numpy as np
from feature_rows import rows_of, t

import d2s

row = rows_of("Extents a run finds")
X = t([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
SETS = (X,), (t([[-1.0, 2.0, -3.0], [0.5, -0.5, 0.0]]),)
PARTS = tuple((X, t(n)) for n in (1, 2, 0))


@row("`x[mask]`", SETS)
def masked(x):
    y = x[x > 0]
    return y * 2, y.sum(), y.shape[0]


@row("`x[:n]`, n a tensor", PARTS)
def sliced(x, n):
    return x[:n] * 2, x[:, -n:].sum()


@row("`zeros([n])`, `reshape([n, -1])`, `expand`, n a number a run finds", PARTS)
def shaped(x, n):
    k = int(n) + 1
    return d2s.zeros([k, 2]), x.reshape([k, -1]) * 2, x[:1].expand([k, x.shape[1]]).sum(0)


@row("`nonzero`, `masked_select`", SETS)
def places(x):
    return d2s.nonzero(x > 0), d2s.masked_select(x, x > 1)


@row("NumPy results whose length the values decide: `np.where(...)[0]`, `n[n > 1]`, `np.unique`", SETS)
def found_by_numpy(x):
    n = x.numpy()
    return x[d2s.to_tensor(np.where(n[:, 0] > 0)[0])], d2s.to_tensor(n[n > 1]), d2s.to_tensor(np.unique(n))


@row("a mask in a tensor if", SETS)
def masked_on_a_path(x):
    y = x[x > 0] if x.sum() > 1 else x[0]
    return y * 2


@row("a mask in a tensor loop", SETS)
def masked_in_a_loop(x):
    y = x.reshape([-1])
    while y.max() > 2:
        y = y[y < y.max()]
    return y * y


@row("`concat` in `for i in range(tensor)`", PARTS)
def rows_joined(x, n):
    y = x[:1]
    for i in range(n):
        y = d2s.concat([y, y[i : i + 1] * x[1:]])
    return y, y.sum(0)
