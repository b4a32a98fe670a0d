"""The gate: baselines read and written, what counts as a difference, and what it makes of one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from junitparser import JUnitXml
from referencing import Registry, Resource

from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import Selection
from elrcheck.base.typed.records import natural
from elrcheck.checking.baseline import BaselineEntry, Expected, Fired, Proof, baseline_text, read_baseline
from elrcheck.commands.gate import gate
from elrcheck.commands.gate.gate_diff import differences
from elrcheck.results.gate_report import Difference
from support.edits import patch_file, replaced
from support.invoked import Invoke
from support.places import SCHEMAS

EXPECTED = Expected(
    verdict="violated",
    counts={"generated": 10, "distinct": 5, "diameter": 3, "cut": 1, "deadlocks": 0},
    properties={"P-1": "violated at depth 2", "P-2": "holds", "P-10": "holds", "W-1": "reached at depth 1"},
    actions={"Fence": Fired(4, 1), "Kill": Fired(0, 0)},
    guards={"Fence": ("b is unfenced", 'says "so" \\ \x7f é'), "Kill": ()},
    proof=Proof("proved", ("A", "B"), ("P-2",), {"Fence": ("A", "P-21")}, {"Fence x A": "unknown"}),
    teeth={"Fence: b is unfenced": "noticed by P-2 at depth 3", "Fence: other": "unnoticed"},
    controller={"FENCE": "proved", "CANCEL": "refuted CT-1 CT-12"},
)
ENTRIES = (
    BaselineEntry(
        "all",
        Selection("legacy", "two-brokers", ("min_isr=1",)),
        ("P-*", "W-1"),
        False,
        True,
        True,
        True,
        5,
        100,
        30,
        EXPECTED,
    ),
    BaselineEntry("plain", Selection("kip_full", "my scopes/a.toml")),
)


# -------------------------------------------------------------------------------- the file


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    path.write_text(baseline_text(reversed(ENTRIES)), encoding="utf-8")
    read = read_baseline(path).entries
    assert tuple(replace(entry, place="") for entry in read) == ENTRIES
    line = next(n for n, t in enumerate(path.read_text().splitlines(), 1) if t == "[entry.plain]")
    assert read[1].place == f"{path}:{line}"
    assert baseline_text(read) == path.read_text(encoding="utf-8")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_bytes(bytes(range(256)))
    with pytest.raises(UsageFault, match="not UTF-8"):
        read_baseline(tmp_path / "b.toml")


def test_names_are_sorted_by_number() -> None:
    assert sorted(["P-10", "P-2", "W-1", "P-2b"], key=natural) == ["P-2", "P-2b", "P-10", "W-1"]


SMALL = 'schema = "elrcheck.baseline/1"\n[entry.a]\nvariant = "kip_full"\nscope = "two-brokers"\n'
FULL = baseline_text([replace(ENTRIES[0], name="a")])


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "`schema` is missing", ""),
        ('schema = "elrcheck.baseline/2"', "expected elrcheck.baseline/1", ":1"),
        (SMALL + "scop = 1\n", "unknown key `scop`", ":5"),
        (replaced(SMALL, 'variant = "kip_full"\n', ""), "`variant` is missing", ":2"),
        (SMALL + "proof = 1\n", "`proof`: expected true or false", ":5"),
        (SMALL + "max-depth = 0\n", "`max-depth`: expected a whole number, 1 or more", ":5"),
        (SMALL + "max-depth = true\n", "`max-depth`: expected a whole number, 1 or more, not true", ":5"),
        (SMALL + 'set = ["a=1", 2]\n', "`set`: expected a text, not 2", ":5"),
        (replaced(SMALL, "entry.a", 'entry."a b"'), "`a b` is not a valid entry name", ":2"),
        (SMALL + "proof = true\nliveness = true\n", "`proof`: not for liveness properties", ":5"),
        (replaced(FULL, "noticed by P-2 at", "seen by P-2 at"), "expected `noticed by P-1 at depth 3`", ""),
        (SMALL + "[other]\n", "unknown key `other`", ":5"),
        (SMALL + "[entry.a.expected]\n", "`verdict` is missing", ":5"),
        (replaced(FULL, 'P-2 = "holds"', 'P-2 = "hold"'), "`P-2`: expected a verdict", ""),
        (replaced(FULL, "distinct = 5", "distinct = -5"), "`distinct`: expected a whole number, 0 or more", ""),
        (replaced(FULL, "fired = 4, cut", "fired = 4, cuts"), "unknown key `cuts`", ""),
        (replaced(FULL, '"Fence x A"', '"Fence x C"'), "this is not one of the obligations", ""),
        ("entry = 1", "`schema` is missing", ""),
        ("[entry", "not valid TOML", ":1"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_line(tmp_path: Path, text: str, message: str, line: str) -> None:
    path = tmp_path / "b.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageFault) as caught:
        read_baseline(path)
    assert message in caught.value.message
    assert str(caught.value.where).startswith(f"{path}{line}")


# ----------------------------------------------------------------------------- differences


def differences_of(actual: Expected, *fail_on: str) -> list[Difference]:
    return list(differences(EXPECTED, actual, {"P-2": "Other"}, fail_on or ("drift",)))


def test_nothing_differs_from_itself() -> None:
    assert differences_of(EXPECTED) == []


def test_the_most_telling_difference_comes_first() -> None:
    actual = replace(
        EXPECTED,
        counts={**EXPECTED.counts, "distinct": 6},
        properties={"P-1": "holds", "P-2": "violated at depth 7", "W-1": "unreached", "P-11": "holds"},
        actions={"Fence": Fired(1, 1), "Kill": Fired(0, 0)},
        guards={"Fence": ("b is unfenced", "new"), "Kill": ()},
    )
    assert [(d.what, d.expected, d.found, d.kind, d.worse) for d in differences_of(actual)] == [
        ("P-2 Other", "holds", "violated at depth 7", "violated", True),
        ("W-1", "reached at depth 1", "unreached", "witness", True),
        ("P-1", "violated at depth 2", "holds", "verdict", False),
        ("P-10", "holds", "absent", "verdict", True),
        ("P-11", "absent", "holds", "verdict", False),
        ("action Fence", "fires", "only beyond the budgets", "coverage", True),
        ('Fence, guard: says "so" \\ \x7f é', "present", "absent", "guard", True),
        ("Fence, guard: new", "absent", "present", "guard", False),
        ("distinct states", "5", "6", "count", False),
    ]
    assert all(d.fails for d in differences_of(actual))


def test_how_often_an_action_fires_is_a_count() -> None:
    actual = replace(EXPECTED, actions={"Fence": Fired(5, 1), "Kill": Fired(0, 0)})
    assert [(d.what, d.expected, d.found, d.kind) for d in differences_of(actual)] == [
        ("action Fence, enabled", "4", "5", "count")
    ]
    assert not differences_of(actual, "regression")[0].fails


def test_obligations_are_compared_one_by_one() -> None:
    proof = Proof("refuted", ("A", "B"), ("P-2",), {"Fence": ("A", "P-21")}, {"Fence x P-21": "refuted"})
    changes = differences_of(replace(EXPECTED, proof=proof), "regression")
    assert [(d.what, d.expected, d.found, d.worse, d.fails) for d in changes] == [
        ("Fence x A", "unknown", "proved", False, False),
        ("Fence x P-21", "proved", "refuted", True, True),
    ]
    gone = differences_of(replace(EXPECTED, proof=None), "regression")
    assert [(d.what, d.found, d.worse) for d in gone] == [
        ("Fence x A", "absent", False),
        ("Fence x P-21", "absent", False),
        ("implied P-2", "absent", True),
        ("initially A", "absent", True),
        ("initially B", "absent", True),
    ]


def test_a_guard_that_nobody_misses_any_more_is_for_the_worse() -> None:
    teeth = {"Fence: b is unfenced": "unnoticed", "Fence: other": "noticed by P-1 at depth 9"}
    assert [(d.what, d.found, d.kind, d.worse) for d in differences_of(replace(EXPECTED, teeth=teeth))] == [
        ("without Fence: b is unfenced", "unnoticed", "teeth", True),
        ("without Fence: other", "noticed by P-1 at depth 9", "teeth", False),
    ]


def test_fail_on_names_what_is_a_failure() -> None:
    """P-1 is violated as expected: only `violated` minds."""
    assert differences_of(EXPECTED, "drift", "regression") == []
    (only,) = differences_of(EXPECTED, "violated")
    assert (only.subject, only.fails) == ("P-1", True)
    stopped = replace(EXPECTED, verdict="inconclusive", properties={"P-2": "inconclusive"})
    assert {d.kind for d in differences_of(stopped, "inconclusive") if d.fails} == {"inconclusive"}


# ------------------------------------------------------------------------------ the command


def test_without_a_baseline_it_says_how_to_make_one(invoke: Invoke, tmp_path: Path) -> None:
    code, out, err = invoke("gate")
    assert (code, out) == (2, "")
    assert "error[no-baseline]" in err and "--add NAME" in err
    (tmp_path / "elrcheck-baseline.toml").write_text('schema = "elrcheck.baseline/1"\n')
    code, _, err = invoke("gate")
    assert code == 5 and "error[empty-baseline]" in err


def test_wrong_use(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "elrcheck-baseline.toml").write_text(replaced(SMALL, "two-brokers", "two-broker"))
    for argv, words in (
        (("--only", "b"), "no entry `b`"),
        (("--scope", "two-brokers"), "--scope requires --add"),
        (("--fail-on", "drift,drip"), "'drip' is not one of"),
        (("--add", "a"), "the entry `a` exists already"),
        (("--add", "a b"), "not a valid entry name"),
        (("--add", ""), "not a valid entry name"),
        (("--add", "b", "--proof", "--liveness"), "--proof does not support liveness properties"),
        ((), "elrcheck-baseline.toml:2 (a)"),
    ):
        code, _, err = invoke("gate", *argv)
        assert code == 2 and words in err, err
    assert (tmp_path / "elrcheck-baseline.toml").read_text() == replaced(SMALL, "two-brokers", "two-broker")


def test_the_life_of_a_baseline(invoke: Invoke, tmp_path: Path) -> None:
    """Made, met, missed and updated, in every format; two-brokers-quiet has few states."""
    path = tmp_path / "elrcheck-baseline.toml"
    code, out, _ = invoke("gate", "--add", "quiet", "--scope", "two-brokers-quiet", "-p", "P-1", "-p", "W-7")
    assert code == 0 and "UPDATED  elrcheck-baseline.toml was written" in out
    (entry,) = read_baseline(path).entries
    assert entry.expected is not None and set(entry.expected.properties) == {"P-1", "W-7"}
    distinct = entry.expected.counts["distinct"]
    right = path.read_text()
    path.write_text(replaced(right, f"distinct = {distinct}\n", "distinct = 77\n"))
    code, out, _ = invoke("gate", "-o", "g.json", "-o", "g.xml", "-o", "g.sarif", "-o", "g.md")
    assert code == 1
    assert out.startswith(f"DRIFT  quiet: 1 difference  (kip_full, two-brokers-quiet; {path.name}:")
    assert f"distinct states  77        {distinct}" in out
    document = json.loads((tmp_path / "g.json").read_text())
    validated(document)
    (difference,) = document["entries"][0]["differences"]
    assert difference["subject"] == "distinct" and difference["expected"] == "77" and difference["fails"]
    (suite,) = JUnitXml.fromfile(str(tmp_path / "g.xml"))
    assert (suite.tests, suite.failures) == (5, 1)
    (result,) = json.loads((tmp_path / "g.sarif").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert result["ruleId"] == "gate-counts" and place["artifactLocation"]["uri"] == path.name
    assert path.read_text().splitlines()[place["region"]["startLine"] - 1] == "[entry.quiet]"
    assert "| ❌ counts | 1 difference |" in (tmp_path / "g.md").read_text()
    code, out, _ = invoke("gate", "--fail-on", "regression,violated")
    assert code == 0 and "TOLERATED  1 of 1 entries differ" in out
    code, out, _ = invoke("gate", "--update-baseline")
    assert code == 0 and "UPDATED  quiet: 1 difference" in out and path.read_text() == right
    code, out, _ = invoke("gate")
    assert code == 0 and "SAME  1 entry matches elrcheck-baseline.toml" in out


def test_what_others_write_into_the_baseline_meanwhile_stays(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two people, or two jobs, may update different entries of one file: each has its own."""
    path = tmp_path / "elrcheck-baseline.toml"
    path.write_text(replaced(SMALL, "two-brokers", "two-brokers-quiet"))
    run = gate._run

    def edited_meanwhile(edit: Callable[[str], str]) -> None:
        def run_and_edit(*args: Any) -> gate.Ran:
            path.write_text(edit(path.read_text()))
            return run(*args)

        monkeypatch.setattr(gate, "_run", run_and_edit)

    edited_meanwhile(lambda text: text + '[entry.b]\nvariant = "legacy"\nscope = "two-brokers"\n')
    assert invoke("gate", "--update-baseline")[0] == 0
    own, others = read_baseline(path).entries
    assert (own.name, others.name, others.expected) == ("a", "b", None) and own.expected is not None
    edited_meanwhile(lambda text: text.replace("two-brokers-quiet", "two-brokers"))
    code, _, err = invoke("gate", "--update-baseline", "--only", "a")
    assert code == 2 and "`a` was changed in the baseline while it ran" in err
    assert read_baseline(path).entries[0].selection.scope == "two-brokers"


