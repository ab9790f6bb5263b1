"""Layers that normalise: they hold weight and bias, and over a batch the running mean and variance.

Parameters and buffers have Paddle's names: `weight`, `bias`, `_mean`, `_variance`.

>>> layer = BatchNorm1D(2)
>>> list(layer.state_dict())
['weight', 'bias', '_mean', '_variance']
"""

import math
from collections.abc import Sequence
from typing import Any

from d2s import memory, types, unique_name
from d2s.arguments import expect
from d2s.default_dtype import default_dtype
from d2s.eager.tensor import Tensor
from d2s.errors import ShapeError
from d2s.nn.activation import activated
from d2s.nn.initializer import Constant, begin
from d2s.nn.layer import Layer
from d2s.nn.norm import batch_norm, group_norm, instance_norm, layer_norm, local_response_norm, rms_norm
from d2s.ops.shapes import whole_numbers


class LayerNorm(Layer):
    """`layer_norm` over axes of the extents given.

    >>> d2s.nn.LayerNorm(2, epsilon=0.0)(d2s.to_tensor([[1.0, 3.0]])).tolist()
    [[-1.0, 1.0]]
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        expect("LayerNorm", "normalized_shape", normalized_shape, (int, list, tuple), "an int or a list of ints")
        self._normalized_shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self._epsilon = epsilon
        flat = [math.prod(whole_numbers(self._normalized_shape, "LayerNorm", "normalized_shape"))]  # as Paddle's files hold it
        self.weight = _scales(self, flat, weight_attr)
        self.bias = self.create_parameter(flat, bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        return layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)

    def extra_repr(self) -> str:
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


def _scales(layer: Layer, shape: Sequence[int], attr: Any) -> Any:
    """A weight that is 1 at first."""
    return layer.create_parameter(shape, attr, default_initializer=Constant(1.0))


class RMSNorm(Layer):
    """`rms_norm` over axes of the extents given.

    >>> d2s.nn.RMSNorm(2, epsilon=0.0)(d2s.to_tensor([[1.0, -1.0]])).tolist()
    [[1.0, -1.0]]
    """

    def __init__(
        self, normalized_shape: int | Sequence[int], epsilon: float = 1e-5, weight_attr: Any = None, name: str | None = None
    ) -> None:
        super().__init__()
        expect("RMSNorm", "normalized_shape", normalized_shape, (int, list, tuple), "an int or a list of ints")
        self._normalized_shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        self._epsilon = epsilon
        self.weight = _scales(self, self._normalized_shape, weight_attr)

    def forward(self, x: Any) -> Any:
        return rms_norm(x, self._normalized_shape, self.weight, self._epsilon)

    def extra_repr(self) -> str:
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class GroupNorm(Layer):
    """`group_norm` of so many groups of channels.

    >>> d2s.nn.GroupNorm(1, 2, epsilon=0.0)(d2s.to_tensor([[1.0, 3.0]])).tolist()
    [[-1.0, 1.0]]
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        for argument, value in (("num_groups", num_groups), ("num_channels", num_channels)):
            expect("GroupNorm", argument, value, int, "an int")
        if num_groups < 1 or num_channels % num_groups:
            raise ShapeError("D2S0002", f"GroupNorm(): {num_channels} channels do not make {num_groups} groups")
        self._num_groups, self._num_channels = num_groups, num_channels
        self._epsilon, self._data_format = epsilon, data_format
        self.weight = _scales(self, [num_channels], weight_attr)
        self.bias = self.create_parameter([num_channels], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        return group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self) -> str:
        return f"num_groups={self._num_groups}, num_channels={self._num_channels}, epsilon={self._epsilon}"


def _everywhere(layer: Layer, extent: int, number: float) -> Tensor:
    """A buffer that begins as one number; not made by an op, which a program being declared would record."""
    expect(type(layer).__name__, "num_features", extent, int, "an int")
    found = Tensor(memory.zeros(type(layer).__name__, [int(extent)], default_dtype().numpy))
    found.name = unique_name.generate(f"{layer.full_name()}.w")
    begin(found, Constant(number))
    return found


class _BatchNorm(Layer):
    """What batch norms share; `ranks` are those of the values they take."""

    ranks: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_features, self._momentum, self._epsilon = num_features, momentum, epsilon
        self._data_format, self._use_global_stats = data_format, use_global_stats
        self.weight = _scales(self, [num_features], weight_attr)
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)
        self.register_buffer("_mean", _everywhere(self, num_features, 0.0))
        self.register_buffer("_variance", _everywhere(self, num_features, 1.0))

    def _taught(self) -> bool:
        """Whether mean and variance are those of the batch."""
        return self.training

    def forward(self, input: Any) -> Any:
        if self.ranks and input.ndim not in self.ranks:
            listed = " or ".join(map(str, self.ranks))
            raise ShapeError("D2S0002", f"{type(self).__name__}: 'input' has {input.ndim} axes, expected {listed}")
        tensors = (self._mean, self._variance, self.weight, self.bias)
        settings: tuple[Any, ...] = (self._taught(), self._momentum, self._epsilon, self._data_format, self._use_global_stats)
        return batch_norm(input, *tensors, *settings)

    def extra_repr(self) -> str:
        return f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}"


