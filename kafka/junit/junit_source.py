"""A walk of the controller or of a leader as a JUnit 5 test: one file that needs nothing but Kafka's released jars.

The caller supplies the test; the classes that it calls are in `kafka/java/junit`. The differences between versions of
Kafka come from the drivers behind `conform` (AnyVersion, Clock, Replica), the only place that has them. In a test of a
leader the partition has a real log in a folder, and the test plays its broker and its controller.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment

from elrcheck.base.package_files import templates_in
from elrcheck.base.version import __version__
from elrcheck.kafka import broker_steps as events
from elrcheck.kafka import controller_steps as steps
from elrcheck.kafka.broker_steps import BrokerEvent
from elrcheck.kafka.junit.assertions import Assertion
from elrcheck.kafka.junit.controller_walk import ControllerWalk, WalkStep
from elrcheck.kafka.junit.leader_walk import LeaderView, LeaderWalk, Publication
from elrcheck.lang.load import Model
from elrcheck.model.knobs import summary
from elrcheck.model.state import Partition
from elrcheck.traces.describe import spelled

WIDTH = 110
CONTROLLER = "org.apache.kafka.controller"
CONTEXT = "Context.java.jinja"
SHARED = ("AnyVersion", "Clock", "ShutdownHandler")
"""Classes of the driver that every test includes."""
IMPORT = re.compile(r"^import (static )?([\w.]+);$", re.MULTILINE)


@dataclass(frozen=True)
class TestTexts:
    """The texts of a test. about: its Javadoc, by paragraphs; subject: the finding and the property, for messages."""

    name: str
    method: str
    subject: str
    about: tuple[str, ...]
    command: str


def junit_source(model: Model, walk: ControllerWalk, assertion: Assertion, test: TestTexts) -> str:
    """Return the Java file."""
    body = [*_start(walk, assertion.first), *_steps(model, walk, assertion), *_end(assertion, test)]
    code = "\n".join(body)
    uses = {*assertion.uses, *re.findall(r"context\.(\w+)\(", code)}
    context = environment().get_template(CONTEXT).render(uses=uses.__contains__)
    parts = {"Context": context, **{name: driver("controller", name) for name in SHARED}}
    return java_file(test, CONTROLLER, (), body, parts, java_source("junit", CONTEXT))


def java_file(
    test: TestTexts, package: str, fields: Sequence[str], body: Sequence[str], parts: Mapping[str, str], more: str = ""
) -> str:
    """Return a test with the classes that it includes. parts: their sources by name; more: has imports."""
    nested = "\n\n".join(textwrap.indent(_nested(name, part), "    ") for name, part in parts.items())
    about = [line for part in test.about for line in (*textwrap.wrap(part, WIDTH - 3), "")][:-1]
    code = "\n".join((*fields, *body))
    return (
        environment()
        .get_template("Test.java.jinja")
        .render(
            version=__version__,
            command=test.command,
            package=package,
            imports=_imports((more, *parts.values()), f"@Test {code} {nested}"),
            about=about,
            name=test.name,
            method=test.method,
            fields=fields,
            body=body,
            nested=nested,
        )
    )


def environment() -> Environment:
    return templates_in(files("elrcheck.kafka") / "java" / "junit")


# ---------------------------------------------------------------------------- the test's own lines


def _start(walk: ControllerWalk, first: Sequence[str]) -> list[str]:
    setup = walk.setup
    assert setup.partition is not None
    number = 0 if setup.sibling is None else 1
    lines = [f"Context context = new Context({_flag(setup.elr)}, {number});"]
    if setup.cluster_min_isr is not None:
        lines.append(_configured("BROKER", '""', "MIN_ISR", setup.cluster_min_isr))
    if setup.topic_min_isr is not None:
        lines.append(_configured("TOPIC", "Context.TOPIC", "MIN_ISR", setup.topic_min_isr))
    if setup.topic_unclean:
        lines.append(_configured("TOPIC", "Context.TOPIC", "UNCLEAN", "true"))
    lines += [f"context.broker({broker.id}, {_flag(broker.fenced)});" for broker in setup.brokers]
    for index, p in enumerate(p for p in (setup.sibling, setup.partition) if p is not None):
        lists = ", ".join(java_list(members) for members in (p.replicas, p.isr, p.elr))
        lines.append(f"context.registered({index}, {lists}, {p.leader});")
    return [*lines, *first, ""]


def _configured(kind: str, name: str, key: str, value: object) -> str:
    return f'context.configured(ConfigResource.Type.{kind}, {name}, Context.{key}, "{value}");'


def _steps(model: Model, walk: ControllerWalk, assertion: Assertion) -> list[str]:
    """Yield each step under a comment that describes it; the state after it is checked until a repair shows.

    For a variant that is not a release, intermediate states are not checked: Kafka's classes may differ in any step.
    """
    actions = model.actions_by_name
    last = walk.calls[-1]
    until = -1 if not walk.released else last if walk.parting is None else walk.parting
    if walk.released and walk.parting is None and assertion.waits is not None:
        until = min(until, assertion.waits + 1)
    lines: list[str] = []
    for index, step in enumerate(walk.steps):
        fn = actions[step.label.action]
        lines += comment(f"{index + 1}. {spelled(fn, step.label.args)}: {summary(fn.doc)}")
        if step.call is None:
            continue
        if index == last:
            lines += assertion.before
        alike = step.repaired_error in (None, step.error)
        if index == last and assertion.call is not None:
            lines.append(f"{assertion.call};")
        else:
            lines += _called(step, sure=index < until or (index == until and alike))
        if index < until:
            lines.append(f'assertEquals("{_state(step.after.partition)}", context.state());')
        else:
            lines.append(f"// The model says: {_state(step.after.partition)}")
            if step.repaired is not None and walk.parting is not None:
                lines.append(f"// With the rule repaired: {_state(step.repaired)}")
    return lines


def _called(step: WalkStep, sure: bool) -> list[str]:
    """sure: what it answers does not depend on the rule at fault."""
    call, answers = java_call(step)
    return [f"assertEquals(Errors.{step.error}, {call});" if sure and answers else f"{call};"]


def java_call(step: WalkStep) -> tuple[str, bool]:
    """Return the call of the context, and whether it answers with an error."""
    match step.call:
        case steps.Fence(b):
            return f"context.fence({b})", False
        case steps.Unfence(b):
            return f"context.unfence({b})", False
        case steps.ShutDown(b):
            return f"context.startControlledShutdown({b})", False
        case steps.Register(b, previous, directories):
            brought = (0, 1) if directories is None else directories
            numbers = ", ".join(map(str, (b, _flag(previous == "last"), *brought)))
            return f"context.register({numbers})", False
        case steps.Unregister(b):
            return f"context.unregister({b})", False
        case steps.Heartbeat(b, want_fence, offline=offline):
            unfences = step.before.registration[b].fenced and not want_fence
            name = "unfenceWithoutDirectory" if unfences else "failDirectory"
            return f"context.{name}({b}, {offline[0]})", False
        case steps.AlterPartition(sender, isr):
            return f"context.alterPartition({', '.join(map(str, (sender, *(m.broker for m in isr))))})", True
        case steps.Elect(kind):
            return f"context.elect(ElectionType.{kind})", True
        case steps.ElectUncleanly():
            return "context.electUncleanly()", False
        case steps.Reassign(replicas):
            return f"context.reassign({'null' if replicas is None else java_list(replicas)})", True
        case steps.Configure():
            return _configure(step.call), True
        case steps.SwitchElr(on):
            return f"context.switchElr({_flag(on)})", True
        case steps.AssignDirectory(b, directory):
            return f"context.assignDirectory({b}, {directory})", True
    raise ValueError(f"no call for {type(step.call).__name__}")


def _configure(step: steps.Configure) -> str:
    kind = "TOPIC" if step.level == "topic" else "BROKER"
    name = {"topic": "Context.TOPIC", "cluster": '""'}.get(step.level, f'"{step.broker}"')
    key = "MIN_ISR" if step.key == "min.insync.replicas" else "UNCLEAN"
    value = "null" if step.value is None else f'"{step.value}"'
    return f"context.configure(ConfigResource.Type.{kind}, {name}, Context.{key}, {value})"


def _end(assertion: Assertion, test: TestTexts) -> list[str]:
    return assert_true(assertion.condition, f"{test.subject}: {assertion.says};", "context.state()")


def assert_true(condition: str, message: str, state: str) -> list[str]:
    """Return an assertion with a message, which ends with the state. state: a Java expression."""
    lines = textwrap.wrap(message, WIDTH - 10, break_on_hyphens=False)
    literals = [f'    {"+ " if number else ""}"{line} "' for number, line in enumerate(lines)]
    return ["", f"assertTrue({condition},", *literals, f"    + {state});"]


def comment(text: str) -> list[str]:
    """Return a comment in lines of Java."""
    return [f"// {line}" for line in textwrap.wrap(text, WIDTH)]


def _state(p: Partition) -> str:
    leader = -1 if p.leader is None else p.leader
    return f"replicas={sorted(p.replicas)} isr={sorted(p.isr)} elr={sorted(p.elr)} leader={leader}"


def java_list(members: Sequence[int]) -> str:
    """Return a list as a Java expression."""
    return f"List.of({', '.join(map(str, members))})"


def _flag(value: bool) -> str:
    return "true" if value else "false"


# ---------------------------------------------------------------------------- what it calls


def driver(folder: str, name: str) -> str:
    """Return the source of a class of the drivers behind `conform`."""
    return java_source(folder, f"{name}.java")


def java_source(folder: str, name: str) -> str:
    """Return the text of a file in `kafka/java`."""
    return (files("elrcheck.kafka") / "java" / folder / name).read_text("utf-8")


def _nested(name: str, source: str) -> str:
    """Return a class of a file of its own as a nested one, without package and imports."""
    start = re.search(rf"^(?:/\*\*.*?\*/\n)?final class {name}\b", source, re.MULTILINE | re.DOTALL)
    assert start is not None, name
    return re.sub(
        rf"^final class {name}\b",
        "private static \\g<0>",
        source[start.start() :].rstrip(),
        count=1,
        flags=re.MULTILINE,
    )


def _imports(sources: Sequence[str], code: str) -> str:
    """Return the imports of the sources that the code uses, in Kafka's order: Kafka and JUnit, Java, static ones."""
    imports = {f"{static}{full}" for source in sources for static, full in IMPORT.findall(source)}
    used = [full for full in imports if re.search(rf"\b{full.rpartition('.')[2]}\b", code)]

    def group(full: str) -> int:
        return 2 if full.startswith("static ") else 1 if full.startswith("java.") else 0

    parts = (sorted(full for full in used if group(full) == number) for number in range(3))
    return "\n\n".join("\n".join(f"import {full};" for full in part) for part in parts if part)


