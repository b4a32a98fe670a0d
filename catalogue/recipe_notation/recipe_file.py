"""Reads recipes: how a finding is reproduced on a real cluster, step by step, and with what it is compared.

    finding = "F-20"
    name = "loss"
    default = true                     # the recipe of `elrcheck reproduce F-20`
    title = "Acknowledged records are lost by two reassignments and an orderly restart"
    about = "..."
    expects = "lost"                   # or "unavailable"
    versions = ["4.0.0", "4.4.0"]      # the oldest and the newest release on which it was seen; [] for none
    needs = "4.0.0"                    # the oldest release that knows what the recipe uses
    traces = ["F-20: P-1"]             # the search of a finding, or the scenario, that the steps follow
    timing = "..."                     # what depends on timing; left out where nothing does

    [trace]                            # the trace whose states the recipe waits for: see below

    [cluster]
    brokers = 3
    log-dirs = 1
    features = { "eligible.leader.replicas.version" = 1 }
    controller = { "broker.session.timeout.ms" = 9000 }    # properties on top of those of every cluster
    broker = { "replica.fetch.max.bytes" = 2000 }
    debug = ["kafka.cluster.Partition"]                    # loggers whose debug lines `said` waits for

    [control]                          # the same steps with one thing changed
    title = "ELR off"
    features = { "eligible.leader.replicas.version" = 0 }

    [[step]]
    create = "orders"                  # `recipe_actions.py` has the kinds of steps
    partitions = [[0, 1, 2], [0, 1, 2]]

    [[step]]
    wait = "orders-1"
    elr = [0, 1]
    in = "run"                         # only in the run, or only in the "control"; left out for both
    finally = true                     # done even if the finding does not show (`decides`, `instead`)
    note = "why"                       # for readers

    [[step]]
    answered = "orders-0"
    instead = { wait = "orders-0", leader = 0, isr = [0] }  # what happens where the finding does not show

    [read]
    partitions = ["orders-1"]          # what is read at the end and compared with what was acknowledged

    [[seen]]                           # what a run of it reported: `recipe_seen.py`

Files are read strictly: an unknown key, a broker that does not exist or a partition that was not created is
an error.

[trace]                                # the states whose order the `wait`s follow
    property = "P-1"                       # a shortest counterexample of this property
    variant = "code_4_1"
    scope = "two-brokers-quiet"            # by default
    set = { reassignments = 2 }            # budgets and rules of the search, as in a finding
    liveness = true                        # left out for a search of states
    brokers = [1, 1, 0]                    # the broker of the model that stands for 0, for 1, for 2

Several brokers of a recipe may stand for the same broker of the model. A test searches the trace and compares: each
`wait` of the run, up to the sign of the finding, has to match a later state of the trace than the one before.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.requests import Selection
from elrcheck.base.strict import Node
from elrcheck.base.typed.records import (
    From,
    KeyName,
    Natural,
    NodeReader,
    Positive,
    Prose,
    matching,
    read_record,
    read_value,
)
from elrcheck.catalogue.file_values import SCOPE, Knobs, Release, Variant, packaged_files, release
from elrcheck.catalogue.recipe_notation.recipe_actions import Create, Delete, Signal, kind_of, read_action
from elrcheck.catalogue.recipe_notation.recipe_seen import SeenRun
from elrcheck.catalogue.recipe_notation.recipe_signs import (
    NO_LEADER,
    Action,
    ExpectedPartition,
    KafkaSettings,
    Partition,
)
from elrcheck.model.knobs import plain


@dataclass(frozen=True)
class RecipeTrace:
    """The search for the trace. broken: the property; brokers: the model's broker for each of the recipe's."""

    broken: Annotated[str, KeyName("property")]
    variant: Variant
    brokers: tuple[Natural, ...]
    scope: str = SCOPE
    knobs: Annotated[Knobs, KeyName("set")] = field(default_factory=dict)
    liveness: bool = False

    def check_brokers(self, node: Node, number: int) -> None:
        """Raise UsageFault unless each of the recipe's `number` brokers has one of the model."""
        if len(self.brokers) != number or set(self.brokers) != set(range(max(self.brokers, default=0) + 1)):
            node["brokers"].expected(f"for each of the {number} brokers one of the model, and all of those")

    @property
    def selection(self) -> Selection:
        return Selection(self.variant, self.scope, tuple(f"{k}={plain(v)}" for k, v in self.knobs.items()))

    @property
    def command(self) -> str:
        """Return the command line of the search."""
        settings = (f"--set {key}={str(plain(value)).lower()}" for key, value in self.knobs.items())
        words = ["elrcheck check", *(["--liveness"] if self.liveness else []), f"--scope {self.scope}"]
        return " ".join([*words, f"--variant {self.variant}", *settings, f"-p {self.broken}"])

    def met(self, seen: Sequence[ExpectedPartition], states: Sequence[Mapping[str, Any]]) -> int:
        """Return how many expectations, from the first, these states of a partition match in order."""
        at = 0
        for number, expected in enumerate(seen):
            while at < len(states) and not self._fits(expected, states[at]):
                at += 1
            if at == len(states):
                return number
        return len(seen)

    def _fits(self, seen: ExpectedPartition, state: Mapping[str, Any]) -> bool:
        sets = ((seen.replicas, "replicas"), (seen.isr, "isr"), (seen.elr, "elr"))
        leader = NO_LEADER if state["leader"] is None else state["leader"]
        return (
            seen.leader is None or leader in {one if one == NO_LEADER else self.brokers[one] for one in seen.leader}
        ) and all(ids is None or {self.brokers[one] for one in ids} == set(state[name]) for ids, name in sets)


