"""What Paddle keeps under `paddle.utils`: whether an installation works, DLPack, names."""

from d2s import unique_name
from d2s.utils import dlpack
from d2s.utils.install_check import run_check

__all__ = ["dlpack", "run_check", "unique_name"]
