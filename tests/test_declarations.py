"""Every op of the registry is complete: documented, typed, runnable, differentiable where it can be, named in d2s."""

import doctest
import inspect

import pytest

import d2s
from d2s.export.paddle_pen import SPELLED
from d2s.onnx.writer import SAID as SAID_IN_ONNX
from d2s.ops import OPS
from tests.samples import SAMPLES

STRUCTURAL = {"cond", "while_loop", "fused", "constant", "hole", "fail", "host", "stack", "push", "pop", "update"}
LISTS = {
    "list_append",
    "list_full",
    "list_get",
    "list_length",
    "list_new",
    "list_pop",
    "list_set",
    "list_stack",
    "list_unstack",
}
STREAMS = {"stream", "moved"}
STRUCTURAL |= LISTS | STREAMS | {"call", "again"}
INTERNAL = STRUCTURAL | {
    "spread",
    "row",
    "in_row",
    "extent",
    "matmul_rows",
    "linear",
    "dropped",
    "detached",
    "renewed",
}  # not for users: no public name, the example is optional
MOVING = {"reshape_like", "sliced", "unsliced", "set_slice", "take_at", "collect", "put_at", "add_at", "looked_up", "positions"}
MOVING |= {
    "collect_along",
    "put_along",
    "set_diagonal",
    "pad_with",
    "pad_own",
    "unpad_own",
    "ramp",
}  # what functions are made of
INTERNAL |= MOVING | {"concat", "stacked", "rotate", "take_along", "embedding", "one_hot"}
WINDOWS = {"conv", "conv_transpose", "conv_weight_grad", "conv_input_grad"} | {
    "max_pool",
    "max_pool_with_index",
    "max_pool_grad",
    "max_pool_pick",
    "avg_pool",
    "avg_pool_grad",
    "avg_pool_grad_as",
}
INTERNAL |= WINDOWS
NO_GRADIENT = (
    {
        "ramp": "made of numbers",
        "positions": "whole numbers, the same for all values",
        "cond": "swept region by region (autodiff.program)",
        "while_loop": "swept as a loop of its own (autodiff.loop)",
        "fused": "made behind gradients only",
        "call": "swept as a call of its own (autodiff.recursion)",
        "again": "swept with the function around it",
        "constant": "has no inputs",
        "fail": "has no inputs",
        "stack": "has no inputs",
        "push": "written by gradients, read by gradients; never swept",
        "pop": "written by gradients, read by gradients; never swept",
        "update": "what an optimizer has made of a parameter is that parameter",
    }
    | dict.fromkeys(LISTS, "swept item by item (autodiff.lists)")
    | dict.fromkeys(STREAMS, "stand in files only")
)
NO_PADDLE = {
    "stack",
    "push",
    "pop",
    "matmul_rows",
    "in_row",
    "share_of_seen",
    "longest_run",
    "fused",
    "call",
    "again",
    "host",
    "update",
    "list_unstack",  # stands in gradients only
}  # refused by name
IN_GRADIENTS = ["spread", "stack", "push", "pop", "unsliced", "collect", "looked_up", "collect_along", "unpad_own"]
IN_GRADIENTS += [
    "where_met",
    "conv_weight_grad",
    "softmax_grad",
    "log_softmax_grad",
    "class_entropy_grad",
    "place_class",
]
IN_GRADIENTS += [f"{norm}_norm_{kind}" for norm in ("layer", "group") for kind in ("grad", "affine")] + ["batch_norm_grad"]
IN_GRADIENTS += ["max_pool_grad", "max_pool_pick", "avg_pool_grad", "attention_grad", "cumprod_grad", "logcumsumexp_grad"]
IN_GRADIENTS += ["linear_scan", "conv_input_grad", "avg_pool_grad_as"]
NO_ONNX = dict.fromkeys(IN_GRADIENTS, "stands in gradients only, and a file holds none") | {
    "fused": "stands in plans only, and a file holds none",
    "poisson": "ONNX draws none of these",
    "call": "ONNX has no function that calls itself",
    "again": "ONNX has no function that calls itself",
    "host": "is a call of Python",
    "update": "is a step of training",
    "in_row": "stands in gradients only, and a file holds none",
    "list_unstack": "stands in gradients only, and a file holds none",
}
INTERNAL |= {"gelu", "silu", "softplus", "leaky_relu", "elu", "selu", "relu6", "hardswish", "hardsigmoid", "hardtanh"}
INTERNAL |= {"mish", "softsign", "log_sigmoid"}  # of nn.functional alone
NORMS = {"batch_norm", "batch_norm_fixed", "group_norm", "layer_norm"}
LABELLED = {"class_entropy", "class_weight", "mean_of_seen", "pick_class", "share_of_seen"}
SCANS = {"cummax", "cummin", "cumprod", "cumsum", "logcumsumexp"}
FUSED = {"attention_grad", "batch_norm_grad", "cumprod_grad", "logcumsumexp_grad"}
FUSED |= {f"{norm}_norm_{kind}" for norm in ("layer", "group") for kind in ("grad", "affine")}
PULLED = FUSED | {"ctc_loss_grad", "linear_scan"}
PULLED |= {"class_entropy_grad", "log_softmax_grad", "per_element", "place_class", "softmax_grad", "where_met"}
NO_ONNX["share_of_seen"] = NO_ONNX["place_class"]
INTERNAL |= NORMS | LABELLED | SCANS | PULLED | {"attention", "log_softmax", "longest_run", "softmax", "sorted"}
NO_PADDLE |= set(IN_GRADIENTS) - {"place_class"}  # which one_hot-like losses are made of
COMPOSED = "composed of ops that have gradients"
NO_GRADIENT |= dict.fromkeys(FUSED, COMPOSED)
IN_GRADIENTS_OF_LAYERS = {"ctc_loss_grad", "recurrent_grad", "unresized"}
OF_LAYERS = {"recurrent", "resized", "ctc", "unlearnt"}
INTERNAL |= {"celu", "hardshrink", "softshrink", "thresholded_relu"}  # of nn.functional alone
NO_ONNX |= dict.fromkeys(IN_GRADIENTS_OF_LAYERS, NO_ONNX["place_class"])
NO_GRADIENT |= {"recurrent_grad": COMPOSED, "ctc_loss_grad": "Paddle has none either"}
INTERNAL |= OF_LAYERS | IN_GRADIENTS_OF_LAYERS
NO_PADDLE |= IN_GRADIENTS_OF_LAYERS | {"slopes"}
INTERNAL |= {"slopes", "shifted_left", "shifted_right"}  # polygamma, bitwise_left_shift and bitwise_right_shift call them
INTERNAL |= {"renamed", "own_gradient", "bounded_log"}  # cross_entropy of probabilities takes it
FOUND = {"places_where", "counting", "cut", "uncut", "behind", "laid", "laid_as", "filled"}  # whose extents a run finds
FOUND |= {"as_extent", "resized_to"}
INTERNAL |= FOUND
NO_PADDLE |= {"uncut", "laid_as"}
NO_ONNX |= dict.fromkeys(["uncut", "laid_as"], NO_ONNX["place_class"])
NO_GRADIENT |= dict.fromkeys({"places_where", "counting", "as_extent"}, "whole numbers")
MATRICES = {"inverse_of", "determinant", "cofactors", "signed_log", "solved", "cholesky_of", "qr_of", "eigh_of", "svd_of"}
MATRICES |= {"pseudo_inverse"}
INTERNAL |= MATRICES  # of linalg
NO_PADDLE |= {"cofactors", "pseudo_inverse"}
NO_ONNX |= dict.fromkeys(MATRICES - {"determinant"}, "ONNX takes no matrices apart")
NO_GRADIENT |= {"cofactors": COMPOSED}
OPEN_DRAWS = {"as_std", "uniform_as", "normal_as", "randint_as", "randperm_as"}
INTERNAL |= OPEN_DRAWS
every_op = pytest.mark.parametrize("name", list(OPS))


