"""What every test of declared programs starts from: the declarative mode, programs of its own, names counted from 0."""

import pytest

import d2s


@pytest.fixture
def declared():
    main, startup = d2s.static.Program(), d2s.static.Program()
    d2s.enable_static()
    try:
        with (
            d2s.utils.unique_name.guard(),
            d2s.static.scope_guard(d2s.static.Scope()),
            d2s.static.program_guard(main, startup),
        ):
            yield main, startup
    finally:
        d2s.disable_static()
