"""Random functions that change what lies outside, train, call or act: what they give and leave is eager code's, call by call.

python tests/fuzz/test_changes_outside.py keeping 1000 200    tries the 200 programs of that kind from seed 1000 on
"""

import sys

import pytest
from changes_outside import compared, tried
from keeping_programs import Keeping
from random_acting import Acting
from random_calls import FromEverywhere
from random_sizes import OfManySizes
from random_steps import WholeStep
from sharing_programs import Sharing

KINDS = {
    "keeping": Keeping,
    "sharing": Sharing,
    "steps": WholeStep,
    "calls": FromEverywhere,
    "sizes": OfManySizes,
    "acting": Acting,
}

COUNTS = {"keeping": 60, "sharing": 25, "steps": 60, "calls": 200, "sizes": 100, "acting": 40}


@pytest.mark.parametrize(("kind", "seed"), [(kind, seed) for kind, count in COUNTS.items() for seed in range(count)])
def test_calls_give_and_leave_what_eager_code_does(kind, seed):
    compared(KINDS[kind](seed), f"{kind} {seed}")


@pytest.mark.parametrize(("kind", "most"), [("keeping", 12), ("steps", 6), ("calls", 24), ("acting", 8)])
def test_most_are_captured(kind, most):
    assert sum(compared(KINDS[kind](seed), f"{kind} {seed}") is not None for seed in range(60, 100)) < most


if __name__ == "__main__":
    tried(KINDS[sys.argv[1]], sys.argv[1], *map(int, sys.argv[2:]))
