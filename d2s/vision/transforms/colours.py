"""Brighter, flatter, greyer, and other hues: arrays (height, width, colours), red first.

Bytes come out as Pillow computes them, bit for bit, so that a picture gives the same whatever form it has. Floats are not
rounded and stay between 0 and `top`.

>>> grey(np.array([[[10, 20, 30]]], "uint8")).tolist()
[[[18]]]
"""

import numpy as np


def grey(array: np.ndarray) -> np.ndarray:
    """The brightness of each pixel, as the eye sees it."""
    if array.shape[2] < 3:
        return array[:, :, :1]
    red, green, blue = (array[:, :, k : k + 1] for k in range(3))
    if array.dtype == np.uint8:
        shares = red.astype(np.uint32) * 19595 + green.astype(np.uint32) * 38470 + blue.astype(np.uint32) * 7471
        return (shares + 0x8000 >> 16).astype(np.uint8)
    return (red * 0.299 + green * 0.587 + blue * 0.114).astype(array.dtype)


def blended(base: np.ndarray, array: np.ndarray, factor: float, top: float) -> np.ndarray:
    """From `base` (0) over the picture (1) and beyond."""
    if array.dtype == np.uint8:
        low = base.astype(np.float32)
        return np.clip(low + np.float32(factor) * (array.astype(np.float32) - low), 0, 255).astype(np.uint8)
    return np.clip(base + factor * (array - base), 0, top).astype(array.dtype)


def brighter(array: np.ndarray, factor: float, top: float) -> np.ndarray:
    return blended(np.zeros_like(array), array, factor, top)


def contrasted(array: np.ndarray, factor: float, top: float) -> np.ndarray:
    mean = grey(array).mean(dtype=np.float64)
    return blended(np.asarray(int(mean + 0.5) if array.dtype == np.uint8 else mean, array.dtype), array, factor, top)


def saturated(array: np.ndarray, factor: float, top: float) -> np.ndarray:
    return blended(grey(array), array, factor, top)


def hued(array: np.ndarray, shift: float, top: float) -> np.ndarray:
    """The colours turned by a part of the circle they stand on."""
    if array.shape[2] < 3:
        return array.copy()
    bytes = array.dtype == np.uint8
    colours = array[:, :, :3].astype(np.float32) if bytes else array[:, :, :3] / top
    hue, saturation, value = _hsv(colours)
    if bytes:
        hue = (np.trunc(hue * 255).astype(int) + int(shift * 255)) % 256 / 255
        saturation = np.trunc(saturation * 255) / 255
    else:
        hue = hue + shift
    found = _rgb(hue, saturation, value)
    found = np.floor(found + 0.5).astype(np.uint8) if bytes else (found * top).astype(array.dtype)
    return np.concatenate([found, array[:, :, 3:]], axis=2)


def _hsv(colours: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hue and saturation, 0 to 1, and the largest of the three colours."""
    red, green, blue = np.moveaxis(colours, 2, 0)
    value, low = colours.max(2), colours.min(2)
    wide = np.where(value == low, 1, value - low)
    r, g, b = ((value - one) / wide for one in (red, green, blue))
    hue = np.where(red == value, b - g, np.where(green == value, 2 + r - b, 4 + g - r))
    hue = np.where(value == low, 0, np.mod(hue / 6 + 1, 1))
    return hue, np.where(value == low, 0, (value - low) / np.where(value == 0, 1, value)), value


def _rgb(hue: np.ndarray, saturation: np.ndarray, value: np.ndarray) -> np.ndarray:
    turn = hue * 6
    part = np.floor(turn)
    f = turn - part
    p, q, t = value * (1 - saturation), value * (1 - saturation * f), value * (1 - saturation * (1 - f))
    which = part.astype(int) % 6
    sectors = [(value, t, p), (q, value, p), (p, value, t), (p, q, value), (t, p, value), (value, p, q)]
    return np.stack([np.choose(which, [sector[k] for sector in sectors]) for k in range(3)], axis=2)
