"""Calls that eager code makes, in one step: of a function of which a capture is made at some calls only, see `forms`.

In: a function, its signature, and the forms of its calls, which tell whether the next one is left to eager code. Out: a
function with the user's parameters that makes such a call; MISSED where it is not left, or anything is unusual; then the long
way finds out.

>>> import inspect
>>> halved = lambda x, by=2.0: x / by
>>> forms = Forms()
>>> left = left_to_eager(halved, inspect.signature(halved), forms, None)
>>> [left(d2s.to_tensor([4.0])) is MISSED, forms.leaves(), forms.leaves()]
[True, False, False]
>>> left(d2s.to_tensor([4.0])).tolist(), left(d2s.to_tensor([4.0]), by=4.0) is MISSED
([2.0], True)
"""

import inspect
import types
from collections.abc import Callable
from typing import Any

from d2s.capture.locks import Turn, acting
from d2s.config import unusual
from d2s.jit.binding import defaults_of, passed, written
from d2s.jit.forms import Forms
from d2s.jit.quick import MISSED, Quick
from d2s.jit.recompiles import is_refused
from d2s.jit.staying import stays
from d2s.ops.dispatch import handlers


def left_to_eager(function: Callable[..., Any], signature: inspect.Signature, forms: Forms, turn: Turn | None) -> Quick | None:
    """The function, whose calls take a turn with others; None where that takes more than a text."""
    if not isinstance(function, types.FunctionType):
        return None
    parameters = list(signature.parameters.values())
    objects = {"unusual_": unusual, "handlers_": handlers, "MISSED": MISSED, "function_": function}
    objects |= {"acting_": acting, "turn_": turn, "stays_": stays, "is_refused_": is_refused, "leaves_": forms.leaves_at_once}
    objects |= {"defaults_": function.__defaults__, "named_": function.__kwdefaults__} | defaults_of(parameters)
    named = [f"named_.get({p.name!r}) is not d2s_default_{n}" for n, p in enumerate(parameters) if _is_named(p)]
    others = " or ".join(["function_.__defaults__ is not defaults_", "function_.__kwdefaults__ is not named_", *named])
    lines = [
        f"if {others}: return MISSED",
        "if unusual_ or handlers_.stack or stays_() or is_refused_() or not leaves_(): return MISSED",
        f"{'with acting_(turn_): ' if turn else ''}return function_({', '.join(passed(parameters))})",
    ]
    found: Quick | None = written("left", parameters, lines, objects)
    return found


def _is_named(parameter: inspect.Parameter) -> bool:
    """Whether its default is in a dict, which may change."""
    return parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty
