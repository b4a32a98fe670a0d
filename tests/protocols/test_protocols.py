"""Models that anybody writes: counted by all engines as others have counted them, broken, traced, and refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import elrcheck
from elrcheck.base.requests import Selection
from elrcheck.declared.declared_model import declared
from elrcheck.declared.select import resolve
from elrcheck.explorer.search.reference import search
from support.edits import replaced
from support.invoked import Invoke
from support.places import protocol, protocol_files

TWO_PHASE = protocol("two_phase")
# File, settings: (generated, distinct, diameter). Distinct states and diameters are those of the manifests of the TLA+
# Examples and of Stateright; where other numbers of generated states are published, the file says why.
COUNTS = {
    ("alternating_bit", ()): (1392, 240, 10),
    ("async_termination", ()): (53271, 4097, 14),
    ("atomic_commit", ()): (218352, 54944, 21),
    ("atomic_commit", ("participants=2", "forwards=true")): (13944, 4284, 19),
    ("bakery", ()): (10659, 2303, 39),
    ("barrier", ()): (194, 64, 7),
    ("btree", ()): (2820091, 374727, 38),
    ("chang_roberts", ()): (227, 137, 10),
    ("crdt", ()): (600001, 25000, 16),
    ("disruptor", ()): (28049, 8496, 82),
    ("disruptor_writers", ()): (422781, 112929, 81),
    ("echo", ()): (116, 75, 16),
    ("ewd840", ()): (1817, 302, 9),
    ("ewd998", ()): (2609134, 321370, 47),
    ("ewd998_bags", ()): (2609134, 321370, 47),
    ("fast_paxos", ()): (36868401, 3043684, 22),
    ("inner_fifo", ()): (9660, 3864, 11),
    ("internal_memory", ()): (21400, 4408, 10),
    ("kraft", ()): (715365, 124908, 26),
    ("kraft", ("led=false", "longest=1", "pre_vote=false")): (113740, 30117, 24),
    ("kraft", ("pre_vote=false",)): (28537, 7897, 20),
    ("kraft", ("restarts=1",)): (3401135, 533340, 28),
    ("kraft", ("voters=2", "changes=2", "longest=3")): (6296967, 1103736, 36),
    ("lock_with_history", ()): (41, 28, 10),
    ("multi_paxos", ()): (4414927, 2062561, 28),
    ("nbac_guerraoui", ()): (159538, 24922, 16),
    ("nbac_raynal", ()): (49592, 3016, 7),
    ("paxos", ()): (23563, 3921, 17),
    ("paxos_commit", ()): (15439235, 1321761, 28),
    ("paxos_servers", ()): (32971, 16668, 21),
    ("paxos_voting", ()): (41017, 6752, 16),
    ("peterson", ()): (77, 42, 11),
    ("quorum_register", ()): (875, 544, 25),
    ("raft", ()): (6422851, 980295, 30),
    ("replicated_log", ()): (11617, 1363, 13),
    ("request_store", ()): (28585, 2641, 9),
    ("reusable_barrier", ()): (104515, 29279, 93),
    ("safe_voting", ()): (27727, 6962, 14),
    ("sailfish", ()): (300492, 109604, 16),
    ("simple_regular", ()): (1454776, 277726, 25),
    ("simplified_paxos", ()): (491173, 48514, 22),
    ("single_copy_register", ()): (121, 93, 9),
    ("snapshot_store", ()): (314965, 28305, 17),
    ("snapshot_store", ("transactions=3",)): (56349379, 3409605, 23),
    ("span_tree", ()): (10278, 1236, 5),
    ("transaction_commit", ()): (94, 34, 7),
    ("two_phase", ()): (1146, 288, 11),
    ("two_phase", ("rms=5",)): (58146, 8832, 17),
    ("two_phase_backup", ()): (5343, 1245, 15),
    ("write_through_cache", ()): (28170, 5196, 18),
}
LARGE = (
    "atomic_commit",
    "paxos_commit",
    "simple_regular",
    "crdt",
    "nbac_guerraoui",
    "ewd998",
    "ewd998_bags",
    "btree",
    "disruptor_writers",
    "sailfish",
    "raft",
    "kraft",
    "multi_paxos",
    "fast_paxos",
)
"""TLC takes minutes for them; what they are made of is in the others, or in smaller scopes of theirs."""
PROVED = ("alternating_bit", "chang_roberts", "ewd840", "paxos_voting", "peterson", "two_phase")
QUICK = 30_000
"""How many steps the plain search and the vectors of numpy take in a second or two."""
LONG_TO_COMPILE = ("paxos_servers", "quorum_register", "safe_voting")
"""Their rules make much machine code."""
ABORT = "    return replace(s, rm=put(s.rm, r, Status.ABORTED))"
GUARD = f'    require(s.rm[r] == Status.WORKING, "r is working")\n{ABORT}'


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Two-phase commit in which a prepared manager may abort."""
    file = tmp_path / "broken.py"
    file.write_text(replaced(TWO_PHASE.read_text(), GUARD, ABORT))
    return file


