"""Test support modules live beside the tests; importlib mode does not add their folder by itself.

Tests run in several processes: each gets a folder of its own for temporary files, because some tests
check that nothing is left behind in it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

if "PYTEST_XDIST_WORKER" in os.environ:
    _own = tempfile.mkdtemp(prefix="elrcheck-tests-")
    atexit.register(shutil.rmtree, _own, ignore_errors=True)
    os.environ["TMPDIR"] = tempfile.tempdir = _own
