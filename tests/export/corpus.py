"""Programs for the tests of the Paddle files: text, and inputs that take every arm and 0, 1 and 5 trips."""

import dataclasses
import textwrap
from typing import Any

import numpy as np

from d2s.export import Model, Parameter
from d2s.ir.program import Program
from d2s.ir.text import parse
from d2s.ir.verify import verify
from d2s.ops import OPS

RANDOM = np.random.default_rng(7)


def some(*shape: int, dtype: str = "float32") -> np.ndarray:
    return RANDOM.normal(size=shape).astype(dtype)


def whole(*values: int) -> list[np.ndarray]:
    return [np.asarray(v, "int64") for v in values]


@dataclasses.dataclass
class Case:
    """A program, how many of its inputs are fed, its parameters, and runs: the fed inputs of each."""

    text: str
    runs: list[list[Any]]
    parameters: list[np.ndarray] = dataclasses.field(default_factory=list)

    def program(self) -> Program:
        program = parse(textwrap.dedent(self.text))
        verify(program, lambda node: OPS[node.op].infer([v.type for v in node.inputs], node.attrs))
        return program

    def model(self) -> Model:
        program = self.program()
        names = [v.name for v in program.inputs]
        split = len(names) - len(self.parameters)
        stored = {
            n: Parameter(a, f"layer.{n}", i % 2 == 0)
            for i, (n, a) in enumerate(zip(names[split:], self.parameters, strict=True))
        }
        return Model(program, names[:split], stored, [f"out_{i}" for i in range(len(program.outputs))], {"tree": ["out", None]})


CASES: dict[str, Case] = {}


def case(name: str, text: str, *runs: list[Any], parameters: list[np.ndarray] | None = None) -> None:
    CASES[name] = Case(text, list(runs), parameters or [])


case(
    "straight",
    """
    program Net.forward(x: f32[3,4], w: f32[4,2], b: f32[2]) -> (f32[3,2]) {
      %0: f32[3,2] = matmul(x, w, transpose_x=False, transpose_y=False)  # model.py:3
      %1: f32[3,2] = add(%0, b)  # model.py:3
      %2: f32[3,2] = relu(%1)  # a model.py:4
      return %2
    }
    """,
    [some(3, 4)],
    parameters=[some(4, 2), some(2)],
)

case(  # Paddle's inference takes a `scale` behind a product into the matrix, which others read
    "turned",
    """
    program turned(x: f32[n,4], w: f32[4,4]) -> (f32[n,4], f32[n,4]) {
      %0: f32[n,4] = matmul(x, w, transpose_x=False, transpose_y=False)
      %1: f32[n,4] = neg(%0)
      %2: f32[n,4] = tanh(x)
      %3: f32[n,4] = matmul(%2, w, transpose_x=False, transpose_y=False)
      return %1, %3
    }
    """,
    [some(3, 4)],
    parameters=[some(4, 4)],
)

case(
    "batch",
    """
    program batch(x: f32[n,4], y: f32[n,m], w: f32[5,4]) -> (f32[n,5], f32[4,m], f32[n], f32[], f32[1,4]) {
      %0: f32[n,5] = matmul(x, w, transpose_x=False, transpose_y=True)
      %1: f32[4,m] = matmul(x, y, transpose_x=True, transpose_y=False)
      %2: f32[n] = sum(x, axis=(1,), keepdim=False)
      %3: f32[] = sum(x, axis=(0,1,), keepdim=False)
      %4: f32[1,4] = sum(x, axis=(0,), keepdim=True)
      return %0, %1, %2, %3, %4
    }
    """,
    [some(3, 4), some(3, 2)],
    [some(1, 4), some(1, 7)],
    parameters=[some(5, 4)],
)

