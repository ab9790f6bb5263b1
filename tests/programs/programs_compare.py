"""Eager against static: what a run does, encoded so that two runs can be compared bit for bit.

In: a function and arguments. Out: an `Outcome` (results by structure, type, bits and identity; gradients; what was done to
the arguments; printed text; the exception), and `check`, which compares every way of running with the eager one.
"""

import collections
import contextlib
import dataclasses
import hashlib
import io
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import d2s
from d2s.errors import D2SError
from d2s.jit.staying import staying

PROGRAMS: dict[str, list[tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]]]] = {}


def program(*argument_sets: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Puts a function into the corpus of its module, with the argument sets it is run on (each a tuple)."""

    def add(function: Any) -> Any:
        PROGRAMS.setdefault(function.__module__, []).append((function, argument_sets))
        return function

    return add


def t(data: Any, dtype: Any = None) -> Any:
    """A tensor argument; those of floats want a gradient."""
    tensor = d2s.to_tensor(data, dtype)
    tensor.stop_gradient = tensor.dtype.kind != "f"
    return tensor


def copies(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """Fresh arguments: tensors and containers are copied, one object stays one object; others stay what they are."""
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    if type(value) is d2s.Tensor:
        made: Any = d2s.Tensor(value.numpy(), value.stop_gradient)
    elif type(value) is dict:
        made = {k: copies(v, memo) for k, v in value.items()}
    elif type(value) in (list, set):
        made = type(value)(copies(v, memo) for v in value)
    elif isinstance(value, tuple):
        parts = [copies(v, memo) for v in value]
        made = type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    else:
        made = value
    memo[id(value)] = made
    return made


def bits(array: np.ndarray) -> Any:
    """An array's dtype, shape and bits, all nans being one."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    shown = repr(array.ravel()[:20].tolist())
    return array.dtype.name, array.shape, hashlib.sha1(np.ascontiguousarray(array).tobytes()).hexdigest()[:10], shown


def encoded(value: Any, known: dict[int, str], seen: dict[int, int] | None = None) -> Any:
    """A value as plain data: structure, types, bits, and which known object it is."""
    seen = {} if seen is None else seen
    mutable = isinstance(value, (d2s.Tensor, list, dict, set))
    if mutable and id(value) in known:
        return "same as", known[id(value)]
    if mutable and id(value) in seen:
        return "again", seen[id(value)]
    if mutable:
        seen[id(value)] = len(seen)
    if isinstance(value, d2s.Tensor):
        return type(value).__name__, bits(value.array), value.stop_gradient
    if isinstance(value, dict):
        return type(value).__name__, [(k, encoded(v, known, seen)) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [encoded(v, known, seen) for v in value]
    if isinstance(value, collections.deque):
        return type(value).__name__, value.maxlen, [encoded(v, known, seen) for v in value]
    if isinstance(value, float):
        return "float", value.hex()
    if isinstance(value, (bool, int, complex, str, bytes, range, type(None), set, frozenset)):
        return type(value).__name__, repr(value)
    if isinstance(value, np.generic):
        return type(value).__name__, repr(value)
    return type(value).__name__, id(value)


def leaves(value: Any) -> list[Any]:
    """All tensors in a structure, each once."""
    found: dict[int, Any] = {}

    def walk(v: Any) -> None:
        if isinstance(v, d2s.Tensor):
            found[id(v)] = v
        elif isinstance(v, dict):
            for x in v.values():
                walk(x)
        elif isinstance(v, (list, tuple)):
            for x in v:
                walk(x)

    walk(value)
    return list(found.values())


def known_objects(args: Any) -> dict[int, str]:
    known: dict[int, str] = {}

    def walk(v: Any, path: str) -> None:
        if isinstance(v, (d2s.Tensor, list, dict, set)):
            known.setdefault(id(v), path)
        if isinstance(v, dict):
            for k, x in v.items():
                walk(x, f"{path}[{k!r}]")
        elif isinstance(v, (list, tuple)):
            for n, x in enumerate(v):
                walk(x, f"{path}[{n}]")

    walk(args, "args")
    return known


@dataclasses.dataclass
class Outcome:
    """Everything a run did."""

    raised: Any
    result: Any
    printed: str
    arguments: Any
    gradients: Any

    def difference(self, other: "Outcome") -> str:
        for field in dataclasses.fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            if mine != theirs:
                return f"{field.name}: {mine!r} != {theirs!r}"
        return ""


class Refused(Exception):
    """A run that a coded error of d2s ended; `error` is that error."""

    def __init__(self, error: D2SError) -> None:
        super().__init__(str(error))
        self.error = error


def _seeded(tensor: Any, n: int) -> Any:
    values = np.cos(np.arange(tensor.array.size, dtype=np.float64) * 1.7 + n) + 1.25
    return d2s.Tensor(values.reshape(tensor.array.shape).astype(tensor.array.dtype))


def _backward(result: Any, jointly: bool) -> None:
    wanting = [x for x in leaves(result) if x.dtype.kind == "f" and not x.stop_gradient]
    if jointly and len(wanting) > 1:
        total = None
        for n, x in enumerate(wanting):
            term = d2s.cast((x * _seeded(x, n)).sum(), "float64")
            total = term if total is None else total + term
        total.backward()
        return
    for n, x in enumerate(wanting):
        x.backward(_seeded(x, n), retain_graph=True)


def outcome(
    function: Any,
    args: Sequence[Any],
    watched: Sequence[Any] = (),
    jointly: bool = False,
    identity: bool = True,
    **kwargs: Any,
) -> Outcome:
    """Runs a function on copies of the arguments; `watched` are tensors it reads otherwise. Raises Refused."""
    own, own_kwargs = copies((tuple(args), kwargs))
    known = known_objects((own, own_kwargs)) | {id(w): f"watched[{n}]" for n, w in enumerate(watched)}
    inputs = [*leaves((own, own_kwargs)), *watched]
    before = [w.grad for w in watched]
    for w in watched:
        w.grad = None
    printed, raised, result = io.StringIO(), None, None
    try:
        with contextlib.redirect_stdout(printed), staying():
            try:
                result = function(*own, **own_kwargs)
            except D2SError as error:
                if error.code.startswith("D2S1") or error.code == "D2S0005":
                    raise Refused(error) from error
                raised = type(error).__name__, error.code
            except Exception as error:
                raised = type(error).__name__, str(error)
        shown = encoded(result, known if identity else {})
        if raised is None:
            with staying():
                _backward(result, jointly)
        gradients = [None if x.grad is None else bits(x.grad.array) for x in inputs]
        return Outcome(raised, shown, printed.getvalue(), encoded((own, own_kwargs), {}), gradients)
    finally:
        for w, grad in zip(watched, before, strict=True):
            w.grad = grad


def read_by(static: Any) -> list[Any]:
    """The tensors, other than arguments, that the variants of a static function read."""
    found = {id(x): x for _, variant in static.variants for x in variant.captured.lifted if not x.stop_gradient}
    return list(found.values())


def check(function: Any, argument_sets: Sequence[Sequence[Any]], identity: bool = True, unjitted: bool = False) -> None:
    """Every way of running `function` on each set, in both orders; AssertionError where one differs, Refused where refused."""
    probe = d2s.to_static(function)
    for args in argument_sets:
        outcome(probe, args)
    watched = read_by(probe)
    expected = {
        (n, jointly): outcome(function, args, watched, jointly, identity)
        for n, args in enumerate(argument_sets)
        for jointly in (False, True)
    }
    for executor, backwards in (*itertools.product(("numba", "interpreter"), (False, True)), *[("python", False)] * unjitted):
        static = d2s.to_static(function)
        order = list(enumerate(argument_sets))[:: -1 if backwards else 1]
        for turn in ("first", "second", "third") if executor != "python" else ("first",):
            for n, args in order:
                jointly = turn == "third"
                with d2s.config(EXECUTOR=executor):
                    got = outcome(static, args, watched, jointly, identity)
                    fresh = outcome(function, args, watched, jointly, identity)
                assert not (d := fresh.difference(expected[n, jointly])), f"eager code itself is not stable: {d}"
                where = f"{function.__name__}, set {n}, {turn} call, {executor}{', backwards' if backwards else ''}"
                assert not (d := expected[n, jointly].difference(got)), f"{where}: eager != static: {d}"
