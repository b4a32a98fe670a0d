"""The TOML files in a folder of the packaged catalogue."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable


def packaged_files(folder: str) -> tuple[Traversable, ...]:
    """Return the files of `catalogue/FOLDER`, in the order of their names; none if it has no such folder."""
    place = files("elrcheck.catalogue") / folder
    every = place.iterdir() if place.is_dir() else ()
    return tuple(sorted((file for file in every if file.name.endswith(".toml")), key=lambda file: file.name))
