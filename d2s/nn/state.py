"""The state of a layer: tensors by structured name, gathered from a layer and given back to one.

In: a layer; a dict of tensors or arrays. Out: a dict of the layer's own tensors; the names that were missing or unknown.

>>> layer = d2s.nn.Linear(1, 2)
>>> sorted(gathered(layer))
['bias', 'weight']
"""

import collections
import warnings
from typing import Any

from d2s.arguments import expect
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import D2SError, DTypeError


def gathered(
    layer: Any,
    destination: dict[str, Any] | None = None,
    include_sublayers: bool = True,
    structured_name_prefix: str = "",
    use_hook: bool = True,
    persistable: bool = True,
) -> dict[str, Any]:
    """All parameters and buffers by structured name; a tensor found twice stands under both names."""
    found: dict[str, Any] = collections.OrderedDict() if destination is None else destination
    expect("state_dict", "destination", found, dict, "a dict")
    expect("state_dict", "structured_name_prefix", structured_name_prefix, str, "a str")
    left_out = layer._non_persistable_buffer_names_set if persistable else ()
    buffers = {name: b for name, b in layer._buffers.items() if name not in left_out}
    for name, tensor in (*layer._parameters.items(), *buffers.items()):
        if tensor is not None:
            found[structured_name_prefix + name] = tensor
    for name, below in layer._sub_layers.items() if include_sublayers else ():
        if below is not None:
            gathered(below, found, True, f"{structured_name_prefix}{name}.", use_hook, persistable)
    for hook in layer._state_dict_hooks.values() if use_hook else ():
        changed = hook(found)
        found = found if changed is None else changed
    return found


def taken(layer: Any, state: Any, use_structured_name: bool) -> tuple[list[str], list[str]]:
    """Gives a layer's tensors the values of a state, as far as they fit."""
    if not isinstance(state, dict):
        raise DTypeError("D2S0001", f"set_state_dict(): 'state_dict' expects a dict, got {type(state).__name__}")
    own = {name if use_structured_name else t.name: (name, t) for name, t in gathered(layer, use_hook=False).items()}
    missing, taken = [], set()
    for key, (name, tensor) in own.items():
        why = _given(tensor, state[key]) if key in state else "is not found in the provided dict."
        if why:
            warnings.warn(f"Skip loading for {name}. {name} {why}", stacklevel=3)
            missing.append(name)
        else:
            taken.add(key)
    return missing, [key for key in state if key not in taken]


def _given(tensor: Tensor, value: Any) -> str:
    """Gives a tensor new values; why not, where they do not fit."""
    try:
        new = value if isinstance(value, Tensor) else to_tensor(value)
    except D2SError as error:
        return f"receives no tensor: {error.message}"
    if new.shape != tensor.shape:
        return f"receives a shape {new.shape}, but the expected shape is {tensor.shape}."
    tensor.set_value(new)
    return ""
