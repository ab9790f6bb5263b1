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
from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np

from d2s import passes
from d2s.autodiff.mode import recording
from d2s.capture.containers import REAL, new_object, restore
from d2s.capture.guards import MISSING
from d2s.capture.heap import UNREAD
from d2s.capture.locks import Turn, acting, in_time
from d2s.capture.result import Choice, Filled, Made, Recipe, Rows, made_of
from d2s.capture.result import leaves as leaves_of
from d2s.capture.stores import Pending, write
from d2s.config import unusual
from d2s.eager.tensor import Tensor
from d2s.ir.program import Program
from d2s.jit import steps_between
from d2s.jit.binding import defaults_of, written
from d2s.jit.checks import Check
from d2s.jit.parting import Parts, parted
from d2s.jit.signature import Leaf
from d2s.ops.dispatch import handlers
from d2s.runtime import random_state
from d2s.runtime.call import Call
from d2s.runtime.host import Run
from d2s.runtime.native_call import Entry
from d2s.types import Type

MISSED = object()
_NOT_AS_BEFORE = "(AttributeError, LookupError, ValueError, TypeError, OverflowError, MemoryError)"
# what a call may change; for the rest it goes the long way
_WRITTEN = {"attribute", "tensor", "variable", "stream", "seed", "content", "more"}
Quick = Callable[..., Any]
Around = tuple[list[str], list[str]]  # the lines in front of a call, and those behind it


def quick_of(variant: Any, function: Callable[..., Any], signature: inspect.Signature, leaves: Sequence[Any]) -> Quick | None:
    """The function, if the variant does little but compute; for arguments of the classes of these, as far as it ran before."""
    captured, program, graph = variant.captured, variant.graph.program, variant.graph
    if captured.told or captured.standing is not None or captured.taped is False or (graph.acts and not graph.is_divisible):
        return None
    if captured.answered or captured.assumed or variant.takes_lock:
        return None
    first_held = _containers(variant.key.skeleton)
    if not all(store[0] in _WRITTEN and _is_known(store[1], first_held) for store in captured.stores):
        return None
    if any(at is MISSING or at is UNREAD for kind, at in leaves_of(captured.stored) if kind == "outside"):
        return None
    parts = parted(graph) if graph.acts else None
    computed = parts.first if parts else program
    check = _Quick(computes=bool(computed.outputs), first_held=first_held)
    if (graph.acts and parts is None) or (not check.computes and computed.nodes):
        return None
    if parts and graph.identity.asked and not graph.changes_nothing and any(node.regions() for node in computed.nodes):
        return None  # whose native call does not tell which of its results are one
    check.arguments(variant.key)
    check.guards(captured.guards)
    check.rest(variant)
    named = [check.leaves[n] for n in captured.arguments] + [check.named(t) for t in captured.lifted]
    found = [check.read(read) for read in captured.reads]
    check.apart(captured, found)
    named += found
    named += ["asarray_(seed_, int64_)", "asarray_(counter_, int64_)"] if captured.draws else []
    inputs = [leaves[n] for n in captured.arguments] + captured.lifted + [read.read() for read in captured.reads]
    tensors = [name for name, x in zip(named, inputs, strict=False) if isinstance(x, Tensor)]
    check.places(variant.in_place, tensors)
    inputs += [np.asarray(0, np.int64)] * (2 * captured.draws)
    if parts and not graph.changes_nothing:
        check.untaped(tensors)
    behind = _behind(check, parts, variant, named, found) if parts else steps_between.Lines([], _outputs(computed), set())
    if behind is None:
        return None
    results = _left_in_inputs(graph, named, behind.results) if parts else behind.results
    texts = _Result(check, results, found, behind.objects)
    result, written = texts.text(captured.result), [texts.text(part) for part in captured.stored.parts]
    if not result or not all(written):
        return None
    changes = behind.lines
    for (target, by), part, value in zip(variant.stores, captured.stored.parts, written, strict=True):
        change = check.change(target, part, value)
        changes.append(change if by is None else f"if {behind.results[by]}.array.item(): {change}")
    call, declined = None, None
    if check.computes:
        entry = _first_entry(graph, parts, inputs) if parts else graph.entry(inputs, with_numbers=True)
        if entry is None:
            return None
        call, declined = entry.call, entry.declined
    if graph.in_place and call and not parts:
        taped = " or ".join(f"{at}.node" for at in _outputs(program) if not at.endswith(".item()"))
        changes.insert(0, f"{'' if graph.lists else f'if {taped}: '}{check.named(graph.keep)}(r)")
    native = {"call_": call, "declined_": declined, "unstacked_": None if parts else graph.unstacked()}
    around = _turn(check, variant.turn, graph.acts) if variant.turn else []
    around += [(["with held_() as (seed_, counter_):"], [])] if captured.draws else []
    told = f"if type(r) is tuple and len(r) > {len(program.outputs)}: " if graph.tells_apart else ""
    return check.quick(function, signature, named, [*changes, f"return {result}"], told, native, around)