class BatchNorm(_BatchNorm):
    """`batch_norm` of values of any rank from 2 on, with an activation behind it and arguments named as in Paddle 1.x.

    With `is_test` it begins in evaluation; with `trainable_statistics` the batch's mean and variance are taken there too.

    >>> d2s.nn.BatchNorm(1, "relu", epsilon=0.0)(d2s.to_tensor([[1.0], [3.0]])).tolist()
    [[0.0], [1.0]]
    """

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: Any = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ) -> None:
        super().__init__(num_channels, momentum, epsilon, param_attr, bias_attr, data_layout, use_global_stats or None)
        if types.dtype(dtype) is not default_dtype():
            self.to(dtype=dtype)
        self._mean.name, self._variance.name = moving_mean_name or self._mean.name, moving_variance_name or self._variance.name
        self._act, self._trainable_statistics, self.training = act, trainable_statistics, not is_test

    def _taught(self) -> bool:
        return self.training or self._trainable_statistics

    def forward(self, input: Any) -> Any:
        return activated(super().forward(input), self._act)


class BatchNorm1D(_BatchNorm):
    """`batch_norm` of [batch, channels], or of [batch, channels, length].

    >>> d2s.nn.BatchNorm1D(1, epsilon=0.0)(d2s.to_tensor([[1.0], [3.0]])).tolist()
    [[-1.0], [1.0]]
    """

    ranks = (2, 3)


class BatchNorm2D(_BatchNorm):
    """`batch_norm` of [batch, channels, height, width].

    >>> d2s.nn.BatchNorm2D(1, epsilon=0.0)(d2s.to_tensor([[[[1.0, 3.0]]]])).tolist()
    [[[[-1.0, 1.0]]]]
    """

    ranks = (4,)


class BatchNorm3D(_BatchNorm):
    """`batch_norm` of [batch, channels, depth, height, width].

    >>> d2s.nn.BatchNorm3D(1, epsilon=0.0)(d2s.to_tensor([[[[[1.0, 3.0]]]]])).tolist()
    [[[[[-1.0, 1.0]]]]]
    """

    ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """`BatchNorm` over the batches of all processes; there is one process, so it is that of its own batch.

    >>> model = d2s.nn.Sequential(d2s.nn.Linear(2, 3), d2s.nn.BatchNorm1D(3))
    >>> type(d2s.nn.SyncBatchNorm.convert_sync_batchnorm(model)[1]).__name__
    'SyncBatchNorm'
    """

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """The layer, in which every BatchNorm1D, 2D and 3D is one over all processes, with the same parameters and averages."""
        expect("convert_sync_batchnorm", "layer", layer, Layer, "a Layer")
        found = layer
        if isinstance(layer, _BatchNorm) and not isinstance(layer, cls | BatchNorm):
            settings = (layer._num_features, layer._momentum, layer._epsilon, False, False, layer._data_format)
            found = cls(*settings)
            for name in ("weight", "bias"):
                delattr(found, name)
                setattr(found, name, getattr(layer, name))
            for name in ("_mean", "_variance"):
                setattr(found, name, getattr(layer, name))
            found.training = layer.training
        for name, part in list(layer.named_children()):
            found.add_sublayer(name, cls.convert_sync_batchnorm(part))
        return found


class _InstanceNorm(Layer):
    """What instance norms share; `ranks` are those of the values they take."""

    ranks: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_features, self._epsilon, self._data_format = num_features, epsilon, data_format
        self.scale = _scales(self, [num_features], weight_attr)
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        if input.ndim not in self.ranks:
            listed = " or ".join(map(str, self.ranks))
            raise ShapeError("D2S0002", f"{type(self).__name__}: 'input' has {input.ndim} axes, expected {listed}")
        return instance_norm(input, weight=self.scale, bias=self.bias, eps=self._epsilon, data_format=self._data_format)

    def extra_repr(self) -> str:
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


class InstanceNorm1D(_InstanceNorm):
    """`instance_norm` of [batch, channels, length].

    >>> d2s.nn.InstanceNorm1D(1, epsilon=0.0)(d2s.to_tensor([[[1.0, 3.0]]])).tolist()
    [[[-1.0, 1.0]]]
    """

    ranks = (2, 3)


class InstanceNorm2D(_InstanceNorm):
    """`instance_norm` of [batch, channels, height, width].

    >>> d2s.nn.InstanceNorm2D(1, epsilon=0.0)(d2s.to_tensor([[[[1.0, 3.0]]]])).tolist()
    [[[[-1.0, 1.0]]]]
    """

    ranks = (4,)


class InstanceNorm3D(_InstanceNorm):
    """`instance_norm` of [batch, channels, depth, height, width].

    >>> d2s.nn.InstanceNorm3D(1, epsilon=0.0)(d2s.to_tensor([[[[[1.0, 3.0]]]]])).tolist()
    [[[[[-1.0, 1.0]]]]]
    """

    ranks = (5,)


class LocalResponseNorm(Layer):
    """`local_response_norm` over so many channels.

    >>> print(d2s.nn.LocalResponseNorm(1, alpha=1.0, beta=1.0)(d2s.to_tensor([[[[2.0]]]])).numpy().round(2))
    [[[[0.4]]]]
    """

    def __init__(
        self,
        size: int,
        alpha: float = 1e-4,
        beta: float = 0.75,
        k: float = 1.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._size, self._alpha, self._beta, self._k, self._data_format = size, alpha, beta, k, data_format

    def forward(self, input: Any) -> Any:
        return local_response_norm(input, self._size, self._alpha, self._beta, self._k, self._data_format)

    def extra_repr(self) -> str:
        return f"size={self._size}, alpha={self._alpha}, beta={self._beta}, k={self._k}"
