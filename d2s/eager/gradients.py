"""Gradients asked for by name, and gradients of gradients.

In: results and the tensors they depend on. Out: gradients as tensors; `grad` of leaves stays as it is.

>>> x = d2s.to_tensor([3.0], stop_gradient=False)
>>> (first,) = grad(x * x * x, x, create_graph=True)
>>> (second,) = grad(first, x)
>>> first.numpy().tolist(), second.numpy().tolist()
([27.0], [18.0])
"""

from typing import Any

import numpy as np

from d2s.autodiff import tape
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, GradientError


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Any = None,
) -> list[Tensor | None]:
    """The gradients of `outputs`, weighted by `grad_outputs` (ones), with respect to each of `inputs`.

    No gradient goes through `no_grad_vars`. The `grad` of leaves stays as it is, so `only_inputs` is always True.
    """
    if not only_inputs:
        raise ArgumentError("D2S0004", "grad(): 'only_inputs' is False", hint="backward() adds to the grad of all leaves")
    results, wanted = _listed(outputs, "outputs"), _listed(inputs, "inputs")
    cut = [] if no_grad_vars is None else _listed(no_grad_vars, "no_grad_vars")
    roots = [(y, g) for y, g in zip(results, _weights(results, grad_outputs), strict=True) if not y.stop_gradient]
    towards = [t.node or t for t in wanted]
    found: dict[int, Tensor] = {}

    def watch(node: tape.TapeNode, cotangents: dict[int, Tensor]) -> None:
        places = [tape.place(tape.now(target)) for target in towards]
        found.update({n: cotangents[at] for n, (there, at) in enumerate(places) if there is node and at in cotangents})

    keep = create_graph if retain_graph is None else retain_graph
    watching = None if all(t.node is None for t in wanted) else watch
    totals = tape.sweep(roots, keep or create_graph, create_graph, watching, [t.node or t for t in cut], towards)
    for n, target in enumerate(map(tape.now, towards)):
        if tape.place(target)[0] is None and (total := totals.get(target)) is not None:
            found[n] = total
    if len(found) < len(wanted) and not allow_unused:
        missing = [n for n in range(len(wanted)) if n not in found]
        message = f"grad(): 'outputs' do not depend on 'inputs' number {', '.join(map(str, missing))}"
        raise GradientError("D2S0006", message, hint="allow_unused=True gives None for them")
    return [totals.own(found[n]) if n in found else None for n in range(len(wanted))]


def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool = False) -> None:
    """Adds the gradients of all of `tensors`, weighted by `grad_tensors` (ones), to the `grad` of every leaf they depend on.

    >>> x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> backward([x * 2.0, x * x], [None, d2s.to_tensor([1.0, 10.0])])
    >>> x.grad.tolist()
    [4.0, 42.0]
    """
    roots = _listed(tensors, "tensors", of="backward")
    if len({id(y) for y in roots}) < len(roots):
        raise ArgumentError("D2S0004", "backward(): one of 'tensors' is named twice")
    wanted = [y for y in roots if not y.stop_gradient]
    if not wanted:
        raise GradientError("D2S0006", "backward() of tensors that depend on nothing that wants a gradient")
    weights = _weights(roots, grad_tensors, "grad_tensors", "backward")
    tape.backward([(y, g) for y, g in zip(roots, weights, strict=True) if not y.stop_gradient], retain_graph)


def _listed(value: Any, name: str, optional: bool = False, of: str = "grad") -> list[Any]:
    if isinstance(value, Tensor):
        return [value]
    listed = list(value) if isinstance(value, (list, tuple)) else [value]
    for item in listed:
        if not isinstance(item, Tensor) and not (optional and item is None):
            raise DTypeError("D2S0001", f"{of}(): '{name}' expects tensors, got {type(item).__name__}")
    return listed


def _weights(results: list[Tensor], given: Any, name: str = "grad_outputs", of: str = "grad") -> list[Tensor]:
    """A cotangent for each result."""
    weights = [None] * len(results) if given is None else _listed(given, name, optional=True, of=of)
    if len(weights) != len(results):
        raise ArgumentError("D2S0004", f"{of}(): {len(weights)} '{name}' for {len(results)} tensors")
    return [_cotangent(y, w, name, of) for y, w in zip(results, weights, strict=True)]


def _cotangent(y: Tensor, weight: Tensor | None, name: str, of: str) -> Tensor:
    if weight is None:
        return Tensor(np.ones_like(y.array))
    if weight.array.shape != y.array.shape or weight.array.dtype != y.array.dtype:
        message = f"{of}(): one of '{name}' is {weight.dtype.name}{weight.shape}, its tensor {y.dtype.name}{y.shape}"
        raise ArgumentError("D2S0002", message)
    return weight
