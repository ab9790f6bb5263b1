"""The declarative face of graphs."""

from d2s.static.input_spec import InputSpec

__all__ = ["InputSpec"]
