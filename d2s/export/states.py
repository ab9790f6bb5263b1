"""The state of the layer that a model's files hold, without its Programs.

In: the prefix of the files, or their folder. Out: arrays by their paths in the layer, as `state_dict()` has them.

>>> import tempfile
>>> path = tempfile.mkdtemp() + "/net"
>>> d2s.jit.save(d2s.nn.Linear(2, 1), path, input_spec=[d2s.static.InputSpec([None, 2])])
>>> sorted(state_of(path))
['bias', 'weight']
"""

import os

import numpy as np

from d2s.export.folders import load_folder
from d2s.export.model import CONSTANT, second_names
from d2s.export.paddle_format import load_methods


def state_of(path: str, model_filename: str | None = None, params_filename: str | None = None) -> dict[str, np.ndarray]:
    """What `d2s.load` gives of a model."""
    in_folder = os.path.isdir(path) and not os.path.isfile(f"{path}.pdmodel")
    models = [load_folder(path, model_filename, params_filename)] if in_folder else list(load_methods(path).values())
    stored = [one for model in models for one in model.parameters.values() if one.kind != CONSTANT]
    found = {one.structured_name: one.array for one in stored}
    for model in models:
        found |= {second: found[first] for second, first in second_names(model).items() if first in found}
    return found