case(
    "products",
    """
    program products(x: f32[b,2,3], y: f32[3,4], v: f32[3], z: f64[2,3])
        -> (f32[b,2,4], f32[b,2], f32[4], f32[b,3,3], f64[2]) {
      %0: f32[b,2,4] = matmul(x, y, transpose_x=False, transpose_y=False)
      %1: f32[b,2] = matmul(x, v, transpose_x=False, transpose_y=False)
      %2: f32[4] = matmul(v, y, transpose_x=False, transpose_y=False)
      %3: f32[b,3,3] = matmul(x, x, transpose_x=True, transpose_y=False)
      %4: f64[2] = dot(z, z)
      return %0, %1, %2, %3, %4
    }
    """,
    [some(5, 2, 3), some(3, 4), some(3), some(2, 3).astype("float64")],
)

case(
    "arithmetic",
    """
    program arithmetic(x: f32[n,3], y: f32[3], s: f32[]) -> (f32[n,3], b1[n,3], b1[n,3], b1[n,3], b1[n,3], b1[n,3], b1[n,3]) {
      %0: f32[n,3] = subtract(y, x)
      %1: f32[n,3] = multiply(%0, s)
      %2: f32[n,3] = neg(%1)
      %3: f32[n,3] = tanh(%2)
      %4: b1[n,3] = equal(x, y)
      %5: b1[n,3] = not_equal(x, y)
      %6: b1[n,3] = less_than(x, y)
      %7: b1[n,3] = less_equal(x, y)
      %8: b1[n,3] = greater_than(x, y)
      %9: b1[n,3] = greater_equal(x, y)
      return %3, %4, %5, %6, %7, %8, %9
    }
    """,
    [np.float32([[1, 2, 3], [3, 2, 1]]), np.float32([1, 1, 3]), np.float32(0.5)],
)

case(
    "where",
    """
    program choice(c: b1[n,1], x: f32[m], y: f32[], z: f32[n,m], d: b1[n,m]) -> (f32[n,m], f32[n,m], f32[n,m], f32[m]) {
      %0: f32[n,m] = where(c, x, y)
      %1: f32[n,m] = where(d, z, y)
      %2: f32[n,m] = where(d, z, z)
      %3: b1[m] = greater_than(x, y)
      %4: f32[m] = where(%3, y, x)
      return %0, %1, %2, %4
    }
    """,
    [np.array([[True], [False]]), np.float32([np.inf, -0.0, np.nan]), np.float32(-0.0), some(2, 3), some(2, 3) > 0],
)

case(
    "casts",
    """
    program casts(x: f32[n], k: int, f: float, b: bool, u: u8[n]) ->
        (f64[n], i32[n], b1[n], u8[n], i8[n], i32[n], i64[], float, int, bool, f32[]) {
      %0: f64[n] = cast(x, dtype=f64, python=False)
      %1: i32[n] = cast(x, dtype=i32, python=False)
      %2: b1[n] = cast(x, dtype=b1, python=False)
      %3: u8[n] = cast(%2, dtype=u8, python=False)
      %4: i8[n] = cast(x, dtype=i8, python=False)
      %5: i16[n] = cast(u, dtype=i16, python=False)
      %6: i64[] = cast(k, dtype=i64, python=False)
      %7: float = cast(k, dtype=f64, python=True)
      %8: int = cast(f, dtype=i64, python=True)
      %9: bool = cast(f, dtype=b1, python=True)
      %10: f32[] = cast(b, dtype=f32, python=False)
      %11: i32[n] = cast(%5, dtype=i32, python=False)
      return %0, %1, %2, %3, %4, %11, %6, %7, %8, %9, %10
    }
    """,
    [np.float32([0, -1.5, 100.9]), np.asarray(7), np.asarray(-2.5), np.asarray(True), np.uint8([0, 3, 255])],
)

