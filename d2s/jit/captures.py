"""The captures of a static function: which stands for a call, and what is captured where none does.

In: the leaves of a call. Out: a variant, kept among those that calls look at first; why it had to be captured.

>>> double = d2s.to_static(lambda x: x * 2.0)
>>> for x in ([1.0], [1.0, 2.0], [[1.0]]):
...     _ = double(d2s.to_tensor(x))
>>> len(double.variants), len(double.recompiles())
(3, 2)
"""

import contextlib
import inspect
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from d2s import convert, forks
from d2s.capture.answers import MOST, QuestionKey, described
from d2s.capture.held import containers_held
from d2s.capture.locks import Turn, acting, locks_of, together, with_turns
from d2s.capture.tree import changeable
from d2s.capture.users_code import at_users_line
from d2s.errors import CaptureError, D2SError
from d2s.jit import signature
from d2s.jit.binding import Binds
from d2s.jit.forms import LIMIT, LOOKED_AT, Forms
from d2s.jit.leaving import left_to_eager
from d2s.jit.quick import Quick
from d2s.jit.recompiles import reason, refuse_recompile
from d2s.jit.signature import InputSpec, Key
from d2s.jit.variant import Variant
from d2s.stages import stage
from d2s.types import Type

NO_ANSWERS: Mapping[QuestionKey, bool] = types.MappingProxyType({})
MOST_TRIED = LIMIT + MOST  # captures whose runs may find other answers, in one call: then it is eager code's


class CaptureWarning(UserWarning):
    """A function made static runs as plain Python: with full_graph=False, or for it is captured again and again."""


