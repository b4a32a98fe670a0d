"""Read a finding from a TOML file: what is lost, in which versions, how it was shown, and the control.

    id = "F-20"
    title = "The ELR keeps brokers that are no longer replicas"
    severity = "loss"                  # of records, or unavailable: no leader, or a broker that cannot start
    lost = "acknowledged records"
    versions = "4.0.0 to 4.4.0, ELR on"
    happens = "..."                    # what has to happen, in one sentence
    needs = { elr = true, replicas = 2 }   # settings without which it does not happen
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
    [run.control]                      # the same search with only this rule repaired: nothing in `breaks` breaks
    set = { elr_intersect_replicas = true }
    also_breaks = ["P-9"]              # what breaks for another reason

    [[by_hand]]                        # the same on a cluster, as a user types it, beside the recipes of `reproduce`
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
    times = 2                          # how often it occurs; every occurrence changes
    versions = ["4.1.2"]               # where the source reads so, if not in all

Every run of a finding is a complete search of `scope`. A run with an empty `breaks` has no control: in it every
property holds. A run that takes minutes is marked `slow`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Literal

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.errors import did_you_mean
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import From, KeyName, MaybeEmpty, Positive, Prose, read_record
from elrcheck.catalogue.file_values import SCOPE, Knobs, Release, Variant
from elrcheck.results.risk.finding_table import Level
from elrcheck.results.risk.risk_report import RiskSettings


@dataclass(frozen=True)
class Evidence:
    """The evidence of a finding at one level. versions: of Kafka, empty for the model.

    command: the command line that repeats it, with VERSION for the release; empty if no command does.
    """

    level: Level
    text: Prose
    versions: tuple[str, ...] = ()
    command: Prose = ""

    def checked(self, node: Node) -> Evidence:
        if (self.level == "model") == bool(self.versions):
            node.fail("only evidence of the levels `classes` and `brokers` names Kafka versions, and it has to")
        if self.command and "VERSION" not in self.command:
            node["command"].bad("a command names the release as VERSION")
        return self


@dataclass(frozen=True)
class ControlRun:
    """The same search with one rule repaired. knobs: the repair, on top of the run's knobs.

    variant: the run's, unless the file names another.
    """

    variant: Variant = ""
    knobs: Annotated[Knobs, KeyName("set")] = field(default_factory=dict)
    also_breaks: tuple[str, ...] = ()
    note: MaybeEmpty = ""


@dataclass(frozen=True)
class FindingRun:
    """A complete search. breaks: property -> depth of a shortest counterexample.

    liveness: whether it searches for lassos, which break liveness properties; the depth is then the depth of the
    state in which the wait begins.
    """

    variant: Variant
    scope: Prose = SCOPE
    knobs: Annotated[Knobs, KeyName("set")] = field(default_factory=dict)
    breaks: Mapping[str, Positive] = field(default_factory=dict)
    also_breaks: tuple[str, ...] = ()
    note: MaybeEmpty = ""
    slow: bool = False
    liveness: bool = False
    control: ControlRun | None = None

    def checked(self, node: Node) -> FindingRun:
        if bool(self.breaks) != (self.control is not None):
            node.fail("a run that breaks a property has a [run.control], and no other run has one")
        if self.control is None or self.control.variant:
            return self
        return replace(self, control=replace(self.control, variant=self.variant))


@dataclass(frozen=True)
class OtherSearch:
    """A complete search in another model than Kafka's partition. model: its module; breaks: as in `FindingRun`."""

    model: Prose
    variant: Prose
    scope: Prose
    breaks: Mapping[str, Positive]
    note: MaybeEmpty = ""


@dataclass(frozen=True)
class ByHand:
    """Steps on a cluster, as a user types them. versions: of brokers on which they worked; empty if not tried."""

    title: Prose
    shell: Prose
    text: MaybeEmpty = ""
    versions: tuple[Release, ...] = ()


@dataclass(frozen=True)
class JunitRun:
    """The finding's JUnit test of `property`, with the versions whose classes fail and pass it."""

    property: Prose
    fails: tuple[Release, ...]
    passes: tuple[Release, ...] = ()

    def checked(self, node: Node) -> JunitRun:
        if not (self.fails or self.passes) or set(self.fails) & set(self.passes):
            node.fail("a test fails in some versions and passes only in others")
        return self


