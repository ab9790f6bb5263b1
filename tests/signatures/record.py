"""Paddle's signatures, a line each, of the names that come in on stdin: under Paddle, `python record.py < NAMES`.

`python tests/signatures/test_signatures.py` writes the names d2s has.
"""

import functools
import inspect
import sys


def parameter(of):
    """As `signatures.of` writes one of d2s."""
    star = {of.VAR_POSITIONAL: "*", of.VAR_KEYWORD: "**"}.get(of.kind, "!" if of.kind is of.KEYWORD_ONLY else "")
    default = "" if of.default is of.empty else f"={of.default!r}"
    return f"{star}{of.name}" + ("=<object>" if default.startswith("=<") else default)


def signature(value):
    """The parameters of a function; of a class, those it is made with."""
    made = value.__init__ if inspect.isclass(value) else value
    found = list(inspect.signature(made).parameters.values())
    return found[1:] if inspect.isclass(value) else found


def main():
    import paddle

    for name in sys.stdin.read().split():
        try:
            value = functools.reduce(getattr, name.split("."), paddle)
            found = signature(value)
        except (AttributeError, TypeError, ValueError):
            continue  # of another generation, or written in C++
        print(f"{name}({', '.join(map(parameter, found))})")


if __name__ == "__main__":
    main()
