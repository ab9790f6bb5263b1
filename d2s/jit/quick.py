"""A static call in one step: a function with the user's parameters that asks what `checks` asks, and calls the plan natively.

In: a variant and the signature of its function. Out: a function that gives the result of a call, or MISSED where this is not
the variant of the call, or anything else stands in the way; then the long way finds out. What tensors look like is asked by
the native call itself (`runtime/native_call.py`), so the function's text has a line only for what Python alone can tell. What
the call changes - attributes, tensors in place, the place in the random numbers - is written behind it.

>>> double = d2s.to_static(lambda x: x * 2.0)
>>> [double(d2s.to_tensor([k])).tolist() for k in (1.0, 2.0, 3.0)]
[[2.0], [4.0], [6.0]]
>>> [quick(d2s.to_tensor([4.0])).tolist() for quick in double.quick]
[[8.0]]
"""

import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s import passes
from d2s.autodiff.active import depending
from d2s.autodiff.mode import mode, recording
from d2s.capture.containers import restore
from d2s.capture.guards import MISSING
from d2s.capture.heap import UNREAD
from d2s.capture.result import Choice, Filled, Made, Recipe, Rows
from d2s.capture.result import leaves as leaves_of
from d2s.capture.stores import write
from d2s.config import unusual
from d2s.eager.tensor import Tensor
from d2s.ir.program import Program, Value
from d2s.jit import steps_behind
from d2s.jit.binding import defaults_of, listed
from d2s.jit.checks import Check
from d2s.jit.signature import Leaf
from d2s.ops.dispatch import handlers
from d2s.runtime import random_state
from d2s.runtime.call import Call
from d2s.runtime.host import Run
from d2s.runtime.native_call import Entry, is_long
from d2s.types import Type

MISSED = object()
_NOT_AS_BEFORE = "(AttributeError, LookupError, ValueError, TypeError, OverflowError, MemoryError)"
_FILE = __file__ + ": written"  # the text is one of d2s: nodes of the tape look for the user's line
# what a call may change; for the rest it goes the long way
_WRITTEN = {"attribute", "tensor", "variable", "stream", "seed", "content", "more"}
Quick = Callable[..., Any]


def quick_of(variant: Any, function: Callable[..., Any], signature: inspect.Signature, leaves: Sequence[Any]) -> Quick | None:
    """The function, if the variant does little but compute; for arguments of the classes of these, as far as it ran before."""
    captured, program = variant.captured, variant.graph.program
    apart = steps_behind.behind(program) if variant.graph.acts else None
    if captured.told or captured.standing is not None or (variant.graph.acts and apart is None):
        return None
    if captured.answered or captured.assumed:
        return None
    first_held = _containers(variant.key.skeleton)
    if apart and not {store[0] for store in captured.stores}.isdisjoint(("content", "more")):
        return None
    if not all(store[0] in _WRITTEN and _is_known(store[1], first_held) for store in captured.stores):
        return None
    if any(at is MISSING or at is UNREAD for kind, at in leaves_of(captured.stored) if kind == "outside"):
        return None
    computed = apart.program if apart else program
    check = _Quick(computes=bool(computed.outputs), first_held=first_held)
    if not check.computes and computed.nodes:
        return None
    check.arguments(variant.key)
    check.guards(captured.guards)
    check.rest(variant)
    named = [check.leaves[n] for n in captured.arguments] + [check.named(t) for t in captured.lifted]
    found = [check.read(read) for read in captured.reads]
    check.apart(captured, found)
    named += found
    named += ["asarray(seed, int64)", "asarray(counter, int64)"] if captured.draws else []
    inputs = [leaves[n] for n in captured.arguments] + captured.lifted + [read.read() for read in captured.reads]
    check.places(variant.in_place, [name for name, x in zip(named, inputs, strict=False) if isinstance(x, Tensor)])
    inputs += [np.asarray(0, np.int64)] * (2 * captured.draws)
    outputs = _outputs(computed)
    texts = _Result(check, outputs, found)
    result, written = texts.text(captured.result), [texts.text(part) for part in captured.stored.parts]
    wanting = _wanting(apart, variant, named, inputs, check.named(mode)) if apart else {}
    taken = steps_behind.lines(apart, outputs, check.named, check.named(Tensor), wanting) if apart else []
    if not result or not all(written) or taken is None:
        return None
    changes = taken
    for (target, by), value in zip(variant.stores, written, strict=True):
        change = check.change(target, value)
        changes.append(change if by is None else f"if {outputs[by]}.array.item(): {change}")
    call, declined = None, None
    if check.computes:
        entry = _short_entry(variant, apart, inputs) if apart else variant.graph.entry(inputs)
        if entry is None:
            return None
        call, declined = entry.call, entry.declined
    if variant.graph.in_place and call and not apart:
        changes.insert(0, f"{check.named(variant.graph.keep)}(r)")
    native = {"call": call, "declined": declined, "unstacked": variant.graph.unstacked()}
    around = [f"with {check.named(variant.turn)}:"] if variant.turn else []
    around += ["with held() as (seed, counter):"] if captured.draws else []
    return check.quick(function, signature, named, [*changes, f"return {result}"], native, around)


