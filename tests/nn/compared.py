"""Layers and functions by arguments: what is tried on d2s and on real Paddle alike. Needs NumPy only, and what it is given.

In: a package with Paddle's names, the name of a case. Out: the results by name, and the gradients of inputs and parameters of
their sum, weighted by fixed numbers.
"""

import itertools
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """What is called, made of the package; its inputs, made of a maker of floats; and what it is given by name."""

    make: Callable[[Any], Any]
    inputs: Callable[[Callable[..., np.ndarray]], list[Any]]
    named: Callable[[Callable[..., np.ndarray]], dict[str, Any]]


CASES: dict[str, Case] = {}


def case(name, make, inputs, named=lambda f: {}):
    assert name not in CASES, name
    CASES[name] = Case(make, inputs, named)


def function(name, inputs, label="", **settings):
    """A case of a function of nn.functional."""
    shown = ",".join(f"{key}={value}" for key, value in settings.items())
    case(f"F.{name}({shown}){label}", lambda P: lambda *x: getattr(P.nn.functional, name)(*x, **settings), inputs)


def layer(name, inputs, *args, label="", **settings):
    """A case of a layer."""
    shown = ",".join([*map(str, args), *(f"{key}={value}" for key, value in settings.items())])
    case(f"{name}({shown}){label}", lambda P: getattr(P.nn, name)(*args, **settings), inputs)


def maker(name):
    state = np.random.RandomState(zlib.crc32(name.encode()) % 2**31)
    return lambda *shape: state.standard_normal(shape).astype("float32")


def fill(made):
    """The same numbers for the parameters of a layer, whoever made it."""
    state = np.random.RandomState(5)
    for name, parameter in made.named_parameters() if hasattr(made, "named_parameters") else []:
        if not (parameter.stop_gradient and name in ("_mean", "_variance", "weight", "bias")):  # Paddle's, where we hold none
            parameter.set_value((state.standard_normal(parameter.shape) * 0.4).astype("float32"))


def run(P, name):
    """Results, and gradients of inputs and parameters."""
    found, case, tensors = {}, CASES[name], []
    made, make = case.make(P), maker(name)
    fill(made)

    def given(value):
        if isinstance(value, (tuple, list)) and value and isinstance(value[0], np.ndarray):
            return tuple(map(given, value))
        if not isinstance(value, np.ndarray):
            return value
        tensor = P.to_tensor(value)
        if value.dtype.kind == "f":
            tensor.stop_gradient = False
            tensors.append(tensor)
        return tensor

    outputs = flat(made(*map(given, case.inputs(make)), **{k: given(v) for k, v in case.named(make).items()}))
    weights, total = np.random.RandomState(9), None
    for k, output in enumerate(outputs):
        found[f"result {k}"] = output.numpy()
        if "float" in str(output.dtype) and not output.stop_gradient:
            part = (output * P.to_tensor(weights.standard_normal(output.shape).astype("float32"))).sum()
            total = part if total is None else total + part
    if total is None:
        return found
    total.backward()
    named = [(f"of input {k}", t) for k, t in enumerate(tensors)]
    named += list(made.named_parameters()) if hasattr(made, "named_parameters") else []
    return found | {key: t.grad.numpy() for key, t in named if t.grad is not None}


def flat(value):
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in flat(part)]
    return [] if value is None else [value]


def prints(array):
    """An array as three numbers: its length, and its products with two fixed directions."""
    wide = np.asarray(array, np.float64).reshape(-1)
    wide = np.where(np.isfinite(wide), wide, 7.0)
    directions = np.random.RandomState(wide.size % 2**31).standard_normal((2, wide.size))
    return [float(np.sqrt((wide * wide).sum())), *map(float, directions @ wide)]


# --- convolutions ------------------------------------------------------------------------------------------------------------

LAYOUTS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}
EXTENTS = {1: (9,), 2: (7, 8), 3: (5, 4, 6)}


def pictures(rank, channels, last=False, batch=2):
    extents = EXTENTS[rank]
    return lambda f: [f(batch, *extents, channels) if last else f(batch, channels, *extents)]


