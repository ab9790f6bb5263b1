"""Which operations are timed, with what each cannot do without: multiplications and additions, or bytes read and written.

A case is a call of a function that every file of this folder has (or has not: then that engine is not measured).

>>> CASES["matmul_1024"].call, CASES["matmul_1024"].flops
('matmul(1024, 1024, 1024)', 2147483648)
"""

from typing import Any, NamedTuple


class Operation(NamedTuple):
    """Microseconds per run of what `call` gives; `target` is how many times as fast as the fastest peer it is to be."""

    says: str
    call: str
    target: float
    flops: int = 0
    read: int = 0
    moved: int = 0
    itemsize: int = 4  # of the numbers that are multiplied


CASES: dict[str, Operation] = {}
LENET = {"lenet1": (64, 1, 28, 20, 5), "lenet2": (64, 20, 12, 50, 5)}
RESNET = {
    "resnet_first": (32, 3, 32, 64, 3, 1, 1),
    "resnet_64": (32, 64, 32, 64, 3, 1, 1),
    "resnet_128_half": (32, 64, 32, 128, 3, 2, 1),
    "resnet_128": (32, 128, 16, 128, 3, 1, 1),
    "resnet_256": (32, 256, 8, 256, 3, 1, 1),
    "resnet_512": (32, 512, 4, 512, 3, 1, 1),
    "resnet_1x1_half": (32, 128, 16, 256, 1, 2, 0),
}
MOBILENET = {
    "depthwise_112": (4, 32, 112, 32, 3, 1, 1, 32),
    "depthwise_112_half": (4, 64, 112, 64, 3, 2, 1, 64),
    "depthwise_56": (4, 128, 56, 128, 3, 1, 1, 128),
    "depthwise_28": (4, 256, 28, 256, 3, 1, 1, 256),
    "depthwise_14": (4, 512, 14, 512, 3, 1, 1, 512),
    "depthwise_7": (4, 1024, 7, 1024, 3, 1, 1, 1024),
}


def add(name: str, says: str, call: str, target: float = 1.0, **work: int) -> None:
    CASES[name] = Operation(says, call, target, **work)


def matmul(name: str, target: float, m: int, k: int, n: int, says: str = "", **more: Any) -> None:
    arguments = ", ".join([*map(str, (m, k, n)), *(f"{key}={value!r}" for key, value in more.items())])
    itemsize = 8 if more.get("dtype") == "float64" else 4
    add(name, says or f"[{m},{k}] @ [{k},{n}]", f"matmul({arguments})", target, flops=2 * m * k * n, itemsize=itemsize)


