"""A walk of a leader as a JUnit 5 test of kafka.cluster.Partition: one Java file, for Kafka's released jars.

The partition has a real log in a folder, and the test plays its broker and its controller. It uses classes of the
driver behind `conform --level broker`, which knows how calls differ between versions of Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from elrcheck.kafka import broker_steps as events
from elrcheck.kafka.broker_steps import BrokerEvent
from elrcheck.kafka.junit.junit_source import TestTexts, assert_true, comment, driver, environment, java_file, java_list
from elrcheck.kafka.junit.leader_walk import LeaderView, LeaderWalk, Publication
from elrcheck.lang.load import Model
from elrcheck.model.knobs import summary
from elrcheck.traces.describe import spelled

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
            body.append(f'assertEquals("{_state(step.view)}", replica.state());')
            view = step.view
    last, least = walk.steps[-1].view, walk.repaired.high_watermark
    body += [f"// The model says: {_state(last)}", f"// With the rule repaired: {_state(walk.repaired)}"]
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


def _state(view: LeaderView) -> str:
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
