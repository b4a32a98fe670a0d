"""`elrcheck init`: write a starter set of files, each explained by its comments."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from elrcheck.base.atomic import write_bytes, write_file
from elrcheck.base.errors import UsageFault
from elrcheck.base.origin import FORMS
from elrcheck.base.package_files import templates_in
from elrcheck.base.progress import Progress
from elrcheck.base.requests import DEFAULT_SCOPE, DEFAULT_VARIANT, Selection

if TYPE_CHECKING:
    from elrcheck.checking.baseline import BaselineEntry
    from elrcheck.declared.declared_model import DeclaredModel

SETTINGS_PATH = "elrcheck.toml"
WORKFLOW_PATH = ".github/workflows/elrcheck.yml"
HOOK_PATH = ".pre-commit-config.yaml"
BASELINE_PATH = "elrcheck-baseline.toml"
IGNORE_PATH = ".gitignore"
TEMPLATES = {
    SETTINGS_PATH: "elrcheck.toml.jinja",
    WORKFLOW_PATH: "workflow.yml.jinja",
    HOOK_PATH: "pre-commit.yaml.jinja",
}
"""File -> its template in `commands/templates`."""
IGNORED = ".elrcheck/"
"""Where commands store runs and traces."""
MOST_STATES = 1_000_000
"""The most states of an entry for a user's model; a larger one ends at the last level before that."""
MOST_VARIANTS = 4
"""The most variants that have an entry each; of a model with more, only the default one has."""
SMALL_SCOPES = ("two-brokers", "three-brokers-tiny")
"""Scopes of Kafka's partition, and of its copies, that are searched in a second."""
DEFINITIONS = r"\.(tf|tf\.json|yaml|yml)"
"""The ends of files that are read in a folder with definitions of topics, as a regular expression."""


@dataclass(frozen=True)
class OwnModel:
    """A model of the user. place: where it is in the folder."""

    model: DeclaredModel
    file: Path
    place: Path
    progress: Progress

    @classmethod
    def of(cls, file: Path, folder: Path, progress: Progress) -> OwnModel:
        """Return the model of a file; UsageFault if it is not in the folder, where CI would not find it."""
        from elrcheck.declared.declared_model import declared

        place, root = Path(os.path.realpath(file)), Path(os.path.realpath(folder))  # also of links in a circle
        if not place.is_relative_to(root):
            help = "give --directory the folder of the repository, and --model a file in it"
            raise UsageFault("model-file", f"the model {file} is not in the folder {folder}", help=help)
        return cls(declared(file), file, place.relative_to(root), progress)

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the variants with an entry."""
        every = self.model.variant_names
        return every if len(every) <= MOST_VARIANTS else (self.model.variant(DEFAULT_VARIANT).name,)

    @property
    def scope(self) -> str:
        """Return the scope of the entries: a small one of a copy of Kafka's partition, else the default one."""
        return next((name for name in SMALL_SCOPES if name in self.model.scope_names), None) or (
            self.model.scope(DEFAULT_SCOPE).name
        )

    def entries(self) -> tuple[BaselineEntry, ...]:
        """Return an entry for each of `variants`; its results are to be recorded."""
        from elrcheck.checking.baseline import NAME, BaselineEntry

        scope = self.scope
        return tuple(
            BaselineEntry(
                variant if NAME.fullmatch(variant) else f"variant-{number}",
                Selection(variant, scope, model=self.place),
                max_depth=self.depth(Selection(variant, scope, model=self.file)),
            )
            for number, variant in enumerate(self.variants, start=1)
        )

    def depth(self, selection: Selection) -> int | None:
        """Return the depth of the last level within MOST_STATES, None if the search ends before.

        An entry has no limit of states, which ends a search within a level, where counts depend on the threads.
        """
        from elrcheck.base.requests import CheckRequest, Limits
        from elrcheck.checking.check import run_check

        request = CheckRequest(selection, limits=Limits(max_states=MOST_STATES))
        search = run_check(request, self.progress).search
        return None if search.complete else max(1, search.diameter - 2)

    def settings(self) -> Mapping[str, str]:
        """Return what the lines of the settings file name: values of this model."""
        from elrcheck.declared.select import effective

        settings = effective(Selection(model=self.file))
        return {
            "model": self.place.as_posix(),
            "variant": self.model.variant(DEFAULT_VARIANT).name,
            "scope": self.model.scope(DEFAULT_SCOPE).name,
            "setting": f"{settings[0].name}={settings[0].value}" if settings else "",
        }

    def pattern(self) -> str:
        """Return a regular expression of the files of the model, after those of others, in a text of YAML."""
        return pattern_of(self.place, "" if self.file.is_dir() else None)


