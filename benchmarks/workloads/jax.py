"""The workloads by JAX, each one jitted function; the update of a training step is a part of it."""

import math
import os

os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen=true intra_op_parallelism_threads={os.environ['THREADS']}"

import jax
import jax.numpy as jnp
import numpy as np

_random = np.random.default_rng(0)


def data(*shape):
    return jnp.asarray(_random.standard_normal(shape).astype("float32"))


def labels(count):
    return jnp.asarray(_random.integers(0, 10, count))


def called(function, *given):
    call = jax.jit(function)
    return lambda: jax.block_until_ready(call(*given))


def training(loss, parameters, update, state, *given):
    """A step that is given what the one before has left."""

    def step(parameters, state, *given):
        return update(parameters, jax.grad(loss)(parameters, *given), state)

    call, kept = jax.jit(step), [parameters, state]

    def run():
        kept[:] = jax.block_until_ready(call(*kept, *given))

    return run


def adam(parameters, gradients, state):
    first, second, t = state
    t = t + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
    rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    moved = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), parameters, first, second)
    return moved, (first, second, t)


def fresh(parameters):
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    return zeros, zeros, jnp.float32(0)


def sgd(parameters, gradients, state):
    return jax.tree.map(lambda p, g: p - 1e-3 * g, parameters, gradients), state


def cross_entropy(scores, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(scores), y[:, None], 1).mean()


def linear(inside, outside):
    return {"w": data(inside, outside) * inside**-0.5, "b": jnp.zeros(outside)}


def through(p, x):
    return x @ p["w"] + p["b"]


def lenet():
    return {
        "first": (data(20, 1, 5, 5) * 0.2, jnp.zeros(20)),
        "second": (data(50, 20, 5, 5) * 0.05, jnp.zeros(50)),
        "out": linear(800, 10),
    }


def _conv(w, b, x):
    return jax.lax.conv(x, w, (1, 1), "VALID") + b[:, None, None]


def _pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def _lenet(p, x):
    x = _pool(jax.nn.relu(_conv(*p["first"], x)))
    x = _pool(jax.nn.relu(_conv(*p["second"], x)))
    return through(p["out"], x.reshape(x.shape[0], -1))


def lenet_train(mode):
    p = lenet()
    return training(lambda p, x, y: cross_entropy(_lenet(p, x), y), p, adam, fresh(p), data(64, 1, 28, 28), labels(64))


def lenet_infer_b1(mode):
    return called(_lenet, lenet(), data(1, 1, 28, 28))


def lenet_infer_b64(mode):
    return called(_lenet, lenet(), data(64, 1, 28, 28))


def mlp():
    return [linear(784, 512), linear(512, 512), linear(512, 10)]


def _mlp(p, x):
    return through(p[2], jax.nn.relu(through(p[1], jax.nn.relu(through(p[0], x)))))


def mlp_infer_b1(mode):
    return called(_mlp, mlp(), data(1, 784))


def mlp_train(mode):
    p = mlp()
    return training(lambda p, x, y: cross_entropy(_mlp(p, x), y), p, adam, fresh(p), data(128, 784), labels(128))


def lstm():
    return {"x": linear(64, 512), "h": linear(128, 512)}


def _lstm(p, x):
    def cell(state, x):
        h, c = state
        i, f, g, o = jnp.split(through(p["x"], x) + through(p["h"], h), 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

    zeros = jnp.zeros((x.shape[0], 128))
    return jax.lax.scan(cell, (zeros, zeros), x.swapaxes(0, 1))[0][0]


def lstm_train(mode):
    p = lstm()
    return training(lambda p, x: (_lstm(p, x) ** 2).mean(), p, adam, fresh(p), data(16, 50, 64))


def lstm_infer_b1(mode):
    return called(_lstm, lstm(), data(1, 50, 64))


def counter1000(mode):
    def counter(x, n):
        def trip(state):
            i, x = state
            return i + 1, jax.lax.cond(i % 2 == 0, lambda x: x * 0.5 + 1.0, lambda x: x - 0.25, x)

        return jax.lax.while_loop(lambda state: state[0] < n, trip, (jnp.int32(0), x))[1]

    return called(counter, data(8), jnp.int32(1000))


def newton(mode):
    def roots(a):
        def trip(state):
            x, _ = state
            y = 0.5 * (x + a / x)
            return y, jnp.abs(y - x).max()

        return jax.lax.while_loop(lambda state: state[1] > 1e-4, trip, (a, jnp.float32(1)))[0]

    return called(roots, jnp.linspace(1, 100, 64, dtype="float32"))


def block(width=256):
    norms = {"first": (jnp.ones(width), jnp.zeros(width)), "second": (jnp.ones(width), jnp.zeros(width))}
    layers = {"qkv": linear(width, 3 * width), "out": linear(width, width)}
    return norms | layers | {"up": linear(width, 4 * width), "down": linear(4 * width, width)}


def _normed(p, x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * p[0] + p[1]


def _block(p, x):
    b, t, width = x.shape
    q, k, v = through(p["qkv"], _normed(p["first"], x)).reshape(b, t, 3, 4, width // 4).transpose(2, 0, 3, 1, 4)
    weights = jax.nn.softmax(q @ k.swapaxes(-1, -2) / math.sqrt(width // 4), -1)
    x = x + through(p["out"], (weights @ v).swapaxes(1, 2).reshape(b, t, width))
    return x + through(p["down"], jax.nn.gelu(through(p["up"], _normed(p["second"], x)), approximate=False))


def block_infer(mode):
    return called(_block, block(), data(8, 128, 256))


def block_train(mode):
    return training(lambda p, x: (_block(p, x) ** 2).mean(), block(), sgd, 0, data(8, 128, 256))


def chain(mode):
    def chained(x):
        y = jax.nn.gelu(x, approximate=False) * jax.nn.sigmoid(x) + jnp.tanh(x)
        return jnp.log(jnp.abs(jnp.exp(y)) + 1.0).sum(-1)

    return called(chained, data(512, 2048))


def tiny_call(mode):
    return called(lambda x: x * 2 + 1, data(8))


def matmul768(mode):
    return called(lambda x, y: x @ y, data(768, 768), data(768, 768))
