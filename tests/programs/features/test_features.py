"""Every row of the table of features is what it is marked as: right in one graph, or refused with that code; never wrong."""

import limits
import pytest
from feature_rows import ROWS, SETS, Row, Subject, judge


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("row", ROWS.values(), ids=[f"{row.group.split(',')[0]}: {row.title}" for row in ROWS.values()])
def test_row(row):
    assert judge(row) == row.expected


def test_the_page_is_written_from_the_rows():
    assert limits.PAGE.read_text(encoding="utf-8") == limits.page(), "run python tests/programs/features/limits.py"


def test_a_difference_is_never_captured_nor_refused():
    calls = []

    def unstable(x):
        return x * len(calls)

    row = Row("", "", "D2S1003", lambda: Subject(unstable, before=calls.append), SETS)
    with pytest.raises(AssertionError, match="eager != static"):
        judge(row)