case(
    "integers",
    """
    program integers(x: i64[n], y: i32[n], z: i16[n], p: b1[n], q: u8[n], r: i8[n]) ->
        (i64[n], i64[], i64[], i32[n], i64[n], b1[n], i64[], u8[], b1[n], i8[n], i64[]) {
      %0: i64[n] = neg(x)
      %1: i64[] = sum(x, axis=(0,), keepdim=False)
      %2: i64[] = sum(y, axis=(0,), keepdim=False)
      %3: i32[n] = multiply(y, y)
      %4: i16[n] = subtract(z, z)
      %5: b1[n] = multiply(p, p)
      %6: i64[] = sum(p, axis=(0,), keepdim=False)
      %7: u8[] = sum(q, axis=(0,), keepdim=False)
      %8: b1[n] = less_than(q, q)
      %9: i8[n] = neg(r)
      %10: i64[] = sum(%1, axis=(), keepdim=False)
      %11: i64[n] = cast(%4, dtype=i64, python=False)
      return %0, %1, %2, %3, %11, %5, %6, %7, %8, %9, %10
    }
    """,
    [
        np.array([2**62 + 1, -3]), np.int32([2, -5]), np.int16([1, 2]), np.array([True, False]),
        np.uint8([200, 100]), np.int8([-7, 5]),
    ],
)  # fmt: skip

case(
    "constants",
    """
    program constants(x: f32[]) ->
        (f32[], f32[], f32[], f32[], f64[], f64[], i64[], i64[], int, i64[], f32[], bool, i64[], u8[],
        i8[], b1[], float, f64[]) {
      %0: f32[] = constant(dtype=f32, python=False, value=nan)
      %1: f32[] = constant(dtype=f32, python=False, value=inf)
      %2: f32[] = constant(dtype=f32, python=False, value=-inf)
      %3: f32[] = constant(dtype=f32, python=False, value=-0.0)
      %4: f64[] = constant(dtype=f64, python=False, value=0.1)
      %5: f64[] = constant(dtype=f64, python=False, value=5e-324)
      %6: i64[] = constant(dtype=i64, python=False, value=9223372036854775807)
      %7: i64[] = constant(dtype=i64, python=False, value=-9223372036854775807)
      %8: int = constant(dtype=i64, python=True, value=9007199254740993)
      %9: i64[] = constant(dtype=i64, python=False, value=-9223372036854775808)
      %10: f32[] = constant(dtype=f32, python=False, value=2)
      %11: bool = constant(dtype=b1, python=True, value=True)
      %12: i64[] = constant(dtype=i64, python=False, value=True)
      %13: u8[] = constant(dtype=u8, python=False, value=255)
      %14: i8[] = constant(dtype=i8, python=False, value=-128)
      %15: b1[] = constant(dtype=b1, python=False, value=False)
      %16: float = constant(dtype=f64, python=True, value=1.7976931348623157e+308)
      %17: f64[] = constant(dtype=f64, python=False, value=True)
      return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17
    }
    """,
    [np.float32(0)],
)

case(
    "ways_out",
    """
    program ways_out(x: f32[n], feed: f32[n], w: f32[2]) -> (f32[n], f32[n], f32[n], f32[n], f32[2], f32[n]) {
      %0: f32[n] = tanh(x)
      %1: f32[n] = relu(x)
      return x, %0, %0, x, w, feed
    }
    """,
    [some(3), some(3)],
    parameters=[some(2)],
)

case(
    "cond",
    """
    program branch(x: f32[n,2], w: f32[2]) -> (f32[n,2], f32[]) {
      %0: f32[] = sum(x, axis=(0,1,), keepdim=False)
      %1: f32[] = constant(dtype=f32, python=False, value=0.0)
      %2: b1[] = greater_than(%0, %1)  # net.py:7
      %3: f32[n,2], %4: f32[] = cond(%2, x, w, x, %0) {  # net.py:7
        then(a: f32[n,2], w: f32[2], b: f32[n,2], s: f32[]) -> (f32[n,2], f32[]) {
          %0: f32[n,2] = add(b, w)  # net.py:8
          %1: f32[n,2] = multiply(%0, a)
          return %1, s
        }
        otherwise(first: f32[n,2], second: f32[2], third: f32[n,2], fourth: f32[]) -> (f32[n,2], f32[]) {
          %0: f32[] = constant(dtype=f32, python=False, value=3.0)
          return third, %0
        }
      }
      return %3, %4
    }
    """,
    [np.float32([[1, 2], [3, 4]])],
    [np.float32([[-1, -2]])],
    parameters=[some(2)],
)

