"""Guards that were renamed are known by their old names in baselines of the release before."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from elrcheck.catalogue.baseline_notation.baseline import read_baseline
from elrcheck.catalogue.baseline_notation.guard_aliases import RENAMED, guard_now
from elrcheck.invariants.modules import load_checked_model
from elrcheck.lang.ir import guard_names
from support.edits import replaced

Invoke = Callable[..., tuple[int, str, str]]
OLD, NEW = "b is up", "b is running or starting"


def test_every_alias_leads_from_a_name_that_is_gone_to_one_that_is_there() -> None:
    guards = {fn.name: guard_names(fn) for fn in load_checked_model().actions}
    for action, renamed in RENAMED.items():
        assert set(renamed.values()) <= set(guards[action]), action
        assert not set(renamed) & set(guards[action]), action


def test_only_the_guard_of_that_action_was_renamed() -> None:
    assert guard_now("Crash", OLD) == NEW
    assert guard_now("Start", OLD) == OLD


def test_a_baseline_with_an_old_name_is_the_same_and_says_so(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "elrcheck-baseline.toml"
    assert invoke("gate", "--add", "quiet", "--scope", "two-brokers-quiet", "-p", "P-1")[0] == 0
    right = path.read_text()
    assert right.count(f'"{NEW}"') == 2, "guards of Crash and Kill"
    path.write_text(replaced(right, f'"{NEW}"', f'"{OLD}"'))
    (entry,) = read_baseline(path).entries
    assert entry.renamed == (f"Crash: {OLD}", f"Kill: {OLD}")
    assert entry.expected is not None and NEW in entry.expected.guards["Crash"]
    code, out, _ = invoke("gate", "-o", "g.json")
    assert code == 0 and "SAME  1 entry" in out
    assert "2 guards of quiet have new names, such as that of Crash: b is up" in out
    (told,) = json.loads((tmp_path / "g.json").read_text())["entries"]
    assert tuple(told["renamed"]) == entry.renamed
    assert invoke("gate", "--update-baseline")[0] == 0
    assert path.read_text() == right


@pytest.mark.parametrize(("name", "now"), [(OLD, NEW), (NEW, NEW)])
def test_what_notices_a_missing_guard_is_kept_under_the_new_name(
    invoke: Invoke, tmp_path: Path, name: str, now: str
) -> None:
    path = tmp_path / "elrcheck-baseline.toml"
    assert invoke("gate", "--add", "quiet", "--scope", "two-brokers-quiet", "-p", "P-1")[0] == 0
    path.write_text(path.read_text() + f'\n[entry.quiet.expected.teeth]\n"Crash: {name}" = "unnoticed"\n')
    (entry,) = read_baseline(path).entries
    assert entry.expected is not None and entry.expected.teeth == {f"Crash: {now}": "unnoticed"}
