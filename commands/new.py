"""`elrcheck new`: write a small model of a protocol and a test, to start from."""

from __future__ import annotations

import keyword
from importlib.resources import files
from pathlib import Path

from elrcheck.base.atomic import write_file
from elrcheck.base.errors import UsageFault


def write_new(name: str, folder: Path) -> tuple[Path, ...]:
    """Write NAME.py and test_NAME.py, and return their paths; raise UsageFault for a bad name or if one exists."""
    if not name.isidentifier() or keyword.iskeyword(name):
        help = "letters, digits and _, no digit first, and not a Python keyword: tests import the file by its name"
        raise UsageFault("usage-bad-value", f"`{name}` is not a valid name of a Python module", help=help)
    texts = {folder / f"{name}.py": "new_model.py.txt", folder / f"test_{name}.py": "new_test.py.txt"}
    for path in texts:
        if path.exists():
            raise UsageFault("new-exists", f"{path} exists already", help="choose another name")
    templates = files("elrcheck.commands") / "templates"
    for path, template in texts.items():
        write_file(path, (templates / template).read_text(encoding="utf-8").replace("{name}", name))
    return tuple(texts)
