"""Whether a capture stands for a call, asked by one function written for it: its arguments, then all that it depends on.

In: a variant's key, its guards, what else it reads. Out: a function from the values of the parameters to the leaves of the
call; None where the answer is no, or not known so quickly: then `Key.fits` and `Variant.changed` find out, and say why.

>>> from d2s.jit.signature import key_of
>>> check = Check()
>>> check.arguments(key_of([3, True], (tuple, (), (None, None))))
>>> check.function()((3, True)), check.function()((4, True))
([3, True], None)
"""

import functools
import itertools
import types
from collections.abc import Callable, Sequence
from typing import Any

from d2s.autodiff.mode import mode
from d2s.capture.guards import MISSING, Guard, Itself
from d2s.capture.held import ANEW
from d2s.capture.kinds import AROUND, CONTENT
from d2s.capture.outside import liftable
from d2s.capture.reads import item_or_missing
from d2s.capture.tree import changeable
from d2s.default_dtype import HELD
from d2s.eager.tensor import Tensor
from d2s.exact import told
from d2s.jit.signature import Key, Leaf, fingerprint
from d2s.types import Type

Matches = Callable[[tuple[Any, ...]], list[Any] | None]
_FEW = 4  # tensors that are compared two by two
_SMALL = 64  # items of a container that are looked at one by one
_BY_VALUE = (bool, int, str, bytes, type(None))
_WITH_CONTENT = (list, dict, tuple)
_LOOKED_INTO = (*CONTENT, *AROUND, functools.partial, types.MethodType)  # by a guard itself