for rank in (1, 2, 3):
    for settings in (
        {},
        {"stride": 2, "padding": 1},
        {"padding": "SAME", "stride": 2},
        {"padding": "VALID", "bias_attr": False},
        {"padding": [2, 1, 0][:rank], "dilation": 2} if rank < 3 else {"padding": [2, 1, 0]},
        {"padding": list(range(2 * rank))},
        {"groups": 2, "padding": 1},
    ):
        layer(f"Conv{rank}D", pictures(rank, 4), 4, 6, 3, **settings)
    layer(f"Conv{rank}D", pictures(rank, 4, True), 4, 6, 3, padding=1, data_format=LAYOUTS[rank][1])
    for mode in ("reflect", "replicate", "circular"):
        layer(f"Conv{rank}D", pictures(rank, 2), 2, 3, 3, padding=1, padding_mode=mode)
layer("Conv2D", pictures(2, 4), 4, 4, [3, 2], padding=[[0, 0], [0, 0], [1, 2], [0, 1]])
layer("Conv2D", pictures(2, 4), 4, 8, 3, groups=4, padding=1)
layer("Conv2D", pictures(2, 3, True), 3, 4, 3, padding="SAME", data_format="NHWC", groups=1, stride=[2, 1])
for rank in (1, 2, 3):
    for settings in (
        {},
        {"stride": 2, "padding": 1},
        {"stride": 2, "padding": 1, "output_padding": 1},
        {"groups": 2},
        {"dilation": 2, "bias_attr": False},
        {"padding": "SAME", "stride": 2},
        {"padding": "VALID"},
    ):
        layer(f"Conv{rank}DTranspose", pictures(rank, 4), 4, 6, 3, **settings)
    size = [2 * n + 1 for n in EXTENTS[rank]]
    case(
        f"Conv{rank}DTranspose(output_size)",
        lambda P, rank=rank: getattr(P.nn, f"Conv{rank}DTranspose")(4, 2, 3, stride=2),
        pictures(rank, 4),
        lambda f, size=size: {"output_size": size},
    )
layer("Conv2DTranspose", pictures(2, 4, True), 4, 2, 3, stride=2, data_format="NHWC")

# --- pools -------------------------------------------------------------------------------------------------------------------

for rank in (1, 2, 3):
    for settings in (
        {},
        {"stride": 1, "padding": 1},
        {"stride": 2, "ceil_mode": True},
        {"padding": "SAME"},
        {"padding": "VALID"},
    ):
        layer(f"MaxPool{rank}D", pictures(rank, 3), 3, **settings)
        layer(f"AvgPool{rank}D", pictures(rank, 3), 3, **settings)
    layer(f"AvgPool{rank}D", pictures(rank, 3), 3, stride=2, padding=1, exclusive=False)
    layer(f"MaxPool{rank}D", pictures(rank, 3), 2, stride=2, return_mask=True)
    for size in (1, 3):
        layer(f"AdaptiveAvgPool{rank}D", pictures(rank, 3), size)
        layer(f"AdaptiveMaxPool{rank}D", pictures(rank, 3), size, return_mask=True)
    if rank > 1:
        layer(f"AvgPool{rank}D", pictures(rank, 3), 2, divisor_override=3)
        layer(f"AvgPool{rank}D", pictures(rank, 3, True), 2, padding=1, data_format=LAYOUTS[rank][1])
        layer(f"MaxPool{rank}D", pictures(rank, 3, True), 2, padding=1, data_format=LAYOUTS[rank][1])
        layer(f"AdaptiveAvgPool{rank}D", pictures(rank, 3, True), 2, data_format=LAYOUTS[rank][1])
layer("AdaptiveAvgPool2D", pictures(2, 3), [None, 3])
layer("AvgPool2D", pictures(2, 3), [2, 3], padding=[[0, 0], [0, 0], [1, 0], [0, 1]])
layer("MaxPool2D", pictures(2, 3), [2, 3], stride=[1, 2], padding=[1, 0, 1, 1])

# --- norms -------------------------------------------------------------------------------------------------------------------

