"""Steps that Python takes in a run, recorded; and what a step finds that is no number: an object that only the run has.

In: a function of Python's and what it is called with. Out: a `host` node, whose result is a number of run time, or a `Later`:
what is done to that is a step in turn. What a step is given, it gets as eager code would have it: tensors, numbers, objects.

>>> from d2s.capture.symbolic import Tracer
>>> from d2s.ops.dispatch import handling
>>> tracer = Tracer("f")
>>> with handling(tracer):
...     found = ask(tracer, "upper", str.upper, ("a",), {}, example="A") + "b"
>>> found.example, [node.attrs["call"] for node in tracer.builder.nodes]
('Ab', ['upper', 'add'])
"""

import copy
import functools
import math
import operator
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from d2s import types
from d2s.capture import foreseen
from d2s.capture.examples import computed, example_of, open_shape
from d2s.capture.forms import TAG, Later, Varied
from d2s.capture.guards import MISSING
from d2s.capture.leaves import Leaves
from d2s.capture.reads import refuse_added_to
from d2s.capture.result import Recipe, build, describe, leaves
from d2s.capture.stores import pending
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.tree import containers
from d2s.capture.undefined import Undefined
from d2s.capture.users_code import at_users_line, refuse, user_line
from d2s.eager.tensor import Tensor, values_of
from d2s.errors import ArgumentError, DTypeError
from d2s.ir.program import Program
from d2s.ops import OPS
from d2s.ops.found import OPEN, number
from d2s.ops.item import get_item
from d2s.runtime.host import Run
from d2s.runtime.launch import left_64_bits
from d2s.types import Type

Keep = Callable[[Run, Any], np.ndarray]
LOCKS = (type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Semaphore)


class Step:
    """The call of a function of Python's in a run."""

    def __init__(self, name: str, function: Callable[..., Any], recipe: Recipe, python: Sequence[bool], keep: Keep) -> None:
        self.name, self.function, self.recipe, self.python, self.keep = name, function, recipe, python, keep

    def __call__(self, run: Run, wanting: Sequence[bool], *arrays: np.ndarray) -> np.ndarray:
        def leaf(kind: str, at: Any) -> Any:
            if kind == "object":
                return run.objects[int(arrays[at])]
            if kind == "slice":
                return slice(*(leaf(*bound) for bound in at))
            if kind == "row":
                return [self._given(at, item, wanting) for item in arrays[at]]
            if kind == "changed":
                n, tensor = at
                return _holding(tensor, self._given(n, arrays[n], wanting))
            return self._given(at, arrays[at], wanting) if kind == "output" else at

        args, kwargs = build(self.recipe, leaf)
        return self.keep(run, self.function(*args, **kwargs))

    def _given(self, at: int, array: np.ndarray, wanting: Sequence[bool]) -> Any:
        return array.item() if self.python[at] else Tensor(array.copy(), not wanting[at])

    def __repr__(self) -> str:
        return repr(self.name)


def _holding(tensor: Tensor, now: Tensor) -> Tensor:
    """A copy of a tensor, with all that its class and its user say of it, which holds what another does."""
    found = copy.copy(tensor)
    found.array, found.stop_gradient = now.array, now.stop_gradient
    return found


class _Given(Leaves):
    """What a step is given: objects as they are."""

    def leaf(self, value: Any) -> tuple[str, Any]:
        if isinstance(value, Tensor) and self.tracer.now(self.tracer.lift(value)) is self.tracer.lift(value):
            return "outside", value
        if isinstance(value, Tensor) and type(value) is not Tensor:
            return "changed", (self._output(self.tracer.lift(value)), value)
        if isinstance(value, Tensor | SymbolicTensor):
            return "output", self._output(self.tracer.symbol_of(value))  # type: ignore[arg-type]
        if isinstance(value, np.ndarray):
            _hand(self.tracer, value)
        if isinstance(value, slice):
            return "slice", [self.leaf(bound) for bound in (value.start, value.stop, value.step)]
        return super().leaf(value) if isinstance(value, Later | Undefined) else ("outside", value)


