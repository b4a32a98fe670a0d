"""Tries a wheel in an empty environment: `python .ci/try_wheel.py dist/elrcheck-*.whl`.

Installs it without Spark, with the packages of requirements-gate.txt, and runs what a new user runs, in an empty
folder with an empty home. Every file that a command prints has to be there, in that folder or in the package.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = {
    "elrcheck --version": 0,
    "elrcheck --help": 0,
    "elrcheck doctor": 0,
    "elrcheck list findings --kafka 4.1": 0,
    "elrcheck show F-51": 0,
    "elrcheck scenario E-6": 0,
    "elrcheck assess --kafka 4.1 --replication-factor 3 --min-insync-replicas 2": 1,
    "elrcheck check --scope two-brokers-quiet": 0,
    "elrcheck check --scope two-brokers-quiet --variant code_4_1 --set reassignments=2 --set fences=2": 1,
    "elrcheck risk --kafka 4.1 --replication-factor 3 --min-insync-replicas 2 --event reassign --time-budget 20s": None,
    "elrcheck export spec --scope two-brokers --out tla": 0,
    "elrcheck site --out site": 0,
    "elrcheck init": 0,
}
"""What is run -> its exit code, None if time decides it."""
FILE = re.compile(r"(?<![\w/:.~<-])(?:[\w.-]+/)+[\w.-]+\.(?:md|html|json|toml|tla|cfg|py|yml|txt)\b")


def absent(text: str, folders: tuple[Path, ...]) -> Iterator[str]:
    """Yield the files that a text names and that are in none of the folders."""
    for name in dict.fromkeys(FILE.findall(text)):
        if not any((folder / name).exists() for folder in folders):
            yield name


def main(wheel: Path) -> int:
    faults = []
    with tempfile.TemporaryDirectory(prefix="elrcheck-trial-") as scratch:
        place = Path(scratch)
        home, work = place / "home", place / "work"
        home.mkdir()
        work.mkdir()
        venv.create(place / "venv", with_pip=True)
        python = place / "venv" / "bin" / "python"
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements-gate.txt")], check=True)
        subprocess.run([*pip, "--no-deps", str(wheel.resolve())], check=True)
        (package,) = (place / "venv").glob("lib/python*/site-packages/elrcheck")
        if not any((package / "shipped").rglob("programs/*")):
            faults.append("the wheel brings no programs of first searches along: see setup.py")
        path = f"{place / 'venv' / 'bin'}:/usr/bin:/bin"
        env = {"HOME": str(home), "PATH": path, "LANG": os.environ.get("LANG", "C.UTF-8")}
        for line, code in COMMANDS.items():
            done = subprocess.run(line.split(), cwd=work, env=env, capture_output=True, text=True, check=False)
            output = done.stdout + done.stderr
            if (code is not None and done.returncode != code) or "Traceback" in output or "error[internal]" in output:
                faults.append(f"{line}: exit {done.returncode}\n{output[-2000:]}")
            faults += [f"{line}: prints {name}, which is not there" for name in absent(output, (work, package))]
            print(f"{done.returncode}  {line}", flush=True)
    print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
