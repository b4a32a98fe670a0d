"""`elrcheck export junit`: a trace, or the shortest one of a finding, as a test of Kafka's classes.

The test fails as long as the classes do what the trace says. Its last assertion is the property, of the
controller's classes; where the rule at fault is a leader's, that it commits no more than with that repaired.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from elrcheck.base.atomic import write_file
from elrcheck.base.errors import UsageFault
from elrcheck.base.progress import Progress
from elrcheck.base.requests import CheckRequest
from elrcheck.catalogue.evidence.counterexamples import selection_of
from elrcheck.catalogue.evidence.searched import released, released_first
from elrcheck.catalogue.finding_file import Finding, FindingRun
from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.checking.check import run_check
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_checked_model
from elrcheck.kafka.junit.assertions import ASSERTIONS, assertion_of
from elrcheck.kafka.junit.controller_walk import walk_of
from elrcheck.kafka.junit.junit_source import SCRIPTED, TestTexts, junit_source, leader_source, scripted_source
from elrcheck.kafka.junit.leader_walk import leader_walk_of
from elrcheck.lang.ir import Fn
from elrcheck.lang.load import Model
from elrcheck.lang.plain import Label, PlainModel
from elrcheck.model.budgets import Spent
from elrcheck.model.knobs import summary
from elrcheck.stored_traces.recorded import subject_of
from elrcheck.stored_traces.tracefile import load_trace
from elrcheck.traces.behaviour import Behaviour
from elrcheck.traces.loaded import NamedSelection

FINDING = re.compile(r"F-\d+", re.IGNORECASE)
CLASS_NAME = re.compile(r"[A-Z][A-Za-z0-9_]*")
CONTROLLER = "What only brokers do is a comment."
LEADER = "by calls of its kafka.cluster.Partition; what others do is a comment."


@dataclass(frozen=True)
class JunitTest:
    """A test. name: of its class; finding: its id, if it is about one; written: its file."""

    name: str
    text: str
    property: str
    finding: str | None
    written: Path | None = None


@dataclass(frozen=True)
class Subject:
    """A trace with the finding that it shows. repaired: the configuration without the rule at fault."""

    model: Model
    config: Any
    trace: Behaviour[Label]
    finding: Finding | None = None
    repaired: Any = None


def export_junit(what: str, property: str | None, out: Path | None, progress: Progress) -> JunitTest:
    """Return the test for a finding's id or a trace file, and write it to `out` if given.

    out: the Java file, or a folder for it.
    """
    name = None if out is None or out.is_dir() else class_name(out)
    test = junit_test(what, property, name, progress)
    if out is None:
        return test
    file = out / f"{test.name}.java" if out.is_dir() else out
    write_file(file, test.text)
    return replace(test, written=file)


def class_name(out: Path) -> str:
    """Return the required name of a public class in this file."""
    if out.suffix != ".java" or CLASS_NAME.fullmatch(out.stem) is None:
        message = f"{out.name} cannot be the file of a public Java class"
        raise UsageFault("usage-bad-value", message, help="as in -o F20Test.java, or give a folder that exists")
    return out.stem


def junit_test(what: str, property: str | None, name: str | None, progress: Progress) -> JunitTest:
    """Return the test of a finding's id or a trace's file."""
    named = FINDING.fullmatch(what) is not None and not Path(what).exists()
    if named and what.upper() in SCRIPTED:
        return _scripted(what.upper(), property, name)
    subject = of_finding(what.upper(), property, progress) if named else of_trace(Path(what))
    trace, finding = subject.trace, subject.finding
    ident = property if property is not None and finding is None else trace.origin.property
    is_released = released(trace.origin.variant) is not None
    walk = walk_of(subject.config, trace, subject.repaired, is_released)
    fn = subject.model.properties_by_id[ident]
    command = f"elrcheck export junit {what}" + (f" --property {property}" if property else "")
    if finding is not None and subject.repaired is not None and walk.parting is None:
        led = leader_walk_of(subject.model, subject.config, trace, subject.repaired)
        if led is None:
            message = (
                f"the rule at fault in {finding.id} is neither the controller's nor one of what a leader"
                " commits: repaired, its steps are the same"
            )
            raise UsageFault("junit-trace", message, help=f"`elrcheck show {finding.id}` has the cause")
        how = _how(subject, f"What happens to broker {led.leader}, {LEADER}", is_released)
        test = _about(finding, fn, how, name, command)
        return JunitTest(test.name, leader_source(subject.model, led, test), ident, finding.id)
    assertion = assertion_of(walk, ident, sorted(set(finding.runs[0].breaks) & set(ASSERTIONS)) if finding else ())
    test = _about(finding, fn, _how(subject, CONTROLLER, is_released), name, command)
    text = junit_source(subject.model, walk, assertion, test)
    return JunitTest(test.name, text, ident, None if finding is None else finding.id)


def _scripted(ident: str, property: str | None, name: str | None) -> JunitTest:
    """Return the test of a finding whose steps are written in Java."""
    scripts = SCRIPTED[ident]
    script = next((each for each in scripts if property in (None, each.property)), None)
    if script is None:
        help = f"it has a test of {', '.join(each.property for each in scripts)}"
        raise UsageFault("junit-property", f"{ident} does not break {property}", help=help)
    fn = load_checked_model().properties_by_id[script.property]
    command = f"elrcheck export junit {ident}" + (f" --property {property}" if property else "")
    test = _about(find_finding(ident), fn, (script.how,), name, command)
    return JunitTest(test.name, scripted_source(script, test), script.property, ident)


def _how(subject: Subject, steps: str, is_released: bool) -> tuple[str, ...]:
    """Return paragraphs on where the steps of a test come from. steps: what it does with them."""
    variant = subject.trace.origin.variant or "no variant"
    trace_is = "A trace" if subject.finding is None else "A shortest counterexample"
    origin = f"{trace_is} of elrcheck's model ({variant}), step by step in Kafka's classes. {steps}"
    if is_released:
        return (origin,)
    return origin, "No release does all that this variant does, so the end is asserted, not the steps before it."


def _about(finding: Finding | None, fn: Fn, how: Iterable[str], name: str | None, command: str) -> TestTexts:
    title, subject, paragraphs = "", f"{fn.ident} ({fn.name})", []
    if finding is not None:
        title, subject = finding.id.replace("-", ""), f"{finding.id}, {subject}"
        paragraphs.append(f"{finding.id}: {finding.title}.")
    return TestTexts(
        name=name or f"{title}{fn.name}Test",
        method=f"test{fn.name}",
        subject=subject,
        about=(*paragraphs, f"{fn.ident} ({fn.name}): {summary(fn.doc)}", *how),
        command=command,
    )


# ---------------------------------------------------------------------------- where the trace comes from


def of_trace(path: Path) -> Subject:
    """Read a trace file of any notation, which the model must follow."""
    if not path.exists():
        message = f"there is no file `{path}`, and no finding of that name"
        raise UsageFault("unknown-name", message, help="give a trace file or the id of a finding, such as F-20")
    followed = subject_of(path, None, NamedSelection())
    return Subject(followed.model, followed.config, followed.followed)


def of_finding(ident: str, property: str | None, progress: Progress) -> Subject:
    """Return the shortest trace of a finding, by the search that the finding names."""
    finding = find_finding(ident)
    run, chosen = _chosen(finding, property)
    with tempfile.TemporaryDirectory(prefix="elrcheck-junit-") as folder:
        request = CheckRequest(
            selection_of(run),
            (chosen,),
            stop_at_first=not run.liveness,
            run_dir=Path(folder) / "run",
            liveness=run.liveness,
        )
        run_check(request, progress)
        loaded = load_trace(Path(folder) / "run" / f"{chosen}.trace.json")
    assert run.control is not None
    repaired = replace(run, variant=run.control.variant, knobs={**run.knobs, **run.control.knobs})
    config = resolve(selection_of(repaired)).config
    # A control that starts elsewhere, or leaves out an operation, repairs no rule to compare step by step.
    starts_alike = PlainModel(loaded.model, config).initial() == loaded.behaviour.states[0]
    repairs = starts_alike and not set(run.control.knobs) <= {budget.name for budget in fields(Spent)}
    return Subject(loaded.model, loaded.config, loaded.behaviour, finding, config if repairs else None)


def _chosen(finding: Finding, property: str | None) -> tuple[FindingRun, str]:
    """Return the first search that breaks what a test can state, one of a released variant if possible."""
    broken = released_first(finding)
    if property is not None:
        for run in sorted(broken, key=lambda run: property not in run.breaks):
            if property in (*run.breaks, *run.also_breaks):
                return run, property
        message = f"{finding.id} does not break {property}"
        raise UsageFault(
            "junit-property", message, help=f"it breaks {', '.join(_broken(broken)) or 'nothing testable'}"
        )
    for run in broken:
        for ident in ASSERTIONS:
            if ident in run.breaks:
                return run, ident
    message = f"{finding.id} breaks no property that the controller's classes could show"
    raise UsageFault("junit-property", message, help=f"a test can state: {', '.join(ASSERTIONS)}")


def _broken(runs: Iterable[FindingRun]) -> list[str]:
    return list(dict.fromkeys(ident for run in runs for ident in (*run.breaks, *run.also_breaks)))