for shape, settings in ((8, {"epsilon": 1e-3}), ([3, 8], {}), (8, {"weight_attr": False}), (8, {"bias_attr": False})):
    layer("LayerNorm", lambda f: [f(2, 3, 8)], shape, **settings)
for settings in ({}, {"epsilon": 1e-2, "weight_attr": False}, {"bias_attr": False}):
    layer("GroupNorm", lambda f: [f(2, 4, 3, 5)], 2, 4, **settings)
layer("GroupNorm", lambda f: [f(2, 3, 5, 4)], 2, 4, data_format="NHWC")
for rank in (1, 2, 3):
    for settings in (
        {},
        {"momentum": 0.5, "epsilon": 1e-2},
        {"weight_attr": False, "bias_attr": False},
        {"use_global_stats": True},
    ):
        layer(f"BatchNorm{rank}D", pictures(rank, 3), 3, **settings)
    layer(f"BatchNorm{rank}D", pictures(rank, 3, True), 3, data_format=LAYOUTS[rank][1])
    layer(f"InstanceNorm{rank}D", pictures(rank, 3), 3, epsilon=1e-3)
    layer(f"InstanceNorm{rank}D", pictures(rank, 3), 3, weight_attr=False, bias_attr=False)
layer("BatchNorm1D", lambda f: [f(6, 3)], 3, label=" two axes")


def after_training(P, **settings):
    """The averages of a batch norm after a step, and what it makes of values then."""
    norm = P.nn.BatchNorm2D(3, **settings)

    def call(x):
        norm.train()
        norm(x)
        norm.eval()
        return norm(x), norm._mean, norm._variance

    call.named_parameters = norm.named_parameters
    return call


case("BatchNorm2D, averages", after_training, pictures(2, 3))
layer("LocalResponseNorm", pictures(2, 5), 3, alpha=0.1, beta=0.5, k=2.0)
layer("LocalResponseNorm", pictures(2, 5, True), 4, alpha=0.1, data_format="NHWC")
layer("SpectralNorm", lambda f: [f(3, 4)], [3, 4], power_iters=2)
layer("SpectralNorm", lambda f: [f(3, 4, 2)], [3, 4, 2], dim=1)
for settings in ({}, {"p": 1, "axis": -1}, {"p": 3.0}):
    function("normalize", lambda f: [f(2, 3, 4)], **settings)

# --- activations -------------------------------------------------------------------------------------------------------------

for name, *many in (
    ("celu", {}, {"alpha": 0.5}),
    ("elu", {}, {"alpha": 0.5}),
    ("gelu", {}, {"approximate": True}),
    ("hardshrink", {}, {"threshold": 1.0}),
    ("hardsigmoid", {}, {"slope": 0.3, "offset": 0.1}),
    ("hardswish", {}),
    ("hardtanh", {}, {"min": -0.5, "max": 0.2}),
    ("leaky_relu", {}, {"negative_slope": 0.3}),
    ("log_sigmoid", {}),
    ("log_softmax", {}, {"axis": 1}),
    ("mish", {}),
    ("relu", {}),
    ("relu6", {}),
    ("selu", {}, {"scale": 2.0, "alpha": 0.5}),
    ("sigmoid", {}),
    ("silu", {}),
    ("softmax", {}, {"axis": 1}),
    ("softplus", {}, {"beta": 2.0, "threshold": 1.0}),
    ("softshrink", {}, {"threshold": 1.0}),
    ("softsign", {}),
    ("swish", {}),
    ("tanh", {}),
    ("tanhshrink", {}),
    ("thresholded_relu", {}, {"threshold": 0.5}),
    ("glu", {}, {"axis": 1}),
    ("swiglu", {}),
):
    for settings in many:
        function(name, lambda f: [f(2, 4, 6) * 2], **settings)
layer("Maxout", lambda f: [f(2, 4, 3, 6)], 2)
layer("Maxout", lambda f: [f(2, 4, 3, 6)], 2, axis=-1)
layer("PReLU", pictures(2, 3))
layer("PReLU", pictures(2, 3), 3)
layer("PReLU", pictures(2, 3, True), 3, data_format="NHWC")
layer("Softmax2D", pictures(2, 3))
case("RReLU, not in training", lambda P: evaluated(P.nn.RReLU()), lambda f: [f(3, 4)])