def _hand(tracer: Any, array: np.ndarray) -> None:
    """Notes that a step is given an array from outside, which it may change."""
    read = any(key[:2] == (id(array), "item") for key in tracer.root.guards if isinstance(key, tuple))
    region = tracer
    while read and region is not None:
        if region.builder.name == "body":
            message = "an array from outside is read in front of what is given it, in a loop: later trips may find others"
            refuse("D2S1003", message, "read a copy of it that is made in front of the loop")
        region = region.parent
    tracer.root.handed[id(array)] = array


def finds_nothing(run: Run, found: Any) -> np.ndarray:
    return np.zeros((), np.int64)


def finds_object(run: Run, found: Any) -> np.ndarray:
    return run.keep(found)


def _number(name: str, of: type, dtype: types.DType) -> Keep:
    where = user_line()

    def keep(run: Run, found: Any) -> np.ndarray:
        if type(found) is not of:
            raise DTypeError("D2S1004", f"a {type(found).__name__} where a {of.__name__} was foreseen", where=where)
        if isinstance(found, int) and not -(1 << 63) <= found < 1 << 63:
            raise left_64_bits(name).at(where)
        return types.array_of(found, dtype)

    return keep


_NUMBERS: dict[type, types.DType] = {bool: types.bool_, int: types.int64, float: types.float64}


def takes_lock(program: Program) -> bool:
    """Whether a run takes a lock from outside."""
    steps = (node.attrs["call"] for node in program.every_node() if node.op == "host")
    given = (at for step in steps if isinstance(step, Step) for kind, at in leaves(step.recipe) if kind == "outside")
    return any(isinstance(at, LOCKS) for at in given)


def tell(
    tracer: Tracer, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], where: str = ""
) -> None:
    """Records a step whose result is None; with `where`, one that goes to that line by itself."""
    _record(tracer, name, function, args, kwargs, finds_nothing, TAG, where)


def ask(
    tracer: Tracer,
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    example: Any = MISSING,
    number: bool = False,
) -> Any:
    """Records a step. `example` is a result like its; with `number` that is a Python number, and one of run time comes out."""
    if number:
        of = type(example_of(example))
        dtype = _NUMBERS[of]
        return _record(tracer, name, function, args, kwargs, _number(name, of, dtype), Type(dtype, python=True))
    return Later(_record(tracer, name, function, args, kwargs, finds_object, TAG), example)


def array(tracer: Tracer, name: str, function: Callable[..., Any], args: tuple[Any, ...], like: Any) -> SymbolicTensor:
    """Records a step that gives an array of its own, like an example, which becomes a tensor."""
    of = Type(types.dtype(example_of(like).dtype), open_shape(like))
    opened = [axis for axis, dim in enumerate(of.shape) if dim == OPEN]
    fitting = _fitting(name, function, of)
    if not opened:
        return _record(tracer, name, fitting, args, {}, _as_it_is, of)
    found = ask(tracer, name, fitting, args, {}, like)
    numbers = [number(ask(tracer, "len", _extent, (found, axis), {}, 0, number=True)) for axis in opened]
    names = list(map(tracer.extent_called, numbers))
    shape = [names[opened.index(axis)] if axis in opened else dim for axis, dim in enumerate(of.shape)]
    extents = dict(zip(names, numbers, strict=True))
    return _record(tracer, name, _itself, (found,), {}, _as_it_is, Type(of.dtype, tuple(shape)), finds=extents)


def _extent(array: np.ndarray, axis: int) -> int:
    return array.shape[axis]


def _itself(array: np.ndarray) -> np.ndarray:
    return array


def _as_it_is(run: Run, found: np.ndarray) -> np.ndarray:
    return found


