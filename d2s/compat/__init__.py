"""Scripts written for Paddle, of four generations, run on d2s: `import paddle` finds d2s's own tensors, layers and optimizers.

>>> from d2s import compat
>>> with compat.installed("2.x"):
...     import paddle
...     print(paddle.add(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist())
[3.0]

`python -m d2s.compat script.py` runs a script that way, and says what generation it takes it for.
"""

from d2s.compat.hook import install, installed, uninstall

__all__ = ["install", "installed", "uninstall"]
