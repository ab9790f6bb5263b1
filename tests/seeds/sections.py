"""The executable parts of the seed documents: which lines of which document make one program, and how they are mended.

In: a document's text. Out: the text of a program. Documents are looked for in `D2S_SEEDS`, else in `../shared/seeds`.
"""

import os
import pathlib
import re
import textwrap
from typing import NamedTuple

HERE = pathlib.Path(__file__).parent
SEEDS = pathlib.Path(os.environ.get("D2S_SEEDS") or HERE.parent.parent.parent / "shared" / "seeds")
FULL = os.environ.get("D2S_SEEDS_FULL") == "1"
SMALL = [(r"epoch_num = \d+", "epoch_num = 1"), (r"EPOCH_NUM = \d+", "EPOCH_NUM = 1"), (r"range\(200 \*", "range(14 *")]


class Section(NamedTuple):
    """Stretches of one document, by the first and the last line of each (the latter may be left out: one fenced block)."""

    document: str
    api: str
    stretches: list[tuple[str, ...]]


V2, ALPHA, V2_2, V1_5, V1_4 = "002", "003", "004", "000", "001"
POOL_1X = ("class SimpleImgConvPool(fluid.dygraph.Layer):", "return x")
MNIST_1_5 = ("class MNIST(fluid.dygraph.Layer):", "return x", "else:", "return x")
MNIST_1_4 = ("class MNIST(fluid.dygraph.Layer):", "return x")
ALPHA_MODEL = [("import paddle\n\n# 定义批大小",), ("from paddle.nn import Conv2D, Pool2D",), ("# 定义MNIST网络",)]
EVALUATION_1_5 = Section(V1_5, "1.x", [POOL_1X, MNIST_1_5, ("def test_mnist(reader", "    inference_mnist()")])
EVALUATION_1_4 = Section(
    V1_4, "1.x", [POOL_1X, MNIST_1_4, ("with fluid.dygraph.guard():\n        fluid.default", "lab[0][0])")]
)
SECTIONS = {
    "2x_training": Section(V2, "2.x", [("# 定义手写数字识别模型",), ("def norm_img",)]),
    "2x_saving_and_loading": Section(
        V2, "2.x", [("# 定义手写数字识别模型",), ("def norm_img",), ("# save inference model",), ("# 读取mnist测试数据",)]
    ),
    "2_2_basic_use": Section(V2_2, "2.2", [("print(paddle.__version__)",), ("a = paddle.randn([4, 2])",)]),
    "2_2_python_control_flow": Section(V2_2, "2.2", [("print(paddle.__version__)",), ("r = paddle.rand([1,])",)]),
    "2_2_networks_with_control_flow": Section(
        V2_2, "2.2", [("print(paddle.__version__)",), ("class MyModel(paddle.nn.Layer):",), ("total_data, batch_size",)]
    ),
    "2_2_shared_weights": Section(V2_2, "2.2", [("print(paddle.__version__)",), ("inputs = paddle.rand((256, 64))",)]),
    "alpha_1_declarative_and_imperative": Section(ALPHA, "2.0-alpha", [("paddle.static.data(name='x'",)]),
    "alpha_2_2_model": Section(ALPHA, "2.0-alpha", [*ALPHA_MODEL, ("parameter_list=mnist.parameters())\n```",)]),
    "alpha_2_3_training_and_2_4_testing": Section(
        ALPHA,
        "2.0-alpha",
        [*ALPHA_MODEL, ("epoch_num = 5\n\nfor epoch",), ('paddle.imperative.load("save_temp")',), ("model.eval()      #",)],
    ),
    "alpha_2_5_saving": Section(
        ALPHA,
        "2.0-alpha",
        [*ALPHA_MODEL, ("parameter_list=mnist.parameters())\n```",), ("1. paddle.imperative.save",), ("1. model_state",)],
    ),
    "alpha_4_1_traced": Section(ALPHA, "2.0-alpha", [*ALPHA_MODEL, ("import TracedLayer",), ("exe = paddle.Executor(place)",)]),
    "alpha_4_1_condition_on_a_shape": Section(ALPHA, "2.0-alpha", [("input_var's shape[0] > 1",)]),
    "alpha_4_1_program_translator": Section(
        ALPHA, "2.0-alpha", [*ALPHA_MODEL[:2], ("@declarative",), ("prog_trans.save_inference_model",)]
    ),
    "alpha_4_2_training_a_declarative_model": Section(
        ALPHA, "2.0-alpha", [*ALPHA_MODEL[:2], ("### 4.2", "@declarative"), ("epoch_num = 5\n\nfor epoch",)]
    ),
    "alpha_5_3_in_one_line": Section(ALPHA, "2.0-alpha", [("fw_out = fw_out.detach()",), ("fw_out.stop_gradient = True",)]),
    "alpha_5_1_values_and_gradients": Section(ALPHA, "2.0-alpha", [("print(x.numpy())\n```",), ("print(y.gradient())",)]),
    "alpha_5_3_detach": Section(ALPHA, "2.0-alpha", [("out1 = out1.detach()",)]),
    "alpha_5_3_stop_gradient": Section(ALPHA, "2.0-alpha", [("out1.stop_gradient = True",)]),
    "1_5_guard": Section(V1_5, "1.x", [("import paddle.fluid as fluid\n\t\twith", "write your executable")]),
    "1_5_basic_use": Section(
        V1_5,
        "1.x",
        [
            ("x = np.ones([2, 2]", "print(ret.numpy())"),
            ("    ", "loss = fluid.layers.reduce_sum(ret)", "print(loss.gradient())"),
        ],
    ),
    "1_5_py_layer": Section(
        V1_5, "1.x", [("class MyPyLayer(fluid.PyLayer):", "return np.array(dout)"), ("np_inp = np.ones([2, 2]", "dy_grad =")]
    ),
    "1_5_first_network_in_pieces": Section(
        V1_5,
        "1.x",
        [
            ("class MyLayer(fluid.Layer):", "super(MyLayer"),
            ("    ", "def forward(self, inputs):", "return [x]"),
            ("np_inp = np.array(", "np.float32)"),
            ("with fluid.dygraph.guard():\n\t\t\t    var_inp", "dy_out"),
            ("    ", "\t\t\t    x.backward()\n", "dy_grad"),
        ],
    ),
    "1_5_first_network": Section(
        V1_5, "1.x", [("import paddle.fluid as fluid\n\timport numpy as np", "my_layer.clear_gradients()")]
    ),
    "1_5_outputs_before_training": Section(
        V1_5,
        "1.x",
        [
            POOL_1X,
            MNIST_1_5,
            ("train_reader = paddle.batch(", "drop_last=True)"),
            ("with fluid.dygraph.guard():\n\t\t\t\tmnist", "mnist(img).numpy()"),
        ],
    ),
    "1_5_training": Section(
        V1_5, "1.x", [POOL_1X, MNIST_1_5, ("with fluid.dygraph.guard():\n\t\t    epoch_num = 5\t", "mnist.clear_gradients()")]
    ),
    "1_5_variables_and_optimizers": Section(
        V1_5, "1.x", [POOL_1X, MNIST_1_5, ("with fluid.dygraph.guard():\n\t\t    epoch_num = 5\n", "Bias's mean is")]
    ),
    "1_5_saving": Section(
        V1_5, "1.x", [POOL_1X, MNIST_1_5, ("with fluid.dygraph.guard():\n\t    epoch_num = 5\n", "save and load success?")]
    ),
    "1_5_evaluation": EVALUATION_1_5,
    "1_5_evaluation_of_an_image": EVALUATION_1_5,
    "1_5_executor": Section(
        V1_5, "1.x", [POOL_1X, MNIST_1_5, ("epoch_num = 1\n\tBATCH_SIZE = 64\n\texe", "batch_id, static_out))")]
    ),
    "1_4_guard": Section(V1_4, "1.x", [("import paddle.fluid as fluid\n\t\twith", "write your executable")]),
    "1_4_basic_use": Section(
        V1_4,
        "1.x",
        [
            ("x = np.ones([2, 2]", "print(ret.numpy())"),
            ("    ", "loss = fluid.layers.reduce_sum(ret)", "print(loss.gradient())"),
        ],
    ),
    "1_4_py_layer": Section(
        V1_4, "1.x", [("class MyPyLayer(fluid.PyLayer):", "return np.array(dout)"), ("np_inp = np.ones([2, 2]", "dy_grad =")]
    ),
    "1_4_first_network": Section(
        V1_4,
        "1.x",
        [
            ("class MyLayer(fluid.Layer):", "super(MyLayer"),
            ("    ", "def forward(self, inputs):", "return [x]"),
            ("    ", "def build_once", "pass"),
            ("np_inp = np.array(", "np.float32)"),
            ("with fluid.dygraph.guard():\n\t\t\t    var_inp", "dy_out"),
            ("    ", "\t\t\t    x.backward()\n", "dy_grad"),
        ],
    ),
    "1_4_outputs_before_training": Section(
        V1_4,
        "1.x",
        [
            POOL_1X,
            MNIST_1_4,
            ("train_reader = paddle.batch(", "drop_last=True)"),
            ("with fluid.dygraph.guard():\n\t\t\t\tmnist", "mnist(img).numpy()"),
        ],
    ),
    "1_4_training": Section(
        V1_4,
        "1.x",
        [POOL_1X, MNIST_1_4, ("\t\tfor epoch in range(epoch_num):\n                for", "mnist.clear_gradients()")],
    ),
    "1_4_variables_and_optimizers": Section(
        V1_4, "1.x", [POOL_1X, MNIST_1_4, ("with fluid.dygraph.guard():\n\t\t        fluid.default", "Bias's mean is")]
    ),
    "1_4_saving": Section(
        V1_4, "1.x", [POOL_1X, MNIST_1_4, ("for epoch in range(epoch_num):\n\t    for batch_id", "save and load success?")]
    ),
    "1_4_evaluation": EVALUATION_1_4,
    "1_4_evaluation_of_an_image": EVALUATION_1_4,
    "1_4_executor": Section(
        V1_4, "1.x", [POOL_1X, MNIST_1_4, ("exe = fluid.Executor", "static_param_value[static_param_name_list[i - 1]]", "i]")]
    ),
}


