"""Known and suspected bugs as mutations of the model, read from `catalogue/hazards.toml`.

    [[hazard]]
    id = "F-38"
    issue = "KAFKA-13837, KAFKA-14078"
    title = "A fetch of a broker without a replica counts"
    breaks = ["P-1", "P-2"]                      # properties of this model
    set = { min_isr = 1, reassignments = 1 }     # on both sides of the comparison
    guard = ["Fetch", "f is a replica"]          # the guard to remove; or `change`, knobs with other values

Without the mutation a complete search finds that every property in `breaks` holds; with the mutation each of them
breaks. `elrcheck mutate` runs both sides. A hazard that cannot be shown says why in `left_out`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import KeyName, Prose, read_record
from elrcheck.catalogue.file_values import SCOPE, Knobs, Variant

TABLE = "hazards.toml"


@dataclass(frozen=True)
class Hazard:
    """One hazard. settings: of both sides of the comparison; knobs or guard: the mutation.

    guard: the action, and the name of the guard to remove. left_out: why it is not run; it has no mutation then.
    """

    id: Prose
    issue: Prose
    title: Prose
    expected: Annotated[tuple[str, ...], KeyName("breaks")] = ()
    settings: Annotated[Knobs, KeyName("set")] = field(default_factory=dict)
    knobs: Annotated[Knobs, KeyName("change")] = field(default_factory=dict)
    guard: tuple[str, ...] | None = None
    variant: Variant = "kip_full"
    scope: Prose = SCOPE
    left_out: Prose | None = None

    def checked(self, node: Node) -> Hazard:
        if self.guard is not None and len(self.guard) != 2:
            node["guard"].bad("a guard is named by its action and its text")
        if (self.left_out is None) != bool(self.knobs or self.guard):
            node.fail("a hazard has a `change` or a `guard`, or says why it is `left_out`")
        return self


@functools.cache
def packaged_hazards() -> tuple[Hazard, ...]:
    """Return the hazards in the order of the table, which is read once."""
    return read_hazards(files("elrcheck.catalogue") / TABLE)


def read_hazards(file: Traversable) -> tuple[Hazard, ...]:
    """Return the hazards of a table in its order; a UsageFault names the line of a mistake."""
    top = read_toml(file, toml_codes("model-source")).object(("hazard",))
    return tuple(read_record(node, Hazard) for node in top["hazard"].items())
