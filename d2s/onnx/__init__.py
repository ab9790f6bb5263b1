"""Models as ONNX files, written without any other package.

>>> import os
>>> import tempfile
>>> folder = tempfile.mkdtemp()
>>> export(d2s.nn.Linear(2, 3), folder + "/net", input_spec=[d2s.static.InputSpec([None, 2])])
>>> os.path.exists(folder + "/net.onnx")
True
"""

import os
from collections.abc import Sequence
from typing import Any

from d2s.arguments import expect
from d2s.errors import ArgumentError
from d2s.jit.saving import model_of
from d2s.onnx import spell_draws, spell_layers, spell_lists, spell_math, spell_places, spell_shapes, spell_steps, spell_sums
from d2s.onnx.schema import encode
from d2s.onnx.writer import model_proto
from d2s.static.files import save_to_file

__all__ = ["export"]
OPSETS = range(17, 24)
_SAID_BY = (
    spell_draws,
    spell_layers,
    spell_lists,
    spell_math,
    spell_places,
    spell_shapes,
    spell_steps,
    spell_sums,
)  # who fills SAID


def export(layer: Any, path: str, input_spec: Sequence[Any] | None = None, opset_version: int = 18, **configs: Any) -> None:
    """Writes a Layer, or a function, as `path.onnx`; ops ONNX cannot say are named, all at once."""
    if opset_version not in OPSETS:
        message = f"export(): 'opset_version' is {opset_version!r:.20}, expected {OPSETS.start} to {OPSETS.stop - 1}"
        raise ArgumentError("D2S0004", message)
    expect("export", "path", path, str | os.PathLike, "a path")
    name = str(path).removesuffix(".onnx") + ".onnx"
    save_to_file(name, encode("ModelProto", model_proto(model_of(layer, input_spec), opset_version)))
