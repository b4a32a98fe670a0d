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

    [trace]                            # the trace whose states the recipe waits for: `recipe_trace.py`

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
    create = "orders"                  # `recipe_steps.py` has the kinds of steps
    partitions = [[0, 1, 2], [0, 1, 2]]

    [[step]]
    wait = "orders-1"
    elr = [0, 1]
    in = "run"                         # only there, or only in the "control"; left out for both
    finally = true                     # done even if the sign of the finding is absent (`decides`, `instead`)
    note = "why"                       # for readers

    [[step]]
    answered = "orders-0"              # a sign of the finding: absent if this is seen in its place
    instead = { wait = "orders-0", leader = 0, isr = [0] }

    [read]
    partitions = ["orders-1"]          # what is read at the end and compared with what was acknowledged

    [[seen]]                           # what a run of it reported: `recipe_seen.py`

Files are read strictly: an unknown key, a broker that does not exist or a partition that was not created is
an error.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, TypeAlias

from elrcheck.base.documents import read_toml, toml_codes
from elrcheck.base.errors import UsageFault, did_you_mean
from elrcheck.base.strict import Node
from elrcheck.catalogue.recipe_notation.recipe_actions import Action, Create, Delete, Leaderless, Seen, Wait
from elrcheck.catalogue.recipe_notation.recipe_seen import SeenRun, read_seen
from elrcheck.catalogue.recipe_notation.recipe_steps import (
    STEPS,
    kind_of,
    partition,
    read_action,
    text_values,
)
from elrcheck.catalogue.recipe_notation.recipe_trace import RecipeTrace, read_trace

Side: TypeAlias = Literal["run", "control"]
TOP = ("finding", "name", "title", "about", "expects", "versions", "cluster", "step", "read")
MORE = ("default", "needs", "traces", "trace", "timing", "control", "seen")
VERSION = re.compile(r"\d+\.\d+\.\d+")
LOGGER = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
MOST_BROKERS = 5


@dataclass(frozen=True)
class RecipeCluster:
    """controller, broker: properties on top of those that every cluster has. debug: names of loggers."""

    brokers: int
    log_dirs: int
    features: Mapping[str, int]
    controller: Mapping[str, str]
    broker: Mapping[str, str]
    debug: tuple[str, ...]


@dataclass(frozen=True)
class RecipeStep:
    """sides: where it is done; at_last: even if the sign of the finding is absent. text: how it is shown."""

    action: Action
    sides: tuple[Side, ...]
    at_last: bool
    text: str
    note: str
    where: str


@dataclass(frozen=True)
class RecipeControl:
    """What the control changes. features: those that replace the recipe's."""

    title: str
    features: Mapping[str, int]


@dataclass(frozen=True)
class Recipe:
    """versions: the oldest and the newest on which it was seen, if any; needs: the oldest that can run it."""

    finding: str
    name: str
    default: bool
    title: str
    about: str
    expects: Literal["lost", "unavailable"]
    versions: tuple[str, str] | None
    needs: str | None
    traces: tuple[str, ...]
    trace: RecipeTrace | None
    timing: str
    cluster: RecipeCluster
    control: RecipeControl | None
    steps: tuple[RecipeStep, ...]
    read: tuple[str, ...]
    seen: tuple[SeenRun, ...]
    file: str

    @property
    def id(self) -> str:
        return f"{self.finding}/{self.name}"

    def predicted(self) -> tuple[Seen, ...]:
        """The states of the partitions to read that the run waits for, until it has what it is about."""
        found: list[Seen] = []
        for step in self.steps:
            if isinstance(step.action, Leaderless) or step.at_last:
                break
            if isinstance(step.action, Wait) and "run" in step.sides and step.action.partition in self.read:
                found.append(step.action.seen)
        return tuple(found)


@functools.cache
def packaged_recipes() -> tuple[Recipe, ...]:
    """Return the packaged recipes, by finding and name, the default of each finding first. Read once."""
    folder = files("elrcheck.catalogue") / "recipes"
    found = [read_recipe(file) for file in folder.iterdir() if file.name.endswith(".toml")]
    return tuple(sorted(found, key=lambda one: (int(one.finding[2:]), not one.default, one.name)))


def find_recipe(wanted: str, order: str | None = None) -> Recipe:
    """The recipe `FINDING/NAME`, or the default one of a finding."""
    finding, _, name = wanted.partition("/")
    finding, name = finding.upper(), name or order or ""
    if order is not None and name != order:
        raise UsageFault("usage-option", f"{wanted} and --order {order} name two recipes")
    recipes = packaged_recipes()
    of_finding = [one for one in recipes if one.finding == finding]
    if not of_finding:
        known = list(dict.fromkeys(one.finding for one in recipes))
        raise UsageFault("unknown-recipe", f"no recipe for `{wanted}`", help=did_you_mean(finding, known))
    for one in of_finding:
        if one.name == name or (not name and one.default):
            return one
    known = [one.name for one in of_finding]
    raise UsageFault("unknown-recipe", f"{finding} has no recipe `{name}`", help=did_you_mean(name, known))


