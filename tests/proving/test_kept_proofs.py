"""What a proof keeps: answers of an earlier run, as long as the obligation is the same."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from pathlib import Path

import pytest

from elrcheck.base.errors import EnvironmentFault
from elrcheck.base.kept.store import FOLDER
from elrcheck.base.progress import Silent
from elrcheck.lang.changed.altered import planted
from elrcheck.lang.load import Model
from elrcheck.model.choices import RecoveryStrategy
from elrcheck.model.config import Config
from elrcheck.proof.hypotheses import lemmas_of
from elrcheck.proof.obligations import Discharge, Prover
from elrcheck.proof.transition import Transitions
from elrcheck.proving.consecution_phase import Digests, KeptCells, ProofTask, Work, discharge
from elrcheck.proving.prove import InductionProof
from elrcheck.results.prove_report import ProveReport
from support.planted_rules import planted_rule

TINY = Config(log_slots=1, unclean_recovery_strategy=RecoveryStrategy.DISABLED, broker_count=2, kills=1)


@pytest.mark.slow
def test_what_is_proved_is_kept(proof_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run proves nothing again; after one edited rule only the steps with this rule are proved."""
    monkeypatch.setenv("ELRCHECK_CACHE_DIR", str(tmp_path))
    config = replace(TINY, broker_count=1, min_isr=1)

    def run(model: Model, fresh: bool = False) -> ProveReport:
        proof = InductionProof(proof_model, config, [], 60.0, Silent())
        proof.keep(fresh)
        return proof.run("kip_full")

    first, second = run(proof_model), run(proof_model)
    assert first.verdict == second.verdict == "proved"
    assert not any(cell.kept for cell in first.cells) and all(cell.kept for cell in second.cells)
    assert [(c.action, c.lemma, c.core) for c in first.cells] == [(c.action, c.lemma, c.core) for c in second.cells]
    assert not any(cell.kept for cell in run(proof_model, fresh=True).cells)
    changed, original, plain = planted_rule(proof_model, "Kill", "s.spent.kills + 1", "s.spent.kills - 1")
    with planted(original, plain):
        third = run(changed)
    again = {cell.action for cell in third.cells if not cell.kept}
    assert (again, third.verdict) == ({"Kill"}, "refuted")
    assert {cell.lemma for cell in third.cells if cell.verdict == "refuted"} == {"Types"}
    with planted(original, plain):
        assert run(changed).verdict == "refuted", "a refuted obligation is never kept"


@pytest.mark.slow
def test_a_changed_lemma_is_proved_again(proof_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It concerns its own column, and every proof that needed it; the others stay, and old answers."""
    monkeypatch.setenv("ELRCHECK_CACHE_DIR", str(tmp_path))
    config = replace(TINY, broker_count=1, min_isr=1)
    proof = InductionProof(proof_model, config, [], 60.0, Silent())
    proof.keep(fresh=False)
    first = proof.run("kip_full")
    weaker = next(fn for fn in proof_model.lemmas if fn.name == "LogEpochs")
    stronger = dataclasses.replace(
        next(fn for fn in proof_model.lemmas if fn.name == "WatermarkCommitted"), name=weaker.name
    )
    lemmas = tuple(stronger if fn.name == weaker.name else fn for fn in proof_model.lemmas)
    proof = InductionProof(replace(proof_model, lemmas=lemmas), config, [], 60.0, Silent())
    proof.keep(fresh=False)
    again = {(cell.action, cell.lemma) for cell in proof.run("kip_full").cells if not cell.kept}
    needed = {
        (cell.action, cell.lemma) for cell in first.cells if weaker.name in cell.core and cell.lemma != weaker.name
    }
    assert needed and needed <= again
    assert {lemma for _, lemma in again - needed} <= {weaker.name}
    proof = InductionProof(proof_model, config, [], 60.0, Silent())
    proof.keep(fresh=False)
    assert all(cell.kept for cell in proof.run("kip_full").cells), "the lemma is as it was"


@pytest.mark.parametrize("damage", [b"", b"{", b'{"proofs": {"a": 1}}', b'{"cells": {}}'])
def test_a_damaged_answer_is_asked_again(
    proof_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    monkeypatch.setenv("ELRCHECK_CACHE_DIR", str(tmp_path))
    prover = Prover(Transitions(proof_model, replace(TINY, broker_count=1, min_isr=1)), proof_model.lemmas, None)
    kept_cells = KeptCells(Digests(prover), fresh=False)
    instance = prover.ts.instances[0]
    names = [fn.name for fn in proof_model.lemmas]
    kept_cells.add(instance, {name: Discharge("proved", 0.1) for name in names})
    assert list(kept_cells.find(instance, names)) == names
    (file,) = (tmp_path / FOLDER / "proofs").iterdir()
    file.write_bytes(damage)
    assert kept_cells.find(instance, names) == {}


def test_a_model_that_changes_meanwhile_is_noticed(proof_model: Model) -> None:
    """Processes load the model themselves; what they prove must be what they were asked."""
    config = replace(TINY, broker_count=1, min_isr=1)
    digests = Digests(Prover(Transitions(proof_model, config, any_order=True), lemmas_of(proof_model), 60.0))
    work = digests.work(digests.prover.ts.instances[0], ["Frame"])
    number, answers = discharge(ProofTask(Work(0, ("Frame",), work), config, 60.0))
    assert (number, [name for name, _ in answers]) == (0, ["Frame"])
    with pytest.raises(EnvironmentFault, match="changed while the proof ran"):
        discharge(ProofTask(Work(1, ("Frame",), work), config, 60.0))