PACKAGE = "kafka.cluster"
PARTS = ("Replica", "Images", "Reflected")
"""Classes of the driver that a test includes."""
LAG = "The last argument is replica.lag.time.max.ms: with -1 every follower that is behind lags."
FIELDS = ("@TempDir", "Path folder;", "")
IMPORTS = """\
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
"""


def leader_source(model: Model, walk: LeaderWalk, test: TestTexts) -> str:
    """Return the Java file."""
    body = ["Replica replica = new Replica(folder.toFile());", f"// {LAG}"]
    body += [f"{leader_call(event)};" for event in walk.start] + [""]
    actions = model.actions_by_name
    view = None
    for number, step in enumerate(walk.steps, 1):
        fn = actions[step.label.action]
        body += comment(f"{number}. {spelled(fn, step.label.args)}: {summary(fn.doc)}")
        body += (f"{leader_call(event)};" for event in step.events)
        if step is not walk.steps[-1] and step.events and step.view != view:
            body.append(f'assertEquals("{_leader_state(step.view)}", replica.state());')
            view = step.view
    last, least = walk.steps[-1].view, walk.repaired.high_watermark
    body += [f"// The model says: {_leader_state(last)}", f"// With the rule repaired: {_leader_state(walk.repaired)}"]
    says = f"no record from offset {least} on may be committed before its followers have it"
    body += assert_true(f"replica.highWatermark() <= {least}", f"{test.subject}: {says};", "replica.state()")
    parts = {name: driver("broker", name) for name in PARTS}
    if any(isinstance(event, Publication) for step in walk.steps for event in step.events):
        parts["Publication"] = driver("junit", "Publication")
    return java_file(test, PACKAGE, FIELDS, body, parts, IMPORTS)


