"""The record of an op: declared once, read by eager code, capture, kernels, gradients and export.

An op may take any number of inputs at the end (`*bias` in its signature) and may have by-products: further results, behind
the one a gradient flows through. Its gradient then gets all results as `out`.

A `kernel` rule gives extents and the text of a body over them (n0, n1, ...); where threads share the work, also a `Share`, and
where the body calls functions of its own, also their text. `vm.exp(x)` in either is vector math.

In: a declaration (its signature and docstring are the public API). Out: an `Op`, callable, in `OPS`.

>>> from d2s.types import float32
>>> OPS["tanh"].infer([Type(float32, (3,))], {})
(f32[3],)
"""

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s.arguments import unlabelled, unlabelled_behind
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.ops.dispatch import OPS, apply, handlers
from d2s.ops.shapes import broadcast
from d2s.types import Dim, DType, Type, bool_

Rule = Callable[..., Any]
_missing = inspect.Parameter.empty


class Share(NamedTuple):
    """How a kernel's work is shared among threads, as text over its extents n0, n1, ...: pieces, and how many make a chunk."""

    pieces: str
    grain: str


class Followed(NamedTuple):
    """A kernel that hands on each part of its result when it is finished, as rows and columns of a matrix.

    `columns`: how many of the last axes of the result are the columns. A rule gives None where nothing comes of it.
    """

    columns: int
    kernel: tuple[Any, ...]