def _case(case: tuple[str, tuple[str, ...]]) -> object:
    marks = [pytest.mark.slow] if COUNTS[case][0] > QUICK or case[0] in LONG_TO_COMPILE else []
    return pytest.param(case, marks=marks, id="-".join((case[0], *case[1])))


@pytest.mark.parametrize("case", [_case(case) for case in COUNTS])
def test_all_engines_count_what_others_counted(case: tuple[str, tuple[str, ...]]) -> None:
    (name, settings), counts = case, COUNTS[case]
    file = protocol(name)
    selected = resolve(Selection(overrides=settings, model=file))
    for engine in ("local", "numpy"):
        counted = elrcheck.check(model=file, settings=selected.overrides, engine=engine).search
        assert (counted.generated, counted.distinct, counted.diameter) == counts, engine
    if counts[0] < 2_000_000:
        plain = search(selected.declared.whole(), selected.config)
        assert (plain.generated, plain.distinct, plain.diameter) == counts


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case, marks=pytest.mark.slow if case[0] in LONG_TO_COMPILE else (), id="-".join((case[0], *case[1]))
        )
        for case in COUNTS
    ],
)
def test_the_compiled_engine_counts_what_others_counted(case: tuple[str, tuple[str, ...]]) -> None:
    """Nearly every one in every run, for it takes seconds for all of them."""
    name, settings = case
    counted = elrcheck.check(model=protocol(name), settings=dict(part.split("=") for part in settings)).search
    assert (counted.generated, counted.distinct, counted.diameter) == COUNTS[case]


@pytest.mark.tlc
@pytest.mark.parametrize(
    "name",
    [
        name if name == "two_phase" else pytest.param(name, marks=pytest.mark.slow)
        for name in sorted(file.stem for file in protocol_files() if file.stem not in LARGE)
    ],
)
def test_tlc_counts_the_same(name: str, invoke: Invoke) -> None:
    code, out, _ = invoke("tlc", "--count", "--model", str(protocol(name)), "--format", "json")
    assert (code, json.loads(out)["verdict"]) == (0, "same")


@pytest.mark.tlc
@pytest.mark.slow
def test_tlc_counts_the_same_in_a_variant(invoke: Invoke) -> None:
    small = ("--variant", "non-blocking", "--set", "participants=2")
    code, out, _ = invoke("tlc", "--count", "--model", str(protocol("atomic_commit")), *small, "--format", "json")
    assert (code, json.loads(out)["verdict"]) == (0, "same")


