"""Gradients of declared programs, as variables of them.

In: a loss, or targets, and what the gradients are wanted in. Out: pairs of parameters and variables, or variables.

>>> d2s.enable_static()
>>> with d2s.static.program_guard(d2s.static.Program()):
...     x = d2s.static.data("x", [2])
...     x.stop_gradient = False
...     (g,) = gradients(x * x, x)
...     found = d2s.static.Executor().run(d2s.static.default_main_program(), {"x": np.ones(2, "float32")}, [g])
>>> d2s.disable_static()
>>> found[0].tolist()
[2.0, 2.0]
"""

from typing import Any

from d2s.arguments import expect
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.ops.shapes import fitting
from d2s.static.variable import Variable


def append_backward(
    loss: Any, parameter_list: Any = None, no_grad_set: Any = None, callbacks: Any = None, checkpoints: Any = None
) -> list[tuple[Tensor, Variable]]:
    """The gradients of a loss in the parameters it depends on, or in those listed, which may be given by name."""
    expect("append_backward", "loss", loss, Variable, "a variable of a program")
    expect("append_backward", "parameter_list", parameter_list, list | tuple | None, "a list")
    return loss.root.append_backward(loss, parameter_list, no_grad_set)


def gradients(targets: Any, inputs: Any, target_gradients: Any = None, no_grad_set: Any = None) -> list[Variable | None]:
    """The gradients of the sum of targets, weighted by `target_gradients`, in inputs; None where there is none."""
    listed = _listed("targets", targets)
    wanted = _listed("inputs", inputs)
    if not listed:
        raise ArgumentError("D2S0004", "gradients(): 'targets' is empty")
    given = [None] * len(listed) if target_gradients is None else _weights(target_gradients)
    if len(given) != len(listed):
        raise ArgumentError("D2S0004", f"gradients(): {len(given)} 'target_gradients' for {len(listed)} targets")
    for target, weight in zip(listed, given, strict=True):
        expect("gradients", "target_gradients", weight, Variable | Tensor | None, "variables of a program, or None")
        if weight is not None:
            fitting("gradients", "target_gradients", weight.shape, target.shape)
    root = listed[0].root
    for w in wanted:
        if isinstance(w, Tensor) and id(w) not in root.lifted:
            raise ArgumentError("D2S0004", "gradients(): 'inputs' holds a tensor that the program does not read")
    found = [root.first(w) if isinstance(w, Tensor) else w for w in wanted]
    return root.backward(listed, found, given, root.left_out("gradients", no_grad_set))


def _listed(name: str, given: Any) -> list[Any]:
    found = list(given) if isinstance(given, list | tuple) else [given]
    for one in found:
        expect("gradients", name, one, Variable if name == "targets" else Variable | Tensor, "variables of a program")
    return found


def _weights(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]
