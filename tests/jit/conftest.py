"""The modules here import each other under any import mode of pytest; what tests of captures share."""

import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture
def in_time():
    """The test fails where it takes 30 s of the processor's time: it would perhaps never end."""
    signal.signal(signal.SIGPROF, lambda *_: pytest.fail("still running after 30 s"))
    signal.setitimer(signal.ITIMER_PROF, 30)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
