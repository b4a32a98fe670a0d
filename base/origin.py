"""The requirement that pins this installation of elrcheck.

elrcheck is not on a package index, so a user's CI must not install it by name: whoever registered the name could run
code on their machines. pip records what it installed (PEP 610, `direct_url.json`): a repository with its commit, an
archive with its hash, or a folder, which may be a clone.
"""

from __future__ import annotations

import json
import re
import subprocess
from importlib.metadata import PackageNotFoundError, distribution, metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from elrcheck.base.errors import UsageFault

NAME = "elrcheck"
FORMS = "git+https://HOST/OWNER/REPOSITORY@COMMIT, or https://HOST/FILE.whl#sha256=HASH"
_PLACE = r"[A-Za-z0-9._~:/%+-]+"
_REPOSITORY = re.compile(rf"git\+(https://|ssh://|ssh://git@){_PLACE}@[0-9a-f]{{40}}")
_ARCHIVE = re.compile(rf"https://{_PLACE}\.(whl|tar\.gz|zip)#sha256=[0-9a-f]{{64}}")


def is_pinned(url: str) -> bool:
    """Return whether the URL pins its contents: a commit of a repository, or an archive with its hash."""
    return bool(_REPOSITORY.fullmatch(url) or _ARCHIVE.fullmatch(url))


def checked(url: str, where: str) -> str:
    """Return the URL; raise UsageFault unless it pins its contents."""
    if is_pinned(url):
        return url
    raise UsageFault(
        "unpinned-origin",
        f"`{url}` does not pin a version of elrcheck",
        where=where,
        help=f"name a commit of 40 digits or a hash: {FORMS}",
    )


def installed_from() -> str | None:
    """Return the pinned URL of this installation; None if it is unknown or only valid on this machine."""
    try:
        text = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    try:
        record = json.loads(text) if text else None
    except ValueError:
        return None
    return pinned_url(record) if isinstance(record, dict) else None


def documentation() -> str | None:
    """Return the URL of the folder docs/ of the release that is installed; None if its package names none."""
    try:
        urls = metadata(NAME).get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    named = dict(url.split(", ", 1) for url in urls if ", " in url)
    return named.get("Documentation")


def pinned_url(record: dict[str, Any]) -> str | None:
    """Return the pinned URL that a `direct_url.json` stands for, or None."""
    url = record.get("url")
    if not isinstance(url, str):
        return None
    match record:
        case {"vcs_info": {"vcs": "git", "commit_id": str(commit)}}:
            requirement = f"git+{url}@{commit}"
        case {"archive_info": {"hashes": {"sha256": str(digest)}}}:
            requirement = f"{url}#sha256={digest}"
        case {"dir_info": dict()} if url.startswith("file://"):
            requirement = _clone(Path(unquote(urlsplit(url).path))) or ""
        case _:
            return None
    return requirement if is_pinned(requirement) else None


def _clone(folder: Path) -> str | None:
    """Return the URL of the commit that an unchanged clone has checked out; None without a remote or with changes."""
    remote, commit, changed = (
        _git(folder, *words)
        for words in (("remote", "get-url", "origin"), ("rev-parse", "HEAD"), ("status", "--porcelain"))
    )
    if not remote or not commit or changed != "":
        return None
    return f"git+{remote}@{commit}"


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