def document(number: str) -> str | None:
    """A document's text, if it is there."""
    found = sorted(SEEDS.glob(f"{number}_*.txt"))
    return found[0].read_text(encoding="utf-8") if found else None


def stretch(text: str, first: str, *last: str) -> str:
    """The lines from the one with `first` to the next with each of `last` in turn; or the fenced block with `first` in it.

    Where `first` is blanks, they go in front of all lines; where it is a heading, the lines are looked for behind it.
    """
    if not first.strip():
        return textwrap.indent(stretch(text, *last), first)
    if first.startswith("##"):
        return stretch(text[text.index(first) :], *last)
    at = text.find(first)
    assert at >= 0, f"the document has no {first!r}"
    if not last:
        start, end = text.rfind("```", 0, at), text.find("```", at)
        return text[text.index("\n", start) + 1 : end]
    end = at + len(first)
    for marker in last:
        end = text.find(marker, end)
        assert end >= 0, f"the document has no {marker!r} behind {first!r}"
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", end)
    return textwrap.dedent(text[start:end].expandtabs(4)) + "\n"


def program(name: str) -> str:
    """The program of a section, mended."""
    section = SECTIONS[name]
    text = document(section.document)
    assert text is not None
    code = "".join(stretch(text, *one) for one in section.stretches)
    for old, new in mends(name):
        assert not old or old in code, f"{name}: nothing to mend at {old!r}"
        code = code.replace(old, new) if old else new + "\n" + code
    for pattern, small in () if FULL else SMALL:
        code = re.sub(pattern, small, code)
    return code


def mends(name: str) -> list[tuple[str, str]]:
    """Pairs (what stands there, what should) of mends.txt for a section; an empty first is what is put in front."""
    found, wanted, old = [], False, ""
    for line in (HERE / "mends.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            wanted = any(re.fullmatch(part.replace("*", ".*"), name) for part in line.strip("[]").split())
        elif line.startswith("- ") and wanted:
            old = line[2:].replace("\\n", "\n")
        elif line.startswith("+ ") and wanted:
            found.append((old, line[2:].replace("\\n", "\n")))
            old = ""
    return found
