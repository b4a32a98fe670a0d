"""The `elrcheck` command lines that a document has, as words, as a shell would read them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from support.followed import FENCE, HERE_DOCUMENT, commands
from support.places import ROOT

DOCUMENTS = (ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "adr"))
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
OPERATOR = re.compile(r"[();<>|&]+")
HASH = "\ue000"  # a `#` inside a word, which shlex would take for a comment


@dataclass(frozen=True)
class Simple:
    """One command of a line. before: the operator before it, "" at the start; assigned: NAME=VALUE words."""

    before: str
    words: tuple[str, ...]
    assigned: tuple[tuple[str, str], ...] = ()
    redirected: bool = False


@dataclass(frozen=True)
class Quoted:
    """One call of elrcheck in a document. mention: in running text, which may give a name only."""

    line: int
    arguments: tuple[str, ...]
    mention: bool


def simple_commands(text: str) -> tuple[Simple, ...]:
    """The commands of a line of shell, without redirections, here-documents and comments."""
    text = text.split("\n", 1)[0] if HERE_DOCUMENT.search(text) else text
    text = re.sub(r"(?<=\S)#", HASH, text.replace("\\\n", " "))
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    commands: list[Simple] = []
    before, skips, redirected = "", False, False
    words: list[str] = []
    for word in [*lexer, ";"]:
        if skips:
            skips = False
        elif not OPERATOR.fullmatch(word):
            words.append(word.replace(HASH, "#"))
        elif set(word) & set("<>"):
            skips = redirected = True
        else:
            if words:
                commands.append(_simple(before, words, redirected))
            before, words, redirected = word, [], False
    return tuple(commands)


def _simple(before: str, words: list[str], redirected: bool) -> Simple:
    count = 0
    while count < len(words) and re.match(r"[A-Za-z_]\w*=", words[count]):
        count += 1
    pairs = (word.split("=", 1) for word in words[:count])
    return Simple(before, tuple(words[count:]), tuple((name, value) for name, value in pairs), redirected)


def is_elrcheck(simple: Simple) -> bool:
    return bool(simple.words) and PurePosixPath(simple.words[0]).name == "elrcheck"


def quoted_calls(document: str) -> Iterator[Quoted]:
    """Every call in a block of commands, and every span of code that begins with the name."""
    for fence in FENCE.finditer(document):
        line = document.count("\n", 0, fence.start()) + 1
        if fence[1] == "sh":
            for command in commands(fence[2]):
                yield from _calls(command.text, line, mention=False)
        elif not fence[1]:
            for number, text in enumerate(fence[2].splitlines(), start=1):
                if text.strip().startswith("elrcheck "):
                    yield from _calls(text, line + number, mention=False)
    running = FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), document)
    for paragraph in re.finditer(r"(?:.+\n?)+", running):
        for span in SPAN.finditer(paragraph[0]):
            if span[1].split()[0:1] == ["elrcheck"]:
                line = running.count("\n", 0, paragraph.start() + span.start()) + 1
                yield from _calls(" ".join(span[1].split()), line, mention=True)


def _calls(text: str, line: int, mention: bool) -> Iterator[Quoted]:
    for simple in simple_commands(text):
        if is_elrcheck(simple):
            yield Quoted(line, simple.words[1:], mention)
