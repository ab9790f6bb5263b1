"""`fluid.layers.While` and `Switch`: a loop and branches whose bodies are what is declared in `with` blocks.

In: a condition, and what is written in the block - by `assign`, `increment`, `less_than(cond=)` and the like. Out: a loop or
branches of the program; the variables written are what these leave.

>>> from d2s.compat.fluid_creation import fill_constant, increment, less_than
>>> d2s.enable_static()
>>> with d2s.static.program_guard(d2s.static.Program()):
...     i, end = fill_constant([1], "int64", 0), fill_constant([1], "int64", 3)
...     go_on = less_than(i, end)
...     with While(go_on).block():
...         _ = less_than(increment(i), end, cond=go_on)
...     found = d2s.static.Executor().run(d2s.static.default_main_program(), fetch_list=[i])
>>> d2s.disable_static()
>>> found[0].tolist()
[3]
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from d2s.arguments import expect
from d2s.capture.tree import flatten, rebuild
from d2s.capture.users_code import refuse, user_line
from d2s.compat.blocks import writing
from d2s.compat.fluid_creation import put
from d2s.eager import assign as assigned
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError
from d2s.ops import logic
from d2s.ops.dispatch import handling
from d2s.static import control_flow
from d2s.static.control_flow import shaped, truth
from d2s.static.program import declaring, in_dynamic_mode
from d2s.static.recording import Recording, Variable
from d2s.types import bool_


class While:
    """What is declared in `block()` is run again as long as `cond` holds, which the block writes."""

    def __init__(self, cond: Any, is_test: bool = False, name: str | None = None) -> None:
        expect("While", "cond", cond, Variable, "a variable")
        self.cond = cond

    @contextlib.contextmanager
    def block(self) -> Iterator[None]:
        """The body."""
        outer = declaring("While")
        trip = outer.region("body")
        outer.where = trip.where = user_line()
        with writing(trip) as written, handling(trip):
            yield
        pairs = written.taken_back()
        variables = [variable for variable, _ in pairs]
        if not any(variable is self.cond for variable in variables):
            refuse("D2S1002", "the block of a While does not write its condition", "less_than(i, n, cond=cond) at its end")
        for variable, result in zip(variables, _looped(outer, trip, self.cond, pairs), strict=True):
            put(result, written.written(variable))


def _looped(outer: Recording, trip: Recording, cond: Variable, pairs: Sequence[tuple[Variable, Variable]]) -> Any:
    """The loop's results."""
    begins = [outer.resolve(variable) for variable, _ in pairs]
    inside = [trip.captured.pop(value, None) or trip.input(value.type, "carried").value for value in begins]
    trip.builder.inputs = inside + [value for value in trip.builder.inputs if value not in inside]
    asking = outer.region("test")
    asked = [asking.input(value.type, "carried") for value in begins]
    with handling(asking):
        answer = truth(next(a for a, (variable, _) in zip(asked, pairs, strict=True) if variable is cond))
    with handling(trip):
        ends = [shaped(end, variable) for variable, end in pairs]
    types = [value.type for value in begins]
    for (variable, _), end, of in zip(pairs, ends, types, strict=True):
        if end.value.type != of:
            message = f"'{variable.name}' is {of} and becomes {end.value.type} in the block of a While"
            refuse("D2S1002", message, "keep dtype and shape")
    reads, (test, body) = outer.adopt([asking, trip], [[answer], ends])
    return outer.add("while_loop", [*begins, *reads], types, {"test": test, "body": body, "carries": len(begins)})


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, is_test: bool = False, name: str | None = None
) -> Any:
    """`loop_vars = body(*loop_vars)` as long as `cond(*loop_vars)` holds. Declared variables are the loop's behind it, too.

    >>> d2s.enable_static()
    >>> with d2s.static.program_guard(d2s.static.Program()):
    ...     i = d2s.full([1], 0, "int64")
    ...     (last,) = while_loop(lambda i: i < 3, lambda i: [i + 1], [i])
    ...     found = d2s.static.Executor().run(d2s.static.default_main_program(), fetch_list=[i + 10])
    >>> d2s.disable_static()
    >>> found[0].tolist(), last is i
    ([13], True)
    """
    if in_dynamic_mode() or not isinstance(loop_vars, list | tuple) or not loop_vars:
        return control_flow.while_loop(cond, body, loop_vars, is_test, name)
    leaves, skeleton = flatten(loop_vars)
    leaves = [leaf if isinstance(leaf, Tensor) else declaring("while_loop").symbol_of(leaf) for leaf in leaves]
    held = rebuild(skeleton, leaves)
    goes_on = cond(*held)
    if not isinstance(goes_on, Variable) or goes_on.dtype is not bool_:
        raise DTypeError("D2S0001", "while_loop(): 'cond' returns no bool of the program", hint="layers.less_than(i, n)")
    with While(goes_on).block():
        given = body(*held)
        given = given if isinstance(given, list | tuple) else [given]
        found, _ = flatten(given)
        if len(found) != len(leaves):
            message = f"while_loop(): 'body' returns {len(found)} values for {len(leaves)} variables"
            raise ArgumentError("D2S0004", message)
        asked = cond(*given)
        now = [assigned.assign(value) for value in (*found, asked)]  # before any is another
        for value, variable in zip(now, (*leaves, goes_on), strict=True):
            put(value, variable)
    return held


