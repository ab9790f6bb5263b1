"""Making functions static, saving and loading them."""

from d2s.jit.save_load import TranslatedLayer, load, save
from d2s.jit.to_static import StaticFunction, fail_on_recompile, to_static
from d2s.jit.verify import verify

__all__ = ["StaticFunction", "TranslatedLayer", "fail_on_recompile", "load", "save", "to_static", "verify"]
