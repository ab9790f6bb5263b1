"""Layers as 1.x and 2.0 alpha had them: those of 1.x make their parameters when they first see an input.

In: sizes, under the names of then. Out: layers of d2s.

>>> fc = FC("scope", 3, act="relu")
>>> fc(d2s.ones([2, 4])).shape, fc.weight.shape
([2, 3], [4, 3])
"""

import inspect
from typing import Any

from d2s.autodiff.mode import mode
from d2s.capture.users_code import user_line
from d2s.compat.fluid_images import pool2d
from d2s.errors import UnknownKeyword
from d2s.nn import functional, layer
from d2s.nn.activation import activated
from d2s.nn.initializer import Constant
from d2s.nn.norm import batch_norm
from d2s.nn.parameter import ParamAttr
from d2s.ops.shape import reshape
from d2s.runtime.random_state import seed
from d2s.static.layers import known
from d2s.static.program import default_startup_program, in_dynamic_mode


class Layer(layer.Layer):
    """The base of models of 1.x: named by a scope, built once, recording no graph while it is evaluated."""

    def __init__(self, name_scope: str | None = None, dtype: Any = "float32") -> None:
        super().__init__(None if name_scope is None else f"{name_scope}/{type(self).__name__}", dtype)
        self._scoped = name_scope is not None
        self._built, self._held_state = False, dict[str, Any]()

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if not self._built:
            self.build_once(*inputs, **kwargs)
            self._built = True
        return super().__call__(*inputs, **kwargs)

    def build_once(self, *inputs: Any, **kwargs: Any) -> None:
        """What is done when the first input is seen."""

    def create_parameter(self, *args: Any, **kwargs: Any) -> Any:
        started = default_startup_program()
        if in_dynamic_mode() and started.random_seed and not started.notes.setdefault("seeded", False):
            started.notes["seeded"] = True
            seed(started.random_seed)
        found = super().create_parameter(*args, **kwargs)
        if found is not None and found.name in self._held_state:
            found.set_value(self._held_state[found.name])
        return found

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """By the names of parameters where all that learns is named by scopes, as until 1.6; else by their places."""
        found = super().state_dict(*args, **kwargs)
        learning = [one for one in self.sublayers(include_self=True) if one._parameters]
        scoped = self._scoped and all(getattr(one, "_scoped", False) for one in learning)
        return {one.name or place: one for place, one in found.items()} if scoped else found

    def eval(self) -> "Layer":
        mode.recording = False
        return super().eval()  # type: ignore[return-value]

    def train(self, mode_: bool = True) -> "Layer":
        if mode_:
            mode.recording = True
        return super().train(mode_)  # type: ignore[return-value]

    def load_dict(self, stat_dict: dict[str, Any], include_sublayers: bool = True) -> None:  # type: ignore[override]
        """Gives values by the places of a model, as in 1.8, or by names, as in 1.4; to what is made later when it is."""
        for one in self.sublayers(include_self=True):
            if isinstance(one, Layer):
                one._held_state = dict(stat_dict)
        for place, held in super().state_dict().items():
            if place in stat_dict or held.name in stat_dict:
                held.set_value(stat_dict[place if place in stat_dict else held.name])

    set_dict = load_dict  # type: ignore[assignment]


