"""Programs that raise what only a run can make: exceptions whose texts and values are those of tensors."""

import contextlib
import dataclasses

import numpy as np
from programs_compare import program, t

import d2s

S = (t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([30.0, 2.0]),)


@program(*S)
def fstring(x):
    if x.sum() > 20:
        raise ValueError(f"bad {float(x.sum())}")
    return x * 2


@program(*S)
def tensor_arg(x):
    if x.sum() > 20:
        raise ValueError("v", float(x.sum()))
    return x * 2


@program(*S)
def asserts(x):
    s = x.sum()
    assert s < 20, f"{float(s):.2f} too large"
    return x * 2


@program(*S)
def caught_str(x):
    msg = ""
    try:
        if x.sum() > 20:
            raise ValueError(f"bad {float(x.sum())}")
        if x.sum() < 0:
            raise KeyError(f"neg {float(x.sum())}")
        y = x * 2
    except (ValueError, KeyError) as e:
        msg = str(e)
        print(f"{type(e).__name__}: {e}", repr(e))
        y = x - 1
    return y, msg


@program(*S)
def raise_from(x):
    try:
        if x.sum() > 20:
            raise ValueError(f"bad {float(x.sum())}")
        y = x * 2
    except ValueError as e:
        raise RuntimeError(f"wrapped {e}") from e
    return y


class MyError(Exception):
    def __init__(self, value, code=3):
        super().__init__(f"value {float(value)} code {code}")
        self.value, self.code = value, code


@program(*S)
def custom(x):
    if x.sum() > 20:
        raise MyError(x.sum())
    return x * 2


@program(*S)
def custom_caught(x):
    try:
        if x.sum() > 20:
            raise MyError(x.sum(), code=7)
        y = x * 3
    except MyError as e:
        print(e, e.code)
        y = x + e.value * e.code
    return y


class Plain(Exception):
    pass


class Sub(Plain):
    def __str__(self):
        return f"<sub {self.args[0]}>"


@program(*S)
def custom_str(x):
    try:
        if x.sum() > 20:
            raise Sub(float(x.max()))
        if x.sum() < 0:
            raise Plain(float(x.max()))
        y = x * 3
    except Plain as e:
        print(e)
        y = -x
    return y


@program(*S)
def last_error(x):
    last = None
    for k in range(3):
        try:
            if x.sum() > 20:
                raise ValueError(f"try {k}: {float(x.sum())}")
            if x.sum() < 0:
                raise KeyError(k)
            x = x * 2
            break
        except ValueError as e:
            last = e
            x = x - 3
        except KeyError as e:
            last = e
            x = x + 4
    else:
        raise last
    return x


@program(*S)
def in_loop(x):
    n = 0
    while x.sum() > 1:
        n += 1
        if n > 4:
            raise RuntimeError(f"no convergence after {n}: {float(x.sum())}")
        x = x * 0.5
    return x


@program(*S)
def always(x):
    raise ValueError(f"always {float(x.sum())}")


@program(*S)
def index_err(x):
    if x.sum() > 20:
        raise IndexError(int(x[0]))
    if x.sum() < 0:
        raise KeyError(int(x[0]))
    return x


@program(*S)
def context(x):
    try:
        try:
            if x.sum() > 20:
                raise ValueError(f"bad {float(x.sum())}")
        except ValueError:
            raise KeyError("inner")  # noqa: B904 - its context is asked for
    except KeyError as e:
        print(repr(e.__context__), e.__cause__)
    return x


@program(*S)
def stop(x):
    try:
        if x.sum() > 20:
            raise StopIteration(float(x.sum()))
    except StopIteration as e:
        return x * e.value
    return x


@program(*S)
def suppressed(x):
    with contextlib.suppress(ValueError):
        if x.sum() > 20:
            raise ValueError(f"{float(x.sum())}")
        x = x + 1
    return x


@dataclasses.dataclass
class DErr(Exception):
    code: int
    value: float = 0.5


