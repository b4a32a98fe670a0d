"""What a sweep is written as: JSON, text, CSV, Parquet, Markdown and HTML of one report."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path

import click
import jsonschema
import pyarrow.parquet as parquet
import pytest

from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.console.verbs.search_verbs import sweep
from elrcheck.report.formats import blocks
from elrcheck.report.json_report import to_json
from elrcheck.report.report_pages import to_html
from elrcheck.report.sweep_matrix import SIGNS, matrices, sweep_markdown
from elrcheck.report.sweep_table import to_csv, to_parquet
from elrcheck.report.terminal import Page, open_console
from elrcheck.results.check_report import PropertyOutcome
from elrcheck.results.suite_report import (
    RowVerdict,
    SweepAxis,
    SweepEngine,
    SweepReport,
    SweepRow,
    in_order,
    verdict_of,
)
from support.places import SCHEMAS

SCHEMA = SCHEMAS / "elrcheck.sweep-1.schema.json"
PROPERTIES = (
    PropertyOutcome("P-1", "Complete", "always", "violated", 9, "leader", "b=0", "0003/P-1.trace.json"),
    PropertyOutcome("P-8", "NoLoss", "always", "violated", 5, None, None, "0003/P-8.trace.json"),
)


def row(
    number: int,
    min_isr: int,
    strict: bool,
    verdict: RowVerdict,
    distinct: int | None = None,
    depth: int | None = None,
    reason: str | None = None,
) -> SweepRow:
    broken = verdict == "violated"
    return SweepRow(
        number,
        {"variant": "legacy", "min_isr": min_isr, "strict_hwm": strict},
        "legacy",
        "two-brokers",
        verdict,
        reason=reason,
        property="P-8" if broken else None,
        depth=depth,
        violated=("P-1", "P-8") if broken else (),
        complete=None if distinct is None else True,
        generated=None if distinct is None else 10 * distinct,
        distinct=distinct,
        diameter=None if distinct is None else 7,
        seconds=None if distinct is None else 0.25,
        by=None if distinct is None else "process",
        trace=f"{number:04}/P-8.trace.json" if broken else None,
        properties=PROPERTIES if broken else (),
        config=None if reason else {"min_isr": min_isr},
    )


ROWS = in_order(
    [
        row(1, 1, True, "holds", 2500),
        row(2, 1, False, "skipped", reason="<no> | such & thing"),
        row(3, 2, True, "violated", 1200, 5),
        row(4, 2, False, "violated", 90, 6),
        row(5, 3, True, "inconclusive", reason="--max-states 10"),
        row(6, 4, True, "failed", reason="out of memory"),
        row(7, 4, False, "violated", 90, 5),
    ]
)
REPORT = SweepReport(
    verdict=verdict_of(ROWS),
    axes=(
        SweepAxis("variant", ("legacy",)),
        SweepAxis("min_isr", (1, 2, 3, 4)),
        SweepAxis("strict_hwm", (True, False)),
    ),
    keys=("variant", "min_isr", "strict_hwm"),
    rows=ROWS,
    excluded=1,
    seconds=12.5,
    engine=SweepEngine("local", 2, 2_000_000),
    run_dir="runs/a",
)


def test_order_is_by_verdict_then_states_then_depth_then_number() -> None:
    assert [row.number for row in ROWS] == [7, 4, 3, 6, 5, 1, 2]


def test_json_is_as_published() -> None:
    document = json.loads(to_json(REPORT))
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    assert (document["schema"], document["verdict"]) == ("elrcheck.sweep/1", "violated")
    assert document["rows"][0]["settings"] == {"variant": "legacy", "min_isr": 4, "strict_hwm": False}


def test_text_has_a_line_for_each_and_the_smallest() -> None:
    buffer = io.StringIO()
    Page(open_console(buffer, "never")).show(blocks(REPORT))
    text = buffer.getvalue()
    assert "7 configurations: 3 violated, 1 failed, 1 inconclusive, 1 holds, 1 skipped" in text
    assert "smallest  number 7: variant=legacy, min_isr=4, strict_hwm=false" in text
    assert "trace     runs/a/0007/P-8.trace.json" in text
    assert "P-8 +1" in text and "out of memory" in text and "excluded  1 point of" in text


def test_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(REPORT))))
    assert len(rows) == 7
    assert list(rows[0])[:6] == ["number", "variant", "scope", "min_isr", "strict_hwm", "verdict"]
    assert (rows[0]["number"], rows[0]["strict_hwm"], rows[0]["violated"]) == ("7", "false", "P-1 P-8")
    assert (rows[0]["generated"], rows[0]["depth"], rows[0]["reason"]) == ("900", "5", "")
    assert (rows[-1]["reason"], rows[-1]["distinct"]) == ("<no> | such & thing", "")


def test_parquet_has_types() -> None:
    table = parquet.read_table(io.BytesIO(to_parquet(REPORT)))
    kinds = {field.name: str(field.type) for field in table.schema}
    assert kinds["min_isr"] == "int64" and kinds["strict_hwm"] == "bool" and kinds["distinct"] == "int64"
    assert table.column("violated").to_pylist()[0] == ["P-1", "P-8"]
    assert table.column("distinct").to_pylist() == [90, 90, 1200, None, None, 2500, None]
    assert table.column("number").to_pylist() == [7, 4, 3, 6, 5, 1, 2]


def test_a_matrix_has_the_varied_keys() -> None:
    (matrix,) = matrices(REPORT)
    assert (matrix.rows, matrix.columns, matrix.facet) == ("min_isr", "strict_hwm", "")
    assert (matrix.row_heads, matrix.column_heads) == (("1", "2", "3", "4"), ("true", "false"))
    signs = [[cell and SIGNS[cell.verdict] for cell in line] for line in matrix.cells]
    assert signs == [["✓", "–"], ["✗", "✗"], ["?", None], ["!", "✗"]]


def test_markdown() -> None:
    lines = sweep_markdown(REPORT).splitlines()
    assert r"| min\_isr \\ strict\_hwm | true | false |" in lines
    assert r"| **1** | ✓ holds: 2,500 states | – skipped: \<no\> \| such \& thing |" in lines
    broken = ("✗ violated: P-8 at depth 5, 1,200 states", "✗ violated: P-8 at depth 6, 90 states")
    assert f"| **2** | {broken[0]} | {broken[1]} |" in lines
    assert "| **3** | ? inconclusive: --max-states 10 |  |" in lines


class Checker(HTMLParser):
    """Every element is closed where it must be; ids are unique; headings of cells have a scope."""

    VOID = ("meta", "link", "br", "img", "hr", "input")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.seen: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        assert len(attributes) == len(attrs), "an attribute is given twice"
        self.seen.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self.ids += [attributes["id"] or ""] if "id" in attributes else []
        self.targets += [attributes["href"] or ""] if "href" in attributes else []
        assert tag != "th" or attributes.get("scope") in ("row", "col")
        assert tag not in ("img", "iframe") and "src" not in attributes, "the page needs nothing else"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_html_is_well_formed_and_needs_nothing_else() -> None:
    page = to_html(REPORT)
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == [] and page.startswith("<!DOCTYPE html>")
    assert sorted(checker.ids) == ["main", *(f"n{number}" for number in range(1, 8))]
    targets = {target.removeprefix("#") for target in checker.targets}
    assert targets - set(checker.ids) == {"data:,"}, "besides anchors only the empty icon"
    assert "http:" not in page and "https:" not in page and "@import" not in page
    assert "&lt;no&gt; | such &amp; thing" in page and "<no>" not in page
    assert checker.seen.count("caption") == checker.seen.count("table") == 2
    words = " ".join("".join(checker.text).split())
    assert "Smallest breaking configuration: number 7 (variant=legacy, min_isr=4, strict_hwm=false)" in words
    for word in ("violated", "failed", "inconclusive", "holds", "skipped", "not in the grid"):
        assert word in words


def test_axes_complete_in_the_shell() -> None:
    context, option = click.Context(sweep), sweep.params[0]

    def offered(begun: str) -> list[str]:
        return [item.value for item in option.shell_complete(context, begun)]

    changes = ["min_isr_change=", "min_isr_change_bumps_partition_epoch="]
    assert offered("min_isr_") == [*changes, "min_isr_propagation=", "min_isr_changes="]
    assert offered("variant=legacy,kip_f") == ["variant=legacy,kip_full"]
    assert offered("strict_hwm=") == ["strict_hwm=false", "strict_hwm=true"]
    assert offered("records=") == offered("nothing=") == []


def test_facets_are_what_else_varies() -> None:
    rows = tuple(
        SweepRow(n, {"a": n % 2, "b": n // 2 % 2, "c": n // 4}, "v", "s", "holds", distinct=1) for n in range(8)
    )
    axes = tuple(SweepAxis(key, (0, 1)) for key in "abc")
    facets = matrices(SweepReport("holds", axes, ("a", "b", "c"), rows, 0, 1.0, SweepEngine("local", 1, 1)))
    assert [matrix.facet for matrix in facets] == ["c = 0", "c = 1"]
    assert [[cell.number for cell in line if cell] for line in facets[1].cells] == [[4, 6], [5, 7]]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "there is nothing to vary"),
        (("--sweep", "broker_count=9,10"), 5, "sweep-empty"),
        (("--sweep", "variant=legacy", "--variant", "kip_full"), 2, "both swept and set"),
        (("--sweep", "crashes=1", "--reduce", "--sweep", "forgets=*"), 2, "both swept and set"),
        (("--sweep", "crashes=1", "--master", "local[2]"), 2, "--master requires --engine spark"),
        (("--sweep", "crashes=1", "-f", "parquet"), 2, "parquet"),
        (("--sweep", "crashes=1", "-o", "nowhere/a.csv"), 2, "there is no folder"),
        (("--resume", "nothing"), 2, "no resumable sweep"),
    ],
)
def test_exit_codes(
    arguments: tuple[str, ...],
    code: int,
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(cli, ("sweep", *arguments)) == code
    captured = capsys.readouterr()
    assert words in captured.err and captured.out == ""
    assert list(tmp_path.iterdir()) == []
