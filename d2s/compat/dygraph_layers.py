"""Layers of `fluid.dygraph` whose arguments or defaults are not those of today.

In: sizes, under the names of then. Out: layers of d2s.

>>> Embedding([5, 3])(d2s.to_tensor([[1], [2]])).shape, Embedding("scope", [5, 3])(d2s.to_tensor([[1], [2]])).shape
([2, 1, 3], [2, 3])
"""

import math
from collections.abc import Sequence
from typing import Any

from d2s.arguments import one_of
from d2s.compat.layers import Layer, Scoped
from d2s.compat.old_names import dropout
from d2s.nn import functional
from d2s.nn.activation import activated
from d2s.nn.initializer import Constant, XavierUniform
from d2s.ops.compare import where
from d2s.ops.join import concat
from d2s.ops.matmul import matmul
from d2s.ops.shape import flatten, reshape, squeeze
from d2s.ops.slicing import split
from d2s.static.layers import known


class Embedding(Scoped):
    """Rows of a table; until 1.6, named by a scope, the last axis of the numbers became the row."""

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
        rows = squeeze(input, -1) if self._scoped and input.shape[-1] == 1 else input
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


class LayerNorm(Scoped):
    """Samples of mean 0 and variance 1; until 1.6, `begin_norm_axis` said what of an input is a sample.

    >>> LayerNorm(2, epsilon=0.0)(d2s.to_tensor([[1.0, 3.0]])).tolist()
    [[-1.0, 1.0]]
    """

    until_1_6 = "scale shift begin_norm_axis epsilon param_attr bias_attr act"
    sizes = ("normalized_shape",)

    def told(self, given: dict[str, Any], input: Any) -> dict[str, Any]:
        own = {name: value for name, value in given.items() if name != "begin_norm_axis"}
        return own | {"normalized_shape": list(input.shape[given.get("begin_norm_axis", 1) :])}

    def _set(
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
        self._shape = list(normalized_shape) if isinstance(normalized_shape, list | tuple) else [normalized_shape]
        self._epsilon, self._act, elements = epsilon, act, [math.prod(self._shape)]
        self.weight = self.create_parameter(elements, param_attr, default_initializer=Constant(1.0)) if scale else None
        self.bias = self.create_parameter(elements, bias_attr, is_bias=True) if shift else None

    def forward(self, input: Any) -> Any:
        flat = flatten(input, -len(self._shape), -1)
        found = functional.layer_norm(flat, flat.shape[-1:], self.weight, self.bias, self._epsilon)
        return activated(reshape(found, [*[0] * (input.ndim - len(self._shape)), *self._shape]), self._act)


class GroupNorm(Scoped):
    """Groups of channels of mean 0 and variance 1."""

    until_1_6 = "groups epsilon param_attr bias_attr act data_layout"
    sizes = ("channels",)

    def told(self, given: dict[str, Any], input: Any) -> dict[str, Any]:
        return given | {"channels": known("GroupNorm", input.shape[1:2])}

    def _set(
        self,
        channels: int,
        groups: int,
        epsilon: float = 1e-5,
        param_attr: Any = None,
        bias_attr: Any = None,
        act: str | None = None,
        data_layout: str = "NCHW",
        dtype: Any = "float32",
    ) -> None:
        self._groups, self._epsilon, self._act, self._layout = groups, epsilon, act, data_layout
        self.weight = self.create_parameter([channels], param_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([channels], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        found = functional.group_norm(input, self._groups, self._epsilon, self.weight, self.bias, self._layout)
        return activated(found, self._act)


class InstanceNorm(Layer):
    """Channels of each image of mean 0 and variance 1."""

    def __init__(
        self,
        num_channels: int,
        epsilon: float = 1e-5,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(dtype=dtype)
        self._epsilon = epsilon
        self.scale = self.create_parameter([num_channels], param_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_channels], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        return functional.instance_norm(input, weight=self.scale, bias=self.bias, eps=self._epsilon)


class PRelu(Scoped):
    """What is negative by a number that is learnt: one, one for each channel, or one for each element.

    >>> PRelu("channel", 2)(d2s.to_tensor([[[[-4.0]], [[1.0]]]])).flatten().tolist()
    [-1.0, 1.0]
    """

    until_1_6 = "mode param_attr"
    sizes = ("channel", "input_shape")

    def of_a_scope(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        return "name_scope" in kwargs or isinstance((*args, kwargs.get("mode"), None)[1], str)

    def told(self, given: dict[str, Any], input: Any) -> dict[str, Any]:
        return given | {"channel": input.shape[1], "input_shape": input.shape}

    def _set(
        self,
        mode: str,
        channel: int | None = None,
        input_shape: Any = None,
        param_attr: Any = None,
        dtype: Any = "float32",
    ) -> None:
        shapes = {"all": [1], "channel": [1, channel, 1, 1], "element": [1, *list(input_shape or [])[1:]]}
        one_of("PRelu", "mode", mode, shapes)
        self.weight = self.create_parameter(shapes[mode], param_attr, default_initializer=Constant(0.25))

    def forward(self, input: Any) -> Any:
        return where(input > 0.0, input, input * self.weight)


class GRUUnit(Scoped):
    """One step of a gated recurrent unit; `size` is three times that of the hidden state."""

    def _set(
        self,
        size: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        activation: str = "tanh",
        gate_activation: str = "sigmoid",
        origin_mode: bool = False,
        dtype: Any = "float32",
    ) -> None:
        self._size, self._acts, self._origin = size // 3, (activation, gate_activation), origin_mode
        self.weight = self.create_parameter([self._size, size], param_attr)
        self.bias = self.create_parameter([1, size], bias_attr, is_bias=True)

    def forward(self, input: Any, hidden: Any) -> tuple[Any, Any, Any]:
        """The next state, what of the old one was let through, and the three gates."""
        n, (activation, gate) = self._size, self._acts
        of_gates, of_candidate = split(reshape(self.weight, [-1]), [2 * n * n, n * n])  # one behind the other, in one memory
        given = input if self.bias is None else input + self.bias
        of_hidden = given[:, : 2 * n] + matmul(hidden, reshape(of_gates, [n, 2 * n]))
        update, reset = activated(of_hidden[:, :n], gate), activated(of_hidden[:, n:], gate)
        passed = reset * hidden
        candidate = activated(given[:, 2 * n :] + matmul(passed, reshape(of_candidate, [n, n])), activation)
        old, new = (update, 1.0 - update) if self._origin else (1.0 - update, update)
        return old * hidden + new * candidate, passed, concat([update, reset, candidate], 1)


class BilinearTensorProduct(Scoped):
    """Products of all pairs of elements of two inputs, weighed."""

    until_1_6 = "size name act param_attr bias_attr"
    sizes = ("input1_dim", "input2_dim")

    def build_once(self, *inputs: Any, **kwargs: Any) -> None:
        if self._awaiting is not None:
            dims: dict[str, Any] = {
                name: known("BilinearTensorProduct", x.shape[1:]) for name, x in zip(self.sizes, inputs, strict=True)
            }
            rest = {name: value for name, value in self._awaiting.items() if name != "size"}
            self._set(**rest, **dims, output_dim=self._awaiting["size"])

    def _set(
        self,
        input1_dim: int,
        input2_dim: int,
        output_dim: int,
        name: str | None = None,
        act: str | None = None,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: Any = "float32",
    ) -> None:
        self._act = act
        self.weight = self.create_parameter([output_dim, input1_dim, input2_dim], param_attr)
        self.bias = self.create_parameter([1, output_dim], bias_attr, is_bias=True)

    def forward(self, x: Any, y: Any) -> Any:
        return activated(functional.bilinear(x, y, self.weight, self.bias), self._act)


class Flatten(Layer):
    """Some axes as one."""

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self._axes = start_axis, stop_axis

    def forward(self, input: Any) -> Any:
        return flatten(input, *self._axes)