def evaluated(made):
    made.eval()
    return made


# --- losses ------------------------------------------------------------------------------------------------------------------

REDUCTIONS = ("mean", "sum", "none")


def classes(*shape, count=5, ignored=()):
    found = np.random.RandomState(3).randint(0, count, shape).astype("int64")
    for at in ignored:
        found.flat[at] = -100
    return found


def shares(f, *shape):
    e = np.exp(f(*shape))
    return (e / e.sum(-1, keepdims=True)).astype("float32")


def ones_and_zeros(*shape, low=0):
    return np.random.RandomState(4).choice([low, 1], shape).astype("float32")


for reduction in REDUCTIONS:
    named = {"reduction": reduction}
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "kl_div"):
        function(name, lambda f: [f(3, 4), shares(f, 3, 4)], **named)
    function("smooth_l1_loss", lambda f: [f(3, 4) * 2, f(3, 4)], delta=0.5, **named)
    function("cross_entropy", lambda f: [f(4, 5), classes(4)], **named)
    function("cross_entropy", lambda f: [f(4, 5), classes(4, ignored=[1]), np.abs(f(5))], " weight", **named)
    function("cross_entropy", lambda f: [f(4, 5), shares(f, 4, 5)], soft_label=True, **named)
    function("cross_entropy", lambda f: [f(4, 5), classes(4)], label_smoothing=0.1, **named)
    function("cross_entropy", lambda f: [f(2, 5, 3), classes(2, 3)], axis=1, **named)
    function("cross_entropy", lambda f: [shares(f, 4, 5), classes(4)], use_softmax=False, **named)
    function("cross_entropy", lambda f: [f(4, 5), classes(4, 1, ignored=[2])], " column", **named)
    function("nll_loss", lambda f: [f(4, 5), classes(4)], **named)
    function("nll_loss", lambda f: [f(2, 5, 3), classes(2, 3, ignored=[1]), np.abs(f(5))], " weight", **named)
    function("binary_cross_entropy", lambda f: [shares(f, 3, 4), ones_and_zeros(3, 4)], **named)
    function("binary_cross_entropy", lambda f: [shares(f, 3, 4), ones_and_zeros(3, 4), np.abs(f(4))], " weight", **named)
    function("binary_cross_entropy_with_logits", lambda f: [f(3, 4), ones_and_zeros(3, 4)], **named)
    layer("HingeEmbeddingLoss", lambda f: [f(3, 4), ones_and_zeros(3, 4, low=-1)], 0.7, reduction)
    layer("MarginRankingLoss", lambda f: [f(4), f(4), ones_and_zeros(4, low=-1)], 0.3, reduction)
    layer("CosineEmbeddingLoss", lambda f: [f(4, 3), f(4, 3), ones_and_zeros(4, low=-1).astype("int64")], 0.1, reduction)
    layer("TripletMarginLoss", lambda f: [f(4, 3), f(4, 3), f(4, 3)], reduction=reduction)
    layer("TripletMarginLoss", lambda f: [f(4, 3), f(4, 3), f(4, 3)], p=1.0, swap=True, margin=2.0, reduction=reduction)
    layer("TripletMarginWithDistanceLoss", lambda f: [f(4, 3), f(4, 3), f(4, 3)], swap=True, reduction=reduction)
    layer("SoftMarginLoss", lambda f: [f(3, 4), ones_and_zeros(3, 4, low=-1)], reduction=reduction)
    layer("MultiLabelSoftMarginLoss", lambda f: [f(3, 4), ones_and_zeros(3, 4)], reduction=reduction)
    layer("MultiMarginLoss", lambda f: [f(4, 5), classes(4)], p=2, margin=0.7, reduction=reduction)
    layer("PoissonNLLLoss", lambda f: [f(4), np.abs(f(4)) * 3], reduction=reduction, full=True)
    layer("PoissonNLLLoss", lambda f: [np.abs(f(4)), np.abs(f(4))], reduction=reduction, log_input=False)
    layer("GaussianNLLLoss", lambda f: [f(4), f(4), np.abs(f(4))], reduction=reduction, full=True)
    function("sigmoid_focal_loss", lambda f: [f(3, 4), ones_and_zeros(3, 4)], gamma=1.5, alpha=0.3, **named)
    case(
        f"ctc_loss {reduction}",
        lambda P, reduction=reduction: lambda *x: P.nn.functional.ctc_loss(*x, reduction=reduction),
        lambda f: [f(6, 3, 5), np.array([[1, 1, 2], [3, 4, 0], [1, 1, 1]], "int32"), np.array([6, 5, 4]), np.array([3, 2, 1])],
    )
