"""The code of the seed documents runs as it stands, but for what mends.txt lists; what it prints is as the documents say."""

import contextlib
import io
import linecache
import pathlib
import re
import sys
import warnings

import numpy as np
import pytest

import d2s
from d2s import compat

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import sections

ROOT = pathlib.Path(__file__).parent.parent.parent
TENS = [r"\[\[10\. 10\.\]\n \[10\. 10\.\]\]", r"^\[1\.\]$"]
PROBABILITIES = [r"cost is: \[\[0\.\d+"]
SEEN = {  # what is printed, as the documents have it
    "2x_training": [r"epoch_id: 0, batch_id: 0, loss is: [\d.]+", "==>Trained model saved"],
    "2x_saving_and_loading": [
        "==>Inference model saved",
        r"The label of readed image is :  \[7\]",
        r"The predicted label is :  \d",
    ],
    "2_2_basic_use": [
        r"^2\.2\.0-rc0$",
        r"Tensor\(shape=\[4, 2\], dtype=float32, place=Place\(cpu\), stop_gradient=True,\n       \[\[",
        r"Tensor\(shape=\[4\], dtype=float32",
    ],
    "2_2_python_control_flow": [r"^0 [+-]> \[", r"^9 [+-]> \["],
    "2_2_networks_with_control_flow": [r"^0 \[\d\.\d+\]$", r"^200 \[0\.\d+"],
    "2_2_shared_weights": [r"step: 0, loss: \[0\.\d+\]", r"step: 9, loss: \[0\.\d+\]"],
    "alpha_1_declarative_and_imperative": [
        r"result \[array\(\[\[11\., 11\.\],\n\s+\[11\., 11\.\]\], dtype=float32\)\]",
        r"result \[\[11\. 11\.\]",
    ],
    "alpha_2_3_training_and_2_4_testing": [r"Loss at epoch 0 step 0: \[\d\.\d+\]", "checkpoint loaded", r"acc is: 0\.[6-9]"],
    "alpha_4_1_condition_on_a_shape": [r"input_var's shape\[1\] < 1"],
    "alpha_5_1_values_and_gradients": [r"^\[10\. 10\.\]$"],
    "1_5_basic_use": TENS,
    "1_5_outputs_before_training": PROBABILITIES,
    "1_5_variables_and_optimizers": [
        r"Loss at step 0: \[2\.\d\d?\d?\]",
        r"Final loss: \[[01]\.\d+\]",
        r"W's mean is: -?\d\.\d+",
        "Bias's mean",
    ],
    "1_5_saving": ["model save and load success\\? True"],
    "1_5_evaluation": [
        r"Loss at epoch 0 step 0: \[2\.\d+\]",
        r"acc is: 0\.[6-9]",
        "checkpoint saved\nNo optimizer loaded\\. If you didn't save optimizer, please ignore this\\.",
        "checkpoint loaded\nInference result of image/infer_3.png is: 7",
    ],
    "1_4_basic_use": TENS,
    "1_4_outputs_before_training": PROBABILITIES,
    "1_4_variables_and_optimizers": [r"Loss at step 0: \[2\.\d+", r"Final loss: \[[012]\.\d+"],
    "1_4_saving": ["model save and load success\\? True"],
    "1_4_evaluation": ["checkpoint saved\ncheckpoint loaded", "Inference result of image/infer_3.png is: 7"],
}
SEEN |= {f"{name}_of_an_image": SEEN[name] for name in ("1_5_evaluation", "1_4_evaluation")}
HELD = {  # what variables hold in the end
    "1_5_guard": lambda v: v["seen"] is True,
    "1_4_guard": lambda v: v["seen"] is True,
    "1_5_first_network_in_pieces": lambda v: v["dy_out"].tolist() == [5.0] and v["dy_grad"].tolist() == [2.0, 4.0, 0.0],
    "1_5_first_network": lambda v: v["dy_out"].tolist() == [5.0] and v["dy_grad"].tolist() == [2.0, 4.0, 0.0],
    "1_4_first_network": lambda v: v["dy_out"].tolist() == [5.0] and v["dy_grad"].tolist() == [2.0, 4.0, 0.0],
    "1_5_py_layer": lambda v: np.allclose(v["dy_grad"], 1 - np.tanh(1.0) ** 2),
    "1_4_py_layer": lambda v: np.allclose(v["dy_grad"], 1 - np.tanh(1.0) ** 2),
    "1_4_training": lambda v: v["avg_loss"].numpy() < 2.3,
    "alpha_4_2_training_a_declarative_model": lambda v: v["avg_loss"].numpy() < 1.5 and np.mean(v["acc"].numpy()) > 0.5,
    "alpha_5_3_in_one_line": lambda v: v["fw_out"].stop_gradient and v["fw_out"] is not v["before"],
    "alpha_2_5_saving": lambda v: v["opt_state"] == {} and len(v["model_state"]) == 5,
    "alpha_5_3_detach": lambda v: v["fc"].weight.gradient() is None and v["fc2"].weight.gradient() is not None,
    "alpha_5_3_stop_gradient": lambda v: v["fc"].weight.gradient() is None and v["fc2"].weight.gradient() is not None,
    "1_4_executor": lambda v: v["static_out"].shape == (1,) and len(v["static_param_value"]) == 6,
    "1_5_executor": lambda v: v["static_out"].shape == (1,) and v["static_out"] < 2.4,
    "1_5_training": lambda v: v["avg_loss"].numpy() < 1.5,
    "alpha_4_1_traced": lambda v: np.array_equal(v["fetch"], v["out_dygraph"].numpy()),
    "alpha_4_1_program_translator": lambda v: v["out"][1].shape == [1],
    "alpha_2_2_model": lambda v: len(v["adam"]._parameter_list) == 5,
}


