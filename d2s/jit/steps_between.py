"""Steps of Python's between native calls: a Program that Python has a part in, as lines of Python.

In: a Program cut in two, and texts that stand for its inputs. Out: the lines behind the first native call, in the Program's
order: steps are calls of Python's, branches and loops with steps in them are Python's own, and what stands between is a native
call of its own, on the tape, too. What fails in the first call has taken no step yet, and goes the long way; what fails behind
a step raises what that would.

>>> static = d2s.to_static(lambda x: x * float(x.numpy().max()))
>>> for k in (1.0, 2.0, 3.0):
...     print(static(d2s.to_tensor([k])).tolist())
[1.0]
[4.0]
[9.0]
>>> len(static.quick)
1
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from d2s.autodiff.active import depending
from d2s.autodiff.identity import every_tensor
from d2s.autodiff.linear import uniquely_named
from d2s.autodiff.mode import recording
from d2s.autodiff.names import Names
from d2s.capture.result import Made, Recipe
from d2s.capture.result import leaves as leaves_of
from d2s.capture.steps import Step, finds_nothing, finds_object
from d2s.capture.stores import Pending
from d2s.eager.tensor import Tensor
from d2s.ir.program import Node, Program, Value
from d2s.jit.graph import Graph
from d2s.jit.parting import Parts, Unsaid, acts, is_taped, read_elsewhere, renamed, with_constants
from d2s.jit.pieces import Ending, Leaf, Piece
from d2s.passes.drop_dead import may_raise
from d2s.reckoned import source
from d2s.runtime import interpreter
from d2s.runtime.users_frames import straight

Naming = Callable[[object], str]
_ASKED = {"less_than": "<", "less_equal": "<=", "greater_than": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}
_OF_FLOATS = _ASKED | {"add": "+", "subtract": "-", "multiply": "*"}  # what Python and kernels make of two numbers alike
_KINDS = {"b": "bool", "i": "int", "f": "float"}  # of numbers of run time, by their dtypes


class Around(NamedTuple):
    """How a call says what is none of the Program's: names for objects, its own leaves, and changes that are pending."""

    named: Naming
    leaf: Callable[[Leaf], str]  # empty where there is no text
    left: Callable[[Pending, list[str]], list[str]]  # the lines that make them, of the texts of their values


class Lines(NamedTuple):
    """What stands behind the first native call, and for each result then; which of these are objects of the run."""

    lines: list[str]
    results: list[str]
    objects: set[int]


def lines(parts: Parts, graph: Graph, texts: Sequence[str], around: Around) -> Lines | None:
    """What stands behind the first call; `texts` stand for the Program's inputs. None where that takes more than lines."""
    try:
        return _Writer(parts, graph, texts, around).whole_lines()
    except Unsaid:
        return None


def _named(made: Sequence[Value], name: str) -> dict[Value, str]:
    """The texts of what a native call gives."""
    places = [name] if len(made) == 1 else [f"{name}[{n}]" for n in range(len(made))]
    return {v: f"{at}.array.item()" if v.type.python else at for v, at in zip(made, places, strict=True)}


