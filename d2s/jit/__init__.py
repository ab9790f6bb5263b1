"""Making functions static, saving and loading them."""

from d2s.jit.marks import ignore_module, not_to_static
from d2s.jit.recompiles import fail_on_recompile
from d2s.jit.saving import save
from d2s.jit.to_static import StaticFunction, to_static
from d2s.jit.traced import TracedLayer
from d2s.jit.translated_layer import TranslatedLayer, load
from d2s.jit.translator import ProgramTranslator, enable_to_static, set_code_level, set_verbosity
from d2s.jit.verify import verify

__all__ = ["ProgramTranslator", "StaticFunction", "TracedLayer", "TranslatedLayer", "enable_to_static", "fail_on_recompile"]
__all__ += ["ignore_module", "load", "not_to_static", "save", "set_code_level", "set_verbosity", "to_static", "verify"]
