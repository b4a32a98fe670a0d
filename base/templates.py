"""The templates in a folder of the package, of pages, Java, YAML or TOML."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from jinja2 import Environment


def templates_in(folder: Traversable, escaping: bool = False) -> Environment:
    """Return the templates of a folder, for which a missing value is an error.

    escaping: every text is escaped for HTML.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        autoescape=escaping,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        loader=FunctionLoader(lambda name: (folder / name).read_text("utf-8")),
    )
