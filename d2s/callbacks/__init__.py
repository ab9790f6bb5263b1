"""What happens beside training: progress, checkpoints, stopping early, learning rates, logs.

>>> class Counted(d2s.callbacks.Callback):
...     def on_train_batch_end(self, step, logs=None):
...         self.batches = step + 1
"""

from d2s.callbacks.callback import Callback, CallbackList
from d2s.callbacks.checkpoints import EarlyStopping, ModelCheckpoint
from d2s.callbacks.progress import ProgBarLogger
from d2s.callbacks.rates import LRScheduler, ReduceLROnPlateau
from d2s.callbacks.visual_log import VisualDL

__all__ = [
    "Callback",
    "CallbackList",
    "EarlyStopping",
    "LRScheduler",
    "ModelCheckpoint",
    "ProgBarLogger",
    "ReduceLROnPlateau",
    "VisualDL",
]
