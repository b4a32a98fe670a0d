"""Readers that leave, terminals that are odd, Ctrl-C in each phase: codes, streams, nothing half-written."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.invoked import Invoke
from support.processes import ended_in_time

BROKEN = ("--scope", "two-brokers-quiet", "--variant", "legacy", "--set", "shrinks=1", "--set", "crashes=1")
ELRCHECK = f"{shlex.quote(sys.executable)} -m elrcheck"


# ------------------------------------------------------------------------- readers that leave


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code"),
    [
        (f"{ELRCHECK} check {shlex.join(BROKEN)} | head -1", 1),
        (f"{ELRCHECK} list properties | head -1", 0),
        (f"{ELRCHECK} check --scope two-brokers-quiet | true", 0),
        (f"{ELRCHECK} --help >&-", 0),
        (f"{ELRCHECK} list scopes 2>&-", 0),
        (f"{ELRCHECK} what-if <&-", 2),
        (f"{ELRCHECK} trace step --scope two-brokers-quiet <&-", 0),
    ],
)
def test_a_stream_that_is_closed(tmp_path: Path, command: str, code: int) -> None:
    whole = f"{command}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", whole], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr
    assert "Exception ignored" not in done.stderr


# ---------------------------------------------------------------------------- odd terminals


@pytest.mark.usefixtures("searches_are_made")
@pytest.mark.parametrize(
    "argv",
    [("check", *BROKEN), ("list", "properties"), ("config",), ("check", "--variant", "nope")],
    ids=["check", "list", "config", "error"],
)
def test_forty_columns_lose_no_word(invoke: Invoke, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...]) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    narrow = invoke(*argv)
    monkeypatch.setenv("COLUMNS", "400")
    wide = invoke(*argv)
    assert narrow[0] == wide[0] and "Traceback" not in narrow[2]
    assert words(narrow[1] + narrow[2]) >= words(wide[1] + wide[2])


def words(text: str) -> set[str]:
    """Names, not the numbers of a measurement."""
    return {word for word in text.split() if word.isidentifier()}


def test_colour_is_chosen_by_option_then_environment(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" not in invoke("list", "scopes")[1]
    assert "\x1b[" in invoke("--color", "always", "list", "scopes")[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in invoke("list", "scopes")[1]
    assert "\x1b[" not in invoke("--color", "never", "list", "scopes")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in invoke("list", "scopes")[1], "bold, but no colour"


def test_a_terminal_that_knows_only_ascii(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "elrcheck", "check", *BROKEN, "-f", "markdown"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, timeout=60)
    assert done.returncode == 1 and b"Traceback" not in done.stderr, done.stderr
    assert b"sequenceDiagram" in done.stdout


# ---------------------------------------------------------------------------------- Ctrl-C


PHASES = [
    ("lowering", "elrcheck.checking.engines.run_search", ("check", *BROKEN)),
    ("compiling", "elrcheck.explorer.kernel.kernel.Kernel.__init__", ("check", *BROKEN)),
    ("rebuilding traces", "elrcheck.traces.replay.replay_finding", ("check", *BROKEN)),
    ("writing traces", "elrcheck.base.atomic.os.replace", ("check", *BROKEN)),
    ("writing the report", "elrcheck.base.atomic.os.fsync", ("check", *BROKEN[:2], "-o", "report.json")),
    ("printing", "elrcheck.report.formats.blocks", ("check", *BROKEN[:2])),
    ("walking", "elrcheck.explorer.search.walk.Walks.run", ("simulate", *BROKEN[:2])),
    ("drawing", "elrcheck.commands.explore.run_explore", ("explore", *BROKEN[:2], "--graph", "g.dot")),
    ("recording", "elrcheck.base.atomic.os.fsync", ("gate", "--add", "a", *BROKEN[:2])),
    ("shortening", "elrcheck.commands.trace.minimise.minimise", ("trace", "minimise", "--repro", "0", *BROKEN)),
    ("init", "elrcheck.base.atomic.os.fsync", ("init",)),
]


@pytest.mark.usefixtures("searches_are_made")
@pytest.mark.parametrize(("place", "argv"), [p[1:] for p in PHASES], ids=[p[0] for p in PHASES])
def test_ctrl_c(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str, argv: tuple[str, ...]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupted)
    code, out, err = invoke("--no-progress", *argv)
    assert (code, out) == (130, ""), err
    assert err == "interrupted\n"
    assert [f for f in tmp_path.rglob("*") if f.is_file()] == [], "no partial file"


@pytest.mark.parametrize("message", ["compiling the model", pytest.param("searching", marks=pytest.mark.slow)])
def test_ctrl_c_of_a_process(tmp_path: Path, message: str) -> None:
    """Compiling anew, and a search of many seconds; what it leaves is whole and can be resumed."""
    command = [sys.executable, "-m", "elrcheck", "--progress", "check", "--scope", "three-brokers-log"]
    env = {**os.environ, "ELRCHECK_CACHE_DIR": str(tmp_path / "cache")}
    if message == "searching":
        env.pop("ELRCHECK_CACHE_DIR")
        command.append("--fresh")
    process = subprocess.Popen(
        command, cwd=tmp_path, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    with ended_in_time(process):
        before = next(line for line in process.stderr if line.startswith(message))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, before.strip()) == (130, "", message)
    assert "interrupted" in err and "Traceback" not in err
    assert not [f for f in tmp_path.rglob("*") if f.name.endswith(".tmp")]
