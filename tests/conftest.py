"""Test support modules live beside the tests; importlib mode does not add their folder by itself."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
