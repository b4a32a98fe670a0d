"""Without what only Unix has: no module needs it to be imported, and the local engine runs.

Windows itself is not tested; its Python lacks the modules and names hidden here.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.places import sources

MODULES = ("fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog", "readline")
NAMES = {
    "os": (
        "fork",
        "forkpty",
        "symlink",
        "sched_getaffinity",
        "sysconf",
        "getuid",
        "geteuid",
        "killpg",
        "setpgid",
        "setsid",
        "mkfifo",
        "O_DIRECTORY",
    ),
    "signal": ("pthread_sigmask", "SIGKILL", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGPIPE"),
    "mmap": ("MAP_PRIVATE", "MAP_ANONYMOUS", "MAP_SHARED", "MADV_HUGEPAGE", "MADV_DONTNEED"),
}
HIDE = f"""
import sys
for name in {MODULES!r}: sys.modules[name] = None
import mmap, os, signal, subprocess, types
# On Windows `subprocess` does not use SIGKILL.
subprocess.signal = types.SimpleNamespace(**vars(signal))
for name, gone in {NAMES!r}.items():
    for attribute in gone:
        if hasattr(sys.modules[name], attribute): delattr(sys.modules[name], attribute)
from elrcheck.cli import main
main(sys.argv[1:])
"""


def hidden(*argv: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HIDE, "--no-progress", *argv]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def test_no_module_imports_what_only_unix_has() -> None:
    """At its import; inside a function it may try."""
    for path in sources():
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body if any(name in text for name in MODULES) else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & set(MODULES), path


@pytest.mark.parametrize("engine", ["local", pytest.param("numpy", marks=pytest.mark.slow)])
def test_check(tmp_path: Path, engine: str) -> None:
    done = hidden("check", "--scope", "two-brokers", "--engine", engine, "-f", "json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "holds"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("check", "--scope", "two-brokers", "--variant", "legacy", "--memory", "2GiB"), 1),
        (("check", "--scope", "two-brokers", "--fingerprint", "64"), 0),
        (("check", "--scope", "two-brokers", "--max-depth", "5", "--run-dir", "run"), 3),
        (("explore", "--scope", "three-brokers-tiny"), 0),
        (("sweep", "--scope", "two-brokers-quiet", "--sweep", "crashes=0..1", "--workers", "2"), 0),
        (("runs",), 0),
        (("doctor",), 0),
    ],
)
def test_other_commands(tmp_path: Path, argv: tuple[str, ...], code: int) -> None:
    done = hidden(*argv, folder=tmp_path)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
