"""The in-place forms of functions: of ops element by element, of what is made of several ops, of shapes, of draws.

In: a public function, and which kind of change its result is. Out: methods of `InPlace`, which symbols of a capture have, too;
`FUNCTIONS` are the same methods as functions.

>>> x = d2s.to_tensor([[4.0, 1.0], [9.0, 16.0]])
>>> x.tril_().reshape_([4]) is x, d2s.sqrt_(x).tolist()
(True, [2.0, 0.0, 3.0, 4.0])
"""

import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any

from d2s.arguments import labelled, number
from d2s.eager.history import acts
from d2s.eager.in_place import InPlace
from d2s.errors import ArgumentError, DTypeError, ShapeError
from d2s.ops import (
    OPS,
    activation,
    along_axis,
    arrange,
    chances,
    filling,
    linalg,
    logic,
    near,
    random,
    scan,
    scatter,
    shape,
    softmax,
    thresholds,
    triangle,
)
from d2s.ops.compare import cast, where
from d2s.ops.create import full, number_of
from d2s.ops.dispatch import current
from d2s.ops.expand import expand_as
from d2s.ops.exponential import exp, log1p
from d2s.ops.math import add, divide, multiply, subtract
from d2s.ops.op import Op
from d2s.ops.operators import Operators
from d2s.ops.trigonometry import tan

Function = Callable[..., Any]
ALIASES = {"sub": "subtract", "mul": "multiply", "div": "divide", "mod": "remainder", "floor_mod": "remainder", "clamp": "clip"}


def _method(name: str, act: Function) -> Any:
    """A method `name_` that does `act`."""
    act.__name__, act.__qualname__ = f"{name}_", f"InPlace.{name}_"
    act.__doc__ = act.__doc__ or f"`{name}`, in place: this tensor becomes the result."
    return acts(act)


def _shown_as(function: Function, act: Function) -> Function:
    """The act, which help() and editors show with the arguments of the function it is the in-place form of."""
    act.__wrapped__ = function  # type: ignore[attr-defined]
    return act


def _taking(function: Function, take: Callable[[Any, Any], Any]) -> Function:
    """The act that has a tensor take what the function gives; `takes` is for those who find that in a way of their own."""

    def act(self: Any, *args: Any, **kwargs: Any) -> Any:
        return take(self, function(self, *args, **kwargs))

    act.takes = take  # type: ignore[attr-defined]
    return _shown_as(function, act)


def _keeping(function: Function) -> Function:
    """The result must have the tensor's shape and dtype."""
    return _taking(function, lambda self, result: self._become(result))


def _turning(function: Function) -> Function:
    """The result may have another shape or dtype."""
    return _taking(function, lambda self, result: self._turn(result))


def _as_they_lie(function: Function) -> Function:
    """The result has the same values in the same order."""
    return _taking(function, lambda self, result: self._turn(result, as_they_lie=True))


def _asking(function: Function) -> Function:
    """The result holds bools: only the tensor's shape stays."""

    def take(self: Any, result: Any) -> Any:
        have, want = (current().type_of(x).shape for x in (result, self))  # type: ignore[union-attr]
        if have != want:
            raise ShapeError("D2S0002", f"a tensor of shape {list(want)} cannot take shape {list(have)} in place")
        return self._turn(result)

    return _taking(function, take)


# --- draws: each number is drawn anew, and nothing depends on those before


def _drawn(self: Any, values: Any) -> Any:
    return self._become(self._replaced(values))


def _even(self: Any) -> Any:
    """Numbers of [0, 1) in this tensor's shape and dtype."""
    return random.uniform(self.shape, self.dtype, 0.0, 1.0)


def uniform(x: Any, min: float = -1.0, max: float = 1.0, seed: int = 0) -> Any:
    """Becomes numbers spread evenly over [min, max).

    >>> x = d2s.zeros([1000]).uniform_(2.0, 3.0).numpy()
    >>> bool(x.min() >= 2.0), bool(x.max() < 3.0)
    (True, True)
    """
    return _drawn(x, random.uniform(x.shape, x.dtype, min, max, seed))


