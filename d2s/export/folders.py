"""Models as folders, as Paddle 1.x writes them: `__model__`, and a file for each parameter, or one for all.

In: a folder. Out: a Model; whatever is damaged, missing or outside of the folder is a FormatError.

>>> load_folder("no/such/folder")
Traceback (most recent call last):
d2s.errors.FormatError: [D2S3001] there is no file no/such/folder/__model__
"""

import os
from collections.abc import Sequence

import numpy as np

from d2s.checkpoint import whole_files
from d2s.errors import FormatError
from d2s.export import paddle_format, paddle_reader, protobuf, tensors
from d2s.export.model import Model

MODEL, VARIABLES, INFO = "__model__", "__variables__", "__variables__.info__"  # the latter two are of 1.8's `jit.save`


def load_folder(folder: str, model_filename: str | None = None, params_filename: str | None = None) -> Model:
    """The model in a folder; `params_filename` names the file that holds all parameters."""
    with whole_files.together(folder):
        return _load(folder, model_filename, params_filename)


def _load(folder: str, model_filename: str | None, params_filename: str | None) -> Model:
    path = os.path.join(folder, model_filename or MODEL)
    data = paddle_format.read_bytes(path)
    with paddle_format.damage_named(path):
        described = protobuf.decode("ProgramDesc", data)
        names = paddle_reader.parameters(described)
    if params_filename is None and os.path.isfile(os.path.join(folder, VARIABLES)):
        params_filename = VARIABLES
    if params_filename is not None:
        arrays = _arrays(os.path.join(folder, params_filename), names)
    else:
        arrays = {}
        for name in names:
            arrays |= _arrays(_inside(folder, name), [name])
    found = paddle_format.read_bytes(os.path.join(folder, INFO), needed=False)
    with paddle_format.damage_named(os.path.join(folder, INFO)):
        info = tensors.read_info(found) if found else {}
    with paddle_format.damage_named(path):
        return paddle_format.model_of(data, described, arrays, info)


def _arrays(path: str, names: Sequence[str]) -> dict[str, np.ndarray]:
    data = paddle_format.read_bytes(path)
    with paddle_format.damage_named(path):
        return tensors.read_parameters(data, names)


def _inside(folder: str, name: str) -> str:
    """The file of a parameter: a model must not make us read other files."""
    plain = name.replace("\0", "..")
    path, root = os.path.realpath(os.path.join(folder, plain)), os.path.realpath(folder)
    if plain != name or os.path.commonpath([path, root]) != root or path == root:
        raise FormatError("D2S3001", f"a parameter is called {name!r:.60}, which is no file of its folder")
    return path
