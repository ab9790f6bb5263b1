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
    "lenet_step_cold": Started("first train step of LeNet as a graph, Adam, nothing compiled yet: at most 3000", cold=True),
    "lenet_step_warm": Started("the same, kernels kept by an earlier process: at most 300"),
    "mlp_step_cold": Started("first train step of 784-256-128-10 as a graph, nothing compiled yet: at most 2000", cold=True),
    "mlp_step_warm": Started("the same, kernels kept by an earlier process: at most 300"),
    "mlp_second_model": Started("first train step of another such model in the same process: at most 150"),
    "mlp_second_batch": Started("first step of another batch size, beside one of a size known: at most 10 more"),
}
