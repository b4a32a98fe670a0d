"""Names in the exported module: unique, legal, and as close to the model's as possible.

Variables, actions and properties keep their names; operators become CamelCase, configuration fields
UPPER_CASE. Names local to an operator (parameters, LETs, bound variables) may be reused in other
operators, but never hide a visible name: TLA+ has no shadowing.
"""

from __future__ import annotations

from collections.abc import Container

from elrcheck.base.errors import UsageFault
from elrcheck.tla_export.reading.values import RESERVED, identifier

# Names that EXTENDS brings into the module, and into a witness, which also extends TLC.
STANDARD_NAMES = """
    Int Nat Real Infinity Seq Len Append Head Tail SubSeq SelectSeq IsFiniteSet Cardinality
    Print PrintT Assert JavaTime Permutations SortSeq RandomElement Any ToString
    TLCGet TLCSet TLCEval TLCFP TLCExt TLCCache TLCNoOp TLCGetOrDefault TLCGetAndSet
"""
STANDARD = frozenset(STANDARD_NAMES.split())


def camel(name: str) -> str:
    """`effective_min_isr` -> `EffectiveMinIsr`; a name that is already CamelCase stays."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def is_free(name: str, taken: Container[str]) -> bool:
    fenced = name.startswith(("WF_", "SF_"))
    return not fenced and name not in RESERVED and name not in STANDARD and name not in taken


class Names:
    """Allocates unique module-level names."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def keep(self, name: str) -> str:
        """Reserve a name that other parts rely on; raise UsageFault if it is not free."""
        if identifier(name) != name or not is_free(name, self.taken):
            message = f"`{name}` cannot be a name in a TLA+ module: TLA+ has it already, or the model has it twice"
            raise UsageFault("tla-name", message, help="rename it in the model")
        self.taken.add(name)
        return name

    def new(self, requested: str) -> str:
        """Reserve the requested name, or a similar one that is free."""
        name = identifier(requested)
        while not is_free(name, self.taken):
            name += "_"
        self.taken.add(name)
        return name


def local_name(requested: str, visible: Container[str]) -> str:
    """Choose a name for a parameter, a LET or a bound variable, given all names visible at that place."""
    base = identifier(requested.rstrip("_") or requested, fallback="x")
    name, number = base, 1
    while not is_free(name, visible):
        number += 1
        name = f"{base}{number}"
    return name
