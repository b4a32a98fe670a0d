"""Steps of CI run as CI runs them: in a bash that stops at an error, with elrcheck on the PATH."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def shell(command: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command line as a step does. more: its environment."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, **more}
    done = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command]
    return subprocess.run(done, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def steps(document: Any, job: str = "gate") -> list[dict[str, Any]]:
    """Return the steps of a workflow's job that run a command of elrcheck."""
    return [step for step in document["jobs"][job]["steps"] if step.get("run", "").startswith("elrcheck")]
