"""How the steps of a recipe are read from TOML.

Which kind a step is, its first key says. `STEPS` lists the kinds; a step has no other keys than those there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from elrcheck.base.errors import did_you_mean
from elrcheck.base.strict import Node
from elrcheck.catalogue.recipe_notation.recipe_actions import (
    Action,
    Answered,
    Configure,
    Create,
    Delete,
    DeleteCleanStopFiles,
    Directory,
    Elect,
    Exited,
    Feature,
    Leaderless,
    LogEnd,
    LoseLog,
    MoveDirectory,
    Produce,
    Reassign,
    Said,
    Seen,
    Send,
    Sign,
    Signal,
    Sleep,
    Start,
    Stream,
    Throttle,
    Unregister,
    Wait,
)

TOPIC = re.compile(r"[a-z0-9]+")
PARTITION = re.compile(r"[a-z0-9]+-\d+")
PATIENCE = 60.0
INSTEAD_PATIENCE = 10.0
START = 240.0
NO_LEADER = -1
CONTROLLER = "controller"


def read_action(node: Node, kind: str) -> Action:
    """Read the step of a kind; UsageFault names the line of a mistake."""
    return STEPS[kind].read(node)


def kind_of(node: Node) -> str:
    """The first key of a step."""
    keys = [key for key, _ in node.fields()]
    if not keys or keys[0] not in STEPS:
        first = keys[0] if keys else ""
        node.fail(f"`{first}` is no kind of step", did_you_mean(first, STEPS))
    return keys[0]


# ------------------------------------------------------------------------------- the readers


def partition(node: Node) -> str:
    name = node.text()
    if not PARTITION.fullmatch(name):
        node.expected("a partition such as orders-1")
    return name


def topic(node: Node) -> str:
    name = node.text()
    if not TOPIC.fullmatch(name):
        node.expected("a name of small letters and digits")
    return name


def ids(node: Node) -> tuple[int, ...]:
    return tuple(one.natural() for one in node.items())


def text_values(node: Node) -> dict[str, str]:
    """Settings of Kafka; numbers and booleans need no quotation marks."""
    return node.map(_setting)


def _setting(node: Node) -> str:
    match node.value:
        case bool():
            return "true" if node.value else "false"
        case int() | str():
            return str(node.value)
    return node.text()


def _seconds(node: Node, usual: float = PATIENCE) -> float:
    return float(node.maybe("seconds", Node.positive, usual))


def _sleep(node: Node) -> Sleep:
    value = node["sleep"].value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 600:
        node["sleep"].expected("seconds, at most 600")
    return Sleep(float(value), node["because"].text())


def _create(node: Node) -> Create:
    replicas = tuple(ids(one) for one in node["partitions"].items()) * node.maybe("times", Node.positive, 1)
    if not replicas or not all(replicas):
        node["partitions"].expected("the replicas of every partition, such as [[0, 1, 2]]")
    return Create(topic(node["create"]), replicas, node.maybe("config", text_values, {}))


def _produce(node: Node) -> Produce:
    size = node.maybe("size", Node.natural, 0)
    acks = str(node.get("acks", "all").value)
    if acks not in ("1", "all"):
        node["acks"].expected("1 or all")
    via = node.maybe("via", Node.natural, None)
    return Produce(partition(node["produce"]), node["records"].positive(), size, acks, via)


def _configure(node: Node) -> Configure:
    kind, _, name = node["configure"].text().partition(" ")
    if kind not in ("topic", "broker") or (kind == "topic" and not name) or (name and not name.isalnum()):
        node["configure"].expected("`topic NAME`, `broker ID` or `broker`")
    return Configure(kind, name, text_values(node["set"]))


def _elect(node: Node) -> Elect:
    kind = node["type"].choice(("preferred", "unclean"))
    via, refused = node.maybe("via", Node.natural, None), node.maybe("refused", Node.text, None)
    if_needed = node.maybe("if-needed", Node.boolean, False)
    if if_needed and refused is not None:
        node.fail("an election is either `refused` or done `if-needed`")
    return Elect(partition(node["elect"]), kind, via, refused, if_needed)


def _feature(node: Node) -> Feature:
    kind = node["type"].choice(("upgrade", "safe_downgrade", "unsafe_downgrade"))
    return Feature(node["feature"].text(), node["level"].natural(), kind)


def _signal(kind: str) -> Callable[[Node], Signal]:
    def read(node: Node) -> Signal:
        ends = kind in ("stop", "kill")
        wait = node.maybe("wait", Node.boolean, ends)
        return Signal(kind, _running(node[kind]), wait, _seconds(node, 120.0))

    return read


def _running(node: Node) -> int | None:
    """A broker, or None for the controller."""
    return None if node.value == CONTROLLER else node.natural()


def _start(node: Node) -> Start:
    return Start(_running(node["start"]), node.maybe("wait", Node.boolean, True), _seconds(node, START))


def _move(node: Node) -> MoveDirectory:
    place = node["broker"].natural(), node["directory"].natural()
    return MoveDirectory(partition(node["move"]), *place, _seconds(node))


def _directory(kind: str) -> Callable[[Node], Directory]:
    return lambda node: Directory(kind, node[f"{kind}-directory"].natural(), node["directory"].natural())


def read_seen(node: Node) -> Seen:
    """The expectations of a `wait`; a leader may be one of several."""
    return Seen(
        leader=node.maybe("leader", _leaders, None),
        replicas=node.maybe("replicas", ids, None),
        isr=node.maybe("isr", ids, None),
        elr=node.maybe("elr", ids, None),
        last_known_elr=node.maybe("last-known-elr", ids, None),
        isr_size=node.maybe("isr-size", Node.natural, None),
    )


def _leaders(node: Node) -> tuple[int, ...]:
    several = node.items() if isinstance(node.value, list) else [node]
    return tuple(one.integer(least=NO_LEADER) for one in several)


def _wait(node: Node) -> Wait:
    seen = read_seen(node)
    if seen == Seen():
        node.fail("a `wait` says what it waits for", "such as leader = 2")
    return Wait(partition(node["wait"]), seen, _seconds(node), node.maybe("decides", Node.boolean, False))


def _said(node: Node) -> Said:
    pattern = node["pattern"].text()
    try:
        re.compile(pattern)
    except re.error as fault:
        node["pattern"].bad(f"no regular expression: {fault}")
    return Said(node["said"].natural(), pattern, _seconds(node), _instead(node))


def _log_end(node: Node) -> LogEnd:
    gone = node.maybe("gone", Node.boolean, False)
    if gone == ("end" in node):
        node.fail("a `log` waits for an `end`, or until it is `gone`")
    end = None if gone else node["end"].natural()
    return LogEnd(partition(node["log"]), node["broker"].natural(), end, _seconds(node), _instead(node))


def _answered(node: Node) -> Answered:
    return Answered(partition(node["answered"]), _seconds(node), _instead(node))


def _instead(node: Node) -> Sign | None:
    """What is seen where the finding is absent: a step of another kind, as a table."""
    return node.maybe("instead", _read_instead, None)


def _read_instead(node: Node) -> Sign:
    if not isinstance(node.value, dict):
        node.expected("a table such as { log = \"orders-0\", broker = 1, end = 3 }")
    kind = kind_of(node)
    if kind not in ("wait", "said", "log"):
        node.fail(f"`{kind}` shows nothing", "what is seen instead is a `wait`, `said` or `log`")
    form = STEPS[kind]
    node.object((kind, *form.required), set(form.optional) - {"decides", "instead"})
    found = form.read(node)
    assert isinstance(found, Wait | Said | LogEnd)
    return replace(found, seconds=_seconds(node, INSTEAD_PATIENCE))


@dataclass(frozen=True)
class StepKind:
    """How a kind of step is read; its first key is required too."""

    read: Callable[[Node], Action]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


SEEN = ("leader", "replicas", "isr", "elr", "last-known-elr", "isr-size")
STEPS: Mapping[str, StepKind] = {
    "create": StepKind(_create, ("partitions",), ("times", "config")),
    "delete": StepKind(lambda node: Delete(topic(node["delete"]))),
    "produce": StepKind(_produce, ("records",), ("size", "acks", "via")),
    "send": StepKind(lambda node: Send(partition(node["send"]))),
    "answered": StepKind(_answered, (), ("seconds", "instead")),
    "stream": StepKind(lambda node: Stream(partition(node["stream"]), node["rate"].positive()), ("rate",)),
    "stream-end": StepKind(lambda node: Stream(partition(node["stream-end"]), None)),
    "reassign": StepKind(lambda node: Reassign(partition(node["reassign"]), ids(node["to"])), ("to",)),
    "cancel": StepKind(
        lambda node: Reassign(partition(node["cancel"]), None, node.maybe("absent-if", Node.text, None)),
        (),
        ("absent-if",),
    ),
    "elect": StepKind(_elect, ("type",), ("via", "refused", "if-needed")),
    "configure": StepKind(_configure, ("set",)),
    "throttle": StepKind(lambda node: Throttle(node["throttle"].positive())),
    "feature": StepKind(_feature, ("level", "type")),
    "unregister": StepKind(lambda node: Unregister(node["unregister"].natural())),
    "stop": StepKind(_signal("stop"), (), ("wait", "seconds")),
    "kill": StepKind(_signal("kill"), (), ("wait", "seconds")),
    "exited": StepKind(
        lambda node: Exited(node["exited"].natural(), _seconds(node, 120.0)), (), ("seconds",)
    ),
    "pause": StepKind(_signal("pause")),
    "resume": StepKind(_signal("resume")),
    "start": StepKind(_start, (), ("wait", "seconds")),
    "move": StepKind(_move, ("broker", "directory"), ("seconds",)),
    "lose-directory": StepKind(_directory("lose"), ("directory",)),
    "replace-directory": StepKind(_directory("replace"), ("directory",)),
    "drop-directory": StepKind(_directory("drop"), ("directory",)),
    "delete-clean-stop-files": StepKind(
        lambda node: DeleteCleanStopFiles(node["delete-clean-stop-files"].natural())
    ),
    "lose-log": StepKind(
        lambda node: LoseLog(partition(node["lose-log"]), node["broker"].natural()), ("broker",)
    ),
    "sleep": StepKind(_sleep, ("because",)),
    "wait": StepKind(_wait, (), (*SEEN, "seconds", "decides")),
    "leaderless": StepKind(
        lambda node: Leaderless(partition(node["leaderless"]), node["seconds"].positive()), ("seconds",)
    ),
    "said": StepKind(_said, ("pattern",), ("seconds", "instead")),
    "log": StepKind(_log_end, ("broker",), ("end", "gone", "seconds", "instead")),
}
"""Every kind of step, by the key that it starts with."""
