"""Suite files: the configurations they make, and how mistakes in them are reported."""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.catalogue.hazard import packaged_hazards
from elrcheck.checking.suite.suite_file import packaged_suites, read_family
from elrcheck.invariants.modules import load_whole_model
from elrcheck.model.choices import Propagation
from support.edits import replaced

TEXT = """\
description = "three"
scope = "two-brokers-quiet"
reaches = ["W-11"]
[set]
log_slots = 2
[operations.kill-twice]
kills = 2
[operations.elect]
elections = 1
[operations.stop]
clean_stops = 1
[faults.kill]
kills = 1
[faults.lag]
metadata = "LOG"
[[narrowed]]
in = ["*+stop/lag"]
set = { clean_stops = 0 }
[[configuration]]
name = "alone"
set = { broker_count = 3 }
reaches = ["W-2"]
[[violates]]
properties = ["P-1", "P-8"]
in = ["kill-twice+*/kill"]
because = "three kills"
finding = "F-20"
"""


def family(folder: Path, text: str) -> Path:
    file = folder / "three.toml"
    file.write_text(text)
    return file


def test_every_combination_with_every_fault(tmp_path: Path) -> None:
    by_name = {case.name: case for case in read_family(family(tmp_path, TEXT)).cases}
    pairs = ("kill-twice+elect", "kill-twice+stop", "elect+stop")
    assert set(by_name) == {f"three/{p}/{f}" for p in pairs for f in ("kill", "lag")} | {"three/alone"}
    both = by_name["three/kill-twice+elect/kill"]
    assert (both.selected.config.kills, both.selected.config.elections) == (3, 1)
    assert both.selected.config.log_slots == 2 and both.reaches == ("W-11",)
    assert {ident: because.finding for ident, because in both.violates.items()} == {"P-1": "F-20", "P-8": "F-20"}
    lag = by_name["three/elect+stop/lag"]
    assert lag.selected.config.metadata is Propagation.LOG and not lag.violates
    assert lag.selected.config.clean_stops == 0, "narrowed"
    assert by_name["three/elect+stop/kill"].selected.config.clean_stops == 1
    assert by_name["three/alone"].reaches == ("W-11", "W-2")
    assert by_name["three/alone"].selected.config.broker_count == 3


def test_several_variants_are_part_of_the_name(tmp_path: Path) -> None:
    text = replaced(TEXT, "[set]", 'variants = ["kip_full", "legacy"]\n[set]', 1)
    other = replaced(text, "/kill", "/kill@legacy")
    names = [case.name for case in read_family(family(tmp_path, other)).cases]
    assert len(names) == 14 and "three/elect+stop/lag@legacy" in names


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("elections = 1", "elections = true", "three.toml:9"),
        ("elections = 1", "electoins = 1", "did you mean `elections`?"),
        ('reaches = ["W-11"]', "together = 4", "expected at most 3, the number of operations"),
        ('"kill-twice+*/kill"', '"kill-twice+*/fence"', "no configuration is called `kill-twice+*/fence`"),
        ('"*+stop/lag"', '"*+stop/lags"', "no combination is called `*+stop/lags`"),
        ("F-20", "kafka", "expected the id of a finding"),
        ('because = "three kills"\n', "", "`because` is missing"),
        ('name = "alone"', 'name = "Alone"', "small letters"),
        ('["P-1", "P-8"]', '["P-1", "P-1"]', "explained twice"),
        ("[faults.kill]", "[fault.kill]", "unknown key `fault`"),
        ("[set]", "[walk]\nwalks = 0\nsteps = 5\n[set]", "expected a whole number, 1 or more"),
        ('name = "alone"', 'name = "alone"\nvariant = "leagcy"', "legacy"),
        ("broker_count = 3", "broker_count = 9", "expected 1 to 8"),
        ("[[configuration]]", '[[configuration]]\nname = "alone"\n[[configuration]]', "called `alone`"),
    ],
)
def test_a_mistake_is_reported_with_its_place(tmp_path: Path, before: str, after: str, says: str) -> None:
    assert before in TEXT
    with pytest.raises(UsageFault) as fault:
        read_family(family(tmp_path, replaced(TEXT, before, after, 1)))
    assert says in fault.value.render()


def test_a_family_without_configurations(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="there is no configuration"):
        read_family(family(tmp_path, 'description = "none"\nscope = "two-brokers"\n'))


def test_the_packaged_suites_name_what_exists() -> None:
    model = load_whole_model()
    always, witnesses = ({fn.ident for fn in fns} for fns in (model.always, model.sometimes))
    cases = [case for family in packaged_suites() for case in family.cases]
    assert len(cases) == len({case.name for case in cases}) > 190
    assert {ident for case in cases for ident in case.violates} <= always
    assert {ident for case in cases for ident in case.reaches} <= witnesses
    findings = {because.finding for case in cases for because in case.violates.values()} - {None}
    hazards = {hazard.id for hazard in packaged_hazards()} | {hazard.id.rstrip("abc") for hazard in packaged_hazards()}
    assert findings <= hazards | {"F-51", "F-52", "F-58"}


def test_the_suite_requires_every_witness() -> None:
    """Without the deep families, so that each run of the suite shows that no property passes over nothing."""
    cases = [case for family in packaged_suites() for case in family.cases if not case.deep]
    assert {ident for case in cases for ident in case.reaches} == {fn.ident for fn in load_whole_model().sometimes}


def test_the_pairs_are_complete() -> None:
    """Each two operations of the issue meet with each kind of fault."""
    names = {case.name for family in packaged_suites() for case in family.cases if family.name == "pairs"}
    faults = ("crash", "kill", "fence", "stop", "shrink", "lost-answers", "lag")
    operations = ("reassign", "elect", "min-isr", "feature", "unregister", "shutdown", "recovery", "directory")
    for number, one in enumerate(operations):
        for other in operations[number + 1 :]:
            for fault in faults:
                assert fnmatch.filter(names, f"pairs/{one}+{other}/{fault}"), (one, other, fault)
