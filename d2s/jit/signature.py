"""What a call looks like to a captured function: which of its argument leaves are values of run time, and their types.

In: bound arguments. Out: a key; and from an older key and a new one, a key in which extents that differ have names, and ints
that differ are values of run time. Floats are from the start, where a graph can have them so.

>>> x, y = d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([1.0, 2.0, 3.0])
>>> general = generalize(key_of([x], None), key_of([y], None))
>>> general.leaves[0].shape
('n0',)
>>> general.fits(key_of([y], None)), general.fits(key_of([d2s.to_tensor([[1.0]])], None))
(True, False)
"""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from d2s import types
from d2s.capture.guards import fingerprint
from d2s.capture.kinds import COMPARED
from d2s.capture.tree import Skeleton
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.static.input_spec import InputSpec
from d2s.types import DType, Shape, Type

NUMBERS: dict[Any, DType] = {float: types.float64, int: types.int64}  # classes whose values may be told at each call


@dataclasses.dataclass(frozen=True, slots=True)
class Leaf:
    """One argument leaf: a tensor, a Python number of run time (`fixed` is its class) or anything else (its fingerprint)."""

    dtype: DType | None
    shape: Shape = ()
    fixed: Any = None
    same_as: int = -1  # an earlier leaf that is the same tensor

    @property
    def type(self) -> Type:
        assert self.dtype
        return Type(self.dtype, self.shape, self.is_number)

    @property
    def is_number(self) -> bool:
        """Whether it is a Python number of run time."""
        return self.fixed in (float, int)

    def told_at_calls(self) -> "Leaf":
        """A number that a call told, as one that each call tells; any other leaf as it is."""
        kind = self.fixed[0] if isinstance(self.fixed, tuple) else None
        of = NUMBERS.get(kind)
        fits = of is not None and (kind is float or -(1 << 63) <= self.fixed[1] < 1 << 63)
        return Leaf(of, fixed=kind) if fits else self


@dataclasses.dataclass(frozen=True, slots=True)
class Key:
    """A call's signature."""

    leaves: tuple[Leaf, ...]
    skeleton: Skeleton

    def fits(self, call: "Key") -> bool:
        """Whether a call with that key is one of those this key, which may have named extents, stands for."""
        if self.skeleton != call.skeleton or len(self.leaves) != len(call.leaves):
            return False
        named: dict[str, Any] = {}
        return all(_fits(mine, theirs, named) for mine, theirs in zip(self.leaves, call.leaves, strict=True))


def _fits(mine: Leaf, theirs: Leaf, named: dict[str, Any]) -> bool:
    if mine.is_number:
        return mine == theirs.told_at_calls()
    if dataclasses.replace(mine, shape=()) != dataclasses.replace(theirs, shape=()) or len(mine.shape) != len(theirs.shape):
        return False
    pairs = zip(mine.shape, theirs.shape, strict=True)
    return all(d == n if isinstance(d, int) else _may_be_named(n) and named.setdefault(d, n) == n for d, n in pairs)


def _may_be_named(extent: Any) -> bool:
    """Whether an extent may be one of many that one capture is for: one row broadcasts, and no row has no first one."""
    return bool(extent > 1)


def key_of(leaves: Sequence[Any], skeleton: Skeleton, names: Sequence[str] = ()) -> Key:
    """The key of a call; extents and numbers are as they are."""
    seen: dict[int, int] = {}
    return Key(tuple(_leaf(n, leaf, seen, names) for n, leaf in enumerate(leaves)), skeleton)


def _leaf(n: int, leaf: Any, seen: dict[int, int], names: Sequence[str]) -> Leaf:
    if isinstance(leaf, Tensor):
        first = seen.setdefault(id(leaf), n)
        return Leaf(leaf.dtype, leaf.array.shape, same_as=-1 if first == n else first)
    if isinstance(leaf, np.ndarray):
        name = names[n] if names else "argument"
        raise DTypeError(
            "D2S0001", f"'{name}' is a NumPy array: a captured function takes tensors", hint="d2s.to_tensor(...) it"
        )
    return Leaf(None, fixed=fingerprint(leaf))


def differences(old: Key, new: Key, names: Sequence[str]) -> list[str]:
    """What is another in a call than in one before: `k: 2 → 3`; empty if it is like that one."""
    if old.fits(new):
        return []
    if old.skeleton != new.skeleton or len(old.leaves) != len(new.leaves):
        return ["the arguments have another structure"]
    found = [_difference(*one) for one in zip(names, old.leaves, new.leaves, strict=True) if not _fits(*one[1:], {})]
    return found or ["arguments are one tensor, or extents agree, otherwise than before"]


def _difference(name: str, old: Leaf, new: Leaf) -> str:
    was, now = _shown(old), _shown(new)
    return f"{name}: {was} → {now if now != was else 'another one'}"


def _shown(leaf: Leaf) -> str:
    if leaf.dtype:
        return str(leaf.type)
    kind, *rest = leaf.fixed
    if issubclass(kind, np.generic):
        return f"{kind.__name__}({rest[0]})"
    if kind is float:
        return brief(float.fromhex(rest[0]))
    return brief(rest[0]) if kind in COMPARED else f"a {kind.__name__}"


