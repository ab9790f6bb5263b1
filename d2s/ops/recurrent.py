"""Cells that read a sequence step by step, all steps in one kernel, and their gradients in another.

In: for each step what a step makes of its input (its gates, [batch, steps, gates * size], or steps first), the weight that
leads from a state to the gates, [size, gates * size], and the state before the first step. Out: the state behind every step; of
an "lstm" two planes, of states and of cells. Behind `lengths` steps of a sequence its state stays as it is; a sequence read in
reverse begins with its last step. Sequences do not meet: threads share them.

The law of its bits: products are one fma per k in ascending k, whatever block of sequences a thread takes.

>>> from d2s.types import float32
>>> gates, weight, start = Type(float32, ("b", "t", 8)), Type(float32, (2, 8)), Type(float32, ("b", 2))
>>> recurrent_.infer([gates, weight, start, start], {"cell": "lstm", "reverse": False, "time_major": False, "masked": False})
(f32[2,b,t,2], f32[b,t,8])
"""

from collections.abc import Sequence
from typing import Any

from d2s.errors import ArgumentError
from d2s.ops.arrange import transpose
from d2s.ops.matmul import matmul_rows
from d2s.ops.op import Share, op
from d2s.ops.reduce import sum
from d2s.ops.shapes import fitting
from d2s.ops.softmax import floats
from d2s.types import Dim, Shape, Type

GATES = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}
SAVED = {"lstm": 4, "gru": 4, "tanh": 1, "relu": 1}  # what the gradient reads of a step, in sizes of a state
ROWS = 32  # sequences a thread takes at a time


@op(paddle=None)
def recurrent_(gates, weight, start, *more, cell: str, reverse: bool = False, time_major: bool = False, masked: bool = False):
    """The states of a cell behind every step; behind them what the gradient reads.

    `more` are the first cells of an "lstm", the bias of a "gru" on its way from state to gates, and, where `masked`, lengths.

    >>> one = d2s.ones([1, 3, 1])
    >>> d2s.ops.recurrent.recurrent_(one, d2s.ones([1, 1]), d2s.zeros([1, 1]), cell="relu")[0].numpy().reshape([3])
    array([1., 2., 3.], dtype=float32)
    """


@recurrent_.rule("infer")
def _(gates, weight, start, *more, cell, reverse, time_major, masked):
    tensors = [gates, weight, start, *more[: len(more) - masked]]
    floats("recurrent", *tensors)
    _agreeing(gates, weight, start, more, cell, time_major, masked)
    size = start.shape[-1]
    states: Shape = (*gates.shape[:2], size)
    saved = (*gates.shape[:2], _times(SAVED[cell], size))
    return Type(gates.dtype, (2, *states) if cell == "lstm" else states), Type(gates.dtype, saved)


@recurrent_.rule("requires")
def _(gates, weight, start, *more, cell, reverse, time_major, masked):
    return _agreeing(gates, weight, start, more, cell, time_major, masked)


def _agreeing(
    gates: Type, weight: Type, start: Type, more: Sequence[Type], cell: str, time_major: bool, masked: bool
) -> list[tuple[Dim, Dim]]:
    """The extents that are to be the same: those of the states and of the batch."""
    size, batch = start.shape[-1], gates.shape[time_major]
    wanted: list[Shape] = [(size, _times(GATES[cell], size)), (batch, size)]
    wanted += [(batch, size)] if cell == "lstm" else [wanted[0][1:]] if cell == "gru" else []
    wanted += [(batch,)] if masked else []
    names = ("weight", "start", *["more"] * len(more))
    given = zip(names, (weight, start, *more), wanted, strict=True)
    return [pair for name, t, shape in given for pair in fitting("recurrent", name, t.shape, shape)]


def _times(count: int, size: Any) -> Any:
    if isinstance(size, str):
        raise ArgumentError("D2S0004", f"recurrent(): the size of a state is {size}, expected one that is known")
    return count * size


def _frame(gates: Type, start: Type, time_major: bool) -> tuple[list[Shape], str, Share]:
    """Extents, the text of where rows lie, and how sequences are shared."""
    axes = [gates.shape[time_major : time_major + 1], gates.shape[1 - time_major : 2 - time_major], start.shape[-1:]]
    apart = "1" if time_major else "n1"
    share = Share(f"(n0 + {ROWS - 1}) // {ROWS}", f"1 + 524288 // (1 + n1 * n2 * n2 * {ROWS})")
    return axes, f"apart, width, plane = {apart}, n2 * GATES, n0 * n1 * n2\n", share


