"""What rewritten code calls, as `_d2s`: each decides at run time between Python and the graph being captured."""

from d2s.capture.undefined import Undefined, load
from d2s.convert.calls import call, converted
from d2s.convert.if_else import if_else
from d2s.convert.loads import attribute, is_, is_not, item, iterate, operand
from d2s.convert.logical import and_, both, either, if_exp, not_, or_
from d2s.convert.while_loop import while_loop

__all__ = [
    "Undefined",
    "and_",
    "attribute",
    "both",
    "call",
    "converted",
    "either",
    "if_else",
    "if_exp",
    "item",
    "iterate",
    "load",
    "not_",
    "or_",
]
__all__ += ["is_", "is_not", "operand", "while_loop"]