def _outputs(program: Program) -> list[str]:
    """The text of each output, made of `r`, what the native call has found, its lists as lists."""
    alone = len(program.outputs) == 1 and not program.outputs[0].type.listed
    places = ["r"] if alone else [f"r[{n}]" for n in range(len(program.outputs))]
    numbers = [v.type.python and not v.type.listed for v in program.outputs]
    return [f"{at}.array.item()" if number else at for at, number in zip(places, numbers, strict=True)]


def _short_entry(variant: Any, apart: steps_behind.Behind, inputs: Sequence[Any]) -> Entry | None:
    """The native call of what steps stand behind, where nobody notices that they wait for it."""
    if is_long(passes.lower(apart.program)):
        return None
    taped = variant.graph.without_steps(apart.program, inputs)
    return taped or Call(apart.program, passes.lower).entry(handlers.base.classes, [type(x) for x in inputs])


def _wanting(apart: steps_behind.Behind, variant: Any, named: list[str], inputs: Sequence[Any], mode: str) -> dict[Value, str]:
    """Texts that say of what steps are given whether no gradient is wanted of it."""
    texts = dict[Value, list[str]]()
    for n, (name, x) in enumerate(zip(named, inputs, strict=True)):
        if isinstance(x, Tensor):
            alone = [k == n for k in range(len(inputs))]
            for v in depending(apart.program, alone, variant.graph.stopped):
                texts.setdefault(v, []).append(f"{name}.stop_gradient")
    given = set(apart.program.inputs)  # what these are does not depend on whether a tape is made
    free = {v: " and ".join(found) for v, found in texts.items()}
    return {v: text if v in given else f"not {mode}.recording or ({text})" for v, text in free.items()}


