"""Edits of text, in tests: one that changes nothing is a mistake of the test, not a pass.

What an edit looks for may be renamed; a test that goes on with the text as it was then shows nothing.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import AnyStr


def replaced(text: AnyStr, old: AnyStr, new: AnyStr, count: int = -1) -> AnyStr:
    """The text with `new` for `old`, everywhere or `count` times; AssertionError if nothing changes."""
    assert old in text, f"the edit does not apply: {old!r} is not in the text"
    assert old != new, f"the edit changes nothing: {old!r}"
    return text.replace(old, new, count)


def patch_file(file: Path, old: str, new: str) -> None:
    """Edits a file in place; AssertionError unless `old` occurs in it exactly once."""
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file.name}: {old!r} occurs {text.count(old)} times"
    file.write_text(replaced(text, old, new), encoding="utf-8")


def apply_diff(diff: str, folder: Path) -> None:
    """Applies a unified diff with paths a/.. and b/..; AssertionError unless each hunk fits exactly."""
    done = subprocess.run(
        ["patch", "-p1", "--fuzz=0", "--batch", "--forward", "--no-backup-if-mismatch"],
        cwd=folder,
        input=diff,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
