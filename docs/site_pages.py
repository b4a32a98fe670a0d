"""A hook of mkdocs (mkdocs.yml): the pages beside `docs/`, the rest of the navigation, anchors as on GitHub.

README.md becomes the first page. Findings and decisions are listed by what is in their folders, so that a new
one needs no entry. The gallery of findings and scenarios (`kafka/site.py`) has links from findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elrcheck.kafka.site import FOLDER, Gallery, gallery

ROOT = Path(__file__).resolve().parent.parent
BESIDE = {"index.md": "README.md"} | {
    name: name for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
}
"""Page of the site -> file in the root of the repository."""
LISTED = {"Findings": "findings/F-*.md", "Decisions": "adr/*.md"}
TEMPLATE = "adr/0000-template.md"
LINK = re.compile(r"(\]\()(?:docs/)?([\w./-]+\.md(?:#[\w-]+)?\))")
GALLERY_PAGE = "gallery.md"
GALLERY_HEAD = """# To step through

Each page is one file that works without a server: pass on a link that ends in `#step=5`, and it opens at that step.
"""
FINDING = re.compile(r"findings/(F-\d+)\.md")


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


def index_page(whole: Gallery) -> str:
    """Return the page that lists findings and scenarios."""
    return GALLERY_HEAD + "".join(f"\n## {words}\n\n{_entries(cards)}" for words, cards in whole.groups)


def _entries(cards: Any) -> str:
    return "".join(
        f"* [{card.id}: {card.title}]({FOLDER}/{card.file}): {' '.join(card.about.split())}\n" for card in cards
    )


def gallery_pages() -> Iterator[tuple[str, str]]:
    """Yield the address of each page of the gallery with its text."""
    whole = gallery(documents=True)
    yield GALLERY_PAGE, index_page(whole)
    for file, text in whole.pages.items():
        yield f"{FOLDER}/{file}", text


def on_config(config: Any) -> Any:
    config.nav = completed(config.nav)
    for section in config.nav:
        if "Findings" in section:
            section["Findings"].insert(2, GALLERY_PAGE)
    config.mdx_configs["toc"]["slugify"] = slug
    return config


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    beside = ((page, page_of(name)) for page, name in BESIDE.items())
    for page, text in (*beside, *gallery_pages()):
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Begin the page of a finding with a link to where it is stepped through."""
    match = FINDING.fullmatch(page.file.src_uri)
    title, _, rest = markdown.partition("\n")
    return markdown if match is None else f"{title}\n\n[Step through it](../{FOLDER}/{match[1]}.html)\n{rest}"