layer("MultiMarginLoss", lambda f: [f(4, 5), classes(4)], label=" weight")
layer("MultiLabelSoftMarginLoss", lambda f: [f(3, 4), ones_and_zeros(3, 4)], label=" again")
function("kl_div", lambda f: [f(3, 4), shares(f, 3, 4)], reduction="batchmean")
for settings in ({}, {"return_softmax": True}, {"ignore_index": 2}):
    function("softmax_with_cross_entropy", lambda f: [f(4, 5), classes(4, 1)], **settings)
function("softmax_with_cross_entropy", lambda f: [f(4, 5), shares(f, 4, 5)], soft_label=True)
function("square_error_cost", lambda f: [f(3, 4), f(3, 4)])
function("label_smooth", lambda f: [shares(f, 3, 4)], epsilon=0.2)
function("dice_loss", lambda f: [shares(f, 3, 4, 5), classes(3, 4, 1)])
function("log_loss", lambda f: [shares(f, 4, 1), ones_and_zeros(4, 1)])
function("npair_loss", lambda f: [f(4, 3), f(4, 3), np.array([0.0, 1.0, 0.0, 2.0], "float32")], l2_reg=0.1)
function("pairwise_distance", lambda f: [f(4, 3), f(4, 3)], p=3.0, keepdim=True)
function("cosine_similarity", lambda f: [f(2, 3, 4), f(2, 3, 4)], axis=-1)
function("sequence_mask", lambda f: [np.array([[1, 3], [0, 2]])], maxlen=4)

# --- sizes, places, windows --------------------------------------------------------------------------------------------------

SMALL = {"linear": (5,), "bilinear": (4, 5), "bicubic": (4, 5), "trilinear": (3, 4, 5)}
for mode, extents in SMALL.items():
    new, layout = [2 * n + 1 for n in extents], {1: "NCW", 2: "NCHW", 3: "NCDHW"}[len(extents)]
    inputs = lambda f, extents=extents: [f(2, 3, *extents)]  # noqa: E731
    for settings in ({"size": new}, {"scale_factor": 1.7}, {"size": [3] * len(extents), "align_corners": True}):
        function("interpolate", inputs, mode=mode, data_format=layout, **settings)
    if mode != "bicubic":
        function("interpolate", inputs, mode=mode, size=new, align_mode=1, data_format=layout)
for mode, extents in itertools.product(("nearest", "area"), ((4, 5), (3, 4, 5))):
    inputs = lambda f, extents=extents: [f(2, 3, *extents)]  # noqa: E731
    layout = "NCHW" if len(extents) == 2 else "NCDHW"
    function("interpolate", inputs, mode=mode, size=[7] * len(extents), data_format=layout)
    if mode == "nearest":
        function("interpolate", inputs, mode=mode, data_format=layout, scale_factor=[0.6, 1.5, 2.0][: len(extents)])
function("interpolate", lambda f: [f(2, 4, 5, 3)], mode="bilinear", size=[7, 3], data_format="NHWC")
layer("UpsamplingBilinear2D", lambda f: [f(1, 2, 3, 4)], scale_factor=2)
layer("UpsamplingNearest2D", lambda f: [f(1, 2, 3, 4)], size=[5, 5])
for mode, edge, corners in itertools.product(("bilinear", "nearest"), ("zeros", "border", "reflection"), (True, False)):
    settings = {"mode": mode, "padding_mode": edge, "align_corners": corners}
    function("grid_sample", lambda f: [f(2, 3, 4, 5), f(2, 3, 6, 2)], **settings)