def candidates(
    call: Key, known: Iterable[Key], specs: Sequence[InputSpec | None], names: Sequence[str], stays_open: bool
) -> list[Key]:
    """What may be captured for a call, the most general first; the last is the call as it is, where extents need not stay open.

    Where a function needs to know ints, floats may still be values of run time. In files only what an InputSpec names is one.
    """
    loose = call if stays_open else with_floats_of_run_time(call)
    keys = specialize(loose, specs, names)
    if keys == [loose]:
        keys[:0] = [next(filter(None, (generalize(old, loose) for old in known)), loose)]
    keys += [] if stays_open else [loose]
    for kinds in ((int,), (int, float)):
        keys += [with_numbers_of(key, call, kinds) for key in keys]
    return list(dict.fromkeys(keys))


def with_floats_of_run_time(call: Key) -> Key:
    """The key of all calls that differ in floats only."""
    leaves = (leaf.told_at_calls() if type(leaf.fixed) is tuple and leaf.fixed[0] is float else leaf for leaf in call.leaves)
    return Key(tuple(leaves), call.skeleton)


def with_defaults(key: Key, leaves: Sequence[Any], defaults: Sequence[Any]) -> Key:
    """A key with numbers of run time as they are where they are what their parameters have anyway."""
    plain = (
        (Leaf(None, fixed=fingerprint(v)), Leaf(None, fixed=fingerprint(d))) for v, d in zip(leaves, defaults, strict=True)
    )
    found = (value if value == default else leaf for leaf, (value, default) in zip(key.leaves, plain, strict=True))
    return Key(tuple(found), key.skeleton)


def with_numbers_of(key: Key, call: Key, kinds: tuple[type, ...]) -> Key:
    """A key with a call's numbers of these classes in the place of numbers of run time."""
    pairs = zip(key.leaves, call.leaves, strict=True)
    return Key(tuple(theirs if mine.fixed in kinds else mine for mine, theirs in pairs), key.skeleton)


def generalize(old: Key, new: Key) -> Key | None:
    """A key both calls fit, with names for extents that differ, and numbers of run time; None where they differ in more."""
    if old.skeleton != new.skeleton or len(old.leaves) != len(new.leaves):
        return None
    names: dict[tuple[Any, Any], str] = {}
    leaves = []
    for a, b in zip(old.leaves, new.leaves, strict=True):
        if a != b and b.told_at_calls() == a.told_at_calls() != b:
            leaves.append(b.told_at_calls())
            continue
        if dataclasses.replace(a, shape=()) != dataclasses.replace(b, shape=()) or len(a.shape) != len(b.shape):
            return None
        if any(x != y and not _may_be_named(y) for x, y in zip(a.shape, b.shape, strict=True)):
            return None
        pairs = zip(a.shape, b.shape, strict=True)
        leaves.append(
            dataclasses.replace(b, shape=tuple(y if x == y else names.setdefault((x, y), f"n{len(names)}") for x, y in pairs))
        )
    return Key(tuple(leaves), new.skeleton)


def aligned(spec: Any, value: Any) -> list[InputSpec | None]:
    """The specs of the leaves of a value: nested as it is, a dict's by key; None where there is none."""
    if isinstance(value, dict):
        by_key = spec if isinstance(spec, dict) else {}
        return [s for key, part in value.items() for s in aligned(by_key.get(key), part)]
    if isinstance(value, list | tuple):
        by_place = list(spec) if isinstance(spec, list | tuple) else []
        return [s for n, part in enumerate(value) for s in aligned(by_place[n] if n < len(by_place) else None, part)]
    return [spec if isinstance(spec, InputSpec) else None]


def specialize(call: Key, specs: Sequence[InputSpec | None], names: Sequence[str]) -> list[Key]:
    """The keys of a call where `input_spec` leaves extents open, the most general first; other arguments are refused.

    In the first, all open extents have names of their own; in the second, equal first ones share one, which are batches; in the
    last, equal ones of equal axes do.
    """
    for n, (leaf, spec) in enumerate(zip(call.leaves, specs, strict=False)):
        if spec is not None and leaf.dtype is not None:
            _expect(names[n], leaf, spec)
    keys = [_open(call, specs, _naming(shared)) for shared in (lambda k: False, lambda k: k == 0, lambda k: True)]
    return list(dict.fromkeys(keys))


def _naming(shared: Callable[[int], bool]) -> Callable[[int, int, Any], str]:
    """What extents are called: those of shared axes alike where they are equal."""
    given: dict[Any, str] = {}
    return lambda n, k, d: given.setdefault((k, d) if shared(k) else (n, k, d), f"n{len(given)}")


def _expect(name: str, leaf: Leaf, spec: InputSpec) -> None:
    fits = len(spec.shape) == len(leaf.shape) and all(s in (None, d) for s, d in zip(spec.shape, leaf.shape, strict=True))
    if not fits or leaf.dtype is not spec.dtype:
        got = f"{leaf.dtype.name} of shape {list(leaf.shape)}"  # type: ignore[union-attr]
        wanted = f"{spec.dtype.name} of shape {list(spec.shape)}"
        raise ArgumentError("D2S0002", f"'{name}' expects {wanted} (its InputSpec), got {got}")


def _open(call: Key, specs: Sequence[InputSpec | None], name: Callable[[int, int, Any], str]) -> Key:
    leaves = list(call.leaves)
    for n, (leaf, spec) in enumerate(zip(call.leaves, specs, strict=False)):
        if spec is not None and leaf.dtype is not None:
            dims = enumerate(zip(spec.shape, leaf.shape, strict=True))
            shape = tuple(name(n, k, d) if wanted is None and _may_be_named(d) else d for k, (wanted, d) in dims)
            leaves[n] = dataclasses.replace(leaf, shape=shape)
    return Key(tuple(leaves), call.skeleton)
