"""Readers of data, as Paddle had them before datasets: functions without arguments that return iterators of samples."""

from d2s.dataset import mnist, reader

__all__ = ["mnist", "reader"]
