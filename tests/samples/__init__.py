"""One line per op: what it is tried on, and what NumPy says the result is. Each module here lists a family as `SAMPLES`."""

import importlib
import pkgutil

from d2s import types
from d2s.types import DType
from tests.samples.sample import Listed, Sample, Structural, fits, values

_families = [importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__) if m.name != "sample"]
SAMPLES: dict[str, Sample | Structural | Listed] = {}
for _family in _families:
    assert not SAMPLES.keys() & _family.SAMPLES.keys(), "an op has one line"
    SAMPLES |= _family.SAMPLES
KERNELS = {name: s for name, s in SAMPLES.items() if isinstance(s, Sample)}
STRUCTURAL = {name: s for name, s in SAMPLES.items() if isinstance(s, Structural)}
LISTED = {name: s for name, s in SAMPLES.items() if isinstance(s, Listed)}


def accepts(name: str) -> list[DType]:
    """The dtypes a sample is tried on."""
    return [d for d in types.TENSOR_DTYPES if d.kind in SAMPLES[name].kinds]


__all__ = ["KERNELS", "LISTED", "SAMPLES", "STRUCTURAL", "accepts", "fits", "values"]
