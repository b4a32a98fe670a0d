"""JUnit tests made from findings: what they say, what is refused, and that Kafka's classes fail them.

Each test of a finding is run beside a control, the same steps with one thing changed, which passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Silent
from elrcheck.base.requests import Selection
from elrcheck.catalogue.packaged_findings import packaged_findings
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_checked_model
from elrcheck.kafka.broker_steps import Granted
from elrcheck.kafka.jars import Jars
from elrcheck.kafka.junit.controller_walk import walk_of
from elrcheck.kafka.junit.export_junit import JunitTest, class_name, export_junit, junit_test, of_finding
from elrcheck.kafka.junit.leader_walk import leader_walk_of
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.stored_traces.tracefile import write_trace
from elrcheck.traces.behaviour import Behaviour, TraceOrigin
from support.edits import replaced
from support.junit_runs import compile_tests, run_compiled, run_tests
from support.kafka_jars import jars_or_skip
from support.patched_classes import jars_needed, patched_classes

FINDINGS = {finding.id: finding for finding in packaged_findings()}
RUNS = {f"{ident} {run.property}": run for ident, finding in FINDINGS.items() for run in finding.junit}
VERSIONS = ("3.9.1", "4.0.2", "4.1.0", "4.1.2", "4.2.1", "4.3.1", "4.4.0")
"""The newest of each minor release, and 4.1.0; findings record more releases than run here."""


@cache
def junit_test_of(what: str) -> JunitTest:
    finding, _, property = what.partition(" ")
    return junit_test(finding, property or None, None, Silent())


@pytest.fixture(scope="module")
def tests() -> Mapping[str, JunitTest]:
    """Every test, which takes seconds."""
    return {what: junit_test_of(what) for what in RUNS}


def stored(folder: Path, variant: str, sets: tuple[str, ...], actions: list[Label], property: str) -> Path:
    """A trace file of these actions."""
    selected = resolve(Selection(variant, "two-brokers-quiet", sets))
    model = load_checked_model()
    plain = PlainModel(model, selected.config)
    states = [plain.initial()]
    for action in actions:
        states.append(next(after for label, after in plain.successors(states[-1]) if label == action))
    path = folder / "some.trace.json"
    trace = Behaviour(TraceOrigin.of(selected, property), tuple(states), tuple(actions))
    write_trace(path, trace, model.state_ty)
    return path


# ---------------------------------------------------------------------------- the text


def test_the_test_of_f_20() -> None:
    test = junit_test_of("F-20 P-12")
    assert (test.name, test.property, test.finding) == ("F20MembersAreReplicasTest", "P-12", "F-20")
    for line in (
        "package org.apache.kafka.controller;",
        "public class F20MembersAreReplicasTest {",
        "context.registered(0, List.of(0, 1), List.of(0, 1), List.of(), 0);",
        "assertEquals(Errors.NONE, context.reassign(List.of(0)));",
        "// The model says: replicas=[0] isr=[0] elr=[1] leader=0",
        "// With the rule repaired: replicas=[0] isr=[0] elr=[] leader=0",
        "assertTrue(context.replicas().containsAll(context.elr()),",
        '"F-20, P-12 (MembersAreReplicas): the ELR names replicas only; "',
    ):
        assert f"{line}\n" in test.text, line
    assert "void fence(" not in test.text and "BrokerRegistrationRequestData" not in test.text
    assert max(map(len, test.text.splitlines())) <= 125


def test_steps_of_brokers_are_comments_and_calls_follow_the_trace() -> None:
    text = junit_test_of("F-23 P-1").text
    calls = re.findall(r"^ {8}(?:assertEquals\(Errors.NONE, )?context\.(\w+\([^;]*?\))\)?;$", text, re.MULTILINE)
    assert calls[-4:] == ["fence(1)", "register(0, false, 0, 1)", "assignDirectory(0, 1)", "unfence(0)"]
    assert re.search(r"// \d+\. Crash\(b=0, keep=0\): b crashes", text)
    assert 'assertEquals("replicas=[0, 1] isr=[] elr=[1] leader=-1", context.state());' in text
    assert "assertTrue(Set.of(-1, 1).contains(context.partition().leader)," in text


def test_a_repaired_rule_parts_from_the_trace_where_it_matters() -> None:
    subject = of_finding("F-23", None, Silent())
    walk = walk_of(subject.config, subject.trace, subject.repaired)
    assert walk.parting is not None
    parted = walk.steps[walk.parting]
    assert parted.label.action == "AssignDirectories" and parted.repaired is not None
    assert parted.after.partition.elr == frozenset() and parted.repaired.elr == frozenset({1})


def test_a_trace_file_is_a_subject_too(tmp_path: Path) -> None:
    moved = Label("Reassign", (frozenset({1}),))
    path = stored(tmp_path, "code_4_1", ("reassignments=2", "partition_zero_replicas=2"), [moved], "P-12")
    test = junit_test(str(path), None, None, Silent())
    assert (test.name, test.finding) == ("MembersAreReplicasTest", None)
    assert "Context context = new Context(true, 1);" in test.text  # beside the topic's partition 0
    assert "context.registered(1, List.of(0, 1), List.of(0, 1), List.of(), 0);" in test.text
    assert "With the rule repaired" not in test.text


def test_the_file_names_the_class(tmp_path: Path) -> None:
    file = tmp_path / "MineTest.java"
    assert export_junit("F-20", None, file, Silent()).written == file
    assert "public class MineTest {" in file.read_text()
    assert export_junit("f-20", None, tmp_path, Silent()).written == tmp_path / "F20MembersAreReplicasTest.java"
    for wrong in ("mine.txt", "mineTest.java", "My-Test.java"):
        with pytest.raises(UsageFault, match="public Java class"):
            class_name(tmp_path / wrong)


def test_a_proposal_under_old_metadata_has_the_epoch_that_its_leader_knows() -> None:
    text = junit_test_of("F-53 P-3").text
    first, configured = (
        text.index("int known = context.partition().partitionEpoch;"),
        text.index("context.configure("),
    )
    assert first < configured < text.index("Errors answer = context.alterPartitionOf(known, 0, 0);")
    assert "assertTrue(answer == Errors.INVALID_UPDATE_VERSION," in text


def test_a_leader_that_is_answered_otherwise_is_not_at_fault() -> None:
    subject = of_finding("F-53", "P-3", Silent())
    assert leader_walk_of(subject.model, subject.config, subject.trace, subject.repaired) is None


def test_the_parts_of_a_commit_are_in_the_order_of_the_publisher() -> None:
    text = junit_test_of("F-24 P-2").text
    applied = "replica.metadata(0, 1, 2, List.of(0, 1), List.of(0))"
    assert f"Publication.of(() -> {applied}, () -> replica.minIsr(2));\n" in text
    assert "import org.mockito.Mockito;" in text and "private static final class Publication {" in text
    assert "Mockito" not in junit_test_of("F-51 P-2").text


def test_the_test_of_a_leader() -> None:
    test = junit_test_of("F-51 P-2")
    assert (test.name, test.finding) == ("F51CandidateCompletenessTest", "F-51")
    for line in (
        LEADERS,
        "replica.append(-1);",
        "replica.fetch(2, 100, 1, 2, 2);",
        "replica.metadata(1, 4, 5, List.of(0, 1, 2), List.of(1, 2));",
        "// With the rule repaired: leaderEpoch=4 isr=[1, 2] logEnd=1 highWatermark=0 producers=[WAITING]",
        "assertTrue(replica.highWatermark() <= 0,",
    ):
        assert f"{line}\n" in test.text, line
    calls = re.findall(r"^ {8}replica\.(\w+)\(", test.text, re.MULTILINE)
    assert calls == ["start", "cluster", "metadata", "metadata", "fetch", "append", "fetch", "fetch", "metadata"]


def test_a_leader_s_walk_ends_where_it_commits_more() -> None:
    subject = of_finding("F-58", "P-2", Silent())
    walk = leader_walk_of(subject.model, subject.config, subject.trace, subject.repaired)
    assert walk is not None and walk.leader == 0
    last, before = walk.steps[-1], walk.steps[-2]
    assert last.label.action == "ApplyMetadataFirst" and len(walk.steps) < len(subject.trace.labels)
    assert (before.view.high_watermark, last.view.high_watermark, walk.repaired.high_watermark) == (0, 1, 0)
    assert (last.view.answers, walk.repaired.answers) == (("NONE",), ("WAITING",))
    answer = next(step.events for step in walk.steps if step.label.action == "LeaderLearns")
    assert answer == (Granted(1, 4, (0, 2)),)
    assert leader_walk_of(subject.model, subject.config, subject.trace, subject.config) is None


def test_a_test_whose_steps_are_told() -> None:
    test = junit_test_of("F-63 P-2")
    assert (test.name, test.property, test.finding) == ("F63CandidateCompletenessTest", "P-2", "F-63")
    for line in (
        LEADERS,
        " * Made by elrcheck 0.1.0: elrcheck export junit F-63 --property P-2",
        "Object answer = two.ask(zero);",
        "zero.follow(one);",
        "private static final class Follower {",
        "import org.apache.kafka.common.network.TransferableChannel;",
        "assertEquals(one.batches(), two.batches(),",
    ):
        assert f"{line}\n" in test.text, line
    assert "Mockito" not in test.text and "BrokerMain" not in test.text
    with pytest.raises(UsageFault, match="F-63 does not break P-4") as fault:
        junit_test("F-63", "P-4", None, Silent())
    assert "P-2, P-1" in str(fault.value.help)
    assert "three.follow(one);\n" in junit_test_of("F-63 P-1").text
    assert junit_test("f-63", None, "MineTest", Silent()).name == "MineTest"


# ---------------------------------------------------------------------------- what is refused


def test_a_trace_without_a_step_of_the_controller(tmp_path: Path) -> None:
    from elrcheck.model.state import Acks

    path = stored(tmp_path, "code_4_1", (), [Label("Produce", (0, Acks.ALL))], "P-1")
    with pytest.raises(UsageFault, match="the trace has no step of the controller") as fault:
        junit_test(str(path), None, None, Silent())
    assert int(fault.value.exit_code) == 2


@pytest.mark.parametrize(
    ("what", "property", "says"),
    [
        ("F-99", None, "there is no finding F-99"),
        ("none.json", None, "there is no file `none.json`"),
        ("F-20", "P-4", "F-20 does not break P-4"),
        ("F-20", "P-8", "P-8 cannot be asserted"),
    ],
)
def test_what_is_refused(what: str, property: str | None, says: str) -> None:
    with pytest.raises(UsageFault, match=re.escape(says)) as fault:
        junit_test(what, property, None, Silent())
    assert int(fault.value.exit_code) == 2


def test_a_property_that_the_trace_does_not_break(tmp_path: Path) -> None:
    path = stored(tmp_path, "code_4_1", (), [Label("Fence", (1,))], "P-12")
    with pytest.raises(UsageFault, match="does not end in a violation of P-12"):
        junit_test(str(path), None, None, Silent())


# ---------------------------------------------------------------------------- Kafka's classes

CHECKED = re.compile(r"assertEquals\((?:Errors\.NONE|\"[^\"]*\"), (.*)\);")
LEADERS = "package kafka.cluster;"


def jars_of(test: JunitTest) -> Jars:
    return Jars.BROKER if LEADERS in test.text else Jars.CONTROLLER


def changed(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        return replaced(text, old, new)

    return change


CONTROLS: Mapping[str, Callable[[str], str]] = {
    "F-1 P-19": changed("context.register(0, false", "context.register(0, true"),  # a clean shutdown
    "F-2 P-14": changed("List.of(0, 1), List.of(0, 1)", "List.of(0, 1), List.of(0)"),  # it was fenced before
    "F-20 P-12": changed("new Context(true", "new Context(false"),  # ELR off
    "F-20 P-1": changed("new Context(true", "new Context(false"),
    "F-21 V-8": changed("context.unregister(0)", "context.state()"),  # the broker stays
    "F-23 P-1": changed("context.assignDirectory(0, 1)", "context.state()"),  # no report of a directory
    # The topic's own value is written again, not the cluster's.
    "F-25 P-9": changed(
        'context.configure(ConfigResource.Type.BROKER, "",',
        "context.configure(ConfigResource.Type.TOPIC, Context.TOPIC,",
    ),
    # The new value is read before the smaller ISR.
    "F-24 P-2": changed("Publication.of(", "replica.minIsr(2); Publication.of("),
    "F-26 P-18": changed("new Context(false", "new Context(true"),  # ELR on from the start
    "F-28 P-1": changed("context.switchElr(false)", "context.state()"),  # the feature stays on
    # The leader applies the epoch in which it was none.
    "F-51 P-2": changed(
        "replica.metadata(1, 4,", "replica.metadata(0, 3, 4, List.of(0, 1, 2), List.of()); replica.metadata(1, 4,"
    ),
    "F-52 P-14": changed("context.register(1, true, 1)", "context.register(1, false, 0, 1)"),
    # The topic has an ELR, so that clearing it changes the partition epoch.
    "F-53 P-3": changed("List.of(0, 1), List.of(0, 1), List.of()", "List.of(0, 1), List.of(0), List.of(1)"),
    "F-56 P-13": changed("context.switchElr(false)", "context.state()"),
    "F-57 V-11": changed("context.switchElr(false)", "context.state()"),
    # The metadata record is not read before the answer about the next member.
    "F-58 P-2": changed("replica.metadata(0, 1, 4,", "replica.state(); List.of(0, 1, 4,"),
    "F-59 V-8": changed("context.switchElr(true)", "context.state()"),
    # Nothing is removed, nothing is called off.
    "F-60 P-29": changed("context.reassign(List.of(0, 2))", "context.reassign(List.of(0, 1, 2))"),
    "F-61 P-29": changed("context.reassign(null)", "context.state()"),
    "F-62 P-12": changed("context.reassign(null)", "context.state()"),
    "F-62 V-1": changed("context.reassign(null)", "context.state()"),
    "F-66 P-18": changed("WithoutDirectory(0, 0)", "WithoutDirectory(0, 1)"),  # another directory fails
    # The answer is read before the leader truncates.
    "F-63 P-2": lambda text: changed("= two.ask(zero);", "= two.ask(zero); two.takes(answer);")(
        changed("\n        two.takes(answer);", "")(text)
    ),
    "F-63 P-1": lambda text: changed("= zero.ask(two);", "= zero.ask(two); zero.takes(answer);")(
        changed("\n        zero.takes(answer);", "")(text)
    ),
}


def controlled(what: str, test: JunitTest) -> str:
    """The same steps with the one thing changed; what is registered on the way may then differ."""
    text = CONTROLS[what](CHECKED.sub(r"\1;", test.text))
    return replaced(text, f"class {test.name}", f"class Control{test.name}", 1)


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize("version", VERSIONS)
def test_released_classes_fail_and_controls_pass(version: str, tests: Mapping[str, JunitTest], tmp_path: Path) -> None:
    """What the findings say of the versions, and that every control passes."""
    to_run = {what: test for what, test in tests.items() if version in (*RUNS[what].fails, *RUNS[what].passes)}
    for jars in (Jars.CONTROLLER, Jars.BROKER):
        mine = {what: test for what, test in to_run.items() if jars_of(test) is jars}
        sources = [test.text for test in mine.values()]
        sources += [controlled(what, test) for what, test in mine.items() if what in CONTROLS]
        if not sources:
            continue
        outcomes = run_tests(sources, jars_or_skip(version, jars), tmp_path / jars.name)
        for what, test in mine.items():
            assert outcomes.get(f"Control{test.name}", "") == "", what
            if version in RUNS[what].fails:
                begins = f"{test.finding}, {test.property} ("
                assert outcomes[test.name].startswith(begins), (what, outcomes[test.name])
            else:
                assert outcomes[test.name] == "", what


PATCHED = [
    (ident, version)
    for ident, finding in FINDINGS.items()
    if finding.patch is not None and finding.junit
    for version in finding.patch.classes[-1:]
]
"""Each patch with the newest release that it is for."""


def junit_tests_of(version: str) -> dict[str, JunitTest]:
    """The tests that a release was tried with."""
    return {what: junit_test_of(what) for what in RUNS if version in (*RUNS[what].fails, *RUNS[what].passes)}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Jars], Path]:
    """The tests of a release, compiled once for all patches: a folder of classes."""

    @cache
    def compile_once(version: str, jars: Jars) -> Path:
        texts = [test.text for test in junit_tests_of(version).values() if jars_of(test) is jars]
        return compile_tests(texts, jars_or_skip(version, jars), tmp_path_factory.mktemp("tests") / "all")

    return compile_once


@pytest.mark.slow
@pytest.mark.kafka
@pytest.mark.parametrize(("ident", "version"), PATCHED)
def test_a_patch_makes_the_tests_of_its_finding_pass(
    ident: str, version: str, compiled: Callable[[str, Jars], Path], tmp_path: Path
) -> None:
    patch = FINDINGS[ident].patch
    assert patch is not None
    every = junit_tests_of(version)
    jars = next(jars_of(test) for test in every.values() if test.finding == ident)
    every = {what: test for what, test in every.items() if jars_of(test) is jars}
    edits = patch.edits_of(version)
    patched = patched_classes(ident, edits, jars_or_skip(version, jars_needed(edits)))
    outcomes = run_compiled(compiled(version, jars), jars_or_skip(version, jars), tmp_path / "reports", patched)
    for what, test in every.items():
        finding = what.split()[0]
        passed = version in RUNS[what].passes and finding not in patch.brings
        green = finding in (ident, *patch.mends) or passed
        assert (outcomes[test.name] == "") == green, (what, outcomes[test.name])


def test_every_finding_of_the_controller_has_a_patch_that_was_tried() -> None:
    failing = {what.split()[0] for what, run in RUNS.items() if run.fails}
    assert failing <= {ident for ident, _ in PATCHED}
    assert set(CONTROLS) == {what for what, run in RUNS.items() if run.fails}
