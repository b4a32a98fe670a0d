"""Read a finding from a TOML file: what is lost, in which versions, how it was shown, and the control.

    id = "F-20"
    title = "The ELR keeps brokers that are no longer replicas"
    lost = "acknowledged records"
    versions = "4.0.0 to 4.4.0, ELR on"
    cause = "PartitionChangeBuilder.maybePopulateTargetElr does not restrict the ELR to the replicas"
    about = "..."

    [[evidence]]
    level = "brokers"                  # model, classes (the released controller or broker classes), brokers
    versions = ["4.1.1", "4.3.0"]
    text = "0 to 16 of 600 records acknowledged with acks=all are left"
    command = "elrcheck .."            # what repeats it on a release, VERSION; may be left out

    [[prevented]]                      # releases without it, and the class and method that prevents it
    versions = ["3.9.1"]
    by = "MetadataVersion.isElrSupported: ..."

    [[run]]
    variant = "code_4_3"
    set = { reassignments = 2, fences = 1 }
    breaks = { P-12 = 1, P-1 = 5 }     # the depth of a shortest counterexample to each
    also_breaks = ["P-6"]              # at any depth
    [run.control]                      # the same search with only this rule repaired
    set = { elr_intersect_replicas = true }
    also_breaks = ["P-9"]              # what breaks for another reason; nothing in `breaks` does

    [[by_hand]]                        # the same on a cluster, as a user types it; `reproduce` has recipes
    title = "Two reassignments and an orderly stop"
    text = "..."                       # what it needs, and what is seen
    shell = "kafka-topics.sh ..."
    versions = ["4.1.1"]               # brokers that did it; none: not tried on brokers

    [[junit]]                          # `elrcheck export junit` with this property, run with Kafka's jars
    property = "P-12"
    fails = ["4.1.2"]
    passes = ["4.3.1"]                 # where the finding is fixed

    [patch]
    text = "..."                       # the smallest repair of Kafka, in words
    knobs = ["elr_intersect_replicas"] # the same in the model, set by a control
    classes = ["4.1.2"]                # where the tests of [[junit]] pass with the edit
    brokers = ["4.1.1"]                # where a cluster with it lost nothing
    mends = ["F-59"]                   # other findings whose tests pass with the edit as well
    brings = ["F-54"]                  # other findings whose tests fail with the edit only
    [[patch.edit]]
    file = "PartitionChangeBuilder"    # a class of org.apache.kafka.controller, or the path of any source
    after = "some code of it"          # in one place; or `replace`, which `insert` then stands for
    insert = "what follows it then"
    times = 2                          # in so many places, all of which change
    versions = ["4.1.2"]               # where the source reads so, if not in all

Every run of a finding is a complete search of `scope`. Where `breaks` is empty the run holds, and there is no
control: it says what does not follow. A run that takes more than seconds is marked `slow`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.errors import did_you_mean
from elrcheck.base.strict import Node
from elrcheck.catalogue.configuration import config_fields, config_value
from elrcheck.model.config import Config
from elrcheck.model.variants import variant_names

LEVELS = ("model", "classes", "brokers")
SCOPE = "two-brokers-quiet"
TOP = ("id", "title", "lost", "versions", "cause")
MORE = ("issue", "about", "meanwhile", "evidence", "prevented", "run", "by_hand", "junit", "patch")
RUN = ("scope", "set", "breaks", "also_breaks", "note", "slow", "liveness", "control")
CONTROL = ("variant", "set", "also_breaks", "note")
RELEASE = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True)
class Evidence:
    """How far a finding was shown. level: one of `LEVELS`; versions: of Kafka, empty for the model.

    command: repeats it on a release, which it calls VERSION; empty if nothing does.
    """

    level: str
    versions: tuple[str, ...]
    text: str
    command: str


@dataclass(frozen=True)
class Control:
    """The same search with one rule repaired. knobs: what repairs it, on top of the run's."""

    variant: str
    knobs: Mapping[str, Any]
    also_breaks: tuple[str, ...]
    note: str


@dataclass(frozen=True)
class FindingRun:
    """A complete search. breaks: property -> depth of a shortest counterexample.

    liveness: a search for lassos, of the liveness properties; the depth is that of the state where the wait
    begins.
    """

    variant: str
    scope: str
    knobs: Mapping[str, Any]
    breaks: Mapping[str, int]
    also_breaks: tuple[str, ...]
    note: str
    slow: bool
    liveness: bool
    control: Control | None


@dataclass(frozen=True)
class ByHand:
    """Steps on a cluster, as a user types them. versions: of brokers that did it, none if not tried."""

    title: str
    text: str
    shell: str
    versions: tuple[str, ...]


