"""Scripts that are no modules of the package: those of docs/ and .ci/."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from support.places import ROOT


def script(path: str) -> ModuleType:
    """Return the script at this path from the root, run as a module of its own."""
    file = ROOT / path
    spec = importlib.util.spec_from_file_location(f"script_{file.stem.replace('-', '_')}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass looks for its module there
    spec.loader.exec_module(module)
    return module
