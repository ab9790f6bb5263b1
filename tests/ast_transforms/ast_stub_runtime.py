"""The runtime interface with ordinary Python meaning, strict about the shape of what it is handed."""

import contextlib
import importlib
import io
import sys

from d2s.ast_transforms import convert_function
from d2s.convert import match


class Undefined:
    def __init__(self, name):
        self.name = name


def load(value, name):
    if isinstance(value, Undefined):
        assert value.name == name
        raise UnboundLocalError(name)
    return value


def _check_state(get, set_, names):
    values = get()
    assert isinstance(values, tuple) and isinstance(names, tuple) and len(values) == len(names)
    assert all(isinstance(name, str) for name in names)
    set_(values)
    again = get()
    assert all(a is b for a, b in zip(values, again, strict=True))


def if_else(test, then, otherwise, get, set_, names):
    _check_state(get, set_, names)
    chosen = then if test else otherwise
    assert chosen() is None
    _check_state(get, set_, names)


def defined(value):
    return not isinstance(value, Undefined)


def for_loop(iterable, body, stop, get, set_, names):
    _check_state(get, set_, names)
    for item in iterable:
        assert body(item) is None
        _check_state(get, set_, names)
        if stop and stop():
            break


def protected(body, handle, otherwise, finish, get, set_, names):
    _check_state(get, set_, names)
    try:
        try:
            body()
        except BaseException as error:
            assert handle(error) is None
        else:
            assert otherwise() is None
    finally:
        assert finish() is None
    _check_state(get, set_, names)


def within(manager, body, get, set_, names):
    _check_state(get, set_, names)
    with manager() as entered:
        assert body(entered) is None
    _check_state(get, set_, names)


def catches(raised, kind):
    return isinstance(raised, kind)


def raised(error, *cause):
    error = error() if isinstance(error, type) else error
    if cause:
        error.__cause__ = cause[0]
    return error


def while_loop(test, body, get, set_, names, leaves, endless):
    assert isinstance(leaves, bool)
    _check_state(get, set_, names)
    while test():
        assert body() is None
        _check_state(get, set_, names)


def if_exp(test, then, otherwise):
    return then() if test else otherwise()


def binary(x, sign, y):
    assert sign in "+-*/%@<>&|^" or sign in ("//", "**", "<<", ">>", "<=", ">=")
    return eval(f"x {sign} y", {"x": x, "y": y})


def unary(sign, x):
    assert sign in "+-~"
    return eval(f"{sign} x", {"x": x})


def is_(x, y):
    return x is y


def is_not(x, y):
    return x is not y


def equal(x, y):
    return x == y


def not_equal(x, y):
    return x != y


def made(container):
    return container


def of_items(iterable, over):
    return over(iterable)


of_generator = of_items


def generated(iterable, over, once=False):
    for item in iterable:
        test, rest, deeper = over(item)
        assert type(deeper) is bool
        if test and deeper:
            yield from generated(*rest())
        elif test:
            yield rest()


def kept(kind, iterable, over):
    return {"list": list, "set": set, "dict": dict}[kind](generated(iterable, over))


def put_together(kind, *parts):
    kinds = {"list": list, "tuple": tuple, "set": set}
    return kinds[kind](one for starred, value in parts for one in (value if starred else [value]))


def changed(value, by, sign):
    scope = {"x": value, "y": by}
    exec(f"x {sign}= y", scope)
    return scope["x"]


def assign(value, variable):
    if variable.__closure__:
        variable.__closure__[0].cell_contents = value
    else:
        variable.__globals__[variable.__code__.co_names[0]] = value


def emit(body, value):
    return body(value)


def own(variable):
    assert len(variable.__closure__) == 1


def delete_item(owner, key):
    del owner[key]


def delete_attribute(owner, name):
    delattr(owner, name)


def set_item(value, owner, key):
    owner[key] = value


set_attribute = lambda value, owner, name: setattr(owner, name, value)  # noqa: E731


def in_(x, container):
    return x in container


def not_in(x, container):
    return x not in container


def both(*operands):
    return all(operand() for operand in operands)


def either(*operands):
    return any(operand() for operand in operands)


def and_(*operands):
    for operand in operands[:-1]:
        value = operand()
        if not value:
            return value
    return operands[-1]()


def or_(*operands):
    for operand in operands[:-1]:
        value = operand()
        if value:
            return value
    return operands[-1]()


def not_(value):
    return not value


def call(function):
    return function


attribute = getattr
taken_apart = match.taken_apart  # Python's own meaning where nothing is captured


call_starred = call


def item(value, key):
    return value[key]


def iterate(value):
    return value


def formatted(value, conversion, spec=""):
    assert conversion in (-1, 97, 114, 115) and type(spec) is str
    return format({97: ascii, 114: repr, 115: str}.get(conversion, lambda v: v)(value), spec)


def text(*parts):
    return "".join(parts)


def percent(template, values):
    assert type(template) is str
    return template % values


def convert(fn):
    """`fn` converted with this module as its runtime."""
    return convert_function(fn, sys.modules[__name__]).function


def inverted(fn, loop):
    """A generator turned inside out: what it gives to a list, of `leaving` at most two items."""

    def run(*args):
        found = []

        def body(value):
            found.append(value)
            return len(found) == 2

        made = convert_function(fn, sys.modules[__name__], loop).function
        assert made(*args, _d2s_emit=body) is None
        return found

    return run


def outcome(fn, args):
    """All that can be seen of one call: what it returns or raises, and what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = ("returned", repr(fn(*args)))
        except Exception as error:
            unbound = isinstance(error, UnboundLocalError)  # its text names the variable in each version's own way
            result = ("raised", type(error).__name__, "" if unbound else str(error))
    return result, printed.getvalue()


def spread(value):
    return value


starred = starred_named = starred_keys = spread


def taken_into(value, before, behind=None, inside=()):
    if behind is not None:
        items = list(value)
        last = len(items) - behind
        if last < before:
            raise ValueError(f"not enough values to unpack (expected at least {before + behind}, got {len(items)})")
        value = [*items[:before], items[before:last], *items[last:]]
    if not inside:
        return value
    parts = list(value)
    for place, pattern in inside:
        parts[place] = when_asked(parts[place], pattern)
    return parts


def when_asked(value, pattern):
    yield from taken_into(value, *pattern)


def decorator(function):
    return function


def new_class(cls):
    return cls


def module(name, package=None):
    return importlib.import_module(name, package)


def outermost_module(name):
    importlib.import_module(name)
    return sys.modules[name.partition(".")[0]]


def imported(name, part, package=None):
    found = importlib.import_module(name, package)
    return getattr(found, part) if hasattr(found, part) else importlib.import_module(f"{found.__name__}.{part}")
