"""Whether static functions are captured at all, and what is printed on the way: Paddle's switches, on the knobs of d2s.

>>> translator = ProgramTranslator.get_instance()
>>> translator.enable(False)
>>> translator.enable_to_static, d2s.to_static(lambda x: x + 1)(41)
(False, 42)
>>> enable_to_static(True)
>>> translator.enable_to_static
True
"""

from typing import Any

from d2s.arguments import expect
from d2s.ast_transforms import PIPELINE
from d2s.config import knob, set_knobs
from d2s.jit.to_static import StaticFunction, to_static

_CODE = [module.__name__.rpartition(".")[2] for module in PIPELINE]


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Whether static functions run as graphs (True, as at first) or as plain Python."""
    expect("enable_to_static", "enable_to_static_bool", enable_to_static_bool, bool, "a bool")
    set_knobs(EAGER="0" if enable_to_static_bool else "1")


class ProgramTranslator:
    """One for all the process, however it is asked for."""

    _one: "ProgramTranslator | None" = None

    def __new__(cls) -> "ProgramTranslator":
        cls._one = cls._one or super().__new__(cls)
        return cls._one

    @classmethod
    def get_instance(cls) -> "ProgramTranslator":
        """The translator."""
        return cls()

    @property
    def enable_to_static(self) -> bool:
        return knob("EAGER") == "0"

    def enable(self, enable_to_static: bool) -> None:
        """The same as `enable_to_static`."""
        expect("enable", "enable_to_static", enable_to_static, bool, "a bool")
        set_knobs(EAGER="0" if enable_to_static else "1")

    def get_code(self, dygraph_func: Any) -> str:
        """The rewritten Python of a function."""
        return _static(dygraph_func).code

    def get_output(self, dygraph_func: Any, *args: Any, **kwargs: Any) -> Any:
        """What a function returns, run as a graph."""
        return _static(dygraph_func)(*args, **kwargs)

    def get_program(self, dygraph_func: Any, *args: Any, **kwargs: Any) -> Any:
        """The Program that a call with these arguments runs."""
        return _static(dygraph_func).program(*args, **kwargs)


def _static(function: Any) -> StaticFunction:
    made: StaticFunction = function if isinstance(function, StaticFunction) else to_static(function)
    return made


def _prints(stages: list[str], on: bool) -> None:
    kept = [s for s in knob("PRINT").split(",") if s and s not in stages]
    set_knobs(PRINT=",".join(kept + (stages if on else [])))


def set_code_level(level: int = 100, also_to_stdout: bool = False) -> None:
    """Prints what a function is rewritten to: after this many transforms, or (100) after all; 0 prints nothing."""
    expect("set_code_level", "level", level, int, "an int")
    _prints(_CODE, on=False)
    if level > 0:
        _prints([_CODE[min(level, len(_CODE)) - 1]], on=True)


def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """Prints why functions are captured (from 1 on), and the programs (from 3 on)."""
    expect("set_verbosity", "level", level, int, "an int")
    _prints(["recompiles"], on=level > 0)
    _prints(["program"], on=level > 2)