case(
    "python_cond",
    """
    program python_cond(x: f32[n], b: bool, k: int) -> (int, f32[n]) {
      %0: int, %1: f32[n], %2: f32[n] = cond(b, k, x) {
        then(k: int, x: f32[n]) -> (int, f32[n], f32[n]) {
          %0: f32[n] = tanh(x)
          return k, %0, %0
        }
        otherwise(k: int, x: f32[n]) -> (int, f32[n], f32[n]) {
          %0: int = neg(k)
          return %0, x, x
        }
      }
      %3: f32[n] = add(%1, %2)
      return %0, %3
    }
    """,
    [some(3), np.asarray(True), np.asarray(4)],
    [some(2), np.asarray(False), np.asarray(4)],
)

case(
    "counter",
    """
    program counter(x: f32[n,4], k: int, w: f32[4,4]) -> (f32[n,4], int) {
      %0: int = constant(dtype=i64, python=True, value=0)
      %1: f32[n,4], %2: int = while_loop(x, %0, k, w, carries=2) {  # net.py:3
        test(a: f32[n,4], i: int, last: int, w: f32[4,4]) -> (bool) {
          %0: bool = less_than(i, last)  # net.py:3
          return %0
        }
        body(h: f32[n,4], i: int, last: int, w: f32[4,4]) -> (f32[n,4], int) {
          %0: f32[n,4] = matmul(h, w, transpose_x=False, transpose_y=False)  # net.py:4
          %1: f32[n,4] = tanh(%0)
          %2: int = constant(dtype=i64, python=True, value=1)
          %3: int = add(i, %2)
          return %1, %3
        }
      }
      return %1, %2
    }
    """,
    *([some(2, 4), trips] for trips in whole(5, 0, 1, 5)),
    parameters=[some(4, 4)],
)

case(
    "swapped",
    """
    program swapped(x: f32[n], y: f32[n], k: i64[]) -> (f32[n], f32[n], f32[n], i64[], f32[n]) {
      %0: i64[] = constant(dtype=i64, python=False, value=0)
      %1: f32[n], %2: f32[n], %3: f32[n], %4: i64[], %5: f32[n] = while_loop(x, y, x, %0, y, x, x, k, carries=5) {
        test(a: f32[n], b: f32[n], kept: f32[n], i: i64[], e: f32[n], c: f32[n], d: f32[n], k: i64[]) -> (b1[]) {
          %0: b1[] = less_than(i, k)
          return %0
        }
        body(a: f32[n], b: f32[n], kept: f32[n], i: i64[], e: f32[n], c: f32[n], d: f32[n], k: i64[]) ->
        (f32[n], f32[n], f32[n], i64[], f32[n]) {
          %0: i64[] = constant(dtype=i64, python=False, value=1)
          %1: i64[] = add(i, %0)
          %2: f32[n] = add(a, d)
          return b, a, kept, %1, %2
        }
      }
      return %2, %1, %3, %4, %5
    }
    """,
    *([some(3), some(3), trips] for trips in whole(0, 1, 5)),
)