def _step(reverse: bool, time_major: bool) -> dict[str, str]:
    """Text: the step t that comes as number s, the row of a block's first sequence at t, and the row before it."""
    row, back = ("t * n0 + first", "n0") if time_major else ("first * n1 + t", "1")
    return {"t": "n1 - 1 - s" if reverse else "s", "row": row, "before": f"row {'+' if reverse else '-'} {back}"}


def _counted(text: str, cell: str) -> str:
    return text.replace("GATES", str(GATES[cell])).replace("SAVED", str(SAVED[cell])).replace("ROWS", str(ROWS))


def _indented(text: str, steps: int) -> str:
    return "".join(f"{'    ' * steps}{line}\n" for line in text.splitlines())


# --- forward -----------------------------------------------------------------------------------------------------------------

_LSTM = """\
copy_bytes(at(cells, 0), cells_before + i * behind * SIZE, n2 * SIZE)
for gate in range(3):
    to = gate * n2 if gate < 2 else 3 * n2
    for j in range(n2):
        out1[here * 4 + to + j] = vm.sigmoid(gates[here * 4 + to + j] + hidden[i * width + to + j])
for j in range(n2):
    out1[here * 4 + 2 * n2 + j] = vm.tanh(gates[here * 4 + 2 * n2 + j] + hidden[i * width + 2 * n2 + j])
for j in range(n2):
    cell = out1[here * 4 + n2 + j] * cells[j] + out1[here * 4 + j] * out1[here * 4 + 2 * n2 + j]
    out[plane + here + j] = cell
    out[here + j] = out1[here * 4 + 3 * n2 + j] * vm.tanh(cell)
"""
_GRU = """\
copy_bytes(at(cells, 0), states_before + i * behind * SIZE, n2 * SIZE)
for j in range(2 * n2):
    out1[here * 4 + j] = vm.sigmoid(gates[here * 3 + j] + (hidden[i * width + j] + more0[j]))
for j in range(n2):
    out1[here * 4 + 3 * n2 + j] = hidden[i * width + 2 * n2 + j] + more0[2 * n2 + j]
for j in range(n2):
    new = vm.tanh(gates[here * 3 + 2 * n2 + j] + out1[here * 4 + j] * out1[here * 4 + 3 * n2 + j])
    out1[here * 4 + 2 * n2 + j] = new
    out[here + j] = (cells[j] - new) * out1[here * 4 + n2 + j] + new
"""
_PLAIN = """\
for j in range(n2):
    v = gates[here + j] + hidden[i * width + j]
    out[here + j] = {function}
    out1[here + j] = T(0)
"""
_STEPS = {"lstm": _LSTM, "gru": _GRU, "tanh": _PLAIN.format(function="vm.tanh(v)")}
_STEPS["relu"] = _PLAIN.format(function="T(0) if v <= T(0) else v")
_STAYS = """\
copy_bytes(at(out, here), states_before + i * behind * SIZE, n2 * SIZE)
for j in range(n2 * SAVED):
    out1[here * SAVED + j] = T(0)
"""
_CELLS_STAY = "copy_bytes(at(out, plane + here), cells_before + i * behind * SIZE, n2 * SIZE)\n"


def _length(cell: str) -> str:
    """What the lengths are called in a kernel."""
    return "more1" if cell in ("lstm", "gru") else "more0"


def _done(cell: str, masked: bool, stays: str) -> str:
    """One sequence's step: made, or where the sequence is over, left as it is."""
    if not masked:
        return _STEPS[cell]
    return f"if t < int64({_length(cell)}[first + i]):\n{_indented(_STEPS[cell], 1)}else:\n{_indented(stays, 1)}"


