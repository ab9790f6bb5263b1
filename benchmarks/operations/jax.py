"""Operations by JAX, each a function compiled by `jax.jit`. Names and arguments as in d2s.py beside."""

import os

os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if os.environ['THREADS'] != '1' else 'false'}"

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

jax.config.update("jax_enable_x64", True)
_random = np.random.default_rng(0)
_LAYOUT = ("NCHW", "OIHW", "NCHW")


def data(*shape, dtype="float32"):
    return jnp.asarray(_random.standard_normal(shape).astype(dtype))


def numbers(below, *shape):
    return jnp.asarray(_random.integers(0, below, shape))


def compiled(function, *operands):
    ready = jax.jit(function)
    return lambda: ready(*operands).block_until_ready()


def part(wanted, function, *operands):
    if wanted is None:
        return compiled(function, *operands)
    seed = jnp.ones_like(function(*operands))

    def gradient(operand, seed, *others):
        given = [*others[:wanted], operand, *others[wanted:]]
        return jax.vjp(lambda x: function(*given[:wanted], x, *given[wanted + 1 :]), operand)[1](seed)[0]

    return compiled(gradient, operands[wanted], seed, *operands[:wanted], *operands[wanted + 1 :])


def matmul(m, k, n, dtype="float32", turned=(False, False)):
    x = data(*(k, m) if turned[0] else (m, k), dtype=dtype)
    y = data(*(n, k) if turned[1] else (k, n), dtype=dtype)
    return compiled(lambda x, y: (x.T if turned[0] else x) @ (y.T if turned[1] else y), x, y)


def batched(b, m, k, n):
    return compiled(lambda x, y: x @ y, data(b, m, k), data(b, k, n))


def conv(wanted, n, c, size, out, taps, stride=1, padding=0, groups=1):
    def run(x, w):
        pads = [(padding, padding)] * 2
        return lax.conv_general_dilated(x, w, (stride,) * 2, pads, dimension_numbers=_LAYOUT, feature_group_count=groups)

    return part(wanted, run, data(n, c, size, size), data(out, c // groups, taps, taps))


def max_pool(wanted, n, c, size, taps, stride, padding=0):
    pads = [(0, 0)] * 2 + [(padding, padding)] * 2
    run = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, taps, taps), (1, 1, stride, stride), pads)  # noqa: E731
    return part(wanted, run, data(n, c, size, size))


def batch_norm(wanted, n, c, size):
    def run(x, w, b):
        mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
        return (x - mean) * lax.rsqrt(variance + 1e-5) * w[:, None, None] + b[:, None, None]

    return part(wanted, run, data(n, c, size, size), data(c), data(c))


def layer_norm(wanted, rows, width):
    def run(x, w, b):
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + 1e-5) * w + b

    return part(wanted, run, data(rows, width), data(width), data(width))


def cross_entropy(wanted, rows, classes):
    def run(x, y):
        return -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean()

    return part(wanted, run, data(rows, classes), numbers(classes, rows))


def softmax(wanted, rows, width):
    return part(wanted, jax.nn.softmax, data(rows, width))


def embedding(wanted, words, width, count):
    return part(wanted, lambda at, table: table[at], numbers(words, count), data(words, width))


def attention(wanted, n, heads, length, width):
    return part(wanted, jax.nn.dot_product_attention, *(data(n, length, heads, width) for _ in range(3)))


def reduction(name, shape, axis):
    return compiled(lambda x: getattr(jnp, name)(x, axis), data(*shape))


def transpose(*shape, perm):
    return compiled(lambda x: x.transpose(perm), data(*shape))


def concat(parts, *shape):
    return compiled(lambda *xs: jnp.concatenate(xs, 1), *(data(*shape) for _ in range(parts)))


def gather(rows, width, count):
    return compiled(lambda x, at: x[at], data(rows, width), numbers(rows, count))


def elementwise(name, count):
    function = (lambda x: jax.nn.gelu(x, approximate=False)) if name == "gelu" else getattr(jnp, name)
    return compiled(function, data(count))


def chain(count):
    return compiled(lambda x: jax.nn.gelu(jnp.tanh(jnp.exp(x)), approximate=False), data(count))


def add(count):
    return compiled(lambda x, y: x + y, data(count), data(count))
