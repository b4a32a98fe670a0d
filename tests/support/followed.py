"""Documents followed literally: their shell blocks, run command by command, and the output they quote.

A command exits with 0 unless its comment says otherwise: `# exit 1`, `# exit 3, or 1`. A ```text block is
what the commands of the shell block before it print: its lines in that order; `..` stands for lines, or for
the end of a line, left out.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CODES = re.compile(r"\b(?:exit|or) (\d+)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
HERE_DOCUMENT = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
MARK = "@@ended"
BINARIES = Path(sys.executable).parent

# What the documents use of jq, for machines without it.
JQ = """#!{python}
import json, sys
found = json.load(sys.stdin)
for key in sys.argv[1].strip(".").split("."):
    found = found[key]
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Command:
    """One command, which may be of several lines, and the exit codes that it may have."""

    text: str
    codes: frozenset[int]


@dataclass(frozen=True)
class Block:
    """The commands of a shell block, and the lines that must be among what they print."""

    commands: tuple[Command, ...]
    quoted: tuple[str, ...] = ()


def sections(document: str) -> dict[str, str]:
    """Title -> text of the sections of the second level; what comes before them is under the empty title."""
    parts = re.split(r"^## (.+)$", document, flags=re.M)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def blocks(document: str) -> list[Block]:
    """The shell blocks in order; a text block belongs to the shell block before it."""
    parsed: list[Block] = []
    for language, body in FENCE.findall(document):
        if language == "sh":
            parsed.append(Block(tuple(commands(body))))
        elif language == "text" and parsed:
            lines = tuple(" ".join(line.split()) for line in body.splitlines())
            parsed[-1] = Block(parsed[-1].commands, parsed[-1].quoted + lines)
    return parsed


def commands(body: str) -> Iterator[Command]:
    """The commands of a block: a line, or more where a quotation, a `\\` or a here-document goes on."""
    pending: list[str] = []
    for line in body.splitlines():
        pending.append(line)
        text = "\n".join(pending)
        if text.strip() and _is_whole(text):
            yield Command(text, _codes(text))
            pending = []
    if "\n".join(pending).strip():
        raise ValueError(f"no end of the command: {pending[0]}")


def _is_whole(text: str) -> bool:
    here = HERE_DOCUMENT.search(text)
    if here:
        return text.count("\n") > 0 and text.splitlines()[-1].strip() == here[1]
    if text.endswith("\\"):
        return False
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return True


def _codes(text: str) -> frozenset[int]:
    comment = re.search(r"(?:^|\s)#\s(.*)$", text)
    return frozenset(map(int, CODES.findall(comment[1]) if comment else ())) or frozenset({0})


def environment(folder: Path, added: Mapping[str, str] | None = None) -> dict[str, str]:
    """No settings of this machine's user, and `elrcheck` (and jq) on the path."""
    tools = folder / ".tools"
    if not (tools / "jq").exists():
        tools.mkdir(exist_ok=True)
        (tools / "jq").write_text(JQ.format(python=sys.executable), encoding="utf-8")
        (tools / "jq").chmod(0o755)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("ELRCHECK_", "GITHUB_", "PYTHONPATH"))}
    path = os.pathsep.join((str(BINARIES), inherited["PATH"], str(tools)))
    return {**inherited, "PATH": path, "NO_COLOR": "1", "COLUMNS": "120", **(added or {})}


def follow(steps: Sequence[Block], folder: Path, env: Mapping[str, str], timeout: float = 900) -> None:
    """Runs the blocks as a reader types them into one shell; asserts exit codes and quoted lines.

    After each command the shell says which it was and how it ended; it stops at a code nobody announced.
    """
    listed = [(block, command) for block in steps for command in block.commands]
    script = "".join(
        f'{command.text}\nended=$?; echo; echo "{MARK} {i} $ended"\n'
        f"case $ended in {'|'.join(map(str, sorted(command.codes)))}) ;; *) exit 99;; esac\n"
        for i, (_, command) in enumerate(listed)
    )
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=dict(env),
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    parts = re.split(rf"^{MARK} (\d+) (\d+)\n", done.stdout, flags=re.M)
    printed = dict(zip(map(int, parts[1::3]), parts[::3], strict=False))
    codes = dict(zip(map(int, parts[1::3]), map(int, parts[2::3]), strict=True))
    for i, (_, command) in enumerate(listed):
        message = f"$ {command.text}\n{printed.get(i, parts[-1])[-6000:]}"
        assert codes.get(i) in command.codes, f"exit {codes.get(i)}, not {sorted(command.codes)}\n{message}"
        assert "Traceback" not in printed[i], message
    for block in steps:
        numbers = [i for i, (owner, _) in enumerate(listed) if owner is block]
        assert_quoted(block.quoted, "".join(printed[i] for i in numbers))


def assert_quoted(quoted: tuple[str, ...], printed: str) -> None:
    """Every quoted line is printed, in that order; spacing does not count."""
    lines = iter([" ".join(line.split()) for line in printed.splitlines()])
    for line in quoted:
        if line not in ("..", ""):
            begun = line.removesuffix("..")
            message = f"not printed (any more, or not here): {line}\n{printed[-6000:]}"
            assert any(
                printed_line == line or (begun != line and printed_line.startswith(begun)) for printed_line in lines
            ), message
