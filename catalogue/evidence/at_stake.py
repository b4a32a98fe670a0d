"""What clients of a partition lose where a property of the model fails, in a sentence: `catalogue/at_stake.toml`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.resources import files

from elrcheck.base.documents import read_toml


@functools.cache
def at_stake() -> Mapping[str, str]:
    """Return id of a property -> its sentence; the table is read once."""
    rows = read_toml(files("elrcheck.catalogue") / "at_stake.toml").object(("stake",))["stake"].items()
    named = [(row["properties"].texts(), row["text"].text()) for row in rows]
    return {ident: text for idents, text in named for ident in idents}
