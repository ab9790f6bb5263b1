"""Sums of products, written with a letter for each axis. In: an equation, tensors. Out: a tensor.

Two operands at a time: what both have and nobody needs any more is summed in a product of matrices, what both have and
somebody needs is done for each.

>>> x, y = d2s.ones([2, 3]), d2s.ones([3, 4])
>>> einsum("ij,jk->ik", x, y).shape, einsum("ij->", x).item()
([2, 4], 6.0)
"""

from collections.abc import Sequence
from typing import Any

from d2s.errors import ArgumentError, ShapeError, brief
from d2s.ops.arrange import transpose
from d2s.ops.expand import expand
from d2s.ops.linalg import matmul
from d2s.ops.math import multiply
from d2s.ops.reduce import sum
from d2s.ops.shape import reshape, unsqueeze
from d2s.ops.shapes import one_axis, tensor_type, whole_number, whole_numbers
from d2s.ops.triangle import diagonal

Letters = list[str]


def einsum(equation: str, *operands: Any) -> Any:
    """The sum, over letters that are not behind the arrow, of the product of the operands, whose axes the letters name.

    >>> d2s.einsum("bij,bjk->bik", d2s.ones([5, 2, 3]), d2s.ones([5, 3, 4])).shape
    [5, 2, 4]
    """
    given = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else list(operands)
    shapes = [tensor_type(x, "einsum", f"operands[{n}]").shape for n, x in enumerate(given)]
    inputs, output = _read(equation, [len(s) for s in shapes])
    parts = [_once(x, letters) for x, letters in zip(given, inputs, strict=True)]
    x, have = parts[0]
    for n, (y, letters) in enumerate(parts[1:], 1):
        needed = {*output, *(letter for _, later in parts[n + 1 :] for letter in later)}
        x, have = _product(x, have, y, letters, needed)
    x, have = _summed(x, have, set(output))
    return _turned(x, have, output)


def _read(equation: Any, ranks: Sequence[int]) -> tuple[list[Letters], Letters]:
    """The letters of each operand and of the result; axes that an ellipsis stands for are named by digits, the last first."""
    if not isinstance(equation, str):
        raise ArgumentError("D2S0004", f"einsum(): 'equation' is {brief(equation)}, expected a str")
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks) or not ranks:
        raise ArgumentError("D2S0004", f"einsum(): {equation!r:.80} names {len(terms)} operands, {len(ranks)} are given")
    inputs = [_letters(equation, term, rank) for term, rank in zip(terms, ranks, strict=True)]
    seen = [letter for letters in inputs for letter in letters]
    dots = sorted({letter for letter in seen if letter.isdigit()}, key=int, reverse=True)
    if arrow:
        output = _letters(equation, right, len(dots) + len(right.replace("...", "")))
    else:
        output = dots + sorted(letter for letter in {*seen} if letter.isalpha() and seen.count(letter) == 1)
    if len({*output}) < len(output) or not {*output} <= {*seen}:
        raise ArgumentError("D2S0004", f"einsum(): the result of {equation!r:.80} names a letter twice, or one no operand has")
    return inputs, output


def _letters(equation: str, term: str, rank: int) -> Letters:
    before, dots, after = term.partition("...")
    named = [*before, *after]
    if not all(letter.isalpha() for letter in named) or (len(named) > rank if dots else len(named) != rank):
        raise ArgumentError(
            "D2S0004", f"einsum(): {term!r:.40} of {equation!r:.80} does not name the axes of a tensor with {rank}"
        )
    return [*before, *(str(n) for n in reversed(range(rank - len(named)))), *after]


