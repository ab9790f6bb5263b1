"""The recorder of what a file says: symbols that know their shapes, and names for extents that only a run finds.

In: ops called on symbols. Out: nodes. Frames of one file share what is known of extents: their recorders have one root.

>>> from d2s.ops import OPS
>>> from d2s.ops.dispatch import handling
>>> from d2s.types import Type, float32
>>> recorder = FileRecorder(None)
>>> x = recorder.input(Type(float32, ("n0", 3)), "x")
>>> with handling(recorder):
...     y = OPS["reshape"](x, [-1])
>>> y.ndim, y.value.type
(1, f32[n0*3])
"""

from collections.abc import Sequence
from typing import Any, NoReturn

from d2s.capture.extents import NamesExtents, Sized
from d2s.errors import CaptureError
from d2s.ir.program import Node, Value
from d2s.ops.recording import Recorder
from d2s.types import Type


class FileSymbol(Sized):
    """A value of a file's program."""

    __slots__ = ()

    def _unknown(self, *_: Any) -> NoReturn:
        raise CaptureError("D2S1001", f"{self.recorder.reads} needs a number that only a run knows")  # type: ignore[attr-defined]

    __bool__ = __int__ = __float__ = __index__ = __iter__ = __len__ = tolist = numpy = item = _unknown


class FileRecorder(NamesExtents, Recorder):
    """The recorder of one frame. `root` is that of the frame around all others."""

    symbol = FileSymbol
    letter = "g"

    def __init__(self, root: "FileRecorder | None") -> None:
        super().__init__("")
        self.root: FileRecorder = root or self
        self.reads = ""  # the op of the file
        self.products: dict[Any, str] = {}  # names of extents that are products of others
        self.extents: dict[Value, str] = {}  # numbers of run time that are extents
        self._names: dict[int, str] = {}  # of extents, by the number of their value
        self._numbers: dict[Any, int] = {}  # equal computations have one number
        self._opened: dict[int, Any] = {}

    def new_extent(self) -> str:
        self.root.extents_named += 1
        return f"{self.letter}{self.root.extents_named - 1}"

    def number(self, value: Value) -> int:
        """A number that values have in common which are computed alike from the same."""
        numbers = self.root._numbers
        return numbers.setdefault(value, len(numbers))

    def add(self, op: str, inputs: Sequence[Value], types: Sequence[Type], attrs: dict[str, Any]) -> list[Any]:
        made = super().add(op, inputs, types, attrs)
        self.compare(self.builder.nodes[-1])
        return made

    def compare(self, node: Node) -> None:
        """Gives what a node makes the numbers of what is computed alike."""
        if node.regions() or node.op in ("hole", "fail"):
            return
        numbers = self.root._numbers
        of: Any = tuple(map(self.number, node.inputs))
        if node.op == "extent":  # equal names are equal extents, whatever has them
            of = node.inputs[0].type.shape[node.attrs["axis"]]
        key = node.op, of, repr(node.attrs) if node.op != "extent" else ""
        for k, value in enumerate(node.outputs):
            numbers[value] = numbers.setdefault((k, key), len(numbers))