def _fitting(name: str, function: Callable[..., np.ndarray], of: Type) -> Callable[..., np.ndarray]:
    """A function that gives arrays of a type, whose open extents may be any."""
    where = user_line()

    def fitting(*args: Any) -> np.ndarray:
        found = function(*args)
        known = found.ndim == len(of.shape) and all(b in (a, OPEN) for a, b in zip(found.shape, of.shape, strict=True))
        if found.dtype != of.dtype.numpy or not known:
            have = f"{found.dtype.name} of shape {list(found.shape)}"
            message = f"{name}() gives {have}, where {of} was foreseen"
            hint = "say what it is to be with astype() and reshape(), or compute it with d2s's functions"
            raise DTypeError("D2S1004", message, where=where, hint=hint)
        return found

    return fitting


def _record(
    tracer: Tracer,
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    keep: Keep,
    of: Type,
    where: str = "",
    finds: dict[str, Any] | None = None,
) -> Any:
    """`finds`: extents that the result has, and numbers of run time that they are; such a step raises nothing."""
    if tracer.replays("host"):
        return tracer.add("host", [], [of], {})[0]
    refuse_added_to(tracer, (args, kwargs))
    given = _Given(tracer)
    unchanged: dict[int, Any] = {key: ("outside", c) for key, c in _unchanged(tracer, (args, kwargs)).items()}
    unchanged |= {id(record): ("record", record) for record in tracer.root.heap.records()}
    recipe = describe((args, kwargs), given.leaf, unchanged, {})
    _write_before(tracer, [at for kind, at in leaves(recipe) if kind == "outside"])
    changed, stores = pending(tracer) if finds is None else (list(finds.values()), None)
    step = Step(
        name, function if where else at_users_line(function), recipe, [s.value.type.python for s in given.outputs], keep
    )
    attrs = {"call": step, "dtype": of.dtype, "shape": of.shape, "python": of.python}
    attrs |= {"count": len(given.outputs), "stores": stores} if stores else {}
    attrs |= {"count": len(given.outputs), "finds": tuple(finds)} if finds else {}
    tracer.where = where or user_line()
    (found,) = tracer.add("host", [tracer.resolve(s) for s in (*given.outputs, *changed)], [of], attrs)
    return found


def _unchanged(tracer: Tracer, given: Any) -> dict[int, Any]:
    """The containers from outside that are as they were: a step gets them themselves."""
    changed = {id(c) for c, _, _ in tracer.root.heap.changed()}
    known = tracer.root.given - changed - set(tracer.root.containers)
    return {id(c): c for c in containers(given) if id(c) in known}


def _write_before(tracer: Tracer, objects: Sequence[Any]) -> None:
    """An object whose attributes a call changes is not given to Python's functions: they would see it as it was."""
    changed = [place.target[1] for place in tracer.root.heap.places.values() if place.target and place.target[0] == "attribute"]
    if any(x is y for x in objects for y in changed):
        refuse("D2S1004", "an object whose attributes were changed is given to a function of Python's", "give it the values")


# --- objects that only a run has


_CATCHING: list[Callable[..., Any]] = []  # how a step is recorded whose exceptions may be caught


def caught_by(tried: Callable[..., Any]) -> None:
    """Installs that: it asks questions of the run, which `branch` records, and that needs steps."""
    _CATCHING[:] = [tried]


