"""Lists whose length only a run will tell: what a graph does to them.

In: a `List` that holds `Grown`, and what it is asked. Out: the answer, and the list holding what the graph then has. Here is
what one node does, or one for each symbol of an item; `convert.growing` writes all else as loops, and adds it to `METHODS`.

>>> from d2s import types
>>> from d2s.ops.dispatch import handling
>>> tracer, parts = Tracer("f"), List()
>>> x = tracer.input(types.Type(types.float32, (2,)), "x")
>>> with handling(tracer):
...     append(grow(parts, [form_of(x, tracer)]), x)
...     parts.held.length.value.type, [node.op for node in tracer.builder.nodes]
(int, ['list_new', 'constant', 'list_append', 'constant', 'add'])
"""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from d2s.capture.branch import branch, encoded, part, tensors_in
from d2s.capture.containers import List, by_path, contents
from d2s.capture.encode import appended, decode
from d2s.capture.forms import Form, Growing, Grown, OneOf, Slot, alike, form_of, growing, join, loose
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import refuse, user_line
from d2s.eager.tensor import Tensor
from d2s.ops import OPS
from d2s.ops.found import called, number
from d2s.ops.lists import LENGTH
from d2s.ops.rows import extent
from d2s.types import Type

METHODS: dict[str, Callable[..., Any]] = {}  # of a list that holds Grown, by name


class Moved(Grown):
    """What a list holds whose items a loop has given to another one."""

    def __init__(self) -> None:
        self.where = user_line()

    def _asked(self) -> NoReturn:
        message = f"a list is used here that a variable had before the loop at {self.where} gave it other lists"
        refuse("D2S1003", message, "give the variable a copy before the loop, or change the one list it has")

    item = parts = length = property(_asked)  # type: ignore[assignment]


def is_grown(value: Any) -> bool:
    """Whether only a run will tell how many items a list has, however many."""
    return by_path(value) and isinstance(value.held, Grown)


