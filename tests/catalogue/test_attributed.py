"""A counterexample is named after the known finding that it is an instance of."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from elrcheck.catalogue.evidence.searched import packaged_searches
from elrcheck.catalogue.kafka_partition import stakes
from elrcheck.invariants.modules import load_whole_model
from support.invoked import Invoke


@pytest.mark.parametrize(
    ("finding", "named"),
    [
        ("F-1", {"P-14": ["F-1"], "P-19": ["F-1"]}),
        ("F-2", {"P-1": ["F-2"], "P-2": ["F-2"], "P-8": ["F-2"], "P-14": ["F-2"]}),
        ("F-53", {"P-1": ["F-53"], "P-2": ["F-53"], "P-3": ["F-53"], "P-8": ["F-53"]}),
        ("F-26", {"P-18": [], "P-19": []}),  # the model has no repair of it
    ],
)
def test_the_shortest_search_of_a_finding_names_it(
    finding: str, named: dict[str, list[str]], invoke: Invoke, tmp_path: Path
) -> None:
    search = min((each for each in packaged_searches() if each.finding == finding), key=lambda each: each.states)
    _, *words = shlex.split(search.command)
    code, out, _ = invoke(*words, "--format", "json", "--run-dir", str(tmp_path / "run"))
    properties = {each["id"]: each for each in json.loads(out)["properties"]}
    assert code == 1
    assert {ident: [each["finding"] for each in properties[ident]["instance_of"]] for ident in named} == named


def test_it_stands_by_the_counterexample(invoke: Invoke, tmp_path: Path) -> None:
    search = min((each for each in packaged_searches() if each.finding == "F-2"), key=lambda each: each.states)
    _, *words = shlex.split(search.command)
    _, out, _ = invoke(*words, "--run-dir", str(tmp_path / "run"), "-o", f"html:{tmp_path / 'page.html'}")
    (first, *_) = [line for line in out.splitlines() if line.startswith("      finding")]
    assert "F-2: " in first and "`elrcheck show F-2`" in first
    assert "(elrcheck show F-2)" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_every_property_says_what_is_at_stake(invoke: Invoke, tmp_path: Path) -> None:
    assert stakes().keys() == {fn.ident for fn in load_whole_model().always}
    question = ("--scope", "two-brokers-quiet", "--variant", "code_4_1", "--set", "reassignments=1", "-p", "P-12")
    _, out, _ = invoke("check", *question, "--run-dir", str(tmp_path / "run"))
    (line,) = [line for line in out.splitlines() if line.startswith("      at stake")]
    assert line.split(maxsplit=2)[2] == stakes()["P-12"]
