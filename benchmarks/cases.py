"""What is timed: one line per case, the same for all engines.

A `Repeated` case is a statement run many times in a worker that stays alive; a `Started` case is one run of a new process.

>>> CASES["eager_add"].says
'x + v on 8 floats, nothing wants a gradient'
"""

from typing import NamedTuple


class Repeated(NamedTuple):
    """Microseconds per run of the statement an engine's file gives under this name."""

    says: str


class Started(NamedTuple):
    """Milliseconds that the engine's program of this name says it took; `cold` gets an empty kernel folder each time."""

    says: str
    cold: bool = False


CASES = {
    "eager_add": Repeated("x + v on 8 floats, nothing wants a gradient"),
    "import": Started("import in a new process, byte code kept by an earlier one"),
    "guards_20": Repeated("whether a call fits a variant with 20 guards"),
    "capture_mlp": Started("capture of an MLP of 100 layers: at most 500"),
    "capture_resnet50": Started("capture of ResNet-50: at most 1500"),
    "convert_200": Started("rewriting of a function of 200 lines: at most 200"),
    "first_call_cold": Started("first x + w in a new process, nothing compiled yet", cold=True),
    "first_call_warm": Started("first x + w in a new process, kernels kept by an earlier one"),
}
