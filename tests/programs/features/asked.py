"""What `to_static` is asked to hold, row by row, and where that is shown: the rows of this folder, and tests for complaints.

In: nothing. Out: `ASKED`, by group and row the titles of rows that show it; `COMPLAINTS`, what users of peers complain of, most
first, and the tests that would see it here.
"""

_SAME: dict[str, str] = {  # groups whose rows have the titles they are asked by; of these, with and without marks of code
    "Branches": "`if` · `if` with early return · ternary · walrus in a condition · chained compare · None or tensor · "
    "variable defined in one branch only · branch dtype differs · branch shape differs · branch sets a string · "
    "a Python int stays an int · `and`/`or` return their operand · `and` short-circuits (guards an index) · `and` in an `if` · "
    "condition on shape, two shapes · `float(tensor)` in a condition · `match` on a tensor value",
    "Loops": "`while` · `while True` with tensor break · loop changes a carried shape · carried None becomes a tensor · "
    "variable first defined in the loop · `for i in range(tensor)` · `for row in tensor` · Python range with tensor break · "
    "`continue` · `return` inside a loop · nested if/while/break/continue · infinite Python iterator with break",
    "Containers": "list append in a tensor loop · list append in a tensor if · nested list append · pop · insert · "
    "dict gains a key in a tensor loop · slice assignment · tuple · namedtuple · attribute mutation in a tensor if · "
    "a method that mutates state in a tensor loop · caller's list mutated by the callee · a dataclass carried through a loop",
    "Functions": "`nonlocal` assignment · `global` assignment · recursion on a tensor condition, depth 500 · "
    "lambda with a ternary · generator · comprehension with a ternary · `*args`/`**kwargs` · closures · decorated functions · "
    "string and scalar arguments that change · partial functions · bound and unbound methods, any name for `self` · "
    "`super()`, properties · `to_static` of a builtin · `to_static` of a class · `to_static` of a callable object",
    "Exceptions and context": "try/except with a tensor if · try/finally with return · `with` and return inside a tensor if · "
    "`assert` fires (user's message) · `raise` in a tensor branch",
    "Effects, in Python order, every call": "print when the branch is taken · print a tensor value · logging · "
    "a Python counter · global changed between calls · object flag changed · closure tensor rebound · "
    "Python random fresh each call · NumPy call inside · `x.numpy()` · `x.item()`",
    "Gradients": "through `if` · through `while` · through `break` · through list append · through nested functions · "
    "through in-place updates · two forwards before one backward · second order · "
    "gradient of an unused branch is what the eager one is",
    "Sources": "module · `python -c` · notebook cell redefined · two lambdas on one line · a function edited and reloaded",
    "Static-only traps": "batch size None used as a Python int · 50 batch sizes: at most 2 captures · "
    "learning-rate floats that change every step never recompile · trip count never affects compile time · "
    "undefined variable read raises only on the path that reads it",
}
ASKED: dict[str, dict[str, tuple[str, ...]]] = {
    group: {title: (title,) for title in titles.split(" · ")} for group, titles in _SAME.items()
}
ASKED["Loops"]["enumerate, zip, reversed"] = "`enumerate` of a tensor", "`zip` of tensors", "`reversed` tensor"
ASKED["Loops"]["for-else and while-else (Python and tensor)"] = (
    "`for`-`else` over Python items",
    "`for`-`else` over a tensor's count",
    "`while`-`else` on Python",
    "`while`-`else` on a tensor",
)
ASKED["Sources"]["REPL"] = (
    "REPL (before Python 3.13: where it has readline)",
    "REPL without readline, before Python 3.13",
)
ASKED["Sources"]["exec'd string"] = (
    "exec'd string that a caller still holds",
    "exec'd string that nobody holds any more",
    "exec'd string whose text stands in linecache",
)

COMPLAINTS: dict[str, str] = {
    "silent eager≠compiled": "fuzz/test_random_programs.py",
    "cold start": "codegen/test_cache.py",
    "recompiles with no reason": "jit/test_recompiles.py",
    "undefined/None/type/shape changing across branches": "programs/by_path.py",
    "disk cache stale, racy, corrupt": "codegen/test_store.py",
    "errors pointing at generated code": "jit/test_diagnostics.py",
    "threads, fork, oversubscription": "jit/test_many_at_once.py",
    "source not found": "programs/features/feature_sources.py",
    "save/load surprises": "test_save_load.py",
    "tensor as bool": "programs/branches.py",
    "export of control flow": "programs/test_programs_in_onnx.py",
    "gradients through while": "programs/features/feature_gradients.py",
    "containers in tensor loops": "programs/growing.py",
    "side effects run once": "programs/effects.py",
    "version lag": "test_another_python.py",
    "dynamic shapes leaking as -1/None": "jit/test_open_extents.py",
    "memory growing per variant": "jit/test_freed_graphs.py",
    "no summary, repr, progress, typing": "hapi/test_summary.py",
    "breakpoints": "jit/test_diagnostics.py",
    "compiled slower than eager": "jit/test_quick.py",
    "process abort": "export/test_lying_programs.py",
    "where the NaN came from": "test_debug.py",
    "no fast exp/tanh from pip": "ops/test_vector_math.py",
    "docs that do not run": "test_readme_and_samples.py",
}