@pytest.mark.slow
def test_a_limit_that_the_baseline_does_not_expect_is_no_pass(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "elrcheck-baseline.toml"
    assert invoke("gate", "--add", "quiet", "--scope", "two-brokers-quiet", "-p", "P-1")[0] == 0
    patch_file(path, '"two-brokers-quiet"\n', '"two-brokers-quiet"\nmax-depth = 2\n')
    code, out, _ = invoke("gate", "--fail-on", "violated")
    assert code == 3 and "INCONCLUSIVE  1 of 1 entries differ" in out
    assert invoke("gate", "--update-baseline")[0] == 0
    assert invoke("gate", "--fail-on", "inconclusive")[0] == 1


def validated(document: object) -> None:
    registry: Registry[object] = Registry().with_resources(
        (file.name, Resource.from_contents(json.loads(file.read_text(encoding="utf-8"))))
        for file in SCHEMAS.glob("*.json")
    )
    schema = json.loads((SCHEMAS / "elrcheck.gate-1.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema, registry=registry).validate(document)


@pytest.mark.slow
def test_teeth_are_part_of_a_baseline(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "elrcheck-baseline.toml"
    code, _, err = invoke("gate", "--add", "teeth", "--scope", "two-brokers", "-p", "P-27", "--teeth")
    assert code == 0, err
    (entry,) = read_baseline(path).entries
    assert entry.expected is not None and entry.expected.teeth is not None
    assert entry.expected.teeth["ExpandIsr: f has caught up"] == "noticed by P-27 at depth 5"
    code, out, _ = invoke("gate", "-o", "g.json")
    assert code == 0, out
    validated(json.loads((tmp_path / "g.json").read_text()))


@pytest.mark.slow
def test_proof_cells_are_part_of_a_baseline(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "elrcheck-baseline.toml"
    code, _, err = invoke("gate", "--add", "proof", "--scope", "two-brokers-quiet", "-p", "P-1", "--proof")
    assert code == 0, err
    (entry,) = read_baseline(path).entries
    assert entry.expected is not None and entry.expected.proof is not None
    assert entry.expected.proof.verdict == "proved" and not entry.expected.proof.open
    assert entry.expected.proof.properties == ("P-1",)
    path.write_text(
        replaced(
            path.read_text(),
            'scope = "two-brokers-quiet"\n',
            'scope = "two-brokers-quiet"\nset = ["join_requires_epoch_start=false"]\n',
        )
    )
    code, out, _ = invoke("gate", "-o", "g.json")
    assert code == 1 and "REFUTED" in out and "replayed  yes, in plain Python" in out
    validated(json.loads((tmp_path / "g.json").read_text()))
