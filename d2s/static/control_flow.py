"""Control flow as calls: `cond`, `while_loop`, `case`, `switch_case`; and calls of Python, `py_func` and `Print`.

In: conditions and functions without arguments, or of the loop's variables. Out: what they return, joined. Where code computes
at once these are Python's own `if` and `while`.

>>> i, total = while_loop(lambda i, t: i < 3, lambda i, t: [i + 1, t + i], [d2s.to_tensor(0), d2s.to_tensor(0)])
>>> total.item(), cond(i > 2, lambda: "late", lambda: "early")
(3, 'late')
"""

from collections.abc import Callable, Sequence
from typing import Any

from d2s.arguments import expect
from d2s.capture.tree import flatten, rebuild
from d2s.capture.users_code import refuse, user_line
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError
from d2s.ops.compare import cast, equal
from d2s.ops.dispatch import handling
from d2s.ops.shape import reshape
from d2s.static.program import declaring, in_dynamic_mode
from d2s.static.recording import Recording
from d2s.static.variable import Called, Variable
from d2s.types import bool_

Arm = Callable[[], Any]


def cond(
    pred: Any, true_fn: Arm | None = None, false_fn: Arm | None = None, name: str | None = None, return_names: Any = None
) -> Any:
    """What `true_fn` returns where `pred` holds, else what `false_fn` does."""
    for argument, given in (("true_fn", true_fn), ("false_fn", false_fn)):
        expect("cond", argument, given, Callable | None, "a function")
    arms = [given or _nothing for given in (true_fn, false_fn)]
    if pred is None or isinstance(pred, str):
        raise DTypeError("D2S0001", f"cond(): 'pred' expects a bool Tensor, got {type(pred).__name__}")
    if not isinstance(pred, Variable):
        return arms[0]() if pred else arms[1]()
    recording = declaring("cond")
    regions, results = zip(
        *(_recorded(recording, name, arm) for name, arm in zip(("then", "otherwise"), arms, strict=True)), strict=True
    )
    return joined(recording, pred, regions, results)


def joined(recording: Recording, pred: Variable, regions: Sequence[Recording], results: Sequence[Any]) -> Any:
    """What two recorded paths return, by which of them a run takes."""
    (first, skeleton), (second, other) = (flatten(result) for result in results)
    if skeleton != other:
        refuse("D2S1002", "the functions of a cond() return structures that differ", "return as many tensors from both")
    outputs = [_joined(regions, pair) for pair in zip(first, second, strict=True)]
    reads, (then, otherwise) = recording.adopt(regions, [[p[k] for p in outputs if p[2] is None] for k in (0, 1)])
    types = [v.type for v in then.outputs]
    if types != [v.type for v in otherwise.outputs]:
        listed = " and ".join(str([v.type for v in region.outputs]) for region in (then, otherwise))
        refuse("D2S1002", f"the functions of a cond() return {listed}", "return tensors of one dtype and shape from both")
    made = iter(recording.add("cond", [recording.resolve(truth(pred)), *reads], types, {"then": then, "otherwise": otherwise}))
    return rebuild(skeleton, [next(made) if p[2] is None else p[2][0] for p in outputs])


def _nothing() -> None:
    """What there is to do without a function."""


def _recorded(recording: Recording, name: str, arm: Arm) -> tuple[Any, Any]:
    region = recording.region(name)
    recording.where = region.where = user_line()
    with handling(region):
        return region, arm()


def _joined(regions: Sequence[Any], pair: Sequence[Any]) -> tuple[Any, Any, Any]:
    """A pair of results as symbols of their regions; what is no value of run time, and the same on both paths, as it is."""
    if not any(isinstance(one, Variable | Tensor) for one in pair) and pair[0] == pair[1]:
        return None, None, (pair[0],)
    found = []
    for region, one in zip(regions, pair, strict=True):
        if not isinstance(one, Variable | Tensor | bool | int | float):
            refuse(
                "D2S1002", f"a function of a cond() returns a {type(one).__name__}, by the path a run takes", "return tensors"
            )
        with handling(region):
            found.append(region.symbol_of(one))
    return found[0], found[1], None


