"""`paddle.fluid` of 1.4 and 1.5: programs, dygraph, layers, optimizers.

>>> GENERATION.names["paddle.fluid.optimizer.Adam"] is training.AdamOptimizer
True
"""

import sys
from typing import Any

from d2s import flags, jit, nn, static, unique_name, utils
from d2s.autodiff.mode import no_grad
from d2s.autograd import grad
from d2s.compat import (
    decays,
    declared_rates,
    dygraph_convolutions,
    dygraph_layers,
    evaluation,
    fluid_around,
    fluid_averages,
    fluid_creation,
    fluid_images,
    fluid_learning,
    fluid_losses,
    fluid_math,
    fluid_programs,
    fluid_shapes,
    layers,
    old_datasets,
    old_names,
    old_readers,
    traced,
    training,
)
from d2s.compat import fluid_attributes as attributes
from d2s.compat.evaluation import AnyVariable
from d2s.compat.fluid_control import Switch, While, cond, while_loop
from d2s.compat.generation import Generation
from d2s.compat.old_py_layer import PyLayer
from d2s.compat.old_values import old, old_layer
from d2s.compat.static_rnn import StaticRNN
from d2s.dataset import reader
from d2s.dataset.batch import batch
from d2s.eager.tensor import Tensor
from d2s.nn import functional
from d2s.ops import rearrange
from d2s.place import CPUPlace, is_compiled_with_cuda
from d2s.static.program import enable_static, in_dynamic_mode

# By module: the functions of `fluid.layers` that d2s has otherwise, and those it has as they were.
_FUNCTIONS = {
    old_names: """sums reduce_sum reduce_mean reduce_max reduce_min reduce_prod elementwise_add elementwise_sub elementwise_mul
        elementwise_div cross_entropy mean concat reshape transpose matmul softmax scale dropout cast
        data""",
    fluid_math: """dot elementwise_max elementwise_min elementwise_pow elementwise_mod elementwise_floordiv reduce_all
        reduce_any pow leaky_relu relu6 brelu soft_relu swish hard_sigmoid hard_swish hard_shrink softshrink
        thresholded_relu stanh l2_normalize clip_by_norm isfinite has_nan has_inf uniform_random gaussian_random""",
    fluid_shapes: """squeeze unsqueeze flatten shape mul expand expand_as reverse split stack unstack slice strided_slice
        crop_tensor gather_nd scatter scatter_nd_add where pad pad2d pad_constant_like argmax argmin argsort topk cumsum range
        eye diag one_hot diag_embed roll flip index_select tril triu space_to_depth""",
    fluid_images: """image_resize resize_bilinear resize_nearest resize_trilinear image_resize_short pool2d pool3d lrn
        grid_sampler maxout shuffle_channel affine_channel""",
    fluid_creation: """assign increment fill_constant zeros ones zeros_like ones_like fill_constant_batch_size_like
        uniform_random_batch_size_like gaussian_random_batch_size_like create_tensor full_like size equal not_equal
        greater_than greater_equal less_than less_equal logical_and logical_or logical_xor logical_not
        logsumexp clamp addcmul trace elementwise_equal is_empty""",
    fluid_losses: """accuracy mean_iou mse_loss huber_loss smooth_l1 kldiv_loss rank_loss margin_rank_loss bpr_loss
        sigmoid_cross_entropy_with_logits cos_sim label_smooth""",
    fluid_learning: """fc embedding gru_unit lstm_unit conv2d_transpose conv3d layer_norm group_norm instance_norm prelu
        adaptive_pool2d""",
    functional: """relu sigmoid tanh softplus softsign elu gelu selu square_error_cost softmax_with_cross_entropy log_loss
        dice_loss npair_loss affine_grid pixel_shuffle temporal_shift unfold sequence_mask
        log_softmax mish gather_tree""",
    old_readers: "py_reader create_py_reader_by_data read_file double_buffer",
    static: "create_parameter create_global_var Print py_func auc",
    static.nn: """conv3d_transpose row_conv spectral_norm bilinear_tensor_product conv2d batch_norm case switch_case""",
}
_AS_TODAY = """abs exp log log1p sqrt rsqrt square reciprocal sin cos acos asin atan ceil floor round sign erf clip linspace
    scatter_nd shard_index bmm t meshgrid multiplex index_sample kron arange full randint randn randperm addmm dist
    allclose nonzero"""
