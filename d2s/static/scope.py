"""Where runs of programs keep tensors by name: a scope, and scopes inside of it.

In: a name. Out: the tensor a run reads and writes. In the global scope the parameters of layers are themselves; another
scope has copies of them, so that one program may be trained twice, apart.

>>> scope = Scope()
>>> scope.var("w").get_tensor().set(np.ones(2, "float32"), d2s.CPUPlace())
>>> np.array(scope.find_var("w").get_tensor()).tolist(), scope.find_var("v")
([1.0, 1.0], None)
"""

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from d2s.arguments import expect
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.static.recording import awaiting


class Scope:
    """Tensors by name; those it has not are looked up in the scope around it."""

    def __init__(self, parent: "Scope | None" = None) -> None:
        self.parent = parent
        self.tensors: dict[str, Tensor] = {}
        self.learnt: set[tuple[int, int]] = set()  # by step and parameter: which have had a gradient
        self.stepped: dict[tuple[int, ...], Any] = {}  # by step and parameter: what is known of its steps
        self.optimizers: dict[int, Any] = {}  # copies of optimizers for copies of parameters

    def var(self, name: str) -> "ScopeVariable":
        """The variable of that name, made if there is none."""
        expect("Scope.var", "name", name, str, "a str")
        if self._find(name) is None:
            self.tensors[name] = Tensor(np.zeros([0], "float32"))
            self.tensors[name].name = name
        return ScopeVariable(self, name)

    def find_var(self, name: str) -> "ScopeVariable | None":
        """The variable of that name, or None."""
        expect("Scope.find_var", "name", name, str, "a str")
        return None if self._find(name) is None else ScopeVariable(self, name)

    def _find(self, name: str) -> Tensor | None:
        return self.tensors.get(name, self.parent._find(name) if self.parent else None)

    def new_scope(self) -> "Scope":
        """A scope inside of this one."""
        return Scope(self)

    def drop_kids(self) -> None:
        """Scopes inside go with the last who holds them."""

    def local_var_names(self) -> list[str]:
        return list(self.tensors)

    def started(self, tensor: Tensor) -> Tensor:
        """Where a program that starts puts the first values of a tensor."""
        self.tensors[tensor.name] = tensor if self is _global else _copied(tensor)
        return self.tensors[tensor.name]

    def place(self, tensor: Tensor) -> Tensor:
        """Where the values of a tensor go in this scope."""
        return self.tensors[tensor.name] if tensor.name in self.tensors else self.started(tensor)

    def now(self, tensor: Tensor) -> Tensor:
        """What a run in this scope reads for a tensor of its program."""
        if self is _global and id(tensor) not in awaiting and tensor.name not in self.tensors:
            return tensor
        found = self._find(tensor.name) if tensor.name else None
        if found is not None and found.array.shape == tensor.array.shape:
            return found
        if id(tensor) in awaiting:
            hint = "exe.run(d2s.static.default_startup_program())"
            raise ArgumentError("D2S0004", f"'{tensor.name}' has no values in this scope", hint=hint)
        return tensor

    def optimizer(self, given: Any) -> Any:
        """An optimizer for the tensors of this scope."""
        if all(self.now(p) is p for p in given._parameter_list):
            return given
        if id(given) not in self.optimizers:
            found = copy.copy(given)
            found._groups = [_of_group(group, self) for group in given._groups]
            self.optimizers[id(given)] = found
        found = self.optimizers[id(given)]
        found._learning_rate = given._learning_rate  # which users set on the one they know
        return found


def _copied(tensor: Tensor) -> Tensor:
    found: Tensor = copy.deepcopy(tensor)
    found.name = tensor.name
    return found


def _of_group(group: Any, scope: Scope) -> Any:
    parameters = [scope.now(slot.parameter) for slot in group.slots]
    return type(group)(parameters, group.settings, group.decay, group.clip, group.rate)


class ScopeVariable:
    """A name in a scope, and the tensor behind it."""

    def __init__(self, scope: Scope, name: str) -> None:
        self.scope, self.name = scope, name

    def get_tensor(self) -> "ScopeTensor":
        return ScopeTensor(self.scope, self.name)


class ScopeTensor:
    """The values of a name: NumPy reads them, `set` changes them."""

    def __init__(self, scope: Scope, name: str) -> None:
        self.scope, self.name = scope, name

    @property
    def tensor(self) -> Tensor:
        found = self.scope._find(self.name)
        assert found is not None
        return found

    def set(self, array: Any, place: Any = None) -> None:
        """Other values, of any shape where there were none."""
        values = np.array(array.array if isinstance(array, Tensor) else array)
        if self.tensor.array.shape == values.shape:
            self.tensor.set_value(values)
        else:
            self.tensor.array = Tensor(values).array

    def shape(self) -> list[int]:
        return self.tensor.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.tensor.numpy() if dtype is None else self.tensor.numpy().astype(dtype)


_global = Scope()
_current = [_global]


def global_scope() -> Scope:
    """The scope runs use.

    >>> d2s.static.global_scope().find_var("nobody") is None
    True
    """
    return _current[0]


@contextlib.contextmanager
def scope_guard(scope: Scope) -> Iterator[None]:
    """Uses another scope inside a `with` block."""
    expect("scope_guard", "scope", scope, Scope, "a Scope")
    before, _current[0] = _current[0], scope
    try:
        yield
    finally:
        _current[0] = before