def _turn(check: "_Quick", turn: Turn, acts: bool) -> list[Around]:
    """A turn, in the fewest steps where the call is all native."""
    if acts:
        return [([f"with {check.named(acting)}({check.named(turn)}):"], [])]
    take, give_back = check.named(turn.acquire), check.named(turn.release)
    first = f"taken_ = {take}(False) or {check.named(in_time)}({check.named(turn)})"
    return [([first, "try:"], ["finally:", f"    if taken_: {give_back}()"])]


def _outputs(program: Program) -> list[str]:
    """The text of each output, made of `r`, what the native call has found, its lists as lists."""
    alone = len(program.outputs) == 1 and not program.outputs[0].type.listed
    places = ["r"] if alone else [f"r[{n}]" for n in range(len(program.outputs))]
    numbers = [v.type.python and not v.type.listed for v in program.outputs]
    return [f"{at}.array.item()" if number else at for at, number in zip(places, numbers, strict=True)]


def _left_in_inputs(graph: Any, named: Sequence[str], results: Sequence[str]) -> list[str]:
    """The texts of results that are inputs where a run has left them in these, which no native call of the whole tells."""
    found, written = list(results), graph.identity.written
    held = [(named[k], results[m]) for m, k in written.items() if m in graph.identity.asked]
    for n in (n for n in graph.identity.asked if n not in written):
        for place, text in held:
            if graph.program.outputs[n].type.listed:
                found[n] = f"[{place} if t_ is {text} else t_ for t_ in {found[n]}]"
            else:
                found[n] = f"({place} if {results[n]} is {text} else {found[n]})"
    return found


def _first_entry(graph: Any, parts: Parts, inputs: Sequence[Any]) -> Entry | None:
    """The native call in front of the first step."""
    if graph.changes_nothing:
        return graph.beside(parts.first, parts.carried, inputs)  # type: ignore[no-any-return]
    return Call(parts.first, passes.lower).entry(handlers.base.classes, [type(x) for x in inputs])


def _behind(check: "_Quick", parts: Parts, variant: Any, named: Sequence[str], reads: list[str]) -> steps_between.Lines | None:
    """All that stands behind that."""

    def left(pending: Pending, values: list[str]) -> list[str]:
        """The changes that are made where a step fails."""
        texts = _Result(check, values, reads, set(range(len(values))))
        recipes = pending.recipe.parts if isinstance(pending.recipe, Made) else []
        parts = [texts.text(recipe) for recipe in recipes]
        known = all(target[0] in _WRITTEN and _is_known(target[1], check.first_held) for target in pending.targets)
        return [*map(check.change, pending.targets, recipes, parts)] if known and all(parts) else []

    whole = _Result(check, [], reads, set())
    return steps_between.lines(parts, variant.graph, named, steps_between.Around(check.named, whole.text, left))


