"""`verify` and CHECK=2 find what is computed wrong, and name the first node that is, its line and both values; else nothing.

One kernel, one pass, one step of a plan, one rule of a gradient or one node of a capture is broken on purpose, on the static
way only. `# here` is the line that must be named, with the node that a case says; without breaking, both checkers are silent.
"""

import ctypes
import inspect
import re
import types

import numpy as np
import pytest

import d2s
from d2s import passes
from d2s.autodiff import program as gradients
from d2s.errors import MismatchError
from d2s.ir.program import Node, Program, in_regions
from d2s.nn import functional as F
from d2s.ops.recording import Recorder
from d2s.passes import drop_identities
from d2s.runtime import executor, frames, plan

_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)


def f32(*shape, grad=False):
    return d2s.to_tensor(np.linspace(-1.0, 2.0, int(np.prod(shape))).astype("float32").reshape(shape), stop_gradient=not grad)


def x23():
    return [f32(2, 3)]


def line_of(function):
    lines, first = inspect.getsourcelines(function)
    return first + next(n for n, text in enumerate(lines) if "# here" in text)


def chain(x):
    y = x * 2.0
    y = d2s.exp(y)  # here
    return (y + 1.0) * y


def reduction(x):
    return (x * 2.0).sum(axis=1) - 1.0  # here


def reduction_of_much(x):
    y = d2s.exp(x)
    return d2s.nn.functional.softmax(y * 2.0) + 1.0  # here


def softmax(x):
    return F.softmax(x) * 2.0  # here


def layer_norm(x):
    return F.layer_norm(x, [3]) * 2.0  # here


def cross_entropy(x, labels):
    return F.cross_entropy(x * 2.0, labels)  # here


def product(x, w, b):
    y = d2s.matmul(x, w)  # here
    return F.relu(y + b)


def epilogue(x, w, b):
    y = d2s.matmul(x, w)
    return F.relu(y + b) * 2.0  # here


def convolution(x, w):
    y = F.conv2d(x, w)  # here
    return F.relu(y)


def gathered(x, at):
    return d2s.gather(x, at) * 2.0  # here


def scattered(x, at, more):
    return d2s.scatter(x, at, more, overwrite=False) * 2.0  # here


def joined(x):
    y = d2s.concat([x, x * 2.0], axis=1)  # here
    return y[:, :4] + 1.0


def sliced(x):
    y = x[1:] * 2.0  # here
    return y.reshape([3]) + 1.0


def transposed(x):
    y = d2s.transpose(x, [1, 0])  # here
    return y * 2.0


def branch(x):
    y = x * 1.0
    if x.sum() > 0:
        y = d2s.matmul(y, y.t())
        y = d2s.exp(y)  # here
    else:
        y = d2s.matmul(y + 1.0, x.t())
    return y + 1.0


def loop(x, n):
    y, i = x, 0
    while i < n:
        y = d2s.matmul(y, y.t())
        y = d2s.tanh(y)  # here
        i = i + 1
    return y + 1.0


def tight(x, n):
    y, i = x, 0
    while i < n:  # here
        y = y * 1.5 + 1.0
        i = i + 1
    return y + 1.0


def lists(x, n):
    kept = []
    for i in range(n):
        y = d2s.matmul(x, x.t()) * i
        kept.append(d2s.exp(y))  # here
    return d2s.stack(kept).sum(axis=0)


def descended(x, n):
    if n < 1:
        return d2s.matmul(x, x.t())
    return d2s.tanh(descended(x * 2.0, n - 1))  # here


def recursion(x, n):
    return descended(x, n) + 1.0


def in_place(x):
    y = x * 2.0
    y.add_(x)  # here
    return y * y


def drawn(x):
    y = d2s.rand([2, 3])  # here
    return x + y


NORM = d2s.nn.BatchNorm1D(3)


def buffers(x):
    return NORM(x) * 2.0  # here


WEIGHT = d2s.create_parameter([3, 2], "float32")
SGD = d2s.optimizer.Momentum(0.1, parameters=[WEIGHT])


def update(x):
    loss = d2s.matmul(x, WEIGHT).sum()
    loss.backward()
    SGD.step()  # here
    SGD.clear_grad()
    return loss.detach()


def printed(x):
    y = x * 2.0
    print("seen", y)
    y = d2s.exp(y)  # here
    print(y)
    return y + 1.0


def mutated(x, held, box):
    y = d2s.exp(x)  # here
    held.append(y * 2.0)
    box["sum"] = y.sum()
    x.scale_(2.0)
    return y


