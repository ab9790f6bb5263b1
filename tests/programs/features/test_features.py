"""Every row of the table of features is what it is marked as: right in one graph, or refused with that code; never wrong."""

import json
import pathlib

import limits
import peers
import pytest
from asked import ASKED, COMPLAINTS
from feature_rows import ROWS, SETS, Row, Subject, judge


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("row", ROWS.values(), ids=[f"{row.group.split(',')[0]}: {row.title}" for row in ROWS.values()])
def test_row(row):
    assert judge(row) == row.expected


def test_the_page_is_written_from_the_rows():
    assert limits.PAGE.read_text(encoding="utf-8") == limits.page(), "run python tests/programs/features/limits.py"


def test_every_row_that_is_asked_for_has_a_program():
    shown = {(group, title) for group, rows in ASKED.items() for titles in rows.values() for title in titles}
    assert shown <= set(ROWS)
    asked = {group: len(rows) for group, rows in ASKED.items()}
    assert asked == {
        "Branches": 17,
        "Loops": 14,
        "Containers": 13,
        "Functions": 16,
        "Exceptions and context": 5,
        "Effects, in Python order, every call": 11,
        "Gradients": 9,
        "Sources": 7,
        "Static-only traps": 5,
    }


def test_every_complaint_has_tests():
    tests = pathlib.Path(__file__).parents[2]
    assert len(COMPLAINTS) == 24
    assert not [file for file in COMPLAINTS.values() if not (tests / file).exists()]


def test_what_is_said_of_peers_was_measured_on_rows_that_are_there():
    facts = json.loads(peers.FACTS.read_text(encoding="utf-8"))
    assert set(facts) == set(peers.PEERS)
    for of in facts.values():
        assert set(of["rows"].values()) <= {*limits.KINDS, "-"} and of["version"]
        missing = {f"{group}|{title}" for (group, title), row in ROWS.items() if row.make} - set(of["rows"])
        assert len(missing) < 10, f"run python {peers.__file__} for each peer: {missing}"


def test_rows_are_marked_behind_their_text_for_peers():
    text = peers.undecorated('@row("a", refused="D2S1001")\n@kept\ndef f(x):\n    return x\n')
    assert text == "@kept\ndef f(x):\n    return x\nrow('a', refused='D2S1001')(f)"


def test_a_difference_is_never_captured_nor_refused():
    calls = []

    def unstable(x):
        return x * len(calls)

    row = Row("", "", "D2S1003", lambda: Subject(unstable, before=calls.append), SETS)
    with pytest.raises(AssertionError, match="eager != static"):
        judge(row)
