"""What is known on a path of the tags that say which of several a value is.

In: what conditions say of tags, and by which paths tags came to be. Out: what a tag can be where some of that is so.

>>> facts = Facts()
>>> facts.imply(1, True, [Fact(7, frozenset({0}))])  # where condition 1 holds, tag 7 is 0
>>> facts.imply(1, False, [Fact(7, frozenset({1, 2}))])
>>> for when, places in ((True, [0]), (False, [1])):  # tag 8 was joined of the paths of that condition
...     facts.come(8, when, Coming(facts.consequences(1, when), None, [frozenset(places)]))
>>> sorted(facts.possible(8, frozenset({0, 1}), [Fact(7, frozenset({2}))]))
[1]
"""

from collections.abc import Iterable
from typing import NamedTuple


class Fact(NamedTuple):
    """The tag with this number is one of these."""

    tag: int
    among: frozenset[int]


class Coming(NamedTuple):
    """A path that a tag came by: what is so on it, the tag it was there, if any, and what the numbers of that became."""

    facts: list[Fact]
    inner: int | None
    places: list[frozenset[int]]


class Facts:
    """Of conditions and tags, which are told by numbers: equal computations have one."""

    def __init__(self) -> None:
        self._implied: dict[tuple[int, bool], dict[Fact, None]] = {}
        self._comings: dict[int, dict[bool, Coming]] = {}
        self._questions: dict[frozenset[tuple[int, frozenset[int]]], _Question] = {}

    def imply(self, test: int, when: bool, facts: Iterable[Fact]) -> None:
        """Notes what is so where a condition is `when`."""
        self._implied.setdefault((test, when), {}).update(dict.fromkeys(facts))

    def consequences(self, test: int, when: bool) -> list[Fact]:
        return list(self._implied.get((test, when), ()))

    def come(self, tag: int, when: bool, coming: Coming) -> None:
        """Notes how a tag came by the path on which the condition was `when` that it was joined by."""
        self._comings.setdefault(tag, {})[when] = coming

    def possible(self, tag: int, among: frozenset[int], facts: Iterable[Fact]) -> frozenset[int]:
        """What of `among` a tag can be where these facts are so."""
        told: dict[int, frozenset[int]] = {}
        for fact in facts:
            told[fact.tag] = told.get(fact.tag, fact.among) & fact.among
        key = frozenset(told.items())
        if key not in self._questions:
            self._questions[key] = _Question(self._comings, told)
        return self._questions[key].of(tag, among) if told else among


class _Question:
    """What tags can be where something is told of some; each is looked into once."""

    def __init__(self, comings: dict[int, dict[bool, Coming]], told: dict[int, frozenset[int]]) -> None:
        self._comings, self._told = comings, told
        self._asked: set[int] = set()

    def of(self, tag: int, among: frozenset[int]) -> frozenset[int]:
        comings = self._comings.get(tag, {}) if tag not in self._asked else {}
        self._asked.add(tag)
        if len(comings) == 2:
            open_ = [c for c in comings.values() if all(self.of(f.tag, f.among) for f in c.facts)]
            by_path: frozenset[int] = frozenset().union(*map(self._by, open_))
            self._told[tag] = self._told.get(tag, by_path) & by_path
        return among & self._told.get(tag, among)

    def _by(self, coming: Coming) -> frozenset[int]:
        """What a tag can be that came by a path."""
        met = frozenset(range(len(coming.places)))
        if coming.inner is not None:
            met = self.of(coming.inner, met)
        return frozenset().union(*(coming.places[k] for k in met))
