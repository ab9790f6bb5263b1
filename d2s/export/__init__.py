"""Models as files of other systems: Paddle's `.pdmodel`, `.pdiparams` and `.pdiparams.info`, written and read."""

from d2s.export.model import Model, Parameter
from d2s.export.paddle_format import load, save

__all__ = ["Model", "Parameter", "load", "save"]
