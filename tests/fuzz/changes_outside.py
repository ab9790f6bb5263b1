"""Random programs that change what lies outside, eagerly and as graphs: results, text, errors and state, call by call.

In: a program: its `text()` defines `f` and what it changes, `STATE` says what that is; `calls` has what is done before and
behind each call, where `x` is its argument, `also` what it is given behind that, and `r` its result. Out: what was seen, as
plain data; the first difference as an AssertionError.
"""

import collections
import contextlib
import io
import linecache
import sys
import traceback
import types
import warnings

import numpy as np
from programs_compare import bits
from time_limit import TooLong, limited

import d2s
from d2s.errors import CaptureError, D2SError

LIMITS = ("is 1 in this call; this graph was captured for other extents", "of which a run found the extents")  # said by a run


class Seen:
    """What there is, as plain data in which one object is one number."""

    def __init__(self):
        self.numbers, self.held = {}, []

    def of(self, value):
        if isinstance(value, float):
            return "float", value.hex()
        if isinstance(value, bool | int | str | type(None) | types.FunctionType) or (isinstance(value, tuple) and not value):
            return type(value).__name__, getattr(value, "__name__", repr(value))
        if id(value) in self.numbers:
            return "again", self.numbers[id(value)]
        self.numbers[id(value)] = len(self.numbers)
        self.held.append(value)
        return type(value).__name__, *self._parts(value), sorted(self._attributes(value))

    def _parts(self, value):
        if isinstance(value, d2s.Tensor):
            return bits(value.array), value.stop_gradient, None if value.grad is None else bits(value.grad.array)
        if isinstance(value, np.ndarray | np.generic):
            return [bits(np.asarray(value))]
        if isinstance(value, dict):
            return [(self.of(k), self.of(v)) for k, v in value.items()]
        if isinstance(value, set | frozenset):
            return sorted(map(repr, value))
        return [self.of(part) for part in value] if isinstance(value, list | tuple | collections.deque) else []

    def _attributes(self, value):
        if isinstance(value, d2s.Tensor):
            return []
        slots = [name for name in getattr(type(value), "__slots__", ()) if hasattr(value, name)]
        names = [*slots, *sorted(getattr(value, "__dict__", ()))]
        return [(name, self.of(getattr(value, name))) for name in names]


def _said(error):
    return (type(error).__name__, error.code) if isinstance(error, D2SError) else (type(error).__name__, str(error))


def ran(program, name, static):
    """What each call gives and what there is behind it; where a call is refused, its error is the last."""
    text, module = program.text(), {"__name__": "program"}
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(text, name, "exec"), module)
    function, found = (d2s.to_static(module["f"]) if static else module["f"]), []
    for (before, behind), numbers in zip(program.calls, program.arguments, strict=True):
        printed, results = io.StringIO(), []
        given = [
            d2s.to_tensor(np.array(of_one, "float32"), stop_gradient=not program.wants_gradient)
            for of_one in (numbers if isinstance(numbers, tuple) else (numbers,))
        ]
        module["x"] = given[0]
        with contextlib.redirect_stdout(printed):
            for step in (before, None, behind):
                try:
                    if step is None:
                        module["r"] = function(*given, *module.get("also", ()))
                    else:
                        exec(step, module)
                except D2SError as error:
                    if error.code.startswith("D2S1") or any(limit in str(error) for limit in LIMITS):
                        return [*found, error]
                    if isinstance(error, CaptureError):
                        raise
                    results.append(_said(error))
                    break
                except Exception as error:
                    results.append(_said(error))
                    break
        seen, gradients = Seen(), [x.grad for x in given]
        found.append((seen.of((module.get("r"), gradients, results, printed.getvalue())), seen.of(eval("STATE", module))))
    return found


def compared(program, name):
    """The refusal of a program, if it is refused; AssertionError where something differs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, found = ran(program, f"<{name}>", static=False), ran(program, f"<{name} static>", static=True)
    for n, (want, got) in enumerate(zip(expected, found, strict=False)):
        if isinstance(got, D2SError):
            return got
        for what, one, other in zip(("", "behind "), want, got, strict=True):
            assert one == other, f"{name}, {what}call {n}:\n{one}\n{other}\n{program.calls}\n{program.text()}"
    return None


def tried(kind, title, first, count):
    """Tries programs from a seed on; exits with 1 if something differs, or does not end."""
    refusals, differences = [], []
    for seed in range(first, first + count):
        try:
            with limited():
                refused = compared(kind(seed), f"{title} {seed}")
            refusals += [(seed, refused)] if refused else []
        except (Exception, TooLong) as error:
            differences.append(seed)
            print(str(error)[:4000] if isinstance(error, AssertionError) else f"seed {seed}: {traceback.format_exc()}")
    for seed, error in refusals:
        print("refused", seed, *str(error).splitlines()[:3], sep=" | ")
    print(f"{count} {title} programs, {len(refusals)} refused, {len(differences)} differ: {differences}")
    sys.exit(bool(differences))
