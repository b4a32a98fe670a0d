"""Write `__init__.pyi`, the signatures of `import elrcheck`: `python docs/generate_stub.py`. A test compares.

They are those that the functions have when they run, which are made from the options of requests.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import elrcheck

STUB = Path(__file__).resolve().parent.parent / "__init__.pyi"
WIDTH = 120
HEAD = '''"""Signatures of `import elrcheck`, for type checkers and editors.

Written by `python docs/generate_stub.py` from the options of requests: edit those.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from elrcheck.api.arguments import Place, Setting, Settings, Words
'''


def main() -> None:
    """Write the stub."""
    STUB.write_text(stub(), encoding="utf-8")


def stub() -> str:
    """Return the text of the stub, laid out as `ruff format` does."""
    places = {place: names for place, names in elrcheck._PLACES.items() if place != "api.functions"}
    imports = [
        f"from elrcheck.{place} import {name} as {name}\n" for place, names in places.items() for name in sorted(names)
    ]
    names = "".join(f'    "{name}",\n' for name in elrcheck.__all__)
    functions = [_function(getattr(elrcheck, name)) for name in elrcheck._PLACES["api.functions"]]
    return f"{HEAD}{''.join(imports)}\n__all__ = [\n{names}]\n\n" + "\n".join(functions)


def _function(function: Callable[..., Any]) -> str:
    """Return the declaration of a function with its documentation."""
    signature = inspect.signature(function)
    parameters: list[str] = []
    for parameter in signature.parameters.values():
        variadic = any(text.startswith("*") for text in parameters)
        if parameter.kind is parameter.KEYWORD_ONLY and not variadic:
            parameters.append("*")
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}".replace("'", '"')
        parameters.append(f"{stars}{parameter.name}: {parameter.annotation}{default}")
    head = f"def {function.__name__}({', '.join(parameters)}) -> {signature.return_annotation}:"
    if len(head) > WIDTH:
        lines = "".join(f"    {text},\n" for text in parameters)
        head = f"def {function.__name__}(\n{lines}) -> {signature.return_annotation}:"
    documentation = textwrap.indent(inspect.getdoc(function) or "", "    ").strip()
    return f'{head}\n    """{documentation}\n    """\n'


if __name__ == "__main__":
    main()
