"""Finding where numbers go wrong.

>>> w = d2s.to_tensor([0.0], stop_gradient=False)
>>> with nan_check():
...     y = d2s.sqrt(w)
...     try:
...         y.backward()
...     except d2s.errors.NumericError as error:
...         print(error.message.splitlines()[0])
in the gradient of sqrt(): divide() gives 1 inf among 1 element
"""

import contextlib
from collections.abc import Iterator

from d2s.eager.checked import watch


@contextlib.contextmanager
def nan_check() -> Iterator[None]:
    """In a `with` block of this, the op that first gives a nan, or makes an infinity, raises a NumericError.

    It names the op, the user's line and what each operand holds: forward and backward, eagerly and in static functions. Static
    functions run node by node meanwhile; outside of the block nothing is slower. `FLAGS_check_nan_inf` is the same for good.
    """
    before = watch(True)
    try:
        yield
    finally:
        watch(before)
