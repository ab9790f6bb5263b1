"""The declarative face of graphs: programs that are declared op by op and run by an `Executor`."""

from d2s.static import nn
from d2s.static.control_flow import Print, py_func
from d2s.static.executor import CompiledProgram, Executor
from d2s.static.gradients import append_backward, gradients
from d2s.static.input_spec import InputSpec
from d2s.static.layers import create_global_var, create_parameter
from d2s.static.program import (
    Program,
    data,
    default_main_program,
    default_startup_program,
    name_scope,
    program_guard,
)
from d2s.static.recording import Variable
from d2s.static.scope import Scope, global_scope, scope_guard

__all__ = [
    "CompiledProgram",
    "Executor",
    "InputSpec",
    "Print",
    "Program",
    "Scope",
    "Variable",
    "append_backward",
    "create_global_var",
    "create_parameter",
    "data",
    "default_main_program",
    "default_startup_program",
    "global_scope",
    "gradients",
    "name_scope",
    "nn",
    "program_guard",
    "py_func",
    "scope_guard",
]