def normal(x: Any, mean: Any = 0.0, std: Any = 1.0) -> Any:
    """Becomes normal numbers of a mean and a standard deviation.

    >>> d2s.zeros([2]).normal_(10.0, 0.0).tolist()
    [10.0, 10.0]
    """
    spread = _at_least("normal_", "std", std, 0.0)
    z = random.standard_normal(x.shape, x.dtype)
    return _drawn(x, add(multiply(z, spread), number("normal_", "mean", mean)))


def log_normal(x: Any, mean: float = 1.0, std: float = 2.0) -> Any:
    """Becomes numbers whose logarithms are normal, of a mean and a standard deviation.

    >>> d2s.zeros([2]).log_normal_(0.0, 0.0).tolist()
    [1.0, 1.0]
    """
    spread = _at_least("log_normal_", "std", std, 0.0)
    z = random.standard_normal(x.shape, x.dtype)
    return _drawn(x, exp(add(multiply(z, spread), number("log_normal_", "mean", mean))))


def bernoulli(x: Any, p: Any = 0.5) -> Any:
    """Becomes 1 with the likelihood p, else 0, element by element.

    >>> d2s.zeros([2]).bernoulli_(1.0).tolist()
    [1.0, 1.0]
    """
    known = current().type_of(p) is None
    likely = full(x.shape, number("bernoulli_", "p", p), x.dtype) if known else expand_as(p, x)
    return _drawn(x, cast(chances.bernoulli(likely), x.dtype))


def exponential(x: Any, lam: float = 1.0) -> Any:
    """Becomes numbers of the exponential distribution of a rate.

    >>> bool((d2s.zeros([1000]).exponential_(2.0) >= 0.0).all())
    True
    """
    rate = _at_least("exponential_", "lam", lam, math.ulp(0.0))
    return _drawn(x, divide(log1p(multiply(_even(x), -1.0)), -rate))


def cauchy(x: Any, loc: float = 0.0, scale: float = 1.0) -> Any:
    """Becomes numbers of the Cauchy distribution around `loc`.

    >>> d2s.zeros([2]).cauchy_(loc=3.0, scale=0.0).tolist()
    [3.0, 3.0]
    """
    spread = _at_least("cauchy_", "scale", scale, 0.0)
    turned = tan(multiply(subtract(_even(x), 0.5), math.pi))
    return _drawn(x, add(multiply(turned, spread), number("cauchy_", "loc", loc)))


def geometric(x: Any, probs: Any) -> Any:
    """Becomes how many trials it takes until one succeeds, each with a likelihood; not rounded up, as in Paddle.

    >>> bool((d2s.zeros([1000]).geometric_(0.5) >= 0.0).all())
    True
    """
    if current().type_of(probs) is None and not 0.0 < number("geometric_", "probs", probs) < 1.0:
        raise ArgumentError("D2S0004", f"geometric_(): 'probs' is {probs}, expected a likelihood between 0 and 1")
    each = number_of(probs, x.dtype)
    return _drawn(x, divide(log1p(multiply(_even(x), -1.0)), log1p(multiply(each, -1.0))))


def _at_least(name: str, argument: str, value: Any, least: float) -> float:
    found = number(name, argument, value)
    if not least <= found < math.inf:
        raise ArgumentError("D2S0004", f"{name}(): '{argument}' is {found}, expected a number of at least {least:g}")
    return found


# --- others


def where_(self: Any, x: Any, y: Any) -> Any:
    """x becomes what it is where this mask holds, and y elsewhere.

    >>> x = d2s.to_tensor([1.0, 2.0])
    >>> d2s.to_tensor([True, False]).where_(x, d2s.to_tensor([5.0, 6.0])) is x, x.tolist()
    (True, [1.0, 6.0])
    """
    if current().type_of(x) is None:
        raise DTypeError("D2S0001", f"where_(): argument 'x' expects a Tensor, got {type(x).__name__}")
    return x._become(where(self, x, y))