case(
    "cond_in_while",
    """
    program cond_in_while(x: f32[n], w: f32[]) -> (f32[n]) {
      %0: f32[n] = while_loop(x, w, carries=1) {
        test(x: f32[n], w: f32[]) -> (b1[]) {
          %0: f32[n] = multiply(x, x)
          %1: f32[] = sum(%0, axis=(0,), keepdim=False)
          %2: f32[] = constant(dtype=f32, python=False, value=100.0)
          %3: b1[] = less_than(%1, %2)
          %4: b1[] = cond(%3, x) {
            then(x: f32[n]) -> (b1[]) {
              %0: f32[] = constant(dtype=f32, python=False, value=0.5)
              %1: f32[] = sum(x, axis=(0,), keepdim=False)
              %2: b1[] = greater_than(%1, %0)
              return %2
            }
            otherwise(unused: f32[n]) -> (b1[]) {
              %0: b1[] = constant(dtype=b1, python=False, value=False)
              return %0
            }
          }
          return %4
        }
        body(x: f32[n], w: f32[]) -> (f32[n]) {
          %0: f32[] = sum(x, axis=(0,), keepdim=False)
          %1: f32[] = constant(dtype=f32, python=False, value=6.0)
          %2: b1[] = less_than(%0, %1)
          %3: f32[n] = cond(%2, x, w) {
            then(x: f32[n], w: f32[]) -> (f32[n]) {
              %0: f32[n] = multiply(x, w)
              return %0
            }
            otherwise(x: f32[n], w: f32[]) -> (f32[n]) {
              %0: f32[n] = add(x, x)
              %1: f32[n] = add(%0, w)
              return %1
            }
          }
          return %3
        }
      }
      return %0
    }
    """,
    [np.float32([1, 1.5])],
    [np.float32([-1])],
    [np.float32([30, 1])],
    parameters=[np.float32(1.5)],
)

case(
    "while_in_cond",
    """
    program while_in_cond(x: f32[n], k: i64[], w: f32[1]) -> (f32[n]) {
      %0: i64[] = constant(dtype=i64, python=False, value=2)
      %1: b1[] = less_equal(%0, k)
      %2: f32[n] = cond(%1, x, k, w) {
        then(x: f32[n], k: i64[], w: f32[1]) -> (f32[n]) {
          %0: f32[n], %1: i64[] = while_loop(x, k, w, carries=2) {
            test(x: f32[n], k: i64[], w: f32[1]) -> (b1[]) {
              %0: i64[] = constant(dtype=i64, python=False, value=0)
              %1: b1[] = not_equal(k, %0)
              return %1
            }
            body(x: f32[n], k: i64[], w: f32[1]) -> (f32[n], i64[]) {
              %0: f32[n] = add(x, w)
              %1: i64[] = constant(dtype=i64, python=False, value=1)
              %2: i64[] = subtract(k, %1)
              return %0, %2
            }
          }
          return %0
        }
        otherwise(x: f32[n], k: i64[], w: f32[1]) -> (f32[n]) {
          return x
        }
      }
      return %2
    }
    """,
    *([some(3), trips] for trips in whole(1, 2, 5)),
    parameters=[some(1)],
)

case(
    "while_in_while",
    """
    program nested(x: f32[n], k: int) -> (f32[n], int, bool) {
      %0: int = constant(dtype=i64, python=True, value=0)
      %1: bool = constant(dtype=b1, python=True, value=True)
      %2: f32[n], %3: int, %4: bool = while_loop(x, %0, %1, k, carries=3) {
        test(x: f32[n], i: int, go: bool, k: int) -> (bool) {
          return go
        }
        body(x: f32[n], i: int, go: bool, k: int) -> (f32[n], int, bool) {
          %0: int = constant(dtype=i64, python=True, value=0)
          %1: int, %2: f32[n] = while_loop(%0, x, i, carries=2) {
            test(j: int, x: f32[n], i: int) -> (bool) {
              %0: bool = less_than(j, i)
              return %0
            }
            body(j: int, x: f32[n], i: int) -> (int, f32[n]) {
              %0: int = constant(dtype=i64, python=True, value=1)
              %1: int = add(j, %0)
              %2: f32[n] = tanh(x)
              return %1, %2
            }
          }
          %3: int = constant(dtype=i64, python=True, value=1)
          %4: int = add(i, %3)
          %5: bool = less_than(%4, k)
          return %2, %4, %5
        }
      }
      return %2, %3, %4
    }
    """,
    *([some(3), trips] for trips in whole(1, 5)),
)

