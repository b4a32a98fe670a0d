"""The texts that document the fields of a class: each is a string below its field."""

from __future__ import annotations

import ast
import inspect
import textwrap


def field_texts(kind: type) -> dict[str, str]:
    """Return the text below each field of a class that has one, as editors and documentation tools read it."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    texts = {}
    for node, below in zip(tree.body, tree.body[1:], strict=False):
        match node, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = inspect.cleandoc(text)
    return texts
