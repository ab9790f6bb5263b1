"""Trained weights of a model, from a file of Paddle's: read where it is, and told where to put it where it is not.

In: a model and a name such as "resnet18". Out: the model with the values of the file.

>>> loaded(d2s.vision.models.LeNet(), "no_such_model")
Traceback (most recent call last):
d2s.errors.FileError: [D2S3004] pretrained=True: ...no_such_model.pdparams is not there
  way out: put Paddle's file of trained weights there, or call without 'pretrained' and load your own
"""

import pathlib
import warnings
from typing import TypeVar

from d2s.checkpoint import load
from d2s.errors import FileError, FormatError
from d2s.nn import Layer
from d2s.vision.datasets import files

M = TypeVar("M", bound=Layer)


def place(name: str) -> pathlib.Path:
    """Where the weights of a model are looked for."""
    return files.home("weights") / f"{name}.pdparams"


def loaded(model: M, name: str) -> M:
    """The model with trained weights, all of which must fit."""
    path = place(name)
    if not path.is_file():
        hint = "put Paddle's file of trained weights there, or call without 'pretrained' and load your own"
        raise FileError("D2S3004", f"pretrained=True: {path} is not there", hint=hint)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        missing, unknown = model.set_state_dict(load(str(path)))
    if said or missing or unknown:
        why = str(said[0].message) if said else f"it holds {unknown[0]}, which the model does not have"
        raise FormatError("D2S3001", f"{path} does not fit the model: {why}")
    return model


def trained(model: M, pretrained: bool, name: str) -> M:
    """The model as it is, or with trained weights."""
    return loaded(model, name) if pretrained else model
