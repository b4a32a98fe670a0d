"""Prints the blocks of a document.

On a terminal the text adapts to its width and colours, and is broken only between words: a longer word is left to the
terminal, and a command continues after a backslash, so that it can be copied. Elsewhere the text has no escape codes,
is never wrapped, and does not depend on the environment.
"""

from __future__ import annotations

import io
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TextIO

from elrcheck.base.printable import printable_line
from elrcheck.base.progress import Color
from elrcheck.report.document import THIN_SPACE, Block, Case, Cell, Headline, Labelled, Line, Number, Table, grouped

if TYPE_CHECKING:
    from rich.console import Console


PLAIN_WIDTH = 160

_WORDS: Mapping[str, str] = {
    "bold red": "fail, violated, refuted, rejected, different, failed, never fired, missing, not_found, contradicted,"
    " unexpected, drift, brokers, lost, known_losses",
    "bold yellow": "unnoticed, inconclusive, unknown, unreached, vacuous, unaffected, no_violation, refused, gaps,"
    " classes, unavailable, undecided, at_risk",
    "yellow": "skipped, absent, tolerated, model",
    "green": "expected, counted, undefined, equivalent, holds, reached, proved, confirmed, same, found, noticed,"
    " surveyed, ok, no_sign, updated, accepted, enabled, complete, no_loss",
}
STYLES: Mapping[str, str] = {word: style for style, words in _WORDS.items() for word in words.split(", ")}
"""The colour of a verdict, at the start of a line or in a table."""


class Page:
    """Writes blocks to a console. Every text is made printable and stays on its line; none is rich markup."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._separator = THIN_SPACE if _can_encode(console.encoding, THIN_SPACE) else ","
        self._width = console.width if console.file.isatty() else None

    def show(self, blocks: Iterable[Block]) -> None:
        """Print the blocks, wrapped to the width of a terminal."""
        for block in blocks:
            match block:
                case Line(text, style, hang):
                    self._print(text, style, hang)
                case Headline(word, text):
                    self._verdict(word, text)
                case Labelled(label, text, indent):
                    if text:
                        self._print(f"{'':{indent}}{label:<9} {text}", "", indent + 10)
                case Table(columns, rows):
                    self._table(columns, [[self._cell(cell) for cell in row] for row in rows], _numeric(rows))

    def _print(self, text: str, style: str, hang: int | None) -> None:
        from rich.text import Text

        for part in self._lines(text, hang):
            self._console.print(Text(part, style=style), soft_wrap=True)

    def _verdict(self, word: str, rest: str) -> None:
        from rich.text import Text

        verdict = word.upper().replace("_", " ")
        for number, part in enumerate(self._lines(f"{verdict}  {rest}", 2)):
            text = Text(part, style="default")
            if number == 0:
                text.stylize(STYLES.get(word, "bold"), 0, len(verdict))
            self._console.print(text, soft_wrap=True)

    def _table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Container[int]) -> None:
        from rich.table import Table as RichTable
        from rich.text import Text

        if not rows:
            return
        widths = column_widths([columns, *rows], self._width) if self._width else [None] * len(columns)
        if widths is None and self._width is not None:
            for text in stacked(columns, rows, self._width):
                self._console.print(Text(text), soft_wrap=True)
            self._console.print()
            return
        table = RichTable(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for number, (column, width) in enumerate(zip(columns, widths or (), strict=True)):
            justify: Literal["right", "left"] = "right" if number in numeric else "left"
            table.add_column(column, justify=justify, overflow="fold", width=width)
        for row in rows:
            table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
        self._console.print(table)
        self._console.print()

    def _cell(self, cell: Cell) -> str:
        text = "" if cell is None else grouped(cell) if isinstance(cell, int) else cell
        return printable_line(text).replace(THIN_SPACE, self._separator)

    def _lines(self, text: str, hang: int | None) -> list[str]:
        text = printable_line(text).replace(THIN_SPACE, self._separator)
        return [text] if self._width is None else lines(text, self._width, hang)


def _numeric(rows: Sequence[Sequence[Cell]]) -> set[int]:
    """Return the indices of columns with a number in some row."""
    return {place for row in rows for place, cell in enumerate(row) if isinstance(cell, int | Number)}


def open_console(stream: TextIO, color: Color = "auto") -> Console:
    """Return a rich console on `stream` that honours --color, NO_COLOR and FORCE_COLOR."""
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            """Leave it to `elrcheck.console.shell`: rich would exit with 1, which means a finding."""
            raise BrokenPipeError

    console = Piped(
        file=stream,
        force_terminal={"auto": None, "always": True, "never": False}[color],
        no_color=True if color == "never" else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    if not stream.isatty():
        console.width = PLAIN_WIDTH
    return console


def plain_text(blocks: Iterable[Block]) -> str:
    """Return the blocks as text without colours."""
    buffer = io.StringIO()
    Page(open_console(buffer, "never")).show(blocks)
    return buffer.getvalue()


def full_text(case: Case) -> str:
    """Return the full description of a case."""
    return case.text if isinstance(case.text, str) else plain_text(case.text)


def _can_encode(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


NARROWEST = 20
"""A narrower terminal breaks the lines itself."""
GAP = 2
"""Blanks between two columns."""
_WORD = re.compile(r"^\s*\S*\s*|\S+\s*")
"""A word with the blanks after it; the first one also with those before it."""


def lines(text: str, width: int, hang: int | None = None) -> list[str]:
    """Return the text in lines of at most `width`. hang: indent of later lines, by default 2 more than the first."""
    if len(text) <= width or width < NARROWEST:
        return [text]
    indent = len(text) - len(text.lstrip())
    hang = min(indent + 2 if hang is None else hang, width // 2)
    glue = " \\" if text.lstrip().partition("  ")[2].lstrip().startswith("elrcheck ") else ""
    broken: list[str] = []
    now = ""
    for part in _WORD.findall(text):
        start = " " * hang if broken else ""
        if not now.strip() or len(now + part.rstrip()) + len(glue) <= width:
            now = (now or start) + part
        else:
            broken.append(now.rstrip() + glue)
            now = " " * hang + part.lstrip()
    return [*broken, now.rstrip()]


def column_widths(rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """Return a width for each column, at least its longest word; None if they do not fit beside each other."""
    columns = list(zip(*rows, strict=True))
    natural = [max(map(len, cells)) for cells in columns]
    least = [max(len(word) for cell in cells for word in [*cell.split(), ""]) for cells in columns]
    room = width - GAP * len(columns)
    if sum(natural) <= room:
        return natural
    if sum(least) > room:
        return None
    widths = least
    for _ in range(room - sum(least)):
        wants = [(have / want, n) for n, (have, want) in enumerate(zip(widths, natural, strict=True))]
        widths[min(wants)[1]] += 1
    return [min(have, want) for have, want in zip(widths, natural, strict=True)]


def stacked(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return the rows of a table below each other, for a terminal too narrow for its columns."""
    texts = []
    for row in rows:
        filled = [(name, cell) for name, cell in zip(head, row, strict=True) if cell]
        for number, (name, cell) in enumerate(filled):
            label = f"{name}: " if name and number else ""
            texts += lines(("  " if number else "") + label + cell, width, 4)
    return texts
