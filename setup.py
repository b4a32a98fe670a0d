"""The one step of a build that pyproject.toml cannot express: the programs of first searches go into the wheel.

See `catalogue/shipped_programs.py`. An editable installation has none, since its sources change.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithPrograms(build_py):
    """Copies the package, then lets the copy lower its model."""

    def run(self) -> None:
        place = Path(self.build_lib).resolve()
        if not self.editable_mode and place / "elrcheck" != Path(__file__).resolve().parent:
            shutil.rmtree(place / "elrcheck", ignore_errors=True)  # of older sources: it may have modules that are gone
        super().run()
        if self.editable_mode:
            return
        paths = [str(place), *filter(None, [os.environ.get("PYTHONPATH")])]
        environ = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "elrcheck.catalogue.shipped_programs", str(place / "elrcheck" / "shipped")]
        if subprocess.run(command, env=environ, cwd=place, check=False).returncode:
            self.warn("no programs are shipped: the first search of a scope takes some seconds longer")


setup(cmdclass={"build_py": BuildWithPrograms})