@dataclass(frozen=True)
class JunitRun:
    """The finding's JUnit test that states `property`, by the versions whose classes fail and pass it."""

    property: str
    fails: tuple[str, ...]
    passes: tuple[str, ...]


@dataclass(frozen=True)
class Edit:
    """A change of one of Kafka's sources: `insert` behind, or instead of, what reads `place`, `times` times.

    file: a class of the controller, or a path such as kafka/cluster/Partition.scala. versions: where it reads
    so, empty for all.
    """

    file: str
    place: str
    insert: str
    replaces: bool
    times: int
    versions: tuple[str, ...]

    @property
    def path(self) -> str:
        """In the jar of sources."""
        return self.file if "/" in self.file else f"org/apache/kafka/controller/{self.file}.java"

    def changed(self, source: str) -> str:
        """The source with the edit; a ValueError says that it is no source that this edit is for."""
        found = source.count(self.place)
        if found != self.times:
            times = "once" if self.times == 1 else f"{self.times} times"
            raise ValueError(f"{self.path} has to read {times}, and reads {found} times: {self.place}")
        return source.replace(self.place, self.insert if self.replaces else f"{self.place} {self.insert}")


@dataclass(frozen=True)
class Patch:
    """The smallest repair. knobs: what a control of the model sets for it, empty if the model has none.

    classes: versions whose classes, with the edits, pass the finding's JUnit tests, while those of all other
    findings say what they said before, except those that it `mends` or `brings`; of a finding without such a
    test, versions whose classes no longer do what [[evidence]] says. brokers: versions on
    whose brokers, with it in front, a recipe no longer shows the finding (`reproduce --classes`).
    """

    text: str
    knobs: tuple[str, ...]
    edits: tuple[Edit, ...]
    classes: tuple[str, ...]
    brokers: tuple[str, ...]
    mends: tuple[str, ...]
    brings: tuple[str, ...]

    def edits_of(self, version: str) -> tuple[Edit, ...]:
        """The edits of the sources of a release."""
        return tuple(edit for edit in self.edits if version in edit.versions or not edit.versions)


@dataclass(frozen=True)
class Prevented:
    """Releases without the finding, and the class and method that prevents it there."""

    versions: tuple[str, ...]
    by: str


@dataclass(frozen=True)
class Finding:
    """A finding. lost: what users lose; meanwhile: what operators can do until it is fixed."""

    id: str
    title: str
    lost: str
    versions: str
    cause: str
    issue: str
    about: str
    meanwhile: str
    evidence: tuple[Evidence, ...]
    prevented: tuple[Prevented, ...]
    runs: tuple[FindingRun, ...]
    by_hand: tuple[ByHand, ...]
    junit: tuple[JunitRun, ...]
    patch: Patch | None
    file: str


def read_finding(file: Path | Traversable) -> Finding:
    """Read a finding strictly; a UsageFault names the file, the line and the key."""
    document = read_toml(file, toml_codes("finding-file")).object(TOP, MORE)
    evidence = tuple(_evidence(node) for node in document.get("evidence", []).items())
    runs = tuple(_run(node) for node in document.get("run", []).items())
    junit = tuple(_junit(node) for node in document.get("junit", []).items())
    if not evidence:
        document.fail("a finding has at least one [[evidence]]")
    if any(part.level == "model" for part in evidence) != bool(runs):
        document.fail("evidence of the level `model` and a [[run]] need each other")
    return Finding(
        **{key: _needed(document[key]) for key in TOP},
        issue=document.maybe("issue", _needed, "none found"),
        about=document.maybe("about", _text, ""),
        meanwhile=document.maybe("meanwhile", _text, ""),
        evidence=evidence,
        prevented=tuple(_prevented(node) for node in document.get("prevented", []).items()),
        runs=runs,
        by_hand=tuple(_by_hand(node) for node in document.get("by_hand", []).items()),
        junit=junit,
        patch=document.maybe("patch", lambda node: _patch(node, runs, _shown(junit, evidence)), None),
        file=document.source.name,
    )


def _text(node: Node) -> str:
    return node.text().strip()


def _needed(node: Node) -> str:
    return _text(node) or node.bad("expected a text, not an empty one")


def _evidence(node: Node) -> Evidence:
    node.object(("level", "text"), ("versions", "command"))
    level = node["level"].choice(LEVELS)
    versions = node.maybe("versions", Node.texts, ())
    if (level == "model") == bool(versions):
        node.fail("only evidence of the levels `classes` and `brokers` names Kafka versions, and it has to")
    command = node.maybe("command", _needed, "")
    if command and "VERSION" not in command:
        node["command"].bad("a command names the release as VERSION")
    return Evidence(level, versions, _needed(node["text"]), command)