class _Quick(Check):
    """The checks of a variant. Where it `computes` something, the native call makes those of tensors and floats."""

    def __init__(self, computes: bool, first_held: int) -> None:
        super().__init__()
        self.computes, self.first_held = computes, first_held
        self.plain = False  # whether no argument is a container

    def _structure(self, value: str, skeleton: Any, given: Any) -> None:
        self.plain |= value == "values" and all(child is None for child in skeleton[2])
        if value != "values" or not self.plain:
            super()._structure(value, skeleton, given)
            return
        self.leaves += [f"v{n}" for n in range(len(skeleton[2]))]
        for name in self.leaves:
            self._leaf(name, next(given))

    def _leaf(self, name: str, leaf: Leaf) -> None:
        if leaf.dtype is None or not self.computes:
            super()._leaf(name, leaf)

    def _lifted(self, held: str, was: Type) -> None:
        if not self.computes:
            super()._lifted(held, was)

    def _read(self, read: Any) -> None:
        """Nothing: see `read`."""

    def read(self, read: Any) -> str:
        """What is read anew at each call."""
        name = f"f{len(self.lines)}"
        self.lines.append(f"{name} = {self.found(read)}")
        return name

    def _apart(self, captured: Any) -> None:
        """Nothing: see `apart`."""

    def apart(self, captured: Any, found: list[str]) -> None:
        """Tensors that are read anew are none of the other inputs, as far as that matters."""
        names = [name for name, read in zip(found, captured.reads, strict=True) if not read.type.python]
        if names:
            lifted = self.named({id(tensor) for tensor in captured.lifted})
            others = [self.leaves[n] for n in captured.arguments]
            pairs = [*itertools.combinations(names, 2), *itertools.product(names, others)]
            plain = [*(f"{a} is not {b}" for a, b in pairs), *(f"id({a}) not in {lifted}" for a in names if captured.lifted)]
            self.test(f"({' and '.join(plain) or True}) or {self.named(captured.tells_apart)}([{', '.join(self.leaves)}])")

    def places(self, in_place: Sequence[tuple[Any, bool, int | None]], tensors: Sequence[str]) -> None:
        """Tensors that are changed in place may be, and have memory that no other input has."""
        owners = [self.owner(leaf) for leaf, *_ in in_place]
        for owner, (_, history, _) in zip(owners, in_place, strict=True):
            if history:
                self.test(f"{owner}.node is not None or {owner}.stop_gradient or not {self.named(recording)}()")
        if in_place:
            changed, given = (f"({''.join(f'{name}.array, ' for name in names)})" for names in (owners, tensors))
            self.test(f"{self.named(_have_own_memory)}({changed}, {given})")

    def owner(self, leaf: Any) -> str:
        """What stands for a tensor that is changed in place."""
        kind, at = leaf
        return self.leaves[at] if kind == "argument" else self.named(at)

    def change(self, target: Any, value: str) -> str:
        """A line that writes what a call has changed."""
        kind, owner, *details = target
        if kind == "content" and owner[0] == "container":
            return f"{self.named(restore)}({self.container(owner[1])}, {value})"
        if kind == "tensor":
            held = self.owner(owner)
            return f"{held}._become({value})" if details[0] else f"{held}._write({value}.array)"
        if kind == "attribute" and details[0].isidentifier():
            return f"{self.named(owner)}.{details[0]} = {value}"
        if kind == "stream":
            return f"{self.named(random_state.move_to)}({value}.item())"
        if kind == "seed":
            return f"{self.named(random_state.start_from)}({value}.item())"
        return f"{self.named(write)}({self.named(target)}, {value}, {self.named(Run)}())"

    def container(self, number: int) -> str:
        """What stands for a container in a place."""
        return self.containers[number - self.first_held] if number >= self.first_held else ""

    def defaults(self, function: Callable[..., Any]) -> None:
        """The function has the defaults it had; one that is no plain function keeps none that may change."""
        for name in ("__defaults__", "__kwdefaults__"):
            if kept := getattr(function, name, None):
                self.test(f"{self.named(function)}.{name} is {self.named(kept)}")

    def quick(
        self,
        function: Callable[..., Any],
        signature: inspect.Signature,
        inputs: list[str],
        behind: list[str],
        native: dict[str, Any],
        around: list[str],
    ) -> Quick | None:
        """The function, compiled; None where a parameter has the name of something in the text."""
        parameters = list(signature.parameters.values())
        defaults = defaults_of(parameters)
        if any(defaults):
            self.defaults(function)
        native |= {"unusual": unusual, "handlers": handlers, "MISSED": MISSED}
        native |= {"asarray": np.asarray, "int64": np.int64, "held": random_state.held}
        self.objects |= native | defaults
        if {p.name for p in parameters} & self.objects.keys():
            return None
        values = ", ".join(p.name for p in parameters)
        bound = ", ".join(self.leaves) + f" = {values}" if self.plain else f"values = ({values},)"
        first = [
            "if unusual or handlers.stack: return MISSED",
            bound if parameters else "values = ()",
            *(line.replace("return None", "return MISSED") for line in self.lines),
        ]
        if self.computes:
            first += [f"given = ({''.join(f'{name}, ' for name in inputs)})", "r = call(given)"]
            first += ["if r is None:", "    declined()", "    return MISSED"]
            first += ["r = unstacked(r, given)"] if native["unstacked"] else []
        lines = ["try:", *(f"    {line}" for line in first), f"except {_NOT_AS_BEFORE}:", "    return MISSED", *behind]
        for head in reversed(around):
            lines = [head, *(f"    {line}" for line in lines)]
        text = f"def quick({', '.join(listed(parameters))}):\n" + "".join(f"    {line}\n" for line in lines)
        exec(compile(text, _FILE, "exec"), self.objects)
        found: Quick = self.objects["quick"]
        return found


