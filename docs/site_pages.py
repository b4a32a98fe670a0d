"""A hook of mkdocs (mkdocs.yml): the pages beside `docs/`, the rest of the navigation, anchors as on GitHub.

README.md becomes the first page. Findings and decisions are listed by what is in their folders, so that a new
one needs no entry.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BESIDE = {"index.md": "README.md"} | {
    name: name for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
}
"""Page of the site -> file in the root of the repository."""
LISTED = {"Findings": "findings/F-*.md", "Decisions": "adr/*.md"}
TEMPLATE = "adr/0000-template.md"
LINK = re.compile(r"(\]\()(?:docs/)?([\w./-]+\.md(?:#[\w-]+)?\))")


def page_of(name: str) -> str:
    """Return a file of the root as a page: its links start in `docs/`."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return LINK.sub(r"\g<1>\g<2>", text).replace("](README.md", "](index.md")


def completed(nav: list[dict[str, list[Any]]]) -> list[dict[str, list[Any]]]:
    """Return the navigation with the pages of the folders in `LISTED`."""
    return [
        {title: [*pages, *_listed(LISTED[title])] if title in LISTED else pages}
        for section in nav
        for title, pages in section.items()
    ]


def _listed(pattern: str) -> list[str]:
    names = (path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").glob(pattern))
    return sorted((name for name in names if name != TEMPLATE), key=_number)


def _number(name: str) -> int:
    match = re.search(r"\d+", name)
    return int(match[0]) if match else 0


def slug(title: str, separator: str) -> str:
    """Return the anchor of a heading, as on GitHub."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", separator)


def on_config(config: Any) -> Any:
    config.nav = completed(config.nav)
    config.mdx_configs["toc"]["slugify"] = slug
    return config


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for page, name in BESIDE.items():
        files.append(File.generated(config, page, content=page_of(name)))
    return files
