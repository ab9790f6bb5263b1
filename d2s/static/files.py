"""Declared programs as Paddle's files, and back: for inference, as checkpoints, and as bytes.

In: a program, what it is fed and what it computes. Out: `prefix.pdmodel` and `.pdiparams`, or a folder as older versions wrote
it; read again, a program an Executor runs.

>>> import tempfile
>>> d2s.enable_static()
>>> main, exe = d2s.static.Program(), d2s.static.Executor()
>>> with d2s.static.program_guard(main):
...     x = d2s.static.data("x", [None, 2])
...     y = x * 2.0
>>> path = tempfile.mkdtemp() + "/double"
>>> save_inference_model(path, [x], [y], exe, program=main)
>>> program, feeds, fetches = load_inference_model(path, exe)
>>> exe.run(program, feed={feeds[0]: np.ones((1, 2), "float32")}, fetch_list=fetches)[0].tolist()
[[2.0, 2.0]]
>>> d2s.disable_static()
"""

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s import checkpoint, export, memory
from d2s.arguments import expect
from d2s.checkpoint import whole_files
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, D2SError, FormatError
from d2s.export import paddle_format, paddle_reader, paddle_writer, protobuf, tensors
from d2s.ir.program import Program as Graph
from d2s.ir.program import Value
from d2s.static.loading import loaded
from d2s.static.program import Program, default_main_program
from d2s.static.replay import Replay
from d2s.static.scope import global_scope
from d2s.static.testing import as_tested
from d2s.static.variable import Fed, Held, Variable


def model_of(program: Program, feeds: Sequence[Variable], fetches: Sequence[Any]) -> export.Model:
    """What computes the fetches from the feeds, as a file holds it: no gradients, no updates."""
    tested = program.clone(for_test=True)
    recording = tested.recording
    computed = [_declared(program, one).value for one in fetches]
    declared_nodes = {*map(id, recording.builder.nodes)}
    recording.builder.nodes = _needed(as_tested(recording), computed)
    other = not declared_nodes.issuperset(map(id, recording.builder.nodes))
    fed = {role.name: declared.type.shape for declared, role in recording.roles.items() if isinstance(role, Fed)}
    replay = Replay(recording, {name: [d if isinstance(d, int) else str(d) for d in shape] for name, shape in fed.items()})
    outputs = [replay.value(value) for value in computed]
    inputs, parameters = [], {}
    for variable in feeds:
        value = replay.value(variable.value)
        value.name = _fed_name(recording, variable)
        inputs.append(value)
    nodes = _needed(replay.builder.nodes, outputs)
    read = {v for node in nodes for v in node.inputs} | set(outputs)
    for declared, role in recording.roles.items():
        value = replay.values[declared]
        if value not in read or value in inputs:
            continue
        if not isinstance(role, Held):
            what = f"'{role.name}'" if isinstance(role, Fed) else "random numbers"
            raise ArgumentError("D2S0004", f"the fetches depend on {what}, which 'feed_vars' does not list")
        tensor = global_scope().now(role.tensor)
        value.name = role.tensor.name or value.name
        parameters[value.name] = export.Parameter(tensor.array, value.name, not tensor.stop_gradient)
        inputs.append(value)
    names = [program.recording.name_of(one) if isinstance(one, Variable) else one.name for one in fetches]
    names = [f"{n}_{k}" if n in names[:k] or n in (v.name for v in inputs) else n for k, n in enumerate(names)]
    whole, fed_names = Graph("main", tuple(inputs), tuple(nodes), tuple(outputs)), [v.name for v in inputs[: len(feeds)]]
    why = "save_inference_model() has kept of it what inference does"
    return export.Model(whole, fed_names, parameters, names, training=why if other else None)


def _declared(program: Program, one: Any) -> Variable:
    return one if isinstance(one, Variable) else program.recording.lift(one)


