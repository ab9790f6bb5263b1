"""Tests; they import each other from the repository's root: `python -m pytest`."""
