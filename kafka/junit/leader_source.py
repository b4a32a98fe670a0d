"""A walk of a leader as a JUnit 5 test of kafka.cluster.Partition: one Java file, for Kafka's released jars.

The partition has a real log in a folder, and the test is its broker and its controller. What drives it comes
from the driver behind `conform --level broker`, which knows how calls differ between versions of Kafka.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from elrcheck.kafka import broker_steps as events
from elrcheck.kafka.broker_steps import BrokerEvent
from elrcheck.kafka.junit.junit_source import WIDTH, About, driver, java_file
from elrcheck.kafka.junit.leader_walk import Known, LeaderWalk, Publication
from elrcheck.lang.load import Model
from elrcheck.model.knobs import summary
from elrcheck.traces.describe import spelled

PACKAGE = "kafka.cluster"
PARTS = ("Replica", "Images", "Reflected")
"""Classes of the driver that a test brings along."""
LAG = "The last argument is replica.lag.time.max.ms: with -1 every follower that is behind lags."
FIELDS = ("@TempDir", "Path folder;", "")
IMPORTS = """\
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
"""


def leader_source(model: Model, walk: LeaderWalk, test: About) -> str:
    """The Java file."""
    body = ["Replica replica = new Replica(folder.toFile());", f"// {LAG}"]
    body += [f"{leader_call(event)};" for event in walk.start] + [""]
    actions = {fn.name: fn for fn in model.actions}
    known = None
    for number, step in enumerate(walk.steps, 1):
        fn = actions[step.label.action]
        said = f"{number}. {spelled(fn, step.label.args)}: {summary(fn.doc)}"
        body += (f"// {line}" for line in textwrap.wrap(said, WIDTH))
        body += (f"{leader_call(event)};" for event in step.events)
        if step is not walk.steps[-1] and step.events and step.known != known:
            body.append(f'assertEquals("{_state(step.known)}", replica.state());')
            known = step.known
    last, least = walk.steps[-1].known, walk.repaired.high_watermark
    body += [f"// The model says: {_state(last)}", f"// With the rule repaired: {_state(walk.repaired)}"]
    says = f"no record from offset {least} on may be committed before its followers have it"
    message = textwrap.wrap(f"{test.subject}: {says};", WIDTH - 10, break_on_hyphens=False)
    body += ["", f"assertTrue(replica.highWatermark() <= {least},"]
    body += [f'    {"+ " if line else ""}"{part} "' for line, part in enumerate(message)]
    body.append("    + replica.state());")
    parts = {name: driver("broker", name) for name in PARTS}
    if any(isinstance(event, Publication) for step in walk.steps for event in step.events):
        parts["Publication"] = driver("junit", "Publication")
    return java_file(test, PACKAGE, FIELDS, body, parts, IMPORTS)


def leader_call(event: BrokerEvent | Publication) -> str:
    """The call that does it."""
    match event:
        case events.Beginning(id, epoch, min_isr, lag):
            return f"replica.start({id}, {epoch}, {min_isr}, {lag})"
        case events.Registered(brokers):
            parts = (f'new Images.Registration({b}, {epoch}, "{state}")' for b, epoch, state in brokers)
            return f"replica.cluster(List.of({', '.join(parts)}))"
        case events.Metadata(leader, leader_epoch, partition_epoch, replicas, isr):
            lists = f"{_list(replicas)}, {_list(isr)}"
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
            return f"replica.granted({leader_epoch}, {partition_epoch}, {_list(isr)})"
        case events.Refused(error):
            return f'replica.refused("{error}")'
    raise ValueError(f"no call for {type(event).__name__}")


def _list(members: Sequence[int]) -> str:
    return f"List.of({', '.join(map(str, members))})"


def _state(known: Known) -> str:
    isr, answers = ", ".join(map(str, known.isr)), ", ".join(known.answers)
    return (
        f"leaderEpoch={known.leader_epoch} isr=[{isr}] logEnd={known.log_end}"
        f" highWatermark={known.high_watermark} producers=[{answers}]"
    )
