"""`fluid.layers.StaticRNN`: what is declared in one `with` block, once for each step of sequences of a known length.

In: sequences `[steps, batch, ...]`, and memories, which each step updates. Out: what all steps gave, in the same form.

>>> d2s.enable_static()
>>> with d2s.static.program_guard(d2s.static.Program()):
...     x = d2s.static.data("x", [3, None, 1])
...     rnn = StaticRNN()
...     with rnn.step():
...         now = rnn.step_input(x)
...         total = rnn.memory(shape=[-1, 1], batch_ref=now)
...         rnn.update_memory(total, total + now)
...         rnn.step_output(total + now)
...     found = d2s.static.Executor().run(feed={"x": np.ones((3, 1, 1), "float32")}, fetch_list=[rnn()])
>>> d2s.disable_static()
>>> found[0].tolist()
[[[1.0]], [[2.0]], [[3.0]]]
"""

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from d2s.arguments import expect
from d2s.capture.users_code import refuse, user_line
from d2s.compat.fluid_creation import fill_constant_batch_size_like
from d2s.errors import ArgumentError
from d2s.ir.program import Node, Value
from d2s.ops.dispatch import handling
from d2s.ops.join import stack
from d2s.static.program import declaring
from d2s.static.recording import Recording, Variable
from d2s.types import Type


class StaticRNN:
    """Steps over sequences."""

    def __init__(self, name: str | None = None) -> None:
        self._body: Recording | None = None
        self._sequences: list[tuple[Variable, Variable]] = []  # what a step sees, and all of it
        self._memories: list[_Memory] = []
        self._outputs: list[Variable] = []
        self._made: list[Any] = []

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """What each step does."""
        outer = declaring("StaticRNN")
        self._body = outer.region("body")
        outer.where = self._body.where = user_line()
        with handling(self._body):
            yield
        for memory in self._memories:
            if memory.after is None:
                refuse("D2S1002", "a memory of a StaticRNN is not updated", "rnn.update_memory(memory, new)")
        self._made = self._unrolled(outer)

    def _inside(self, function: str) -> Recording:
        if self._body is None:
            raise ArgumentError("D2S0004", f"StaticRNN.{function}(): there is no step", hint="inside of `with rnn.step():`")
        return self._body

    def step_input(self, x: Any) -> Variable:
        """The part of a sequence that a step sees."""
        body = self._inside("step_input")
        expect("StaticRNN.step_input", "x", x, Variable, "a variable")
        of = x.value.type
        if not of.shape or not isinstance(of.shape[0], int):
            refuse("D2S1001", f"StaticRNN.step_input(): 'x' is {x!r}: its steps are not known", "give the first extent")
        if self._sequences and self._steps != of.shape[0]:
            refuse("D2S0002", f"StaticRNN.step_input(): 'x' has {of.shape[0]} steps, another input has {self._steps}")
        seen: Variable = body.input(Type(of.dtype, of.shape[1:]), "step")
        self._sequences.append((seen, x))
        return seen

    @property
    def _steps(self) -> Any:
        return self._sequences[0][1].value.type.shape[0]

    def memory(
        self,
        init: Any = None,
        shape: Sequence[int] | None = None,
        batch_ref: Any = None,
        init_value: float = 0.0,
        init_batch_dim_idx: int = 0,
        ref_batch_dim_idx: int = 1,
    ) -> Variable:
        """What the step before left: `init` at first, or one number in a shape, with the batch of another variable."""
        body = self._inside("memory")
        if init is None:
            if shape is None or batch_ref is None:
                raise ArgumentError("D2S0004", "StaticRNN.memory(): there is no 'init'", hint="give shape= and batch_ref=")
            whole = next((x for seen, x in self._sequences if seen is batch_ref), batch_ref)
            with handling(body.parent):  # type: ignore[arg-type]
                place = ref_batch_dim_idx, init_batch_dim_idx
                init = fill_constant_batch_size_like(whole, shape, "float32", init_value, *place)
        memory = _Memory(body.input(init.value.type, "memory"), init)
        self._memories.append(memory)
        return memory.now

    def update_memory(self, mem: Variable, var: Variable) -> None:
        """What the next step finds in a memory."""
        memory = next((m for m in self._memories if m.now is mem), None)
        if memory is None:
            raise ArgumentError("D2S0004", f"StaticRNN.update_memory(): {mem!r} is no memory", hint="rnn.memory() gives one")
        if var.value.type != mem.value.type:
            refuse(
                "D2S1002", f"a memory of a StaticRNN is {mem.value.type} and becomes {var.value.type}", "keep dtype and shape"
            )
        memory.after = var

    def step_output(self, o: Variable) -> None:
        """Something each step gives."""
        self._inside("step_output")
        self._outputs.append(o)

    def output(self, *outputs: Variable) -> None:
        """Several things each step gives."""
        for one in outputs:
            self.step_output(one)

    def __call__(self) -> Any:
        """What the steps gave, one behind the other along a new first axis."""
        if not self._made:
            raise ArgumentError("D2S0004", "StaticRNN(): no step gives anything", hint="rnn.step_output(x) in the step")
        return self._made[0] if len(self._made) == 1 else self._made

    # --- the steps, one behind the other

    def _unrolled(self, outer: Recording) -> list[Any]:
        body: Any = self._body
        given: list[Value] = [v.value for v, _ in self._sequences] + [m.now.value for m in self._memories]
        results: list[Any] = [*self._outputs, *(m.after for m in self._memories)]
        reads, (step,) = outer.adopt([body], [results])
        carried: list[Any] = [outer.symbol_of(m.first) for m in self._memories]
        steps = []
        for n in range(self._steps if self._sequences else 0):
            seen = [x[n] for _, x in self._sequences]
            one = step if n == 0 else step.copied()  # extents of all steps are those of the first
            known = dict(zip(step.inputs, one.inputs, strict=True))
            fed = dict(zip((known[v] for v in given), (outer.resolve(v) for v in (*seen, *carried)), strict=True))
            fed |= dict(zip((known[v] for v in step.inputs if v not in given), reads, strict=True))
            for node in one.nodes:
                inputs = tuple(fed.get(v, v) for v in node.inputs)
                outer.builder.nodes.append(Node(node.op, inputs, node.outputs, node.attrs, node.where))
            found = [Variable(outer, fed.get(v, v)) for v in one.outputs]
            steps.append(found[: len(self._outputs)])
            carried = found[len(self._outputs) :]
        return [stack(list(parts), 0) for parts in zip(*steps, strict=True)]


@dataclasses.dataclass(eq=False)
class _Memory:
    """What a step finds, what the first one finds, and what it leaves."""

    now: Variable
    first: Any
    after: Variable | None = None