Side: TypeAlias = Literal["run", "control"]
BOTH: tuple[Side, ...] = ("run", "control")
BESIDES_ACTION = ("in", "note", "finally")
"""Keys of a step that do not belong to its action."""
MOST_BROKERS = 5
FindingId: TypeAlias = Annotated[str, matching(r"F-\d+", "the id of a finding, such as F-20")]
Name: TypeAlias = Annotated[str, matching(r"[a-z][a-z0-9-]*", "small letters, digits and -")]
Logger: TypeAlias = Annotated[
    str, matching(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", "the name of a logger such as kafka.cluster.Partition")
]


def _brokers(node: Node) -> int:
    if node.positive() > MOST_BROKERS:
        node.expected(f"at most {MOST_BROKERS}")
    return node.positive()


def _versions(node: Node) -> tuple[str, str] | None:
    versions = tuple(release(one) for one in node.items())
    if versions and len(versions) != 2:
        node.expected("the oldest and the newest release")
    return (versions[0], versions[1]) if versions else None


def _partitions(node: Node) -> tuple[str, ...]:
    names: tuple[str, ...] = read_value(node.object(("partitions",))["partitions"], tuple[Partition, ...])
    return names


def _sides(node: Node) -> tuple[Side, ...]:
    return tuple(side for side in BOTH if side == node.choice(BOTH))


@dataclass(frozen=True)
class RecipeCluster:
    """The cluster of a recipe. controller, broker: properties on top of those of every cluster; debug: loggers."""

    brokers: Annotated[int, NodeReader(_brokers)]
    log_dirs: Positive = 1
    features: Mapping[str, Natural] = field(default_factory=dict)
    controller: KafkaSettings = field(default_factory=dict)
    broker: KafkaSettings = field(default_factory=dict)
    debug: tuple[Logger, ...] = ()


@dataclass(frozen=True)
class RecipeStep:
    """A step. sides: where it is done; at_last: whether also if the finding does not show; text: how it is printed."""

    action: Action
    text: str
    sides: Annotated[tuple[Side, ...], KeyName("in"), NodeReader(_sides)] = BOTH
    at_last: Annotated[bool, KeyName("finally")] = False
    note: Prose = ""
    where: Annotated[str, From.PLACE] = ""


def _step(node: Node) -> RecipeStep:
    """Return a step: its action, chosen by the first key, and the other keys of its table."""
    action = read_action(node, BESIDES_ACTION)
    return read_record(node, RecipeStep, {"action": action, "text": _step_text(node)}, others=node.value)


def _reject_unknown_brokers(node: Node, brokers: int) -> None:
    """Raise UsageFault for a broker that the cluster does not have."""
    kind = kind_of(node)
    for key in (kind, "broker", "via"):
        value = node.get(key).value
        if isinstance(value, int) and kind not in ("throttle", "sleep", "said") and value >= brokers:
            node[key].expected(f"one of the {brokers} brokers")


def _step_text(node: Node) -> str:
    """Return a step as one line: its keys and values, as in `stop 2` or `reassign orders-1, to [2]`."""
    left_out = ("in", "note", "finally", "seconds", "decides", "instead", "absent-if", "because")
    return ", ".join(f"{key} {_value(part)}" for key, part in node.fields() if key not in left_out)


def _value(node: Node) -> str:
    match node.value:
        case dict():
            return ", ".join(f"{key}={_value(part)}" for key, part in node.fields())
        case bool():
            return "yes" if node.value else "no"
    return str(node.value)


@dataclass(frozen=True)
class RecipeControl:
    """The changes of the control. features: those that replace the recipe's."""

    title: Prose
    features: Mapping[str, Natural] = field(default_factory=dict)


@dataclass(frozen=True)
class Recipe:
    """A recipe. versions: oldest and newest release that showed it, if any; needs: the oldest that can run it."""

    finding: FindingId
    name: Name
    title: Prose
    about: Prose
    expects: Literal["lost", "unavailable"]
    versions: Annotated[tuple[str, str] | None, NodeReader(_versions)]
    cluster: RecipeCluster
    steps: Annotated[tuple[Annotated[RecipeStep, NodeReader(_step)], ...], KeyName("step")]
    read: Annotated[tuple[str, ...], NodeReader(_partitions)]
    default: bool = False
    needs: Release | None = None
    traces: tuple[str, ...] = ()
    trace: RecipeTrace | None = None
    timing: Prose = ""
    control: RecipeControl | None = None
    seen: tuple[SeenRun, ...] = ()
    file: Annotated[str, From.FILE] = ""

    @property
    def id(self) -> str:
        return f"{self.finding}/{self.name}"

    @property
    def pauses(self) -> bool:
        """Whether a step of the run pauses a process."""
        return any(
            isinstance(step.action, Signal) and step.action.kind == "pause" and "run" in step.sides
            for step in self.steps
        )

    def checked(self, node: Node) -> Recipe:
        self._check_steps(node["step"])
        self._check_read(node["read"]["partitions"])
        if self.trace is not None:
            self.trace.check_brokers(node["trace"], self.cluster.brokers)
        same = all(step.sides == BOTH for step in self.steps)
        if self.control is None:
            if not same:
                node.fail("a step is only for one side, but there is no [control]")
            for part, run in zip(node.get("seen", []).items(), self.seen, strict=True):
                if run.control is not None:
                    part["control"].fail("the recipe has no [control]")
        elif same and not self.control.features:
            node["control"].fail("the control does the same as the run")
        return self

    def _check_steps(self, node: Node) -> None:
        """Raise UsageFault unless steps name brokers of the cluster and delete topics that were created."""
        topics: set[str] = set()
        for part, step in zip(node.items(), self.steps, strict=True):
            for table in (part, *([part["instead"]] if "instead" in part else [])):
                _reject_unknown_brokers(table, self.cluster.brokers)
            match step.action:
                case Create(topic=topic):
                    topics.add(topic)
                case Delete(topic=topic) if topic not in topics:
                    part["delete"].fail(f"no step before creates `{topic}`", did_you_mean(topic, topics))

    def _check_read(self, node: Node) -> None:
        """Raise UsageFault unless the partitions that are read at the end were created, and not deleted."""
        actions = [step.action for step in self.steps]
        created = {
            f"{action.topic}-{number}"
            for action in actions
            if isinstance(action, Create)
            for number in range(len(action.assignments))
        }
        deleted = {action.topic for action in actions if isinstance(action, Delete)}
        for part, name in zip(node.items(), self.read, strict=True):
            if name not in created:
                part.fail(f"no step creates `{name}`", did_you_mean(name, created))
            if name.rpartition("-")[0] in deleted:
                part.fail(f"a step deletes the topic of `{name}`, so that nothing of it can be read")


@functools.cache
def recipes_of(finding: str) -> tuple[Recipe, ...]:
    """Return the packaged recipes of a finding, the default first, then by name; their files are named after it."""
    recipes = [read_recipe(file) for file in packaged_files("recipes") if file.name.startswith(f"{finding}-")]
    return tuple(sorted(recipes, key=lambda one: (not one.default, one.name)))


def packaged_recipes() -> tuple[Recipe, ...]:
    """Return all packaged recipes, by finding, then as `recipes_of`."""
    return tuple(recipe for finding in _findings() for recipe in recipes_of(finding))


def _findings() -> list[str]:
    """Return the ids of the findings that have recipes, by number."""
    numbers = {int(file.name.split("-")[1]) for file in packaged_files("recipes")}
    return [f"F-{number}" for number in sorted(numbers)]


def find_recipe(recipe_id: str, order: str | None = None) -> Recipe:
    """Return the recipe `FINDING/NAME`, or a finding's default recipe. order: a name that replaces the default."""
    finding, _, name = recipe_id.partition("/")
    finding, name = finding.upper(), name or order or ""
    if order is not None and name != order:
        raise UsageFault("usage-option", f"{recipe_id} and --order {order} name two recipes")
    recipes = recipes_of(finding)
    if not recipes:
        raise UsageFault("unknown-recipe", f"no recipe for `{recipe_id}`", help=did_you_mean(finding, _findings()))
    for recipe in recipes:
        if recipe.name == name or (not name and recipe.default):
            return recipe
    names = [recipe.name for recipe in recipes]
    raise UsageFault("unknown-recipe", f"{finding} has no recipe `{name}`", help=did_you_mean(name, names))


def read_recipe(file: Path | Traversable) -> Recipe:
    """Read a recipe strictly; a UsageFault names the file, the line and the key."""
    return read_record(read_toml(file, toml_codes("recipe-file"), joint="-"), Recipe)