case(
    "while_in_test",
    """
    program while_in_test(x: i64[], k: i64[]) -> (i64[]) {
      %0: i64[] = while_loop(x, k, carries=1) {
        test(x: i64[], k: i64[]) -> (b1[]) {
          %0: i64[] = while_loop(x, k, carries=1) {
            test(x: i64[], k: i64[]) -> (b1[]) {
              %0: b1[] = less_than(x, k)
              return %0
            }
            body(x: i64[], k: i64[]) -> (i64[]) {
              %0: i64[] = constant(dtype=i64, python=False, value=7)
              %1: i64[] = add(x, %0)
              return %1
            }
          }
          %1: i64[] = subtract(%0, k)
          %2: i64[] = constant(dtype=i64, python=False, value=3)
          %3: b1[] = not_equal(%1, %2)
          return %3
        }
        body(x: i64[], k: i64[]) -> (i64[]) {
          %0: i64[] = constant(dtype=i64, python=False, value=1)
          %1: i64[] = add(x, %0)
          return %1
        }
      }
      return %0
    }
    """,
    whole(0, 20),
    whole(4, 20),
    whole(2, 5),
)

case(
    "elementwise",
    """
    program elementwise(x: f32[n], y: f32[n]) -> (f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n],
      f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n],
      f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], f32[n], b1[n],
      b1[n], b1[n], b1[n], b1[n], b1[n]) {
      %0: f32[n] = reciprocal(x)
      %1: f32[n] = sign(x)
      %2: f32[n] = exp(x)
      %3: f32[n] = expm1(x)
      %4: f32[n] = log(x)
      %5: f32[n] = log1p(x)
      %6: f32[n] = log2(x)
      %7: f32[n] = log10(x)
      %8: f32[n] = sqrt(x)
      %9: f32[n] = rsqrt(x)
      %10: f32[n] = sigmoid(x)
      %11: f32[n] = erf(x)
      %12: f32[n] = sin(x)
      %13: f32[n] = cos(x)
      %14: f32[n] = tan(x)
      %15: f32[n] = asin(x)
      %16: f32[n] = acos(x)
      %17: f32[n] = atan(x)
      %18: f32[n] = sinh(x)
      %19: f32[n] = cosh(x)
      %20: f32[n] = floor(x)
      %21: f32[n] = ceil(x)
      %22: f32[n] = trunc(y)
      %23: f32[n] = trunc(x)
      %24: f32[n] = square(x)
      %25: f32[n] = abs(x)
      %26: f32[n] = divide(x, y)
      %27: f32[n] = floor_divide(x, y)
      %28: f32[n] = remainder(x, y)
      %29: f32[n] = pow(x, y)
      %30: f32[n] = maximum(x, y)
      %31: f32[n] = minimum(x, y)
      %32: f32[n] = fmax(x, y)
      %33: f32[n] = fmin(x, y)
      %34: f32[n] = clip(x, max=0.75, min=0.1)
      %35: b1[n] = isnan(x)
      %36: b1[n] = isinf(x)
      %37: b1[n] = isfinite(x)
      %38: b1[n] = logical_and(x, y)
      %39: b1[n] = logical_or(x, y)
      %40: b1[n] = logical_xor(x, y)
      return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22,
      %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40
    }
    """,
    [np.float32([0.25, 0.5, 0.875]), np.float32([0.5, 0.25, 2])],
)  # fmt: skip

case(
    "bits",
    """
    program bits(x: i32[n], y: i32[n]) -> (i32[n], i32[n], i32[n], i32[n]) {
      %0: i32[n] = bitwise_and(x, y)
      %1: i32[n] = bitwise_or(x, y)
      %2: i32[n] = bitwise_xor(x, y)
      %3: i32[n] = bitwise_not(x)
      return %0, %1, %2, %3
    }
    """,
    [np.int32([1, -2, 3]), np.int32([5, 6, 7])],
)

case(
    "single_numbers",
    """
    program single_numbers(x: f32[n,3]) -> (f32[], f32[], f32[n,3]) {
      %0: f32[] = sum(x, axis=(0, 1), keepdim=False)
      %1: f32[] = constant(value=4.0, dtype=f32, python=False)
      %2: f32[] = divide(%0, %1)
      %3: f32[] = subtract(%1, %2)
      %4: f32[n,3] = multiply(x, %1)
      return %2, %3, %4
    }
    """,
    [some(2, 3)],
)
