"""Tests of what a process reports of its own memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MIB = 1 << 20


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of an address space is Linux's")
def test_the_peak_of_a_process_is_not_that_of_the_process_that_started_it() -> None:
    """Linux hands the parent's `ru_maxrss` on; a parent of 300 MiB must not show in a child of some 30."""
    child = "from elrcheck.explorer.store.memory import peak_bytes; print(peak_bytes())"
    parent = (
        "import subprocess, sys\n"
        "large = bytearray(b'1') * (300 << 20)\n"
        f"sys.exit(subprocess.run([sys.executable, '-c', {child!r}], preexec_fn=lambda: None).returncode)"
    )
    ended = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert 0 < int(ended.stdout) < 200 * MIB
