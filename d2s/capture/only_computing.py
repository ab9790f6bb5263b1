"""What a capture may call on examples: functions that only compute, given values of their own.

In: a function, or a value from outside that it would be called with. Out: whether all it can change is what it is given; a
copy of the value, in which a run sees no change; MISSING where the value could run code of others, or act.

NumPy's functions are those of a written list: one that is not on it - it reads a file, prints, draws, or came after the list -
is called by runs alone. So are functions that are given a file, an iterator, a function of the user's, or an object of theirs.

>>> import numpy as np
>>> only_computes(np.add), only_computes(np.save), only_computes(np.frompyfunc(abs, 1, 1)), only_computes(np.ones(2).tofile)
(True, False, False, False)
>>> ours = np.ones(2)
>>> own(ours) is ours, own((1, [ours])), own(iter([1])) is MISSING, own(np.add) is np.add
(False, (1, [array([1., 1.])]), True, True)
"""

import pathlib
import types
from typing import Any

import numpy as np

from d2s.capture.guards import MISSING

_OF_NUMPY = """
all allclose amax amin angle any append apply_along_axis apply_over_axes arange argmax argmin argpartition argsort argwhere
around array array2string array_equal array_equiv array_repr array_split array_str asanyarray asarray asarray_chkfinite
ascontiguousarray asfortranarray asmatrix astype atleast_1d atleast_2d atleast_3d average bartlett base_repr binary_repr
bincount blackman block bmat broadcast broadcast_arrays broadcast_shapes broadcast_to busday_count busday_offset
busdaycalendar can_cast choose clip column_stack common_type compress concat concatenate convolve copy copyto corrcoef
correlate count_nonzero cov cross cumprod cumsum cumulative_prod cumulative_sum datetime_as_string datetime_data delete diag
diag_indices diag_indices_from diagflat diagonal diff digitize dot dsplit dstack dtype ediff1d einsum einsum_path empty
empty_like expand_dims extract eye fill_diagonal finfo fix flatnonzero flip fliplr flipud format_float_positional
format_float_scientific frombuffer fromfunction fromiter fromstring full full_like geomspace gradient hamming hanning
histogram histogram2d histogram_bin_edges histogramdd hsplit hstack i0 identity iinfo imag in1d indices inner insert interp
intersect1d is_busday isclose iscomplex iscomplexobj isdtype isfortran isin isneginf isposinf isreal isrealobj isscalar
issubdtype iterable ix_ kaiser kron lexsort linspace logspace mask_indices matrix matrix_transpose max may_share_memory mean
median meshgrid min min_scalar_type mintypecode moveaxis nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean
nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndarray ndenumerate ndim ndindex nonzero ones
ones_like outer packbits pad partition percentile permute_dims piecewise place poly poly1d polyadd polyder polydiv polyfit
polyint polymul polysub polyval prod product promote_types ptp put put_along_axis putmask quantile ravel ravel_multi_index
real real_if_close repeat require reshape resize result_type roll rollaxis roots rot90 round row_stack searchsorted select
setdiff1d setxor1d shape shares_memory sinc size sort sort_complex split squeeze stack std sum swapaxes take take_along_axis
tensordot tile trace transpose trapezoid trapz tri tril tril_indices tril_indices_from trim_zeros triu triu_indices
triu_indices_from typename union1d unique unique_all unique_counts unique_inverse unique_values unpackbits unravel_index
unstack unwrap vander var vdot vsplit vstack where zeros zeros_like
"""
_WHOLE = (np.linalg, np.fft, np.strings, np.char, np.ma, np.emath, np.polynomial, np.polynomial.polynomial)  # all they offer
_RANDOM = "default_rng RandomState Generator SeedSequence PCG64 PCG64DXSM MT19937 Philox SFC64"  # made of a seed
_SHOWN_BY_ALL = {"set_default_printstyle"}

