"""mkdocs.yml: every document is in the navigation, once; the built site has all of them and loads nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from elrcheck.kafka.site import Gallery, GalleryEntry
from support.places import ROOT
from support.scripts import script

SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
ELSEWHERE = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=[\"']?((?:https?:)?//[^\"' >]+)")


def loaded(name: str) -> ModuleType:
    (file,) = (file for file in SITE["hooks"] if Path(file).stem == name)
    return script(file)


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    return loaded("site_pages")


def pages(nav: Any) -> Iterator[str]:
    """The pages of a navigation, at any depth."""
    match nav:
        case str():
            yield nav
        case dict():
            for below in nav.values():
                yield from pages(below)
        case list():
            for below in nav:
                yield from pages(below)


def test_every_document_is_in_the_navigation_once(hook: ModuleType) -> None:
    listed = list(pages(hook.completed(SITE["nav"])))
    documents = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    pages_of_site = documents - {hook.TEMPLATE} | set(hook.BESIDE)
    assert pages_of_site - set(listed) == set(), "not in the nav of mkdocs.yml"
    assert sorted(listed) == sorted(pages_of_site)
    assert listed.index("findings/F-2.md") < listed.index("findings/F-20.md")


def test_the_pages_beside_docs_link_as_in_the_repository(hook: ModuleType) -> None:
    for name in hook.BESIDE.values():
        for target in re.findall(r"\]\((?!https:|#)([^)#]+)", hook.page_of(name)):
            assert (ROOT / "docs" / target).exists() or target in hook.BESIDE, f"{name}: {target}"


def test_a_sequence_diagram_becomes_a_picture() -> None:
    diagrams = loaded("site_diagrams")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "```mermaid" in readme
    page = diagrams.on_page_markdown(readme, page=None)
    assert "```mermaid" not in page
    drawn = ElementTree.fromstring(page[page.index("<figure") : page.index("</figure>") + len("</figure>")])
    texts = " ".join("".join(drawn.itertext()).split())
    for line in re.search(r"```mermaid\n(.*?)```", readme, re.S)[1].splitlines():  # type: ignore[index]
        for part in line.partition(": ")[2].split("<br/>"):
            assert re.sub(r"^\d+\. ", "", part) in texts, line
    assert len(list(drawn.iter("path"))) == readme.count("->>"), "an arrow for each message"
    broken = [row for row in drawn.iter("li") if "broken" in row.attrib["class"]]
    assert len(broken) == readme.count("rect rgba")
    with pytest.raises(ValueError, match="loop forever"):
        diagrams.picture("participant B0\nloop forever\n")


def test_a_finding_has_the_colour_of_its_strongest_level() -> None:
    matrix = loaded("site_diagrams")
    cells = {"MCB": "brokers", "mCb": "classes", "M--": "model", "?--": "open", "mc-": "holds", "---": "untried"}
    for letters, word in cells.items():
        assert matrix.coloured(f"<td>{letters}</td>") == f'<td class="shown {word}">{letters}</td>'
    table = (ROOT / "docs" / "findings" / "table.md").read_text(encoding="utf-8")
    assert all(
        re.fullmatch("[MmCcBb?-]{3}", cell)
        for row in table.splitlines()
        for cell in row.split(" | ")[1:-1]
        if row.startswith("| [F-")
    )


def test_the_gallery_is_listed_and_findings_link_to_it(hook: ModuleType) -> None:
    cards = (GalleryEntry("E-22", "A story", "What  happens."),)
    listed = hook.index_page(Gallery({}, (("Scenarios", cards),), (), 0))
    assert "## Scenarios\n\n* [E-22: A story](gallery/E-22.html): What happens.\n" in listed

    class FindingPage:
        class file:
            src_uri = "findings/F-20.md"

    linked = hook.on_page_markdown("# F-20\n\nText\n", page=FindingPage)
    assert linked == "# F-20\n\n[Step through it](../gallery/F-20.html)\n\nText\n"
    FindingPage.file.src_uri = "risk.md"
    assert hook.on_page_markdown("# Risk\n", page=FindingPage) == "# Risk\n"


def test_nothing_is_loaded_from_elsewhere() -> None:
    assert SITE["theme"]["font"] is False and "site_url" not in SITE and "repo_url" not in SITE
    assert not {"extra_javascript", "extra_css"} & set(SITE) and SITE["plugins"] == ["search", "offline"]


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path, hook: ModuleType) -> None:
    pytest.importorskip("material", reason="needs pip install '.[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    built = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html")}
    assert {"gallery/E-6.html", "gallery/F-51.html"} <= built
    expected = {page.removesuffix(".md") + ".html" for page in pages(hook.completed(SITE["nav"]))}
    assert expected <= built and len(expected) > 80
    for name in expected:
        page = (tmp_path / name).read_text(encoding="utf-8")
        assert ELSEWHERE.findall(page) == [] and 'class="mermaid"' not in page, name
        assert "search-worker.js" in page, "what searches without a server"
    index = (tmp_path / "search" / "search_index.js").read_text(encoding="utf-8")
    assert "glossary.html" in index and "eligible leader replicas" in index.lower()