_OTHERWISE = {
    "sum": fluid_math.sum_of,
    "gather": fluid_shapes.gather_rows,
    "crop": fluid_shapes.crop_tensor,
    "logsigmoid": functional.log_sigmoid,
    "tanh_shrink": functional.tanhshrink,
    "interpolate": fluid_images.image_resize,
}
_NETS = {
    "simple_img_conv_pool": fluid_learning.simple_img_conv_pool,
    "img_conv_group": fluid_learning.img_conv_group,
    "glu": fluid_shapes.glu,
    "scaled_dot_product_attention": fluid_shapes.attention,
}
_LAYERS = {
    layers: "Layer Pool2D FC BatchNorm",
    dygraph_layers: "Embedding Dropout LayerNorm GroupNorm InstanceNorm PRelu GRUUnit BilinearTensorProduct Flatten",
    dygraph_convolutions: "Conv2D Conv3D Conv2DTranspose Conv3DTranspose",
    evaluation: "Linear Sequential LayerList",
    nn: "ParameterList SpectralNorm",
}


def _everywhere(places: str, found: dict[str, Any]) -> dict[str, Any]:
    """The same names at several places; "." is `fluid` itself."""
    return {f"{'' if place == '.' else f'{place}.'}{name}": value for place in places.split() for name, value in found.items()}


def _held(home: Any, names: str) -> dict[str, Any]:
    return {name: getattr(home, name) for name in names.split()}


def _of_layers() -> dict[str, Any]:
    functions = {name: getattr(place, name) for place, names in _FUNCTIONS.items() for name in names.split()}
    functions |= _held(sys.modules["d2s"], _AS_TODAY) | _OTHERWISE
    found = {f"layers.{name}": old(function) for name, function in functions.items()}
    found |= {f"layers.{f.__name__}": f for f in declared_rates.FUNCTIONS} | {
        "layers.While": While,
        "layers.while_loop": old(while_loop),
        "layers.cond": old(cond),
        "layers.Switch": Switch,
        "layers.StaticRNN": StaticRNN,
    }
    found |= {"layers.rank": rearrange.rank}  # a number even then
    return found | {f"nets.{name}": function for name, function in _NETS.items()}


def _of_dygraph() -> dict[str, Any]:
    kinds: dict[str, Any] = {name: getattr(home, name) for home, named in _LAYERS.items() for name in named.split()}
    kinds |= {name: old_layer(getattr(nn, name)) for name in ("MSELoss", "L1Loss", "NLLLoss", "BCELoss")}
    modes: dict[str, Any] = {"guard": old_names.guard, "no_grad": no_grad, "enabled": in_dynamic_mode, "grad": grad}
    modes |= {"enable_dygraph": old_names.enable_imperative, "disable_dygraph": enable_static}
    modes |= {"to_variable": old_names.to_variable_of_1x}
    graphs: dict[str, Any] = {"ProgramTranslator": traced.ProgramTranslator, "TracedLayer": traced.TracedLayer}
    graphs |= {"declarative": traced.declarative, "dygraph_to_static_func": traced.declarative}
    files = _held(training, "save_dygraph load_dygraph")
    found: dict[str, Any] = _everywhere(". nn layers container", kinds) | _everywhere(". base", modes)
    found |= _everywhere(". jit", graphs) | {"jit.save": jit.save, "jit.load": jit.load} | _everywhere(". checkpoint", files)
    found |= _held(training, "save_persistables load_persistables") | {"PyLayer": PyLayer}
    schedules = {f.__name__: f for f in (*decays.DECAYS, *decays.BY_EPOCHS)}
    found |= _everywhere(". learning_rate_scheduler", schedules) | {"BackwardStrategy": fluid_around.BackwardStrategy}
    return {f"dygraph.{name}": value for name, value in found.items()}