_FUNCTIONS: dict[int, Any] = {id(f): f for f in vars(np).values() if isinstance(f, np.ufunc)}
_FUNCTIONS |= {id(f): f for f in (getattr(np, name, None) for name in _OF_NUMPY.split())}
_FUNCTIONS |= {id(f): f for f in (getattr(of, name) for of in _WHOLE for name in set(of.__all__) - _SHOWN_BY_ALL)}
_FUNCTIONS |= {id(f): f for f in (getattr(np.random, name) for name in _RANDOM.split())}
_FUNCTIONS[id(np.lib.stride_tricks.sliding_window_view)] = np.lib.stride_tricks.sliding_window_view

_SERIES = "Polynomial Chebyshev Legendre Hermite HermiteE Laguerre"
_POLYNOMIALS = (np.poly1d, *(getattr(np.polynomial, name) for name in _SERIES.split()))
_NUMBERS = (bool, int, float, complex)
_TEXTS = (str, bytes, bytearray)
_HOLDING = (tuple, list, set, frozenset)
_ARRAYS = (np.ndarray, np.memmap, np.matrix, np.recarray, np.ma.MaskedArray)
_VALUES = {"datetime", "decimal", "fractions", "uuid", "pathlib"}  # modules whose objects never change
_OWNERS = {"numpy", "random", "io", "string", "re", *_VALUES}  # modules whose objects keep to themselves what is done to them
_ACTING = {"tofile", "dump"}  # methods of NumPy's that write files


def only_computes(function: Any) -> bool:
    """Whether a function changes nothing but what it is given: NumPy's, and methods; others are as whoever calls it says."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return id(owner) in _FUNCTIONS
    if owner is None or isinstance(owner, types.ModuleType | type):
        return not is_numpys(function) or _is_known(function)
    kind, name = type(owner), function.__name__
    if isinstance(owner, pathlib.PurePath):
        return hasattr(pathlib.PurePath, name)
    return (kind in (*_NUMBERS, *_TEXTS, *_HOLDING, dict, range) or _module(kind) in _OWNERS) and name not in _ACTING


def is_numpys(function: Any) -> bool:
    """Whether NumPy has made a function: ufuncs name no module."""
    return isinstance(function, np.ufunc | np.ndarray) or _module(function) == "numpy"


def _module(of: Any) -> str:
    return (getattr(of, "__module__", None) or "").strip("_").partition(".")[0]


def _is_known(function: Any) -> bool:
    scalar = isinstance(function, type) and issubclass(function, np.generic)
    number = type(function) in _POLYNOMIALS and not function.coef.dtype.hasobject
    return id(function) in _FUNCTIONS or scalar or number


def own(value: Any) -> Any:
    """A copy of a value from outside, or itself if it never changes; MISSING of what may run code of others, or act."""
    kind = type(value)
    if value is None or value is Ellipsis or kind in (*_NUMBERS, *_TEXTS, range) or _is_constant(value):
        return value
    if kind in _HOLDING:
        parts = [own(part) for part in value]
        return MISSING if any(part is MISSING for part in parts) else kind(parts)
    if kind is dict:
        held = own(list(value.values()))
        return MISSING if held is MISSING or own(list(value)) is MISSING else dict(zip(value, held, strict=True))
    if kind is slice:
        return MISSING if own([value.start, value.stop, value.step]) is MISSING else value
    return np.array(value, subok=True) if kind in _ARRAYS and not value.dtype.hasobject else MISSING


def _is_constant(value: Any) -> bool:
    """A number of NumPy's, a type, a function that only computes, or what else never changes."""
    kind = type(value)
    if isinstance(value, type):
        return value in (*_NUMBERS, *_TEXTS, object) or issubclass(value, np.generic) or id(value) in _FUNCTIONS
    if isinstance(value, np.generic | np.dtype):
        return _module(kind) == "numpy"
    return id(value) in _FUNCTIONS or _module(kind) in _VALUES