class Scoped(Layer):
    """A layer that until 1.6 was named by a scope, its first argument, and found its sizes in its first input.

    `_set` makes it of the arguments it had from 1.7 on.
    """

    since_1_7 = ""  # its arguments, where they are not those of `_set`
    until_1_6 = ""  # those behind the scope, where they were others
    sizes: tuple[str, ...] = ()  # those an input tells
    _set: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        scoped = self.of_a_scope(args, kwargs)
        scope, *rest = args if scoped and "name_scope" not in kwargs else (kwargs.pop("name_scope", None), *args)
        super().__init__(scope, kwargs.get("dtype", "float32"))
        self.weight: Any = None
        self.bias: Any = None
        order = self.since_1_7.split() or list(inspect.signature(self._set).parameters)
        given = self._by_name((self.until_1_6.split() or order) if scoped else order, rest, kwargs)
        self._awaiting = given if scoped and any(given.get(size) is None for size in self.sizes) else None
        if self._awaiting is None:
            self._set(**given)

    def of_a_scope(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether it is made as until 1.6: the name of a scope is its first argument."""
        return "name_scope" in kwargs or (bool(args) and isinstance(args[0], str | None))

    def _by_name(self, order: list[str], args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments by their names."""
        kind = type(self).__name__
        if len(args) > len(order):
            raise TypeError(f"{kind}() takes {', '.join(order)}, and {len(args)} arguments were given")
        for name in kwargs:
            if name not in order and name not in self.sizes:
                message = f"{kind}(): d2s has no argument {name!r} there; it takes {', '.join(order)}"
                raise UnknownKeyword("D2S5002", message, where=user_line())
        return dict(zip(order, args, strict=False)) | kwargs

    def told(self, given: dict[str, Any], input: Any) -> dict[str, Any]:
        """The arguments, with what an input tells."""
        return given

    def build_once(self, *inputs: Any, **kwargs: Any) -> None:
        if self._awaiting is not None:
            self._set(**self.told(self._awaiting, inputs[0]))
            self._awaiting = None


class Pool2D(Scoped):
    """A pool; until 1.6 named by a scope.

    >>> Pool2D("scope", 2)(d2s.ones([1, 1, 4, 4])).shape, Pool2D(global_pooling=True)(d2s.ones([1, 1, 4, 4])).shape
    ([1, 1, 3, 3], [1, 1, 1, 1])
    """

    def _set(
        self,
        pool_size: Any = -1,
        pool_type: str = "max",
        pool_stride: Any = 1,
        pool_padding: Any = 0,
        global_pooling: bool = False,
        use_cudnn: bool = True,
        ceil_mode: bool = False,
        exclusive: bool = True,
        dtype: Any = "float32",
        data_format: str = "NCHW",
    ) -> None:
        place = {"pool_stride": pool_stride, "pool_padding": pool_padding, "ceil_mode": ceil_mode, "exclusive": exclusive}
        self._given = {"pool_size": pool_size, "pool_type": pool_type, "global_pooling": global_pooling} | place

    def forward(self, input: Any) -> Any:
        return pool2d(input, **self._given)


class FC(Layer):
    """A product with a weight that is made for the first input.

    >>> FC("scope", 3)(d2s.ones([2, 4, 5])).shape
    [2, 3]
    """

    def __init__(
        self,
        name_scope: str,
        size: int,
        num_flatten_dims: int = 1,
        param_attr: Any = None,
        bias_attr: Any = None,
        act: str | None = None,
        is_test: bool = False,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(name_scope, dtype)
        self._size, self._axis, self._act = size, num_flatten_dims, act
        self._attrs = param_attr, bias_attr
        self._w: Any = None
        self._b: Any = None

    def build_once(self, *inputs: Any, **kwargs: Any) -> None:
        columns = known("FC", inputs[0].shape[self._axis :])
        self._w = self.create_parameter([columns, self._size], self._attrs[0])
        self._b = self.create_parameter([self._size], self._attrs[1], is_bias=True)

    def forward(self, input: Any) -> Any:
        flat = input if len(input.shape) == self._axis + 1 else reshape(input, [0] * self._axis + [self._w.shape[0]])
        return activated(functional.linear(flat, self._w, self._b), self._act)

    @property
    def weight(self) -> Any:
        return self._w

    @property
    def bias(self) -> Any:
        return self._b


class Linear(layer.Layer):
    """A product of 2.0 alpha, with an activation and a dtype.

    >>> Linear(2, 3, act="relu", dtype="float64").weight.dtype
    d2s.float64
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        param_attr: Any = None,
        bias_attr: Any = None,
        act: str | None = None,
        dtype: Any = "float32",
    ) -> None:
        super().__init__("linear", dtype)
        self._act = act
        self.weight = self.create_parameter([input_dim, output_dim], param_attr)
        self.bias = self.create_parameter([output_dim], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        return activated(functional.linear(input, self.weight, self.bias), self._act)


class BatchNorm(Scoped):
    """A batch norm; until 1.6 named by a scope, which comes before all else.

    >>> BatchNorm("scope", 2)(d2s.ones([1, 2, 3, 3])).shape, BatchNorm(num_channels=2)(d2s.ones([1, 2, 3, 3])).shape
    ([1, 2, 3, 3], [1, 2, 3, 3])
    """

    def _set(
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
        self._act, self._test, self._settings = act, is_test or use_global_stats, (momentum, epsilon)
        self.weight = self.create_parameter([num_channels], param_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_channels], bias_attr, is_bias=True)
        mean = ParamAttr(moving_mean_name, Constant(0.0), trainable=False)
        variance = ParamAttr(moving_variance_name, Constant(1.0), trainable=False)
        self._mean, self._variance = (self.create_parameter([num_channels], attr) for attr in (mean, variance))

    def forward(self, input: Any) -> Any:
        layout = "NCHW" if len(input.shape) == 4 else "NC"
        training = self.training and not self._test
        held = self._mean, self._variance, self.weight, self.bias
        return activated(batch_norm(input, *held, training, *self._settings, layout), self._act)


# --- 2.0 alpha: their evaluation records a graph -----------------------------------------------------------------------------


def of_alpha(kind: type[Layer]) -> type[Layer]:
    """The layer as 2.0 alpha had it.

    >>> of_alpha(Pool2D)(2)(d2s.ones([1, 1, 5, 5])).shape
    [1, 1, 4, 4]
    """
    own = {"eval": layer.Layer.eval, "train": layer.Layer.train, "__doc__": kind.__doc__, "__module__": kind.__module__}
    return type(kind.__name__, (kind,), own)