def asked(owner: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """What a method gives."""
    if name not in METHODS:
        refuse("D2S1003", f"'{name.strip('_')}' of a list that a loop makes longer or shorter", "loop over it, or index it")
    return METHODS[name](owner, *args, **kwargs)


def _tracer() -> Tracer:
    tracer = capturing()
    assert tracer is not None
    return tracer


def grow(owner: List, more: Sequence[Form]) -> List:
    """Has a list hold any number of items of forms that its own have, and of `more`."""
    if not is_grown(owner):
        tracer, held = _tracer(), contents(owner)
        several = held.alternatives if isinstance(held, OneOf) else [held]
        own = [form_of(item, tracer) for content in several for item in content]
        put(owner, held, growing([*own, *more]))
    return owner


def put(owner: List, held: Any, form: Growing) -> None:
    """Has a list hold a content in a form of any number of items."""
    tracer = _tracer()
    for content in held.alternatives if isinstance(held, OneOf) else [held]:
        _one_with_others(tracer, content)
    symbols = encoded(tracer, held, form)
    tracer.root.heap.set(owner, decode(form, iter(symbols), tracer.root.heap.made))


def _one_with_others(tracer: Tracer, value: Any) -> None:
    """What is in a list of the graph is another than what was put there, or came out: neither may change in place."""
    part(tracer, value)
    tracer.root.aliased.update(dict.fromkeys([s.value for s in tensors_in(tracer, value)], user_line()))


def _on_each(owner: List, op: str, inputs: Sequence[Any], gives: bool = False) -> list[SymbolicTensor]:
    """Records an op on every list that the items' symbols are in; returns what each gives besides the list."""
    tracer, held = _tracer(), owner.held
    parts, given = [], []
    for symbol in held.parts:
        items = tracer.resolve(symbol)
        of = [items.type, *([items.type.item] if gives else [])]
        made = tracer.add(op, [items, *map(tracer.resolve, inputs)], of, {})
        parts.append(made[0])
        given += made[1:]
    tracer.root.heap.set(owner, Grown(held.item, parts, held.length))
    return given


def _item_of(owner: List, symbols: Sequence[SymbolicTensor]) -> Any:
    tracer = _tracer()
    tracer.root.joined.update(s.value for s in symbols)
    item = decode(owner.held.item, iter(symbols), tracer.root.heap.made)
    _one_with_others(tracer, item)
    return item


def _encoded(owner: List, value: Any) -> list[SymbolicTensor]:
    """The symbols of a value as an item of a list."""
    tracer, form = _tracer(), owner.held.item
    own = loose(form_of(value, tracer))
    if not alike(join(form, own), form):
        hint = "give it items of one kind, dtype and shape"
        refuse("D2S1002", f"a list of {form!r} that a loop makes longer or shorter is given {own!r}", hint)
    _one_with_others(tracer, value)
    return encoded(tracer, value, form)


def _with_length(owner: List, change: int) -> None:
    held = owner.held
    _tracer().root.heap.set(owner, Grown(held.item, held.parts, held.length + change))


def append(owner: List, value: Any) -> None:
    tracer, symbols = _tracer(), _encoded(owner, value)
    held = owner.held
    parts = [appended(tracer, items, symbol) for items, symbol in zip(held.parts, symbols, strict=True)]
    tracer.root.heap.set(owner, Grown(held.item, parts, held.length))
    _with_length(owner, 1)


def pop_last(owner: List) -> Any:
    """The last item, of a list that has one."""
    symbols = _on_each(owner, "list_pop", [], gives=True)
    _with_length(owner, -1)
    return _item_of(owner, symbols)


def get(owner: List, place: SymbolicTensor) -> Any:
    """The item at a place, from 0 on, that it has."""
    return _item_of(owner, _on_each(owner, "list_get", [_counted(place)], gives=True))


def set_(owner: List, place: SymbolicTensor, value: Any) -> None:
    tracer, symbols = _tracer(), _encoded(owner, value)
    held = owner.held
    inputs = [tracer.resolve(_counted(place))]
    pairs = [(tracer.resolve(items), tracer.resolve(s)) for items, s in zip(held.parts, symbols, strict=True)]
    parts = [tracer.add("list_set", [items, *inputs, s], [items.type], {})[0] for items, s in pairs]
    tracer.root.heap.set(owner, Grown(held.item, parts, held.length))


def stacked(owner: List, function: Callable[[Any], Any], behind: bool) -> Any:
    """The items in one tensor; of a list without items, what `function` makes of that."""
    tracer, form = _tracer(), item_form(owner)
    if not isinstance(form, Slot) or form.type.python or (behind and not form.type.shape):
        refuse("D2S1003", f"{function.__name__}() of a list of {form!r} that a loop makes longer", "append tensors")
    branch(tracer, OPS["equal"](length(owner), 0), (lambda: [function([])][:0], list))
    count = _counted(length(owner))
    if behind:
        rows = form.type.shape[0]
        count = OPS["multiply"](count, rows if isinstance(rows, int) else _rows(owner))
    (items,) = owner.held.parts
    attrs = {"finds": called(count), "behind": behind}
    inputs = [tracer.resolve(items), tracer.resolve(count)]
    of = OPS["list_stack"].infer([v.type for v in inputs], attrs)
    left, whole = tracer.add("list_stack", inputs, of, attrs)
    tracer.root.heap.set(owner, Grown(form, [left], length(owner)))
    return whole


def _rows(owner: List) -> Any:
    """The first extent of the items, which a call knows."""
    return number(extent(get(owner, _tracer().constant(0, LENGTH)), 0))


def _counted(place: Any) -> SymbolicTensor:
    """A place as lists of the graph are told it."""
    tracer = _tracer()
    symbol: SymbolicTensor = tracer.symbol_of(place)  # type: ignore[assignment]
    return symbol if symbol.value.type == LENGTH else OPS["cast"](symbol, "int64")


def length(owner: List) -> SymbolicTensor:
    return owner.held.length  # type: ignore[no-any-return]


def place_of(owner: List, index: Any, message: str) -> Any:
    """The place an index means, from 0 on; a run in which there is none raises IndexError."""
    tracer, count = _tracer(), length(owner)
    index = _index(index)

    def raises() -> list[Any]:
        raise IndexError(message)

    known = not isinstance(index, SymbolicTensor)
    outside = (count <= (index if index >= 0 else -1 - index)) if known else _outside(index, count)
    branch(tracer, outside, (raises, list))
    if known:
        return index if index >= 0 else count + index
    return OPS["where"](OPS["less_than"](index, 0), index + count, index)


def _outside(index: Any, count: Any) -> Any:
    return OPS["bitwise_or"](OPS["less_than"](index, -count), OPS["greater_equal"](index, count))


def _index(value: Any) -> Any:
    """What Python makes of an index: an int, of run time where the value is."""
    if not isinstance(value, SymbolicTensor | Tensor):
        if not hasattr(type(value), "__index__"):
            raise TypeError(f"list indices must be integers or slices, not {type(value).__name__}")
        return value.__index__()
    symbol = _tracer().symbol_of(value)
    assert symbol is not None
    of: Type = symbol.value.type
    if of.dtype.kind == "f" or any(d != 1 for d in of.shape):
        raise TypeError(f"list indices must be integers or slices, not {of}")
    symbol = OPS["sum"](symbol) if of.shape else symbol
    return OPS["cast"](symbol, "int64", python=True)


def item_form(owner: List) -> Form:
    return owner.held.item  # type: ignore[no-any-return]
