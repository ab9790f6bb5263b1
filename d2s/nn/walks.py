"""Walks over all that a layer holds: sublayers, parameters and buffers, each once, under structured names.

In: what a layer and those below it registered. Out: pairs of names and what has them, in the order in which it was set.

>>> layer = d2s.nn.Sequential(d2s.nn.Linear(2, 3), d2s.nn.ReLU())
>>> [name for name, _ in layer.named_sublayers()], [name for name, _ in layer.named_parameters()]
(['0', '1'], ['0.weight', '0.bias'])
"""

from collections.abc import Callable, Iterator
from typing import Any

from d2s.arguments import expect
from d2s.eager.tensor import Tensor
from d2s.nn.parameter import Parameter


class Walks:
    """Methods of `Layer`."""

    _parameters: dict[str, Parameter | None]
    _sub_layers: dict[str, Any]
    _buffers: dict[str, Tensor | None]

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The direct sublayers, each once."""
        seen: set[int] = set()
        for name, layer in self._sub_layers.items():
            if layer is not None and id(layer) not in seen:
                seen.add(id(layer))
                yield name, layer

    def children(self) -> Iterator[Any]:
        """The direct sublayers, each once."""
        return (layer for _, layer in self.named_children())

    def named_sublayers(
        self,
        prefix: str = "",
        include_self: bool = False,
        layers_set: set[Any] | None = None,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """All layers below this one, under names like 'block.0.linear'."""
        seen = set[Any]() if layers_set is None else layers_set
        expect("Layer.named_sublayers", "layers_set", seen, set, "a set")
        expect("Layer.named_sublayers", "prefix", prefix, str, "a str")
        if include_self and not (remove_duplicate and self in seen):
            yield prefix, self
        if remove_duplicate:
            if self in seen:
                return
            seen.add(self)
        for name, layer in self._sub_layers.items():
            if layer is not None:
                yield from layer.named_sublayers(_joined(prefix, name), True, seen, remove_duplicate)

    def sublayers(self, include_self: bool = False) -> list[Any]:
        """All layers below this one."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters, under names like 'block.0.linear.weight'."""
        return self._named("_parameters", prefix, include_sublayers, remove_duplicate)

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers, under names like 'block.0.norm._mean'."""
        return self._named("_buffers", prefix, include_sublayers, remove_duplicate)

    def _named(self, kind: str, prefix: str, include_sublayers: bool, remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        expect(f"Layer.named{kind}", "prefix", prefix, str, "a str")
        seen: set[int] = set()
        whole = self.named_sublayers(prefix, True, None, remove_duplicate) if include_sublayers else [(prefix, self)]
        for path, layer in whole:
            for name, found in layer.__dict__[kind].items():
                if found is not None and not (remove_duplicate and id(found) in seen):
                    seen.add(id(found))
                    yield _joined(path, name), found

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """All parameters."""
        return [p for _, p in self.named_parameters(include_sublayers=include_sublayers)]

    def buffers(self, include_sublayers: bool = True) -> list[Tensor]:
        """All buffers."""
        return [b for _, b in self.named_buffers(include_sublayers=include_sublayers)]

    def apply(self, fn: Callable[[Any], Any]) -> Any:
        """Calls `fn` on every layer, this one last.

        >>> _ = d2s.nn.Sequential(d2s.nn.Linear(1, 1)).apply(lambda layer: print(layer.full_name().rpartition("_")[0]))
        linear
        sequential
        """
        expect("Layer.apply", "fn", fn, Callable, "a function")
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