def _once(x: Any, letters: Letters) -> tuple[Any, Letters]:
    """Every letter once: where one names two axes, their diagonal is meant."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            x = diagonal(x, 0, first, second)
            letters = [*(c for n, c in enumerate(letters) if n not in (first, second)), letter]
    return x, letters


def _summed(x: Any, letters: Letters, needed: set[str]) -> tuple[Any, Letters]:
    """The sum over what nobody needs."""
    gone = tuple(n for n, letter in enumerate(letters) if letter not in needed)
    return (sum(x, gone, x.dtype) if gone else x), [letter for letter in letters if letter in needed]


def _turned(x: Any, letters: Letters, wanted: Letters) -> Any:
    return x if letters == wanted else transpose(x, [letters.index(letter) for letter in wanted])


def _product(x: Any, of_x: Letters, y: Any, of_y: Letters, needed: set[str]) -> tuple[Any, Letters]:
    x, of_x = _summed(x, of_x, needed | {*of_y})
    y, of_y = _summed(y, of_y, needed | {*of_x})
    x, y = _alike(x, of_x, y, of_y)
    each = [letter for letter in of_x if letter in of_y and letter in needed]
    over = [letter for letter in of_x if letter in of_y and letter not in needed]
    rows, columns = [c for c in of_x if c not in of_y], [c for c in of_y if c not in of_x]
    x, y = _turned(x, of_x, each + rows + over), _turned(y, of_y, each + over + columns)
    extents = {**dict(zip(each + rows + over, x.shape, strict=True)), **dict(zip(each + over + columns, y.shape, strict=True))}
    if any(type(d) is int and d == 0 for d in extents.values()):
        return _of_nothing(x, y, each, rows, over, columns)
    if all(isinstance(d, int) for d in extents.values()):
        x, y = (_of_parts(v, extents, parts) for v, parts in ((x, (each, rows, over)), (y, (each, over, columns))))
        return reshape(matmul(x, y), [extents[c] for c in each + rows + columns]), each + rows + columns
    alone = [[letter] for letter in each]  # of which the product tells whether they are equal
    x, y = (_of_parts(v, extents, [*alone, *parts]) for v, parts in ((x, (rows, over)), (y, (over, columns))))
    found = matmul(x, y)
    wanted = [*found.shape[: len(each)], *(extents[c] for c in rows + columns)]
    return found if len(rows) == len(columns) == 1 else reshape(found, wanted), each + rows + columns


def _of_nothing(x: Any, y: Any, each: Letters, rows: Letters, over: Letters, columns: Letters) -> tuple[Any, Letters]:
    """The product where an axis has no extent: there is next to nothing to multiply, and a shape's 0 is another extent."""
    letters = each + rows + over + columns
    x = unsqueeze(x, list(range(len(letters) - len(columns), len(letters)))) if columns else x
    y = unsqueeze(y, list(range(len(each), len(each) + len(rows)))) if rows else y
    return _summed(multiply(x, y), letters, {*each, *rows, *columns})


def _of_parts(x: Any, extents: dict[str, Any], parts: Sequence[Letters]) -> Any:
    """One axis for the letters of each part."""
    if all(len(part) == 1 for part in parts):
        return x
    sizes = []
    for part in parts:
        size = 1
        for letter in part:
            size = size * extents[letter]
        sizes.append(size)
    return reshape(x, sizes)


def _alike(x: Any, of_x: Letters, y: Any, of_y: Letters) -> tuple[Any, Any]:
    """Both with equal extents along common letters: an extent of 1 is repeated."""
    for letter in (c for c in of_x if c in of_y):
        have = [tensor_type(v, "einsum", "operands").shape[of.index(letter)] for v, of in ((x, of_x), (y, of_y))]
        a, b = x.shape[of_x.index(letter)], y.shape[of_y.index(letter)]
        if have[0] == have[1] or (1 not in have and any(isinstance(d, str) for d in have)):
            continue
        if 1 not in have:
            raise ShapeError("D2S0002", f"einsum(): {letter!r} names axes of {a} and of {b}")
        if have[0] == 1:
            x = expand(x, [b if c == letter else -1 for c in of_x])
        else:
            y = expand(y, [a if c == letter else -1 for c in of_y])
    return x, y


def tensordot(x: Any, y: Any, axes: Any = 2) -> Any:
    """The sum of products over some axes: the last of x with the first of y by number, or those that are named for each.

    >>> d2s.tensordot(d2s.ones([2, 3, 4]), d2s.ones([3, 4, 5])).shape
    [2, 5]
    """
    ranks = [len(tensor_type(v, "tensordot", name).shape) for v, name in ((x, "x"), (y, "y"))]
    of_x, of_y = _paired(axes, *ranks)
    letters_x = [f"x{n}" for n in range(ranks[0])]
    letters_y = [f"y{n}" for n in range(ranks[1])]
    for a, b in zip(of_x, of_y, strict=True):
        letters_y[b] = letters_x[a]
    needed = {*letters_x, *letters_y} - {letters_x[a] for a in of_x}
    return _product(x, letters_x, y, letters_y, needed)[0]


def _paired(axes: Any, rank_x: int, rank_y: int) -> tuple[list[int], list[int]]:
    if isinstance(axes, int) and not isinstance(axes, bool):
        count = whole_number(axes, "tensordot", "axes")
        if not 0 <= count <= min(rank_x, rank_y):
            raise ArgumentError("D2S0004", f"tensordot(): 'axes' is {count}, the tensors have {rank_x} and {rank_y}")
        return list(range(rank_x - count, rank_x)), list(range(count))
    held = isinstance(getattr(axes, "size", None), int) and hasattr(axes, "tolist")
    few = held and axes.size <= 2 * (rank_x + rank_y)
    listed = axes.tolist() if few else axes
    if not isinstance(listed, (list, tuple)) or not listed:
        raise ArgumentError("D2S0004", f"tensordot(): 'axes' is {brief(axes)}, expected a number or lists of axes")
    both = list(listed) if isinstance(listed[0], (list, tuple)) else [listed, listed]
    first, second = (whole_numbers(a, "tensordot", "axes") for a in (both[0], both[-1]))
    if len(first) != len(second):
        raise ArgumentError("D2S0004", f"tensordot(): 'axes' names {len(first)} axes of x and {len(second)} of y")
    return [one_axis(a, rank_x, "tensordot") for a in first], [one_axis(b, rank_y, "tensordot") for b in second]
