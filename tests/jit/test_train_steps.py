"""Each train step of the corpus, 30 calls eager and captured: results, printed text and all that it changes are equal."""

import contextlib
import inspect
import io

import pytest
from guarded_steps import GUARDED
from hooked_steps import HOOKED
from train_steps import STEPS, World, batches, plain

import d2s

CALLS = 30


def run(name, static, calls=CALLS, **config):
    """What each call gives and leaves, all that is printed, and the captured function."""
    made, world, printed, found = STEPS[name], World(), io.StringIO(), []
    function = made.make(world)
    numbered = len(inspect.signature(function).parameters) == 2
    called = d2s.to_static(function) if static else function
    with contextlib.redirect_stdout(printed), d2s.config(**config):
        for n, batch in enumerate(batches(calls)):
            made.outside(world)
            results = called(batch, n) if numbered else called(batch)
            results = results if isinstance(results, tuple) else (results,)
            found.append(repr(([plain(r) for r in results], world.held())))
    return found, printed.getvalue(), called


@pytest.mark.parametrize("name", STEPS)
def test_a_captured_step_is_the_eager_one(name):
    (expected, printed, _), (found, told, static) = (run(name, static) for static in (False, True))
    for n, (one, other) in enumerate(zip(expected, found, strict=True)):
        assert one == other, f"call {n}"
    assert told == printed
    assert len(static.recompiles()) < STEPS[name].captures, static.recompiles()


SOME = ("gathers_gradients", "skips_nans", "skips_at_random", "scales_losses", "tells_the_rate_behind_steps")
SOME += (
    "climbs_before_its_step",
    "sweeps_from_before_a_step",
    "rests_between_two_losses",
    "two_networks_one_of_which_rests",
    *HOOKED,
)


@pytest.mark.filterwarnings("ignore::d2s.runtime.plain.CompiledWarning")
@pytest.mark.parametrize("config", [{"EXECUTOR": "interpreter"}, {"EXECUTOR": "python"}, {"CHECK": "2"}], ids=str)
@pytest.mark.parametrize("name", SOME + HOOKED + GUARDED)
def test_by_other_executors(name, config):
    assert run(name, True, 11, **config)[:2] == run(name, False, 11)[:2]