def attempted(name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a function computes, which may raise: in a step, but for what is foreseen."""
    tracer = capturing()
    assert tracer is not None
    found = foreseen.result(tracer, name, function, args, kwargs, lambda: computed(function, args, kwargs))
    return taken(name, function, args, kwargs, computed(function, args, kwargs)) if found is MISSING else found


def changed(name: str, function: Callable[..., Any], *args: Any) -> None:
    """What changes what it is given, and may raise: in a step, but for what is foreseen."""
    tracer = capturing()
    assert tracer is not None
    if foreseen.result(tracer, name, function, args, {}, lambda: MISSING) is MISSING:
        taken(name, function, args, {}, MISSING)


def taken(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], example: Any) -> Any:
    """A step that may raise, and gives something like `example`."""
    tracer = capturing()
    assert tracer is not None
    if not tracer.catches():
        return ask(tracer, name, function, args, kwargs, example)
    return _CATCHING[0](tracer, name, function, args, kwargs, example)


def later(name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A step that only computes."""
    tracer = capturing()
    assert tracer is not None
    return ask(tracer, name, function, args, kwargs, computed(function, args, kwargs))


def _constant(tracer: Tracer, value: Any) -> Later:
    """What is known, as an object of a run: beside others of its kind it stands in one variable."""
    found: Later = ask(tracer, "constant", _known, (value,), {}, value)
    return found


def _known(value: Any) -> Any:
    return value


Later.constant = _constant  # type: ignore[method-assign]


def operand_of(value: Later) -> Any:
    """What a run has as an object, as ops take it: an array as a tensor, a number as one of run time."""
    return tensor_of(value) if isinstance(value.example, np.ndarray) else number_of(value)


def tensor_of(value: Later, of: types.DType | None = None) -> SymbolicTensor | Tensor:
    """A tensor of the values that an object of a run holds."""
    tracer = capturing()
    assert tracer is not None
    made = functools.partial(values_of, dtype=of)
    known = foreseen.values_in(tracer, value)
    if known is not MISSING:
        return tracer.data(Tensor(made(known)))
    return array(tracer, "to_tensor", made, (value,), Varied(made(value.example), made(value.longer)))


def _recorded(tracer: Tracer, step: foreseen.Unrecorded) -> SymbolicTensor:
    """Of a step that has not raised at capture, and so raises nothing."""
    keep = finds_nothing if step.found is None else finds_object
    found: SymbolicTensor = _record(tracer, step.name, step.function, step.args, step.kwargs, keep, TAG, step.where, {})
    return found


foreseen.Family.record = _recorded  # type: ignore[method-assign]


def number_of(value: Later) -> Any:
    """A Python number of run time, of an object that is one: what ops take."""
    kind = next((k for k in (bool, int, float) if isinstance(value.example, _KINDS[k])), None)
    if kind is None:
        kinds = "a result of Python's own" if value.example is MISSING else f"a {type(value.example).__name__}"
        refuse(
            "D2S1004", f"{kinds} reaches a tensor, and what it is only a run will tell", "float(...) or d2s.to_tensor(...) it"
        )
    tracer = capturing()
    assert tracer is not None
    return ask(tracer, kind.__name__, kind, (value,), {}, kind(1), number=True)


_KINDS: dict[type, Any] = {bool: bool | np.bool_, int: int | np.integer, float: float | np.floating}


def _operator(name: str, function: Callable[..., Any], reflected: bool = False) -> Any:
    def method(self: Later, *others: Any) -> Any:
        if any(isinstance(v, Tensor) or (isinstance(v, SymbolicTensor) and not v.value.type.python) for v in others):
            return function(*others, operand_of(self)) if reflected else function(operand_of(self), *others)
        return attempted(name, function, *others, self) if reflected else attempted(name, function, self, *others)

    return method


_BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "xor", "or_")
for _name in _BINARY:
    _plain = _name.strip("_")
    setattr(Later, f"__{_plain}__", _operator(_plain, getattr(operator, _name)))
    setattr(Later, f"__r{_plain}__", _operator(_plain, getattr(operator, _name), True))


def _in_place(name: str, function: Callable[..., Any], plain: Callable[..., Any]) -> Any:
    """`x += y`: an array is changed, under all its names; of what else changes the run has that itself."""

    def method(self: Later, other: Any) -> Any:
        if isinstance(other, Tensor) or (isinstance(other, SymbolicTensor) and not other.value.type.python):
            return NotImplemented  # the tensor's `+` has it
        if isinstance(self.example, np.ndarray):
            changed(name, function, self, other)
            return self
        return taken(name, function, (self, other), {}, computed(plain, (self, other), {}))

    return method


