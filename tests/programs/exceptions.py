"""Programs that catch what a tensor decides to raise, and enter managers."""

import collections
import contextlib

from programs_compare import program, t

import d2s

SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([30.0, 2.0]),), (t([0.5, -0.25]),)


def checked(x):
    if x.sum() > 20:
        raise OverflowError("too large")
    if x.max() < 0:
        raise ValueError("all negative")
    return x * 2


@program(*SETS)
def caught_from_a_call(x):
    try:
        y = checked(x) + 1
    except ValueError:
        y = x - 1
    except OverflowError as error:
        y = x / len(str(error))
    return y


@program(*SETS)
def some_leave(x):
    y = x * 3
    try:
        y = y + 1
        y = checked(x) + y
    except ValueError:
        y = y - 1
    else:
        y = y * 2
    finally:
        y = y + 0.5
    return y


@program(*SETS)
def nested(x):
    trace = []
    try:
        trace.append(x * 1)
        try:
            y = checked(x)
        except ValueError as error:
            raise KeyError("inner") from error
        finally:
            x = x + 1
        y = y + x
    except KeyError:
        y = x * 5
    except OverflowError:
        y = x * 7
    return y, trace[0]


@program(*SETS)
def returns_from_inside(x):
    for k in range(3):
        try:
            if x.sum() > 2:
                return checked(x) + k
            x = x + 1
        except OverflowError:
            break
        finally:
            x = x * 1.5
    return x - 1


@program(*SETS)
def two_questions(x):
    n = 0
    try:
        if x.sum() > 0:
            n = 1
            if x.max() > 9:
                raise ValueError
            n = 2
        else:
            x = x - 1
        x = x * 2
        if x.max() > 3:
            raise ValueError
        n = n + 10
    except ValueError:
        x = x + 0.25
    return x, n


@program((t([1.0, 2.0]), 2), (t([1.0, 2.0]), 0), (t([-1.0, 2.0]), 0))
def division(x, n):
    try:
        y = x * (6 // n) if x.sum() > 0 else x
    except ZeroDivisionError:
        y = x - 1
    return y


@program((t([1.0, 2.0]), t(0)), (t([1.0, 2.0]), t(1)), (t([1.0, 2.0]), t(5)))
def index_of_a_list(x, k):
    items = [x, x * 2]
    try:
        y = items[k] + 1
    except IndexError:
        y = x - 1
    return y


@program(*SETS)
def known_when_captured(x):
    try:
        y = x @ x.reshape([1, 2])
    except ValueError:
        y = x * 2
    return y


@program(*SETS)
def reraised(x):
    y = x * 2
    try:
        y = checked(x)
    except OverflowError:
        y = y + 1
        raise
    except ValueError:
        pass
    return y


@program(*SETS)
def caught_in_a_loop(x):
    n = 0
    while n < 3:
        try:
            x = checked(x)
        except OverflowError:
            x = x - 15
        except ValueError:
            x = -x
        n += 1
    return x, n


@program((t([1.0, 2.0]), t(3)), (t([-1.0, 2.0]), t(5)), (t([1.0, 2.0]), t(0)))
def caught_in_a_loop_on_a_tensor(x, n):
    for _ in range(n):
        try:
            x = checked(x)
        except OverflowError:
            x = x - 15
        except ValueError:
            x = -x
    return x


@program(*SETS)
def null_context(x):
    with contextlib.nullcontext(2.0) as scale, contextlib.nullcontext():
        if x.sum() > 0:
            return x * scale
    return x


@program(*SETS)
def assertion_caught(x):
    try:
        assert x.sum() > 0, "not positive"
        y = x * 2
    except AssertionError:
        y = x - 1
    return y


@program(*SETS)
def unbound_in_a_handler(x):
    try:
        y = checked(x)
    except OverflowError:
        pass
    except ValueError:
        y = x
    return y


@program(*SETS)
def left_by_a_finally(x):
    y = x
    for k in range(3):
        try:
            y = checked(y) + k
        finally:
            if y.sum() > 40:
                break  # noqa: B012
            y = y * 3
            if k == 1:
                return y  # noqa: B012 - what was raised is forgotten
    return y - 1


@program(*SETS)
def returned_by_a_finally(x):
    try:
        if x.sum() > 0:
            return checked(x) * 7
    finally:
        if x.max() > 1:
            return x * 5  # noqa: B012
    return x + 1


@program((t([1.0, 2.0, 9.0]),), (t([-1.0, -2.0, -3.0]),), (t([0.5, -3.0, 8.0]),), (t([6.0, -2.0, 0.0]),))
def tried_some_times(x):
    for place in range(3):
        try:
            if x[place] > 5:
                return "found", place
            if x[place] < -1:
                raise ValueError(place)
        except ValueError as error:
            last = error.args  # noqa: F841 - nobody reads it
    return "none", place


@program((t([1.0, 2.0, 9.0]),), (t([-1.0, -2.0, -3.0]),))
def texts_of_what_ops_raise(x):
    found = []
    try:
        if x.sum() > 0:
            x = x * 2
        x = x.reshape([2, 2])
    except ValueError as error:
        found += [str(error), error.args, type(error).__name__]
    try:
        d2s.matmul(x, d2s.ones([5]))
    except Exception as error:
        found.append(f"{error}")
    return x, found


@program(*SETS)
def made_where_the_other_path_raises(x):
    if x.sum() > 0:
        found = {"a": x * 2, "parts": [x]}
        if x.max() > 1.5:
            found["b"] = x
    else:
        raise ValueError("not positive")
    found["parts"].append(x * 3)
    return found


@program(*SETS)
def made_by_what_may_raise(x):
    def parsed(value):
        if value.sum() < 0:
            raise KeyError("negative")
        return collections.OrderedDict(first=value, rest=[value * 2])

    try:
        made = parsed(x)
    except KeyError:
        made = {"rest": []}
    made["rest"].append(x)
    if len(made) > 1:
        made.pop("first")
    return made


@program(*((x, t(n)) for (x,) in SETS[:2] for n in (1, 5, -3)))
def what_an_op_raises_comes_before_what_every_run_raises(x, n):
    y = x[n]
    if y > 0:
        y = y * 2
    raise ValueError("at the end")
