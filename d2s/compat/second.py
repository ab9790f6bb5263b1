"""The generations 2.2 and 2.x: d2s's own names, and a few that stood elsewhere; 2.2 still has `paddle.fluid`.

>>> GENERATION.version
'2.6.2'
"""

from typing import Any

from d2s.compat import fluid, old_datasets, old_readers
from d2s.compat.generation import Generation
from d2s.compat.old_names import CUDAPlace
from d2s.place import get_device, is_compiled_with_cuda, set_device
from d2s.static.program import disable_static, enable_static, in_dynamic_mode

NAMES: dict[str, Any] = {f"paddle.dataset.{name}": found for name, found in old_datasets.NAMES.items()}
NAMES |= {
    "paddle.CUDAPlace": CUDAPlace,
    "paddle.device.get_device": get_device,
    "paddle.device.set_device": set_device,
    "paddle.device.is_compiled_with_cuda": is_compiled_with_cuda,
    "paddle.enable_static": enable_static,
    "paddle.disable_static": disable_static,
    "paddle.in_dynamic_mode": in_dynamic_mode,
}
INSTEAD: dict[str, tuple[str, ...]] = {
    "paddle.nn.functional": ("",),
    "paddle.framework": ("",),
    "paddle.tensor": ("",),
    "paddle.linalg": ("",),
}
GENERATION = Generation("2.6.2", NAMES, INSTEAD)
_OF_2_2 = fluid.GENERATION.names | NAMES | {"paddle.io.DataLoader": old_readers.DataLoader}
GENERATION_2_2 = Generation("2.2.0-rc0", _OF_2_2, fluid.GENERATION.instead | INSTEAD, fluid.GENERATION.same, old_values=True)