def leader_call(event: BrokerEvent | Publication) -> str:
    """Return the call of `Replica` for an event."""
    match event:
        case events.Beginning(id, epoch, min_isr, lag):
            return f"replica.start({id}, {epoch}, {min_isr}, {lag})"
        case events.Registered(brokers):
            parts = (f'new Images.Registration({b}, {epoch}, "{state}")' for b, epoch, state in brokers)
            return f"replica.cluster(List.of({', '.join(parts)}))"
        case events.Metadata(leader, leader_epoch, partition_epoch, replicas, isr):
            lists = f"{java_list(replicas)}, {java_list(isr)}"
            return f"replica.metadata({leader}, {leader_epoch}, {partition_epoch}, {lists})"
        case events.Append(acks):
            return f"replica.append({acks})"
        case events.FollowerFetch(follower, broker_epoch, offset, leader_epoch, last_epoch):
            return f"replica.fetch({follower}, {broker_epoch}, {offset}, {leader_epoch}, {last_epoch})"
        case Publication(record, min_isr):
            return f"Publication.of(() -> {leader_call(record)}, () -> replica.minIsr({min_isr}))"
        case events.LookForLag():
            return "replica.shrink()"
        case events.Granted(leader_epoch, partition_epoch, isr):
            return f"replica.granted({leader_epoch}, {partition_epoch}, {java_list(isr)})"
        case events.Refused(error):
            return f'replica.refused("{error}")'
    raise ValueError(f"no call for {type(event).__name__}")


