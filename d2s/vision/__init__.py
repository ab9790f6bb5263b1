"""Images: models that look at them."""

from d2s.vision import models

__all__ = ["models"]