def run(name, folder):
    """What a section prints, and its variables."""
    path = folder / f"{name}.py"
    path.write_text(sections.program(name), encoding="utf-8")
    linecache.checkcache(str(path))
    found = {"__name__": "__main__", "__file__": str(path)}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), np.printoptions(), compat.installed(sections.SECTIONS[name].api):
        d2s.seed(1)
        np.random.seed(1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # `batch_id is not 0`
            code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
        exec(code, found)
    return printed.getvalue(), found


def write_images(folder):
    """The digit of the tests, a seven, as the images a document reads."""
    image = pytest.importorskip("PIL.Image", reason="the image of a digit is read with Pillow")
    with compat.installed("1.x"):
        import paddle

        digit = next(paddle.dataset.mnist.test()())[0].reshape(28, 28)
    (folder / "image").mkdir()
    for name in ("2.png", "infer_3.png"):
        image.fromarray(np.uint8((digit + 1) * 127.5)).resize((56, 56)).save(folder / "image" / name)


@pytest.mark.parametrize("name", list(sections.SECTIONS))
def test_section(name, tmp_path, monkeypatch):
    if sections.document(sections.SECTIONS[name].document) is None:
        pytest.skip(f"the seed documents are not in {sections.SEEDS}; D2S_SEEDS names their folder")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("D2S_DATA_HOME", str(sections.SEEDS.parent / "data" if sections.FULL else ROOT / "samples"))
    if name.endswith("_of_an_image"):
        write_images(tmp_path)
    printed, held = run(name, tmp_path)
    for fact in SEEN.get(name, []):
        assert re.search(fact, printed, re.M), printed
    assert name in SEEN or HELD[name](held)


def test_every_section_is_held_to_something():
    assert set(sections.SECTIONS) == set(SEEN) | set(HELD)


def code_of(number):
    """The lines of a document that are code: of its fenced blocks, or indented by a tab where it has none."""
    text = sections.document(number)
    if text is None:
        pytest.skip(f"the seed documents are not in {sections.SEEDS}; D2S_SEEDS names their folder")
    if "```python" in text:
        text = "\n".join(
            re.findall(
                r"^ *```\w*\n(.*?)^ *```", text.partition("## 3. 多卡训练")[0] + text.partition("## 4. ")[2], re.M | re.S
            )
        )
    return [
        line.strip() for line in text.splitlines() if re.match(r"[^\s#<>].*(paddle|fluid|mnist|model|np)[.(]", line.strip())
    ]


@pytest.mark.parametrize("number", ["000", "001", "002", "003", "004"])
def test_every_line_of_code_is_in_a_section(number):
    """But for prose in a tab's place, what installs Paddle, and what trains on several GPUs."""
    code = code_of(number)
    ours = [section for section in sections.SECTIONS.values() if section.document == number]
    run_here = {
        line.strip()
        for section in ours
        for one in section.stretches
        for line in sections.stretch(sections.document(number), *one).splitlines()
    }
    left = {line for line in code if line not in run_here and not re.search(r"`|[一-鿿].*[一-鿿]|^pip ", line)}
    assert len(code) > 10 and not left
