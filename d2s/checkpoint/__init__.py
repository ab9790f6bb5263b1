"""Paddle's `.pdparams` and `.pdopt` files: states of layers and optimizers, and nests of tensors and plain values.

They are pickles. What is written is spelled here, opcode by opcode; what is read is never unpickled: a small machine of its
own knows the opcodes that make plain values and arrays, and nine names it gives meanings to. No other name, and no call, can
be expressed.
"""

from d2s.checkpoint.files import load, save

__all__ = ["load", "save"]
