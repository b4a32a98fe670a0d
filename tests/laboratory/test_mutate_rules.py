"""`elrcheck mutate --rules`: changes found, explained and left over; resuming; what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.invariants.modules import load_whole_model
from elrcheck.kafka.mutation.rule_proof import partition_mutants
from elrcheck.laboratory import rule_survey
from elrcheck.laboratory.rule_survey import packaged_equivalents, read_equivalents
from elrcheck.mutation.rule_mutants import RuleMutants
from support.invoked import Invoke

ASK = ("mutate", "--function", "fence_target", "--no-controller", "--workers", "1", "--sample", "4", "--run-dir", "run")
CONFIGURATION = "pairs/elect+unregister/fence"


@pytest.fixture(scope="module")
def mutants() -> RuleMutants:
    return partition_mutants(load_whole_model())


@pytest.mark.slow
def test_changes_are_found_kept_and_explained(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_survey, "_configurations", lambda *_: ((CONFIGURATION,), (), ()))
    code, out, _ = invoke(*ASK, "-f", "json")
    report = json.loads(out)
    verdicts = {rule["name"]: rule["verdict"] for rule in report["rules"]}
    assert len(verdicts) + report["rule_survey"]["ill_typed"] == 4
    assert "found" in verdicts.values()
    survivors = [name for name, verdict in verdicts.items() if verdict == "unaffected"]
    assert code == (1 if survivors else 0)
    noticed = next(rule for rule in report["rules"] if rule["verdict"] == "found")
    assert noticed["place"].startswith("model/control_plane/controller.py:") and noticed["by"]
    # The same command takes every answer from the ledger.
    again = json.loads(invoke(*ASK, "-f", "json")[1])
    assert again["rule_survey"]["resumed"] == 4 and again["rules"] == report["rules"]
    # A reason settles a survivor; a reason for what is found is a contradiction.
    named = [noticed["name"], *survivors]
    table = tmp_path / "table.toml"
    table.write_text("".join(f"[[equivalent]]\nmutants = [{json.dumps(name)}]\nbecause = 'why'\n" for name in named))
    monkeypatch.setattr(rule_survey, "packaged_equivalents", lambda: table)
    code, out, _ = invoke(*ASK, "-f", "json")
    verdict_of = {rule["name"]: rule["verdict"] for rule in json.loads(out)["rules"]}
    assert verdict_of[noticed["name"]] == "contradicted" and code == 1
    assert all(verdict_of[name] == "equivalent" for name in survivors)
    # The folder of another question is refused.
    monkeypatch.setattr(rule_survey, "_configurations", lambda *_: (("pairs/elect+unregister/kill",), (), ()))
    code, _, err = invoke(*ASK)
    assert code == 2 and "resume-mismatch" in err


def test_what_is_refused(invoke: Invoke) -> None:
    code, _, err = invoke("mutate", "--function", "fenced_partitoin")
    assert code == 2 and "did you mean `fenced_partition`?" in err
    assert invoke("mutate", "--rules", "--hazard", "F-1")[0] == 2
    assert invoke("mutate", "--sample", "3")[0] == 2


@pytest.mark.slow
def test_the_table_of_equivalents_is_about_changes_that_exist(mutants: RuleMutants, tmp_path: Path) -> None:
    existing = {name for _, name in mutants.names()}
    assert len(existing) > 1500
    read_equivalents(packaged_equivalents(), existing)
    stale = tmp_path / "stale.toml"
    stale.write_text('[[equivalent]]\nmutants = ["Fence: a -> b"]\nbecause = "no"\n')
    with pytest.raises(UsageFault, match="no change of the model is called"):
        read_equivalents(stale, existing)


def test_only_rules_of_the_protocol_are_changed(mutants: RuleMutants) -> None:
    names = set(mutants.functions)
    assert {"Fence", "fence_target", "elect", "Fetch"} <= names
    assert not names & {"WithinBudget", "LeaderCompleteness", "committed_after"}


def test_budgets_are_no_rules(mutants: RuleMutants) -> None:
    """`require(c.kills > 0, ..)` bounds a search; the other guards of the action are rules."""
    names = [name for _, name in mutants.names(("Kill",))]
    assert names and not any("kills" in name for name in names)
