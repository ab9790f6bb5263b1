"""Making functions static, saving and loading them."""

from d2s.jit.save_load import TranslatedLayer, load, save
from d2s.jit.to_static import StaticFunction, to_static
from d2s.jit.verify import verify

__all__ = ["StaticFunction", "TranslatedLayer", "load", "save", "to_static", "verify"]