def raised(x):
    y = d2s.exp(x)  # here
    if y.sum() > 1000.0:
        raise ValueError("too much")
    return y


def second_order(x):
    x = x.detach()
    x.stop_gradient = False
    (g,) = d2s.grad(d2s.tanh(x).sum(), x, create_graph=True)
    h = d2s.exp(g)  # here
    return d2s.grad(h.sum(), x)[0]


def twice(n):
    return [f32(2, 2), d2s.to_tensor(n)]


CASES = {  # the op that is broken, and what the function is given
    chain: ("exp", x23),
    reduction: ("sum", x23),
    reduction_of_much: ("softmax", lambda: [f32(64, 512)]),
    softmax: ("softmax", x23),
    layer_norm: ("layer_norm", x23),
    cross_entropy: ("class_entropy", lambda: [f32(2, 3), d2s.to_tensor([0, 2])]),
    product: ("matmul", lambda: [f32(2, 3), f32(3, 4), f32(4)]),
    epilogue: ("relu", lambda: [f32(2, 3), f32(3, 4), f32(4)]),
    convolution: ("conv", lambda: [f32(1, 2, 5, 5), f32(3, 2, 3, 3)]),
    gathered: ("gather", lambda: [f32(3, 2), d2s.to_tensor([2, 0])]),
    scattered: ("add_at", lambda: [f32(3, 2), d2s.to_tensor([2, 0]), f32(2, 2)]),
    joined: ("concat", x23),
    sliced: ("multiply", x23),
    transposed: ("transpose", x23),
    branch: ("exp", x23),
    loop: ("tanh", lambda: twice(3)),
    tight: ("while_loop", lambda: twice(3)),
    lists: ("exp", lambda: twice(3)),
    recursion: ("tanh", lambda: twice(3)),
    in_place: ("add", x23),
    drawn: ("uniform", x23),
    buffers: ("batch_norm", x23),
    update: ("update", x23),
    printed: ("exp", x23),
    mutated: ("exp", lambda: [f32(2, 3), [], {}]),
    raised: ("exp", x23),
    second_order: ("exp", x23),
}
BY_VERIFY = lambda function, args: d2s.jit.verify(function, *args)  # noqa: E731


def by_check(function, args):
    static = function if hasattr(function, "concrete_program") else d2s.to_static(function)
    with d2s.config(CHECK=2):
        found = static(*args)
        if isinstance(found, d2s.Tensor) and not found.stop_gradient:
            found.sum().backward()


CHECKERS = {"verify": BY_VERIFY, "CHECK=2": by_check}


@pytest.fixture(params=CHECKERS)
def checker(request):
    return CHECKERS[request.param]


def is_at(node, op, line):
    return op in (node.op, "any") and node.where.endswith(f"{__name__.rpartition('.')[2]}.py:{line}")


