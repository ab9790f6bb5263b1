"""Every program of the corpus: eager, compiled, interpreted, some un-jitted; on every argument set, with gradients."""

import arrays_of_numpy
import as_often_as_a_run_says
import as_users_write
import attributes_by_path
import branches
import by_path
import calls
import changed_arguments
import collected
import containers
import defined_inside
import exceptions
import exits
import facts
import found_extents
import growing
import iterators
import kept_items
import kinds
import layers
import library_of_python
import loops
import machine
import managers
import numbers_
import numbers_of_numpy
import objects
import ordinary
import own_gradients
import pytest
import raised_by_runs
import raising_loops
import recursion
import sets_by_path
import sizes
import stars
import taken_apart
import two_names
import user_operators
import views
from programs_compare import PROGRAMS, check

MODULES = (
    arrays_of_numpy,
    as_often_as_a_run_says,
    as_users_write,
    attributes_by_path,
    branches,
    by_path,
    calls,
    changed_arguments,
    collected,
    containers,
    defined_inside,
    exceptions,
    exits,
    facts,
    found_extents,
    growing,
    iterators,
    kept_items,
    kinds,
    layers,
    own_gradients,
)
MODULES += library_of_python, loops, machine, managers, numbers_, numbers_of_numpy, objects, ordinary, raised_by_runs
MODULES += raising_loops, recursion, sets_by_path, sizes, stars, taken_apart, two_names, user_operators, views
# kernels in plain Python are slow: these are of small values
UNJITTED = "branches", "loops", "exits", "growing", "found_extents", "recursion"
CORPUS = [
    pytest.param(function, sets, id=f"{module.__name__}-{function.__name__}")
    for module in MODULES
    for function, sets in PROGRAMS[module.__name__]
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::d2s.runtime.plain.CompiledWarning")
@pytest.mark.parametrize(("function", "argument_sets"), CORPUS)
def test_program(function, argument_sets):
    check(function, argument_sets, unjitted=function.__module__ in UNJITTED)
