"""Tiles and panels by themselves, on every vector unit this host can run: values, and nothing read or written besides."""

import ctypes
import itertools
import mmap
import re

import llvmlite.binding as llvm
import numpy as np
import pytest

from d2s.codegen import dots, host, panels, tiles, vectors
from d2s.codegen.vectors import Unit
from d2s.ops import matmul_text

FEATURES = set(host.cpu()[1].split(","))
UNITS = {  # what a text is made for, and the CPU it is compiled for
    "host": (vectors.unit(), host.cpu()),
    "avx512": (Unit(64, 32), ("x86-64-v4", "")),
    "avx2": (Unit(32, 16), ("x86-64-v3", "")),
    "small vectors": (Unit(16, 32), host.cpu()),
}
NEEDED = {"avx512": {"+avx512f", "+avx512vl", "+avx512dq", "+avx512bw"}, "avx2": {"+avx2", "+fma"}}
DTYPES = {"f32": np.float32, "f64": np.float64}
each = pytest.mark.parametrize(("name", "short"), [(n, s) for n in UNITS for s in DTYPES if NEEDED.get(n, set()) <= FEATURES])
_loaded: dict = {}


def functions(name, short):
    """`product`, `turned` and `dots`, compiled for one of the units."""
    if (name, short) not in _loaded:
        unit, (cpu, features) = UNITS[name]
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_triple(llvm.get_process_triple())
        machine = target.create_target_machine(cpu=cpu, features=features, opt=3, jit=True)
        builder = llvm.JITLibraryBuilder().add_current_process()
        texts = {"product": tiles, "turned": panels, "dots": dots}
        for module in texts.values():
            parsed = llvm.parse_assembly(module.text_of(short, unit))
            parsed.verify()
            builder.add_object_img(machine.emit_object(parsed))
        for function in texts:
            builder.export_symbol(f"{function}_{short}")
        engine = llvm.create_lljit_compiler(machine)
        library = builder.link(engine, f"{name}-{short}")
        made = [
            ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * len(module.ARGUMENTS))(library[f"{function}_{short}"])
            for function, module in texts.items()
        ]
        _loaded[name, short] = made, engine, library
    return _loaded[name, short][0]


