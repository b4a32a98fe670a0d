"""Proves every variant, and walks through it: `python docs/prove_variants.py [VARIANT ..]`.

Writes laboratory/evidence/proved_variants.json, from which `python docs/generate_pages.py` makes
docs/proofs-by-variant.md. Without names, only variants whose model has changed since are proved again.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from elrcheck.base.atomic import write_file
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.progress import Silent
from elrcheck.base.requests import Selection, SimulateRequest
from elrcheck.base.roundtrip import to_text
from elrcheck.base.typed.configuration import build_config, config_values
from elrcheck.catalogue.configured import find_variant
from elrcheck.catalogue.proof_settings import widened
from elrcheck.commands.simulate import run_simulate
from elrcheck.declared.select import resolve
from elrcheck.invariants.modules import load_proof_model
from elrcheck.laboratory.evidence.proved_variants import NAME, ProvedVariant, ProvedVariants, packaged_proofs
from elrcheck.model.choices import LostDirectory
from elrcheck.model.config import Config
from elrcheck.model.variants import VARIANTS
from elrcheck.proving.covered import coverage, skipped
from elrcheck.proving.prove import DEFAULT_TIMEOUT, InductionProof

FILE = Path(__file__).resolve().parents[1] / "catalogue" / "evidence" / NAME
SIZES = ("log_slots=1",)
WALKS = (
    "broker_count=3",
    "unclean_recovery_strategy=DISABLED",
    "crashes=2",
    "kills=2",
    "fences=1",
    "elections=1",
    "unregistrations=1",
    "directory_changes=1",
)
"""Three brokers and disturbances of most kinds that a proof covers, one record of which can be lost."""
SEED, NUMBER, DEPTH = 7, 200_000, 40


def proved(name: str) -> ProvedVariant:
    """Return the proof of a variant, and its walks."""
    sizes = sizes_of(name)
    selected = resolve(Selection(name, "three-brokers", sizes))
    model, config = load_proof_model(), widened(selected.config, selected.overrides)
    proof = InductionProof(model, config, model.always, DEFAULT_TIMEOUT, Silent())
    proof.keep(fresh=False)
    left = proof.surviving()
    covered = coverage(model, proof.transitions, len(left.properties))
    broken, walked = _walked(name)
    own = config_values(build_config(Config, find_variant(name).knobs))
    return ProvedVariant(
        variant=name,
        command=f"elrcheck prove --variant {name} --scope three-brokers {_sets(sizes)} --surviving",
        config={key: value for key, value in config_values(config).items() if own[key] != value},
        actions=covered.actions,
        assumed=covered.assumed,
        lemmas=len(left.lemmas),
        dropped=left.dropped,
        void=tuple(f"{one.action} x {one.lemma}" for one in left.void),
        proved=tuple(one.id for one in left.properties if one.proved),
        open=tuple(one.id for one in left.properties if not one.proved),
        silent={
            one.id: one.reason
            for one in skipped(model, proof.transitions, proof.chosen, proof.silent)
            if one.id.startswith("P-")
        },
        conditions={one.id: one.condition for one in left.properties if one.condition is not None},
        walked=walked,
        broken=broken,
        seconds=left.seconds,
        day=datetime.now(UTC).date().isoformat(),
        model=digests.rules(),
    )


def sizes_of(name: str) -> tuple[str, ...]:
    """Return the settings of a variant's proof: without what a finding breaks that concerns its rules.

    F-52: a registration vouches for the log of another directory. F-58: an earlier answer's record ends a
    later proposal. With either, most lemmas fall.
    """
    config = build_config(Config, find_variant(name).knobs)
    directories = ("directory_failures=0", "directory_losses=0")
    ignored = config.lost_directory == LostDirectory.IGNORED
    late = ("late_answers=0",) if config.known_record_ends_proposal else ()
    return (*SIZES, *(directories if ignored else ()), *late)


def _walked(name: str) -> tuple[dict[str, int], str]:
    """Property -> steps of the shortest walk that breaks it, and the command."""
    with tempfile.TemporaryDirectory(prefix="elrcheck-proofs-") as folder:
        request = SimulateRequest(
            Selection(name, "two-brokers-quiet", WALKS),
            seed=SEED,
            walks=NUMBER,
            depth=DEPTH,
            workers=1,
            run_dir=Path(folder) / "run",
        )
        report = run_simulate(request, Silent())
    broken = {one.id: one.steps for one in report.properties if one.verdict == "violated"}
    sizes = f"--seed {SEED} --walks {NUMBER} --depth {DEPTH}"
    command = f"elrcheck simulate --variant {name} --scope two-brokers-quiet {_sets(WALKS)} {sizes}"
    return {key: steps for key, steps in broken.items() if steps is not None}, command


def _sets(values: Collection[str]) -> str:
    return " ".join(f"--set {value}" for value in values)


def main(only: Collection[str]) -> None:
    recorded = {one.variant: one for one in (packaged_proofs() if FILE.exists() else ())}
    for variant in VARIANTS:
        old = recorded.get(variant.name)
        if variant.name not in only and (only or (old is not None and old.model == digests.rules())):
            continue
        new = recorded[variant.name] = proved(variant.name)
        print(new.variant, f"{new.seconds:.0f} s", "open", *new.open, "broken", *new.broken, flush=True)
        done = tuple(recorded[one.name] for one in VARIANTS if one.name in recorded)
        write_file(FILE, to_text(ProvedVariants(variants=done), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