function("grid_sample", lambda f: [f(2, 2, 3, 4, 5), f(2, 2, 3, 4, 3) * 0.7])
for corners in (True, False):
    function("affine_grid", lambda f: [f(2, 2, 3)], out_shape=[2, 3, 4, 5], align_corners=corners)
    function("affine_grid", lambda f: [f(2, 3, 4)], out_shape=[2, 3, 2, 4, 5], align_corners=corners)
for mode in ("constant", "reflect", "replicate", "circular"):
    layer("Pad1D", lambda f: [f(2, 3, 5)], [1, 2], mode=mode)
    layer("Pad2D", lambda f: [f(2, 3, 4, 5)], [1, 2, 0, 3], mode=mode)
    layer("Pad3D", lambda f: [f(2, 3, 3, 4, 5)], [1, 2, 0, 3, 2, 1], mode=mode)
layer("Pad2D", lambda f: [f(2, 4, 5, 3)], 1, value=2.0, data_format="NHWC")
layer("ZeroPad2D", lambda f: [f(2, 3, 4, 5)], [1, 2, 0, 3])
for settings in ({}, {"strides": 2, "paddings": 1}, {"dilations": [2, 1], "paddings": [1, 0, 2, 1]}):
    layer("Unfold", lambda f: [f(2, 3, 6, 7)], [2, 3], **settings)
layer("Fold", lambda f: [f(2, 12, 20)], [5, 6], [2, 2])
layer("Fold", lambda f: [f(2, 12, 12)], [5, 6], [2, 2], strides=2, paddings=1)
for layout, shape in (("NCHW", (2, 8, 4, 6)), ("NHWC", (2, 4, 6, 8))):
    inputs = lambda f, shape=shape: [f(*shape)]  # noqa: E731
    layer("PixelShuffle", inputs, 2, data_format=layout)
    layer("PixelUnshuffle", inputs, 2, data_format=layout)
    layer("ChannelShuffle", inputs, 4, data_format=layout)
    function("temporal_shift", inputs, seg_num=2, shift_ratio=0.3, data_format=layout)
case(
    "gather_tree",
    lambda P: P.nn.functional.gather_tree,
    lambda f: [np.random.RandomState(k).randint(0, (9, 3)[k], (4, 2, 3)) for k in range(2)],
)

# --- products, tables --------------------------------------------------------------------------------------------------------

layer("Linear", lambda f: [f(2, 3, 4)], 4, 5)
layer("Linear", lambda f: [f(2, 4)], 4, 5, bias_attr=False)
layer("Bilinear", lambda f: [f(4, 2), f(4, 3)], 2, 3, 5)
layer("Bilinear", lambda f: [f(4, 2), f(4, 3)], 2, 3, 5, bias_attr=False)
layer("Embedding", lambda f: [classes(2, 3)], 5, 4)
layer("Embedding", lambda f: [classes(2, 3)], 5, 4, padding_idx=-1)
layer("Flatten", lambda f: [f(2, 3, 4, 5)], 1, 2)

# --- recurrent networks ------------------------------------------------------------------------------------------------------

LENGTHS = np.array([2, 5, 4])
for name, direction, settings in itertools.product(
    ("LSTM", "GRU", "SimpleRNN"),
    ("forward", "bidirect"),
    ((False, False, True), (True, False, False), (False, True, False), (True, True, True)),
):
    time_major, masked, started = settings
    if direction != "forward" and masked and started:
        continue  # there Paddle's gradients on CPUs are wrong: finite differences say so
    shape, states = (5, 3, 3) if time_major else (3, 5, 3), (2 if direction == "forward" else 4, 3, 4)
    how = {"num_layers": 2, "direction": direction, "time_major": time_major}
    pair = name == "LSTM"

    def begun(f, shape=shape, states=states, started=started, pair=pair):
        first = (f(*states), f(*states)) if pair else f(*states)
        return [f(*shape), first] if started else [f(*shape)]

    case(
        f"{name} {direction} {settings}",
        lambda P, name=name, how=how: getattr(P.nn, name)(3, 4, **how),
        begun,
        lambda f, masked=masked: {"sequence_length": LENGTHS} if masked else {},
    )
