"""Matrices taken apart."""

import numpy as np

from tests.samples.sample import Listed


def squares(make):
    """Far from singular ones."""
    for shape in [(2, 2), (1, 1), (2, 3, 3), (0, 2, 2), (5, 5)]:
        yield [make(*shape) + 4 * np.eye(shape[-1], dtype=make(1).dtype)], {}


def positive(make):
    for (x,), attrs in squares(make):
        yield [(x @ x.swapaxes(-1, -2)).astype(x.dtype)], attrs


def symmetric(make):
    for (x,), _ in positive(make):
        for upper in (False, True):
            yield [x], {"upper": upper}


def oblong(make):
    for shape in [(3, 2), (2, 3), (2, 4, 3), (1, 1)]:
        yield [make(*shape)], {}


def systems(make):
    for (x,), _ in squares(make):
        yield [x, make(*x.shape[:-1], 2)], {}


def qr(x):
    q, r = np.linalg.qr(x)
    return np.concatenate([q, r.swapaxes(-1, -2)], -2)


def eigh(x, upper):
    values, vectors = np.linalg.eigh(x, "U" if upper else "L")
    return np.concatenate([values[..., None, :], vectors], -2)


def svd(x):
    u, s, v = np.linalg.svd(x, full_matrices=False)
    return np.concatenate([u, s[..., None, :], v.swapaxes(-1, -2)], -2)


def slopes(x):
    return (np.linalg.det(x)[..., None, None] * np.linalg.inv(x).swapaxes(-1, -2)).astype(x.dtype)


SAMPLES = {
    "inverse_of": Listed(np.linalg.inv, squares, "f", ulps=64),
    "determinant": Listed(lambda x: np.asarray(np.linalg.det(x)), squares, "f", ulps=64),
    "cofactors": Listed(slopes, squares, "f", ulps=64),
    "signed_log": Listed(lambda x: np.stack(np.linalg.slogdet(x)), squares, "f", ulps=64),
    "solved": Listed(np.linalg.solve, systems, "f", ulps=64),
    "cholesky_of": Listed(np.linalg.cholesky, positive, "f", ulps=64, smooth=False),  # which reads one triangle
    "qr_of": Listed(qr, lambda make: [case for case in oblong(make) if case[0][0].shape != (2, 3)], "f", ulps=64),
    "eigh_of": Listed(eigh, symmetric, "f", ulps=64, smooth=False),
    "svd_of": Listed(svd, oblong, "f", ulps=64),
    "pseudo_inverse": Listed(
        lambda x, rcond: np.linalg.pinv(x, rcond), lambda make: [(x, {"rcond": 1e-15}) for x, _ in oblong(make)], "f", ulps=256
    ),
}
