"""Programs whose loops over tensors raise what is caught around the loop, or are ended by nothing else."""

import contextlib

from programs_compare import program, t

import d2s

SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([30.0, 2.0]),), (t([0.5, -0.25]),)
LONG = (t([1.0 * k for k in range(20)]),), (t([1.0 * k for k in range(-15, 5)]),), (t([0.0] * 20),)
COUNTED = (t([1.0, 2.0]), t(3)), (t([-1.0, -2.0]), t(5)), (t([1.0, 2.0]), t(0))


def checked(x):
    if x.sum() > 25:
        raise OverflowError("large")
    if x[0] < -100:
        raise ValueError("small", x.sum().item())
    return x.sum()


def all_positive(x):
    for v in x:
        if v < 0:
            raise ValueError(f"{v.item()} is negative")
    return x * 2


@program(*SETS)
def raised_by_a_row(x):
    try:
        for v in x:
            if v < 0:
                raise ValueError(f"found {float(v)}")
        y = x * 2
    except ValueError as error:
        y = x - len(str(error))
    return y


@program(*LONG)
def two_kinds_and_all_clauses(x):
    s = x[0] * 0
    try:
        for v in x:
            if v < -10:
                raise ValueError("low")
            s = s + v
            if s > 30:
                raise OverflowError("high", v.item())
    except ValueError:
        s = s - 1
    except OverflowError as error:
        s = s * error.args[1]
    else:
        s = s + 5
    finally:
        s = s * x.sum()
    return s


@program(*SETS)
def raised_by_what_is_called(x):
    try:
        return all_positive(x), ""
    except ValueError as error:
        return x, str(error)


@program(*COUNTED)
def raised_for_certain(x, n):
    try:
        for k in range(n):
            x = x + 1
            raise ValueError(k)
    except ValueError as error:
        return x * 3, error.args[0]
    return x, -1


@program(*SETS)
def raised_by_the_test_of_a_while(x):
    try:
        while checked(x) < 20:
            x = x * 2 - 1
    except (OverflowError, ValueError) as error:
        return x * 100, error.args
    return x


@program(*SETS)
def ended_by_what_is_caught(x):
    n = 0
    try:
        while True:
            x = x * 2 - 1
            n += 1
            checked(x)
    except OverflowError:
        return x * 100, n
    except ValueError as error:
        return x, n, error.args


@program(*SETS)
def ended_by_what_nobody_catches(x):
    while True:
        x = x * 2 - 1
        checked(x)


@program(*SETS)
def ended_by_a_break_or_by_what_is_raised(x):
    n = 0
    with contextlib.suppress(OverflowError, ValueError):
        while True:
            x = x * 2 + 1
            n += 1
            checked(x)
            if x.sum() < -4:
                break
    return x, n


@program(*SETS)
def ended_by_python_only(x):
    n = 0
    try:
        while True:
            x = x + 1
            n += 1
            if n > 5:
                raise ValueError(n)
            if n == 7:
                break
    except ValueError as error:
        return x, n, error.args


@program(*SETS)
def ended_by_an_iterator(x):
    items = iter([1, 2, 3])
    try:
        while True:
            x = x + next(items)
    except StopIteration:
        return x * 2


@program(*COUNTED)
def loops_in_loops(x, n):
    count = 0
    try:
        for k in range(n):
            for v in x:
                if v * k > 3:
                    raise OverflowError("v")
                count += 1
            if count > 5:
                raise KeyError(count)
    except OverflowError:
        return x * 2, count
    except LookupError as error:
        return x * 3, error.args[0]
    return x, count


@program(*SETS)
def left_in_other_ways_too(x):
    for k in range(3):
        try:
            for v in x:
                if v < -1.5:
                    raise ValueError("negative")
                if v < -0.5:
                    return x * 7, k
                x = x + 1
                if v > 10:
                    break
                if v > 1.5:
                    continue
                x = x + 5
            else:
                x = x + 0.5
        except ValueError:
            x = x + 2
            continue
        finally:
            x = x + 1
        x = x - 1.5
    return x * 3


@program(*SETS)
def raised_again_as_another(x):
    try:
        try:
            for v in x:
                if v < -1.5:
                    raise ValueError("negative")
                if v > 25:
                    raise OverflowError(v.item())
        except ValueError as error:
            raise KeyError("bad") from error
        finally:
            x = x + 1
    except KeyError as error:
        return x, type(error.__cause__).__name__, error.__cause__.args
    return x


@program(*SETS)
def what_a_trip_had_changed_stays_changed(x):
    y, seen = x * 1, {}
    try:
        for k, v in enumerate(x):
            y.add_(v)
            print("row", k, v.item())
            seen[k] = v
            assert v > -0.5, f"row {k}"
            seen[k] = v * 2
    except AssertionError as error:
        y.add_(x)
        print(error)
    return y, seen


class Swallowing:
    def __init__(self):
        self.seen = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.seen = kind and kind.__name__
        return kind is ValueError


@program(*SETS)
def seen_by_a_manager(x):
    with Swallowing() as manager:
        for v in x:
            if v < -0.5:
                raise ValueError("negative")
            x = x + 1
    return x, manager.seen


@program(*LONG)
def found_by_an_exception_of_its_own(x):
    class Found(Exception):
        def __init__(self, value):
            super().__init__("found")
            self.value = value

    try:
        for v in x:
            if v > 3.5:
                raise Found(v * 3)
    except Found as found:
        return found.value, str(found)
    return x.sum(), ""


@program(*SETS)
def only_on_some_path(x):
    try:
        if x.sum() < 10:
            for v in x:
                if v < -1:
                    raise ValueError("a")
                x = x + 1
        else:
            while x.sum() < 300:
                x = d2s.nn.functional.relu(x) * 2
                if x[0] > 100:
                    raise KeyError("b")
    except (ValueError, KeyError) as error:
        return x, repr(error)
    return x, ""


@program(*SETS, (t([-1.0, -1.0]),))
def raised_by_a_handler_by_a_tensor(x):
    try:
        try:
            for v in x:
                if v < 0:
                    raise ValueError("negative")
        except ValueError:
            if x.sum() > -2.5:
                raise KeyError("both") from None
            x = x * 2
        for v in x:
            if v > 20:
                raise KeyError("large")
        x = x + 1
    except KeyError as error:
        return x, str(error)
    return x, ""