for _name in _BINARY:
    _plain = _name.strip("_")
    setattr(Later, f"__i{_plain}__", _in_place(f"i{_plain}", getattr(operator, f"i{_plain}"), getattr(operator, _name)))


def _of_arrays(self: Later, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """An operator of NumPy's whose left side is an array from outside."""
    if "out" in kwargs:
        name = ufunc.__name__
        refuse("D2S1004", "an array from outside is changed in place by what only a run will have", f"np.{name}(a, b, out=a)")
    return attempted(ufunc.__name__, ufunc if method == "__call__" else getattr(ufunc, method), *inputs, **kwargs)


Later.__array_ufunc__ = _of_arrays  # type: ignore[attr-defined]
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "getitem"):
    setattr(Later, f"__{_name}__", _operator(_name, getattr(operator, _name)))
for _name in ("bool", "len", "index", "int", "float", "str", "repr", "format", "contains"):

    def _unknown(self: Later, *_: Any, asked: str = _name) -> Any:
        refuse(
            "D2S1001", f"__{asked}__ of an object that only a run will have", "use it in print, in a format, or float(...) it"
        )

    setattr(Later, f"__{_name}__", _unknown)


def _items(self: Later) -> Iterator[Any]:
    """What Python takes apart, if a capture knows of how many parts it is."""
    parts = [len(one) if isinstance(one, tuple | list | np.ndarray) else -1 for one in (self.example, self.longer)]
    if parts[0] < 0 or parts[0] != parts[1]:
        refuse(
            "D2S1001", "what only a run will have is taken apart, and of how many parts it is only a run will tell", "index it"
        )
    found = attempted("unpacking", _taken_apart, self, parts[0])
    return iter([attempted("item", operator.getitem, found, k) for k in range(parts[0])])


def _taken_apart(value: Any, count: int) -> Any:
    if len(value) != count:
        raise DTypeError("D2S1004", f"an object of {len(value)} items where {count} were foreseen")
    return value


Later.__iter__ = _items  # type: ignore[attr-defined]
Later.__hash__ = object.__hash__  # type: ignore[method-assign]


def truth(value: Later) -> SymbolicTensor:
    """`bool(value)`."""
    tracer = capturing()
    assert tracer is not None
    found: SymbolicTensor = ask(tracer, "bool", bool, (value,), {}, True, number=True)
    return found


def item(symbol: SymbolicTensor) -> Any:
    """`symbol.item()`, a Python number of run time."""
    of = symbol.value.type
    if of.python:
        return symbol
    if any(isinstance(d, str) for d in of.shape):
        refuse("D2S1001", f"item() of {of}: how many elements that has only a run will tell", "index it first")
    if any(d != 1 for d in of.shape):
        raise ArgumentError("D2S0004", f"a tensor of shape {list(of.shape)} is not one Python value")
    kind = {"b": types.bool_, "i": types.int64, "f": types.float64}[of.dtype.kind]
    return OPS["cast"](OPS["reshape"](symbol, []) if of.shape else symbol, kind, python=True)


def _listed(symbol: SymbolicTensor) -> Any:
    """`symbol.tolist()`: of a few elements, numbers of run time in a list."""
    shape = symbol.value.type.shape
    if symbol.value.type.python or not shape:
        return item(symbol)
    if any(isinstance(d, str) for d in shape) or math.prod(shape) > FEW:  # type: ignore[arg-type]
        return later("tolist", Tensor.tolist, symbol)
    return [_listed(get_item(symbol, k)) for k in range(shape[0])]  # type: ignore[arg-type]


FEW = 16
SymbolicTensor.tolist = _listed  # type: ignore[method-assign]
SymbolicTensor.numpy = lambda self: later("numpy", Tensor.numpy, self)  # type: ignore[method-assign]
