"""Operations by NumPy, those it has. Names and arguments as in d2s.py beside."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

_random = np.random.default_rng(0)


def data(*shape, dtype="float32"):
    return _random.standard_normal(shape).astype(dtype)


def matmul(m, k, n, dtype="float32", turned=(False, False)):
    x = data(*(k, m) if turned[0] else (m, k), dtype=dtype)
    y = data(*(n, k) if turned[1] else (k, n), dtype=dtype)
    x, y = x.T if turned[0] else x, y.T if turned[1] else y
    return lambda: x @ y


def batched(b, m, k, n):
    x, y = data(b, m, k), data(b, k, n)
    return lambda: x @ y


def reduction(name, shape, axis):
    x, function = data(*shape), getattr(np, name)
    return lambda: function(x, axis)


def transpose(*shape, perm):
    x = data(*shape)
    return lambda: np.ascontiguousarray(x.transpose(perm))


def concat(parts, *shape):
    xs = [data(*shape) for _ in range(parts)]
    return lambda: np.concatenate(xs, 1)


def gather(rows, width, count):
    x, at = data(rows, width), _random.integers(0, rows, count)
    return lambda: np.take(x, at, 0)


def elementwise(name, count):
    x, function = data(count), getattr(np, name)
    return lambda: function(x)


def add(count):
    x, y = data(count), data(count)
    return lambda: x + y


def adam(count):
    """NumPy has none. What stands here cannot be beaten: a copy of as many bytes as Adam reads and writes, by all threads."""
    threads = int(os.environ["THREADS"])
    fields = [(data(7 * count // 2 // threads), np.zeros(7 * count // 2 // threads, "float32")) for _ in range(threads)]
    workers = ThreadPoolExecutor(threads)
    return lambda: list(workers.map(lambda pair: np.copyto(pair[1], pair[0]), fields))
