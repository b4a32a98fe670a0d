"""The JSON documents against their published schemas, and what the text shows."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from msgspec import inspect, structs

from elrcheck.base.errors import ExitCode
from elrcheck.report.document import every_kind
from elrcheck.report.formats import blocks
from elrcheck.report.json_report import to_json
from elrcheck.report.terminal import Page, open_console
from elrcheck.results.any_report import Report
from elrcheck.results.check_report import (
    ActionReport,
    CheckReport,
    EngineReport,
    Extent,
    FindingOutside,
    Overflow,
    PropertyReport,
    SearchReport,
    VariableReport,
)
from elrcheck.results.prove_report import (
    CellReport,
    InductionFailure,
    ObligationReport,
    PhaseReport,
    ProveReport,
    Skipped,
    SolverReport,
)
from elrcheck.results.trace_view import Argument, Change, Step, TraceView
from support.places import SCHEMAS
from support.report_samples import TLC

TRACE = TraceView(
    initial={"partition.isr": "{0,1,2}", "partition.leader": "0"},
    steps=(
        Step(
            1,
            "Fence",
            (Argument("broker", "1"),),
            "broker 1 is registered and not fenced",
            (Change("partition.isr", "{0,1,2}", "{0,2}"),),
        ),
        Step(2, "Restart", (), "", (Change("broker[1].up", "false", "true"),)),
    ),
    repro="0/4",
)
CHECK = CheckReport(
    verdict="violated",
    variant="kip_full",
    scope="three-brokers",
    config={"broker_count": 3, "elr_enabled": True, "clean_check": "EPOCH"},
    engine=EngineReport("local", 2, "LLVM"),
    search=SearchReport(
        complete=True,
        generated=93000,
        distinct=18204,
        diameter=3,
        levels=(1, 203, 18000),
        seconds=1.9,
        states_per_second=9581.05,
        bytes_per_state=24,
        cut=12,
        overflows=(Overflow("broker[0].epoch", 2),),
    ),
    properties=(
        PropertyReport(
            "P-1", "LeaderCompleteness", "always", "violated", 2, "leader_is_live", "leader=2", "traces/P-1.json", TRACE
        ),
        PropertyReport("P-2", "LogMatching", "always", "holds"),
        PropertyReport("W-1", "ElrUsed", "sometimes", "reached", 3),
        PropertyReport("W-2", "ElrElected", "sometimes", "unreached"),
    ),
    actions=(ActionReport("Fence", 12345, 33, 12), ActionReport("Reassign", 0, 0), ActionReport("Crash", 7, 0, 7)),
    variables=(VariableReport("partition.isr", 8),),
    run_dir="runs/a",
)
PROVE = ProveReport(
    verdict="refuted",
    variant="kip_full",
    config={"broker_count": 3},
    solver=SolverReport("z3", "4.13", 30.0),
    seconds=12.5,
    phases=(PhaseReport("initiation", 2, 0, 0, 0.1), PhaseReport("consecution", 1, 1, 1, 12.0)),
    initiation=(ObligationReport("TypeOk", "proved", 0.05),),
    cells=(
        CellReport("Fence", "TypeOk", "proved", 0.2, ("ElrDisjoint",)),
        CellReport(
            "Unfence",
            "ElrDisjoint",
            "refuted",
            0.3,
            failure=InductionFailure(
                {"partition.elr": "{1}"},
                (Argument("broker", "1"),),
                (Change("partition.isr", "{0}", "{0,1}"),),
                "disjoint",
                True,
                differs=("partition.elr",),
            ),
        ),
        CellReport("Restart", "ElrDisjoint", "unknown", 30.0, reason="timeout"),
    ),
    implication=(ObligationReport("LeaderInIsr", "proved", 0.1, "P-3", ("TypeOk",)),),
    skipped=(Skipped("P-9", "Progress", "needs budgets"),),
)
REPORTS = [pytest.param("report", CHECK), pytest.param("prove", PROVE), pytest.param("tlc", TLC)]


def text_of(report: Report, detail: int = 0) -> str:
    buffer = io.StringIO()
    Page(open_console(buffer)).show(blocks(report, detail))
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


# ------------------------------------------------------------------------------------ JSON


@pytest.mark.parametrize(("name", "report"), REPORTS)
def test_a_report_fits_its_schema(name: str, report: Report) -> None:
    schema = json.loads((SCHEMAS / f"elrcheck.{name}-1.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(to_json(report)), schema)


@pytest.mark.parametrize(("name", "report"), REPORTS)
def test_the_schema_knows_exactly_the_fields(name: str, report: Report) -> None:
    schema = json.loads((SCHEMAS / f"elrcheck.{name}-1.schema.json").read_text(encoding="utf-8"))
    assert set(schema["properties"]) == {"schema", *report.__struct_encode_fields__}
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(("name", "report"), REPORTS)
def test_the_schema_comes_first(name: str, report: Report) -> None:
    data = json.loads(to_json(report))
    assert next(iter(data)) == "schema"
    assert data["schema"] == f"elrcheck.{name}/1"


def test_the_documented_keys_of_a_check_report() -> None:
    data = json.loads(to_json(CHECK))
    assert data["search"]["levels"] == [1, 203, 18000]
    assert data["config"]["elr_enabled"] is True
    first = data["properties"][0]
    assert {key: first[key] for key in ("id", "kind", "verdict", "depth", "conjunct", "trace")} == {
        "id": "P-1",
        "kind": "always",
        "verdict": "violated",
        "depth": 2,
        "conjunct": "leader_is_live",
        "trace": "traces/P-1.json",
    }
    assert first["counterexample"]["steps"][0]["changes"] == [
        {"path": "partition.isr", "old": "{0,1,2}", "new": "{0,2}"}
    ]
    assert data["actions"][1] == {
        "name": "Reassign",
        "fired": 0,
        "new_states": 0,
        "cut": 0,
        "guards": [],
        "possible": True,
    }


def test_numbers_json_does_not_know_are_refused() -> None:
    broken = structs.replace(PROVE, seconds=float("nan"))
    with pytest.raises(ValueError, match="JSON"):
        to_json(broken)


def parts_of(kind: Any, met: set[int]) -> Iterator[Any]:
    """The type, and every type inside it, once."""
    if id(kind) in met:
        return
    met.add(id(kind))
    yield kind
    for name in kind.__struct_fields__:
        value = getattr(kind, name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, inspect.Field):
                part = part.type
            if isinstance(part, inspect.Type):
                yield from parts_of(part, met)


def test_no_report_has_a_set() -> None:
    """It would be written in another order in every process."""
    parts = [part for kind in every_kind() for part in parts_of(inspect.type_info(kind), set())]
    assert len(parts) > 400
    assert [part for part in parts if isinstance(part, inspect.SetType | inspect.FrozenSetType)] == []


@pytest.mark.parametrize(
    ("report", "verdict", "code"),
    [
        (CHECK, "holds", ExitCode.HOLDS),
        (CHECK, "violated", ExitCode.FINDING),
        (CHECK, "inconclusive", ExitCode.INCONCLUSIVE),
        (PROVE, "proved", ExitCode.HOLDS),
        (PROVE, "refuted", ExitCode.FINDING),
        (PROVE, "inconclusive", ExitCode.INCONCLUSIVE),
        (TLC, "confirmed", ExitCode.HOLDS),
        (TLC, "rejected", ExitCode.FINDING),
        (TLC, "no_violation", ExitCode.FINDING),
        (TLC, "different", ExitCode.FINDING),
        (TLC, "failed", ExitCode.ENVIRONMENT),
    ],
)
def test_the_verdict_is_the_exit_code(report: Any, verdict: str, code: ExitCode) -> None:
    assert structs.replace(report, verdict=verdict).exit_code == code


# ------------------------------------------------------------------------------------ text


def test_a_violation_shows_only_what_changed() -> None:
    block = text_of(CHECK).split("\n\n")[0]
    assert block.splitlines() == [
        "FAIL  P-1 LeaderCompleteness  violated at depth 2  (kip_full, three-brokers)",
        '      means     After step 2 this is false: "P-1 LeaderCompleteness".',
        "      conjunct  leader_is_live",
        "      witness   leader=2",
        "      step 1    Fence(broker=1)",
        "                because  broker 1 is registered and not fenced",
        "                partition.isr: {0,1,2} -> {0,2}",
        "      step 2    Restart()",
        "                broker[1].up: false -> true",
        "      repro     0/4",
        "      trace     runs/a/traces/P-1.json",
        "      next      elrcheck explain runs/a/traces/P-1.json",
    ]


def test_the_verdict_comes_last_and_says_how_far_it_reaches() -> None:
    last = text_of(CHECK).split("\n\n")[-1].replace("\u202f", " ").splitlines()
    assert last[0] == "VIOLATED  kip_full, three-brokers: complete within the budgets of the scope"
    assert "      violated  P-1" in last
    assert "      unreached W-2" in last
    assert any("broker[0].epoch exceeded its bit width" in line for line in last)
    counts = "18 204 distinct, 93 000 generated, diameter 3, 12 steps beyond the budgets"
    assert f"      states    {counts}" in last
    assert "      time      1.90 s, 9 581 states/s" in last
    assert "      memory    24 bytes/state, exact states" in last


def test_a_bounded_search_names_its_limit() -> None:
    search = structs.replace(CHECK.search, complete=False, stopped_by="--max-depth 3")
    text = text_of(structs.replace(CHECK, verdict="inconclusive", properties=(), search=search))
    assert "INCONCLUSIVE  kip_full, three-brokers: bounded by --max-depth 3" in text
    assert "complete" not in text


def test_fingerprints_show_their_risk() -> None:
    search = structs.replace(CHECK.search, fingerprint_bits=64, collision_probability=1.5e-9)
    text = text_of(structs.replace(CHECK, search=search))
    assert "64-bit fingerprints, collision probability 1.5e-09" in text


def test_idle_actions_are_for_those_who_ask() -> None:
    """Reassign was never possible, Crash only beyond the budgets: the lines of events say so in words."""
    plain = text_of(CHECK).splitlines()
    assert any(line.startswith("Fence") for line in plain)
    assert not any(line.startswith(("Reassign", "Crash")) for line in plain)
    whole = text_of(CHECK, 1).splitlines()
    assert next(line for line in whole if line.startswith("Reassign")).endswith("never fired")
    assert next(line for line in whole if line.startswith("Crash")).endswith("beyond the budgets")


def test_possible_actions_that_never_fired_are_named() -> None:
    lines = [line.split(maxsplit=1) for line in text_of(CHECK).splitlines()]
    assert ["actions", "never fired, although the scope allows them: Reassign"] in lines
    excluded = [structs.replace(action, possible=action.name != "Reassign") for action in CHECK.actions]
    assert "never fired" not in text_of(structs.replace(CHECK, actions=tuple(excluded)))


def test_a_verdict_says_what_was_tried() -> None:
    outside = FindingOutside("F-20", "The ELR keeps ghosts", "records", ("2 fencings", "1 reassignment"))
    many = tuple(structs.replace(outside, finding=f"F-{i}") for i in range(20, 25))
    extent = Extent(("1 crash",), ("orderly stops", "kills"), many, ("min_isr=2",))
    for detail in (-1, 0, 1):
        text = text_of(structs.replace(CHECK, extent=extent), detail)
        lines = [line.strip() for line in text.splitlines()]
        assert "tried     1 crash" in lines and "not tried orderly stops, kills" in lines
        assert "known     F-20 needs 2 fencings and 1 reassignment: The ELR keeps ghosts" in lines
        assert "and outside this scope as well: F-23, F-24 (`elrcheck show F-23`)" in lines
        assert "no effect min_isr=2: the search is the same without it" in lines
    seven = structs.replace(CHECK, extent=Extent((), tuple("abcdefg")))
    assert "not tried a, b, c, d, e, and 2 more (-v lists them)" in text_of(seven)
    assert "not tried a, b, c, d, e, f, g\n" in text_of(seven, 1)
    bare = structs.replace(CHECK, extent=Extent((), ("orderly stops",)))
    assert "tried     no disturbance at all" in text_of(bare)


def test_the_shortest_counterexample_comes_first_and_the_others_in_a_line() -> None:
    (broken,) = [each for each in CHECK.properties if each.verdict == "violated"]
    assert broken.depth is not None
    longer = structs.replace(broken, id="P-77", depth=broken.depth + 1, trace="P-77.trace.json")
    report = structs.replace(CHECK, properties=(longer, *CHECK.properties))
    plain, whole, quiet = (text_of(report, detail).splitlines() for detail in (0, 1, -1))
    fails = [line for line in plain if line.startswith("FAIL")]
    assert fails[0].split()[1] == broken.id and fails[1].endswith("P-77.trace.json")
    assert sum(line.strip().startswith("step 1 ") for line in plain) == 1
    assert sum(line.strip().startswith("step 1 ") for line in whole) == 2
    assert any("-v prints all 2" in line for line in plain)
    assert not any("step 1 " in line or "--all" in line for line in quiet)
    assert sum(line.startswith("FAIL") for line in quiet) == 2


def test_witnesses_show_the_depth_they_were_reached_at() -> None:
    row = next(line for line in text_of(CHECK).splitlines() if line.startswith("W-1"))
    assert row.split() == ["W-1", "ElrUsed", "sometimes", "reached", "3"]


def test_many_properties_are_counted_and_listed_for_those_who_ask() -> None:
    """Nobody reads a table of forty lines between a counterexample and the verdict."""
    holding = tuple(PropertyReport(f"P-{number}", "Other", "always", "holds") for number in range(3, 13))
    report = structs.replace(CHECK, properties=(*CHECK.properties, *holding))
    text = text_of(report)
    assert "P-12" not in text and "Fence    12" not in text
    assert "holds     11 of 12 properties" in text and "reached   1 of 2 witnesses" in text
    assert "violated  P-1" in text and "unreached W-2" in text
    assert "P-12" in text_of(report, detail=1)
    assert "11 of 12" not in text_of(report, detail=-1)
    stopped = structs.replace(
        CHECK, properties=tuple(structs.replace(each, verdict="inconclusive") for each in holding)
    )
    assert "undecided 10 of these" in text_of(stopped)


def test_quiet_keeps_findings_and_verdict_and_verbose_adds_the_rest() -> None:
    quiet, normal, verbose = (text_of(CHECK, detail) for detail in (-1, 0, 1))
    assert "FAIL" in quiet and "VIOLATED" in quiet
    assert "LogMatching" not in quiet
    assert "LogMatching" in normal and "clean_check" not in normal
    assert "start     partition.leader = 0" in verbose
    assert "clean_check" in verbose


def test_text_off_a_terminal_has_no_escapes_and_no_markup() -> None:
    odd = PropertyReport("P-1", "[bold]Odd[/bold]", "always", "violated", 1, ":smile:", "isr=[0]")
    text = text_of(structs.replace(CHECK, properties=(odd,)))
    assert "\x1b" not in text
    assert "[bold]Odd[/bold]" in text and ":smile:" in text and "isr=[0]" in text


def test_color_can_be_forced() -> None:
    buffer = io.StringIO()
    Page(open_console(buffer, "always")).show(blocks(CHECK))
    assert "\x1b[" in buffer.getvalue()


def test_an_ascii_stream_gets_ascii_numbers() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Page(open_console(stream)).show(blocks(CHECK))
    stream.flush()
    assert b"18,204 distinct" in raw.getvalue()


def test_a_proof_shows_failed_cells_first_and_all_cells_when_verbose() -> None:
    text = text_of(PROVE)
    assert text.startswith("REFUTED  Unfence does not preserve ElrDisjoint  (0.30 s)")
    assert "partition.isr: {0} -> {0,1}" in text
    assert "UNKNOWN  Restart" in text and "timeout" in text
    assert "needs budgets" in text
    assert text.splitlines()[-1] == "REFUTED  kip_full: 2 of 5 obligations open, z3 4.13, 12.5 s"
    assert "Fence   " not in text
    assert "Fence   " in text_of(PROVE, 1)


def test_tlc_counts_stand_side_by_side() -> None:
    rows = [line.replace("\u202f", "").split() for line in text_of(TLC).splitlines()]
    assert ["elrcheck", "93000", "18204", "3"] in rows
    assert ["TLC", "93000", "18204"] in rows