def truth(pred: Variable) -> Variable:
    """A condition as one bool."""
    if any(d != 1 for d in pred.value.type.shape):
        refuse("D2S1001", f"the truth of {pred.value.type}: only one element can be true or false", "reduce it first")
    return pred if pred.dtype is bool_ else cast(pred, bool_)


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, is_test: bool = False, name: str | None = None
) -> Any:
    """`loop_vars = body(*loop_vars)` as long as `cond(*loop_vars)` holds; what they are in the end."""
    expect("while_loop", "cond", cond, Callable, "a function")
    expect("while_loop", "body", body, Callable, "a function")
    expect("while_loop", "loop_vars", loop_vars, list | tuple, "a list")
    if not loop_vars:
        raise ArgumentError("D2S0004", "while_loop(): 'loop_vars' is empty")
    if in_dynamic_mode():
        return _looped(cond, body, loop_vars)
    recording = declaring("while_loop")
    leaves, skeleton = flatten(loop_vars)
    carried = [recording.symbol_of(leaf) for leaf in leaves]
    asking, trip = [recording.region(name) for name in ("test", "body")]
    asking.where = trip.where = recording.where = user_line()
    with handling(asking):
        answer = _asked(asking.symbol_of(cond(*rebuild(skeleton, _inputs(asking, carried)))))
    with handling(trip):
        ends = _as_variables(trip, body(*rebuild(skeleton, _inputs(trip, carried))), len(carried), carried)
    reads, (test, made) = recording.adopt([asking, trip], [[answer], ends])
    inputs = [recording.resolve(s) for s in carried]
    attrs = {"test": test, "body": made, "carries": len(carried)}
    types = [v.type for v in inputs]
    if [v.type for v in made.outputs] != types:
        listed = ", ".join(f"{v.type} becomes {t.type}" for v, t in zip(inputs, made.outputs, strict=True) if v.type != t.type)
        refuse("D2S1002", f"a variable of a while_loop() changes its kind: {listed}", "keep dtype and shape")
    return rebuild(skeleton, recording.add("while_loop", [*inputs, *reads], types, attrs))


def _asked(answer: Variable) -> Variable:
    """Whether a loop goes on, which is to be a bool."""
    if answer.dtype is not bool_:
        raise DTypeError("D2S0001", f"while_loop(): 'cond' returns {answer.value.type}, expected one bool", hint="i < n")
    return truth(answer)


def _looped(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any) -> Any:
    """The loop where code computes at once."""
    while cond(*loop_vars):
        found = body(*loop_vars)
        found = found if isinstance(found, list | tuple) else [found]
        if len(found) != len(loop_vars):
            raise ArgumentError("D2S0004", f"while_loop(): 'body' returns {len(found)} values for {len(loop_vars)} variables")
        loop_vars = type(loop_vars)(found)
    return loop_vars


def _inputs(region: Any, carried: Sequence[Variable]) -> list[Variable]:
    return [region.input(s.value.type, f"carried_{n}") for n, s in enumerate(carried)]


def _as_variables(region: Any, result: Any, count: int, carried: Sequence[Variable]) -> list[Variable]:
    leaves, _ = flatten(list(result) if isinstance(result, list | tuple) else [result])
    if len(leaves) != count:
        raise ArgumentError("D2S0004", f"while_loop(): 'body' returns {len(leaves)} values for {count} variables")
    found = [region.symbol_of(leaf) for leaf in leaves]
    return [shaped(now, before) for now, before in zip(found, carried, strict=True)]


def shaped(now: Variable, before: Variable) -> Variable:
    """A value of one element in the shape of the variable it becomes: [] and [1] were one in older code."""
    have, want = now.value.type.shape, before.value.type.shape
    return reshape(now, list(want)) if have != want and {have, want} <= {(), (1,)} else now  # type: ignore[no-any-return]


def case(pred_fn_pairs: Any, default: Arm | None = None, name: str | None = None) -> Any:
    """What the function of the first condition that holds returns, else `default`, which else is the last function.

    >>> d2s.static.nn.case([(d2s.to_tensor(False), lambda: 1), (d2s.to_tensor(True), lambda: 2)])
    2
    """
    expect("case", "pred_fn_pairs", pred_fn_pairs, list | tuple, "a list of pairs")
    pairs = list(pred_fn_pairs)
    if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 and callable(pair[1]) for pair in pairs):
        raise DTypeError("D2S0001", "case(): 'pred_fn_pairs' expects pairs (condition, function)")
    if default is None:
        default = pairs.pop()[1]
    expect("case", "default", default, Callable, "a function")
    return _first(pairs, default)


def _first(pairs: Sequence[tuple[Any, Arm]], default: Arm) -> Any:
    if not pairs:
        return default()
    (pred, function), *rest = pairs
    return cond(pred, function, lambda: _first(rest, default))


