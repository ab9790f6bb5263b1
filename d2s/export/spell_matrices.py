"""Paddle's words for matrices taken apart.

In: a pen at a node. Out: Paddle's ops.

>>> from d2s.export.paddle_pen import SPELLED
>>> SPELLED["svd_of"].dtypes
'f32 f64'
"""

from d2s.export.paddle_pen import Pen, spells
from d2s.types import Type

_FLOATS = "f32 f64"


@spells("inverse_of", _FLOATS)
def _(pen: Pen) -> None:
    pen.write("inverse", {"Input": pen.names[0]}, out="Output")


@spells("determinant", _FLOATS)
def _(pen: Pen) -> None:
    pen.write("determinant", {"Input": pen.names[0]})


@spells("signed_log", _FLOATS)
def _(pen: Pen) -> None:
    pen.write("slogdeterminant", {"Input": pen.names[0]})


@spells("solved", _FLOATS)
def _(pen: Pen) -> None:
    pen.write("solve", {"X": pen.names[0], "Y": pen.names[1]})


@spells("cholesky_of", _FLOATS)
def _(pen: Pen) -> None:
    pen.write("cholesky", {"X": pen.names[0]}, {"upper": False})


@spells("qr_of", _FLOATS)
def _(pen: Pen) -> None:
    x = pen.types[0]
    (*batch, height, width), least = x.shape, pen.outputs[0].shape[-1]
    of_q, of_r = Type(x.dtype, (*batch, height, least)), Type(x.dtype, (*batch, least, width))
    r = pen.spare(of_r)
    q = pen.write("qr", {"X": pen.names[0]}, {"mode": "reduced"}, of_q, out="Q", also={"R": r})
    _behind(pen, q, _turned(pen, r, of_r))


@spells("eigh_of", _FLOATS)
def _(pen: Pen) -> None:
    x = pen.types[0]
    of_values, vectors = Type(x.dtype, x.shape[:-1]), pen.spare(x)
    attrs = {"UPLO": "U" if pen.attrs["upper"] else "L"}
    values = pen.write("eigh", {"X": pen.names[0]}, attrs, of_values, out="Eigenvalues", also={"Eigenvectors": vectors})
    _behind(pen, _as_row(pen, values, of_values), vectors)


@spells("svd_of", _FLOATS)
def _(pen: Pen) -> None:
    x = pen.types[0]
    (*batch, height, width), least = x.shape, pen.outputs[0].shape[-1]
    of_u, of_s = Type(x.dtype, (*batch, height, least)), Type(x.dtype, (*batch, least))
    of_v = Type(x.dtype, (*batch, least, width))
    s, v = pen.spare(of_s), pen.spare(of_v)
    u = pen.write("svd", {"X": pen.names[0]}, {"full_matrices": False}, of_u, out="U", also={"S": s, "VH": v})
    _behind(pen, u, _as_row(pen, s, of_s), _turned(pen, v, of_v))


def _turned(pen: Pen, x: str, of: Type) -> str:
    last = len(of.shape) - 1
    return pen.transposed(x, of, [*range(last - 1), last, last - 1])[0]


def _as_row(pen: Pen, x: str, of: Type) -> str:
    return pen.unsqueezed(x, of, len(of.shape) - 1)[0]


def _behind(pen: Pen, *parts: str) -> None:
    """One behind the other, as an op of ours has them."""
    pen.write("concat", {"X": list(parts)}, {"axis": len(pen.outputs[0].shape) - 2})