class Fenced:
    """An array whose last element is the last one of a page, with a page behind it that nobody may touch."""

    def __init__(self, array):
        size = -(-max(array.nbytes, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
        self.memory = mmap.mmap(-1, size + mmap.PAGESIZE)
        base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        if ctypes.CDLL(None).mprotect(ctypes.c_void_p(base + size), ctypes.c_size_t(mmap.PAGESIZE), 0):
            pytest.skip("this system protects no pages")
        held = np.frombuffer(self.memory, array.dtype, array.size, size - array.nbytes)
        self.array = held.reshape(array.shape)
        self.array[...] = array
        self.at = base + size - array.nbytes


def drawn(dtype, *shape):
    """Small whole numbers: sums of their products are exact in any order."""
    return np.random.default_rng(shape).integers(-9, 9, shape).astype(dtype)


SIZES = list(itertools.product((1, 2, 3, 4, 5, 6, 7, 8, 9, 14), (1, 3, 4, 5, 8, 15, 17, 33, 64, 65, 130), (0, 1, 7)))


@each
def test_products_of_all_sizes_at_the_end_of_memory(name, short):
    product, *_ = functions(name, short)
    for rows, columns, count in SIZES:
        a, b = (Fenced(drawn(DTYPES[short], *s)) for s in ((rows, count), (count, columns)))
        c = Fenced(np.full((rows, columns), 5, DTYPES[short]))
        for loaded, so_far in ((0, 0), (1, a.array @ b.array)):
            product(rows, columns, count, a.at, count, 1, b.at, columns, c.at, columns, loaded)
            assert np.array_equal(c.array, so_far + a.array @ b.array), (rows, columns, count)


@each
def test_what_stands_between_rows_is_left_alone(name, short):
    product, *_ = functions(name, short)
    for rows, columns, count in SIZES[::7]:
        a, b = drawn(DTYPES[short], count, rows + 2), drawn(DTYPES[short], count, columns + 5)
        c = np.full((rows + 1, columns + 3), 5, DTYPES[short])
        product(rows, columns, count, a.ctypes.data, 1, rows + 2, b.ctypes.data, columns + 5, c.ctypes.data, columns + 3, 0)
        assert np.array_equal(c[:rows, :columns], a[:, :rows].T @ b[:, :columns]), (rows, columns, count)
        assert (c[rows:] == 5).all()
        assert (c[:, columns:] == 5).all()


@each
def test_panels_are_transposed_at_the_end_of_memory(name, short):
    _, turned, _ = functions(name, short)
    width = tiles.width(short, UNITS[name][0])
    for count, columns in itertools.product((0, 1, 3, 4, 5, 8, 15, 16, 17, 37), {1, 3, width // 2, width // 2 + 1, width}):
        source = Fenced(drawn(DTYPES[short], columns, count))
        panel = Fenced(np.zeros((count, width), DTYPES[short]))
        turned(count, columns, source.at, count, panel.at)
        assert np.array_equal(panel.array[:, :columns], source.array.T), (count, columns)


@each
def test_a_row_meets_lines_at_the_end_of_memory(name, short):
    *_, dots_of = functions(name, short)
    for count, columns in itertools.product((0, 1, 3, 4, 7, 8, 16, 17, 37, 64), (1, 3, 8, 15, 16, 17, 31, 32, 33, 70)):
        a, b = Fenced(drawn(DTYPES[short], count)), Fenced(drawn(DTYPES[short], columns, count))
        c = Fenced(np.full(columns, 5, DTYPES[short]))
        dots_of(columns, count, a.at, b.at, count, c.at)
        assert np.array_equal(c.array, b.array @ a.array), (count, columns)


@pytest.mark.parametrize("size", [4, 8])
def test_a_tile_fits_into_the_registers(size):
    for unit in (Unit(64, 32), Unit(32, 16), Unit(16, 32), Unit(16, 16)):
        short = {4: "f32", 8: "f64"}[size]
        assert vectors.numbers(short, unit).lanes * size == unit.bytes
        assert all(rows * wide + wide + 1 <= unit.registers for rows, wide in tiles.shapes(unit)[:2])


def test_the_unit_follows_the_features(monkeypatch):
    for features, unit in (
        ("+avx2,+avx512f", Unit(64, 32)),
        ("+avx2,+fma", Unit(32, 16)),
        ("+neon", Unit(16, 32)),
        ("", Unit(16, 16)),
    ):
        monkeypatch.setattr(vectors, "cpu", lambda features=features: ("some", features))
        assert vectors.unit() == unit


MACHINES = {
    "NEON": ("aarch64-unknown-linux-gnu", "generic", Unit(16, 32), r"\bfmla\s+v\d+\.4s"),
    "AVX2": ("x86_64-unknown-linux-gnu", "x86-64-v3", Unit(32, 16), r"\bvfmadd\w+ps\b.*%ymm"),
    "AVX-512": ("x86_64-unknown-linux-gnu", "x86-64-v4", Unit(64, 32), r"\bvfmadd\w+ps\b.*%zmm"),
}


@pytest.mark.parametrize("name", MACHINES)
def test_texts_are_machine_code_of_other_processors(name):
    triple, cpu, unit, instruction = MACHINES[name]
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=3)
    except RuntimeError:
        pytest.skip("this LLVM makes code of its host only")
    for module in (tiles, dots):
        parsed = llvm.parse_assembly(f'target triple = "{triple}"\n{module.text_of("f32", unit)}')
        parsed.verify()
        assert len(re.findall(instruction, machine.emit_assembly(parsed))) >= 8


def test_tiles_that_ask_ahead_are_those_of_few_rows():
    assert matmul_text.FEW_PART == tiles.BRIEF
