"""Expressions of the modelling language typed by a person: `elrcheck trace show --eval`."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import TraceFilters
from elrcheck.cli import cli
from elrcheck.commands.trace.show import show
from elrcheck.console.shell import run
from elrcheck.report.json_report import as_data
from elrcheck.stored_traces.recorded import subject_of
from elrcheck.traces.loaded import NamedSelection
from elrcheck.traces.replay import Replayed
from elrcheck.traces.watched import read_query
from support.lost_record import lost_record, stored
from support.places import SCHEMAS

SCHEMA = SCHEMAS / "elrcheck.trace-view-1.schema.json"


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Replayed:
    return subject_of(stored(tmp_path_factory.mktemp("run"), lost_record()), None, NamedSelection())


# What the story of `lost_record` says, state by state; None where there is no value.
ALONG = {
    "len(s.partition.isr)": ["2", "1", "1", "1", "1"],
    "s.broker[0].log": ["[]", "[]", "[r1@1(all)]", "[r1@1(all)]", "[]"],
    "s.committed[0].acks == Acks.ALL": [None, None, None, "true", "true"],
    "s.broker[s.broker[0].view.leader].log": ["[]", "[]", "[r1@1(all)]", "[r1@1(all)]", None],
    "frozenset(b for b in c.brokers if leads(s, b))": ["{0}", "{0}", "{0}", "{0}", "{}"],
    "implies(s.partition.leader is None, 1 in s.partition.isr)": ["true"] * 5,
    "NoCommittedRecordLost(c, s)": ["true", "true", "true", "true", "false"],
    "c.broker_count - len(s.lossy)": ["2", "2", "2", "2", "1"],
    "s.broker[7].log": [None] * 5,
}


@pytest.mark.parametrize("text", ALONG)
def test_values_along_a_trace(subject: Replayed, text: str) -> None:
    report = show(subject, expressions=(text,))
    jsonschema.validate(json.loads(json.dumps(as_data(report))), json.loads(SCHEMA.read_text()))
    (evaluation,) = report.evaluations
    assert [one.value for one in evaluation.values] == ALONG[text]
    assert [one.at for one in evaluation.values] == [0, 1, 2, 3, 4] and not evaluation.step
    assert all((one.value is None) == (one.why is not None) for one in evaluation.values)


def test_values_of_steps(subject: Replayed) -> None:
    report = show(subject, TraceFilters(first=1, last=3), expressions=("s.partition.isr - t.partition.isr",))
    (evaluation,) = report.evaluations
    assert evaluation.step
    assert [(one.at, one.value, one.changed) for one in evaluation.values] == [
        (1, "{1}", True),
        (2, "{}", True),
        (3, "{}", False),
    ]


MISTAKES = {
    "s.partition.isrr": ("has no field 'isrr'", "did you mean `isr`?", "^" * 16),
    "leadz(s, 0)": ("no function 'leadz' here", "did you mean `leads`?", "^" * 11),
    "len(s.partition.isr) == t": ("this is a whole state", "len(s.partition.isr)", " " * 24 + "^"),
    "0 in  s.partition.replica": ("no field 'replica'", "did you mean `replicas`?", " " * 6 + "^" * 19),
    "s": ("a whole state", "s.partition", "^"),
    "Crash(c, s, 0, 0)": ("returns a state", "configuration", "^" * 17),
    "__import__('os').system('x')": ("no methods", "configuration", "^" * 28),
    "(lambda: 1)()": ("only plain function calls", "configuration", "^" * 13),
    "open('x')": ("'open' is not in the modelling language", "did you mean `Spent`?", "^" * 9),
    "s.__class__": ("has no field '__class__'", "configuration", "^" * 11),
    "all(k < 2 for k in range(1000000))": ("more than 1000 numbers", "configuration", "^" * 34),
    "1 +": ("not an expression", "configuration", "^"),
    "": ("not an expression", "configuration", "^"),
    "len()": ("write len(set or sequence)", "configuration", "^" * 5),
    "(" * 900: ("not an expression", "configuration", " " * 200 + "^"),
    "1+" * 1500 + "1": ("may have 2000 characters", "configuration", "^"),
    "s.partition.isr[0]": ("cannot be indexed", "configuration", "^" * 18),
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_have_a_place_and_a_remedy(subject: Replayed, text: str) -> None:
    says, help, underline = MISTAKES[text]
    with pytest.raises(UsageFault) as caught:
        read_query(subject.model, text, "--eval")
    fault = caught.value
    assert says in fault.message and help in (fault.help or ""), fault.render()
    assert (fault.excerpt or "").splitlines()[1:] == [underline]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(stored(tmp_path, lost_record()))
    assert run(cli, ["trace", "show", path, "--eval", "len(s.partition.isr)", "--eval", "s.lossy"]) == 0
    out = capsys.readouterr().out
    assert [line.split("  ")[-1].strip() for line in out.splitlines() if "len(s" in line] == [
        ["before", "", "len(s.partition.isr) = 2"][-1].strip(),
        "len(s.partition.isr) = 1",
    ]
    assert out.count("s.lossy = ") == 2
    assert run(cli, ["-v", "trace", "show", path, "--eval", "s.lossy"]) == 0
    assert capsys.readouterr().out.count("s.lossy = ") == 5
    assert run(cli, ["trace", "show", path, "--eval", "s.lossy", "--as", "dot"]) == 2
    assert run(cli, ["trace", "show", path, "--eval", "s.lossi"]) == 2
    assert "did you mean `lossy`?" in capsys.readouterr().err