@program(*S)
def dataclass_error(x):
    try:
        if x.sum() > 20:
            raise DErr(3, float(x.sum()))
        if x.sum() < 0:
            raise DErr(int(x[0]))
    except DErr as e:
        print(e.code, e.value)
        return x * e.value
    return x


class Base(Exception):
    code = 1

    def describe(self):
        return f"{type(self).__name__}[{self.code}] {self.args[0]}"


class A(Base):
    code = 2


class B(A):
    code = 3


@program(*S)
def method_of_error(x):
    try:
        if x.sum() > 20:
            raise A(float(x.sum()))
        if x.sum() < 0:
            raise B(float(x.min()))
    except B as e:
        print("B", e.describe())
    except Base as e:
        print("base", e.describe(), isinstance(e, A), type(e).__name__)
    else:
        print("none")
    finally:
        print("fin")
    return x


@program(*S)
def order2(x):
    try:
        if x.sum() > 20:
            raise KeyError(float(x.sum()))
        if x.sum() < 0:
            raise IndexError(float(x.min()))
        raise LookupError(f"plain {x.tolist()}")
    except KeyError as e:
        print("key", e)
    except (IndexError, ValueError) as e:
        print("idx", e)
    except LookupError as e:
        print("lookup", e, e.args)
    return x


@program(*S)
def order3(x):
    kinds = [ValueError, KeyError, ZeroDivisionError]
    out = []
    for k, kind in enumerate(kinds):
        try:
            if x.sum() > k * 10:
                raise kind(f"{k} {float(x[0])}")
            out.append("none")
        except (ArithmeticError, KeyError) as e:
            out.append(f"first {e}")
        except Exception as e:
            out.append(f"second {e}")
    return x, out


@program(*S)
def nested_finally(x):
    trace = []
    try:
        try:
            try:
                if x.sum() > 20:
                    raise ValueError(f"a{float(x.sum())}")
                trace.append("body")
            finally:
                trace.append("f1")
                if x.sum() > 25:
                    raise KeyError(f"b{float(x[0])}")
        except ValueError as e:
            trace.append(f"ve {e}")
        finally:
            trace.append("f2")
    except KeyError as e:
        trace.append(f"ke {e} {e.__context__!r}")
    print(trace)
    return x


@program(*S)
def raise_class(x):
    try:
        if x.sum() > 20:
            raise ValueError
        if x.sum() < 0:
            raise KeyError from None
    except ValueError as e:
        print(repr(e), e.args)
        raise TypeError(f"conv {float(x.max())}") from e
    return x


@program(*S)
def collected(x):
    errors = []
    for k in range(3):
        try:
            if x.sum() > 20:
                raise ValueError(f"v{k} {float(x.sum())}")
            if x.sum() < 0:
                raise KeyError(k)
        except Exception as e:
            errors.append(e)
        x = x - 10
    print(len(errors), [str(e) for e in errors], [type(e).__name__ for e in errors])
    return x


@program(*S)
def returns_error(x):
    def attempt(y):
        if y.sum() > 20:
            raise ValueError(f"v {float(y.sum())}")
        return y * 2

    def safe(y):
        try:
            return attempt(y), None
        except ValueError as e:
            return None, e

    v, e = safe(x)
    if e is not None:
        print("failed:", e)
        return x
    return v


@program(*S)
def retry(x):
    last = None
    for attempt in range(4):
        try:
            if x.sum() > 5 - attempt:
                raise RuntimeError(f"attempt {attempt}: {float(x.sum()):.1f}")
            break
        except RuntimeError as e:
            last = e
            x = x * 0.5
    else:
        raise RuntimeError("gave up") from last
    return x, None if last is None else str(last)


@program(*S)
def assert_tuple(x):
    s = float(x.sum())
    assert s < 20, (s, "big")
    assert s > 0, {"s": s}
    return x