class Check:
    """The text of one such function, and the objects it names: like no parameter, as these have names in that text, too."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {
            "Tensor": Tensor,
            "default_dtype_": HELD,
            "fingerprint_": fingerprint,
            "MISSING": MISSING,
        }
        self.lines: list[str] = []
        self.leaves: list[str] = []
        self.containers: list[str] = []  # those in places, outer before inner
        self.in_places: list[str] = []  # those of them that may change
        self.changeable: list[str] = []  # lists and dicts among the arguments, each known by one name only
        self.extents: dict[str, str] = {}
        self.keys: dict[int, list[int]] = {}  # by the id of a dict those of its keys, where these are asked for

    def named(self, value: Any) -> str:
        """The name of an object in the text."""
        name = f"o{len(self.objects)}_"
        self.objects[name] = value
        return name

    def test(self, condition: str) -> None:
        self.lines.append(f"if not ({condition}): return None")

    def arguments(self, key: Key) -> None:
        """The values have the structure, the types and the constants of a key."""
        given = iter(key.leaves)
        self._structure("values", key.skeleton, given)
        tensors = [name for name, leaf in zip(self.leaves, key.leaves, strict=True) if leaf.dtype and leaf.fixed is None]
        own = [n for n, leaf in zip(self.leaves, key.leaves, strict=True) if n in tensors and leaf.same_as < 0]
        for name, leaf in zip(self.leaves, key.leaves, strict=True):
            if leaf.same_as >= 0:
                self.test(f"{name} is {self.leaves[leaf.same_as]}")
        if 1 < len(own) <= _FEW:
            self.test(" and ".join(f"{a} is not {b}" for a, b in itertools.combinations(own, 2)))
        elif len(own) > _FEW:
            self.test(f"len({{{', '.join(f'id({n})' for n in own)}}}) == {len(own)}")
        if len(self.changeable) > 1:
            self.test(f"len({{{', '.join(f'id({n})' for n in self.changeable)}}}) == {len(self.changeable)}")

    def _structure(self, value: str, skeleton: Any, given: Any) -> None:
        if skeleton is None:
            name = f"v{len(self.leaves)}"
            self.lines.append(f"{name} = {value}")
            self.leaves.append(name)
            self._leaf(name, next(given))
            return
        kind, keys, children = skeleton
        name = f"s{len(self.lines)}"
        self.lines.append(f"{name} = {value}")
        if kind in (list, dict) and value != "values":
            self.changeable.append(name)
        if value != "values":
            self._container(name, skeleton)
        for n, child in enumerate(children):
            key = self.named(keys[n].value) if kind is dict and value != "values" else n
            self._structure(f"{name}[{key}]", child, given)

    def _container(self, name: str, skeleton: Any) -> None:
        """Its class, how much it holds, the keys of a dict."""
        kind, keys, children = skeleton
        self.test(f"type({name}) is {self.named(kind)} and len({name}) == {len(children)}")
        if kind is dict and children and all(type(key.value) is str for key in keys):  # a text is equal to texts only
            self.test(f"[*{name}] == {self.named([key.value for key in keys])}")
        elif kind is dict and children:
            self.test(f"[*map({self.named(told)}, {name})] == {self.named([told(key.value) for key in keys])}")

    def held(self, value: str, skeleton: Any, given: Any) -> None:
        """A structure in a place has the containers it had, and the leaves that stay what they are."""
        name = f"s{len(self.lines)}"
        self.lines.append(f"{name} = {value}")
        if skeleton is None:
            leaf = next(given)
            if leaf is not ANEW:
                self._fixed(name, fingerprint(leaf))
            return
        self.containers.append(name)
        self._container(name, skeleton)
        kind, keys, children = skeleton
        self.in_places += [] if kind is tuple else [name]
        for n, child in enumerate(children):
            self.held(f"{name}[{self.named(keys[n].value) if kind is dict else n}]", child, given)

    def _leaf(self, name: str, leaf: Leaf) -> None:
        if leaf.dtype is None:
            self._fixed(name, leaf.fixed)
        elif leaf.is_number:
            self.test(f"type({name}) is {leaf.fixed.__name__}")
            self.test("True" if leaf.fixed is float else f"{-(1 << 63)} <= {name} < {1 << 63}")
        else:
            self.test(f"isinstance({name}, Tensor)")
            self._tensor(f"{name}.array", leaf.type)

    def _fixed(self, name: str, print_: Any) -> None:
        kind = print_[0]
        if kind in _BY_VALUE:
            self.test(f"type({name}) is {self.named(kind)} and {name} == {self.named(print_[1])}")
        elif isinstance(print_, Itself):  # that object is kept
            self.test(f"id({name}) == {print_.id} and type({name}) is {self.named(kind)}")
        else:
            self.test(f"fingerprint_({name}) == {self.named(print_)}")

    def _tensor(self, array: str, of: Type) -> None:
        shape = f"h{len(self.lines)}"
        self.lines.append(f"a = {array}; {shape} = a.shape")
        self.test(f"a.dtype is {self.named(of.dtype.numpy)}")
        if all(isinstance(d, int) for d in of.shape):
            self.test(f"{shape} == {of.shape!r}")
            return
        self.test(f"len({shape}) == {len(of.shape)}")
        for n, d in enumerate(of.shape):
            here = f"{shape}[{n}]"
            known = str(d) if isinstance(d, int) else self.extents.setdefault(d, here)
            self.test(f"{here} == {known}" if known != here else f"{here} > 1")

    def guards(self, guards: Sequence[Guard]) -> None:
        """What was read at capture is what it was; where that is not plain to see, the guard looks."""
        outside = {id(c) for guard in guards for c in changeable(guard.kept)} if self.changeable else ()
        if outside:  # an argument is none of what is read otherwise
            self.test(f"{self.named(outside)}.isdisjoint(({', '.join(f'id({n})' for n in self.changeable)},))")
        for guard in guards:
            access = self._access(guard)
            quick = self._quick(access, guard) if access else ""
            slow = f"{self.named(guard.holds)}()"
            self.test(f"({quick}) or {slow}" if quick else slow)

    def _access(self, guard: Guard) -> str:
        if guard.source is None:
            return ""
        kind, owner, name = guard.source
        if kind == "attribute":
            if guard.kept is MISSING:
                return f"getattr({self.named(owner)}, {name!r}, MISSING)"
            held = self._in_a_layer(owner, name, guard.kept)
            return held or (f"{self.named(owner)}.{name}" if name.isidentifier() else "")
        of = self.named(owner)
        key = self.named(name)
        found = {
            "item": f"{of}[{key}]",
            "found": f"{of}.get({key}, MISSING)",
            "captured": f"{of}.captured_as()",
            "length": f"len({of})",
        }
        return found.get(kind, of)

    def _in_a_layer(self, owner: Any, name: str, kept: Any) -> str:
        """A parameter, sublayer or buffer where a layer keeps it: `__getattr__` of a layer takes longer."""
        if kept is MISSING or isinstance(getattr(type(owner), name, None), property) or name in getattr(owner, "__dict__", ()):
            return ""
        for place in ("_parameters", "_sub_layers", "_buffers"):
            held = getattr(owner, "__dict__", {}).get(place)
            if type(held) is dict and held.get(name) is kept:
                return f"{self._layer(owner, place)}[{name!r}]"
        return ""

    def _layer(self, owner: Any, place: str) -> str:
        known = self.extents.setdefault(f"{id(owner)}.{place}", f"p{len(self.lines)}")
        if not any(line.startswith(f"{known} =") for line in self.lines):
            self.lines.append(f"{known} = {self.named(owner.__dict__)}[{place!r}]")
        return known

    def _quick(self, access: str, guard: Guard) -> str:
        """A condition that is enough; empty if there is none."""
        kept = guard.kept
        same = f"(x := {access}) is {self.named(kept)}"
        if guard.source is not None and guard.source[0] == "kinds":
            return self._kinds(access, guard.source[1])
        if isinstance(kept, _WITH_CONTENT) and guard.loose:
            return same if id(kept) in guard.loose else ""
        if isinstance(kept, types.FunctionType):
            if kept.__defaults__ is not None and not _plain(kept.__defaults__):
                return ""
            is_itself = guard.source is not None and guard.source[1] is kept and access in self.objects
            return self._function(access, kept) if is_itself else f"{same} and {self._function('x', kept)}"
        if isinstance(kept, types.MethodType) and _plain(kept.__func__.__defaults__ or ()):
            bound = f"(x := {access}).__self__ is {self.named(kept.__self__)} and (f := x.__func__) is "
            return f"{bound}{self.named(kept.__func__)} and {self._function('f', kept.__func__)}"
        if guard.source is not None and guard.source[0] == "layers":
            return self._items(f"{self.named(guard.source[2])}({self.named(guard.source[1])})", kept)
        if isinstance(kept, types.BuiltinMethodType):
            bound = f"(x := {access}).__self__ is {self.named(kept.__self__)} and x.__name__ == {kept.__name__!r}"
            return f"{bound} and type(x) is {self.named(types.BuiltinMethodType)}"
        if isinstance(kept, _WITH_CONTENT):
            return self._content(same, kept)
        if isinstance(kept, _LOOKED_INTO) or hasattr(type(kept), "is_same_as") or _is_memory(kept):
            return ""
        return same

    def _function(self, name: str, kept: Any) -> str:
        parts = (("__code__", kept.__code__), ("__defaults__", kept.__defaults__), ("__kwdefaults__", kept.__kwdefaults__))
        named = kept.__kwdefaults__ or {}
        if not _plain((*named, *named.values())):
            return "False"
        found = [f"{name}.{part} is {self.named(value)}" for part, value in parts]
        if named:
            of = self.named(named)
            found += [f"len({of}) == {len(named)}", *(f"{of}.get({key!r}) is {self.named(v)}" for key, v in named.items())]
        return " and ".join(found)

    def _content(self, same: str, kept: Any) -> str:
        """The same items in the same places, by identity, and in each container among them."""
        inside = _containers(kept)
        if inside is None or sum(map(len, inside)) > _SMALL:
            return ""
        changeable = [container for container in inside if type(container) is not tuple]
        return " and ".join([same, *(self._items("x" if c is kept else self.named(c), c) for c in changeable)])

    def _kinds(self, name: str, container: Any) -> str:
        """The same keys in a container of which each call reads what it holds; of what is none of that the same objects."""
        if type(container) not in (list, dict) or len(container) > _SMALL:
            return ""
        items = list(container.items() if isinstance(container, dict) else enumerate(container))
        others = [(key, value) for key, value in items if liftable(value) is None]
        if not all(_known_by_identity(value) for _, value in others):
            return ""
        first = f"len({name}) == {len(items)}"
        if isinstance(container, dict):
            self.keys[id(container)] = [id(key) for key, _ in items]
            first = f"[*map(id, {name})] == {self.named(self.keys[id(container)])}"
        return " and ".join([first, *(f"{name}[{self.named(key)}] is {self.named(value)}" for key, value in others)])

    def _items(self, name: str, kept: Any) -> str:
        """The same objects in the same places."""
        items = _items_of(kept)
        self.named(items)  # whose ids stay theirs
        listed = f"{self.named(list.__iter__)}({name})" if isinstance(kept, list) and type(kept) is not list else name
        found = f"(*{name}, *{name}.values())" if isinstance(kept, dict) else listed
        return f"[*map(id, {found})] == {self.named([id(item) for item in items])}"

    def rest(self, variant: Any) -> None:
        """All else that a variant depends on: the default dtype, tensors and values it reads, which arguments these may be."""
        captured = variant.captured
        self.test(f"default_dtype_[0] is {self.named(variant.default)}")
        if captured.taped is not None:
            self.test(f"{'' if captured.taped else 'not '}{self.named(mode)}.recording")
        for tensor, was in variant.lifted:
            self._lifted(self.named(tensor), was)
        for held in captured.held.values():
            self.held(self.found(held), held.skeleton, iter(held.leaves))
        if self.in_places:
            self._own_containers(captured)
        self._reads(captured)
        self._apart(captured)
        if captured.standing is not None:
            held = self.named(captured.standing)
            self.test(f"{held}.now([{', '.join(self.leaves)}]) == {held}.kept")
        lifted = self.named({id(tensor) for tensor, _ in variant.lifted})
        for name in self.leaves if variant.lifted else ():
            self.test(f"id({name}) not in {lifted}")
        for n, tensor in captured.aliases:
            self.test(f"{self.leaves[n]} is {self.named(tensor)}")
        for answered in captured.answered:
            places = [self._asked(captured, *source) for source in answered.question.sources]
            self.test(f"bool({answered.question.text.format(*places)}) is {answered.answer}")

    def _own_containers(self, captured: Any) -> None:
        """Lists and dicts in places are none that the call knows otherwise."""
        given = "".join(f"{name}, " for name in self.changeable)
        slow = f"{self.named(captured.own_containers)}(({given}))"
        known = [c for guard in captured.guards for c in changeable(guard.kept)]
        if any(guard.loose for guard in captured.guards):  # what these hold may be another one by now
            self.test(slow)
            return
        ids = "".join(f"id({name}), " for name in self.in_places)
        apart = f"len({{{ids}{''.join(f'id({name}), ' for name in self.changeable)}}}) == "
        apart += str(len(self.in_places) + len(self.changeable))
        self.test(f"{apart} and {self.named({id(c) for c in known})}.isdisjoint(({ids})) or {slow}")

    def _asked(self, captured: Any, kind: str, n: int) -> str:
        """A number that a question is about."""
        if kind == "argument":
            return self.leaves[n]
        if kind == "told":
            return f"{self.named(captured.told[n].read)}([{', '.join(self.leaves)}]).item()"
        return self.found(captured.reads[n])

    def found(self, place: Any) -> str:
        """What is found in a place, at the end of the path that begins there."""
        if isinstance(place.read, functools.partial) and place.read.func is item_or_missing:
            container, key = place.read.args
            return (
                f"{self.named(container)}[{self.named(key)}]"
                if type(container) in (list, dict)
                else f"{self.named(place.read)}()"
            )
        owner, attribute = place.attribute or (None, "")
        path = "".join(f"[{key if type(key) is int else self.named(key)}]" for key in place.path)
        return f"{self.named(owner)}.{attribute}{path}" if attribute.isidentifier() else f"{self.named(place.read)}()"

    def _reads(self, captured: Any) -> None:
        """What is read anew at each call is of the types that are read."""
        if captured.reads:
            self.lines.append("extents = {}")
        for read in captured.reads:
            self.test(f"{self.named(read.fits)}(extents)")

    def _apart(self, captured: Any) -> None:
        if any(not read.type.python for read in captured.reads):
            self.test(f"{self.named(captured.tells_apart)}([{', '.join(self.leaves)}])")

    def _lifted(self, held: str, was: Type) -> None:
        self.test(f"{held}.array.shape == {was.shape!r} and {held}.array.dtype is {self.named(was.dtype.numpy)}")

    def function(self) -> Matches:
        """The function, compiled."""
        body = "".join(f"        {line}\n" for line in self.lines)
        text = f"def matches(values):\n    try:\n{body}        return [{', '.join(self.leaves)}]\n"
        text += "    except (AttributeError, LookupError, ValueError, TypeError, ArithmeticError):\n        return None\n"
        exec(text, self.objects)
        found: Matches = self.objects["matches"]
        return found


def _plain(values: tuple[Any, ...]) -> bool:
    return all(type(v) in (*_BY_VALUE, float) for v in values)


def _items_of(container: Any) -> list[Any]:
    plain = list.__iter__(container) if isinstance(container, list) else container
    return [*container, *container.values()] if isinstance(container, dict) else [*plain]


def _containers(kept: Any, around: tuple[int, ...] = ()) -> list[Any] | None:
    """A container and those in it; None where one is inside itself, or holds what a guard looks into."""
    if id(kept) in around or len(kept) > _SMALL:
        return None
    found = [kept]
    for item in _items_of(kept):
        if isinstance(item, _WITH_CONTENT):
            inside = _containers(item, (*around, id(kept)))
            if inside is None:
                return None
            found += inside
        elif not _known_by_identity(item):
            return None
    return found


def _known_by_identity(item: Any) -> bool:
    """Whether a guard looks at nothing in an item but which one it is, or it cannot change."""
    if type(item) in (*_BY_VALUE, float):
        return True
    inside = (*_LOOKED_INTO, types.FunctionType, types.BuiltinMethodType)
    return not isinstance(item, inside) and not hasattr(type(item), "is_same_as") and not _is_memory(item)


def _is_memory(value: Any) -> bool:
    return type(value).__name__ in ("ndarray", "bytearray", "array", "deque", "memoryview")