@every_op
def test_it_has_a_line_in_samples(name):
    assert name in SAMPLES


def test_samples_name_no_op_that_is_gone():
    assert set(SAMPLES) == set(OPS)


@every_op
def test_it_is_documented(name):
    doc = OPS[name].__doc__
    assert doc
    assert doc.strip().splitlines()[0].endswith(".")


@pytest.mark.parametrize("name", sorted(set(OPS) - STRUCTURAL))
def test_its_example_runs(name):
    examples = doctest.DocTestParser().get_doctest(OPS[name].__doc__, {"d2s": d2s}, name, None, None)
    assert examples.examples, "no example"
    assert doctest.DocTestRunner(verbose=False).run(examples).failed == 0


@every_op
def test_it_has_a_type_rule(name):
    op = OPS[name]
    assert op.scalar or op.has("infer")


@every_op
def test_it_has_a_kernel_or_is_structural(name):
    op = OPS[name]
    ways = [bool(op.scalar), op.has("scalar"), op.has("kernel"), op.has("python"), name in STRUCTURAL]
    assert ways.count(True) == 1


@every_op
def test_it_has_a_gradient_or_a_reason(name):
    op = OPS[name]
    compares = op.out_dtype is not None and op.out_dtype.kind == "b"
    assert op.has("vjp") == (not compares and name not in NO_GRADIENT)
    assert op.has("composed") == (NO_GRADIENT.get(name) == COMPOSED)


@every_op
def test_how_paddle_spells_it_is_decided(name):
    assert (OPS[name].paddle is None and name not in SPELLED) == (name in NO_PADDLE)


def test_how_onnx_spells_it_is_decided():
    unspelled = {name for name, op in OPS.items() if op.onnx is None and name not in SAID_IN_ONNX}
    assert unspelled == set(NO_ONNX)


def test_paddle_spellings_are_not_shared():
    spelled = [op.paddle for op in OPS.values() if op.paddle]
    assert len(spelled) == len(set(spelled))


@every_op
def test_public_ops_have_a_name_in_d2s(name):
    assert (getattr(d2s, name, None) is OPS[name]) == (name not in INTERNAL)


@every_op
def test_rules_are_known_kinds_with_the_arrays_first(name):
    op = OPS[name]
    of_kernels = {"scalar", "lines", "kernel", "followed", "fault", "python"}
    assert (
        set(op.rules)
        <= {"canonical", "infer", "requires", "least", "vjp", "besides", "open", "instead", "composed", "worded"} | of_kernels
    )
    wanted = [*op.arrays, *op.attributes][op.variadic and len(op.arrays) :]  # any number of inputs have one name among them
    for kind, rule in op.rules.items():
        if kind == "besides":
            assert tuple(inspect.signature(rule).parameters)[: len(op.order)] == op.order
            continue
        taken = [p for p in inspect.signature(rule).parameters if p in op.arrays or p not in ("g", "out", "index")][
            kind == "fault" :
        ]
        if kind != "canonical" and "captured" not in op.arrays and "carry" not in op.arrays:
            assert taken[len(taken) - len(wanted) :] == wanted, kind
            assert op.variadic or len(taken) == len(wanted), kind