def _fed_name(recording: Any, variable: Variable) -> str:
    role = recording.roles.get(variable.value)
    if not isinstance(role, Fed):
        raise ArgumentError("D2S0004", f"'feed_vars' holds '{variable.name}', which no run is fed; data() declares what is")
    return role.name


def _needed(nodes: Sequence[Any], outputs: Sequence[Value]) -> list[Any]:
    alive, found = set(outputs), []
    for node in reversed(nodes):
        if not alive.isdisjoint(node.outputs):
            alive.update(node.inputs)
            found.append(node)
    return found[::-1]


def _variables(program: Program, argument: str, given: Any) -> list[Any]:
    """Variables, given as such or by name."""
    expect("save_inference_model", "program", program, Program, "a Program")
    listed = list(given) if isinstance(given, list | tuple) else [given]
    found = [program.named(one) if isinstance(one, str) else one for one in listed]
    for one in found:
        expect("save_inference_model", argument, one, Variable | Tensor if argument == "fetch_vars" else Variable, "variables")
    return found


def save_inference_model(
    path_prefix: str, feed_vars: Any, fetch_vars: Any, executor: Any = None, program: Program | None = None, **kwargs: Any
) -> None:
    """Writes what computes `fetch_vars` from `feed_vars`, with its parameters.

    Where `model_filename` or `params_filename` is given, `path_prefix` is a folder as fluid wrote it: `__model__`, and a file
    for each parameter, or that one for all.
    """
    program, names = program or default_main_program(), _file_names("save_inference_model", kwargs, str, _OPTIONS)
    if any(names):
        save_folder(os.fspath(path_prefix), feed_vars, fetch_vars, program, *names)
        return
    feeds, fetches = _variables(program, "feed_vars", feed_vars), _variables(program, "fetch_vars", fetch_vars)
    export.save(model_of(program, feeds, fetches), path_prefix)


def load_inference_model(path_prefix: Any, executor: Any = None, **kwargs: Any) -> list[Any]:
    """A program, the names of its feeds, and its fetches.

    `path_prefix` is that of the files, or a folder, in which `model_filename` is `__model__` and each parameter has a file of
    its own unless told otherwise; where it is None, the two are the bytes of a program and of its parameters.
    """
    names = _file_names("load_inference_model", kwargs, bytes if path_prefix is None else str)
    if path_prefix is None:
        return _with_values(_of_bytes(*names))
    expect("load_inference_model", "path_prefix", path_prefix, str | os.PathLike, "a path")
    if any(names) or (os.path.isdir(path_prefix) and not os.path.exists(f"{os.fspath(path_prefix)}.pdmodel")):
        return load_folder(os.fspath(path_prefix), *names)
    return _with_values(export.load(path_prefix))


_FILES, _OPTIONS = ("model_filename", "params_filename"), ("clip_extra", "legacy_format", "skip_prune_program")


def _file_names(function: str, given: dict[str, Any], kind: type, besides: Sequence[str] = ()) -> list[Any]:
    """What `model_filename` and `params_filename` are; `besides` says what is of no consequence here."""
    unknown = given.keys() - {*_FILES, *besides}
    if unknown:
        raise ArgumentError("D2S0001", f"{function}() has no argument '{min(unknown)}'")
    for name in _FILES:
        expect(function, name, given.get(name), kind | None, f"a {kind.__name__}")
    return [given.get(name) for name in _FILES]


def _of_bytes(program: Any, parameters: Any) -> export.Model:
    if program is None or parameters is None:
        message = "load_inference_model(): 'path_prefix' is None: 'model_filename' and 'params_filename' are to be bytes"
        raise ArgumentError("D2S0004", message)
    with paddle_format.damage_named("'model_filename'"):
        described = protobuf.decode("ProgramDesc", program)
        arrays = tensors.read_parameters(parameters, paddle_reader.parameters(described))
        return paddle_format.model_of(program, described, arrays, {})


def _with_values(model: export.Model) -> list[Any]:
    program, feeds, fetches = loaded(model)
    return [program, feeds, fetches]