class _Quick(Check):
    """The checks of a variant. Where it `computes` something, the native call makes those of tensors and floats."""

    def __init__(self, computes: bool, first_held: int) -> None:
        super().__init__()
        self.computes, self.first_held = computes, first_held
        self.bound: list[str] = []  # a name for what each parameter is given

    def _structure(self, value: str, skeleton: Any, given: Any) -> None:
        if value != "values":
            super()._structure(value, skeleton, given)
            return
        for n, child in enumerate(skeleton[2]):
            self.bound.append(f"v{len(self.leaves)}" if child is None else f"g{n}")
            if child is None:
                self.leaves.append(self.bound[-1])
                self._leaf(self.bound[-1], next(given))
            else:
                super()._structure(self.bound[-1], child, given)

    def _leaf(self, name: str, leaf: Leaf) -> None:
        if leaf.dtype is None or not self.computes:
            super()._leaf(name, leaf)

    def _lifted(self, held: str, was: Type) -> None:
        if not self.computes:
            super()._lifted(held, was)

    def _reads(self, captured: Any) -> None:
        if not self.computes:
            super()._reads(captured)

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

    def untaped(self, tensors: Sequence[str]) -> None:
        """No gradient is wanted of any of these."""
        free = " and ".join(f"{name}.stop_gradient" for name in tensors)
        self.test(f"({free or True}) or not {self.named(recording)}()")

    def owner(self, leaf: Any) -> str:
        """What stands for a tensor that is changed in place."""
        kind, at = leaf
        return self.leaves[at] if kind == "argument" else self.named(at)

    def change(self, target: Any, recipe: Recipe, value: str) -> str:
        """A line that writes what a call has changed: what a recipe makes, said by a text."""
        kind, owner, *details = target
        if kind == "content":
            held = self.container(owner[1]) if owner[0] == "container" else self.named(owner[1])
            keeps_keys = isinstance(recipe, Made) and self.keys.get(id(owner[1])) == [*map(id, recipe.keys)]
            return f"{held}.update({value})" if keeps_keys else f"{self.named(restore)}({held}, {value})"
        if kind == "more" and owner[0] == "outside" and type(owner[1]) in (list, dict):
            return f"{self.named(owner[1])}.{'extend' if type(owner[1]) is list else 'update'}({value})"
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
        told: str,
        native: dict[str, Any],
        around: Sequence[Around],
    ) -> Quick | None:
        """The function, compiled; None where a parameter has the name of something in the text."""
        parameters = list(signature.parameters.values())
        defaults = defaults_of(parameters)
        if any(defaults):
            self.defaults(function)
        native |= {"unusual_": unusual, "handlers_": handlers, "MISSED": MISSED}
        native |= {"asarray_": np.asarray, "int64_": np.int64, "held_": random_state.held}
        self.objects |= native | defaults
        bound = [", ".join(self.bound) + " = " + ", ".join(p.name for p in parameters)] if parameters else []
        first = [
            "if unusual_ or handlers_.stack: return MISSED",
            *bound,
            *(line.replace("return None", "return MISSED") for line in self.lines),
        ]
        if self.computes:
            first += [f"given = ({''.join(f'{name}, ' for name in inputs)})", "r = call_(given)"]
            first += ["if r is None:", "    declined_()", "    return MISSED"]
            first += [f"{told}r = unstacked_(r, given)"] if native["unstacked_"] else []
        lines = ["try:", *(f"    {line}" for line in first), f"except {_NOT_AS_BEFORE}:", "    return MISSED", *behind]
        for head, end in reversed(around):
            lines = [*head, *(f"    {line}" for line in lines), *end]
        found: Quick | None = written("quick", parameters, lines, self.objects)
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

    def __init__(self, check: _Quick, outputs: list[str], reads: list[str], objects: Set[int]) -> None:
        self.check, self.outputs, self.reads, self.objects, self.made = check, outputs, reads, objects, set[int]()

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
        if kind == "object":
            return self.outputs[at] if at in self.objects else ""
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
        if id(recipe) in self.made:
            return ""
        self.made.add(id(recipe))
        parts = [self.text(part) for part in recipe.parts]
        if not all(parts):
            return ""
        if recipe.kind is dict or recipe.keys:
            held = ", ".join(f"{self.check.named(k)}: {part}" for k, part in zip(recipe.keys, parts, strict=True))
            return f"{{{held}}}" if recipe.kind is dict else self.object(recipe, held)
        if recipe.kind is frozenset:
            return f"frozenset(({''.join(f'{part}, ' for part in parts)}))"
        if not issubclass(recipe.kind, tuple | list | set):
            return self.object(recipe, "")
        inside = "".join(f"{part}, " for part in parts)
        if recipe.kind in (tuple, list, set):
            return {tuple: f"({inside})", list: f"[{inside}]", set: f"{{{inside}}}" if parts else ""}[recipe.kind]
        return f"{self.check.named(recipe.kind)}({inside})" if issubclass(recipe.kind, tuple) else ""

    def object(self, recipe: Made, held: str) -> str:
        """An object that holds this."""
        lacks = any(at is MISSING for kind, at in leaves_of(recipe) if kind == "outside")
        make = made_of if lacks or recipe.kind in REAL else new_object
        return f"{self.check.named(make)}({self.check.named(recipe.kind)}, {{{held}}})"
