"""Layers of `fluid.dygraph` whose arguments or defaults are not those of today.

In: sizes, under the names of then. Out: layers of d2s.

>>> Embedding([5, 3])(d2s.to_tensor([[1], [2]])).shape, Embedding("scope", [5, 3])(d2s.to_tensor([[1], [2]])).shape
([2, 1, 3], [2, 3])
"""

import math
from collections.abc import Sequence
from typing import Any

from d2s.compat.layers import Layer, of_a_scope, without_scope
from d2s.compat.old_names import dropout
from d2s.nn import functional
from d2s.nn.activation import activated
from d2s.nn.initializer import Constant, XavierUniform
from d2s.ops.shape import flatten, reshape, squeeze


class Embedding(Layer):
    """Rows of a table; until 1.6, named by a scope, the last axis of the numbers became the row."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._replaces = of_a_scope(args, kwargs)
        scope, rest = without_scope(args, kwargs)
        super().__init__(scope, kwargs.get("dtype", "float32"))
        self._set(*rest, **kwargs)

    def _set(
        self,
        size: Sequence[int],
        is_sparse: bool = False,
        is_distributed: bool = False,
        padding_idx: int | None = None,
        param_attr: Any = None,
        dtype: Any = "float32",
    ) -> None:
        self._padding = padding_idx
        self.weight = self.create_parameter(list(size), param_attr, default_initializer=XavierUniform())

    def forward(self, input: Any) -> Any:
        rows = squeeze(input, -1) if self._replaces and input.shape[-1] == 1 else input
        return functional.embedding(rows, self.weight, self._padding)


class Dropout(Layer):
    """0 by chance; what is left is made smaller in evaluation, where nothing else is said."""

    def __init__(
        self,
        p: float = 0.5,
        seed: int | None = None,
        dropout_implementation: str = "downgrade_in_infer",
        is_test: bool = False,
    ) -> None:
        super().__init__()
        self._p, self._kind, self._test = p, dropout_implementation, is_test

    def forward(self, input: Any) -> Any:
        return dropout(input, self._p, self._test or not self.training, dropout_implementation=self._kind)


class LayerNorm(Layer):
    """Samples of mean 0 and variance 1, as 1.7 and 1.8 had it.

    >>> LayerNorm(2, epsilon=0.0)(d2s.to_tensor([[1.0, 3.0]])).tolist()
    [[-1.0, 1.0]]
    """

    def __init__(
        self,
        normalized_shape: Any,
        scale: bool = True,
        shift: bool = True,
        epsilon: float = 1e-5,
        param_attr: Any = None,
        bias_attr: Any = None,
        act: str | None = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(dtype=dtype)
        self._shape = list(normalized_shape) if isinstance(normalized_shape, list | tuple) else [normalized_shape]
        self._epsilon, self._act, elements = epsilon, act, [math.prod(self._shape)]
        self.weight = self.create_parameter(elements, param_attr, default_initializer=Constant(1.0)) if scale else None
        self.bias = self.create_parameter(elements, bias_attr, is_bias=True) if shift else None

    def forward(self, input: Any) -> Any:
        flat = flatten(input, -len(self._shape), -1)
        found = functional.layer_norm(flat, flat.shape[-1:], self.weight, self.bias, self._epsilon)
        return activated(reshape(found, [*[0] * (input.ndim - len(self._shape)), *self._shape]), self._act)
