"""Who calls a method of a tensor: a user, or d2s itself.

>>> import sys
>>> inside(sys._getframe())
False
"""

import os
from types import FrameType

from d2s.capture import alternatives
from d2s.capture.users_code import in_package
from d2s.convert import calls

_STAND_INS = (os.path.dirname(calls.__file__) + os.sep, alternatives.__file__)


def inside(frame: FrameType | None) -> bool:
    """Whether d2s's own code calls; what stands in for a call while a function is captured does not count."""
    while frame is not None and frame.f_code.co_filename.startswith(_STAND_INS):
        frame = frame.f_back
    return frame is not None and in_package(frame.f_code.co_filename)
