"""Images: models that look at them, datasets and transforms of them."""

from d2s.vision import datasets, models, transforms
from d2s.vision.image import get_image_backend, image_load, set_image_backend

__all__ = ["datasets", "get_image_backend", "image_load", "models", "set_image_backend", "transforms"]
