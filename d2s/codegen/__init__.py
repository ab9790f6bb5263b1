"""From an op and its types to a loaded native kernel: emitted Numba text, compiled once, kept as an object file."""

from d2s.codegen import threads as threads
