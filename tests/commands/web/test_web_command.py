"""`elrcheck web` as a process: its address, what it imports, how it ends, and where it begins."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from elrcheck.base.requests import Selection
from elrcheck.cli import cli
from elrcheck.commands.web.web_api import Explorer
from elrcheck.console.shell import run
from elrcheck.traces.loaded import NamedSelection
from support.processes import ended_in_time
from support.web_client import LEGACY, PATH, Client, serving

HEAVY = ("llvmlite", "networkx", "numpy", "pandas", "pyarrow", "pyspark", "rich", "z3")
LEGACY_GIVEN = NamedSelection(Selection("legacy", "two-brokers"))


def test_it_starts_without_solver_and_compiler_and_ends_with_130(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom elrcheck.cli import cli\n"
        "from elrcheck.console.shell import end_as_interrupted, run\n"
        "end_as_interrupted()\n"
        "code = run(cli, sys.argv[1:])\n"
        f"print(code, sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program, "web", "--no-open", "--scope", "two-brokers"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    with ended_in_time(process):
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        question = json.dumps({"model": LEGACY, "path": PATH}).encode()
        headers = {"Origin": address.rstrip("/"), "Content-Type": "application/json"}
        with urllib.request.urlopen(
            urllib.request.Request(f"{address}api/state", question, headers), timeout=60
        ) as reply:
            assert json.load(reply)["path"] == PATH
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (out, err) == ("130 []\n", "interrupted\n")
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(address.rsplit(":", 1)[1].strip("/")))) != 0


def test_only_this_machine_can_reach_it() -> None:
    with serving() as client:
        assert client.server.server_address[0] == "127.0.0.1"


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    with serving() as client:
        trace = client.post("/api/write", {"model": LEGACY, "path": PATH})
    file = tmp_path / "walk.trace.json"
    file.write_text(json.dumps(trace), encoding="utf-8")
    return file


def start_of(explorer: Explorer) -> Any:
    with serving(explorer) as client:
        return client.get("/api/start")


def test_it_begins_with_a_trace_in_the_model_that_the_trace_names(stored: Path) -> None:
    start = start_of(Explorer(NamedSelection(), stored))
    assert start["model"] == {**LEGACY, "overrides": [], "start": 0}
    assert start["trace"]["path"] == PATH


def test_it_begins_with_a_path_of_action_indices() -> None:
    with serving() as client:
        repro = client.post("/api/state", {"model": LEGACY, "path": PATH})["repro"]
    assert start_of(Explorer(LEGACY_GIVEN, repro=repro))["path"] == PATH


def test_a_scope_file_of_the_command_line_can_be_explored_and_no_other(tmp_path: Path) -> None:
    from importlib.resources import files

    text = (files("elrcheck.catalogue") / "scopes" / "two-brokers.toml").read_text("utf-8")
    for name in ("mine.toml", "other.toml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    mine, other = (str(tmp_path / name) for name in ("mine.toml", "other.toml"))
    with serving(Explorer(NamedSelection(Selection("legacy", mine)))) as client:
        model = {"variant": "legacy", "scope": mine}
        assert client.post("/api/state", {"model": model, "path": PATH})["path"] == PATH
        refused = client.post("/api/state", {"model": {**model, "scope": other}, "path": []})
        assert refused["error"]["code"] == "web-scope"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--repro", "99"], "web-path"),
        (["--repro", "0", "--trace", "a.json"], "usage-option"),
        (["--trace", "nothing.json"], "trace-file"),
        (["--port", "65536"], "usage-bad-value"),
        (["--set", "no"], "override-bad-form"),
    ],
)
def test_what_cannot_begin_is_refused(
    options: list[str], code: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(cli, ["web", "--no-open", "--scope", "two-brokers", *options]) == 2
    assert f"error[{code}]" in capsys.readouterr().err


def test_a_port_that_is_taken_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert run(cli, ["web", "--no-open", "--scope", "two-brokers", "--port", port]) == 4
    assert f"error[web-port]: cannot listen on port {port}" in capsys.readouterr().err


def test_a_connection_that_sends_nothing_does_not_delay_others() -> None:
    with serving() as client, socket.create_connection(("127.0.0.1", client.number)):
        assert Client(client.server).get("/api/start")["schema"] == "elrcheck.web-start/1"