layer("SimpleRNN", lambda f: [f(3, 5, 3)], 3, 4, activation="relu")
layer("LSTMCell", lambda f: [f(3, 3), (f(3, 4), f(3, 4))], 3, 4)
layer("LSTMCell", lambda f: [f(3, 3), (f(3, 2), f(3, 4))], 3, 4, proj_size=2)
layer("GRUCell", lambda f: [f(3, 3)], 3, 4)
layer("SimpleRNNCell", lambda f: [f(3, 3)], 3, 4)
case("RNN, reversed", lambda P: P.nn.RNN(P.nn.GRUCell(3, 4), is_reverse=True), lambda f: [f(3, 5, 3)])
case("BiRNN", lambda P: P.nn.BiRNN(P.nn.LSTMCell(3, 4), P.nn.LSTMCell(3, 4)), lambda f: [f(3, 5, 3)])

# --- attention ---------------------------------------------------------------------------------------------------------------

SEEN = (np.random.RandomState(2).rand(2, 1, 5, 5) < 0.7).astype("int64")
SEEN[..., 0] = 1
MASKS = {"bools": SEEN.astype(bool), "integers": SEEN, "floats": np.where(SEEN, 0.5, -2.0).astype("float32")}
layer("MultiHeadAttention", lambda f: [f(2, 5, 8)], 8, 2)
layer("MultiHeadAttention", lambda f: [f(2, 5, 8), f(2, 6, 8), f(2, 6, 8)], 8, 2, need_weights=True)
layer("MultiHeadAttention", lambda f: [f(2, 5, 8), f(2, 6, 3), f(2, 6, 4)], 8, 2, kdim=3, vdim=4, bias_attr=False)
for kind, mask in MASKS.items():
    case(
        f"MultiHeadAttention, mask of {kind}",
        lambda P: P.nn.MultiHeadAttention(8, 2),
        lambda f: [f(2, 5, 8)],
        lambda f, mask=mask: {"attn_mask": mask},
    )


def attended(P):
    attention = P.nn.MultiHeadAttention(8, 2, need_weights=True)

    def call(a, b):
        first, shares, cache = attention(a, a, a, None, attention.gen_cache(a))
        second, others, cache = attention(b, b, b, None, cache)
        static = attention.gen_cache(b, b, type=attention.StaticCache)
        third, *_ = attention(a, b, b, None, static)
        return first, shares, second, others, third, cache.k, cache.v

    call.named_parameters = attention.named_parameters
    return call


def decoded(P):
    decoder = P.nn.TransformerDecoder(P.nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0), 2)

    def call(a, b, memory):
        first, cache = decoder(a, memory, cache=decoder.gen_cache(memory))
        return first, decoder(b, memory, cache=cache)[0]

    call.named_parameters = decoder.named_parameters
    return call


case("MultiHeadAttention, caches", attended, lambda f: [f(2, 5, 8), f(2, 3, 8)])
case("TransformerDecoder, caches", decoded, lambda f: [f(2, 1, 8), f(2, 1, 8), f(2, 4, 8)])
for before in (False, True):
    settings = {"dropout": 0.0, "normalize_before": before}
    layer("TransformerEncoderLayer", lambda f: [f(2, 5, 8), MASKS["floats"]], 8, 2, 16, activation="gelu", **settings)
    layer("TransformerDecoderLayer", lambda f: [f(2, 5, 8), f(2, 6, 8), MASKS["bools"]], 8, 2, 16, **settings)
    layer("Transformer", lambda f: [f(2, 5, 8), f(2, 3, 8)], 8, 2, 1, 2, 16, **settings)
for causal in (False, True):
    inputs = [lambda f: [f(2, 5, 2, 4), f(2, 6, 2, 4), f(2, 6, 2, 4)], lambda f: [f(2, 5, 2, 4) for _ in range(3)]][causal]
    function("scaled_dot_product_attention", inputs, is_causal=causal)
