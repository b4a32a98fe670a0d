"""`elrcheck new` and `elrcheck model fork`: a small model of a protocol, or a copy of one, to change it."""

from __future__ import annotations

import keyword
from importlib.resources import files
from pathlib import Path

from elrcheck.base.atomic import write_file
from elrcheck.base.errors import UsageFault
from elrcheck.base.requests import Selection
from elrcheck.declared.declared_model import declared


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


DECLARATION = "__init__.py"
README = "README.md"


def write_fork(folder: Path, model: Path | None, patch: Path | None = None) -> tuple[Path, ...]:
    """Write the files of a model into a folder, and return their paths. model, patch: see `Selection`.

    Kafka's partition comes with a README about changing it. Raise UsageFault if the folder is not empty.
    """
    texts = declared(Selection(model=model, patch=patch).source).source_texts()
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        what = "is a file" if folder.is_file() else "is not empty"
        raise UsageFault("fork-exists", f"{folder} {what}", help="choose another folder")
    if not folder.resolve().name.replace("-", "_").isidentifier():
        help = "letters, digits, _ and -, and no digit first: Python imports the folder by its name"
        raise UsageFault("usage-bad-value", f"`{folder.name}` is not a valid name of a Python package", help=help)
    if model is None:
        template = files("elrcheck.commands") / "templates" / "fork_readme.md.txt"
        texts[README] = template.read_text(encoding="utf-8").replace("{folder}", folder.resolve().name)
    elif model.is_file():
        texts = {DECLARATION: texts[model.name]}
    for name, text in texts.items():
        write_file(folder / name, text)
    return tuple(folder / name for name in texts)
