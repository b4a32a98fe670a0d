"""Options that several requests have."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from elrcheck.base.option import Option

OF_ANY_MODEL = ("variants", "scopes", "properties", "witnesses", "lemmas", "actions", "knobs")
"""Kinds of names that every model has."""
KINDS = (*OF_ANY_MODEL, "budgets", "scenarios", "hazards", "findings", "recipes", "rules", "errors", "formats", "terms")
"""Kinds of names that `elrcheck list` prints and `elrcheck show --kind` accepts."""

FAIL_ON: Mapping[str, str] = {
    "drift": "any difference from the baseline",
    "regression": "only differences for the worse",
    "violated": "a violation, even one that the baseline expects",
    "inconclusive": "a run that a limit stopped",
    "unreached-action": "an action that never fires within the budgets",
    "unreached-witness": "a witness that is not reached",
}
"""Values of `--fail-on`. All but `drift` and `regression` apply whatever the baseline expects."""

ModelFile: TypeAlias = Annotated[
    Path | None,
    Option(
        "Model to use instead of Kafka's partition: a Python file, a folder with one, or a module; it runs as Python.",
        metavar="FILE",
        kind="path",
        group="Model",
    ),
]


PatchFile: TypeAlias = Annotated[
    Path | None,
    Option(
        "Unified diff to apply to a copy of the model, which is then used instead.",
        metavar="FILE.diff",
        kind="path",
        group="Model",
    ),
]


@dataclass(frozen=True)
class PatchedModel:
    """A model with a unified diff applied to its source. base: its file; None for the default model."""

    patch: Path
    base: Path | None = None

    def __str__(self) -> str:
        return f"{self.base} with {self.patch}" if self.base else str(self.patch)


ModelSource: TypeAlias = Path | PatchedModel | None
"""A model: a file or folder of the user, one with a diff applied, or None for the default."""


def model_place(named: Path) -> Path:
    """Return the file of a module named like `package.module`; a path that exists, or is no such name, unchanged.

    Imports the packages around the module, but not the module itself.
    """
    name = str(named)
    if named.exists() or not all(part.isidentifier() for part in name.split(".")) or name.endswith(".py"):
        return named
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return named
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return named
    file = Path(spec.origin)
    return file.parent if file.name == "__init__.py" else file


Properties: TypeAlias = Annotated[
    tuple[str, ...],
    Option(
        "Check only these properties, by id, name or glob",
        flags="--property -p",
        metavar="GLOB",
        group="Properties",
        complete="properties",
    ),
]
StopAtFirst: TypeAlias = Annotated[
    bool, Option("Stop each search after the level of its first violation.", group="Properties")
]
Liveness: TypeAlias = Annotated[
    bool, Option("Check the liveness properties (V-*) instead of the others.", group="Properties")
]
Fresh: TypeAlias = Annotated[bool, Option("Search again, even if an earlier run stored the answer.", group="Limits")]
Reduce: TypeAlias = Annotated[
    bool, Option("Merge indistinguishable states: fewer states, the same findings.", group="Engine")
]
Repro: TypeAlias = Annotated[str | None, Option("The trace as action indices, instead of FILE.", metavar="0/3/1")]
Seed: TypeAlias = Annotated[
    int | None, Option("Random seed; by default a fresh one, which the report prints.", least=0, most=2**64 - 1)
]
KeptOption: TypeAlias = Annotated[
    bool, Option("Use answers that earlier runs of the same program stored.", only="nowhere")
]
Drawn: TypeAlias = Annotated[bool, Option("Include the state graph in the page if it is small.", only="python")]


def workers_option(help: str) -> Option:
    """Return the option `--workers`; None stands for `auto`: as many as are useful."""
    return Option(help, kind="workers", least=1, group="Engine")


def run_dir_option(help: str) -> Option:
    """Return the option `--run-dir`."""
    return Option(help, kind="folder", group="Run folder")


def fail_on_option(lead: str, words: Sequence[str]) -> Option:
    """Return the option `--fail-on`, whose help explains the words that it accepts."""
    meanings = "; ".join(f"{word} ({FAIL_ON[word]})" for word in words)
    help = f"{lead} (exit code 1) on these, separated by commas: {meanings}."
    return Option(help, metavar="LIST", kind="list", group="Properties", only="console")


Workers: TypeAlias = Annotated[int | None, workers_option("Number of threads for a search, or processes for a proof.")]
Processes: TypeAlias = Annotated[int | None, workers_option("Number of processes.")]
SparkMaster: TypeAlias = Annotated[
    str, Option("Spark master: local[N], spark://HOST:PORT, yarn or k8s://...", metavar="URL", group="Engine")
]
