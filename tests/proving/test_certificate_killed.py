"""A certificate that is being replaced when its process is killed: the old, the new or none, no mixture."""

from __future__ import annotations

import hashlib
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.mortal_process import Mortal, mortal_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc")
SCOPE = ("--scope", "two-brokers", "--set", "log_slots=1", "--set", "broker_count=1", "--set", "min_isr=1")
PROVE = ("prove", "--variant", "kip_full", *SCOPE, "--workers", "1", "--certificate", "cert")
OTHER = (*PROVE, "-p", "P-1")


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mortal]:
    with mortal_in(tmp_path_factory.mktemp("mortal"), "cert") as runner:
        yield runner


@pytest.fixture(scope="module")
def proofs(mortal: Mortal) -> tuple[Path, dict[str, str], int]:
    """A copy of a certificate, what replaces it, and the number of moments that this takes."""
    assert mortal.run(*OTHER)["code"] == 0, mortal.err
    old = mortal.place / "old"
    shutil.copytree(mortal.below, old)
    facts = mortal.run(*PROVE)
    assert facts["code"] == 0, mortal.err
    new = contents(mortal.below)
    assert contents(old) != new and not list(mortal.below.glob(".*"))
    return old, new, len(facts["by_phase"])


@pytest.mark.slow
@pytest.mark.parametrize(("before_end", "full"), [(200, True), (40, False), (90, False), (6, True)])
def test_a_certificate_is_whole_or_not_there(
    mortal: Mortal, proofs: tuple[Path, dict[str, str], int], before_end: int, full: bool
) -> None:
    old, new, moments = proofs
    cert = mortal.below
    shutil.rmtree(cert)
    shutil.copytree(old, cert)
    ended = mortal.run(*PROVE, at=moments - before_end, full=full)
    assert ended["code"] in ((0, 4) if full else (-signal.SIGKILL,)), mortal.err
    left = {name: each for name, each in contents(cert).items() if not name.startswith(".draft")}
    assert "manifest.json" not in left or left in (contents(old), new)
    if before_end == 200:
        assert left == contents(old), "the old one stays until the new one is complete"
        assert "cannot write cert" in mortal.err and "free some space" in mortal.err
    assert mortal.run(*PROVE)["code"] == 0, mortal.err
    assert contents(cert) == new