class Switch:
    """Of several blocks, what the one of the first condition that holds writes.

    >>> from d2s.compat.fluid_creation import fill_constant
    >>> d2s.enable_static()
    >>> with d2s.static.program_guard(d2s.static.Program(), d2s.static.Program()):
    ...     x = d2s.static.data("x", [1])
    ...     rate = d2s.static.create_global_var([1], 0.0, "float32", True)
    ...     with Switch() as switch:
    ...         with switch.case(x < 1.0):
    ...             _ = fill_constant([1], "float32", 0.5, out=rate)
    ...         with switch.default():
    ...             _ = fill_constant([1], "float32", 0.25, out=rate)
    ...     exe = d2s.static.Executor()
    ...     ran = exe.run(d2s.static.default_startup_program())
    ...     runs = [exe.run(feed={"x": np.array([v], "float32")}, fetch_list=[rate]) for v in (0, 2)]
    >>> d2s.disable_static()
    >>> [found[0].item() for found in runs]
    [0.5, 0.25]
    """

    def __init__(self, name: str | None = None) -> None:
        self._left: Any = None  # whether no case so far has held

    def __enter__(self) -> "Switch":
        return self

    def __exit__(self, *_: Any) -> None:
        """All is declared."""

    @contextlib.contextmanager
    def case(self, condition: Any) -> Iterator[None]:
        """What is done where the condition holds, and none before did."""
        expect("Switch.case", "condition", condition, Variable, "a variable")
        holds = truth(condition)
        mine = holds if self._left is None else logic.logical_and(self._left, holds)
        self._left = logic.logical_not(holds) if self._left is None else logic.logical_and(self._left, logic.logical_not(holds))
        with _branch(mine):
            yield

    @contextlib.contextmanager
    def default(self) -> Iterator[None]:
        """What is done where no condition holds."""
        if self._left is None:
            raise ArgumentError("D2S0004", "Switch.default(): there is no case before it", hint="switch.case(condition) first")
        with _branch(self._left):
            yield


def cond(
    pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None, name: Any = None
) -> Any:
    """What one of two functions returns. Variables that it writes are others behind it, where a run takes that path.

    >>> from d2s.compat.fluid_creation import assign
    >>> d2s.enable_static()
    >>> with d2s.static.program_guard(d2s.static.Program()):
    ...     x, seen = d2s.static.data("x", [1]), d2s.full([1], 0.0)
    ...     _ = cond(x > 1.0, lambda: assign(x * 2.0, seen), lambda: x)
    ...     exe, main = d2s.static.Executor(), d2s.static.default_main_program()
    ...     runs = [exe.run(main, feed={"x": np.array([v], "float32")}, fetch_list=[seen])[0] for v in (0, 3)]
    >>> d2s.disable_static()
    >>> [found.tolist() for found in runs]
    [[0.0], [6.0]]
    """
    if not isinstance(pred, Variable):
        return control_flow.cond(pred, true_fn, false_fn, name)
    outer, arms = declaring("cond"), []
    for path, function in (("then", true_fn), ("otherwise", false_fn)):
        expect("cond", "true_fn" if path == "then" else "false_fn", function, Callable | None, "a function")
        region = outer.region(path)
        outer.where = region.where = user_line()
        with writing(region) as written, handling(region):
            leaves, skeleton = flatten(function() if function else None)
            result = rebuild(skeleton, [Variable(v.recorder, v.value) if isinstance(v, Variable) else v for v in leaves])
        arms.append((region, result, written, written.taken_back()))
    variables = {id(variable): (variable, written) for *_, written, pairs in arms for variable, _ in pairs}
    results = []
    for region, result, _, pairs in arms:
        ends = {id(variable): end for variable, end in pairs}
        with handling(region):
            now = [shaped(ends.get(key, variable), variable) for key, (variable, _) in variables.items()]
        results.append((result, now))
    found, ends = control_flow.joined(outer, pred, [arm[0] for arm in arms], results)
    for (variable, written), end in zip(variables.values(), ends, strict=True):
        put(end, written.written(variable))
    return found


@contextlib.contextmanager
def _branch(holds: Variable) -> Iterator[None]:
    """What is written in the `with` block is so where a condition holds."""
    outer = declaring("Switch")
    then, otherwise = outer.region("then"), outer.region("otherwise")
    outer.where = then.where = otherwise.where = user_line()
    with writing(then) as written, handling(then):
        yield
    pairs = written.taken_back()
    with handling(then):
        ends = [shaped(end, variable) for variable, end in pairs]
    stay = [variable for variable, _ in pairs]
    for variable, end in zip(stay, ends, strict=True):
        if end.value.type != variable.value.type:
            message = f"'{variable.name}' is {variable.value.type} and becomes {end.value.type} in a case of a Switch"
            refuse("D2S1002", message, "keep dtype and shape")
    reads, (first, second) = outer.adopt([then, otherwise], [ends, stay])
    types = [v.value.type for v in stay]
    made = outer.add("cond", [outer.resolve(holds), *reads], types, {"then": first, "otherwise": second})
    for variable, result in zip(stay, made, strict=True):
        put(result, written.written(variable))
