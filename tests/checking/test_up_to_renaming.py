"""`check --symmetry`: refusals, and no search up to renaming is taken for one of all states."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Limits, Selection
from elrcheck.checking.check import run_check
from elrcheck.explorer.search.compiled import Search, SearchSettings
from elrcheck.lang.lowering.leaf_images import up_to_renaming
from elrcheck.results.check_report import CheckReport
from support.edits import replaced
from support.invoked import Invoke
from support.level_folder import Folder
from support.places import protocol
from support.spark_runs import lowered_protocol

COMMIT = protocol("two_phase")
ALL, MERGED = (288, 1146), (80, 318)
"""Distinct and generated states of two-phase commit, and those up to renaming."""


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def checked(symmetry: bool, **more: object) -> CheckReport:
    request = CheckRequest(Selection(model=COMMIT), symmetry=symmetry, workers=1, **more)  # type: ignore[arg-type]
    return run_check(request, Silent())


def size(report: CheckReport) -> tuple[int, int]:
    return report.search.distinct, report.search.generated


def test_kept_answers_and_programs_are_of_one_kind(own_store: Path) -> None:
    """The program of a model is stored once; what is searched of it is asked for by another name."""
    for symmetry, counts in ((False, ALL), (True, MERGED), (False, ALL), (True, MERGED)):
        report = checked(symmetry, kept=True)
        assert size(report) == counts
    assert report.kept and report.search.renamings == 6


def test_fingerprints_and_threads_make_no_difference(own_store: Path) -> None:
    for more in ({"fingerprint": 64}, {"fingerprint": 128}, {"workers": 2}):
        request = CheckRequest(Selection(model=COMMIT), symmetry=True, **more)  # type: ignore[arg-type]
        assert size(run_check(request, Silent())) == MERGED


@pytest.mark.slow
def test_states_on_disk_make_no_difference(tmp_path: Path) -> None:
    program = up_to_renaming(lowered_protocol(protocol("multi_paxos"))).program
    settings = SearchSettings(limits=Limits(memory=8 << 20), workers=2, keeper=Folder(tmp_path / "levels"))
    result = Search(program, settings).run(None, "complete")
    assert result.spilled and (result.generated, result.distinct) == (735918, 343796)


def test_a_run_goes_on_as_it_began(tmp_path: Path, invoke: Invoke) -> None:
    stopped = checked(True, limits=Limits(max_depth=8), run_dir=tmp_path / "run")
    assert stopped.verdict == "inconclusive"
    code, out, _ = invoke("check", "--model", str(COMMIT), "--resume", "run", "--format", "json")
    search = json.loads(out)["search"]
    assert (code, search["distinct"], search["generated"], search["renamings"]) == (0, *MERGED, 6)


def test_a_run_of_all_states_does_not_go_on_up_to_renaming(tmp_path: Path, invoke: Invoke) -> None:
    checked(False, limits=Limits(max_depth=8), run_dir=tmp_path / "run")
    code, _, err = invoke("check", "--model", str(COMMIT), "--resume", "run", "--symmetry")
    assert code == 2 and "`symmetry` was False and is now True" in err


def test_traces_are_behaviours_and_are_stored(tmp_path: Path, invoke: Invoke) -> None:
    """A manager that is prepared may abort here; the trace is as short as without --symmetry."""
    broken = tmp_path / "broken.py"
    guard = (
        '    require(s.rm[r] == Status.WORKING, "r is working")\n    return replace(s, rm=put(s.rm, r, Status.ABORTED))'
    )
    broken.write_text(replaced(COMMIT.read_text(), guard, guard.partition("\n")[2]))
    depths = []
    for options in (("--symmetry",), ()):
        code, out, _ = invoke("check", "--model", str(broken), *options, "--run-dir", "run", "--format", "json")
        (violated,) = [each for each in json.loads(out)["properties"] if each["verdict"] == "violated"]
        depths.append((code, violated["id"], violated["depth"], len(violated["counterexample"]["steps"])))
        assert invoke("replay", f"run/{violated['trace']}", "--model", str(broken))[0] == 0
        (tmp_path / "run").rename(tmp_path / f"run{len(depths)}")
    assert depths[0] == depths[1] and depths[0][0] == 1


@pytest.mark.parametrize(
    ("file", "options", "says"),
    [
        ("peterson", (), "the model has no symmetric sort with two members or more"),
        ("two_phase", ("--set", "rms=1"), "the model has no symmetric sort with two members or more"),
        ("two_phase", ("--set", "rms=8"), "there are 40,320 renamings of the members of Manager, more than 5,040"),
    ],
)
def test_what_cannot_be_renamed_is_refused(file: str, options: tuple[str, ...], says: str, invoke: Invoke) -> None:
    for verb in (("check",), ("tlc", "--count"), ("export", "spec", "--out", "spec")):
        code, _, err = invoke(*verb, "--symmetry", "--model", str(protocol(file)), *options)
        assert code == 2 and says in re.sub(r"\s+", " ", err), verb


def test_kafka_has_no_symmetric_sort(invoke: Invoke) -> None:
    code, _, err = invoke("check", "--symmetry", "--scope", "two-brokers-quiet")
    assert code == 2 and "no symmetric sort" in err


def test_liveness_is_refused(tmp_path: Path, invoke: Invoke) -> None:
    text = replaced(protocol("two_phase").read_text(), "sometimes, state\n", "sometimes, state, LeadsTo, leads_to\n")
    body = "    return LeadsTo(premise=s.sent_commit, conclusion=s.sent_commit)\n"
    live = tmp_path / "live.py"
    head = '@leads_to("L-1")\ndef Ends(c: Config, s: State) -> LeadsTo:\n    """It ends."""\n'
    live.write_text(replaced(text, "MODEL = ", f"{head}{body}\n\nMODEL = "))
    code, _, err = invoke("check", "--model", str(live), "--liveness", "--symmetry")
    assert code == 2 and "--symmetry cannot decide liveness" in err
