"""Kernels compiled by tests stay out of the user's cache; hypothesis draws the same cases in every run; Ctrl-C interrupts."""

import os
import pathlib
import signal

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("D2S_CACHE_DIR", str(ROOT / ".pytest_cache" / "d2s"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as under nohup: tests and their processes end loops by it
    signal.signal(signal.SIGINT, signal.default_int_handler)

import hypothesis  # noqa: E402 - the folder must be named before anything imports d2s

hypothesis.settings.register_profile(
    "d2s", deadline=None, derandomize=True, database=None, print_blob=False, report_multiple_bugs=False
)
hypothesis.settings.load_profile("d2s")