def read_recipe(file: Path | Traversable) -> Recipe:
    """Read a recipe strictly; a UsageFault names the file, the line and the key."""
    top = read_toml(file, toml_codes("recipe-file")).object(TOP, MORE)
    finding, name = top["finding"].text(), top["name"].text()
    if not re.fullmatch(r"F-\d+", finding):
        top["finding"].bad("expected the id of a finding, such as F-20")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        top["name"].bad("small letters, digits and -")
    cluster = _cluster(top["cluster"])
    control = top.maybe("control", _control, None)
    steps = tuple(_step(node, cluster) for node in top["step"].items())
    _reject_deletions_of_nothing(top["step"], steps)
    recipe = Recipe(
        finding=finding,
        name=name,
        default=top.maybe("default", Node.boolean, False),
        title=_needed(top["title"]),
        about=_needed(top["about"]),
        expects="lost" if top["expects"].choice(("lost", "unavailable")) == "lost" else "unavailable",
        versions=_versions(top["versions"]),
        needs=top.maybe("needs", _version, None),
        traces=top.maybe("traces", Node.texts, ()),
        trace=top.maybe("trace", lambda node: read_trace(node, cluster.brokers), None),
        timing=top.maybe("timing", _needed, ""),
        cluster=cluster,
        control=control,
        steps=steps,
        read=_read(top["read"], steps),
        seen=tuple(read_seen(node, control is not None) for node in top.get("seen", []).items()),
        file=str(file),
    )
    same = all(len(step.sides) == 2 for step in steps)
    if control is None and not same:
        top.fail("a step is only for one side, but there is no [control]")
    if control is not None and same and not control.features:
        top["control"].fail("the control does the same as the run")
    return recipe


def _needed(node: Node) -> str:
    text = node.text().strip()
    return text or node.bad("expected a text, not an empty one")


def _version(node: Node) -> str:
    text = node.text()
    if not VERSION.fullmatch(text):
        node.expected("a release such as 4.1.2")
    return text


def _versions(node: Node) -> tuple[str, str] | None:
    found = tuple(_version(one) for one in node.items())
    if not found:
        return None
    if len(found) != 2:
        node.expected("the oldest and the newest release")
    return found[0], found[1]


def _logger(node: Node) -> str:
    text = node.text()
    if not LOGGER.fullmatch(text):
        node.expected("the name of a logger such as kafka.cluster.Partition")
    return text


def _cluster(node: Node) -> RecipeCluster:
    node.object(("brokers",), ("log-dirs", "features", "controller", "broker", "debug"))
    brokers = node["brokers"].positive()
    if brokers > MOST_BROKERS:
        node["brokers"].expected(f"at most {MOST_BROKERS}")
    return RecipeCluster(
        brokers=brokers,
        log_dirs=node.maybe("log-dirs", Node.positive, 1),
        features=node.maybe("features", lambda part: part.map(Node.natural), {}),
        controller=node.maybe("controller", text_values, {}),
        broker=node.maybe("broker", text_values, {}),
        debug=node.maybe("debug", lambda part: tuple(map(_logger, part.items())), ()),
    )


def _control(node: Node) -> RecipeControl:
    node.object(("title",), ("features",))
    features = node.maybe("features", lambda part: part.map(Node.natural), {})
    return RecipeControl(_needed(node["title"]), features)


def _step(node: Node, cluster: RecipeCluster) -> RecipeStep:
    kind = kind_of(node)
    form = STEPS[kind]
    node.object((kind, *form.required), (*form.optional, "in", "note", "finally"))
    side = node.maybe("in", lambda part: part.choice(("run", "control")), None)
    sides: tuple[Side, ...] = ("run", "control")
    if side is not None:
        sides = ("run",) if side == "run" else ("control",)
    _reject_strangers(node, kind, cluster)
    action = read_action(node, kind)
    if "instead" in node:
        _reject_strangers(node["instead"], kind_of(node["instead"]), cluster)
    return RecipeStep(
        action=action,
        sides=sides,
        at_last=node.maybe("finally", Node.boolean, False),
        text=_shown(node),
        note=node.maybe("note", _needed, ""),
        where=node.where,
    )


def _reject_strangers(node: Node, kind: str, cluster: RecipeCluster) -> None:
    for key in (kind, "broker", "via"):
        value = node.get(key).value
        if isinstance(value, int) and kind not in ("throttle", "sleep", "said") and value >= cluster.brokers:
            node[key].expected(f"one of the {cluster.brokers} brokers")


def _reject_deletions_of_nothing(node: Node, steps: Sequence[RecipeStep]) -> None:
    there: set[str] = set()
    for one, step in zip(node.items(), steps, strict=True):
        match step.action:
            case Create(topic=topic):
                there.add(topic)
            case Delete(topic=topic) if topic not in there:
                one["delete"].fail(f"no step before creates `{topic}`", did_you_mean(topic, there))


def _shown(node: Node) -> str:
    """A step as one line: its keys and values, as in `stop 2` or `reassign orders-1, to [2]`."""
    left_out = ("in", "note", "finally", "seconds", "decides", "instead", "absent-if", "because")
    return ", ".join(f"{key} {_value(part)}" for key, part in node.fields() if key not in left_out)


def _value(node: Node) -> str:
    match node.value:
        case dict():
            return ", ".join(f"{key}={_value(part)}" for key, part in node.fields())
        case bool():
            return "yes" if node.value else "no"
    return str(node.value)


def _read(node: Node, steps: Sequence[RecipeStep]) -> tuple[str, ...]:
    node.object(("partitions",))
    created = {
        f"{step.action.topic}-{number}"
        for step in steps
        if isinstance(step.action, Create)
        for number in range(len(step.action.partitions))
    }
    deleted = {step.action.topic for step in steps if isinstance(step.action, Delete)}
    for one in node["partitions"].items():
        if partition(one) not in created:
            one.fail(f"no step creates `{one.text()}`", did_you_mean(one.text(), created))
        if one.text().rpartition("-")[0] in deleted:
            one.fail(f"a step deletes the topic of `{one.text()}`, so that nothing of it can be read")
    return node["partitions"].texts()