def conv(name: str, n: int, c: int, size: int, out: int, taps: int, stride: int = 1, padding: int = 0, groups: int = 1) -> None:
    to = (size + 2 * padding - taps) // stride + 1
    flops = 2 * n * out * to * to * (c // groups) * taps * taps
    what = f"[{n},{c},{size},{size}], {out} filters {taps}x{taps}/{stride}" + (f" in {groups} groups" if groups > 1 else "")
    for wanted, says in ((None, ""), (0, "gradient for the image of "), (1, "gradient for the filters of ")):
        call = f"conv({wanted}, {n}, {c}, {size}, {out}, {taps}, {stride}, {padding}, {groups})"
        add(f"{name}{('', '_dx', '_dw')[0 if wanted is None else wanted + 1]}", says + what, call, 1.2, flops=flops)


def forward_and_backward(name: str, says: str, call: str, values: int, wanted: int = 0) -> None:
    """`values` floats read and written by the forward; its gradient reads two such and writes one."""
    add(name, says, call.replace("PART", "None"), moved=8 * values)
    add(f"{name}_grad", f"gradient of {says}", call.replace("PART", str(wanted)), moved=12 * values)


for _size in (64, 128, 256):
    matmul(f"matmul_{_size}", 1.3, _size, _size, _size)
for _size in (768, 1024, 2048):
    matmul(f"matmul_{_size}", 1.0, _size, _size, _size)
matmul("matmul_1024_f64", 1.0, 1024, 1024, 1024, says="[1024,1024] @ [1024,1024] in float64", dtype="float64")
matmul("matmul_1024_tn", 1.0, 1024, 1024, 1024, says="x.T @ y, 1024", turned=(True, False))
matmul("matmul_1024_nt", 1.0, 1024, 1024, 1024, says="x @ y.T, 1024", turned=(False, True))
add("batched_64", "32 times [64,64] @ [64,64]", "batched(32, 64, 64, 64)", 1.0, flops=32 * 2 * 64**3)
for _rows in (1, 8):
    add(f"thin_{_rows}", f"[{_rows},784] @ [784,512]", f"matmul({_rows}, 784, 512)", 1.0, read=4 * 784 * 512)
    add(f"thin_{_rows}_long", f"[{_rows},4096] @ [4096,4096]", f"matmul({_rows}, 4096, 4096)", 1.0, read=4 * 4096**2)
for _name, _shape in {**LENET, **RESNET, **MOBILENET}.items():
    conv(_name, *_shape)
forward_and_backward("max_pool_lenet", "max_pool2d 2/2 of [64,20,24,24]", "max_pool(PART, 64, 20, 24, 2, 2)", 64 * 20 * 24 * 24)
forward_and_backward("max_pool_3", "max_pool2d 3/2 of [16,64,56,56]", "max_pool(PART, 16, 64, 56, 3, 2, 1)", 16 * 64 * 56 * 56)
forward_and_backward("avg_pool", "avg_pool2d 2/2 of [16,64,56,56]", "avg_pool(PART, 16, 64, 56, 2, 2)", 16 * 64 * 56 * 56)
forward_and_backward("batch_norm", "batch_norm of [32,64,32,32], training", "batch_norm(PART, 32, 64, 32)", 32 * 64 * 32 * 32)
forward_and_backward("layer_norm", "layer_norm of [4096,768]", "layer_norm(PART, 4096, 768)", 4096 * 768)
forward_and_backward("softmax", "softmax of [4096,1000]", "softmax(PART, 4096, 1000)", 4096 * 1000)
forward_and_backward("cross_entropy", "cross_entropy of [4096,1000]", "cross_entropy(PART, 4096, 1000)", 4096 * 1000)
forward_and_backward("cross_entropy_10", "cross_entropy of [64,10]", "cross_entropy(PART, 64, 10)", 640)
forward_and_backward("embedding", "8192 rows of [30000,512]", "embedding(PART, 30000, 512, 8192)", 8192 * 512, wanted=1)
add("attention", "attention of [4,512,8,64]", "attention(None, 4, 8, 512, 64)", flops=4 * 4 * 8 * 512 * 512 * 64)
add("attention_grad", "its gradient for the queries", "attention(0, 4, 8, 512, 64)", flops=10 * 4 * 8 * 512 * 512 * 64)
for _axis, _which in ((1, "last"), (0, "first")):
    for _name in ("sum", "max"):
        _call = f"reduction('{_name}', (4096, 1024), {_axis})"
        add(f"{_name}_{_which}", f"{_name} of [4096,1024] over the {_which} axis", _call, read=4 << 22)
add("transpose", "[4096,4096] transposed", "transpose(4096, 4096, perm=(1, 0))", moved=8 << 24)
add(
    "transpose_image",
    "[16,64,56,56] to channels last",
    "transpose(16, 64, 56, 56, perm=(0, 2, 3, 1))",
    moved=8 * 16 * 64 * 56 * 56,
)
add("concat", "4 of [4096,256] side by side", "concat(4, 4096, 256)", moved=8 << 22)
add("gather", "8192 rows of [30000,512], gathered", "gather(30000, 512, 8192)", moved=8 * 8192 * 512)
add("add_1M", "x + y, 1 M floats", "add(1 << 20)", moved=12 << 20)
for _name in ("exp", "tanh", "gelu"):
    add(f"{_name}_1M", f"{_name} of 1 M floats", f"elementwise('{_name}', 1 << 20)", moved=8 << 20)
add("chain_1M", "gelu(tanh(exp(x))), 1 M floats, an op at a time", "chain(1 << 20)", moved=24 << 20)
add(
    "lenet_step",
    "a step of LeNet at batch 64: forward, backward, Adam; to be twice as fast as Paddle",
    "lenet_step(64)",
    1.0,
    flops=2 * 64 * (2 * 20 * 24 * 24 * 25 + 3 * 50 * 8 * 8 * 500 + 3 * 800 * 10),
)
add(
    "adam_10M",
    "a step of Adam over 10 M parameters; of NumPy a copy of the same bytes, to be reached within 1.1",
    "adam(10_000_000)",
    0.91,
    moved=7 * 4 * 10_000_000,
)
