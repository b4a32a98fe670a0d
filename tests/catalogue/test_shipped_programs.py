"""The programs that a wheel brings along: the first search reads them, and two builds have the same bytes."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from elrcheck.base.kept import store
from elrcheck.base.progress import Silent
from elrcheck.base.requests import CheckRequest, Selection
from elrcheck.checking.check import run_check
from elrcheck.explorer.kernel import kept_program

SCOPE = "two-brokers-quiet"


def written(package: Path) -> Path:
    """Write the programs of one scope below a folder, the package of an installation, as a build does."""
    command = [sys.executable, "-m", "elrcheck.catalogue.shipped_programs", str(package / store.SHIPPED), SCOPE]
    subprocess.run(command, check=True, timeout=300)
    return package


def files_of(package: Path) -> dict[Path, bytes]:
    return {path.relative_to(package): path.read_bytes() for path in package.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_first_search_lowers_nothing(own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = written(tmp_path / "installed")
    lowered: list[object] = []
    lower = kept_program._lowered
    monkeypatch.setattr(kept_program, "_lowered", lambda *these: lowered.append(these) or lower(*these))
    request = CheckRequest(selection=Selection(scope=SCOPE), fresh=True)
    monkeypatch.setattr(store, "files", lambda _: package)
    shipped = run_check(request, Silent())
    assert not lowered and not (own_store / "programs").exists()
    (program,) = (package / store.SHIPPED).rglob("programs/*")
    program.write_bytes(program.read_bytes()[:-1])
    again = run_check(request, Silent())
    assert len(lowered) == 1, "a damaged program is not believed"
    assert (again.search.distinct, again.search.generated) == (shipped.search.distinct, shipped.search.generated)


@pytest.mark.slow
def test_two_builds_have_the_same_bytes_which_everybody_may_read(tmp_path: Path) -> None:
    one, other = written(tmp_path / "one"), written(tmp_path / "other")
    assert files_of(one) == files_of(other)
    assert sorted(path.parent.name for path in files_of(one)) == ["models", "models", "programs"]
    for path in (one / store.SHIPPED).rglob("*"):
        assert path.stat().st_mode & stat.S_IROTH, path