def switch_case(branch_index: Any, branch_fns: Any, default: Arm | None = None, name: str | None = None) -> Any:
    """What the function of that index returns, else `default`, which else is that of the largest index.

    >>> d2s.static.nn.switch_case(d2s.to_tensor(1), [lambda: "zero", lambda: "one"])
    'one'
    """
    expect("switch_case", "branch_fns", branch_fns, list | tuple | dict, "a list or dict of functions")
    listed = list(branch_fns.items()) if isinstance(branch_fns, dict) else list(branch_fns)
    pairs = [pair if isinstance(pair, tuple) else (n, pair) for n, pair in enumerate(listed)]
    if not pairs or not all(len(p) == 2 and isinstance(p[0], int) and callable(p[1]) for p in pairs):
        raise DTypeError("D2S0001", "switch_case(): 'branch_fns' expects functions, or pairs (int, function)")
    if len({index for index, _ in pairs}) < len(pairs):
        raise ArgumentError("D2S0004", "switch_case(): 'branch_fns' has two functions for one index")
    last = max(pairs, key=lambda pair: pair[0])[1] if default is None else default
    expect("switch_case", "default", last, Callable, "a function")
    expect("switch_case", "branch_index", branch_index, Variable | Tensor | int, "an integer Tensor")
    if not isinstance(branch_index, Variable):
        return next((function for index, function in pairs if index == int(branch_index)), last)()
    return _first([(equal(branch_index, index), function) for index, function in pairs], last)


# --- calls of Python ---------------------------------------------------------------------------------------------------------


def py_func(
    func: Callable[..., Any], x: Any, out: Any, backward_func: Any = None, skip_vars_in_backward_input: Any = None
) -> Any:
    """Calls `func` with tensors in each run. `out` are variables that say what it returns; they then stand for it.

    A gradient passes by way of `backward_func`, which gets x, what `func` returned, and the gradients of that, but for the
    variables that are to be skipped, and returns the gradients of x.
    """
    recording = declaring("py_func")
    expect("py_func", "func", func, Callable, "a function")
    expect("py_func", "backward_func", backward_func, Callable | None, "a function")
    given, declared = _listed("x", x), _listed("out", out)
    inputs = [recording.symbol_of(v) for v in given]
    skipped = _listed("skip_vars_in_backward_input", skip_vars_in_backward_input)
    told = [n for n, v in enumerate((*given, *declared)) if not any(v is one for one in skipped)]
    made = recording.host(func, inputs, [recording.symbol_of(v).value.type for v in declared])
    if backward_func is not None:
        recording.calls.append(Called(backward_func, inputs, made, told))
    for variable, result in zip(declared, made, strict=True):
        variable.recorder, variable.value = result.recorder, result.value
    return out


def _listed(argument: str, given: Any) -> list[Any]:
    found = [] if given is None else list(given) if isinstance(given, list | tuple) else [given]
    for one in found:
        expect("py_func", argument, one, Variable | Tensor, "variables")
    return found


def Print(
    input: Any,
    first_n: int = -1,
    message: str | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_layout: bool = True,
    print_tensor_lod: bool = True,
    print_phase: str = "both",
) -> Any:
    """Prints a tensor in each run, or the first `first_n` of them; returns it."""
    expect("Print", "input", input, Variable | Tensor, "a tensor")
    expect("Print", "message", message, str | None, "a str")
    if not isinstance(input, Variable):
        print("" if message is None else message, input)
        return input
    count = [0]
    name = input.name

    def show(tensor: Tensor) -> None:
        count[0] += 1
        if not 0 <= first_n < count[0]:
            shown = {
                f"Variable: {name}": print_tensor_name,
                f"  - message: {message}": bool(message),
                "  - lod: {}": print_tensor_lod,
                "  - place: Place(cpu)": True,
                f"  - shape: {tensor.shape}": print_tensor_shape,
                "  - layout: NCHW": print_tensor_layout,
                f"  - dtype: {tensor.dtype.name}": print_tensor_type,
                f"  - data: {_in_a_row(tensor, summarize)}": True,
            }
            print("\n".join(line for line, wanted in shown.items() if wanted))

    declaring("Print").host(show, [input], [])
    return input


def _in_a_row(tensor: Tensor, count: int) -> str:
    """The first values, as Paddle prints them."""
    flat = tensor.numpy().reshape(-1)
    listed = flat.tolist() if count < 0 else flat.tolist()[:count]
    texts = [f"{v:.6g}" if isinstance(v, float) else str(int(v)) for v in listed]
    return f"[{' '.join(texts)}{'...' if len(listed) < len(flat) else ''}]"
