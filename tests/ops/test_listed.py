"""Ops whose attributes go with their shapes, against NumPy; strided inputs; the executor; gradients by finite differences."""

import itertools

import numpy as np
import pytest

import d2s
from d2s import types
from d2s.ir.program import Builder, Value
from d2s.ops import OPS
from d2s.runtime import interpreter, launch
from d2s.runtime.call import Call
from d2s.runtime.differing import same_bits
from tests.samples import KERNELS, LISTED, accepts, fits

every = pytest.mark.parametrize("name", sorted(LISTED))


def maker(of, seed=0):
    """Values of a dtype by shape: small, so that sums of integers stay what they are."""
    rng = np.random.default_rng(seed)

    def make(*shape):
        if of.kind == "b":
            return rng.random(shape) < 0.5
        drawn = rng.standard_normal(shape) if of.kind == "f" else rng.integers(0, 9, shape)
        return np.asarray(drawn).astype(of.numpy)

    return make


def results(found):
    return list(found) if isinstance(found, tuple | list) else [found]


def cases(name, of):
    return list(LISTED[name].cases(maker(of)))


def close(name, actual, expected, ulps):
    expected = np.asarray(expected)
    assert actual.dtype == expected.dtype, name
    assert actual.shape == expected.shape, name
    if not ulps or actual.dtype.kind != "f":
        assert same_bits(actual, expected), f"{name}: {actual} != {expected}"
    else:
        scale = float(np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected)))
        np.testing.assert_allclose(actual, expected, rtol=0, atol=ulps * float(np.finfo(actual.dtype).eps) * max(scale, 1e-30))


@every
def test_against_the_reference(name):
    for of in accepts(name):
        for arrays, attrs in cases(name, of):
            actual = results(OPS[name](*map(d2s.to_tensor, arrays), **attrs))
            with np.errstate(all="ignore"):
                expected = results(LISTED[name].reference(*arrays, **attrs))
            assert len(actual) == len(expected)
            for a, e in zip(actual, expected, strict=True):
                close(f"{name} {[x.shape for x in arrays]} {attrs} {of}", a.numpy(), e, LISTED[name].ulps)


@every
def test_strided_arrays_mean_what_they_hold(name):
    of = accepts(name)[-1]
    for arrays, attrs in cases(name, of)[:4]:
        strided = [np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a for a in arrays]
        backward = [a[..., ::-1].copy()[..., ::-1] if a.ndim else a for a in arrays]
        plain = results(OPS[name](*map(d2s.to_tensor, arrays), **attrs))
        for variant in (strided, backward):
            found = results(OPS[name](*map(d2s.to_tensor, variant), **attrs))
            assert all(same_bits(a.numpy(), b.numpy()) for a, b in zip(plain, found, strict=True))


@every
def test_inference_and_executor_agree_with_eager(name):
    of = accepts(name)[-1]
    op = OPS[name]
    for arrays, attrs in cases(name, of):
        given = [launch.type_of(a) for a in arrays]
        full = op.canonical(given, {**op.attributes, **attrs})
        inputs = [Value(t, f"x{n}") for n, t in enumerate(given)]
        builder = Builder("f", list(inputs))
        program = builder.finish(builder.add(name, inputs, op.infer(given, full), full, ""))
        eager = [t.numpy() for t in results(op(*map(d2s.to_tensor, arrays), **attrs))]
        assert [launch.type_of(a) for a in eager] == [v.type for v in program.outputs]
        for found in (interpreter.run(program, arrays), Call(program)(arrays)):
            assert all(same_bits(a, b) for a, b in zip(eager, found, strict=True)), f"{name} {attrs}"


def tried(name):
    """Types and attributes as users give them, of all samples of an op."""
    of = accepts(name)[-1]
    if name in LISTED:
        return [([launch.type_of(np.asarray(a)) for a in arrays], attrs) for arrays, attrs in cases(name, of)]
    pairs = itertools.product(KERNELS[name].shapes, KERNELS[name].attrs)
    return [([types.Type(of, s) for s in shapes], attrs) for shapes, attrs in pairs if fits(attrs, len(shapes[0]))]


@pytest.mark.parametrize("name", sorted(name for name, op in OPS.items() if op.has("canonical")))
def test_canonical_attributes_stay_what_they_are(name):
    """A file's Program holds them, and is believed only if they are what capture would write for them."""
    op = OPS[name]
    for given, attrs in tried(name):
        full = op.canonical(given, {**op.attributes, **attrs})
        again = op.canonical(given, {**op.attributes, **full})
        assert again == full and repr(again) == repr(full)


@pytest.mark.parametrize("name", sorted(n for n in LISTED if OPS[n].has("vjp") and LISTED[n].smooth))
def test_gradients_by_finite_differences(name):
    for arrays, attrs in cases(name, types.float64)[:12]:
        floats = [n for n, a in enumerate(arrays) if a.dtype.kind == "f"]
        tensors = [d2s.to_tensor(a, stop_gradient=n not in floats) for n, a in enumerate(arrays)]
        outputs = results(OPS[name](*tensors, **attrs))
        weights = [np.random.default_rng(7).standard_normal(y.shape) for y in outputs if y.dtype.kind == "f"]
        (found,) = [sum_of(outputs, weights)]
        if found is None:
            continue
        found.backward()
        for n in floats:
            gradient = np.zeros_like(arrays[n]) if tensors[n].grad is None else tensors[n].grad.numpy()
            for at in itertools.islice(np.ndindex(arrays[n].shape), 0, None, max(1, arrays[n].size // 6)):
                assert abs(gradient[at] - slope(name, arrays, attrs, weights, n, at)) < 1e-5, (
                    f"{name} {attrs} input {n} at {at}"
                )


def sum_of(outputs, weights):
    """The weighted sum of the float results that depend on an input."""
    floats = [y for y in outputs if y.dtype.kind == "f"]
    parts = [(y * d2s.to_tensor(w)).sum() for y, w in zip(floats, weights, strict=True) if not y.stop_gradient]
    if not parts:
        return None
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def slope(name, arrays, attrs, weights, n, at, step=1e-6):
    def value(delta):
        moved = [a.copy() for a in arrays]
        moved[n][at] += delta
        outputs = [y for y in results(OPS[name](*map(d2s.to_tensor, moved), **attrs)) if y.dtype.kind == "f"]
        return sum(float((y.numpy() * w).sum()) for y, w in zip(outputs, weights, strict=True))

    return (value(step) - value(-step)) / (2 * step)