@dataclass(frozen=True)
class Edit:
    """A change of one of Kafka's sources: `insert` behind `after`, or instead of `replace`, `times` times.

    file: a class of the controller, or a path such as kafka/cluster/Partition.scala. versions: those whose source
    contains the text; empty for all.
    """

    file: Prose
    insert: Prose
    after: Prose = ""
    replace: Prose = ""
    times: Positive = 1
    versions: tuple[Release, ...] = ()

    def checked(self, node: Node) -> Edit:
        if bool(self.after) == bool(self.replace):
            node.fail("an edit has either `after` or `replace`")
        return self

    @property
    def path(self) -> str:
        """Return the path of the file in Kafka's jar of sources."""
        return self.file if "/" in self.file else f"org/apache/kafka/controller/{self.file}.java"

    @property
    def replaces(self) -> bool:
        """Return whether `insert` replaces the text at `place`, rather than following it."""
        return bool(self.replace)

    @property
    def place(self) -> str:
        """Return the text of the source at the place of the change."""
        return self.after or self.replace

    def changed(self, source: str) -> str:
        """Return the source with the edit. Raises ValueError if the source does not contain `place` `times` times."""
        count = source.count(self.place)
        if count != self.times:
            times = "once" if self.times == 1 else f"{self.times} times"
            raise ValueError(f"{self.path} has to read {times}, and reads {count} times: {self.place}")
        return source.replace(self.place, self.insert if self.replaces else f"{self.place} {self.insert}")


@dataclass(frozen=True)
class Patch:
    """The smallest repair. knobs: what a control of the model sets for it, empty if the model has none.

    classes: versions whose classes, with the edits, pass the finding's JUnit tests without changing the result of any
    other finding's test, except of those that it `mends` or `brings`; for a finding without a JUnit test, versions
    whose classes no longer do what [[evidence]] says. brokers: versions on whose brokers, with the patched classes
    first on the class path, a recipe no longer shows the finding (`reproduce --classes`).
    """

    text: Prose
    knobs: tuple[str, ...] = ()
    edits: Annotated[tuple[Edit, ...], KeyName("edit")] = ()
    classes: tuple[Release, ...] = ()
    brokers: tuple[Release, ...] = ()
    mends: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()

    def edits_of(self, version: str) -> tuple[Edit, ...]:
        """Return the edits of the sources of a release."""
        return tuple(edit for edit in self.edits if version in edit.versions or not edit.versions)


@dataclass(frozen=True)
class Prevented:
    """Releases without the finding, and the class and method that prevents it there."""

    versions: tuple[Release, ...]
    by: Prose


@dataclass(frozen=True)
class Needs:
    """Settings without which a finding does not happen; None for those that do not matter.

    elr: eligible.leader.replicas.version is 1; unclean: unclean.leader.election.enable is true; replicas: the least
    replication factor, below which a complete search of each run has no violation of the finding's properties.
    """

    elr: bool | None = None
    unclean: bool | None = None
    replicas: Positive = 1

    def met(self, settings: RiskSettings) -> bool:
        """Return whether the finding may happen with these settings."""
        allowed = self.elr in (None, settings.elr)
        allowed &= self.unclean in (None, settings.unclean_leader_election_enable)
        return allowed and settings.replication_factor >= self.replicas


@dataclass(frozen=True)
class Finding:
    """A finding. lost: what users lose; happens: what has to happen, in one sentence.

    needs: settings without which it does not happen; meanwhile: what operators can do until it is fixed.
    """

    id: Prose
    title: Prose
    severity: Literal["loss", "unavailable"]
    lost: Prose
    versions: Prose
    happens: Prose
    cause: Prose
    needs: Needs = field(default_factory=Needs)
    issue: Prose = "none found"
    about: MaybeEmpty = ""
    meanwhile: MaybeEmpty = ""
    evidence: tuple[Evidence, ...] = ()
    prevented: tuple[Prevented, ...] = ()
    runs: Annotated[tuple[FindingRun, ...], KeyName("run")] = ()
    elsewhere: tuple[OtherSearch, ...] = ()
    by_hand: tuple[ByHand, ...] = ()
    junit: tuple[JunitRun, ...] = ()
    patch: Patch | None = None
    file: Annotated[str, From.FILE] = ""

    def checked(self, node: Node) -> Finding:
        if not self.evidence:
            node.fail("a finding has at least one [[evidence]]")
        if any(part.level == "model" for part in self.evidence) != bool(self.runs or self.elsewhere):
            node.fail("evidence of the level `model` and a [[run]] or [[elsewhere]] need each other")
        if self.patch is not None:
            self._check_patch(self.patch, node["patch"])
        return self

    def _check_patch(self, patch: Patch, node: Node) -> None:
        repaired = {name for run in self.runs if run.control is not None for name in run.control.knobs}
        for name in patch.knobs:
            if name not in repaired:
                node["knobs"].bad(f"no control of the finding sets `{name}`", did_you_mean(name, repaired))
        if patch.classes and (not patch.edits or not set(patch.classes) <= self._releases_with_it()):
            node.fail("`classes` names versions whose classes are known to have the finding without the edit")

    def _releases_with_it(self) -> set[str]:
        """Return the releases whose classes have the finding: by its tests, or by its evidence if it has none."""
        if self.junit:
            return {release for run in self.junit for release in run.fails}
        return {release for part in self.evidence if part.level == "classes" for release in part.versions}


def read_finding(file: Path | Traversable) -> Finding:
    """Read a finding strictly; a UsageFault names the file, the line and the key."""
    return read_record(read_toml(file, toml_codes("finding-file")), Finding)