# --- folders, as fluid and 2.0 alpha wrote them ------------------------------------------------------------------------------


def save_folder(
    folder: str,
    feeds: Any,
    fetches: Any,
    program: Program,
    model_filename: str | None = None,
    params_filename: str | None = None,
) -> list[str]:
    """Writes `__model__` and a file for each parameter, or one for all."""
    return write_folder(
        model_of(program, _variables(program, "feed_vars", feeds), _variables(program, "fetch_vars", fetches)),
        folder,
        model_filename,
        params_filename,
    )


def write_folder(
    model: export.Model, folder: str, model_filename: str | None = None, params_filename: str | None = None
) -> list[str]:
    """The same of a model; returns the names of what is fetched."""
    described, stored = paddle_writer.describe(model)
    files = {model_filename or "__model__": protobuf.encode("ProgramDesc", described)}
    arrays = {name: p.array for name, p in stored.items()}
    if params_filename is None:
        files |= {name: tensors.write_parameters({name: array}) for name, array in arrays.items()}
    else:
        files[params_filename] = tensors.write_parameters(arrays)
    with whole_files.together(folder):
        whole_files.replace({os.path.join(folder, name): data for name, data in files.items()})
    return model.fetches


def load_folder(folder: str, model_filename: str | None = None, params_filename: str | None = None) -> list[Any]:
    """What `load_inference_model` gives, of a folder."""
    return _with_values(export.load_folder(folder, model_filename, params_filename))


# --- bytes -------------------------------------------------------------------------------------------------------------------


def serialize_program(feed_vars: Any, fetch_vars: Any, program: Program | None = None, **kwargs: Any) -> bytes:
    """A program without the values of its parameters, as Paddle's bytes."""
    return protobuf.encode("ProgramDesc", paddle_writer.describe(_model(feed_vars, fetch_vars, program))[0])


def serialize_persistables(
    feed_vars: Any, fetch_vars: Any, executor: Any = None, program: Program | None = None, **kwargs: Any
) -> bytes:
    """The values of its parameters."""
    _, stored = paddle_writer.describe(_model(feed_vars, fetch_vars, program))
    return tensors.write_parameters({name: p.array for name, p in stored.items()})


def _model(feed_vars: Any, fetch_vars: Any, program: Program | None) -> export.Model:
    held = program or default_main_program()
    return model_of(held, _variables(held, "feed_vars", feed_vars), _variables(held, "fetch_vars", fetch_vars))


def deserialize_program(data: bytes) -> Program:
    """The program of `serialize_program`; its parameters are 0 until `deserialize_persistables`."""
    expect("deserialize_program", "data", data, bytes, "bytes")
    with paddle_format.damage_named("'data'"):
        return _program_of(data)


def _program_of(data: bytes) -> Program:
    described = protobuf.decode("ProgramDesc", data)
    names = paddle_reader.parameters(described)
    declared = {v["name"]: v["type"]["lod_tensor"]["tensor"] for v in described["blocks"][0]["vars"] if v["name"] in names}
    arrays = {}
    for name, held in declared.items():
        of = tensors.dtype_of(held["data_type"]).numpy
        memory.check("deserialize_program", held["dims"], of)
        arrays[name] = np.zeros(held["dims"], of)
    model = paddle_format.model_of(data, described, arrays, {})
    program, feeds, fetches = loaded(model, False)
    program.notes["feeds"], program.notes["fetches"] = feeds, fetches
    return program


def deserialize_persistables(program: Program, data: bytes, executor: Any = None) -> None:
    """Gives the parameters of a program the values of `serialize_persistables`."""
    expect("deserialize_persistables", "program", program, Program, "a Program")
    expect("deserialize_persistables", "data", data, bytes, "bytes")
    held = {t.name: global_scope().place(t) for t in program.persistables()}
    for name, array in tensors.read_parameters(data, held).items():
        held[name].set_value(array)


