"""How far to go in a direction: until a function of the step has fallen enough and is flat enough (Wolfe's strong conditions).

In: a function that gives the value and the gradient at a step. Out: a step, with both there. First a bracket is sought that
holds such a step, by steps that grow; then it is made smaller, by cubics through its ends.

>>> def parabola(step):
...     return (step - 3.0) ** 2, np.array([2 * (step - 3.0)])
>>> found, evaluations = strong_wolfe(parabola, Point(0.0, *parabola(0.0), np.ones(1)), 0.01, np.ones(1), 1e-9)
>>> 0.3 < found.step < 5.7, evaluations
(True, 3)
"""

import math
from collections.abc import Callable

import numpy as np

ENOUGH, FLAT = 1e-4, 0.9  # of the slope at the beginning: how much the value falls, how much of the slope is left
MOST = 25  # evaluations
Value = Callable[[float], tuple[float, np.ndarray]]


class Point:
    """A step, the value and the gradient there, and the slope along the direction."""

    def __init__(self, step: float, value: float, gradient: np.ndarray, direction: np.ndarray) -> None:
        self.step, self.value, self.gradient = step, value, gradient
        self.slope = float(gradient @ direction)


def strong_wolfe(at: Value, begin: Point, step: float, direction: np.ndarray, least: float) -> tuple[Point, int]:
    """The point that fulfils the conditions, or the best there was; and how often `at` was asked."""

    def point(step: float) -> Point:
        return Point(step, *at(step), direction)

    bracket, count, done = _bracketed(point, begin, step)
    low, high = sorted(bracket, key=lambda p: p.value) if len(bracket) == 2 else (bracket[0], bracket[0])
    stuck, size = False, float(np.abs(direction).max())
    while not done and count < MOST and abs(high.step - low.step) * size >= least:
        left, right = sorted((low, high), key=lambda p: p.step)
        step, stuck = _inside(left, right, stuck)
        new = point(step)
        count += 1
        if not _fallen(new, begin) or new.value >= low.value:
            low, high = (low, new) if low.value <= new.value else (new, low)
            continue
        done = _flat(new, begin)
        if not done and new.slope * (high.step - low.step) >= 0:
            high = low
        low = new
    return low, count


def _fallen(point: Point, begin: Point) -> bool:
    return point.value <= begin.value + ENOUGH * point.step * begin.slope


def _flat(point: Point, begin: Point) -> bool:
    return abs(point.slope) <= -FLAT * begin.slope


def _bracketed(point: Callable[[float], Point], begin: Point, step: float) -> tuple[list[Point], int, bool]:
    """Two points with what is sought between them, or one that is it."""
    before, new, count = begin, point(step), 1
    while count <= MOST:
        if not _fallen(new, begin) or (count > 2 and new.value >= before.value):
            return [before, new], count, False
        if _flat(new, begin):
            return [new], count, True
        if new.slope >= 0:
            return [before, new], count, False
        step = cubic(before, new, new.step + 0.01 * (new.step - before.step), new.step * 10)
        before, new, count = new, point(step), count + 1
    return [begin, new], count, False


def _inside(left: Point, right: Point, stuck: bool) -> tuple[float, bool]:
    """A step between two points; not at their edge twice in a row."""
    step = cubic(left, right, left.step, right.step)
    margin = 0.1 * (right.step - left.step)
    if min(right.step - step, step - left.step) >= margin:
        return step, False
    if stuck or step >= right.step or step <= left.step:
        nearer = abs(step - right.step) < abs(step - left.step)
        return (right.step - margin if nearer else left.step + margin), False
    return step, True


def cubic(a: Point, b: Point, least: float, most: float) -> float:
    """Where the cubic through two points and their slopes is lowest, between two bounds."""
    left, right = (a, b) if a.step <= b.step else (b, a)
    d1 = left.slope + right.slope - 3 * (left.value - right.value) / (left.step - right.step)
    square = d1 * d1 - left.slope * right.slope
    if square < 0:
        return (least + most) / 2.0
    d2 = math.sqrt(square)
    lowest = right.step - (right.step - left.step) * ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2))
    return min(max(lowest, least), most)
