"""The registry of ops: one block declares an op; families import in the order below."""

from d2s.ops import (
    activation,
    along_axis,
    arrange,
    attention,
    compare,
    control,
    conv,
    create,
    dropout,
    expand,
    gather,
    item,
    join,
    label,
    linalg,
    math,
    norm,
    pad,
    pool,
    random,
    reduce,
    scan,
    scatter,
    shape,
    slicing,
    softmax,
    sort,
    statistics,
    triangle,
)
from d2s.ops.dispatch import OPS
from d2s.ops.op import Op, Share

__all__ = ["OPS", "Op", "Share", "compare", "control", "linalg", "math", "random", "reduce"]
