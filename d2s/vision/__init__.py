"""Images: models that look at them, datasets and transforms of them."""

from d2s.vision import datasets, models, transforms
from d2s.vision.image import get_image_backend, image_load, set_image_backend

__all__ = ["datasets", "get_image_backend", "image_load", "models", "set_image_backend", "transforms"]
for _part in (datasets, models, transforms):  # all of which Paddle has here, too
    globals().update({name: getattr(_part, name) for name in _part.__all__})