def _containers(skeleton: Any) -> int:
    """How many there are in a structure."""
    return 0 if skeleton is None else 1 + sum(map(_containers, skeleton[2]))


def _is_known(owner: Any, first_held: int) -> bool:
    """Whether what is changed has a name in the text: no argument's container has."""
    return not isinstance(owner, tuple) or owner[0] != "container" or owner[1] >= first_held


def _have_own_memory(changed: Sequence[np.ndarray], inputs: Sequence[np.ndarray]) -> bool:
    """Whether arrays have memory that no other input has, as far as that is plain to see."""
    if len({id(a) for a in inputs if a.base is None}) == len(inputs):
        return True
    owners = [a if a.base is None else a.base for a in inputs]
    if not all(type(owner) is np.ndarray and owner.base is None for owner in owners):
        return False
    mine = [a if a.base is None else a.base for a in changed]
    return all(sum(owner is one for owner in owners) == 1 for one in mine)


class _Result:
    """The text of what a call returns, made of `r`, what the native call has found; empty where that takes more than a text."""

    def __init__(self, check: _Quick, outputs: list[str], reads: list[str]) -> None:
        self.check, self.outputs, self.reads, self.made = check, outputs, reads, set[int]()

    def text(self, recipe: Recipe) -> str:
        if isinstance(recipe, Choice):
            return self.choice(recipe)
        if isinstance(recipe, Made):
            return self.container(recipe)
        if isinstance(recipe, Filled):
            return self.filled(recipe)
        if isinstance(recipe, Rows):
            items = self.rows(recipe)
            return items and f"tuple({items})"
        if not isinstance(recipe, tuple):
            return ""
        kind, at = recipe
        if kind == "output":
            return self.outputs[at]
        if kind == "row":
            return f"{self.outputs[at]}[k_]"
        if kind == "argument":
            return self.check.leaves[at]
        if kind == "read":
            return self.reads[at]
        if kind == "container":
            return self.check.container(at)
        return self.check.named(at) if kind == "outside" else ""

    def choice(self, recipe: Choice) -> str:
        """One of several, by a number of the run."""
        tag, parts = self.text(recipe.tag), [self.text(part) for part in recipe.parts]
        if not tag or not all(parts):
            return ""
        first = "".join(f"{part} if tag_ == {n} else " for n, part in enumerate(parts[:-1]))
        return f"[{first}{parts[-1]} for tag_ in ({tag},)][0]"

    def filled(self, recipe: Filled) -> str:
        """A list that stands in the result once, and whose content depends on the path."""
        (part,) = recipe.parts
        content = self.rows(part) if isinstance(part, Rows) else self.text(part)
        if id(recipe) in self.made or recipe.kind is not list or not content:
            return ""
        self.made.add(id(recipe))
        return f"[*{content}]"

    def rows(self, recipe: Rows) -> str:
        """The items of a list whose length the run has computed, as a list."""
        length, item = self.text(recipe.length), self.text(recipe.item)
        if isinstance(recipe.item, tuple) and recipe.item[0] == "row":
            return self.outputs[recipe.item[1]]
        return f"[{item} for k_ in range({length})]" if length and item else ""

    def container(self, recipe: Made) -> str:
        """A container that stands in the result once."""
        parts = [self.text(part) for part in recipe.parts]
        if id(recipe) in self.made or not all(parts):
            return ""
        self.made.add(id(recipe))
        if recipe.kind is dict:
            return "{" + ", ".join(f"{self.check.named(k)}: {part}" for k, part in zip(recipe.keys, parts, strict=True)) + "}"
        inside = "".join(f"{part}, " for part in parts)
        if recipe.kind in (tuple, list, set):
            return {tuple: f"({inside})", list: f"[{inside}]", set: f"{{{inside}}}" if parts else ""}[recipe.kind]
        return f"{self.check.named(recipe.kind)}({inside})"
