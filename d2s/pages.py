"""What every code of a complaint means: the page that `python -m d2s explain D2S0002` prints.

A page is a meaning of a few words, a program that raises the code, and the way out; of refused captures also that program,
corrected (a test runs each).

>>> PAGES["D2S0002"].meaning
'shapes that do not fit together'
"""

from typing import NamedTuple


class Page(NamedTuple):
    """What a code means, a program that raises it, and what to do; the program as it is written without."""

    meaning: str
    example: str
    way_out: str
    corrected: str = ""


PAGES = {
    "D2S0001": Page(
        "an argument has a type this function does not take",
        """
import d2s
d2s.add(d2s.to_tensor([1.0]), "2")
""",
        "Give it what the message asks for: a Tensor made by d2s.to_tensor, or a Python number where one may stand.",
    ),
    "D2S0002": Page(
        "shapes that do not fit together",
        """
import d2s
d2s.to_tensor([1.0, 2.0, 3.0]) + d2s.to_tensor([1.0, 2.0])
""",
        "Extents must be equal, or one of them 1. Print the shapes before the line named, and reshape or transpose one side.",
    ),
    "D2S0003": Page(
        "dtypes that do not fit together",
        """
import d2s
d2s.to_tensor([1]) + d2s.to_tensor([1.0])
""",
        "Only floats mix with floats by themselves. Bring one side to the other's dtype: x.astype('float32').",
    ),
    "D2S0004": Page(
        "an argument has a value this function does not take",
        """
import d2s
d2s.sum(d2s.to_tensor([1.0, 2.0]), axis=3)
""",
        "The message says which values are taken; a negative axis counts from the end.",
    ),
    "D2S0005": Page(
        "a Python integer of a captured function left the 64 bits it has there",
        """
import d2s

@d2s.to_static
def scaled(x, steps):
    factor, i = 1, 0
    while i < steps:
        factor = factor * 1000000
        i += 1
    return x * factor

scaled(d2s.to_tensor([1.0]), d2s.to_tensor(9))
""",
        "A Python int that changes in a loop on tensors has 64 bits in the graph. Compute with floats (factor = 1.0),\n"
        "or with an int64 tensor, which wraps around, or do this part outside of the captured function.",
    ),
    "D2S0006": Page(
        "a gradient that cannot be computed",
        """
import d2s
x = d2s.to_tensor([1.0], stop_gradient=False)
y = (x * x).sum()
y.backward()
y.backward()
""",
        "backward() frees what it has read: call the first one with retain_graph=True, or compute y again. Where the message\n"
        "says that nothing wants a gradient, make the leaf with stop_gradient=False, outside of no_grad.",
    ),
    "D2S0007": Page(
        "an index beyond the values there are",
        """
import d2s
d2s.to_tensor([1.0, 2.0])[2]
""",
        "An axis of n values has the places 0 to n - 1, and -1 to -n counted from its end. Print the shape before the line\n"
        "named, and the smallest and largest of the indices.",
    ),
    "D2S0008": Page(
        "a function of a graph that calls itself does not come to an end",
        """
import d2s

@d2s.to_static
def halved(x):
    return x if x.sum() < 0 else halved(x / 2)

halved(d2s.to_tensor([1.0]))
""",
        "Calls may stand in one another as deep as Python's own: sys.getrecursionlimit(). Look at the condition that should\n"
        "end them; where they are meant to be deeper, sys.setrecursionlimit(10000) before the call, or write a loop.",
    ),
    "D2S1001": Page(
        "Python needs to know a value that only a run will tell",
        """
import d2s

@d2s.to_static
def by_sum(x):
    return {int(x.sum()): x}

by_sum(d2s.to_tensor([1.5]))
""",
        "While a function is captured its tensors have no values yet. Compute with the number, decide with an `if` or\n"
        "`while` on it, loop over range(int(x.sum())), which become part of the graph, or do this part outside.",
        """
import d2s

@d2s.to_static
def by_sum(x):
    return [(int(x.sum()), x)]

assert dict(by_sum(d2s.to_tensor([1.5]))).keys() == {1}
""",
    ),
    "D2S1002": Page(
        "the arms of an `if`, or the trips of a loop, leave a variable in forms that cannot be joined",
        """
import d2s

@d2s.to_static
def doubled(x):
    found = x
    while x.sum() < 10:
        x = x * 2
        found = (found, x)
    return found

doubled(d2s.to_tensor([1.0]))
""",
        "Of a loop's variables none may be of another kind after each trip. Gather tensors in a list, found.append(x), or\n"
        "put them into a tensor made before the loop, out[i] = x.",
        """
import d2s

@d2s.to_static
def doubled(x):
    found = [x]
    while x.sum() < 10:
        x = x * 2
        found.append(x)
    return found

assert len(doubled(d2s.to_tensor([1.0]))) == 5
""",
    ),
    "D2S1003": Page(
        "a statement that cannot become part of a graph yet",
        """
import d2s

@d2s.to_static
def classed(x):
    class Rate:
        pi = round(3.14159, 2)
    return x * Rate.pi

classed(d2s.to_tensor([1.0]))
""",
        "Write it in another way - the message says which - or move it to a function that is not captured.",
        """
import d2s

class Rate:
    pi = round(3.14159, 2)

@d2s.to_static
def classed(x):
    return x * Rate.pi

assert classed(d2s.to_tensor([1.0])).dtype == d2s.float32
""",
    ),
    "D2S1004": Page(
        "a call whose effect would happen at capture only",
        """
import d2s
import queue

waiting = queue.Queue()

@d2s.to_static
def queued(x):
    waiting.put(x)
    return x * 2

queued(d2s.to_tensor([1.0]))
""",
        "A capture runs your Python once, a graph many times. What prints, logs, draws random numbers, and functions of\n"
        "NumPy and of Python's library that are given plain values are called anew in each run; of other functions it is not\n"
        "known what they do with what they are given. Call it before, and pass the result, or behind.",
        """
import d2s
import queue

waiting = queue.Queue()

@d2s.to_static
def doubled(x):
    return x * 2

x = d2s.to_tensor([1.0])
waiting.put(x)
assert doubled(x).item() == 2
""",
    ),
    "D2S1005": Page(
        "the source text of a function is not available",
        """
import d2s

double = eval(" ".join(["lambda x: x", "* 2"]))
d2s.to_static(double)(d2s.to_tensor([1.0]))
""",
        "Put the function in a file, or keep its text: in linecache.cache, or in a variable of a caller. Start again, or\n"
        "reload the module, if the file changed since it was imported.",
        """
import d2s

text = "lambda x: x * 2"
double = eval(text)
assert d2s.to_static(double)(d2s.to_tensor([1.0])).item() == 2.0
""",
    ),
    "D2S1006": Page(
        "a function that would be captured again where that was forbidden",
        """
import d2s

@d2s.to_static
def scaled(x, k):
    return x * k

scaled(d2s.to_tensor([1.0]), 2)
with d2s.jit.fail_on_recompile():
    scaled(d2s.to_tensor([1.0]), 3)
""",
        "The message says what is another than before. Ints, strings and objects are part of what a capture stands for:\n"
        "make what changes a float or a tensor, or leave it as it is. scaled.recompiles() lists every capture's reason.",
        """
import d2s

@d2s.to_static
def scaled(x, k):
    return x * k

scaled(d2s.to_tensor([1.0]), 2.0)
with d2s.jit.fail_on_recompile():
    assert scaled(d2s.to_tensor([1.0]), 3.0).item() == 3.0
""",
    ),
    "D2S2002": Page(
        "a nan or an infinity came up where a check was asked for",
        """
import d2s
with d2s.debug.nan_check():
    d2s.log(d2s.to_tensor([-1.0]))
""",
        "The message names the op, your line and what each operand holds: look at where these values come from, and keep them\n"
        "in the op's domain (clip, add a small number, scale the loss).",
    ),
    "D2S2001": Page(
        "eager and static results differ",
        """
import d2s
from d2s.runtime import interpreter

true_meaning = interpreter.run
interpreter.run = lambda *args: [1 - result for result in true_meaning(*args)]  # as a defect of d2s would

@d2s.to_static
def double(x):
    return x + x

try:
    with d2s.config(CHECK=2):
        double(d2s.to_tensor([1.0]))
finally:
    interpreter.run = true_meaning
""",
        "This is a defect of d2s: please report it, with the files that D2S_DUMP=folder writes. d2s.jit.verify(f, *args)\n"
        "names the first operation that differs; D2S_EAGER=1 runs the function as plain Python meanwhile.",
    ),
    "D2S3001": Page(
        "a file that is damaged or of another format",
        """
import d2s
import pathlib
import tempfile

with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "net.pdmodel").write_bytes(b"not a model")
    d2s.jit.load(f"{folder}/net")
""",
        "Save it again, or copy it again: compare sizes. All files of one prefix must come from one save.",
    ),
    "D2S3002": Page(
        "a value or operation that has no spelling in this file format",
        """
from d2s.export.model import Model
from d2s.export.paddle_format import save
from d2s.ir.text import parse

program = parse("program f(x: f32[]) -> (f32[]) { %0: stack = stack() return x }")
save(Model(program, ["x"], {}, ["y"]), "net")
""",
        "The message names the operation and your line. Express it by others, or save another format.",
    ),
    "D2S3003": Page(
        "memory that cannot be shared with another library",
        """
import d2s
d2s.from_dlpack("not a tensor")
""",
        "Hand over detached tensors (x.detach()), and take objects with __dlpack__ on the CPU, or fresh capsules: one is\n"
        "used up by the first who takes it. What cannot be shared goes by way of NumPy: d2s.to_tensor(np.asarray(x)).",
    ),
    "D2S3004": Page(
        "a file or folder that cannot be read or written",
        """
import d2s
import os

with d2s.config(DUMP=os.path.join(os.__file__, "folder")):  # a file is in the way
    d2s.to_static(lambda x: x + 1)(d2s.to_tensor([1.0]))
""",
        "The message says the path and what the system said: look at the folder's existence, its owner and the room left.",
    ),
    "D2S4001": Page(
        "a worker of a DataLoader that ended, gave no batch in time, or failed in a way that cannot be handed over",
        """
import d2s
import os

class Fatal(d2s.io.Dataset):
    def __getitem__(self, index):
        os._exit(3)

    def __len__(self):
        return 4

next(iter(d2s.io.DataLoader(Fatal(), num_workers=1)))
""",
        "With num_workers=0 the dataset runs in your own process, where a debugger sees it. A worker that SIGKILL ended has\n"
        "often run out of memory: fewer workers, smaller batches, a smaller prefetch_factor.",
    ),
    "D2S5001": Page(
        "a name of Paddle's that d2s has not",
        """
from d2s import compat

with compat.installed("2.x"):
    import paddle

    paddle.no_such_function
""",
        "The message says the nearest names there are. `python -m d2s.compat --api 1.x` and its kin\n"
        "choose the generation of the API a script was written for.",
    ),
    "D2S5002": Page(
        "a keyword of an older Paddle that d2s's function does not take",
        """
from d2s import compat

with compat.installed("1.x"):
    import paddle.fluid as fluid

    fluid.layers.relu(None, inplace=True)
""",
        "The message says the keywords there are. What the one given asked for is either always so or not in d2s.",
    ),
    "D2S9001": Page(
        "an invariant of d2s itself is broken: please report it",
        """
from d2s.codegen import cache

cache.address("def kernel(r, o):\\n    print(r[o[0]])\\n", "f32")
""",
        "Please report it with the whole traceback and, if you can, the files that D2S_DUMP=folder writes.",
    ),
}
