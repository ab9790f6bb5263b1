"""What rewritten code calls, as `_d2s`: each decides at run time between Python and the graph being captured."""

from d2s.capture import numbers as numbers  # how symbols divide
from d2s.capture.undefined import Undefined
from d2s.convert.attributes import delete_attribute, set_attribute
from d2s.convert.attributes import get_attribute as attribute
from d2s.convert.calls import IGNORED as IGNORED
from d2s.convert.calls import call, decorator
from d2s.convert.conversion import converted
from d2s.convert.for_loop import for_loop
from d2s.convert.generators import emit
from d2s.convert.growing import METHODS as METHODS  # of lists that loops make longer
from d2s.convert.if_else import if_else
from d2s.convert.imports import imported, module, outermost_module
from d2s.convert.loads import defined, is_, item, iterate, load, spread
from d2s.convert.logical import and_, both, either, equal, if_exp, in_, is_not, not_, not_equal, not_in, or_
from d2s.convert.making import new_class
from d2s.convert.match import taken_apart
from d2s.convert.names import assign, own
from d2s.convert.operators import binary, changed, unary
from d2s.convert.protect import catches, protected, raised, within
from d2s.convert.stars import call_starred, put_together, starred, starred_keys, starred_named, taken_into
from d2s.convert.steps import formatted, percent, text
from d2s.convert.stores import delete_item, made, set_item
from d2s.convert.taking import generated, kept, of_generator, of_items
from d2s.convert.while_loop import while_loop

__all__ = [
    "Undefined",
    "and_",
    "assign",
    "attribute",
    "binary",
    "both",
    "call",
    "converted",
    "either",
    "emit",
    "equal",
    "if_else",
    "if_exp",
    "item",
    "iterate",
    "load",
    "not_",
    "or_",
]
__all__ += [
    "call_starred",
    "catches",
    "changed",
    "decorator",
    "defined",
    "delete_attribute",
    "delete_item",
    "for_loop",
    "formatted",
    "generated",
    "imported",
    "in_",
    "is_",
    "is_not",
    "kept",
    "made",
    "module",
    "new_class",
    "not_equal",
    "not_in",
    "of_generator",
    "of_items",
    "outermost_module",
    "own",
    "percent",
    "protected",
    "put_together",
    "raised",
    "set_attribute",
    "set_item",
    "spread",
    "starred",
    "starred_keys",
    "starred_named",
    "taken_apart",
    "taken_into",
    "text",
    "unary",
    "while_loop",
    "within",
]
