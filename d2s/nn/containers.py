"""Layers that hold layers: one behind the other, in a list, in a dict; and a list of parameters.

>>> model = Sequential(d2s.nn.Linear(2, 4), d2s.nn.Linear(4, 1))
>>> model(d2s.to_tensor([[1.0, 2.0]])).shape
[1, 1]
"""

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from d2s.arguments import expect
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.nn.layer import Layer
from d2s.nn.parameter import Parameter


def _position(of: Any, index: Any, count: int, end: int = 0) -> int:
    """A position among `count` things (and `end` behind them), negative ones counted from the end."""
    try:
        at = operator.index(index)
    except TypeError:
        got = type(index).__name__
        raise DTypeError("D2S0001", f"{type(of).__name__}: an index is an int or a slice, not {got}") from None
    if not -count <= at < count + end:
        raise _Beyond("D2S0004", f"{type(of).__name__}: index {brief(at)} of {count} is out of range")
    return at % count if at < 0 else at


class _Beyond(ArgumentError, IndexError):
    """An index behind the end: also ends a `for` over what has only `__getitem__`."""


class _Listed(Layer):
    """Layers under the names "0", "1", ...: what Sequential and LayerList share."""

    def _checked(self, layers: Iterable[Any]) -> list[Layer]:
        expect(type(self).__name__, "sublayers", layers, Iterable, "Layers")
        given = []
        for layer in layers:
            if not isinstance(layer, Layer):
                raise DTypeError("D2S0001", f"{type(self).__name__}: expects Layers, got {type(layer).__name__}")
            given.append(layer)
        return given

    def _renumber(self, layers: Iterable[Any]) -> None:
        given = self._checked(layers)
        self._sub_layers.clear()
        self._sub_layers.update((str(k), layer) for k, layer in enumerate(given))

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._sub_layers.values())

    def captured_items(self) -> tuple[Any, ...]:
        """What a capture that loops over these layers loops over."""
        return tuple(self)

    def append(self, sublayer: Layer) -> Any:
        """Adds a layer at the end.

        >>> layers = d2s.nn.LayerList()
        >>> len(layers.append(d2s.nn.Linear(1, 2)))
        1
        """
        return self.insert(len(self), sublayer)

    def insert(self, index: int, sublayer: Layer) -> Any:
        """Puts a layer before the one at `index`."""
        at = _position(self, index, len(self), 1)
        if at == len(self) and next(reversed(self._sub_layers), "-1") == str(at - 1):
            self._sub_layers[str(at)] = self._checked([sublayer])[0]  # the others keep their numbers
            return self
        layers = list(self)
        layers.insert(at, sublayer)
        self._renumber(layers)
        return self

    def extend(self, sublayers: Iterable[Layer]) -> Any:
        """Adds layers at the end."""
        for layer in self._checked(sublayers):
            self.append(layer)
        return self


class Sequential(_Listed):
    """Layers one behind the other: unnamed, as (name, layer) pairs, or in a dict by name.

    >>> named = d2s.nn.Sequential(("enter", d2s.nn.Linear(2, 3)), ("leave", d2s.nn.Linear(3, 1)))
    >>> named["leave"], len(named)
    (Linear(in_features=3, out_features=1, dtype=float32), 2)
    >>> named[:1]
    Sequential(
      (0): Linear(in_features=2, out_features=3, dtype=float32)
    )
    """

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], dict):
            layers = tuple(layers[0].items())
        elif len(layers) == 1 and isinstance(layers[0], list):
            layers = tuple(layers[0])
        for k, layer in enumerate(layers):
            name, layer = layer if isinstance(layer, tuple | list) and len(layer) == 2 else (str(k), layer)
            if not isinstance(layer, Layer):
                raise DTypeError("D2S0001", f"Sequential(): expects Layers or (name, Layer), got {type(layer).__name__}")
            self.add_sublayer(name, layer)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(*list(self)[index])
        return self._sub_layers[self._key(index)]

    def __setitem__(self, index: Any, layer: Layer) -> None:
        self.add_sublayer(str(index + len(self) if isinstance(index, int) and index < 0 else index), layer)

    def __delitem__(self, index: Any) -> None:
        del self._sub_layers[self._key(index)]

    def _key(self, index: Any) -> str:
        if not isinstance(index, str):
            return list(self._sub_layers)[_position(self, index, len(self))]
        if index not in self._sub_layers:
            raise _Absent("D2S0004", f"Sequential: no layer is named {brief(index)}")
        return index

    def insert(self, index: int, sublayer: Layer) -> "Sequential":
        """Puts a layer before the one at `index`; layers behind it that are known by their number get the next one."""
        if any(not name.isdecimal() for name in self._sub_layers):
            if _position(self, index, len(self), 1) < len(self):
                raise ArgumentError("D2S0004", "Sequential.insert(): of layers with names, one can only be appended")
            self.add_sublayer(str(len(self)), sublayer)
            return self
        found: Sequential = super().insert(index, sublayer)
        return found

    def extend(self, sublayers: Iterable[Layer]) -> "Sequential":
        """Adds layers at the end."""
        for layer in self._checked(sublayers):
            self.append(layer)
        return self

    def forward(self, input: Any) -> Any:
        for layer in self:
            input = layer(input)
        return input


