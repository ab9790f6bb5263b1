"""Which calls are steps that Python takes in a run: what prints, logs, draws or asks for the time, NumPy, and texts of values.

In: a function that is called. Out: what is called instead at capture, or None if a step cannot do what the function does.

>>> formatted(1.5, -1, ".2f") + text("a", "b")
'1.50ab'
"""

import functools
import inspect
import io
import logging
import math
import operator
import random
import sys
import time
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from d2s.capture.alternatives import of_each
from d2s.capture.branch import branch
from d2s.capture.containers import STAND_INS, STANDING, by_path
from d2s.capture.examples import called, computed, example_of, is_number
from d2s.capture.faults import line_of
from d2s.capture.foreseen import is_followed, is_foreseen
from d2s.capture.forms import Later, OneOf, Varied
from d2s.capture.growing import is_grown
from d2s.capture.guards import MISSING
from d2s.capture.only_computing import is_numpys
from d2s.capture.raised import found_by_run
from d2s.capture.steps import ask, attempted, item, later, number_of, tell, tensor_of
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.tree import containers, flatten
from d2s.capture.tried import OF_NUMBERS, tried
from d2s.capture.undefined import Undefined
from d2s.capture.users_code import at_users_line, in_package, refuse, user_line
from d2s.convert import loads
from d2s.convert.callers import by_level
from d2s.convert.if_else import truth_of
from d2s.convert.pure import is_pure
from d2s.convert.recipes import as_index
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import PythonIntOverflow
from d2s.ops import OPS
from d2s.ops.shapes import uncountable
from d2s.runtime.users_frames import raised_at
from d2s.types import dtype

_TELLING = (print, warnings.warn, time.sleep)
_CLOCKS = (time.time, time.perf_counter, time.monotonic, time.process_time, time.time_ns, time.perf_counter_ns)
_RECEIVERS = (logging.Logger, logging.LoggerAdapter, io.IOBase)
_LOGGING = {"debug", "info", "warning", "warn", "error", "critical", "exception", "log"}
_SEEN = (SymbolicTensor, Tensor, Later)
_OF_NUMBERS = {round, pow, divmod, chr, bin, hex, oct, *(f for f in vars(math).values() if callable(f))}
_TEXTS = (str, repr, format)
_CONVERSIONS: dict[int, Callable[[Any], str]] = {115: str, 114: repr, 97: ascii}
_INTO_NUMBERS = (float, int, bool, complex)


def step_of(tracer: Tracer, function: Any) -> Callable[..., Any] | None:
    """What is called instead of a function of Python's or of NumPy's, if a step can do it."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", type(function).__name__)
    if isinstance(function, Later):
        return lambda *args, **kwargs: attempted("call", called, function, *args, **kwargs)
    if any(function is known for known in _TELLING) or isinstance(owner, _RECEIVERS) or _logs(function):
        return functools.partial(_told, tracer, name, function)
    if any(function is known for known in _CLOCKS):
        return lambda: ask(tracer, name, function, (), {}, function(), number=True)
    source = next((make() for kind, make in _sources() if isinstance(owner, kind)), None)
    if source is not None:
        return lambda *args, **kwargs: _draw(tracer, source, function, args, kwargs)
    if callable(function) and is_numpys(function) and not is_pure(function):
        return functools.partial(_of_numpy, tracer, name, function)
    return None


def _of_numpy(tracer: Tracer, name: str, function: Any, *args: Any, **kwargs: Any) -> Any:
    """What a function of NumPy's gives: of constants a number is one itself, as in `x / np.sqrt(64)`; all else is a step."""
    leaves = flatten([args, kwargs])[0]
    if any(isinstance(leaf, OneOf) for leaf in leaves) and all(map(is_foreseen, _known_apart(leaves))):
        return of_each(functools.partial(_of_numpy, tracer, name, function), *args, **kwargs)
    if is_followed(function) and all(map(is_foreseen, leaves)):
        for container in containers([args, kwargs]):
            loads.guard_content(tracer, container)
    return attempted(name, function, *_read(args), **kwargs)