def _of_training() -> dict[str, Any]:
    found: dict[str, Any] = {f"optimizer.{name}": kind for name, kind in training.BY_NAME.items()}
    found |= _everywhere("optimizer", _held(fluid_averages, "ModelAverage LookaheadOptimizer RecomputeOptimizer"))
    found |= {"optimizer.ExponentialMovingAverage": static.ExponentialMovingAverage}
    found |= {f"initializer.{n}{end}": k for n, k in attributes.INITIALIZERS.items() for end in ("", "Initializer")}
    found |= {f"regularizer.{name}": kind for name, kind in attributes.DECAYS.items()}
    found |= {f"clip.{name}": kind for name, kind in attributes.CLIPS.items()}
    found |= {"clip.set_gradient_clip": attributes.set_gradient_clip, "metrics.Accuracy": fluid_programs.Accuracy}
    found |= {
        f"metrics.{name}": getattr(fluid_programs, name)
        for name in ("MetricBase", "Auc", "Precision", "Recall", "CompositeMetric")
    }
    return found | _everywhere(". param_attr", {"ParamAttr": attributes.ParamAttr})


def _of_files() -> dict[str, Any]:
    found = _held(fluid_programs, "save_vars load_vars save_params load_params save_persistables load_persistables")
    found |= _held(old_names, "save_inference_model load_inference_model")
    found |= _held(reader, "shuffle buffered cache map_readers xmap_readers chain compose firstn") | {"batch": batch}
    found = {f"io.{name}": value for name, value in found.items()}
    found |= _everywhere("io reader", _held(old_readers, "DataLoader PyReader"))
    return found | _everywhere(". data_feeder", {"DataFeeder": fluid_programs.DataFeeder})


def _of_fluid() -> dict[str, Any]:
    devices: dict[str, Any] = {
        "CPUPlace": CPUPlace,
        "CUDAPlace": old_names.CUDAPlace,
        "is_compiled_with_cuda": is_compiled_with_cuda,
    }
    found = _everywhere(". core", devices | {"LoDTensor": Tensor}) | {"core.VarBase": Tensor, "Tensor": Tensor}
    settings = _held(flags, "set_flags get_flags") | {"in_dygraph_mode": in_dynamic_mode}
    found |= _everywhere(". framework", settings | {"Variable": AnyVariable, "is_compiled_with_cuda": is_compiled_with_cuda})
    found |= {"framework.Parameter": nn.parameter.Parameter, "install_check.run_check": utils.run_check}
    found |= {"Layer": layers.Layer, "PyLayer": PyLayer, "Program": static.Program, "data": static.data}
    found |= {"one_hot": fluid_shapes.one_hot_behind, "embedding": static.nn.embedding}
    found |= _held(training, "save_dygraph load_dygraph") | {"enable_dygraph": old_names.enable_imperative}
    found |= {
        "disable_dygraph": enable_static,
        "unique_name.guard": unique_name.guard,
        "unique_name.switch": unique_name.switch,
    }
    return found | {"unique_name.generate": unique_name.generate} | fluid_around.NAMES


def _names() -> dict[str, Any]:
    found = _of_layers() | _of_dygraph() | _of_training() | _of_files() | _of_fluid()
    datasets = {f"paddle.dataset.{name}": value for name, value in old_datasets.NAMES.items()}
    return {f"paddle.fluid.{name}": value for name, value in found.items()} | datasets


_INSTEAD: dict[str, tuple[str, ...]] = {
    "paddle.fluid": ("static",),
    "paddle.fluid.io": ("static", "io"),
    "paddle.fluid.framework": ("static",),
    "paddle.fluid.backward": ("static",),
    "paddle.fluid.executor": ("static",),
    "paddle.fluid.compiler": ("static",),
    "paddle.fluid.initializer": ("nn.initializer",),
    "paddle.fluid.optimizer": ("optimizer",),
    "paddle.fluid.metrics": ("metric",),
}
_FLAGS = {"old_values": True, "learns_all": True, "declarative": True, "keeps_gradients": True}
_FLAGS["divides_as_c"] = True
_PARTS = (
    "nn",
    "tensor",
    "ops",
    "loss",
    "control_flow",
    "learning_rate_scheduler",
    "metric_op",
    "io",
    "layer_function_generator",
)
_SAME = {f"paddle.fluid.layers.{part}": "paddle.fluid.layers" for part in _PARTS} | {"paddle.fluid.input": "paddle.fluid"}
GENERATION = Generation("1.5.1", _names(), _INSTEAD, _SAME, **_FLAGS)
