"""What an exception of a run was raised from tells the user's lines, and holds nothing of the capture."""

import pytest

import d2s

X = d2s.to_tensor([1.0, 2.0])


def deeper(x):
    if x.sum() > 0:
        raise KeyError("deep")
    return x


def raised_from(x):
    try:
        if x.sum() > 0:
            raise KeyError("k")
    except KeyError as error:
        raise ValueError("v") from error
    return x


def raised_while_handling(x):
    try:
        x = deeper(x)
    except KeyError:
        raise ValueError("v")  # noqa: B904
    return x


def raised_twice(x):
    try:
        try:
            x = deeper(x)
        except KeyError as error:
            raise ValueError("v") from error
    except ValueError:
        raise RuntimeError("r") from None
    return x


def chain(function):
    """Each exception, with the line it came from, and how the next is told of."""
    with pytest.raises(Exception) as caught:
        function(X)
    found, error = [], caught.value
    while error is not None:
        place = error.__traceback__
        while place.tb_next:
            place = place.tb_next
        lines = place.tb_frame.f_code.co_filename, place.tb_frame.f_code.co_name, place.tb_lineno
        found.append((type(error), str(error), lines, error.__cause__ is None, error.__suppress_context__))
        error = error.__cause__ or error.__context__
    return found


@pytest.mark.parametrize("function", [raised_from, raised_while_handling, raised_twice])
def test_the_lines_of_all_that_an_exception_comes_from(function):
    static = d2s.to_static(function)
    assert chain(static) == chain(static) == chain(function)
