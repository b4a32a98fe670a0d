"""Writes requirements-gate.txt: what elrcheck needs without Spark, with versions and hashes.

    python .ci/gate_requirements.py        # needs uv

The packages are those of pyproject.toml, and what builds the package, but for those that only Spark needs;
pandas also makes the tables of the Python API. docs/install.md says how to install from it.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = "requirements-gate.txt"
ONLY_SPARK = frozenset({"pandas", "pyspark"})
HEAD = """\
# What elrcheck needs without Spark, and what builds it, pinned by hash: docs/install.md.
# Written by `python .ci/gate_requirements.py`.
"""


def name_of(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9-]", requirement)[0].lower()


def pinned_requirements(project: dict[str, dict[str, list[str]]]) -> list[str]:
    """The requirements of a pyproject.toml that are pinned."""
    every = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    return [requirement for requirement in every if name_of(requirement) not in ONLY_SPARK]


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    command = [
        "uv",
        "pip",
        "compile",
        "-",
        "--universal",
        "--python-version",
        "3.11",
        "--generate-hashes",
        "--no-header",
        "--no-annotate",
        "--quiet",
    ]
    done = subprocess.run(
        command, input="\n".join(pinned_requirements(project)), cwd=ROOT, capture_output=True, text=True, check=True
    )
    (ROOT / TARGET).write_text(HEAD + done.stdout, encoding="utf-8")


if __name__ == "__main__":
    main()
