"""The console of the text renderers, and the few elements they print.

On a terminal the text adapts to its width and colours, and no word is broken; elsewhere it has no escape
codes, is never wrapped, and does not depend on the environment.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TextIO, TypeAlias

from elrcheck.base.printable import printable_line
from elrcheck.report.line_breaks import column_widths, lines, stacked

if TYPE_CHECKING:
    from rich.console import Console

Color: TypeAlias = Literal["auto", "always", "never"]

PLAIN_WIDTH = 160
THIN_SPACE = "\u202f"

STYLES: Mapping[str, str] = {
    "fail": "bold red",
    "violated": "bold red",
    "refuted": "bold red",
    "rejected": "bold red",
    "different": "bold red",
    "failed": "bold red",
    "never fired": "bold red",
    "missing": "bold red",
    "not_found": "bold red",
    "unnoticed": "bold yellow",
    "inconclusive": "bold yellow",
    "skipped": "yellow",
    "unknown": "bold yellow",
    "unreached": "bold yellow",
    "vacuous": "bold yellow",
    "expected": "green",
    "counted": "green",
    "unaffected": "bold yellow",
    "undefined": "green",
    "contradicted": "bold red",
    "equivalent": "green",
    "unexpected": "bold red",
    "absent": "yellow",
    "no_violation": "bold yellow",
    "holds": "green",
    "reached": "green",
    "proved": "green",
    "confirmed": "green",
    "same": "green",
    "found": "green",
    "noticed": "green",
    "surveyed": "green",
    "ok": "green",
    "drift": "bold red",
    "tolerated": "yellow",
    "updated": "green",
    "accepted": "green",
    "enabled": "green",
    "refused": "bold yellow",
    "complete": "green",
    "gaps": "bold yellow",
}


class Page:
    """The output of a renderer: lines, labelled lines and tables, none interpreted as rich markup.

    Whatever a text is made of, it stays on its line and is printable: some pages show no report.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._separator = THIN_SPACE if _can_encode(console.encoding, THIN_SPACE) else ","
        self._width = console.width if console.file.isatty() else None

    def line(self, text: str = "", style: str = "", hang: int | None = None) -> None:
        """Prints a line; on a terminal that is too narrow several, the later ones indented by `hang`."""
        from rich.text import Text

        for part in self._lines(text, hang):
            self._console.print(Text(part, style=style), soft_wrap=True)

    def verdict_line(self, word: str, rest: str) -> None:
        """Prints a line that starts with a verdict in capitals and in its colour."""
        from rich.text import Text

        verdict = word.upper().replace("_", " ")
        for number, part in enumerate(self._lines(f"{verdict}  {rest}", 2)):
            text = Text(part, style="default")
            if number == 0:
                text.stylize(STYLES.get(word, "bold"), 0, len(verdict))
            self._console.print(text, soft_wrap=True)

    def labelled(self, label: str, text: str | None, indent: int = 6) -> None:
        """Prints ``label     text``, or nothing if the text is empty."""
        if text:
            self.line(f"{'':{indent}}{label:<9} {text}", hang=indent + 10)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> None:
        """Prints a plain table, with the columns in `right` right-aligned; nothing if there are no rows."""
        from rich.table import Table
        from rich.text import Text

        given = [tuple(map(printable_line, row)) for row in rows]
        widths = column_widths([columns, *given], self._width) if given and self._width else [None] * len(columns)
        if widths is None and self._width is not None:
            for text in stacked(columns, given, self._width):
                self._console.print(Text(text), soft_wrap=True)
            self._console.print()
            return
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for column, width in zip(columns, widths or (), strict=True):
            justify: Literal["right", "left"] = "right" if column in right else "left"
            table.add_column(column, justify=justify, overflow="fold", width=width)
        for row in given:
            table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
        if table.row_count:
            self._console.print(table)
            self._console.print()

    def _lines(self, text: str, hang: int | None = None) -> list[str]:
        text = printable_line(text)
        return [text] if self._width is None else lines(text, self._width, hang)

    def count(self, number: int) -> str:
        """Formats an integer in groups of three digits."""
        return f"{number:,}".replace(",", self._separator)


def open_console(stream: TextIO, color: Color = "auto") -> Console:
    """A rich console on `stream` that honours --color, NO_COLOR and FORCE_COLOR."""
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            """rich would exit with 1, which means a finding; `elrcheck.console.shell` handles it instead."""
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


def plain_text(draw: Callable[[Page], None]) -> str:
    """The output of a renderer as text without colours."""
    buffer = io.StringIO()
    draw(Page(open_console(buffer, "never")))
    return buffer.getvalue()


def _can_encode(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