def _known_apart(leaves: list[Any]) -> list[Any]:
    """Values, and the alternatives of those that are one of several."""
    return [one for leaf in leaves for one in (leaf.alternatives if isinstance(leaf, OneOf) else (leaf,))]


@functools.cache
def _sources() -> tuple[tuple[type, Callable[[], Any]], ...]:
    """Sources of random numbers, and one of each kind to try a draw on; NumPy loads its own when they are first named."""
    return (
        (np.random.RandomState, lambda: np.random.RandomState(0)),
        (np.random.Generator, lambda: np.random.default_rng(0)),
        (random.Random, lambda: random.Random(0)),
    )


def _told(tracer: Tracer, name: str, function: Any, *args: Any, **kwargs: Any) -> None:
    """What prints, logs or warns, be it in the name of a line further out."""
    args, kwargs = _read(args), _with_error(tracer, name, kwargs)
    levelled = None if function in (print, time.sleep) else by_level(function, args, kwargs)
    if function is warnings.warn and tracer.catches():  # where warnings are errors
        warning, args, kwargs = levelled or (at_users_line(function), args, kwargs)
        tried(tracer, name, warning, args, kwargs, None)
    elif levelled is None:
        tell(tracer, name, function, args, kwargs)
    else:
        tell(tracer, name, *levelled, where=user_line())