def normalize_program(program: Program, feed_vars: Any, fetch_vars: Any, **kwargs: Any) -> Program:
    """The program without what the fetches do not need."""
    expect("normalize_program", "program", program, Program, "a Program")
    _variables(program, "feed_vars", feed_vars)
    found = program.clone(for_test=True)
    outputs = [_declared(program, one).value for one in _variables(program, "fetch_vars", fetch_vars)]
    found.recording.builder.nodes = _needed(found.recording.builder.nodes, outputs)
    return found


def save_to_file(path: str, content: bytes) -> None:
    """Writes bytes, all at once."""
    expect("save_to_file", "path", path, str, "a str")
    expect("save_to_file", "content", content, bytes, "bytes")
    whole_files.replace({path: content})


def load_from_file(path: str) -> bytes:
    """The bytes of a file."""
    expect("load_from_file", "path", path, str, "a str")
    try:
        return whole_files.read(path)
    except FileNotFoundError:
        raise FormatError("D2S3001", f"{path} cannot be read: there is no such file") from None


# --- checkpoints -------------------------------------------------------------------------------------------------------------


def save(program: Program, model_path: str, protocol: int = 4, **configs: Any) -> None:
    """Writes the parameters (`.pdparams`) and the state of the optimizers (`.pdopt`) of a program, and what it computes in
    inference (`.pdmodel`); of that it is only warned, where Paddle's ops cannot say it."""
    expect("save", "program", program, Program, "a Program")
    checkpoint.save(program.state_dict("param"), f"{model_path}.pdparams", protocol)
    checkpoint.save(program.state_dict("opt"), f"{model_path}.pdopt", protocol)
    try:
        described = serialize_program(*_ends(program), program)
    except D2SError as error:
        warnings.warn(f"save(): {model_path}.pdmodel is not written: {error.message}", stacklevel=2)
    else:
        save_to_file(f"{model_path}.pdmodel", described)


def _ends(program: Program) -> tuple[list[Variable], list[Variable]]:
    """What a program is fed with in inference, and what it then computes that nothing reads."""
    recording = program.recording
    nodes = as_tested(program.clone(for_test=True).recording)
    read = {value for node in nodes for value in node.inputs}
    stream = None if recording.counter is None else recording.counter.value  # where random numbers go on
    unread = [n for n in nodes if n.outputs and n.op != "constant" and not read.intersection(n.outputs)]
    ends = [n.outputs[0] for n in unread if n.outputs[0] is not stream]  # others of an op are by-products
    needed = {v for node in _needed(nodes, ends) for v in node.inputs}
    feeds = [v for v, role in recording.roles.items() if isinstance(role, Fed) and v in needed]
    return [Variable(recording, v) for v in feeds], [Variable(recording, v) for v in ends]


def load(program: Program, model_path: str, executor: Any = None, var_list: Any = None) -> None:
    """Gives a program what `save` wrote."""
    expect("load", "program", program, Program, "a Program")
    state = load_program_state(model_path, var_list)
    program.set_state_dict(state)


def load_program_state(model_path: str, var_list: Any = None) -> dict[str, Any]:
    """What `save` wrote, by name."""
    expect("load_program_state", "model_path", model_path, str, "a str")
    found = checkpoint.load(f"{model_path}.pdparams")
    if os.path.exists(f"{model_path}.pdopt"):
        found |= checkpoint.load(f"{model_path}.pdopt")
    wanted = None if var_list is None else {v if isinstance(v, str) else v.name for v in var_list}
    chosen = {name: value for name, value in found.items() if wanted is None or name in wanted}
    return {name: value.numpy() if isinstance(value, Tensor) else value for name, value in chosen.items()}


def set_program_state(program: Program, state_dict: dict[str, Any]) -> None:
    """Gives a program values by name."""
    expect("set_program_state", "program", program, Program, "a Program")
    program.set_state_dict(state_dict)
