"""Programs of files that say what no capture would: numbers for extents and items that are not there. Nothing is touched there.

Each is written by our own writer, so that what it says is believed as far as types go.
"""

import re

import pytest

import d2s
from d2s.errors import D2SError
from d2s.export import save
from tests.export.corpus import Case

FAR, BELOW, MANY = 100_000_000_000, -5, (1 << 61) + 1
FOUND = "finds=('m0',), shape=(-1,)"
LIST = "%l: list[f32[4]] = list_new(dtype=f32, python=False, shape=(4,))"


def number(name, value):
    return f"%{name}: i64[] = constant(dtype=i64, python=False, value={value})"


def from_x(start, count, step=1):
    cut = f"%c: f32[m0] = cut(x, %s, %n, axis=0, finds=('m0',), step={step})"
    return "f32[m0]", [number("s", start), number("n", count), cut], "%c"


def listed(*lines):
    return "f32[4]", [LIST, *lines], "%r"


def drawn(of, node):
    numbers = [number("s", 1), "%k: f32[] = constant(dtype=f32, python=False, value=1.0)"]
    return of, [*numbers, f"%r: {of} = {node}"], "%r"


LIES = {
    "a part far away": from_x(FAR, 5),
    "a part from below": from_x(-3, 2),
    "a part backwards": from_x(1, 4, -1),
    "a part in long steps": from_x(1, 4, 1 << 61),
    "a part of less than nothing": from_x(0, BELOW),
    "a row far away": ("f32[]", [number("i", FAR), "%r: f32[] = row(x, %i)"], "%r"),
    "a row below": ("f32[]", [number("i", BELOW), "%r: f32[] = row(x, %i)"], "%r"),
    "more places than a mask has": (
        "i64[m0]",
        ["%b: b1[n0] = greater_than(x, x)", number("n", 500_000), "%c: i64[m0] = places_where(%b, %n, finds=('m0',))"],
        "%c",
    ),
    "more values than there are": ("f32[m0]", [number("n", 900_000), f"%r: f32[m0] = laid(x, %n, {FOUND})"], "%r"),
    "less than no values": (
        "f32[m0]",
        [number("n", BELOW), "%k: f32[] = sum(x, axis=(0,), keepdim=False)", f"%r: f32[m0] = filled(%k, %n, {FOUND})"],
        "%r",
    ),
    "numbers that have no bytes": ("i64[m0]", [number("n", MANY), "%c: i64[m0] = counting(%n, finds=('m0',))"], "%c"),
    "a sum that is too large": (
        "f32[m0]",
        [number("n", 4), number("w", 1_000_000), "%c: f32[m0] = behind(x, x, %n, %n, %w, axis=0, finds=('m0',))"],
        "%c",
    ),
    "a sum that is too small": (
        "f32[m0]",
        [number("n", 4), number("w", 1), "%c: f32[m0] = behind(x, x, %n, %n, %w, axis=0, finds=('m0',))"],
        "%c",
    ),
    "one name for two numbers": (
        "f32[m0]",
        [
            *from_x(0, 2)[1],
            number("w", 1_000_000),
            "%d: i64[m0] = counting(%w, finds=('m0',))",
            "%e: f32[m0] = cast(%d, dtype=f32, python=False)",
            "%f: f32[m0] = add(%c, %e)",
        ],
        "%f",
    ),
    "a draw of ints that are none": drawn("i32[2]", "normal(%s, %s, %k, %k, dtype=i32, shape=(2,))"),
    "a draw from no place": drawn("f32[2]", "uniform(%k, %k, %k, %k, dtype=f32, shape=(2,))"),
    "the last of no items": listed("%k: list[f32[4]], %r: f32[4] = list_pop(%l)"),
    "an item of none": listed(number("i", 0), "%k: list[f32[4]], %r: f32[4] = list_get(%l, %i)"),
    "an item far away": listed(number("i", FAR), "%k: list[f32[4]], %r: f32[4] = list_get(%l, %i)"),
    "an item below": listed(number("i", -1), "%k: list[f32[4]], %r: f32[4] = list_get(%l, %i)"),
    "a change far away": listed(
        number("i", FAR), "%k: list[f32[4]] = list_set(%l, %i, y)", "%j: list[f32[4]], %r: f32[4] = list_pop(%k)"
    ),
    "less than no items": listed(
        number("i", BELOW), "%k: list[f32[4]] = list_full(%i, y)", "%j: list[f32[4]], %r: f32[4] = list_pop(%k)"
    ),
    "more rows than items": (
        "f32[m0,4]",
        [LIST, number("n", 1_000_000), "%k: list[f32[4]], %r: f32[m0,4] = list_stack(%l, %n, behind=False, finds=('m0',))"],
        "%r",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_program_that_lies_harms_nothing(lie, tmp_path):
    of, lines, result = LIES[lie]
    text = "\n".join([*lines, f"return {result}"])
    names = list(dict.fromkeys(re.findall(r"%\w", text)))
    text = re.sub(r"%\w", lambda found: f"%{names.index(found[0])}", text)
    save(Case(f"program lie(x: f32[n0], y: f32[4]) -> ({of}) {{ {text} }}", []).model(), tmp_path / "net")
    for _ in range(2):
        try:
            net = d2s.jit.load(str(tmp_path / "net"))
            found = [net(d2s.ones([4]), d2s.ones([4])) for _ in range(3)][-1]
        except D2SError as error:
            assert error.code in ("D2S0004", "D2S3001", "D2S0002")
        else:
            assert found.size <= 1_000_000