def _leader_state(view: LeaderView) -> str:
    isr, answers = ", ".join(map(str, view.isr)), ", ".join(view.answers)
    return (
        f"leaderEpoch={view.leader_epoch} isr=[{isr}] logEnd={view.log_end}"
        f" highWatermark={view.high_watermark} producers=[{answers}]"
    )


# ---------------------------------------------------------------------------- tests whose steps are written in Java


@dataclass(frozen=True)
class ScriptedTest:
    """A test of a finding that no search shows. property: the asserted one; how: a description, for its Javadoc.

    steps: the body of the test, a template of `kafka/java/junit`. parts: classes that it includes beside `PARTS`.
    """

    property: str
    steps: str
    parts: tuple[str, ...]
    how: str


_HOW = "with logs in files, and what ReplicaFetcherThread does with an answer, without a network and threads."
# A failed proof gave the first run of F-63 (tests/proving/test_prove.py), and a repair that was tried in the model
# the second; but their steps are those of several brokers and a socket, which no walk of one leader has.
SCRIPTED: Mapping[str, tuple[ScriptedTest, ...]] = {
    "F-63": (
        ScriptedTest("P-2", "LateAnswer.java.jinja", ("Follower",), f"Three kafka.cluster.Partition {_HOW}"),
        ScriptedTest("P-1", "LaterEpoch.java.jinja", ("Follower",), f"Four kafka.cluster.Partition {_HOW}"),
    )
}
"""Tests by the id of their finding; the first is that of a command that names no property."""


def scripted_source(script: ScriptedTest, test: TestTexts) -> str:
    """Return the Java file of a test whose steps are written in Java."""
    body = environment().get_template(script.steps).render(subject=test.subject).rstrip().splitlines()
    parts = {name: driver("broker", name) for name in PARTS}
    parts |= {name: driver("junit", name) for name in script.parts}
    return java_file(test, PACKAGE, FIELDS, body, parts, IMPORTS)
