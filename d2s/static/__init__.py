"""The declarative face of graphs: programs that are declared op by op and run by an `Executor`."""

from d2s.static import nn
from d2s.static.averages import ExponentialMovingAverage
from d2s.static.control_flow import Print, py_func
from d2s.static.executor import CompiledProgram, Executor
from d2s.static.files import (
    deserialize_persistables,
    deserialize_program,
    load,
    load_from_file,
    load_inference_model,
    load_program_state,
    normalize_program,
    save,
    save_inference_model,
    save_to_file,
    serialize_persistables,
    serialize_program,
    set_program_state,
)
from d2s.static.gradients import append_backward, gradients
from d2s.static.input_spec import InputSpec
from d2s.static.layers import create_global_var, create_parameter
from d2s.static.measures import accuracy, auc, cpu_places
from d2s.static.program import (
    Program,
    data,
    default_main_program,
    default_startup_program,
    name_scope,
    program_guard,
)
from d2s.static.scope import Scope, global_scope, scope_guard
from d2s.static.strategies import BuildStrategy, ExecutionStrategy, cuda_places, device_guard, xpu_places
from d2s.static.variable import Variable

__all__ = [
    "BuildStrategy",
    "CompiledProgram",
    "ExecutionStrategy",
    "Executor",
    "ExponentialMovingAverage",
    "InputSpec",
    "Print",
    "Program",
    "Scope",
    "Variable",
    "accuracy",
    "append_backward",
    "auc",
    "cpu_places",
    "create_global_var",
    "create_parameter",
    "cuda_places",
    "data",
    "default_main_program",
    "default_startup_program",
    "deserialize_persistables",
    "deserialize_program",
    "device_guard",
    "global_scope",
    "gradients",
    "load",
    "load_from_file",
    "load_inference_model",
    "load_program_state",
    "name_scope",
    "nn",
    "normalize_program",
    "program_guard",
    "py_func",
    "save",
    "save_inference_model",
    "save_to_file",
    "scope_guard",
    "serialize_persistables",
    "serialize_program",
    "set_program_state",
    "xpu_places",
]
