"""Makes a release in dist/; only the upload is left to a person.

    python .ci/release.py --url https://github.com/OWNER/elrcheck

It refuses searches of findings that are of an older model. Wheel and source archive are built twice, and must have
the same bytes; their times are SOURCE_DATE_EPOCH, by default that of the last commit. twine checks them, and the
wheel is tried in an empty environment (.ci/try_wheel.py). Beside them: manual pages, the site, the packages of
requirements-gate.txt as a CycloneDX bill of materials, the changes of this version, and SHA256SUMS.

An index shows the README alone, so that its relative links are made links into the repository, at the tag
of the version; the metadata names the repository, its issues, its changelog and its documents. All this is
done in a copy.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)\s]+\))")
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "node_modules")
FIRST_TIME = 315_532_800
"""1980, where the times of a zip file begin: for a copy without history."""


def version_of(tree: Path) -> str:
    match = re.search(r'^__version__ = "(.+)"$', (tree / "base" / "version.py").read_text("utf-8"), re.M)
    assert match is not None
    return match[1]


def with_absolute_links(page: str, url: str, version: str) -> str:
    """The page with links that work anywhere; what is a link already, or is in the page, stays."""
    return LINK.sub(rf"\g<1>{url}/blob/v{version}/\g<2>", page)


def urls(url: str, version: str) -> str:
    """The table of pyproject.toml."""
    return f"""
[project.urls]
Repository = "{url}"
Issues = "{url}/issues"
Changelog = "{url}/blob/v{version}/CHANGELOG.md"
Documentation = "{url}/tree/v{version}/docs"
"""


def prepare(tree: Path, url: str) -> None:
    """Writes what is only known at a release into a copy of the repository."""
    version = version_of(tree)
    readme, project = tree / "README.md", tree / "pyproject.toml"
    readme.write_text(with_absolute_links(readme.read_text("utf-8"), url, version), "utf-8")
    text = project.read_text("utf-8") + urls(url, version)
    tomllib.loads(text)  # the table is in it only once
    project.write_text(text, "utf-8")


def demand_current_searches() -> None:
    """Refuse to ship answers of searches that were made before a change of the model."""
    from elrcheck.catalogue.evidence.searched import of_older_model

    if older := sorted({finding for finding, _ in of_older_model()}):
        searches = f"the model has changed since the searches of {', '.join(older)}"
        raise SystemExit(f"run `python docs/search_findings.py older`: {searches}")


def time_of_release() -> int:
    """SOURCE_DATE_EPOCH, else the time of the last commit."""
    if seconds := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(seconds)
    log = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    return int(log.stdout) if log.returncode == 0 and log.stdout.strip() else FIRST_TIME


def changes(version: str) -> str:
    """The section of this version in CHANGELOG.md."""
    match = re.search(
        rf"^## {re.escape(version)}\b.*?(?=^## |\Z)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M | re.S
    )
    if match is None:
        raise SystemExit(f"CHANGELOG.md has no section for {version}")
    return match[0]


def packed(members: dict[str, bytes], when: int) -> bytes:
    """A tar.gz of these files whose bytes depend on nothing else."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(members):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(members[name]), when, 0o644
            archive.addfile(member, io.BytesIO(members[name]))
    return gzip.compress(plain.getvalue(), mtime=when)


def repacked(archive: Path, when: int) -> None:
    """Writes a source archive again, without the times and the user of this build."""
    with tarfile.open(archive) as old:
        files = {one.name: old.extractfile(one) for one in old.getmembers() if one.isfile()}
        members = {name: file.read() for name, file in files.items() if file is not None}
    archive.write_bytes(packed(members, when))


def tree_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def built(url: str, when: int, out: Path) -> dict[str, str]:
    """Builds wheel and source archive in a copy; returns the digest of each."""
    with tempfile.TemporaryDirectory(prefix="elrcheck-release-") as scratch:
        tree = Path(scratch) / "elrcheck"
        shutil.copytree(ROOT, tree, ignore=LEFT_OUT)
        prepare(tree, url)
        for path in tree.rglob("*"):
            os.utime(path, (when, when))
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
        command = [sys.executable, "-m", "build", "--outdir", str(out), str(tree)]
        run(command, env={**os.environ, "SOURCE_DATE_EPOCH": str(when)}, stdout=subprocess.DEVNULL)
    for archive in out.glob("*.tar.gz"):
        repacked(archive, when)
    return digests(out)


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def run(command: list[str], **options: object) -> None:
    done = subprocess.run(command, cwd=options.pop("cwd", ROOT), check=False, **options)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")


def add_companions(dist: Path, version: str, when: int) -> None:
    """Writes manual pages, site, bill of materials, changes and checksums beside the archives."""
    with tempfile.TemporaryDirectory(prefix="elrcheck-release-") as scratch:
        makers = {"man": [".ci/man_pages.py"], "site": ["-m", "elrcheck", "--no-progress", "site", "--out"]}
        for name, words in makers.items():
            folder = Path(scratch) / name
            run([sys.executable, *words, str(folder)], env={**os.environ, "SOURCE_DATE_EPOCH": str(when)})
            (dist / f"elrcheck-{version}-{name}.tar.gz").write_bytes(packed(tree_of(folder), when))
    bill = str(dist / f"elrcheck-{version}.cdx.json")
    options = ["--output-reproducible", "--pyproject", "pyproject.toml", "--of", "JSON", "-o", bill]
    run([sys.executable, "-m", "cyclonedx_py", "requirements", *options, "requirements-gate.txt"])
    (dist / f"elrcheck-{version}-changes.md").write_text(changes(version), "utf-8")
    lines = (f"{digest}  {name}\n" for name, digest in digests(dist).items())
    (dist / "SHA256SUMS").write_text("".join(lines), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make a release in dist/, and check it.")
    parser.add_argument("--url", required=True, help="where the repository is, without a slash at its end")
    parser.add_argument("--with-older-searches", action="store_true", help="ship searches of an older model too")
    options = parser.parse_args()
    url = options.url
    if not re.fullmatch(r"https://[\w.-]+(/[\w.~-]+)+", url):
        parser.error(f"{url} is not the address of a repository")
    version, when, dist = version_of(ROOT), time_of_release(), ROOT / "dist"
    changes(version)
    if not options.with_older_searches:
        demand_current_searches()
    shutil.rmtree(dist, ignore_errors=True)
    first = built(url, when, dist)
    with tempfile.TemporaryDirectory(prefix="elrcheck-release-") as again:
        if built(url, when, Path(again)) != first:
            raise SystemExit("two builds differ")
    archives = [str(dist / name) for name in first]
    run([sys.executable, "-m", "twine", "check", "--strict", *archives])
    run([sys.executable, ".ci/try_wheel.py", next(name for name in archives if name.endswith(".whl"))])
    add_companions(dist, version, when)
    print((dist / "SHA256SUMS").read_text("utf-8"), end="")


if __name__ == "__main__":
    main()
