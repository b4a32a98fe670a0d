"""The pages under docs/model name what exists, all of it, and nothing else."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from elrcheck.catalogue.kafka_controller import MODEL as SEVERAL
from elrcheck.invariants.modules import load_whole_model
from elrcheck.lang.load import Model
from elrcheck.model.config import Config
from elrcheck.model.knobs import knobs
from elrcheck.model.variants import VARIANTS
from support.places import ROOT

PAGES = sorted((ROOT / "docs" / "model").glob("*.md"))


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", text)


def columns(text: str, title: str) -> Iterator[str]:
    """The cells below one column title, over all tables of a page."""
    index = None
    for line in text.splitlines():
        if not line.startswith("|"):
            index = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if title in cells:
            index = cells.index(title)
        elif index is not None and not set(cells[0]) <= set("-: "):
            yield cells[index]


def switches(text: str) -> set[str]:
    """The knobs of a page: in a column of that title, and in the list under `Where versions differ`."""
    listed = text.partition("\n## Where versions differ\n\n")[2].partition("\n\n")[0]
    return {name for part in (listed, *columns(text, "Knob")) for name in quoted(part)}


def test_every_action_is_on_exactly_one_page(proof_model: Model) -> None:
    for action in proof_model.actions:
        pages = [page.name for page in PAGES if action.name in quoted(page.read_text())]
        assert len(pages) == 1, (action.name, pages)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_named_functions_and_knobs_exist(proof_model: Model, page: Path) -> None:
    text = page.read_text()
    if page.stem == "partitions":
        proof_model = SEVERAL.load()
    named = [name for title in ("Model", "Action") for cell in columns(text, title) for name in quoted(cell)]
    assert set(named) <= set(proof_model.fns)
    assert named or page.stem in ("admin", "properties")
    assert switches(text) <= {field.name for field in dataclasses.fields(Config)}


def test_every_knob_of_the_protocol_is_on_some_page() -> None:
    documented = {name for page in PAGES for name in switches(page.read_text())}
    protocol = {knob.name for knob in knobs() if knob.section not in ("sizes", "budgets of a search")}
    assert len(protocol) > 30
    assert protocol <= documented


def test_properties_are_listed() -> None:
    model = load_whole_model()
    text = (ROOT / "docs" / "model" / "properties.md").read_text()
    listed = re.findall(r"^\| ([PV]-\w+) \| `(\w+)` \|", text, re.MULTILINE)
    assert listed == [(fn.ident, fn.name) for fn in (*model.always, *model.leads_to)]


def test_the_index_links_to_every_page() -> None:
    index = (ROOT / "docs" / "model.md").read_text()
    assert set(re.findall(r"\(model/([\w-]+\.md)\)", index)) == {page.name for page in PAGES}


@pytest.mark.parametrize("page", [ROOT / "docs" / "model.md", *PAGES], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_page_names_the_repairs_that_the_kip_lacks() -> None:
    """The repaired release has every patch; where it differs from Kafka's and from `kip_full`, the page says so."""
    knobs_of = {variant.name: variant.knobs for variant in VARIANTS}
    patched, released = knobs_of["repaired_4_3"], knobs_of["code_4_3"]
    lacking = {name for name, value in patched.items() if name not in released or released[name] != value}
    assert lacking == {"lost_directory", "min_isr_change_bumps_partition_epoch", "response_records"}
    page = (ROOT / "docs" / "model.md").read_text().partition("## Variants")[2].partition("\n## ")[0]
    assert "except those of F-53 and F-63" in page and "`lost_directory`" in page
