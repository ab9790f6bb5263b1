"""`Layer`: parameters, buffers and sublayers found by attribute, under structured names; hooks; and how all of it is shown.

In: attributes set by a model's `__init__`. Out: walks over all there is, in the order in which it was set.

>>> layer = d2s.nn.Linear(2, 3)
>>> [(name, p.shape) for name, p in layer.named_parameters()]
[('weight', [2, 3]), ('bias', [3])]
>>> layer
Linear(in_features=2, out_features=3, dtype=float32)
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from d2s import memory, types, unique_name
from d2s.arguments import expect
from d2s.default_dtype import default_dtype
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.nn import initializer, parameter, state
from d2s.nn.hooks import HookRemoveHelper, Hooks
from d2s.nn.parameter import Parameter
from d2s.nn.walks import Walks
from d2s.ops.compare import cast
from d2s.place import usable
from d2s.runtime.modes import has_modes
from d2s.types import DType

__all__ = ["Layer", "Parameter"]
_REGISTERED = ("_parameters", "_sub_layers", "_buffers")
_KINDS = {"_parameters": ("parameter", "Parameter"), "_sub_layers": ("sublayer", "Layer"), "_buffers": ("buffer", "Tensor")}


@has_modes
class Layer(Walks):
    """The base of models. Subclasses set parameters and sublayers in `__init__` and define `forward`.

    >>> class Scale(d2s.nn.Layer):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = self.create_parameter([1], default_initializer=d2s.nn.initializer.Constant(2.0))
    ...
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale()(d2s.to_tensor([3.0])).tolist()
    [6.0]
    """

    __slots__ = ("_d2s_captures",)  # what its static methods were captured as: it goes with the layer, and is not of its state
    training: bool

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied."""
        return self.__dict__

    def __init__(self, name_scope: str | None = None, dtype: Any = None) -> None:
        expect("Layer", "name_scope", name_scope, str | None, "a str")
        self.training, self._dtype = True, None if dtype is None else types.dtype(dtype)
        self._full_name = unique_name.generate(name_scope or _snake_case(type(self).__name__))
        self.__dict__ |= {"_parameters": {}, "_sub_layers": {}, "_buffers": {}, "_non_persistable_buffer_names_set": set()}
        self._forward_pre_hooks: Hooks = {}
        self._forward_post_hooks: Hooks = {}
        self._state_dict_hooks: Hooks = {}

    # --- calling

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if self._forward_pre_hooks or self._forward_post_hooks:
            return self._hooked(*inputs, **kwargs)
        return self.forward(*inputs, **kwargs)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the layer computes."""
        raise NotImplementedError(f"{type(self).__name__} defines no forward()")

    def captured_as(self) -> Any:
        """What a capture that meets this layer calls."""
        return self._hooked if self._forward_pre_hooks or self._forward_post_hooks else self.forward

    def _hooked(self, *inputs: Any, **kwargs: Any) -> Any:
        for hook in self._forward_pre_hooks.values():
            changed = hook(self, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs = self.forward(*inputs, **kwargs)
        for hook in self._forward_post_hooks.values():
            changed = hook(self, inputs, outputs)
            if changed is not None:
                outputs = changed
        return outputs

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """Calls `hook(layer, inputs)` before each forward; what it returns, if anything, is the inputs instead.

        >>> layer = d2s.nn.Linear(1, 1, weight_attr=d2s.nn.initializer.Constant(1.0))
        >>> removable = layer.register_forward_pre_hook(lambda layer, inputs: inputs[0] * 2)
        >>> layer(d2s.to_tensor([[3.0]])).item()
        6.0
        >>> removable.remove()
        """
        return HookRemoveHelper(self._forward_pre_hooks, hook)

    def register_forward_post_hook(self, hook: Callable[..., Any]) -> HookRemoveHelper:
        """Calls `hook(layer, inputs, outputs)` behind each forward; what it returns, if anything, is the outputs instead."""
        return HookRemoveHelper(self._forward_post_hooks, hook)

    # --- attributes

    def __getattr__(self, name: str) -> Any:
        for kind in _REGISTERED:
            registered = self.__dict__.get(kind, ())
            if name in registered:
                return registered[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter):
            self._registry("_parameters", name)[name] = value
        elif isinstance(value, Layer):
            self._registry("_sub_layers", name)[name] = value
        elif not self._set_registered(name, value):
            if isinstance(value, Tensor):
                self._non_persistable_buffer_names_set.add(name)
                self._registry("_buffers", name)[name] = value
            else:
                object.__setattr__(self, name, value)

    def _registry(self, kind: str, name: str) -> dict[str, Any]:
        """Where a kind of attribute is registered; nothing else keeps the name."""
        if kind not in self.__dict__:
            raise ArgumentError("D2S0004", f"{type(self).__name__}.__init__() sets '{name}' before super().__init__()")
        self.__dict__.pop(name, None)
        for other in _REGISTERED:
            if other != kind:
                self.__dict__[other].pop(name, None)
        found: dict[str, Any] = self.__dict__[kind]
        return found

    def _set_registered(self, name: str, value: Any) -> bool:
        """Another value of a name that is registered: None, or of a buffer a tensor."""
        for kind in _REGISTERED:
            if name not in self.__dict__.get(kind, ()):
                continue
            if value is not None and not (kind == "_buffers" and isinstance(value, Tensor)):
                what, expected = _KINDS[kind]
                got = type(value).__name__
                raise DTypeError(
                    "D2S0001", f"{what} '{name}': expects a {expected} or None, got {got}", hint=f"del layer.{name}"
                )
            self.__dict__[kind][name] = value
            return True
        return False

    def __delattr__(self, name: str) -> None:
        for kind in _REGISTERED:
            if name in self.__dict__.get(kind, ()):
                del self.__dict__[kind][name]
                self._non_persistable_buffer_names_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *(name for kind in _REGISTERED for name in self.__dict__[kind])]

    def add_sublayer(self, name: str, sublayer: "Layer | None") -> "Layer | None":
        """Registers a sublayer by name.

        >>> d2s.nn.Layer().add_sublayer("first", d2s.nn.Linear(1, 2))
        Linear(in_features=1, out_features=2, dtype=float32)
        """
        if not isinstance(sublayer, Layer | None):
            raise DTypeError("D2S0001", f"add_sublayer(): 'sublayer' expects a Layer, got {type(sublayer).__name__}")
        self._sub_layers[str(name)] = sublayer
        return sublayer

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Registers a parameter by name."""
        self._free("add_parameter", name, "_parameters")
        if not isinstance(parameter, Parameter | None):
            raise DTypeError("D2S0001", f"add_parameter(): 'parameter' expects a Parameter, got {type(parameter).__name__}")
        self._parameters[name] = parameter
        return parameter

    def register_buffer(self, name: str, tensor: Tensor | None, persistable: bool = True) -> None:
        """Registers a tensor that is not learnt, such as a mean of what was seen; the state holds it where it is persistable.

        >>> layer = d2s.nn.Layer()
        >>> layer.register_buffer("seen", d2s.to_tensor([0.0]))
        >>> list(layer.state_dict())
        ['seen']
        """
        self._free("register_buffer", name, "_buffers")
        if not isinstance(tensor, Tensor | None):
            raise DTypeError("D2S0001", f"register_buffer(): 'tensor' expects a Tensor, got {type(tensor).__name__}")
        self._buffers[name] = tensor
        change = self._non_persistable_buffer_names_set.discard if persistable else self._non_persistable_buffer_names_set.add
        change(name)

    def _free(self, function: str, name: Any, kind: str) -> None:
        """Refuses a name that is none, or is taken by something of another kind."""
        if not isinstance(name, str):
            raise DTypeError("D2S0001", f"{function}(): 'name' expects a str, got {type(name).__name__}")
        if "." in name or not name:
            raise ArgumentError("D2S0004", f"{function}(): 'name' is {brief(name)}; it may not be empty or hold a point")
        if name not in self.__dict__[kind] and hasattr(self, name):
            raise ArgumentError("D2S0004", f"{function}(): {type(self).__name__} has an attribute '{name}' already")

    def create_parameter(
        self,
        shape: Sequence[int],
        attr: Any = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: initializer.Initializer | None = None,
    ) -> Parameter | None:
        """A parameter as `attr` says, to be set as an attribute; None where `attr` is False.

        It begins as `attr` says, else as set_global_initializer() does, else by `default_initializer`, else by Xavier's
        uniform numbers, a bias by zeros.
        """
        wanted = parameter.param_attr(attr)
        expect("create_parameter", "default_initializer", default_initializer, initializer.Initializer | None, "an Initializer")
        if wanted is None:
            return None
        held = types.dtype(dtype) if dtype is not None else self._dtype or default_dtype()
        name = unique_name.generate(f"{self._full_name}.{'b' if is_bias else 'w'}") if wanted.name is None else wanted.name
        extents = _extents(shape)
        shared = initializer.known(name, extents, held)
        if shared is not None:
            return shared  # type: ignore[return-value]
        found = parameter.made(wanted, memory.zeros("create_parameter", extents, held.numpy), name)
        initializer.begin(found, initializer.chosen(wanted.initializer, default_initializer, is_bias))
        return found

    def create_tensor(self, name: str | None = None, persistable: bool | None = None, dtype: Any = None) -> Tensor:
        """An empty tensor, for a subclass to fill."""
        found = Tensor(np.zeros([0], (types.dtype(dtype) if dtype is not None else self._dtype or default_dtype()).numpy))
        found.name = name or unique_name.generate(f"{self._full_name}.generated_tensor")
        return found

    create_variable = create_tensor

    # --- modes and dtypes

    def train(self, mode: bool = True) -> "Layer":
        """Tells this layer and all below that they are trained."""
        for layer in self.sublayers(include_self=True):
            layer.training = mode
        return self

    def eval(self) -> "Layer":
        """Tells this layer and all below that they are only used."""
        return self.train(False)

    def to(self, device: Any = None, dtype: Any = None, blocking: bool | None = None) -> "Layer":
        """Brings all parameters and buffers that hold floats to a dtype.

        >>> d2s.nn.Linear(1, 1).to(dtype="float64").weight.dtype
        d2s.float64
        """
        usable(device, "to")
        return self if dtype is None else self._cast(types.dtype(dtype), self.sublayers(include_self=True))

    def astype(self, dtype: Any = None) -> "Layer":
        """Brings all parameters and buffers to a dtype, those of integers, too."""
        return self if dtype is None else self._cast(types.dtype(dtype), self.sublayers(include_self=True), "bif")

    def float(self, excluded_layers: Any = None) -> "Layer":
        """Brings all that holds floats to float32, but for layers of the classes named."""
        excluded = tuple(excluded_layers) if isinstance(excluded_layers, list | tuple | set) else excluded_layers or ()
        for kind in excluded if isinstance(excluded, tuple) else (excluded,):
            expect("Layer.float", "excluded_layers", kind, type, "classes of layers")
        return self._cast(types.float32, [x for x in self.sublayers(include_self=True) if not isinstance(x, excluded)])

    def float16(self, excluded_layers: Any = None) -> NoReturn:
        """There are no half floats yet: says so."""
        raise DTypeError("D2S0003", "Layer.float16(): d2s holds no float16 yet", hint="float32 or float64")

    def bfloat16(self, excluded_layers: Any = None) -> NoReturn:
        """There are no half floats yet: says so."""
        raise DTypeError("D2S0003", "Layer.bfloat16(): d2s holds no bfloat16 yet", hint="float32 or float64")

    def _cast(self, dtype: DType, layers: Iterable["Layer"], kinds: str = "f") -> "Layer":
        for layer in layers:
            object.__setattr__(layer, "_dtype", dtype)
            for held in (*layer._parameters.values(), *layer._buffers.values()):
                if held is not None and held.dtype.kind in kinds and held.dtype is not dtype:
                    held.array, held.grad = cast(held.detach(), dtype).array, None
        return self

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Forgets the gradients of all parameters that are learnt."""
        for p in self.parameters():
            if p.trainable:
                p.clear_gradient(set_to_zero)

    # --- state

    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
    ) -> dict[str, Any]:
        """All parameters and persistable buffers, by structured name: the tensors themselves, to be saved or handed on.

        >>> list(d2s.nn.Sequential(d2s.nn.Linear(1, 2), d2s.nn.Linear(2, 1)).state_dict())
        ['0.weight', '0.bias', '1.weight', '1.bias']
        """
        return state.gathered(self, destination, include_sublayers, structured_name_prefix, use_hook)

    def to_static_state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
    ) -> dict[str, Any]:
        """Like `state_dict`, with the buffers that are not persistable."""
        return state.gathered(self, destination, include_sublayers, structured_name_prefix, use_hook, False)

    def set_state_dict(self, state_dict: dict[str, Any], use_structured_name: bool = True) -> tuple[list[str], list[str]]:
        """Gives parameters and buffers the values of a state; says which names were missing in it, and which are unknown here.

        What does not fit is left as it is, and a warning names it.

        >>> layer = d2s.nn.Linear(1, 1)
        >>> layer.set_state_dict({"weight": [[5.0]], "bias": [1.0], "other": [0.0]})
        ([], ['other'])
        >>> layer.weight.item()
        5.0
        """
        return state.taken(self, state_dict, use_structured_name)

    set_dict = load_dict = set_state_dict

    def register_state_dict_hook(self, hook: Callable[[dict[str, Any]], Any]) -> HookRemoveHelper:
        """Calls `hook(state)` on what `state_dict` gathers."""
        return HookRemoveHelper(self._state_dict_hooks, hook)

    # --- texts

    def full_name(self) -> str:
        """The name no other layer has, such as 'linear_0'; those of its parameters begin with it."""
        return self._full_name

    def extra_repr(self) -> str:
        """What the text of a layer says of its own settings."""
        return ""

    def __repr__(self) -> str:
        rows = [line for line in [self.extra_repr()] if line]
        below = [f"({name}): {textwrap.indent(repr(layer), '  ').lstrip()}" for name, layer in self._sub_layers.items()]
        if not below:
            return f"{type(self).__name__}({rows[0] if rows else ''})"
        return "\n".join([f"{type(self).__name__}(", *(f"  {row}" for row in rows + below), ")"])


def _snake_case(name: str) -> str:
    """`Conv2D` as the names of layers have it: conv2d; `MyNet`: my_net."""
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()


def _extents(shape: Any) -> list[int]:
    if not isinstance(shape, list | tuple) or not all(isinstance(n, int | np.integer) and n >= 0 for n in shape):
        raise ArgumentError("D2S0004", f"create_parameter(): {brief(shape)} is not a shape: a list of ints, none negative")
    return [int(n) for n in shape]