def _prevented(node: Node) -> Prevented:
    node.object(("versions", "by"))
    return Prevented(_releases(node["versions"]), _needed(node["by"]))


def _run(node: Node) -> FindingRun:
    node.object(("variant",), RUN)
    variant = _variant(node["variant"])
    breaks = node.get("breaks", {}).map(Node.positive)
    control = node.maybe("control", lambda part: _control(part, variant), None)
    if bool(breaks) != (control is not None):
        node.fail("a run that breaks a property has a [run.control], and no other run has one")
    return FindingRun(
        variant=variant,
        scope=node.maybe("scope", _needed, SCOPE),
        knobs=_knobs(node.get("set", {})),
        breaks=breaks,
        also_breaks=node.maybe("also_breaks", Node.texts, ()),
        note=node.maybe("note", _text, ""),
        slow=node.maybe("slow", Node.boolean, False),
        liveness=node.maybe("liveness", Node.boolean, False),
        control=control,
    )


def _control(node: Node, variant: str) -> Control:
    node.object((), CONTROL)
    return Control(
        variant=node.maybe("variant", _variant, variant),
        knobs=_knobs(node.get("set", {})),
        also_breaks=node.maybe("also_breaks", Node.texts, ()),
        note=node.maybe("note", _text, ""),
    )


def _releases(node: Node) -> tuple[str, ...]:
    return tuple(_release(part) for part in node.items())


def _release(node: Node) -> str:
    name = _needed(node)
    if RELEASE.fullmatch(name) is None:
        node.bad("expected a release of Kafka", "give all three numbers, as in 4.1.2")
    return name


def _by_hand(node: Node) -> ByHand:
    node.object(("title", "shell"), ("text", "versions"))
    return ByHand(
        title=_needed(node["title"]),
        text=node.maybe("text", _text, ""),
        shell=_needed(node["shell"]),
        versions=node.maybe("versions", _releases, ()),
    )


def _junit(node: Node) -> JunitRun:
    node.object(("property", "fails"), ("passes",))
    fails = _releases(node["fails"])
    passes = node.maybe("passes", _releases, ())
    if not (fails or passes) or set(fails) & set(passes):
        node.fail("a test fails in some versions and passes only in others")
    return JunitRun(_needed(node["property"]), fails, passes)


def _shown(junit: tuple[JunitRun, ...], evidence: tuple[Evidence, ...]) -> set[str]:
    """Releases whose classes have the finding: by its tests, or by what was told to them if it has none."""
    told = {release for part in evidence if part.level == "classes" for release in part.versions}
    return {release for run in junit for release in run.fails} if junit else told


def _patch(node: Node, runs: tuple[FindingRun, ...], shown: set[str]) -> Patch:
    node.object(("text",), ("knobs", "edit", "classes", "brokers", "mends", "brings"))
    knobs = node.maybe("knobs", Node.texts, ())
    repaired = {name for run in runs if run.control is not None for name in run.control.knobs}
    for name in knobs:
        if name not in repaired:
            node["knobs"].bad(f"no control of the finding sets `{name}`", did_you_mean(name, repaired))
    edits = tuple(_edit(part) for part in node.get("edit", []).items())
    classes = node.maybe("classes", _releases, ())
    if classes and (not edits or not set(classes) <= shown):
        node.fail("`classes` names versions whose classes are known to have the finding without the edit")
    return Patch(
        _needed(node["text"]), knobs, edits, classes, node.maybe("brokers", _releases, ()),
        node.maybe("mends", Node.texts, ()), node.maybe("brings", Node.texts, ()),
    )  # fmt: skip


def _edit(node: Node) -> Edit:
    node.object(("file", "insert"), ("after", "replace", "times", "versions"))
    after, replaced = (node.maybe(key, _needed, None) for key in ("after", "replace"))
    place = after or replaced
    if place is None or (after and replaced):
        node.fail("an edit has either `after` or `replace`")
    return Edit(
        _needed(node["file"]), place, _needed(node["insert"]), after is None,
        node.maybe("times", Node.positive, 1), node.maybe("versions", _releases, ()),
    )  # fmt: skip


def _variant(node: Node) -> str:
    name = _needed(node)
    known = variant_names()
    if name not in known:
        node.bad(f"unknown variant `{name}`", did_you_mean(name, known))
    return name


def _knobs(node: Node) -> dict[str, Any]:
    kinds = config_fields(Config)
    return {key: config_value(kinds[key], part) for key, part in node.object((), kinds).fields()}
