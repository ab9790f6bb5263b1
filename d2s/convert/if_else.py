"""`if`: Python's where the condition is Python's, a `cond` where it is a tensor's.

In: the condition, the arms as functions that set the caller's variables, and how to read and set those. Out: the variables set.

>>> y = []
>>> if_else(True, lambda: y.append(1), lambda: y.append(2), lambda: (), lambda values: None, ())
>>> y
[1]
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing, in_library, refuse
from d2s.capture.tree import flatten, rebuild
from d2s.capture.undefined import Undefined
from d2s.convert.loads import defines, guard_content
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError, D2SError
from d2s.ops import OPS
from d2s.ops.dispatch import handling

Arm = Callable[[], None]
Get = Callable[[], tuple[Any, ...]]
Set = Callable[[tuple[Any, ...]], None]


def if_else(test: Any, then: Arm, otherwise: Arm, get: Get, set: Set, names: Sequence[str]) -> None:
    tracer = capturing()
    if tracer and isinstance(test, SymbolicTensor | Tensor):
        _if_else_graph(tracer, truth(tracer, test), (then, otherwise), get, set, names)
        return
    refuse_truth(tracer, test)
    if test:
        then()
    else:
        otherwise()


def refuse_truth(tracer: Tracer | None, test: Any) -> None:
    """The truth of the user's own objects is code that would run at capture only; that of a container is its length."""
    if tracer and defines(test, ("__bool__", "__len__")):
        refuse("D2S1003", f"the truth of a {type(test).__name__} is asked, which its class computes", "call a method instead")
    guard_content(tracer, test)


@contextlib.contextmanager
def taken_at_run_time(region: Any) -> Iterator[None]:
    """Records into a region; what it raises would be raised by some runs only."""
    try:
        with handling(region):
            yield
    except CaptureError:
        raise
    except D2SError as error:
        if error.code.startswith("D2S1"):
            raise
        raise _raised_by_some_runs(error) from error
    except RecursionError as error:
        message = "a function calls itself as long as a tensor says so, which a graph cannot do yet"
        raise CaptureError("D2S1003", message, where=_line_of(error), hint="write it as a `while`") from error
    except Exception as error:
        raise _raised_by_some_runs(error) from error


def _raised_by_some_runs(error: Exception) -> CaptureError:
    message = f"{type(error).__name__} where only some runs come: {error}"
    return CaptureError("D2S1003", message, where=_line_of(error), hint="a graph cannot raise yet: check before the call")


def _line_of(error: Exception) -> str:
    """The user's line an error came from."""
    place, line = error.__traceback__, ""
    while place:
        name = place.tb_frame.f_code.co_filename
        line = line if in_library(name) else f"{name}:{place.tb_lineno}"
        place = place.tb_next
    return line


def truth(tracer: Tracer, test: Any) -> SymbolicTensor:
    """`bool(test)` as a symbol."""
    symbol = tracer.symbol_of(test)
    assert symbol is not None
    if any(d != 1 for d in symbol.value.type.shape):
        refuse(
            "D2S1001",
            f"the truth of {symbol.value.type}: only one element can be true or false",
            "reduce it, as in `.sum() > 0`",
        )
    if symbol.value.type.shape:
        symbol = OPS["sum"](OPS["not_equal"](symbol, False if symbol.dtype.kind == "b" else 0))  # of shape [], like a bool
    return symbol if symbol.dtype.kind == "b" else OPS["not_equal"](symbol, 0)  # type: ignore[return-value]


def _if_else_graph(tracer: Tracer, test: SymbolicTensor, arms: Sequence[Arm], get: Get, set: Set, names: Sequence[str]) -> None:
    before = get()
    regions, ends = [], []
    for name, arm in zip(("then", "otherwise"), arms, strict=True):
        regions.append(tracer.region(name))
        with taken_at_run_time(regions[-1]):
            arm()
        ends.append(get())
        set(before)
    joined = [_Join(name, *values) for name, *values in zip(names, *ends, strict=True)]
    outputs = []
    for k, region in enumerate(regions):
        with handling(region):
            outputs.append([region.symbol_of(pair[k]) for join in joined for pair in join.pairs])  # type: ignore[attr-defined]
    reads, (then, otherwise) = tracer.adopt(regions, outputs)
    types = [_one_type(names, joined, a, b) for a, b in zip(then.outputs, otherwise.outputs, strict=True)]
    inputs = [tracer.resolve(test), *reads]
    added = tracer.add("cond", inputs, types, {"then": then, "otherwise": otherwise}) if types else []
    tracer.root.joined.update(s.value for s in added)
    results = iter(added)
    set(tuple(join.result(results) for join in joined))


def _one_type(names: Sequence[str], joined: Sequence["_Join"], then: Any, otherwise: Any) -> Any:
    if then.type != otherwise.type:
        owners = [join.name for join in joined for _ in join.pairs]
        listed = " or ".join(f"'{n}'" for n in dict.fromkeys(owners))
        message = f"after this `if`, {listed} would be {then.type} or {otherwise.type}, depending on the arm taken"
        refuse("D2S1002", message, "give it one dtype and one shape in both arms")
    return then.type


def _kind(value: Any) -> str:
    """What a user calls a value."""
    if isinstance(value, Undefined):
        return "nothing" if not value.why else "something a graph cannot hold"
    if isinstance(value, SymbolicTensor):
        return "a Tensor" if not value.value.type.python else "a Python number"
    return f"a {type(value).__name__} ({value!r:.30})"


def same(a: Any, b: Any) -> bool:
    """One object, or one constant: by type and spelling, for -0.0 is not 0.0 and nan is nan."""
    return a is b or (type(a) is type(b) and isinstance(a, bool | int | float | str) and repr(a) == repr(b))


def _fits_a_graph(value: Any) -> bool:
    if isinstance(value, int):
        return -(1 << 63) <= value < 1 << 63
    return isinstance(value, SymbolicTensor | Tensor | float)


class _Join:
    """One variable after an `if`: leaves that are the same in both arms stay, others come out of the `cond`."""

    def __init__(self, name: str, then: Any, otherwise: Any) -> None:
        self.name = name
        leaves, self.skeleton = flatten(then)
        others, skeleton = flatten(otherwise)
        self.why = ""
        if skeleton != self.skeleton:
            leaves, others, self.skeleton = [then], [otherwise], None
        self.leaves, self.pairs = [], []
        for a, b in zip(leaves, others, strict=True):
            kept = same(a, b)
            self.leaves.append((kept, a))
            if not kept and not self.refused(a, b):
                self.pairs.append((a, b))

    def refused(self, a: Any, b: Any) -> bool:
        """Whether no value of a graph can be a or b; a variable no longer used may be such a one."""
        kinds = [_fits_a_graph(v) for v in (a, b)]
        if not all(kinds):
            forms = " or ".join(_kind(v) for v in (a, b))
            self.why = f"'{self.name}' is {forms} after an `if` on a tensor, depending on the arm taken"
        return not all(kinds)

    def result(self, outputs: Any) -> Any:
        if self.why:
            for _ in self.pairs:
                next(outputs)
            return Undefined(self.name, self.why)
        return rebuild(self.skeleton, [leaf if kept else next(outputs) for kept, leaf in self.leaves])