def _logs(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and function.__module__ == "logging" and function.__name__ in _LOGGING


def _with_error(tracer: Tracer, name: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """What is logged of the exception that is being handled, which a run does not handle: that exception."""
    error = sys.exc_info()[1] if kwargs.get("exc_info", name == "exception") else None
    while error is not None and not tracer.root.heap.has(error):
        error = error.__context__
    if error is None:
        return kwargs
    return kwargs | {"exc_info": ask(tracer, "exception", raised_at, (error, line_of(error)), {}, error)}


def _read(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What is printed is there: a variable without a value is not."""
    for leaf in flatten(args)[0]:
        if isinstance(leaf, Undefined):
            message = "a value that is not there on every path is given to a function of Python's"
            refuse("D2S1001", message, "give it a value before the `if`")
    return args


def _draw(tracer: Tracer, source: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A draw of Python's or NumPy's own random numbers: fresh in each run, and from the stream eager code draws from."""
    name = function.__name__
    if name == "choice" and len(args) == 1 and isinstance(args[0], list | tuple) and isinstance(source, random.Random):
        place = ask(tracer, name, lambda count: function(range(count)), (len(args[0]),), {}, 0, number=True)
        return loads.item(args[0], place)
    held = isinstance(source, random.Random) and any(not isinstance(c, tuple) for c in containers(args))
    if held or name in ("shuffle", "setstate", "set_state"):
        message = f"'{name}' of a container: it would change, or hand out, what is known at capture only"
        refuse("D2S1004", message, "draw a place in it, as in items[random.randrange(len(items))]")
    drawn = getattr(source, name)
    example = computed(called, [Varied(drawn, drawn), *args], kwargs)
    if example is None:
        tell(tracer, name, function, args, kwargs)
        return None
    asks = tried if tracer.catches() else ask
    return asks(tracer, name, function, args, kwargs, example, number=is_number(example))


def of_symbols(tracer: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a pure function of Python's makes of symbols, where that is a step or a number; MISSING where Python can do it."""
    given = [*args, *kwargs.values()]
    leaves = flatten(given)[0]
    texts = function in _TEXTS or isinstance(getattr(function, "__self__", None), str)
    if texts and any(isinstance(v, OneOf) or is_grown(v) for v in leaves):
        return ask(tracer, function.__name__, function, args, kwargs, "")
    if not any(isinstance(v, _SEEN) or _has_text_of_its_own(v) for v in leaves):
        return MISSING
    if function is len and isinstance(args[0], SymbolicTensor) and any(map(uncountable, args[0].value.type.shape[:1])):
        return args[0].shape[0]
    if function in _INTO_NUMBERS and len(args) == 1 and isinstance(args[0], _SEEN):
        return _number(tracer, function, args[0])
    if texts:
        return ask(tracer, function.__name__, function, args, kwargs, "")
    if function in _OF_NUMBERS and all(_is_number(v) for v in leaves):
        example = computed(function, args, kwargs)
        number = is_number(example)
        if tracer.catches():
            return tried(tracer, function.__name__, function, args, kwargs, example, number, OF_NUMBERS)
        return ask(tracer, function.__name__, function, args, kwargs, example, number=number)
    if function is len and isinstance(args[0], Later):
        return ask(tracer, "len", len, args, {}, 0, number=True)
    if function is slice:
        return slice(*args)  # of which each owner takes what it needs
    if any(isinstance(v, Later) for v in leaves):
        example = computed(function, args, kwargs)
        asks = tried if tracer.catches() else ask
        return asks(tracer, function.__name__, function, args, kwargs, example, number=is_number(example))
    return MISSING


def _is_number(value: Any) -> bool:
    if isinstance(value, SymbolicTensor):
        return bool(value.value.type.python)
    return isinstance(value, Later | int | float | np.number | np.bool_)


def _number(tracer: Tracer, function: Any, value: Any) -> Any:
    """`float(x)`, `int(x)`, `bool(x)`: a Python number of run time."""
    if isinstance(value, Later):
        asks = tried if tracer.catches() else ask
        return asks(tracer, function.__name__, function, (value,), {}, function(1), number=True)
    if function is bool:
        return truth_of(value)
    if function is complex:
        refuse("D2S1003", "a complex number of run time", "float(...) is one of run time")
    symbol = tracer.symbol_of(value)
    assert symbol is not None
    number = item(symbol)
    if function is float:
        return number if number.dtype.kind == "f" else OPS["cast"](number, "float64", python=True)
    if number.dtype.kind == "f":
        _refuse_unbounded(tracer, number)
    return number if number.dtype.kind == "i" else OPS["cast"](number, "int64", python=True)


def power(x: Any, y: Any) -> Any:
    """`x ** y`: of Python numbers of run time, as Python computes it; of ints it is an int where `y` is not below 0."""
    tracer = capturing()
    symbols = [v for v in (x, y) if isinstance(v, SymbolicTensor)]
    if not tracer or not symbols or not (_is_number(x) and _is_number(y)) or isinstance(x, Later) or isinstance(y, Later):
        return operator.pow(x, y)

    def found(example: Any) -> Any:
        return ask(capturing() or tracer, "pow", operator.pow, (x, y), {}, example, number=True)

    if any((v.dtype.kind if isinstance(v, SymbolicTensor) else "f" if isinstance(v, float) else "i") == "f" for v in (x, y)):
        return found(1.0)
    if not isinstance(y, SymbolicTensor):
        return found(1 if y >= 0 else 1.0)
    return branch(tracer, y < 0, (lambda: [found(1.0)], lambda: [found(1)]))[0]


def repeated(x: Any, y: Any) -> Any:
    """`x * y`: of a list or a text, as often as only a run will tell."""
    value, times = (x, y) if isinstance(x, _SEQUENCES) else (y, x)
    tracer = capturing()
    if not tracer or not isinstance(times, SymbolicTensor | Tensor) or not isinstance(value, _SEQUENCES):
        return operator.mul(x, y)
    if isinstance(value, tuple):
        refuse("D2S1001", "a tuple of as many items as only a run will tell", "keep them in a list: [0] * n")
    if isinstance(value, list):
        symbol = tracer.symbol_of(times)
        assert symbol is not None
        return operator.mul(value, as_index(symbol, "can't multiply sequence by non-int of type 'float'"))
    return attempted("repeat", operator.mul, value, times)


_SEQUENCES = (str, bytes, list, tuple)


def bitwise(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """`x & y` and its kin: of ints of run time as Python computes them."""
    tracer, symbols = capturing(), [v for v in (x, y) if isinstance(v, SymbolicTensor)]
    whole = all(v.value.type.python and v.dtype.kind != "f" for v in symbols)
    others = all(type(v) in (bool, int) for v in (x, y) if not isinstance(v, SymbolicTensor))
    if not tracer or not symbols or not whole or not others or all(kind_of_number(v) == "b" for v in (x, y)):
        return function(x, y)
    return ask(tracer, function.__name__.strip("_"), function, (x, y), {}, 1, number=True)


def kind_of_number(value: Any) -> str:
    """`b`, `i` or `f`, of a Python number, be it of run time or not."""
    return value.dtype.kind if isinstance(value, SymbolicTensor) else {bool: "b", int: "i"}.get(type(value), "f")


def inverted(x: Any) -> Any:
    """`~x`: of an int of run time as Python computes it."""
    number = isinstance(x, SymbolicTensor) and x.value.type.python and x.dtype.kind == "i"
    return -x - 1 if number else ~x


def _refuse_unbounded(tracer: Tracer, number: Any) -> None:
    """Python's complaints about a float that is no int; one beyond 64 bits does not go into a graph."""
    branch(tracer, number != number, (lambda: [int(math.nan)][:0], list))
    branch(tracer, abs(number) == math.inf, (lambda: [int(math.inf)][:0], list))

    def too_large() -> list[Any]:
        raise PythonIntOverflow("D2S0005", "int() of a number beyond 64 bits, which a Python int has in a captured function")

    branch(tracer, abs(number) >= 9.223372036854775e18, (too_large, list))


def to_tensor_of(tracer: Tracer, data: Any, of: Any) -> Any:
    """`to_tensor` of a number of run time, or of an array that only a run has."""
    wanted = None if of is None else dtype(of)
    if isinstance(data, Later) and isinstance(data.example, np.ndarray | np.generic | list | tuple | int | float):
        return tensor_of(data, wanted)
    if isinstance(data, Later) and data.example is MISSING:
        message = "to_tensor() of what only a run will tell: what made it is not called when the function is captured"
        refuse("D2S1004", message, "put it into an array that is known: found = np.empty(3, 'float32'); found[:] = ...")
    if isinstance(data, Later):
        number_of(data)
    made = to_tensor(example_of(data), wanted)
    return OPS["cast"](data, made.dtype)


# --- texts


def formatted(value: Any, conversion: int, spec: Any = "") -> Any:
    """One `{value!r:spec}` of an f-string."""
    leaves = flatten([value, spec])[0]
    tracer = capturing()
    if tracer and any(_has_text_of_its_own(v) for v in leaves):
        return ask(tracer, "format", _formatted, (value, conversion, spec), {}, "")
    if not any(isinstance(v, (*_SEEN, OneOf)) or by_path(v) for v in leaves) or not tracer:
        return _formatted(value, conversion, spec)
    return later("format", _formatted, value, conversion, spec)


def _has_text_of_its_own(value: Any) -> bool:
    """Whether the text of an object is what Python computes of it: that is asked at each call."""
    if isinstance(value, BaseException):
        tracer = capturing()
        return tracer is not None and found_by_run(tracer, value)
    if isinstance(value, type | types.FunctionType | Undefined) or by_path(value):
        return False
    if (type(value) in STANDING and not isinstance(value, STAND_INS)) or isinstance(value, types.SimpleNamespace):
        return True
    methods = (inspect.getattr_static(type(value), name, None) for name in ("__str__", "__repr__", "__format__"))
    found = (m.__code__.co_filename for m in methods if isinstance(m, types.FunctionType))
    return not isinstance(value, (*_SEEN, OneOf)) and any(not in_package(file) for file in found)


def _formatted(value: Any, conversion: int, spec: str) -> str:
    return format(_CONVERSIONS[conversion](value) if conversion > 0 else value, spec)


def text(*parts: Any) -> Any:
    """The parts of an f-string, joined."""
    return later("join", _joined, *parts) if any(isinstance(part, Later) for part in parts) else "".join(parts)


def _joined(*parts: str) -> str:
    return "".join(parts)


def percent(template: Any, values: Any) -> Any:
    """`template % values` of a text."""
    leaves, tracer = flatten(values)[0], capturing()
    if tracer and any(_has_text_of_its_own(v) for v in leaves):
        return ask(tracer, "%", operator.mod, (template, values), {}, "")
    if tracer and any(isinstance(v, (*_SEEN, OneOf)) or by_path(v) for v in leaves):
        return later("%", operator.mod, template, values)
    return template % values
