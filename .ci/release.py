"""Builds wheel and source distribution into dist/, and has twine check them.

    python .ci/release.py --url https://github.com/OWNER/elrcheck

An index shows the README alone, so that its relative links are made links into the repository, at the tag
of the version; the metadata names the repository, its issues, its changelog and its documents. All this is
done in a copy.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)\s]+\))")
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "node_modules")


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


def main() -> int:
    parser = argparse.ArgumentParser(description="Build wheel and sdist into dist/, and check them.")
    parser.add_argument("--url", required=True, help="where the repository is, without a slash at its end")
    url = parser.parse_args().url
    if not re.fullmatch(r"https://[\w.-]+(/[\w.~-]+)+", url):
        parser.error(f"{url} is not the address of a repository")
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="elrcheck-release-") as scratch:
        tree = Path(scratch) / "elrcheck"
        shutil.copytree(ROOT, tree, ignore=LEFT_OUT)
        prepare(tree, url)
        built = subprocess.run([sys.executable, "-m", "build", "--outdir", str(dist), str(tree)], check=False)
    if built.returncode:
        return built.returncode
    files = sorted(map(str, dist.iterdir()))
    check = [sys.executable, "-m", "twine", "check", "--strict", *files]
    return subprocess.run(check, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