def test_a_message_that_a_bag_has_no_entry_for_is_not_lost_unnoticed(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "narrow.py"
    file.write_text(replaced(protocol("ewd998_bags").read_text(), "lo=-8, hi=8", "lo=-6, hi=6", 1))
    code, out, _ = invoke("check", "--model", str(file))
    assert code == 3 and "overflow  network[0][" in out and "violated" not in out


def test_peterson_needs_the_turn(invoke: Invoke) -> None:
    code, out, _ = invoke("check", "--model", str(protocol("peterson")), "--set", "yields=false")
    assert code == 1 and "P-1 MutualExclusion  violated at depth 8" in out


def test_nobody_starves_in_peterson_and_a_model_without_fairness_shows_why(invoke: Invoke, tmp_path: Path) -> None:
    text = (protocol("peterson")).read_text()
    unfair = tmp_path / "unfair.py"
    unfair.write_text(replaced(text, "@action(fairness=GOES_ON)\ndef Enter", "@action\ndef Enter", 1))
    assert invoke("check", "--liveness", "--model", str(protocol("peterson")))[0] == 0
    code, out, _ = invoke("check", "--liveness", "--model", str(unfair))
    assert code == 1 and "V-1 NobodyStarves  violated" in out


@pytest.mark.tlc
def test_a_guard_less_is_found_and_its_trace_serves_all_verbs(broken: Path, invoke: Invoke) -> None:
    code, out, _ = invoke("check", "--model", str(broken))
    assert code == 1 and "P-1 Consistent  violated at depth 9  (broken, default)" in out
    assert "because  process 0 is working" not in out and "because  manager 0 is working" in out
    assert "tried" not in out, "budgets and findings are those of Kafka's partition"
    step = re.search(r"next +elrcheck (explain (\S+) --model (\S+))", out)
    assert step is not None
    assert invoke(*step[1].split())[0] == 1
    trace, model = step[2], ("--model", step[3])
    assert invoke("replay", trace, *model)[0] == 0
    assert "ChooseToAbort(r=0)" in invoke("trace", "show", trace, *model)[1]
    assert "CONFIRMED" in invoke("tlc", trace, *model)[1]
    assert invoke("export", "trace", trace, *model, "-f", "itf", "--out", "out")[0] == 0
    assert invoke("simulate", "--walks", "2000", "--seed", "1", *model)[0] == 1
    assert "459 distinct" in invoke("explore", *model)[1]
    shorter = invoke("trace", "minimise", trace, *model)[1]
    assert "9 steps -> " in shorter and "Manager: 3 -> 2" in shorter


def test_a_changed_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a notebook, where one process checks a model after each edit."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "edited.py"
    for text in (TWO_PHASE.read_text(), replaced(TWO_PHASE.read_text(), GUARD, ABORT)):
        file.write_text(text)
        verdict = elrcheck.check(model=file).verdict
    assert verdict == "violated"


def test_a_trace_does_not_run_the_model_that_made_it(broken: Path, invoke: Invoke) -> None:
    ran = broken.with_name("ran")
    with open(broken, "a") as file:
        file.write(f"\nimport pathlib\n\npathlib.Path({str(ran)!r}).touch()\n")
    invoke("check", "--model", str(broken), "--run-dir", "run")
    ran.unlink()
    code, _, err = invoke("replay", "run/P-1.trace.json")
    assert code == 2 and f"the trace was stored with --model {broken}, which is missing here" in err
    assert not ran.exists()


def test_an_unfinished_run_is_resumed_with_the_model_named_again(invoke: Invoke) -> None:
    model = ("--model", str(TWO_PHASE), "--scope", "five")
    assert invoke("check", *model, "--max-depth", "5", "--run-dir", "run")[0] == 3
    assert invoke("check", "--resume", "run")[0] == 2
    code, out, _ = invoke("check", "--resume", "run", "--model", str(TWO_PHASE))
    assert code == 0 and "8 832 distinct, 58 146 generated" in out.replace("\u202f", " ")


def test_models_with_the_same_names_have_folders_of_their_own(broken: Path, invoke: Invoke, tmp_path: Path) -> None:
    other = tmp_path / "other" / "broken.py"
    other.parent.mkdir()
    other.write_text(broken.read_text())
    for file in (broken, other):
        assert invoke("check", "--model", str(file))[0] == 1
    assert len(list((tmp_path / ".elrcheck" / "runs").iterdir())) == 2


def test_a_folder_is_a_model(broken: Path, invoke: Invoke, tmp_path: Path) -> None:
    """Its modules import each other as those of any package do."""
    folder = tmp_path / "commit"
    folder.mkdir()
    text = broken.read_text()
    (folder / "rules.py").write_text(text.partition("MODEL = ")[0])
    (folder / "__init__.py").write_text(
        "from elrcheck.lang.load import ProtocolModel\n"
        "from . import rules\n\n"
        "MODEL = ProtocolModel(rules.State, rules.Config, modules=(rules,))\n"
    )
    code, out, _ = invoke("check", "--model", str(folder))
    assert code == 1 and "(commit, default)" in out
    (tmp_path / "empty").mkdir()
    assert "there is no file" in invoke("check", "--model", str(tmp_path / "empty"))[2]


@pytest.mark.parametrize("name", PROVED)
def test_its_lemmas_prove_a_protocol(name: str, invoke: Invoke) -> None:
    code, out, _ = invoke("prove", "--model", str(protocol(name)), "--fresh")
    assert code == 0 and f"PROVED  {name}: " in out and "replayed in plain Python" in out


def test_a_step_out_of_its_types_is_refuted(invoke: Invoke) -> None:
    """Without a lemma that bounds it, the log may be full: what is appended then is not a state to compare."""
    code, out, _ = invoke("prove", "--model", str(protocol("replicated_log")), "--fresh")
    assert code == 1 and "does not preserve Types" in out and "steps of the solver replayed in plain Python" in out


def test_a_proof_that_fails_shows_a_step_and_is_bound_to_what_it_can(broken: Path, invoke: Invoke) -> None:
    code, out, _ = invoke("prove", "-v", "--model", str(broken))
    assert code == 1 and "ChooseToAbort does not preserve" in out and "replayed  yes, in plain Python" in out
    assert "follows   from the lemmas needed" in out and re.search(r"P-1 +Consistent +follows", out)
    code, _, err = invoke("prove", "--model", str(broken), "--assume", "complete-winners")
    assert code == 2 and "--assume is about the proof of Kafka's partition" in err
    code, _, err = invoke("prove", "--controller", "--model", str(broken))
    assert code == 2 and "Kafka's controller" in err


@pytest.mark.parametrize("name", ["alternating_bit", "chang_roberts", "two_phase"])
def test_another_solver_discharges_the_certificate_of_a_protocol(name: str, invoke: Invoke, tmp_path: Path) -> None:
    model = ("--model", str(protocol(name)))
    certificate = str(tmp_path / "certificate")
    assert invoke("prove", *model, "--certificate", certificate)[0] == 0
    code, out, _ = invoke("prove", "--check-certificate", certificate, *model, "--solver", "cvc5", "-f", "json")
    scripts = json.loads(out)["scripts"]
    assert code == 0 and all(each["questions"] == each["discharged"] and each["fit"] == "same" for each in scripts)
    assert sum(each["discharged"] for each in scripts) > 70


def test_a_certificate_fits_its_own_model_only(broken: Path, invoke: Invoke, tmp_path: Path) -> None:
    certificate = str(tmp_path / "certificate")
    assert invoke("prove", "--model", str(TWO_PHASE), "--certificate", certificate, "--solver", "z3")[0] == 0
    code, out, _ = invoke("prove", "--check-certificate", certificate, "--model", str(TWO_PHASE))
    assert code == 0 and "FITS  two_phase" in out
    code, out, _ = invoke("prove", "--check-certificate", certificate, "--model", str(broken))
    assert code == 1 and "DIFFERS" in out and "ChooseToAbort" in out
    code, _, err = invoke("prove", "--check-certificate", certificate)
    assert code == 2 and "error[certificate-other-model]" in err and "has no property `Consistent`" in err
    own, kafka = (declared(model).digest()[:12] for model in (TWO_PHASE, None))
    assert f"sources of the certificate  {own}" in err and f"sources of the model        {kafka}" in err
    code, _, err = invoke("prove", "--check-certificate", certificate, "--model", str(protocol("peterson")))
    assert code == 2 and "error[certificate-other-model]" in err and "--model FILE" in err


def test_a_grid_over_a_protocol_finds_the_least_that_breaks(invoke: Invoke) -> None:
    model = ("--model", str(protocol("paxos")))
    code, out, _ = invoke("sweep", "--sweep", "reports=true,false", "--sweep", "values=1,2", *model, "-f", "json")
    rows = {tuple(row["settings"].values()): row for row in json.loads(out)["rows"]}
    assert code == 1 and [rows[key]["verdict"] for key in ((True, 2), (False, 1), (False, 2))] == [
        "holds",
        "holds",
        "violated",
    ]
    assert rows[True, 2]["distinct"] == COUNTS["paxos", ()][1]
    code, _, err = invoke("sweep", "--sweep", "acceptor=1,2", *model)
    assert code == 2 and "did you mean `acceptors`?" in err


def test_the_guards_of_a_protocol_are_surveyed(invoke: Invoke) -> None:
    code, out, _ = invoke("mutate", "--guards", "--model", str(TWO_PHASE), "-f", "json")
    guards = {(each["action"], each["guard"]): each["verdict"] for each in json.loads(out)["guards"]}
    assert code == 0 and guards["ChooseToAbort", "r is working"] == "noticed"
    assert guards["Prepare", "r is working"] == "unnoticed"
    code, _, err = invoke("mutate", "--guards", "--hazard", "F-1", "--model", str(TWO_PHASE))
    assert code == 2 and "hazards are about Kafka's partition" in err


def test_the_parts_of_a_protocol_are_listed_and_shown(invoke: Invoke) -> None:
    model = ("--model", str(TWO_PHASE))
    assert "ReceivePrepared" in invoke("list", "actions", *model)[1]
    assert "rms=5" in invoke("list", "scopes", *model)[1]
    assert "CommitNeedsAll" in invoke("list", "lemmas", *model)[1]
    assert "all resource managers are prepared" in invoke("show", "Commit", *model)[1]
    assert invoke("show", "P-9", *model)[0] == invoke("list", "findings", *model)[0] == 2
    assert "scope five" in invoke("config", "check", *model, "--scope", "five")[1]


def test_walks_begin_in_every_initial_state(invoke: Invoke) -> None:
    """In a model with 192 of them, each of the first walks begins in another one."""
    model = ("--model", str(protocol("ewd840")))
    code, out, _ = invoke("simulate", *model, "--walks", "192", "--seed", "1", "-f", "json")
    assert code == 3 and json.loads(out)["search"]["distinct_estimate"] > 200
    broken = (*model, "--set", "blackens=false")
    code, out, _ = invoke("simulate", *broken, "--walks", "4096", "--seed", "1", "--run-dir", "run")
    assert code == 1
    assert invoke("replay", "run/P-1.trace.json", *broken)[0] == 0


def test_every_protocol_has_its_counts_and_documents() -> None:
    assert {file.stem for file in protocol_files()} == {name for name, _ in COUNTS}
    for name in {name for name, _ in COUNTS}:
        model = resolve(Selection(model=protocol(name))).declared.whole()
        assert all(fn.doc for fn in (*model.actions, *model.checks))
        assert model.always and model.sometimes
