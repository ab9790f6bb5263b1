"""What Programs and ProgramDescs mean, said once more in NumPy, to check one against the other."""

from typing import Any

import numpy as np

from d2s.export import protobuf
from d2s.ir.program import Program
from d2s.ops import OPS
from d2s.types import Type
from tests.samples import KERNELS, LISTED

_NUMPY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "neg": np.negative, "tanh": np.tanh,
    "relu": lambda x: np.where(x <= 0, x.dtype.type(0), x), "equal": np.equal, "not_equal": np.not_equal,
    "less_than": np.less, "less_equal": np.less_equal, "greater_than": np.greater, "greater_equal": np.greater_equal,
    "where": np.where,
}  # fmt: skip

_NUMPY |= {name: SAMPLE.reference for name, SAMPLE in KERNELS.items() if name not in _NUMPY}
_NUMPY |= {name: sample.reference for name, sample in LISTED.items() if name not in _NUMPY}
_NUMPY |= {
    "pow": np.power, "log": np.log, "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "asin": np.arcsin, "acos": np.arccos, "isnan": np.isnan, "isinf": np.isinf,
    "isfinite": np.isfinite, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
    "bitwise_not": np.bitwise_not,
}  # fmt: skip


def run_program(program: Program, inputs: list[Any]) -> list[np.ndarray]:
    """The outputs of a Program."""
    env = dict(zip(program.inputs, map(np.asarray, inputs), strict=True))
    with np.errstate(all="ignore"):
        for node in program.nodes:
            found = _node(node.op, node.attrs, [env[v] for v in node.inputs], node.outputs[0].type)
            env.update(zip(node.outputs, found, strict=True))
    return [env[v] for v in program.outputs]


def _node(op: str, attrs: dict[str, Any], x: list[np.ndarray], of: Type) -> list[np.ndarray]:
    if op == "cond":
        return run_program(attrs["then" if x[0] else "otherwise"], x[1:])
    if op == "while_loop":
        carry, fixed = x[: attrs["carries"]], x[attrs["carries"] :]
        while run_program(attrs["test"], carry + fixed)[0]:
            carry = run_program(attrs["body"], carry + fixed)
        return carry
    if op == "constant":
        return [np.array(attrs["value"]).astype(of.dtype.numpy)]
    if op == "cast":
        return [x[0].astype(of.dtype.numpy)]
    if op == "matmul":
        return [np.asarray(_product(*x, attrs["transpose_x"], attrs["transpose_y"]))]
    if op == "dot":
        return [np.asarray((x[0] * x[1]).sum(-1))]
    if op == "sum":
        return [np.asarray(x[0].sum(axis=attrs["axis"], keepdims=attrs["keepdim"], dtype=of.dtype.numpy))]
    return [np.asarray(_NUMPY[op](*x, **attrs))]


_PADDLE = {
    "elementwise_add": np.add, "elementwise_sub": np.subtract, "elementwise_mul": np.multiply, "tanh": np.tanh,
    "relu": _NUMPY["relu"], "equal": np.equal, "not_equal": np.not_equal, "less_than": np.less, "less_equal": np.less_equal,
    "greater_than": np.greater, "greater_equal": np.greater_equal, "logical_not": np.logical_not,
}  # fmt: skip
_PADDLE |= {OPS[name].paddle: f for name, f in _NUMPY.items() if OPS[name].paddle not in _PADDLE}
_FIELDS = {0: "i", 1: "f", 2: "s", 3: "ints", 5: "strings", 6: "b", 8: "block_idx", 11: "longs"}
_DTYPES = {0: "bool", 1: "int16", 2: "int32", 3: "int64", 5: "float32", 6: "float64", 20: "uint8", 21: "int8"}


def run_paddle(data: bytes, parameters: dict[str, np.ndarray], feeds: list[Any]) -> list[np.ndarray]:
    """What Paddle computes from a `.pdmodel`, op by op; a variable is what was written to it last."""
    blocks = protobuf.decode("ProgramDesc", data)["blocks"]
    env: dict[str, np.ndarray] = dict(parameters)
    fetched: dict[int, np.ndarray] = {}

    def run(block: int) -> None:
        for op in blocks[block]["ops"]:
            ins = {v["parameter"]: v["arguments"] for v in op["inputs"]}
            outs = {v["parameter"]: v["arguments"] for v in op["outputs"]}
            attrs = {a["name"]: a[_FIELDS[a["type"]]] for a in op["attrs"]}
            kind = op["type"]
            if kind == "feed":
                env[outs["Out"][0]] = np.asarray(feeds[attrs["col"]])
            elif kind == "fetch":
                fetched[attrs["col"]] = env[ins["X"][0]]
            elif kind == "conditional_block":
                if env[ins["Cond"][0]]:
                    run(attrs["sub_block"])
            elif kind == "while":
                while env[ins["Condition"][0]]:
                    run(attrs["sub_block"])
            elif kind == "select_input":
                env[outs["Out"][0]] = env[ins["X"][int(env[ins["Mask"][0]])]]
            else:
                env[outs["Out"][0]] = np.asarray(_op(kind, attrs, {slot: env[names[0]] for slot, names in ins.items()}))

    with np.errstate(all="ignore"):
        run(0)
    return [array for _, array in sorted(fetched.items())]


def _product(x: np.ndarray, y: np.ndarray, flip_x: bool, flip_y: bool) -> np.ndarray:
    return np.matmul(*(a.swapaxes(-1, -2) if flip and a.ndim > 1 else a for a, flip in ((x, flip_x), (y, flip_y))))


def _op(kind: str, attrs: dict[str, Any], x: dict[str, np.ndarray]) -> Any:
    match kind:
        case "clip":
            return np.clip(x["X"], np.float32(attrs["min"]), np.float32(attrs["max"]))
        case "assign":
            return x["X"].copy()
        case "reshape2":
            return x["X"].reshape(attrs["shape"])
        case "scale":
            return (x["X"] * x["X"].dtype.type(attrs["scale"])).astype(x["X"].dtype)
        case "cast":
            return x["X"].astype(_DTYPES[attrs["out_dtype"]])
        case "fill_constant":
            return np.full(attrs["shape"], float(attrs["str_value"])).astype(_DTYPES[attrs["dtype"]])
        case "matmul_v2":
            return _product(x["X"], x["Y"], attrs["trans_x"], attrs["trans_y"])
        case "dot":
            return (x["X"] * x["Y"]).sum(-1)
        case "reduce_sum":
            axis = None if attrs["reduce_all"] else tuple(attrs["dim"])
            dtype = _DTYPES.get(attrs["out_dtype"], x["X"].dtype)
            return x["X"].sum(axis=axis, keepdims=bool(attrs["keep_dim"]), dtype=dtype)
        case "where":
            assert x["Condition"].shape == x["X"].shape == x["Y"].shape
            return np.where(x["Condition"], x["X"], x["Y"])
        case "expand_as_v2":
            return np.broadcast_to(x["X"], x["Y"].shape)
        case "fill_any_like":
            return np.full(x["X"].shape, attrs["value"], _DTYPES[attrs["dtype"]])
    return _PADDLE[kind](*x.values())
