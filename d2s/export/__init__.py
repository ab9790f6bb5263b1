"""Models as files of other systems: Paddle's `.pdmodel`, `.pdiparams` and `.pdiparams.info`, written and read."""

from d2s.export.folders import load_folder
from d2s.export.model import Model, Parameter
from d2s.export.paddle_format import load, load_methods, save, save_methods

__all__ = ["Model", "Parameter", "load", "load_folder", "load_methods", "save", "save_methods"]
