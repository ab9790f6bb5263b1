"""What transforms have in common: which parts of a sample they change, and how they follow one another.

>>> flip = d2s.vision.transforms.RandomHorizontalFlip(1.0)
>>> flip(np.array([[1, 2]], "uint8")).tolist()
[[2, 1]]
"""

from collections.abc import Callable, Sequence
from typing import Any

from d2s.arguments import number
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.io import draws


class BaseTransform:
    """A change of the parts of a sample - a tuple - that `keys` names in order: 'image', 'coords', 'boxes', 'mask' or None.

    A subclass says `_apply_image` (`_apply_mask` …), and in `_get_params` what it draws once for all parts: `self.params`.
    """

    def __init__(self, keys: Sequence[str | None] | None = None) -> None:
        if keys is not None and (not isinstance(keys, list | tuple) or not all(isinstance(k, str | None) for k in keys)):
            raise DTypeError("D2S0001", f"{type(self).__name__}(): 'keys' expects a list of strings, got {brief(keys)}")
        self.keys: tuple[str | None, ...] = ("image",) if keys is None else tuple(keys)
        self.params: Any = None

    def __call__(self, inputs: Any) -> Any:
        parts = inputs if isinstance(inputs, tuple) else (inputs,)
        self.params = self._get_params(parts)
        changed = tuple(self._change(key)(part) for key, part in zip(self.keys, parts, strict=False))
        found = changed + parts[len(changed) :]
        return found if isinstance(inputs, tuple) else found[0]

    def _change(self, key: str | None) -> Callable[[Any], Any]:
        change: Callable[[Any], Any] = getattr(self, f"_apply_{key}", lambda part: part)
        return change

    def _get_params(self, inputs: tuple[Any, ...]) -> Any:
        return None

    def _apply_image(self, image: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no _apply_image")

    def _image(self, inputs: tuple[Any, ...]) -> Any:
        """The image among the parts of a sample."""
        if "image" not in self.keys[: len(inputs)]:
            raise ArgumentError("D2S0004", f"{type(self).__name__}: 'keys' {list(self.keys)} names no image in the sample")
        return inputs[self.keys.index("image")]


class Compose:
    """Some transforms, one after the other.

    >>> half = lambda x: x / 2
    >>> d2s.vision.transforms.Compose([half, half])(8)
    2.0
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        if not isinstance(transforms, list | tuple) or not all(map(callable, transforms)):
            raise DTypeError("D2S0001", f"Compose(): 'transforms' expects a list of functions, got {brief(transforms)}")
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        for transform in self.transforms:
            data = transform(data)
        return data

    def __repr__(self) -> str:
        return "\n    ".join(["Compose(", *map(str, self.transforms)]) + "\n)"


def span(function: str, name: str, given: Any, middle: float, limits: tuple[float, float]) -> tuple[float, float]:
    """A range: two numbers, or one, which is how far it goes to either side of the middle, but not below the limits."""
    if isinstance(given, list | tuple) and len(given) == 2:
        low, high = (number(function, name, value) for value in given)
    else:
        reach = number(function, name, given)
        low, high = middle - reach, middle + reach
        low = max(low, limits[0]) if middle else low
    if not limits[0] <= low <= high <= limits[1]:
        known = f"from {limits[0]:g} to {limits[1]:g}"
        raise ArgumentError("D2S0004", f"{function}(): '{name}' is {brief(given)}, expected a reach or a range {known}")
    return low, high


def probability(function: str, given: Any) -> float:
    """A number from 0 to 1."""
    found = number(function, "prob", given)
    if not 0 <= found <= 1:
        raise ArgumentError("D2S0004", f"{function}(): 'prob' is {brief(given)}, expected a number from 0 to 1")
    return found


def happens(chance: float) -> bool:
    """A draw that is true as often as `chance` says."""
    return draws.uniform() < chance
