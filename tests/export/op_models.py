"""Every op as models for a file: one for each op and dtype, all cases of its sample side by side.

In: the samples. Out: Models, and the arrays they are fed with.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from d2s.export import Model
from d2s.export.paddle_pen import SPELLED
from d2s.export.spellings import SPELLINGS
from d2s.ir.program import Builder, Value
from d2s.ops import OPS
from d2s.runtime import launch
from d2s.types import DType
from tests.samples import KERNELS, LISTED, accepts, fits

# whose by-products only gradients read
FIRST_ONLY = {"ctc", "class_entropy", "layer_norm", "group_norm", "attention", "recurrent"}
MOST = 10  # cases of an op
USUAL = ("f32", "i64", "b1", "i8")
POSITIVE = {"log", "log1p", "log2", "log10", "sqrt", "rsqrt", "pow", "reciprocal", "divide", "floor_divide", "remainder"}
FRACTIONS = {"asin", "acos"}
SAID = [n for n in (*SPELLINGS, *SPELLED) if n in KERNELS or n in LISTED]


class OpModel(NamedTuple):
    model: Model
    arrays: list[np.ndarray]


def _maker(name: str, of: DType) -> Any:
    rng = np.random.default_rng(5)

    def make(*shape: int) -> np.ndarray:
        if of.kind == "b":
            return np.asarray(rng.random(shape) < 0.5)
        drawn = rng.standard_normal(shape) if of.kind == "f" else rng.integers(0, 9, shape)
        drawn = drawn + (1 if of.kind == "i" else 0) if name in POSITIVE else drawn
        if name in POSITIVE:
            drawn = np.abs(drawn) + (0.1 if of.kind == "f" else 0)
        return np.asarray(np.tanh(drawn) if name in FRACTIONS else drawn).astype(of.numpy)

    return make


def _cases(name: str, of: DType) -> Iterator[tuple[list[np.ndarray], dict[str, Any]]]:
    make = _maker(name, of)
    if name in LISTED:
        found = list(LISTED[name].cases(make))
    else:
        sample = KERNELS[name]
        kept = OPS[name].kept
        found = [
            ([_maker(name, of)(*s) if k >= kept else _bools(s) for k, s in enumerate(shapes)], attrs)
            for shapes in sample.shapes
            for attrs in sample.attrs
            if fits(attrs, len(shapes[0]))
        ]
    if name == "max_pool_with_index":  # Paddle's has no ceil_mode, and pads both sides alike
        found = [c for c in found if not c[1].get("ceil_mode") and np.size(c[1].get("padding", 0)) < 3]
    if name == "recurrent":  # and an LSTM of Paddle shows its last cells only
        found = [c for c in found if c[1]["cell"] != "lstm"]
    if name == "ctc":  # Paddle's waits for ever where a text has not the steps it takes
        found = [([x, labels, np.full(4, len(x)), np.minimum(lengths, 2)], attrs) for (x, labels, _, lengths), attrs in found]
    if name == "resized":  # where Paddle has a scale, it makes the extent
        found = [c for c in found if not c[1]["scale"] or int(c[0][0].shape[c[1]["axis"]] * c[1]["scale"]) == c[1]["size"]]
    if name == "set_diagonal":
        found = [c for c in found if c[1]["offset"] < 7]  # beyond which there is nothing
    found = [c for c in found if all(a.size for a in c[0]) and _result_size(name, *c)]
    step = max(1, len(found) // MOST)
    yield from found[::step]


def _result_size(name: str, arrays: list[np.ndarray], attrs: dict[str, Any]) -> int:
    """Whether there is a result: Paddle takes no empty tensors."""
    given, op = [launch.type_of(a) for a in arrays], OPS[name]
    (first, *_) = op.infer(given, op.canonical(given, {**op.attributes, **attrs}))
    return math.prod(first.shape)  # type: ignore[arg-type]


def _bools(shape: tuple[int, ...]) -> np.ndarray:
    return np.asarray(np.random.default_rng(3).random(shape) < 0.5)


def op_model(name: str, of: DType, cases: slice = slice(None)) -> OpModel:
    """One op, all cases of its sample."""
    op, arrays, builder, outputs = OPS[name], [], Builder(name, []), []
    for given, attrs in list(_cases(name, of))[cases]:
        types = [launch.type_of(a) for a in given]
        inputs = [Value(t, f"x{len(arrays) + k}") for k, t in enumerate(types)]
        full = op.canonical(types, {**op.attributes, **attrs})
        values = list(inputs)
        if name == "pad_with":  # its value is a constant where users say it
            values[1] = builder.add(
                "constant", [], [types[1]], {"value": given[1].item(), "dtype": types[1].dtype, "python": False}
            )[0]
            inputs, given = inputs[:1], given[:1]
        made = builder.add(name, values, op.infer(types, full), full, f"model.py:{len(arrays)}")
        builder.inputs += inputs
        arrays += given
        outputs += made[: 1 if name in FIRST_ONLY else None]
    program = builder.finish(outputs)
    return OpModel(Model(program, [v.name for v in program.inputs], {}, [f"out_{k}" for k in range(len(outputs))]), arrays)


def dtypes(name: str) -> list[DType]:
    """Those a sample is tried on here: the usual ones, and one that goes through int32."""
    return [d for d in accepts(name) if d.short in USUAL]