_COMPOSED: tuple[Function, ...] = (
    triangle.tril,
    triangle.triu,
    near.lerp,
    near.nan_to_num,
    near.logit,
    near.frac,
    near.scale,
    linalg.addmm,
)
_COMPOSED += (scatter.scatter, scatter.index_add, scatter.index_put, scatter.masked_fill, along_axis.put_along_axis)
_COMPOSED += (filling.index_fill, filling.masked_scatter, filling.fill_diagonal, filling.fill_diagonal_tensor)
_COMPOSED += (logic.bitwise_left_shift, logic.bitwise_right_shift, near.stanh, softmax.softmax, linalg.addmm)
_COMPOSED += (activation.elu, activation.leaky_relu, activation.hardtanh, thresholds.thresholded_relu)
_TURNED: tuple[Function, ...] = (arrange.transpose, arrange.t, cast, scan.cumsum, scan.cumprod)
_RESHAPED: tuple[Function, ...] = (shape.reshape, shape.flatten, shape.squeeze, shape.unsqueeze)
_DRAWS: tuple[Function, ...] = (uniform, normal, log_normal, bernoulli, exponential, cauchy, geometric)


def _elementwise() -> dict[str, Function]:
    """Of the ops that work element by element."""
    ops = {name: op for name, op in OPS.items() if op.scalar and not op.kept} | {"clip": OPS["clip"]}
    ops |= {alias: ops[name] for alias, name in ALIASES.items()}
    return {name: (_asking if op.out_dtype else _keeping)(op) for name, op in ops.items()}


def _forms(functions: Iterable[Function], kind: Function) -> dict[str, Function]:
    named = {function.__name__: function for function in functions}
    return {name: kind(plain if isinstance(plain, Op) else labelled(plain)) for name, plain in named.items()}


_ACTS = _elementwise() | _forms(_COMPOSED, _keeping) | _forms(_TURNED, _turning) | _forms(_RESHAPED, _as_they_lie)
_ACTS |= {draw.__name__: labelled(draw) for draw in _DRAWS} | {"where": labelled(_shown_as(where, where_))}
for _name, _act in _ACTS.items():
    if not hasattr(InPlace, f"{_name}_"):
        setattr(InPlace, f"{_name}_", _method(_name, _act))


def _first(function: Function) -> str:
    """What a function calls its first argument."""
    plain = inspect.unwrap(function)
    name: str = plain.order[0] if isinstance(plain, Op) else plain.__code__.co_varnames[0]
    return name


def function(name: str) -> Function:
    """The in-place form of something as a function of a tensor, which may be given by name, too.

    >>> function("exp")(d2s.to_tensor([0.0])).tolist()
    [1.0]
    >>> x = d2s.to_tensor([1.0, 2.0])
    >>> d2s.where_(condition=x > 1.0, x=x, y=0.0) is x, x.tolist()
    (True, [0.0, 2.0])
    """
    first = _first(_ACTS[name])

    def changed(*args: Any, **kwargs: Any) -> Any:
        if not args and first not in kwargs:
            raise TypeError(f"{name}_() missing 1 required positional argument: '{first}'")
        x, *rest = args or (kwargs.pop(first),)
        if not isinstance(x, Operators):
            raise DTypeError("D2S0001", f"{name}_(): argument '{first}' expects a Tensor, got {type(x).__name__}")
        return getattr(x, f"{name}_")(*rest, **kwargs)

    changed.__name__ = changed.__qualname__ = f"{name}_"
    changed.__doc__ = f"`{first}.{name}_(...)`: {first} itself, changed in place."
    return _shown_as(_ACTS[name], changed)


_INTERNAL = {"unlearnt", "shifted_left", "shifted_right"}
FUNCTIONS = {f"{name}_": function(name) for name in sorted(_ACTS.keys() - _INTERNAL)}
