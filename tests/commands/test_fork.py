"""`elrcheck model fork`: the copy of Kafka's partition is the same program, stands alone, and may be changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from elrcheck.base.requests import Selection
from elrcheck.checking.suite.suite_counts import packaged_counts
from elrcheck.checking.suite.suite_file import packaged_suites
from elrcheck.commands.new_model import write_fork
from elrcheck.declared.declared_model import declared
from elrcheck.declared.model_file import folders_of_models
from elrcheck.declared.select import resolve
from elrcheck.lang.lowering.lower import lower
from elrcheck.lang.lowering.program_digest import numbered_digest
from support.invoked import Invoke

KAFKA = {
    ("code_4_0", "two-brokers"): "93506ade62fc5b04",
    ("legacy", "two-brokers"): "2952d7abef4f784f",
    ("code_4_3", "three-brokers"): "2e3061d7d3a6062b",
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forks") / "mine"
    write_fork(folder, None)
    return folder


def edit(folder: Path, file: str, old: str, new: str) -> None:
    text = (folder / file).read_text()
    assert text.count(old) == 1, (file, old, text.count(old))
    (folder / file).write_text(text.replace(old, new))


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "scope"), KAFKA)
def test_the_copy_is_the_same_program(copy: Path, variant: str, scope: str) -> None:
    selected = resolve(Selection(variant, scope, model=copy))
    model = selected.declared.whole()
    program = lower(model, selected.config, model.checks).program
    assert numbered_digest(program).startswith(KAFKA[variant, scope])


def test_the_lock_of_an_editor_is_no_file_of_the_model(copy: Path) -> None:
    """Emacs marks a file that has unsaved changes with a link beside it that leads nowhere."""
    locks = [copy / ".#state.py", copy / ".#two-brokers.toml"]
    for lock in locks:
        lock.symlink_to("me@host.1234:5678")
    try:
        assert resolve(Selection(scope="two-brokers", model=copy)).declared.whole().actions
        texts = declared(copy).source_texts()
        assert "__init__.py" in texts and not any(".#" in name for name in texts)
    finally:
        for lock in locks:
            lock.unlink()


def test_it_has_the_lemmas_variants_scopes_and_defaults_of_kafkas_partition(copy: Path) -> None:
    mine, kafka = resolve(Selection(model=copy)), resolve(Selection())
    names = [fn.name for fn in kafka.declared.with_lemmas().lemmas]
    assert names and [fn.name for fn in mine.declared.with_lemmas().lemmas] == names
    liveness = [fn.ident for fn in kafka.declared.whole().leads_to]
    assert liveness and [fn.ident for fn in mine.declared.whole().leads_to] == liveness
    assert (mine.variant, mine.scope) == (kafka.variant, kafka.scope) == ("kip_full", "three-brokers")
    assert vars(mine.config) == {name: getattr(mine.config, name) for name in vars(kafka.config)}
    alias = resolve(Selection("code_4_1", model=copy))
    assert alias.variant == "code_4_1" and alias.config.reelection.name == "KEPT"
    assert "code_4_1" not in alias.declared.variant_names


@pytest.mark.slow
def test_it_has_the_suites_and_their_counts(copy: Path, invoke: Invoke) -> None:
    names = {case.name for family in packaged_suites() for case in family.cases}
    assert {case.name for family in packaged_suites(Selection(model=copy)) for case in family.cases} == names
    assert packaged_counts(copy) == packaged_counts()
    code, out, _ = invoke("suite", "--model", str(copy), "--only", "hazards/f-1", "--workers", "1")
    assert code == 0 and "EXPECTED  1 configuration: 1 violated" in out


def test_nothing_in_it_is_of_the_installed_model(copy: Path) -> None:
    text = "".join(file.read_text() for file in copy.rglob("*.py"))
    assert "elrcheck.lang" in text
    assert not [word for word in ("elrcheck.model", "elrcheck.invariants", "elrcheck.catalogue") if word in text]
    model = resolve(Selection(model=copy)).declared.whole()
    files = {Path(fn.file).resolve() for fn in (*model.actions, *model.always, *model.fns.values())}
    assert all(file.is_relative_to(copy.resolve()) for file in files)
    assert copy.resolve() in {folder.resolve() for folder in folders_of_models()}


@pytest.mark.slow
def test_a_changed_rule_is_found_and_its_trace_replayed(invoke: Invoke, tmp_path: Path) -> None:
    code, out, err = invoke("model", "fork", "mine")
    assert code == 0 and "mine: " in out and "--model mine" in err
    assert "--model mine" in (tmp_path / "mine" / "README.md").read_text()
    rule = "return len(counted) >= leader_min_isr(c, settings, leader, leader_id)"
    edit(tmp_path / "mine", "model/broker/high_watermark.py", rule, "return len(counted) >= 1")
    check = ("check", "--model", "mine", "--scope", "two-brokers", "-p", "P-1", "--run-dir", "run", "-f", "json")
    code, out, _ = invoke(*check)
    report = json.loads(out)
    assert code == 1 and report["variant"] == "kip_full" and report["model"] == "mine"
    trace = "run/P-1.trace.json"
    code, out, _ = invoke("replay", trace, "--model", "mine")
    assert code == 0 and "P-1" in out
    code, out, _ = invoke("replay", trace)
    assert code == 1 and "REJECTED" in out
    code, out, _ = invoke("explain", trace, "--model", "mine")
    assert code == 1 and "LeaderCompleteness" in out
    code, out, _ = invoke("export", "trace", trace, "--model", "mine", "--format", "tla", "--out", "tla")
    assert code == 0 and list((tmp_path / "tla").glob("*.tla"))


def test_list_show_and_config_know_the_copy(invoke: Invoke, copy: Path) -> None:
    code, out, _ = invoke("list", "variants", "--model", str(copy), "-f", "json")
    assert code == 0 and "kip_full" in out
    code, out, _ = invoke("show", "Unfence", "--model", str(copy))
    assert code == 0 and str(copy / "model" / "control_plane" / "broker_events.py") in out
    code, out, _ = invoke("config", "check", "--model", str(copy), "--scope", "two-brokers")
    assert code == 0 and "scope two-brokers" in out


def test_another_model_may_be_copied(invoke: Invoke, tmp_path: Path) -> None:
    assert invoke("new", "lock")[0] == 0
    code, out, err = invoke("model", "fork", "other", "--model", "lock.py")
    assert code == 0 and "other: 1 file\n" in out and "--model other`" in err
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["__init__.py"]
    assert (tmp_path / "other" / "__init__.py").read_text() == (tmp_path / "lock.py").read_text()
    assert invoke("check", "--model", "other", "--variant", "atomic")[0] == 0


def test_a_folder_with_files_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("")
    code, _, err = invoke("model", "fork", "mine")
    assert code == 2 and "mine is not empty" in err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes"]
    for name, message in (
        ("mine/notes", "is a file"),
        ("4", "not a valid name of a Python package"),
        ("a b", "not a valid name"),
    ):
        code, _, err = invoke("model", "fork", name)
        assert code == 2 and message in err
    code, _, err = invoke("model", "fork", "x", "--model", "missing.py")
    assert code == 2 and "there is no file" in err and not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("file", "old", "new", "message", "place"),
    [
        (
            "model/broker/high_watermark.py",
            "        return True\n",
            "        return 3\n",
            "bool",
            "model/broker/high_watermark.py:",
        ),
        ("model/start.py", "@init\n", "", "exactly one @init function", "mine"),
        (
            "model/budgets.py",
            "from __future__ import annotations\n",
            "from __future__ import annotations\n\nfrom .state import State  # noqa\n",
            "partially initialized module",
            "model/",
        ),
    ],
)
def test_mistakes_in_the_copy_have_a_place(
    invoke: Invoke, tmp_path: Path, file: str, old: str, new: str, message: str, place: str
) -> None:
    assert invoke("model", "fork", "mine")[0] == 0
    edit(tmp_path / "mine", file, old, new)
    code, out, err = invoke("check", "--model", "mine", "--scope", "two-brokers")
    assert code == 2 and message in out + err and place in err, err
    assert "Traceback" not in err


def test_an_unbounded_number_and_an_action_that_is_not_listed_have_a_place(invoke: Invoke, tmp_path: Path) -> None:
    assert invoke("model", "fork", "mine")[0] == 0
    actions = tmp_path / "mine" / "model" / "broker" / "mine.py"
    actions.write_text(
        "from elrcheck.lang.runtime import action\nfrom ..config import Config\nfrom ..state import State\n\n\n"
        '@action\ndef Nothing(c: Config, s: State) -> State:\n    """Nothing happens."""\n    return s\n'
    )
    code, _, err = invoke("check", "--model", "mine", "--scope", "two-brokers")
    assert code == 2 and "no model has this function" in err and "mine.py:6" in err and "__init__.py" in err
    actions.unlink()
    edit(tmp_path / "mine", "model/budgets.py", "    crashes: ", "    whims: int = 0\n    crashes: ")
    code, _, err = invoke("check", "--model", "mine", "--scope", "two-brokers")
    assert code == 2 and "budgets.py" in err, err


@pytest.mark.slow
def test_the_copy_is_proved_with_its_history(invoke: Invoke, copy: Path) -> None:
    """Without the recovery manager, whose strategies no proof of Kafka's partition covers either."""
    settings = ("--set", "log_slots=2", "--set", "unclean_recovery_strategy=disabled")
    code, out, _ = invoke(
        "prove", "--model", str(copy), "-p", "P-10", "--scope", "two-brokers", *settings, "-f", "json"
    )
    report = json.loads(out)
    assert code == 0 and report["verdict"] == "proved"
    assert any(cell["lemma"] == "BackersHold" for cell in report["cells"])
