"""A product with the elementwise nodes behind it: two kernels, of which the first has the second do what it has finished.

What becomes of a part of the result is computed while that part is still in the near caches, by the thread that made it. The
product's own kernel is the same for all that may follow it; the follower is a kernel of elements, which costs little to make.
So no product is compiled again for an activation, and all bits are those of one kernel per op.

In: the body of a `fused` node whose first node's op has a rule `followed`. Out: text and extents, as `fused.lower` gives.

>>> from d2s.ir.text import parse
>>> nodes = "%0: f32[m,8] = matmul(x, y, transpose_x=False, transpose_y=False) %1: f32[m,8] = add(%0, z) return %1"
>>> body = parse("program f(x: f32[m,4], y: f32[4,8], z: f32[8]) -> (f32[m,8]) { " + nodes + " }")
>>> launch = lower(body)
>>> launch.text.splitlines()[-2].strip(), launch.follower.own, launch.follower.given
('piece += together', (0, 1, 3), (2, 3))
>>> print(launch.follower.text.split("# ")[-1])
behind matmul: add
def kernel(r, o, row, rows, column, columns):
    x1 = f32_in(r[o[0]])
    out0 = f32_out(r[o[1]])
    n0 = r[o[2]]
    n1 = r[o[3]]
    for i0 in range(row, row + rows):
        for i1 in range(column, column + columns):
            v0 = add_of_f32(out0[i0 * n1 + i1], x1[i1])
            out0[i0 * n1 + i1] = v0
<BLANKLINE>
"""

from d2s.codegen import emit
from d2s.codegen.emit import Follower, Launch, Loop, coalesced
from d2s.codegen.fused import Check, Kernel
from d2s.errors import InternalError
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.ops.op import Followed
from d2s.types import Shape


def followed(node: Node) -> Followed | None:
    """The kernel of a node that hands on what it has finished; None where it has none."""
    if node.op == "fused" or not OPS[node.op].has("followed"):
        return None
    types = [v.type for v in (*node.inputs, *node.outputs)]
    found: Followed | None = OPS[node.op].rules["followed"](*types, **node.attrs)
    return found


def lower(body: Program) -> Launch:
    """The kernels of a body."""
    product, op = body.nodes[0], OPS[body.nodes[0].op]
    inputs, outputs = [v.type for v in product.inputs], [v.type for v in product.outputs]
    found = followed(product)
    if found is None:
        raise InternalError("D2S9001", f"nothing follows {product.op}")
    return emit.of_text(op, inputs, outputs, found.kernel)._replace(follower=_Behind(body, found.columns).follower())


def loops_of(views: list[Shape], shape: Shape, columns: int) -> tuple[list[Loop], list[Loop]]:
    """The loops over the rows and over the columns of a result, of which so many axes are its columns."""
    whole = [(1,) * (len(shape) - len(view)) + view for view in views]
    cut = len(shape) - columns
    return coalesced([v[:cut] for v in whole], shape[:cut]), coalesced([v[cut:] for v in whole], shape[cut:])


def may_follow(product: Node, views: list[Shape]) -> bool:
    """Whether a product hands on parts, and what is read in these shapes is found by counting along a row."""
    found = followed(product)
    return found is not None and len(loops_of(views, product.outputs[0].type.shape, found.columns)[1]) <= 1


class _Behind(Kernel):
    """The follower. The product's result is a value it is given, or where its own first result of that type goes."""

    def __init__(self, body: Program, columns: int) -> None:
        self.product, self.whole, self.columns = body.nodes[0], body, columns
        (self.met,) = self.product.outputs
        results = tuple(v for v in body.outputs if v is not self.met)
        inputs = [v for node in body.nodes[1:] for v in node.inputs if v is self.met or v in body.inputs]
        kept = self.met in body.outputs
        alike = [k for k, v in enumerate(results) if v.type.dtype is self.met.type.dtype]
        self.place = None if kept else alike[0]
        super().__init__(Program("behind", tuple(dict.fromkeys(inputs)), body.nodes[1:], results))

    def looped(self, views: list[Shape]) -> list[Loop]:
        self.rows, across = loops_of(views, self.shape, self.columns)
        return self.rows + across

    def named(self) -> dict[Value, str]:
        names = super().named()
        return names if self.place is None else names | {self.met: f"out{self.place}"}

    def follower(self) -> Follower:
        launch = self.launch()
        values = (*self.whole.inputs, *self.whole.outputs)
        made = self.met if self.place is None else self.body.outputs[self.place]
        own = tuple(values.index(v) for v in (*self.product.inputs, made))
        return Follower(launch.text, launch.T, launch.extents, own, tuple(values.index(v) for v, _ in self.pointers()))

    def pointers(self) -> list[tuple[Value, str]]:
        """What the kernel is given, in order, and its line that names it."""
        names = self.named()
        held = [(v, names[v], "in") for v in self.body.inputs if v is not self.met or self.place is None]
        held += [(v, f"out{k}", "out") for k, v in enumerate(self.body.outputs)]
        return [(v, f"{name} = {v.type.dtype.short}_{role}(r[o[{k}]])") for k, (v, name, role) in enumerate(held)]

    def function(self, body: list[str], checks: list[Check]) -> str:
        lines = [line for _, line in self.pointers()]
        lines += [f"n{k} = r[o[{len(lines) + k}]]" for k in range(len(self.loops))]
        across = len(self.loops) - len(self.rows)
        if (len(self.rows), across) == (1, 1) and self.loops[0][0] == self.loops[1][0]:  # whole rows are one run
            lines += ["whole = columns == n1", "columns = select(whole, rows * columns, columns)"]
            lines += ["rows = select(whole, 1, rows)"]
        lines += self.heads()
        depth = "    " * (bool(self.rows) + across)
        head = f"# behind {self.product.op}: {' '.join(node.op for node in self.body.nodes)}\n"
        head += "def kernel(r, o, row, rows, column, columns):\n"
        return head + "".join(f"    {line}\n" for line in [*lines, *(depth + line for line in body)])

    def heads(self) -> list[str]:
        """The lines that open loops; of several over rows one, which counts through."""
        last, lines = len(self.rows) - 1, list[str]()
        if last == 0:
            lines = ["for i0 in range(row, row + rows):"]
        elif self.rows:
            lines = ["for i in range(row, row + rows):", "    left = i"]
            for k in range(last, 0, -1):
                lines += [f"    above = left // n{k}", f"    i{k} = left - above * n{k}", "    left = above"]
            lines.append("    i0 = left")
        if len(self.loops) > len(self.rows):
            lines.append(f"{'    ' * bool(self.rows)}for i{last + 1} in range(column, column + columns):")
        return lines