@recurrent_.rule("kernel")
def _(gates, weight, start, *rest, cell, reverse, time_major, masked):
    extents, head, share = _frame(gates, start, time_major)
    lstm, step, short = cell == "lstm", _step(reverse, time_major), gates.dtype.short
    body = f"""\
{head}memory = new_memory(SIZE * (ROWS * width + n2))
if memory == 0: r[o[fault]] = 1
hidden, cells = {short}_in(memory), {short}_in(memory + SIZE * ROWS * width)
for piece in range(lo, hi if memory != 0 else lo):
    first = piece * ROWS
    rows = least(ROWS, n0 - first)
    for s in range(n1):
        t = {step["t"]}
        row = {step["row"]}
        behind = n2 if s == 0 else apart * n2
        states_before = at(start, first * n2) if s == 0 else at(out, ({step["before"]}) * n2)
{"        cells_before = at(more0, first * n2) if s == 0 else at(out, plane + (" + step["before"] + ") * n2)" if lstm else ""}
        product(rows, width, n2, states_before, behind, 1, at(weight, 0), width, memory, width, 0)
        for i in range(rows):
            here = (row + i * apart) * n2
{_indented(_done(cell, masked, _STAYS + (_CELLS_STAY if lstm else "")), 3)}\
free_memory(memory)
"""
    return extents, _counted(body, cell), share


@recurrent_.rule("fault")
def _(value, gates, *inputs, cell, reverse, time_major, masked):
    return ArgumentError("D2S0004", f"recurrent(): there is no memory for a block of {gates}")


@recurrent_.rule("vjp")
def _(g, out, gates, weight, start, *more, cell, reverse, time_major, masked):
    found: list[Any] = []
    how = {"cell": cell, "reverse": reverse, "time_major": time_major, "masked": masked}

    def pulled(n):
        def cotangent():
            if not found:
                found.extend(recurrent_grad(g, transpose(weight, (1, 0)), start, *out, gates, *more, **how))
            return found[n]

        return cotangent

    of_hidden = pulled(3 if cell == "gru" else 0)
    own = {"lstm": (pulled(3),), "gru": (lambda: sum(of_hidden(), (0, 1)),)}.get(cell, ())
    return pulled(0), lambda: matmul_rows(pulled(2)(), of_hidden()), pulled(1), *own, *([None] if masked else [])


# --- gradients ---------------------------------------------------------------------------------------------------------------


@op(paddle=None)
def recurrent_grad(
    cotangent,
    weight,
    start,
    states,
    saved,
    gates,
    *more,
    cell: str,
    reverse: bool = False,
    time_major: bool = False,
    masked: bool = False,
):
    """The gradients of `recurrent_`: of gates and first states; then the state before every step, and what is a cell's own.

    That is the gradient of the first cells of an "lstm", and of what came from the state to the gates of a "gru". The weight
    is transposed. The gates are not read, but for the gradient of this.

    >>> one, states = d2s.ones([1, 2, 1]), d2s.to_tensor([[[1.0], [2.0]]])
    >>> found = d2s.ops.recurrent.recurrent_grad(one, d2s.ones([1, 1]), d2s.zeros([1, 1]), states, states, one, cell="relu")
    >>> found[0].numpy().reshape([2])
    array([2., 1.], dtype=float32)
    """


@recurrent_grad.rule("infer")
def _(cotangent, weight, start, states, saved, gates, *more, cell, reverse, time_major, masked):
    (width, size), steps = weight.shape, saved.shape[:2]
    gates, before = Type(saved.dtype, (*steps, width)), Type(saved.dtype, (*steps, size))
    return gates, start, before, *{"lstm": (start,), "gru": (gates,)}.get(cell, ())


@recurrent_grad.rule("fault")
def _(value, cotangent, *inputs, cell, reverse, time_major, masked):
    how = {"cell": cell, "reverse": reverse, "time_major": time_major, "masked": masked}
    return recurrent_.rules["fault"](value, cotangent, **how)


