"""Arguments to values in the order of the parameters, by a function with the very parameters of the user's.

In: a signature. Out: a function that Python itself binds. It knows the defaults that the signature has.

>>> import inspect
>>> binder(inspect.signature(lambda x, /, k=2, *rest, flag=True, **more: None))(1, 3, 4, other=5)
(1, 3, (4,), True, {'other': 5})
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

_STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def binder(signature: inspect.Signature) -> Callable[..., tuple[Any, ...]]:
    """The function that binds calls with this signature."""
    parameters = list(signature.parameters.values())
    values = "".join(f"{p.name}, " for p in parameters)
    exec(f"def bind({', '.join(listed(parameters))}):\n    return ({values})\n", scope := defaults_of(parameters))
    found: Callable[..., tuple[Any, ...]] = scope["bind"]
    return found


def defaults_of(parameters: Sequence[inspect.Parameter]) -> dict[str, Any]:
    """The defaults, by the names they have in a text."""
    return {f"d2s_default_{n}": p.default for n, p in enumerate(parameters) if p.default is not p.empty}


def listed(parameters: Sequence[inspect.Parameter]) -> list[str]:
    """The parameters as they stand in a `def`."""
    listed = []
    kinds = [p.kind for p in parameters]
    for n, p in enumerate(parameters):
        before = kinds[n - 1] if n else None
        if before is p.POSITIONAL_ONLY and p.kind is not before:
            listed.append("/")
        if p.kind is p.KEYWORD_ONLY and before not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            listed.append("*")
        listed.append(_STARS.get(p.kind, "") + p.name + (f"=d2s_default_{n}" if p.default is not p.empty else ""))
    return [*listed, "/"] if kinds and kinds[-1] is inspect.Parameter.POSITIONAL_ONLY else listed