def damage(made, kept, op, line, handed_on):
    """What a plan's kernels give of an op of a line is wrong, and what a group makes of that where it is handed on."""
    for step, used in made.runs.items():
        inner = used.attrs["body"].nodes if used.op == "fused" else (used,)
        first = next((n for n, one in enumerate(inner) if is_at(one, op, line)), None)
        if first is None:
            continue
        places = made.places_of(used, int(made.steps[step, 2]) // 4)[len(used.inputs) :]
        body = used.attrs["body"].outputs if used.op == "fused" else used.outputs
        late = {v for one in inner[first : None if handed_on else first + 1] for v in one.outputs}
        if used.op == "update":
            places = made.operands[int(made.steps[step, 2]) // 4 :][:1].tolist()
        wrong = [(v.type, r) for v, r in zip(body, places, strict=False) if v in late]
        kernel = _KERNEL(int(made.steps[step, 1]))
        kept.append(inner[first].op)

        def broken(registers, operands, kernel=kernel, wrong=wrong):
            kernel(registers, operands)
            for of, r in wrong:
                address = int(frames.memory_at(registers, (r + 1,), d2s.types.Type(d2s.int64))[r])
                memory = frames.memory_at(address, (1,), of)
                memory[...] = ~memory if of.dtype.kind == "b" else memory + 1

        kept.append(_KERNEL(broken))
        made.steps[step, 1] = ctypes.cast(kept[-1], ctypes.c_void_p).value


@pytest.fixture
def breaking(monkeypatch):
    """Breaks the kernels of an op of a line."""
    kept, build = [], plan.build

    def broken(op, line, of=lambda program: True, handed_on=True):
        def built(program):
            made = build(program)
            if of(program):
                damage(made, kept, op, line, handed_on)
            return made

        monkeypatch.setattr(plan, "build", built)
        return kept  # what was broken, and what it was replaced by

    return broken


def said(error, op, line):
    text = str(error.value)
    assert re.search(rf"first in {op} at \S*test_checkers.py:{line}: ", text), text
    assert error.value.where.endswith(f"test_checkers.py:{line}")


@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
def test_nothing_is_said_of_what_is_right(case, checker):
    checker(case, CASES[case][1]())


@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
def test_a_wrong_kernel(case, checker, breaking):
    op, given = CASES[case]
    line = line_of(descended if case is recursion else case)
    breaking(op, line)
    with pytest.raises(MismatchError) as error:
        checker(d2s.to_static(case), given())
    said(error, op, line)


def read_by_the_gradient(x, n):
    y, i = x * 1.0, 0
    while i < n:
        y = d2s.exp(y * 0.5) + 1.0  # here
        i += 1
    return y


def test_a_wrong_value_that_only_the_gradient_reads(checker, breaking):
    line = line_of(read_by_the_gradient)
    breaking("exp", line, handed_on=False)
    with pytest.raises(MismatchError) as error:
        checker(d2s.to_static(read_by_the_gradient), [f32(64, 3, grad=True), d2s.to_tensor(3)])
    said(error, "exp", line)


SWEPT = [chain, reduction, softmax, layer_norm, product, epilogue, convolution, gathered, sliced, transposed]
SWEPT += [branch, loop, tight, lists, recursion, buffers, printed, raised]


@pytest.mark.parametrize("case", SWEPT, ids=lambda f: f.__name__)
def test_a_wrong_kernel_of_a_gradient(case, checker, breaking):
    line = line_of(descended if case is recursion else case)
    broken = breaking("any", line, lambda program: program.name.endswith("_grad"))
    given = CASES[case][1]()
    given[0].stop_gradient = False
    with pytest.raises(MismatchError) as error:
        checker(d2s.to_static(case), given)
    said(error, broken[0], line)


def ended(x):
    y = d2s.exp(x)
    if y.sum() > 1000.0:  # here
        raise ValueError("too much")
    return y


def test_a_wrong_end(checker, breaking):
    breaking("greater_than", line_of(ended))
    with pytest.raises(MismatchError) as error:
        checker(d2s.to_static(ended), x23())
    said(error, "greater_than", line_of(ended))


def test_a_wrong_pass_is_found_by_kernels_in_python(monkeypatch):
    monkeypatch.setitem(drop_identities._RULES, "exp", lambda node, inputs, numbers, made: inputs[0])
    with pytest.raises(MismatchError) as error, d2s.config(EXECUTOR="python"):
        by_check(chain, x23())
    said(error, "exp", line_of(chain))


OTHERS = {"exp": "tanh", "tanh": "exp", "add": "subtract", "multiply": "add", "relu": "tanh", "max": "sum"}
EXCHANGED = [case for case, (op, _) in CASES.items() if op in OTHERS]


@pytest.mark.parametrize("case", EXCHANGED, ids=lambda f: f.__name__)
def test_a_wrong_pass(case, checker, monkeypatch):
    """It takes one op for another."""
    op, given = CASES[case]
    line = line_of(descended if case is recursion else case)

    def otherwise(node):
        return Node(OTHERS[op], node.inputs, node.outputs, node.attrs, node.where) if is_at(node, op, line) else node

    def apply(program):
        nodes = tuple(otherwise(in_regions(node, apply)) for node in program.nodes)
        return Program(program.name, program.inputs, nodes, program.outputs)

    monkeypatch.setattr(passes, "LOWERING", (types.SimpleNamespace(__name__="wrong", apply=apply), *passes.LOWERING))
    with pytest.raises(MismatchError) as error:
        checker(d2s.to_static(case), given())
    said(error, op, line)


@pytest.mark.parametrize("case", [chain, second_order], ids=lambda f: f.__name__)
def test_a_pass_that_drops_what_does_something(case, checker, monkeypatch):
    op, given = CASES[case]
    monkeypatch.setitem(drop_identities._RULES, op, lambda node, inputs, numbers, made: inputs[0])
    with pytest.raises(MismatchError) as error:
        checker(d2s.to_static(case), given())
    said(error, op, line_of(descended if case is recursion else case))


def taken_wrongly(x):
    y = x * 1.0
    if x.sum() > 0:  # here
        y = d2s.matmul(y, x.t())
    else:
        y = d2s.matmul(y + 1.0, x.t())
    return y + 1.0


def not_carried(x, n):
    y, i = x, 0
    while i < n:  # here
        y = d2s.matmul(y, x.t())
        i = i + 1
    return y + 1.0


def not_kept(x, n):
    kept = []
    for i in range(n):
        kept.append(d2s.matmul(x, x.t()) * i)
    return d2s.stack(kept).sum(axis=0)  # here


STEPS = {  # the kind of step that is left out, and the node that is named
    taken_wrongly: (executor.JUMP_IF_FALSE, "cond", lambda: [f32(2, 3) - 2.0]),
    not_carried: (executor.MOVE, "while_loop", lambda: twice(3)),
    not_kept: (executor.PUSH, "list_stack", lambda: twice(3)),
}


@pytest.mark.parametrize("case", STEPS, ids=lambda f: f.__name__)
def test_a_step_of_a_plan_that_is_left_out(case, checker, monkeypatch):
    code, named, given = STEPS[case]
    build = plan.build

    def built(program):
        made = build(program)
        left_out = [n for n, step in enumerate(made.steps.tolist()) if step[0] == code and n > min(made.runs)]
        made.steps[left_out[:3]] = executor.MOVE, executor.TOP, executor.TOP, 0
        return made

    monkeypatch.setattr(plan, "build", built)
    with pytest.raises(MismatchError) as error:
        checker(d2s.to_static(case), given())
    said(error, named, line_of(case))


def test_a_wrong_rule_of_a_gradient(monkeypatch):
    pull = gradients.pull

    def otherwise(op, attrs, g, out, inputs, wanted, give):
        pull(op, attrs, g * 2.0 if op.name == "exp" else g, out, inputs, wanted, give)

    monkeypatch.setattr(gradients, "pull", otherwise)
    for case in (chain, branch, lists, printed, raised):
        given = CASES[case][1]()
        given[0].stop_gradient = False
        with pytest.raises(MismatchError) as error:
            d2s.jit.verify(d2s.to_static(case), *given)
        said(error, "multiply", line_of(case))


@pytest.mark.parametrize("case", EXCHANGED, ids=lambda f: f.__name__)
def test_a_wrong_capture(case, monkeypatch):
    op, given = CASES[case]
    line, add = line_of(descended if case is recursion else case), Recorder.add

    def otherwise(self, name, inputs, types, attrs):
        return add(self, OTHERS[op] if name == op and self.where.endswith(f":{line}") else name, inputs, types, attrs)

    monkeypatch.setattr(Recorder, "add", otherwise)
    with pytest.raises(MismatchError) as error:
        d2s.jit.verify(d2s.to_static(case), *given())
    said(error, op, line)


def tried(x, k):
    """What is noted is a number on some paths, so the list of the numbers has holes; the `while` asks a list by its test."""
    noted, sums, n = [], [], 0
    while n < 5:
        try:
            n += 1
            noted.append(n)
            sums.append(x.sum() * n)
            i = 0
            while i < len(sums) - 1 and sums[i] < k:
                i += 1
            if sums[i] + n < k:
                raise ValueError
            break
        except ValueError:
            noted.append("again")
    return noted, sums, i


@pytest.mark.parametrize("k", [0.0, 2.5, 99.0])
def test_lists_of_tries_pass_the_checks(k):
    with d2s.config(CHECK=2):
        assert (
            d2s.to_static(tried)(d2s.to_tensor([0.0]), d2s.to_tensor(k))[0] == tried(d2s.to_tensor([0.0]), d2s.to_tensor(k))[0]
        )


def test_an_op_that_fails_behind_a_change_on_one_path_passes_the_check():
    """Of such an end a run knows no more than that eager code makes the call."""
    counted = d2s.zeros([2])

    def f(x, n):
        if x.sum() > 0:
            counted.add_(x[0])
        return x + n

    static = d2s.to_static(f)
    with d2s.config(CHECK=2):
        for x in ([[1.0, 2.0]], [[-1.0, -2.0]], [[3.0, 5.0]]):
            with pytest.raises(d2s.errors.DTypeError, match="float32 and int64 do not mix"):
                static(d2s.to_tensor(x), d2s.to_tensor([1, 2]))
    assert counted.tolist() == [4.0, 7.0]