_LSTM_BACK = """\
for j in range(n2):
    enter, keep = saved[here * 4 + j], saved[here * 4 + n2 + j]
    new, leave = saved[here * 4 + 2 * n2 + j], saved[here * 4 + 3 * n2 + j]
    shown, total = vm.tanh(states[plane + here + j]), cotangent[here + j] + so_far[i * n2 + j]
    cell = cotangent[plane + here + j] + cells_so_far[i * n2 + j] + total * leave * (T(1) - shown * shown)
    out[here * 4 + j] = cell * new * (enter * (T(1) - enter))
    out[here * 4 + n2 + j] = cell * cells_were[i * behind + j] * (keep * (T(1) - keep))
    out[here * 4 + 2 * n2 + j] = cell * enter * (T(1) - new * new)
    out[here * 4 + 3 * n2 + j] = total * shown * (leave * (T(1) - leave))
    cells_so_far[i * n2 + j] = cell * keep
    so_far[i * n2 + j] = T(0)
"""
_GRU_BACK = """\
for j in range(n2):
    forget, keep = saved[here * 4 + j], saved[here * 4 + n2 + j]
    new, held = saved[here * 4 + 2 * n2 + j], saved[here * 4 + 3 * n2 + j]
    total = cotangent[here + j] + so_far[i * n2 + j]
    inner = (total - total * keep) * (T(1) - new * new)
    out[here * 3 + j] = inner * held * (forget * (T(1) - forget))
    out[here * 3 + n2 + j] = total * (were[i * behind + j] - new) * (keep * (T(1) - keep))
    out[here * 3 + 2 * n2 + j] = inner
    out3[here * 3 + j] = inner * held * (forget * (T(1) - forget))
    out3[here * 3 + n2 + j] = total * (were[i * behind + j] - new) * (keep * (T(1) - keep))
    out3[here * 3 + 2 * n2 + j] = inner * forget
    so_far[i * n2 + j] = total * keep
"""
_PLAIN_BACK = """\
for j in range(n2):
    v, total = states[here + j], cotangent[here + j] + so_far[i * n2 + j]
    out[here + j] = {slope}
    so_far[i * n2 + j] = T(0)
"""
_BACK = {"lstm": _LSTM_BACK, "gru": _GRU_BACK, "tanh": _PLAIN_BACK.format(slope="total * (T(1) - v * v)")}
_BACK["relu"] = _PLAIN_BACK.format(slope="total if v > T(0) else T(0)")
_PASSED = """\
for j in range(n2):
    so_far[i * n2 + j] = cotangent[here + j] + so_far[i * n2 + j]
for j in range(width):
    out[here * GATES + j] = T(0)
"""
_MORE_PASSED = {
    "lstm": "for j in range(n2):\n    cells_so_far[i * n2 + j] = cotangent[plane + here + j] + cells_so_far[i * n2 + j]\n",
    "gru": "for j in range(width):\n    out3[here * 3 + j] = T(0)\n",
}


def _undone(cell: str, masked: bool) -> str:
    if not masked:
        return _BACK[cell]
    passed = _PASSED + _MORE_PASSED.get(cell, "")
    return f"if t < int64({_length(cell)}[first + i]):\n{_indented(_BACK[cell], 1)}else:\n{_indented(passed, 1)}"


@recurrent_grad.rule("kernel")
def _(cotangent, weight, start, states, saved, gates, *rest, cell, reverse, time_major, masked):
    extents, head, share = _frame(saved, start, time_major)
    lstm, step, short = cell == "lstm", _step(reverse, time_major), saved.dtype.short
    cells = f"cells_were = {short}_in(at(more0, first * n2) if s == 0 else at(states, plane + ({step['before']}) * n2))"
    body = f"""\
{head}memory = new_memory(SIZE * 2 * ROWS * n2)
if memory == 0: r[o[fault]] = 1
so_far, cells_so_far = {short}_out(memory), {short}_out(memory + SIZE * ROWS * n2)
for piece in range(lo, hi if memory != 0 else lo):
    first = piece * ROWS
    rows = least(ROWS, n0 - first)
    for j in range(2 * ROWS * n2):
        so_far[j] = T(0)
    for back in range(n1):
        s = n1 - 1 - back
        t = {step["t"]}
        row = {step["row"]}
        behind = n2 if s == 0 else apart * n2
        were = {short}_in(at(start, first * n2) if s == 0 else at(states, ({step["before"]}) * n2))
{"        " + cells if lstm else ""}
        for i in range(rows):
            here = (row + i * apart) * n2
            copy_bytes(at(out2, here), at(were, i * behind), n2 * SIZE)
{_indented(_undone(cell, masked), 3)}\
        slopes = at({"out3" if cell == "gru" else "out"}, row * width)
        product(rows, n2, width, slopes, apart * width, 1, at(weight, 0), n2, memory, n2, 1)
    copy_bytes(at(out1, first * n2), memory, rows * n2 * SIZE)
{"    copy_bytes(at(out3, first * n2), at(cells_so_far, 0), rows * n2 * SIZE)" if lstm else ""}
free_memory(memory)
"""
    return extents, _counted(body, cell), share