class WithState(Exception):
    def __init__(self, msg, state):
        Exception.__init__(self, msg)
        self.state = state
        self.log = []

    def __str__(self):
        return f"{self.args[0]} / {len(self.log)}"


@program(*S)
def with_state(x):
    def step(y):
        if y.sum() > 20:
            raise WithState("big", y)
        return y + 1

    try:
        x = step(x)
    except WithState as e:
        e.log.append("seen")
        e.state = e.state * 2
        print(e)
        x = e.state
    return x


@program(*S)
def uncaught_state(x):
    if x.sum() > 20:
        e = WithState("big", x)
        e.log.append(float(x.sum()))
        raise e
    return x


@program(*S)
def with_manager(x):
    class_log = []

    @contextlib.contextmanager
    def managed(name):
        class_log.append("enter")
        try:
            yield name
        except ValueError as e:
            class_log.append(f"saw {e}")
        finally:
            class_log.append("exit")

    with managed("a") as n:
        if x.sum() > 20:
            raise ValueError(f"in {n} {float(x.sum())}")
        class_log.append("done")
    return x, class_log


class Manager:
    def __init__(self):
        self.seen = []

    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        self.seen.append(None if kind is None else f"{kind.__name__} {value}")
        return kind is not None and issubclass(kind, ValueError)


@program(*S)
def with_class(x):
    m = Manager()
    with m as s:
        if x.sum() > 20:
            raise ValueError(f"{float(x.sum())}")
        if x.sum() < 0:
            raise ValueError("neg")
        s.seen.append("ok")
    return x, m.seen


@program(*S)
def var_deleted(x):
    e = 5
    try:
        if x.sum() > 20:
            raise ValueError(f"{float(x.sum())}")
    except ValueError as e:  # noqa: F841 - bound, and then unbound
        pass
    try:
        print(e)
    except NameError as n:
        print(type(n).__name__)
    return x


@program(*S)
def in_tensor_loop(x):
    total = x.sum() * 0
    for row in x:
        try:
            if row > 20:
                raise ValueError(f"big {float(row)}")
            if row < 0:
                raise KeyError("neg", float(row))
            total = total + row
        except ValueError as e:
            print(e)
            total = total + 100
        except KeyError as e:
            print(e.args)
            total = total - e.args[1]
    return total


@program(*S)
def text_of_one_of_several(x):
    name = f"{float(x[0])}" if x.sum() > 0 else f"{float(x[1])}!"
    return x, str(name).replace(".", ",")


@program(*S)
def lists_in_a_list_by_the_path(x):
    found = []
    for _ in range(3):
        if x.sum() > 0:
            found.append([x])
        x = x - 10
    return len(found), found[-1][0] if found else x


MATRICES = tuple((t(values),) for values in ([2.0, 1.0, 4.0, 1.0], [1.0, 1.0, 1.0, 1.0], [3.0, 5.0, -1.0, 1.0]))


@program(*MATRICES)
def singular(x):
    try:
        inverse = np.linalg.inv(x.numpy().reshape(2, 2))
    except np.linalg.LinAlgError as error:
        print(type(error).__name__, error)
        return x
    else:
        print("inverted")
    finally:
        print("end")
    return x * float(inverse[0, 0])


@program(*MATRICES)
def seen_from_outside(x):
    try:
        with contextlib.suppress(np.linalg.LinAlgError):
            x = x * float(np.linalg.inv(x.numpy().reshape(2, 2)).sum()) if x.sum() > 4.5 else x - 1
            x = x * np.arange(3)[int(x[0])]
    except IndexError as error:
        print(error)
        raise ValueError(f"no place: {error}") from error
    return x


@program(*MATRICES)
def a_number_from_a_text(x):
    try:
        digit = int(str(x[2].item())[0])
    except ValueError as error:
        return x, str(error)
    with d2s.no_grad():
        y = x.numpy() + 1
    return x * digit, float(y.sum())
