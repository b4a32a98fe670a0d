"""A hook of mkdocs: the gallery of findings and scenarios (`kafka/site/gallery.py`), and links to it from findings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from elrcheck.kafka.site.gallery import FOLDER, Gallery, gallery

PAGE = "gallery.md"
HEAD = """# To step through

Each page is one file that works without a server: pass on a link that ends in `#step=5`, and it opens at that step.
"""
FINDING = re.compile(r"findings/(F-\d+)\.md")


def index_page(whole: Gallery) -> str:
    """Return the page that lists findings and scenarios."""
    return HEAD + "".join(f"\n## {words}\n\n{_list(cards)}" for words, cards in whole.groups)


def _list(cards: Any) -> str:
    return "".join(
        f"* [{card.id}: {card.title}]({FOLDER}/{card.file}): {' '.join(card.about.split())}\n" for card in cards
    )


def pages() -> Iterator[tuple[str, str]]:
    """Yield the address of each page of the gallery with its text."""
    whole = gallery(documents=True)
    yield PAGE, index_page(whole)
    for file, text in whole.pages.items():
        yield f"{FOLDER}/{file}", text


def on_config(config: Any) -> Any:
    for section in config.nav:
        if "Findings" in section:
            section["Findings"].insert(2, PAGE)
    return config


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for address, text in pages():
        files.append(File.generated(config, address, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Begin the page of a finding with a link to where it is stepped through."""
    match = FINDING.fullmatch(page.file.src_uri)
    title, _, rest = markdown.partition("\n")
    return markdown if match is None else f"{title}\n\n[Step through it](../{FOLDER}/{match[1]}.html)\n{rest}"