class _Writer:
    def __init__(self, parts: Parts, graph: Graph, texts: Sequence[str], around: Around) -> None:
        self.parts, self.graph, self.whole, self.around, self.named = parts, graph, graph.program, around, around.named
        self.places: dict[Value, str] = dict(zip(self.whole.inputs, texts, strict=True))
        self.objects = set[Value]()
        self.constants: dict[Value, Node] = {}
        self.known = Names(self.whole, every_tensor(self.whole))
        self.lines, self.depth, self.numbers = list[str](), 0, itertools.count()
        self.at_hand = {v for v in self.whole.inputs if v.type.python}  # numbers that are Python's
        self.stepped = False  # whether a step may have been taken by here
        self.tensors = {text for text in texts if text.isidentifier()}
        self.free = self._free_texts()
        self.leaves = self._leaves()

    def whole_lines(self) -> Lines:
        outputs = self.whole.outputs
        self.places |= _named(self.parts.first.outputs, "r")
        self.region(self.parts.rest, outputs, self.graph.returned)
        results = [self._place(v) for v in outputs]
        return Lines(self.lines, results, {n for n, v in enumerate(outputs) if v in self.objects})

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def name(self, letter: str) -> str:
        return f"{letter}{next(self.numbers)}_"

    def _without_constants(self, nodes: Sequence[Node]) -> list[Node]:
        """The nodes but constants, which stand where they are read."""
        self.constants |= {node.outputs[0]: node for node in nodes if node.op == "constant"}
        return [node for node in nodes if node.op != "constant"]

    def _free_texts(self) -> dict[Value, str]:
        """Texts that say of values whether no gradient is wanted of them."""
        texts, inputs = dict[Value, list[str]](), self.whole.inputs
        for n, v in enumerate(inputs):
            if v.type.is_float and not v.type.python and not v.type.grows:
                for inside in depending(self.whole, [k == n for k in range(len(inputs))], self.graph.stopped):
                    texts.setdefault(inside, []).append(f"{self.places[v]}.stop_gradient")
        free, on = {v: " and ".join(found) for v, found in texts.items()}, f"{self.named(recording)}()"
        return {v: text if v in inputs else f"not {on} or ({text})" for v, text in free.items()}

    def _leaves(self) -> str:
        """What a call is made of, as far as changes that are pending tell of it."""
        found = dict.fromkeys(leaf for node in self.whole.every_node() for leaf in _told(node.attrs.get("stores")))
        texts = {leaf: self.around.leaf(leaf) for leaf in found}
        if not all(texts.values()):
            raise Unsaid
        return "{" + ", ".join(f"{leaf!r}: {text}" for leaf, text in texts.items()) + "}"

    # --- regions

    def region(self, nodes: Sequence[Node], outputs: Sequence[Value], returned: int) -> None:
        """The lines of nodes of one region; what its outputs are has a place behind them."""
        waiting, left = list[Node](), list(self._without_constants(nodes))
        while left:
            node = left[0]
            if node.op == "fail":
                raise Unsaid
            if self._is_at_hand(node):
                self.number(left.pop(0))
                continue
            if not acts(node) and not self._is_asked_at_hand(node):
                waiting.append(left.pop(0))
                continue
            if not self.parts.hurried or any(map(may_raise, waiting)) or self._goes_first(waiting, node):
                self.piece(waiting, left, outputs, returned)
                waiting = []
            left.pop(0)
            self.stand(node.inputs)
            others = {v for n in (*waiting, *left) for v in n.inputs}.union(outputs)
            if node.op == "host":
                self.step(node)
            elif node.op == "cond":
                self.cond(node, [v in others for v in node.outputs])
            else:
                self.loop(node)
        self.piece(waiting, (), outputs, returned)
        self.stand(outputs)

    def _is_at_hand(self, node: Node) -> bool:
        """Whether Python has both numbers that something simple is made of."""
        if len(node.inputs) != 2 or not all(v in self.at_hand or (v in self.constants and v.type.python) for v in node.inputs):
            return False
        kinds = {v.type.dtype.kind for v in node.inputs}
        return (kinds == {"f"} and node.op in _OF_FLOATS) or (kinds == {"i"} and node.op in _ASKED)

    def _is_asked_at_hand(self, node: Node) -> bool:
        """Whether it is a branch of which Python knows the answer, and which may be its own."""
        if node.op != "cond" or node.inputs[0] not in self.at_hand or "finds" in node.attrs:
            return False
        ends = any(inner.op == "fail" for arm in node.regions().values() for inner in arm.nodes)
        return not ends and not any(v.type.grows for v in node.outputs)

    def number(self, node: Node) -> None:
        """A number that Python computes."""
        self.stand(node.inputs)
        (result,), name = node.outputs, self.name("n")
        x, y = map(self._place, node.inputs)
        self.line(f"{name} = {x} {_OF_FLOATS[node.op]} {y}")
        self.places[result] = name
        self.at_hand.add(result)

    def _goes_first(self, waiting: Sequence[Node], node: Node) -> bool:
        """Whether what waits is read there, or stands on the tape in front of what is made there."""
        made = {v for n in waiting for v in n.outputs}
        return not made.isdisjoint(node.inputs) or (is_taped(node) and any(map(is_taped, waiting)))

    def stand(self, values: Iterable[Value]) -> None:
        """Has constants among values have places."""
        for v in dict.fromkeys(values):
            if v in self.constants and v not in self.places:
                node = self.constants[v]
                if v.type.python:
                    self.places[v] = self.named(node.attrs["value"])
                else:
                    made = f"{self.named(Tensor)}({self.named(interpreter.constant(node))}.copy())"
                    self.places[v] = made

    def piece(self, nodes: Sequence[Node], others: Sequence[Node], outputs: Sequence[Value], returned: int) -> None:
        """A native call."""
        found, carried = read_elsewhere(nodes, others, outputs, returned, self.graph.tells)
        if not found and not any(map(may_raise, nodes)):
            return
        nodes = with_constants(nodes, self.constants)
        made = {v for node in nodes for v in node.outputs}
        inputs = list(dict.fromkeys(v for node in nodes for v in node.inputs if v not in made))
        inputs += self._defining(nodes, inputs)
        if not self.objects.isdisjoint(inputs) or not inputs or any(v.type.grows for v in inputs):
            raise Unsaid
        own = uniquely_named([Value(v.type, v.name or "found") for v in inputs])
        into = dict(zip(inputs, own, strict=True))
        program = Program(self.whole.name, tuple(own), renamed(nodes, into), found or tuple(own[:1]))
        piece = self.named(Piece(program, carried, self.graph, self.changes))
        given = f"({''.join(f'{self.places[v]}, ' for v in inputs)})"
        name, tensors = self.name("r"), [v for v in inputs if not v.type.python]
        if any(itertools.starmap(self._may_be_one, itertools.combinations(tensors, 2))):
            self.line(f"{name} = {piece}.told_apart({given}, {self.leaves})")
        else:
            self.line(f"{name} = {piece}.call(given := {given})")
            self.line(f"if {name} is None: {name} = {piece}.plainly(given, {self.leaves})")
        self.places |= _named(found, name)

    def _may_be_one(self, a: Value, b: Value) -> bool:
        """Whether two values may be one tensor, by the path; nobody follows what a loop's test makes."""
        return a not in self.known.of or b not in self.known.of or self.known.one(a, b)

    @property
    def changes(self) -> bool:
        """Whether the call changes what was there before."""
        return len(self.whole.outputs) > self.graph.returned

    def _defining(self, nodes: Sequence[Node], inputs: Sequence[Value]) -> list[Value]:
        """Inputs of the whole that say what the names of extents stand for."""
        known, more = {d for v in inputs for d in v.type.shape}, list[Value]()
        values = [v.type.shape for node in nodes for v in (*node.inputs, *node.outputs)]
        asked = {name for held in (*values, *(a for node in nodes for a in node.attrs.values())) for name in _names(held)}
        for v in self.whole.inputs:
            if not known.issuperset(asked.intersection(d for d in v.type.shape if isinstance(d, str))):
                more.append(v)
                known.update(v.type.shape)
        return more

    # --- steps

    def step(self, node: Node) -> None:
        step, pending, (result,) = node.attrs["call"], node.attrs.get("stores"), node.outputs
        if not isinstance(step, Step) or not isinstance(step.recipe, Made):
            raise Unsaid
        count = node.attrs.get("count", len(node.inputs))
        given = [self._given(v) for v in node.inputs[:count]]
        args, kwargs = self._arguments(step.recipe, given)
        function = step.function if kwargs else straight(step.function, len(args))
        call = f"{self.named(function)}({', '.join([*args, *kwargs])})"
        name = self.name("s")
        self._leaving(pending, node.inputs[count:], call if step.keep is finds_nothing else f"{name} = {call}")
        self.stepped = True
        if step.keep is finds_object:
            self.objects.add(result)
        elif step.keep is not finds_nothing:
            keep, kind = self.named(step.keep), _KINDS[result.type.dtype.kind]
            if result.type.python:
                self.at_hand.add(result)
                fits = f"type({name}) is {kind}"
                fits += f" and {-(1 << 63)} <= {name} < {1 << 63}" if kind == "int" else ""
                self._leaving(pending, node.inputs[count:], f"if not ({fits}): {keep}(None, {name})")
            else:
                self._leaving(pending, node.inputs[count:], f"{name} = {self.named(Tensor)}({keep}(None, {name}))")
        if step.keep is not finds_nothing:
            self.places[result] = name

    def _leaving(self, pending: Any, values: Sequence[Value], line: str) -> None:
        """A line that may raise: then what was changed by then stays changed."""
        if not pending:
            self.line(line)
            return
        left = self.around.left(pending, [self._place(v) for v in values])
        if not left:
            raise Unsaid
        self.line("try:")
        self.line(f"    {line}")
        self.line("except BaseException:")
        for change in left:
            self.line(f"    {change}")
        self.line("    raise")

    def _place(self, v: Value) -> str:
        if v not in self.places:  # a step that finds nothing
            raise Unsaid
        return self.places[v]

    def _given(self, v: Value) -> str:
        """What a step is given: the tensor that went in, or one as it would be eagerly."""
        if v.type.grows:
            raise Unsaid
        place = self._place(v)
        if v in self.objects or v.type.python or place in self.tensors:
            return place
        free = f"{place}.stop_gradient" if self.graph.tells and v in self.free else self.free.get(v, "True")
        return f"{self.named(Tensor)}({place}.array, {free})"

    def _arguments(self, recipe: Made, given: list[str]) -> tuple[list[str], list[str]]:
        """All that a step is called with."""
        args, kwargs = recipe.parts
        if not isinstance(args, Made) or not isinstance(kwargs, Made):
            raise Unsaid
        named = zip(kwargs.keys, kwargs.parts, strict=True)
        texts = [self._text(part, given) for part in args.parts]
        return texts, [f"**{{{key!r}: {self._text(part, given)}}}" for key, part in named]

    def _text(self, recipe: Recipe, given: list[str]) -> str:
        """What a step is given, as text."""
        if isinstance(recipe, tuple):
            kind, at = recipe
            if kind not in ("outside", "output", "object"):
                raise Unsaid
            return self.named(at) if kind == "outside" else given[at]
        if not isinstance(recipe, Made) or recipe.kind not in (tuple, list, dict):
            raise Unsaid
        parts = [self._text(part, given) for part in recipe.parts]
        if recipe.kind is dict:
            return "{" + ", ".join(f"{self.named(k)}: {part}" for k, part in zip(recipe.keys, parts, strict=True)) + "}"
        inside = "".join(f"{part}, " for part in parts)
        return f"({inside})" if recipe.kind is tuple else f"[{inside}]"

    # --- control flow

    def _asked(self, v: Value) -> str:
        return self._place(v) if v.type.python else f"{self._place(v)}.array.item()"

    def cond(self, node: Node, read: Sequence[bool]) -> None:
        """A branch with steps in it."""
        if "finds" in node.attrs:
            raise Unsaid
        names = {v: self.name("y") for v, wanted in zip(node.outputs, read, strict=True) if wanted}
        before, after, objects = self.stepped, False, dict[Value, list[bool]]()
        for head, key in ((f"if {self._asked(node.inputs[0])}:", "then"), ("else:", "otherwise")):
            self.line(head)
            self.depth, self.stepped = self.depth + 1, before
            arm = node.attrs[key]
            if any(inner.op == "fail" for inner in arm.nodes):
                self.ending(arm, node.inputs[1:])
            else:
                into = dict(zip(arm.inputs, node.inputs[1:], strict=True))
                outputs = [into.get(v, v) for v in arm.outputs]
                wanted = [v for v, w in zip(outputs, read, strict=True) if w]
                self.region(renamed(arm.nodes, into), wanted, len(wanted))
                holes = {v for inner in arm.nodes if inner.op == "hole" for v in inner.outputs}
                for (result, name), v in zip(names.items(), wanted, strict=True):
                    self.line(f"{name} = {self._place(v)}")
                    objects.setdefault(result, []).extend([] if v in holes and v.type.python else [v in self.objects])
                self.line("pass")
                after |= self.stepped
            self.depth -= 1
        self.stepped = after
        self._join(names, objects)

    def _join(self, names: dict[Value, str], objects: dict[Value, list[bool]]) -> None:
        self.places |= names
        for v, found in objects.items():
            if any(found) and not all(found):
                raise Unsaid
            self.objects |= {v} if any(found) else set()

    def ending(self, path: Program, given: Sequence[Value]) -> None:
        """An arm that ends in an exception."""
        if not self.stepped:
            self.line("return MISSED")
            return
        for inner in path.every_node():
            if any(not python for python in getattr(inner.attrs.get("stores"), "python", ())):
                raise Unsaid
        self.stand(given)
        inside, held = "".join(f"{self._place(v)}, " for v in given), tuple(v in self.objects for v in given)
        self.line(f"{self.named(Ending(path, self.graph))}(({inside}), {held}, {self.leaves})")

    def loop(self, node: Node) -> None:
        """A loop with steps in it."""
        if node.op != "while_loop" or "finds" in node.attrs:
            raise Unsaid
        test, body, carries = node.attrs["test"], node.attrs["body"], node.attrs["carries"]
        names = [self.name("c") for _ in range(carries)]
        for name, v in zip(names, node.inputs, strict=False):
            self.line(f"{name} = {self._place(v)}")
        held = [v in self.objects for v in node.inputs[:carries]]
        self.stepped = True
        self.line("while True:")
        self.depth += 1
        into = self._carried(test, node, names, held)
        self.region(renamed(test.nodes, into), [into.get(v, v) for v in test.outputs], 0)
        self.line(f"if not {self._asked(into.get(test.outputs[0], test.outputs[0]))}: break")
        into = self._carried(body, node, names, held)
        outputs = [into.get(v, v) for v in body.outputs[:carries]]
        self.region(renamed(body.nodes, into), outputs, carries)
        if held != [v in self.objects for v in outputs]:
            raise Unsaid
        if names:
            self.line(f"{', '.join(names)} = {', '.join(map(self._place, outputs))}")
        self.depth -= 1
        self._join(dict(zip(node.outputs, names, strict=True)), {v: [h] for v, h in zip(node.outputs, held, strict=True)})

    def _carried(self, region: Program, node: Node, names: Sequence[str], held: Sequence[bool]) -> dict[Value, Value]:
        """Places for what a loop carries; what else its region reads is that of outside."""
        self.places |= dict(zip(region.inputs, names, strict=False))
        self.objects |= {v for v, h in zip(region.inputs, held, strict=False) if h}
        return dict(zip(region.inputs[len(names) :], node.inputs[len(names) :], strict=True))


def _told(pending: Any) -> list[Leaf]:
    """The leaves of the call that changes tell of which are to be made where a run fails."""
    if not isinstance(pending, Pending):
        return []
    owners = [target[1] for target in pending.targets if isinstance(target[1], tuple)]
    found = [*leaves_of(pending.recipe), *owners]
    return [leaf for leaf in found if leaf[0] not in ("output", "row", "object", "outside")]


def _names(value: Any) -> Iterator[str]:
    """The strings in an attribute, of extents what they follow from."""
    if isinstance(value, str):
        yield str(source(value))
    elif isinstance(value, tuple):
        for part in value:
            yield from _names(part)