@dataclass(frozen=True)
class OwnTopics:
    """Definitions of topics of the user. kafka: the release of the brokers; places: in the folder."""

    kafka: str
    places: tuple[Path, ...]
    folder: Path

    @classmethod
    def of(cls, kafka: str, paths: Sequence[Path], folder: Path) -> OwnTopics:
        """Return the topics at these paths; UsageFault if one is not in the folder, where CI would not find it."""
        places = []
        for path in paths:
            if not path.resolve().is_relative_to(folder.resolve()):
                help = "give --directory the folder of the repository, and --topics a path in it"
                raise UsageFault("init-topics", f"{path} is not in the folder {folder}", help=help)
            places.append(path.resolve().relative_to(folder.resolve()))
        return cls(kafka, tuple(places), folder)

    def pattern(self) -> str:
        """Return a regular expression of their files, after those of others, in a text of YAML."""
        return "".join(
            pattern_of(place, DEFINITIONS if (self.folder / place).is_dir() else None) for place in self.places
        )


def pattern_of(place: Path, end: str | None) -> str:
    """Return a regular expression of a file, or of files of a folder, after others in a text of YAML.

    end: that of the names of files below the folder; None: the place is a file.
    """
    text = re.escape(place.as_posix()).replace("'", "''")
    if end is None:
        return f"|{text}"
    return f"|.*{end}" if place == Path() else f"|{text}/.*{end}"


@dataclass(frozen=True)
class GuardedByCi:
    """What CI is to guard. variant: of the baseline without a model of the user.

    The baseline is left out if there are topics and no model: it would say nothing about the repository.
    """

    variant: str = DEFAULT_VARIANT
    own: OwnModel | None = None
    topics: OwnTopics | None = None

    @property
    def has_baseline(self) -> bool:
        return self.own is not None or self.topics is None

    def entries(self) -> tuple[BaselineEntry, ...]:
        """Return the entries of the baseline."""
        from elrcheck.checking.baseline import BaselineEntry

        if self.own is not None:
            return self.own.entries()
        return tuple(BaselineEntry(scope, Selection(self.variant, scope)) for scope in SMALL_SCOPES)


def files(origin: str | None = None, guarded: GuardedByCi | None = None) -> Mapping[str, str]:
    """Return the files to write: path inside the folder -> text. origin: the pinned URL of elrcheck, if known."""
    from elrcheck.base.typed.records import text_value
    from elrcheck.checking.baseline import baseline_text

    guarded = guarded or GuardedByCi()
    templates = templates_in(resources.files("elrcheck.commands") / "templates")
    templates.filters["toml"] = lambda value: text_value(value.as_posix() if isinstance(value, Path) else value)
    values = {
        "baseline": guarded.has_baseline,
        "own": guarded.own,
        "settings": None if guarded.own is None else guarded.own.settings(),
        "topics": guarded.topics,
        "origin": origin,
        "forms": FORMS,
    }
    rendered = {path: templates.get_template(name).render(values) for path, name in TEMPLATES.items()}
    texts = {SETTINGS_PATH: rendered.pop(SETTINGS_PATH).rstrip("\n") + "\n"}
    if guarded.has_baseline:
        texts[BASELINE_PATH] = baseline_text(guarded.entries())
    texts |= rendered
    return texts


def start(
    folder: Path, force: bool, origin: str | None = None, guarded: GuardedByCi | None = None
) -> list[tuple[Path, str]]:
    """Write the files, and return (path, `wrote`, `replaced` or `kept`) for each.

    Raises UsageFault if the folder does not exist, or if all files exist and force is false.
    """
    if not folder.is_dir():
        raise UsageFault("no-folder", f"there is no folder {folder}")
    texts = files(origin, guarded)
    existing = [name for name in texts if (folder / name).exists()]
    if len(existing) == len(texts) and not force:
        raise UsageFault(
            "init-exists",
            f"all of these files exist already: {', '.join(existing)}",
            where=str(folder),
            help="use --force to overwrite them",
        )
    done = []
    for name, text in texts.items():
        path = folder / name
        left_alone = name in existing and not force
        if not left_alone:
            write_file(path, text)
        done.append((path, "kept" if left_alone else "replaced" if name in existing else "wrote"))
    return [*done, _ignore(folder / IGNORE_PATH)]


def commands_missing(workflow: Path, guarded: GuardedByCi) -> list[str]:
    """Return the commands for what CI is to guard that a workflow does not name."""
    verbs = ["elrcheck gate"] * guarded.has_baseline + ["elrcheck assess"] * (guarded.topics is not None)
    text = workflow.read_text(encoding="utf-8", errors="replace")
    return [command for command in verbs if command not in text]


def models_in(folder: Path) -> list[Path]:
    """Return the readable Python files of a folder that declare a model, without installed packages, hidden folders."""
    declaring = []
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder).parts
        if "site-packages" in parts or any(part.startswith(".") for part in parts) or not file.is_file():
            continue
        with suppress(OSError):
            if b"ProtocolModel(" in file.read_bytes():
                declaring.append(file)
    return declaring


def _ignore(path: Path) -> tuple[Path, str]:
    """Add the folder of runs to .gitignore; leave the rest of the file as it is, whatever its encoding."""
    before = path.read_bytes() if path.is_file() else b""
    line = IGNORED.encode()
    if any(each.strip().strip(b"/") == line.strip(b"/") for each in before.splitlines()):
        return path, "kept"
    end = b"\r\n" if b"\r\n" in before else b"\n"
    write_bytes(path, before + (b"" if not before or before.endswith(b"\n") else end) + line + end)
    return path, "extended" if before else "wrote"