@dataclasses.dataclass(eq=False)
class Op:
    """One operation. `arrays` are its positional inputs, everything else in the signature is an attribute.

    `variadic`: the last of `arrays` stands for any number of inputs.

    `onnx`: its spelling in ONNX (opset 18): an operator that takes the inputs as they are and the attributes in its own form
    ("ReduceSum"), or operators around the inputs' names ("Sub(Exp(x), 1)"); where kinds of dtype differ, one for each kind
    ("b: And; i: BitwiseAnd"), a kind not named has none. None: ONNX has none.
    """

    name: str
    declaration: Rule
    paddle: str | None  # its spelling in Paddle's files; None: refused by name there
    onnx: str | None = None
    scalar: Rule | None = None  # the text of one element; the emitter writes the loops around it
    out_dtype: Any = None  # of an elementwise op, where it is not that of its inputs
    dtypes: str = "bif"  # the kinds of dtype an elementwise op takes
    overflow: str = ""  # on Python ints: the condition, in x, y and v, under which v left 64 bits
    promotes: bool = False  # inputs are brought to one dtype, but for the first `kept`
    kept: int = 0
    whole: DType | None = None  # the float dtype that integers are brought to
    some: bool = False  # whether its type rule refuses axes without values; where a run tells that, the run checks it

    def __post_init__(self) -> None:
        signature = inspect.signature(self.declaration)
        parameters = signature.parameters.values()
        self.variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        attributes = {p.name: p for p in parameters if p.annotation is not p.empty}
        self.arrays = tuple(p for p in signature.parameters if p not in attributes)
        self.attributes = {name: p.default for name, p in attributes.items()}
        self.signature, self.__doc__, self.__name__ = signature, self.declaration.__doc__, self.name
        self.__signature__ = signature  # what help() and editors show
        self.__module__ = self.declaration.__module__
        self.order = (*self.arrays, *self.attributes)
        plain = self.order == tuple(signature.parameters) and not self.variadic
        self.count = len(self.order) if plain else -1  # of arguments that need no binding
        self.door: Callable[[tuple[Any, ...]], Any] | None = None  # eager code's: None to what it does not know
        self.rules: dict[str, Rule] = {}
        OPS[self.name] = self

    def __call__(self, *inputs: Any, **attrs: Any) -> Any:
        if "name" in attrs:
            attrs = unlabelled(attrs)
        if self.variadic:
            return apply(self, *self._divided(inputs, attrs))
        if attrs or len(inputs) != self.count:
            inputs = unlabelled_behind(inputs, self.count)
            if "besides" in self.rules and not self._fits(inputs, attrs):
                return self._besides(inputs, attrs)
            inputs = self._bound(inputs, attrs)
        if handlers.stack and "open" in self.rules:
            made = self.rules["open"](*inputs)
            if made is not None:
                return made
        if self.door is not None and not handlers.stack:
            found = self.door(inputs)
            if found is not None:
                return found
        if "instead" in self.rules:
            made = self.rules["instead"](*inputs)
            if made is not None:
                return made
        arrays = len(self.arrays)
        return apply(self, inputs[:arrays], dict(zip(self.attributes, inputs[arrays:], strict=False)))

    def _known(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The arguments given by name, but for `name`: Paddle's ops take it, and say themselves that nothing comes of it."""
        if "name" not in attrs or "name" in self.order:
            return attrs
        return {name: value for name, value in attrs.items() if name != "name"}

    def _fits(self, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
        """Whether the arguments are the op's own."""
        given = self.order[: len(inputs)]
        required = [name for name in self.order if self.attributes.get(name, _missing) is _missing]
        return len(inputs) <= len(self.order) and attrs.keys() <= set(self.order) and {*given, *attrs} >= set(required)

    def _besides(self, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """What a call with arguments comes to that are none of the op's: other ops."""
        rule = self.rules["besides"]
        signature = inspect.signature(rule)
        try:
            bound = signature.bind(*inputs, **attrs)
        except TypeError as error:
            raise DTypeError("D2S0001", f"{self.name}{signature}: {error}") from None
        return rule(*bound.args, **bound.kwargs)

    def _bound(self, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments in the order of `arrays` and `attributes`, defaults filled in."""
        attrs = self._known(attrs)
        behind = self.order[len(inputs) :]
        found = tuple(attrs[name] if name in attrs else self.attributes.get(name, _missing) for name in behind)
        if self.count == len(inputs) + len(behind) and not any(x is _missing for x in found) and attrs.keys() <= set(behind):
            return inputs + found
        try:
            bound = self.signature.bind(*inputs, **attrs)
        except TypeError as error:
            raise DTypeError("D2S0001", f"{self.name}{self.signature}: {error}") from None
        bound.apply_defaults()
        return tuple(bound.arguments[name] for name in self.order)

    def _divided(self, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The inputs and all attributes of an op that takes any number of inputs: attributes are given by name."""
        attrs = self._known(attrs)
        found = {name: attrs.get(name, default) for name, default in self.attributes.items()}
        if (
            len(inputs) >= len(self.arrays) - 1
            and attrs.keys() <= found.keys()
            and not any(v is _missing for v in found.values())
        ):
            return inputs, found
        try:
            bound = self.signature.bind(*inputs, **attrs)
        except TypeError as error:
            raise DTypeError("D2S0001", f"{self.name}{self.signature}: {error}") from None
        bound.apply_defaults()
        return inputs, {name: bound.arguments[name] for name in self.attributes}

    def names(self, inputs: int) -> list[str]:
        """A name for each of so many inputs."""
        fixed = self.arrays[: len(self.arrays) - self.variadic]
        return [*fixed, *(f"{self.arrays[-1]}{k}" for k in range(inputs - len(fixed)))]

    def rule(self, kind: str) -> Callable[[Rule], Rule]:
        """Declares one of the op's rules: canonical, infer, requires, least, scalar, lines, kernel, followed, fault, vjp.

        `least` are extents, and what follows from them, that must not be 0; its type rule says what is wrong where one is.
        And `besides`: a function with the op's arguments and more that Paddle has, which says what those come to in ops;
        `open`: what a call comes to in other ops where only a run knows extents it asks for, or None;
        `instead`: what it comes to in other ops where the inputs are of dtypes the op does not take, or None;
        `python`, in place of a kernel: NumPy's array of the result, of those of the inputs;
        `worded`: the same, bit for bit, in ops that kinds of files have words for;
        `composed`, for the gradient of a gradient: what all results come to in ops that have gradients.
        """

        def declare(function: Rule) -> Rule:
            self.rules[kind] = function
            if kind == "besides":
                self.__signature__ = inspect.signature(function)
            return function

        return declare

    def has(self, kind: str) -> bool:
        return kind in self.rules

    def canonical(self, inputs: Sequence[Type | None], attrs: dict[str, Any]) -> dict[str, Any]:
        """Attributes in their one spelling: axes as non-negative tuples, dtypes as DTypes."""
        return self.rules["canonical"](*inputs, **attrs) if self.has("canonical") else attrs

    def infer(self, inputs: Sequence[Type], attrs: dict[str, Any]) -> tuple[Type, ...]:
        """The types of the outputs; ShapeError or DTypeError where the inputs do not fit."""
        if self.has("infer"):
            found = self.rules["infer"](*inputs, **attrs)
            return found if isinstance(found, tuple) else (found,)
        operands = inputs[self.kept :]
        if operands[0].dtype.kind not in self.dtypes:
            raise DTypeError("D2S0003", f"{self.name}() does not take {operands[0].dtype.name}")
        if len({t.dtype for t in operands}) > 1 or any(t.dtype is not bool_ for t in inputs[: self.kept]):
            raise DTypeError("D2S0003", f"{self.name}() does not take {', '.join(map(str, inputs))} together")
        shape, _ = broadcast(self.name, [t.shape for t in inputs])
        python = all(t.python for t in inputs)
        return (Type(self.out_dtype or operands[0].dtype, shape, python),)

    def requires(self, inputs: Sequence[Type], attrs: dict[str, Any]) -> list[tuple[Dim, Dim]]:
        """Pairs of extents that must be equal and are not known to be: a run checks them."""
        if self.scalar:
            return broadcast(self.name, [t.shape for t in inputs])[1]
        return self.rules["requires"](*inputs, **attrs) if self.has("requires") else []

    def refuses_none(self, inputs: Sequence[Type], attrs: dict[str, Any]) -> list[str]:
        """The names of extents that must not be 0: a run checks that."""
        least = self.rules["least"](*inputs, **attrs) if self.has("least") else ()
        found = list(dict.fromkeys(d for d in least if isinstance(d, str)))
        if not self.some:
            return found
        names = dict.fromkeys(d for t in inputs for d in t.shape if isinstance(d, str))
        return found + [name for name in names if self._refuses([_without(t, name) for t in inputs], attrs)]

    def _refuses(self, inputs: Sequence[Type], attrs: dict[str, Any]) -> bool:
        try:
            self.infer(inputs, attrs)
        except ArgumentError:
            return True
        return False

    def vjp(self, g: Any, out: Any, *inputs: Any, **attrs: Any) -> tuple[Any, ...]:
        """Cotangents of the inputs, in ops; a callable is one that is computed only if wanted, None is none."""
        found = self.rules["vjp"](g, out, *inputs, **attrs)
        return found if isinstance(found, tuple) else (found,)


def _without(of: Type, name: str) -> Type:
    """A type where nothing is along the axes of an extent."""
    return dataclasses.replace(of, shape=tuple(0 if d == name else d for d in of.shape))


def op(*, paddle: str | None, **options: Any) -> Callable[[Rule], Op]:
    """Declares an op with rules of its own."""
    return lambda declaration: Op(declaration.__name__.strip("_"), declaration, paddle, **options)


def elementwise(*, paddle: str | None, **options: Any) -> Callable[[Rule], Op]:
    """Declares an op whose body is the text of one element; `T` in it is the dtype it computes in."""

    def declare(scalar: Rule) -> Op:
        options.setdefault("promotes", True)
        return Op(scalar.__name__.strip("_"), scalar, paddle, scalar=scalar, **options)

    return declare


def flag(value: Any, name: str) -> bool:
    """An on-off argument."""
    if not isinstance(value, (bool, int)):
        raise ArgumentError("D2S0004", f"'{name}' is {brief(value)}, expected True or False")
    return bool(value)


def axes(axis: Any, rank: int, name: str) -> tuple[int, ...]:
    """An `axis` argument as a sorted tuple of non-negative ints; None means all. Of 0-D, axis 0 is none, as in Paddle."""
    listed = range(rank) if axis is None else axis if isinstance(axis, (list, tuple)) else [axis]
    allowed = max(rank, 1)
    for a in listed:
        if not isinstance(a, (int, np.integer)) or isinstance(a, bool) or not -allowed <= a < allowed:
            raise ArgumentError("D2S0004", f"{name}(): axis {brief(a)} is not one of the {rank} axes of 'x'")
    found = tuple(sorted(int(a) % allowed for a in listed))
    if len(set(found)) < len(found):
        raise ArgumentError("D2S0004", f"{name}(): axis {brief(axis)} names an axis twice")
    return found if rank else ()
