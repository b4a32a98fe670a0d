"""One-rule mutations that people invented: each is found where the table says, and by nothing less."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

import pytest

from elrcheck.base.requests import Selection
from elrcheck.checking.suite.suite_file import SuiteCase
from elrcheck.declared.select import resolve
from elrcheck.laboratory.rule_bench import RuleBench
from elrcheck.laboratory.rule_trials import AnswerBench, ControllerBench, packaged_releases
from support.edited_rules import edited
from support.places import TESTS

TABLE = tomllib.loads((TESTS / "data" / "invented_mutations.toml").read_text(encoding="utf-8"))["mutation"]
SECONDS = 120.0


@cache
def bench() -> RuleBench:
    return RuleBench()


@cache
def answers() -> AnswerBench:
    """The answers of 4.1.2, whose controller clears RECOVERING, and of a broker of 4.3.1."""
    chosen = ("kafka-4.1.2-controller.answers.xz", "kafka-4.3.1-broker.answers.xz")
    fns = bench().mutants.fns
    functions = {row["function"]: fns[row["function"]].source for row in TABLE}
    return AnswerBench(functions, [one for one in packaged_releases() if one.where in chosen])


@cache
def controller() -> ControllerBench:
    return ControllerBench()


def case_of(row: dict[str, Any]) -> SuiteCase:
    selection = Selection("kip_full", "two-brokers-quiet", tuple(row["set"]))
    return SuiteCase(
        name=row["title"],
        family="invented",
        selected=resolve(selection),
        selection=selection,
        deep=False,
        max_states=1_000_000,
        violates={},
        reaches=("W-11",),
    )


def test_every_mutation_is_a_change_of_the_model() -> None:
    for row in TABLE:
        variation = edited(bench().mutants.fns[row["function"]].source, row["before"], row["after"])
        assert bench().mutants.make(variation) is not None, row["title"]


@pytest.mark.slow
@pytest.mark.parametrize("row", TABLE, ids=[row["title"] for row in TABLE])
def test_an_invented_mutation_is_found_or_survives_for_a_reason(row: dict[str, Any]) -> None:
    variation = edited(bench().mutants.fns[row["function"]].source, row["before"], row["after"])
    changed = bench().mutants.make(variation)
    assert changed is not None
    if row["found"] == "Kafka":
        assert answers().judge(changed) is not None
        return
    if row["found"].startswith("CT"):
        broken = controller().judge(variation)
        assert broken is not None and broken.by == row["found"]
        return
    verdict = bench().judge_in(case_of(row), changed, SECONDS)
    if row["found"] == "nothing":
        assert row["because"] and (verdict is None or verdict.verdict in ("counted", "unaffected"))
    else:
        assert verdict is not None and (verdict.verdict, verdict.by) == ("found", row["found"])
