"""Reads `catalogue/equivalents.toml`: the changes of rules that alter no behaviour, each with the reason.

    [[equivalent]]
    because = "the ISR is never empty there"
    mutants = ["fenced_partition: len(p.isr) <= 1 -> len(p.isr) < 1"]

`mutants` are names that `elrcheck mutate --rules` prints. A name that no change of the model has is an error;
`mutate --rules` reports an entry as contradicted if a check detects its change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.errors import did_you_mean

CODE = "equivalents-file"


def packaged_equivalents() -> Traversable:
    return files("elrcheck.catalogue") / "equivalents.toml"


def read_equivalents(file: Path | Traversable, changes: Collection[str]) -> Mapping[str, str]:
    """Return mutant -> reason. Raise UsageFault for a duplicate entry, or for a name that is not in `changes`."""
    top = read_toml(file, toml_codes(CODE)).object((), ("equivalent",))
    reasons: dict[str, str] = {}
    for node in top.get("equivalent", []).items():
        node.object(("mutants", "because"))
        because = node["because"].text()
        for part in node["mutants"].items():
            name = part.text()
            if name in reasons:
                part.fail(f"`{name}` is explained twice")
            if name not in changes:
                part.fail(f"no change of the model is called `{name}`", did_you_mean(name, changes))
            reasons[name] = because
    return reasons
