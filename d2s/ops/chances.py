"""Draws whose likelihoods are a tensor: of 0 and 1, of places in a row, of counts.

In: likelihoods, weights or rates, one for each element. Out: a tensor of fresh numbers; no gradient passes.

>>> d2s.bernoulli(d2s.to_tensor([0.0, 1.0])).numpy().tolist()
[0.0, 1.0]
"""

import dataclasses

import numpy as np

from d2s import types
from d2s.errors import ArgumentError, DTypeError, ShapeError
from d2s.ops.create import full_like
from d2s.ops.dispatch import current
from d2s.ops.draw import draws, elements, finite, held_in_memory, parameters_of, whole
from d2s.ops.random_text import PHILOX, POISSON, WITH_REPLACEMENT, WITHOUT_REPLACEMENT, minus_log_text, normal_text
from d2s.ops.recording import Recorder
from d2s.ops.rows import extent
from d2s.types import Type, float64, int64


@draws("bernoulli", "x", onnx="Bernoulli")
def bernoulli(x, p=None):
    """1 with the likelihood x says, or with likelihood p, else 0, element by element.

    >>> d2s.bernoulli(d2s.to_tensor([0.0, 1.0])).numpy().tolist()
    [0.0, 1.0]
    """
    held, x = parameters_of("bernoulli", x if p is None else full_like(x, finite("bernoulli", "p", p, float64)))
    if not isinstance(current(), Recorder) and not ((x.numpy() >= 0) & (x.numpy() <= 1)).all():
        raise _not_a_likelihood()
    return bernoulli.draw(elements(x, held), (x,))


def _not_a_likelihood() -> ArgumentError:
    return ArgumentError("D2S0004", "bernoulli(): 'x' holds numbers outside of [0, 1]")


@bernoulli.rule("fault")
def _(value, seed, counter, x):
    return _not_a_likelihood()


@bernoulli.rule("infer")
def _(seed, counter, x):
    return x


@bernoulli.rule("kernel")
def _(seed, counter, x, out):
    body = """
for k in range(n0):
    w0, w1, w2, w3 = block(k, 0)
    if not (x[k] >= 0 and x[k] <= 1):
        r[o[fault]] = 1
    out[k] = T(1) if unit(w0, w1) < float(x[k]) else T(0)
"""
    return [x.shape], PHILOX + body


@bernoulli.rule("vjp")
def _(g, out, seed, counter, x):
    return None, None, None


@draws("multinomial", "x", "num_samples replacement", onnx="Multinomial")
def multinomial(x, num_samples=1, replacement=False):
    """Indices into the last axis of x, drawn with likelihoods in proportion to its numbers.

    >>> d2s.multinomial(d2s.to_tensor([[0.0, 3.0, 0.0], [1.0, 0.0, 0.0]]), 2, replacement=True).numpy().tolist()
    [[1, 1], [0, 0]]
    >>> sorted(d2s.multinomial(d2s.to_tensor([1.0, 0.0, 2.0]), 2).tolist())
    [0, 2]
    """
    held, x = parameters_of("multinomial", x)
    count = whole("multinomial", "num_samples", num_samples)
    if not isinstance(replacement, (bool, np.bool_)):
        raise DTypeError("D2S0001", f"multinomial(): 'replacement' expects a bool, got {type(replacement).__name__}")
    if len(held.shape) not in (1, 2):
        raise ShapeError("D2S0002", f"multinomial(): expects a vector or a matrix, got shape {list(held.shape)}")
    if not isinstance(current(), Recorder):
        _check_weights(x.numpy(), count, bool(replacement))
    elif count < 1:
        raise _too_many(count, int(held.shape[-1]) if isinstance(held.shape[-1], int) else 1 << 31)
    rows = elements(x, dataclasses.replace(held, shape=held.shape[:-1]))
    if isinstance(rows, int):
        held_in_memory("multinomial", (rows, count), int64)
    width = held.shape[-1] if isinstance(held.shape[-1], int) else extent(x, len(held.shape) - 1)
    return multinomial.draw(rows * (count if replacement else width), (x,), num_samples=count, replacement=bool(replacement))


def _check_weights(x: np.ndarray, count: int, replacement: bool) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        total = x.sum(-1, dtype=np.float64)
    if not (x >= 0).all() or not (np.isfinite(total) & (total > 0)).all():
        raise _no_weights()
    least = 1 << 31 if replacement else int((x > 0).sum(-1).min(initial=x.shape[-1]))
    if not 1 <= count <= least:
        raise _too_many(count, least)


def _no_weights() -> ArgumentError:
    return ArgumentError("D2S0004", "multinomial(): each row of 'x' holds numbers that are not negative, with a finite sum > 0")


def _too_many(count: int, least: int) -> ArgumentError:
    return ArgumentError("D2S0004", f"multinomial(): 'num_samples' is {count}, a row offers 1 to {least}")


@multinomial.rule("fault")
def _(value, seed, counter, x, num_samples, replacement):
    return _no_weights() if value == 1 else _too_many(num_samples, value - 2)


@multinomial.rule("infer")
def _(seed, counter, x, num_samples, replacement):
    return Type(int64, (*x.shape[:-1], num_samples))


@multinomial.rule("kernel")
def _(seed, counter, x, out, num_samples, replacement):
    race = minus_log_text("float", 11) + WITHOUT_REPLACEMENT
    return [x.shape[:-1], x.shape[-1:], (num_samples,)], f"{PHILOX}\n{WITH_REPLACEMENT if replacement else race}"


@multinomial.rule("vjp")
def _(g, out, seed, counter, x, num_samples, replacement):
    return None, None, None


@draws("poisson", "x")
def poisson(x):
    """Counts of a Poisson process, element by element; x holds the rates.

    >>> d2s.poisson(d2s.to_tensor([0.0, 0.0])).numpy().tolist()
    [0.0, 0.0]
    """
    held, x = parameters_of("poisson", x)
    if not isinstance(current(), Recorder) and not ((x.numpy() >= 0) & (x.numpy() < np.inf)).all():
        raise _not_a_rate()
    return poisson.draw(elements(x, held), (x,))


def _not_a_rate() -> ArgumentError:
    return ArgumentError("D2S0004", "poisson(): 'x' holds numbers that are below 0, or not finite")


@poisson.rule("fault")
def _(value, seed, counter, x):
    return _not_a_rate()


@poisson.rule("infer")
def _(seed, counter, x):
    return x


@poisson.rule("kernel")
def _(seed, counter, x, out):
    limit = normal_text(types.float64).replace("T(", "float(")
    return [x.shape], f"{PHILOX}\nshift = 0.0\nscale = 1.0\n\n{limit}{POISSON}"


@poisson.rule("vjp")
def _(g, out, seed, counter, x):
    return None, None, None