class Captures(Binds):
    """Methods of `StaticFunction`."""

    variants: list[tuple[Key, Variant]]
    quick: list[Quick]  # of the variants looked at first, where they have it
    forms: Forms
    stays_open: bool  # whether extents that input_spec leaves open must be open in the Program: files want that
    log: list[str]

    def _variant(self, leaves: list[Any], skeleton: Any, values: tuple[Any, ...]) -> Variant:
        """The variant that stands for a call, captured if there is none."""
        return with_turns(lambda turn: self._standing(leaves, skeleton, values, turn))

    def _standing(self, leaves: list[Any], skeleton: Any, values: tuple[Any, ...], turn: Turn | None) -> Variant:
        arguments = self._arguments(values)
        given = changeable(list(arguments.values()))[1:]
        self._refuse_twins(given)
        names = self._names(arguments)
        call = signature.key_of(leaves, skeleton, names)
        with self._capturing(turn):
            for n, (key, variant) in enumerate(self.variants):
                if key.fits(call) and not variant.changed(leaves):
                    self._refuse_twins(given, variant)
                    if variant.matches is None:
                        variant.write_check(leaves)
                    self.variants.insert(0, self.variants.pop(n))
                    self.forms.add(values, variant)
                    self._choose_quick()
                    return variant
            why = "first call"
            if self.variants:
                why = reason(self.variants, call, leaves, names)
                self._note(why, again=turn is not None)
            else:
                stage("recompiles", f"{self.__name__}: {why}")
            variant = self._capture(call, leaves, names, self._specs(values))
            self._refuse_twins(given, variant)
        return variant

    def _answering(self, tried: Sequence[tuple[Variant, int]], leaves: list[Any], values: tuple[Any, ...]) -> Variant:
        """The capture for what runs of others found, each at a question of tensors in its place; none of these."""
        return with_turns(lambda turn: self._assuming(tried, leaves, values, turn))

    def _assuming(
        self, tried: Sequence[tuple[Variant, int]], leaves: list[Any], values: tuple[Any, ...], turn: Turn | None
    ) -> Variant:
        (variant, place), answers = tried[-1], dict[QuestionKey, bool]()
        for one, ended in tried:
            *before, last = one.captured.assumed[: ended + 1]
            answers |= {asked.known_by: asked.answer for asked in before} | {last.known_by: not last.answer}
        with self._capturing(turn):
            others = [v for key, v in self.variants if key == variant.key and all(v is not one for one, _ in tried)]
            found = next((v for v in others if v.assumes(answers) and not v.changed(leaves)), None)
            if found is None:
                asked = variant.captured.assumed[place]
                self._note(f"{described(asked.where)}: {asked.answer} → {not asked.answer}", again=turn is not None)
                return self._keep(self._made(variant.key, leaves, self._names(self._arguments(values)), answers))
            if found.matches is None:
                found.write_check(leaves)
        self._first(found, leaves)
        return found

    def _turn(self) -> Turn | None:
        """The turn of all that is captured: of a call that is none of it, but changes the same."""
        return together([variant.turn for _, variant in list(self.variants)])

    @contextlib.contextmanager
    def _capturing(self, awaited: Turn | None = None) -> Iterator[None]:
        """Nobody else captures in a `with` block, and no call of another thread changes what this function does."""
        while True:
            turn = together([self._turn(), awaited])
            with acting(turn), forks.capturing:
                if set(locks_of(self._turn())) <= set(locks_of(turn)):
                    yield
                    return

    def _first(self, variant: Variant, leaves: list[Any]) -> None:
        """A variant that was used just now comes first; it is made quick where it has run before."""
        with self._capturing():
            # at once: a list that is being sorted is empty for other threads
            self.variants[:] = sorted(self.variants, key=lambda pair: pair[1] is not variant)
            if variant.is_slow:
                variant.hasten(self.function, self.signature(), leaves)
            self._choose_quick()

    def _choose_quick(self) -> None:
        """Of the variants looked at first, those that have a quick way; behind these what leaves calls to eager code."""
        asked = [variant for _, variant in self.variants[:LOOKED_AT]]
        standing = [*(variant for variant in asked if variant.matches), *self.forms.known()]
        left = None
        if len(self.log) >= LIMIT and not self.stays_open and all(v.quick and v in asked for v in standing):
            left = left_to_eager(self.function, self.signature(), self.forms, self._turn())
        self.quick[:] = [way for way in (*(variant.quick for variant in asked), left) if way]

    def _note(self, why: str, again: bool) -> None:
        """Why the function is captured again; where that is made anew, it is known."""
        if again:
            return
        self.log.append(why)
        refuse_recompile(self.__name__, why, self._line())
        stage("recompiles", f"{self.__name__}: {why}")
        if len(self.log) == LIMIT:
            self._warn_of_many(why)

    def _warn_of_many(self, why: str) -> None:
        """That the function is captured again and again: once, when captures begin to go."""
        message = f"'{self.__name__}' was captured {LIMIT + 1} times ({why}), and {LIMIT} captures are kept: "
        message += "most calls from now on that are like none of them run as plain Python"
        hint = "make what changes a tensor or a float; recompiles() lists all reasons"
        at_users_line(warnings.warn)(f"{message}\n  way out: {hint}", CaptureWarning)

    def _refuse_twins(self, given: Sequence[Any], variant: Variant | None = None) -> None:
        """A list that the function knows by two names is one: a graph would take it for two."""
        guards = variant.captured.guards if variant and given else []
        seen = {id(container) for guard in guards for container in changeable(guard.kept)}
        seen |= {id(held) for held in containers_held(list(variant.captured.held.values()))} if variant and given else set()
        for container in given:
            if id(container) in seen:
                message = f"'{self.__name__}' is given a {type(container).__name__} that it also knows otherwise"
                raise CaptureError("D2S1003", message, where=self._line(), hint="give it a copy")
            seen.add(id(container))

    def _capture(self, call: Key, leaves: list[Any], names: list[str], specs: Sequence[InputSpec | None]) -> Variant:
        keys = signature.candidates(call, [old for old, _ in self.variants], specs, names, self.stays_open)
        for key in keys:
            try:
                variant = self._made(key, leaves, names)
                if key == keys[-1] or self.stays_open or self._complains_rightly(variant, keys[-1], leaves, names):
                    return self._keep(variant)
            except D2SError as error:
                if key == keys[-1]:
                    raise (error.at(self._line()) if isinstance(error, CaptureError) else error) from error.__cause__
                continue  # code that asks for an extent's number, or for an argument's, is captured once for each
        raise AssertionError("unreachable")

    def _complains_rightly(self, variant: Variant, known: Key, leaves: list[Any], names: list[str]) -> bool:
        """Whether runs complain of arguments, and of extents, only as they would if all numbers were known."""
        doubts = variant.captured.doubts()
        known_too = doubts and self._made(known, leaves, names).captured.doubts()
        return doubts <= known_too

    def _made(self, key: Key, leaves: list[Any], names: list[str], answers: Mapping[QuestionKey, bool] = NO_ANSWERS) -> Variant:
        """A new variant. Files hold what stands for all numbers and tensors: for them no question is answered."""
        varying: dict[Any, Any] = {}
        was: dict[Any, list[Type]] = {}
        for _, known in self.variants:
            varying |= known.varying()
            for place, of in known.found():
                was.setdefault(place, []).append(of)
        assumed = None if self.stays_open else answers
        return Variant(self._python, self.__name__, key, leaves, names, assumed, varying, was)

    def _keep(self, variant: Variant) -> Variant:
        """The variant, among those that calls may run from now on."""
        for _, gone in self.variants[LIMIT - 1 :]:
            self.forms.forget(gone)
        self.variants[LIMIT - 1 :] = []
        self.variants.insert(0, (variant.key, variant))
        self._choose_quick()
        return variant

    def _python(self, arguments: dict[str, Any]) -> Any:
        """The function as a capture runs it."""
        bound = inspect.BoundArguments(self.signature(), arguments)  # type: ignore[arg-type]
        return convert.call(self.function)(*bound.args, **bound.kwargs)

    def _line(self) -> str:
        code = getattr(self.function, "__code__", None)
        return f"{code.co_filename}:{code.co_firstlineno}" if code else ""
