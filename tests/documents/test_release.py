"""What .ci/release.py makes: archives with the same bytes each time, manual pages of all verbs, a tried wheel."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import elrcheck
from elrcheck.console.help import command_help
from support.places import ROOT, SKIPPED
from support.scripts import script


def test_an_archive_depends_on_names_and_contents_alone() -> None:
    packed = script(".ci/release.py").packed
    one = packed({"b": b"2", "a/c": b"1"}, 1_000_000_000)
    assert one == packed({"a/c": b"1", "b": b"2"}, 1_000_000_000) != packed({"b": b"2"}, 1_000_000_000)
    with tarfile.open(fileobj=io.BytesIO(one)) as archive:
        members = archive.getmembers()
        assert [(each.name, each.mtime, each.uid, each.uname) for each in members] == [
            ("a/c", 1_000_000_000, 0, ""),
            ("b", 1_000_000_000, 0, ""),
        ]


def test_the_changes_are_those_of_the_version() -> None:
    changes = script(".ci/release.py").changes
    assert changes(elrcheck.__version__).startswith(f"## {elrcheck.__version__}")
    with pytest.raises(SystemExit, match=r"no section for 9\.9"):
        changes("9.9")


def test_every_verb_has_a_manual_page(tmp_path: Path) -> None:
    script(".ci/man_pages.py").main(tmp_path)
    pages = {path.stem: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.1")}
    assert {f"elrcheck-{name.replace(' ', '-')}" for name in command_help()} | {"elrcheck"} <= set(pages)
    assert all(text.startswith(".TH") and ".SH DESCRIPTION\n.PP\n" in text for text in pages.values())
    assert r".B \-\-out DIR" in pages["elrcheck-site"] and ".BR elrcheck-site (1)" in pages["elrcheck"]
    assert not [name for name, text in pages.items() if re.search(r"^[.'](?!TH|SH|PP|TP|B|nf|fi)", text, re.M)]


def test_a_trial_notices_a_file_that_is_not_there(tmp_path: Path) -> None:
    absent = script(".ci/try_wheel.py").absent
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").touch()
    text = "wrote site/index.html, see docs/absent.md and https://example.org/a/b.md"
    assert list(absent(text, (tmp_path,))) == ["docs/absent.md"]


@pytest.mark.slow
def test_a_release_is_what_an_index_takes_and_a_user_can_use(tmp_path: Path) -> None:
    for name in ("build", "twine", "cyclonedx_py", "material"):
        pytest.importorskip(name, reason="needs pip install '.[release]'")
    # Not by git: .ci/run tests a copy without history.
    copy = shutil.copytree(ROOT, tmp_path / "clone", ignore=SKIPPED)
    command = [sys.executable, ".ci/release.py", "--url", "https://example.org/them/elrcheck", "--with-older-searches"]
    subprocess.run(command, cwd=copy, check=True, timeout=1800, env={**os.environ, "PIP_NO_INPUT": "1"})
    dist, version = copy / "dist", elrcheck.__version__
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith("/METADATA"))
    data = {
        "elrcheck/py.typed",
        "elrcheck/api/functions.py",
        "elrcheck/__init__.pyi",
        "elrcheck/catalogue/scopes/two-brokers.toml",
        "elrcheck/docs/findings/F-20.md",
    }
    assert data <= set(names) and not [name for name in names if "tests/" in name]
    assert "Project-URL: Repository, https://example.org/them/elrcheck" in metadata
    assert "](docs/" not in metadata and "](https://example.org/them/elrcheck/blob/" in metadata
    with tarfile.open(dist / f"elrcheck-{version}.tar.gz") as archive:
        packed = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "catalogue/scopes/two-brokers.toml"} <= packed
    with tarfile.open(dist / f"elrcheck-{version}-site.tar.gz") as archive:
        assert {"index.html", "gallery/F-51.html", "search/search_index.js"} <= set(archive.getnames())
    bill = json.loads((dist / f"elrcheck-{version}.cdx.json").read_text(encoding="utf-8"))
    pins = (ROOT / "requirements-gate.txt").read_text(encoding="utf-8").count("==")
    assert bill["bomFormat"] == "CycloneDX" and len(bill["components"]) == pins
    sums = dict(line.split("  ")[::-1] for line in (dist / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    assert set(sums) == {path.name for path in dist.iterdir()} - {"SHA256SUMS"} and len(sums) == 6
    for name, digest in sums.items():
        assert hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest
