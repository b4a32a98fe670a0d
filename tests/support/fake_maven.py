"""A `mvn` that is a script of the test."""

from __future__ import annotations

from pathlib import Path


def maven(folder: Path, script: str) -> dict[str, str]:
    """An environment whose `mvn` is the script."""
    folder.mkdir()
    program = folder / "mvn"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin", "ELRCHECK_CACHE_DIR": str(folder / "cache")}