class LayerList(_Listed):
    """A list of layers, to be called by the model it belongs to.

    >>> layers = d2s.nn.LayerList([d2s.nn.Linear(2, 2) for _ in range(3)])
    >>> len(layers), len(layers[1:]), layers[-1] is layers[2]
    (3, 2, True)
    """

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        self._renumber(sublayers or ())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._sub_layers[str(_position(self, index, len(self)))]

    def __setitem__(self, index: Any, sublayer: Layer) -> None:
        self.add_sublayer(str(_position(self, index, len(self))), sublayer)

    def __delitem__(self, index: Any) -> None:
        layers = list(self)
        del layers[index if isinstance(index, slice) else _position(self, index, len(self))]
        self._renumber(layers)

    def pop(self, index: int = -1) -> Any:
        """Takes a layer out, the last one by default.

        >>> layers = d2s.nn.LayerList([d2s.nn.Linear(2, 2)])
        >>> layers.pop(), len(layers)
        (Linear(in_features=2, out_features=2, dtype=float32), 0)
        """
        taken = self[_position(self, index, len(self))]
        del self[index]
        return taken


class LayerDict(Layer):
    """Layers by key.

    >>> heads = d2s.nn.LayerDict({"left": d2s.nn.Linear(2, 1), "right": d2s.nn.Linear(2, 3)})
    >>> "left" in heads, list(heads.keys()), heads["right"](d2s.to_tensor([[1.0, 2.0]])).shape
    (True, ['left', 'right'], [1, 3])
    """

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        if sublayers is not None:
            self.update(sublayers)

    def __getitem__(self, key: str) -> Any:
        self._check(key)
        return self._sub_layers[key]

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        self._check(key)
        del self._sub_layers[key]

    def _check(self, key: str) -> None:
        if not isinstance(key, str) or key not in self._sub_layers:
            raise _Absent("D2S0004", f"LayerDict: no layer is named {brief(key)}")

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sub_layers)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._sub_layers)

    def __contains__(self, key: object) -> bool:
        return key in self._sub_layers

    def clear(self) -> None:
        """Takes all layers out."""
        self._sub_layers.clear()

    def pop(self, key: str) -> Any:
        """Takes a layer out."""
        self._check(key)
        return self._sub_layers.pop(key)

    def captured_items(self) -> tuple[str, ...]:
        """What a capture that loops over these keys loops over."""
        return tuple(self)

    def keys(self) -> Any:
        """The keys, in the order in which they came."""
        return self._sub_layers.keys()

    def items(self) -> Any:
        """The keys and layers."""
        return self._sub_layers.items()

    def values(self) -> Any:
        """The layers."""
        return self._sub_layers.values()

    def update(self, sublayers: Any) -> None:
        """Takes over the layers of a dict, of another LayerDict, or of (key, layer) pairs."""
        pairs = sublayers.items() if isinstance(sublayers, LayerDict | Mapping) else sublayers
        if not isinstance(pairs, Iterable):
            got = type(sublayers).__name__
            raise DTypeError("D2S0001", f"LayerDict: 'sublayers' expects a dict, a LayerDict or pairs, got {got}")
        for pair in pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise ArgumentError("D2S0004", f"LayerDict: {brief(pair)} is not a pair of a key and a layer")
            self.add_sublayer(*pair)


class _Absent(ArgumentError, KeyError):
    """A key nothing stands under."""


class ParameterList(Layer):
    """A list of parameters.

    >>> layer = d2s.nn.Layer()
    >>> shapes = d2s.nn.ParameterList([layer.create_parameter([n]) for n in (1, 2)])
    >>> len(shapes), shapes[1].shape
    (2, [2])
    """

    def __init__(self, parameters: Iterable[Parameter] | None = None) -> None:
        super().__init__()
        expect("ParameterList", "parameters", parameters, Iterable | None, "a list of parameters")
        for parameter in parameters or ():
            self.append(parameter)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._parameters[str(_position(self, index, len(self)))]

    def __setitem__(self, index: Any, parameter: Parameter) -> None:
        self.add_parameter(str(_position(self, index, len(self))), parameter)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def captured_items(self) -> tuple[Any, ...]:
        """What a capture that loops over these parameters loops over."""
        return tuple(self)

    def append(self, parameter: Parameter) -> "ParameterList":
        """Adds a parameter at the end."""
        self.add_parameter(str(len(self)), parameter)
        return self
