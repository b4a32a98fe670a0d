"""The catalogue files of a folder, and values that several kinds of them contain: knobs, variants, releases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Any, TypeAlias

from elrcheck.base.errors import did_you_mean
from elrcheck.base.strict import Node
from elrcheck.base.typed.configuration import config_fields, config_value
from elrcheck.base.typed.records import NodeReader, prose
from elrcheck.model.config import Config
from elrcheck.model.variants import variant_names


def packaged_files(folder: str) -> tuple[Traversable, ...]:
    """Return the files of `catalogue/FOLDER`, in the order of their names; none if it has no such folder."""
    place = files("elrcheck.catalogue") / folder
    every = place.iterdir() if place.is_dir() else ()
    return tuple(sorted((file for file in every if file.name.endswith(".toml")), key=lambda file: file.name))


SCOPE = "two-brokers-quiet"
"""The scope of hazards, findings and recipes that name no other."""
RELEASE = re.compile(r"\d+\.\d+\.\d+")


def knob_values(node: Node) -> dict[str, Any]:
    """Return the fields of `Config` in a table, with values of their types."""
    kinds = config_fields(Config)
    return {key: config_value(kinds[key], part) for key, part in node.object((), kinds).fields()}


def variant_name(node: Node) -> str:
    """Return the name of a variant; a UsageFault suggests one if it does not exist."""
    name = prose(node)
    variants = variant_names()
    if name not in variants:
        node.bad(f"unknown variant `{name}`", did_you_mean(name, variants))
    return name


def release(node: Node) -> str:
    """Return a release of Kafka, which has to have three numbers."""
    name = prose(node)
    if RELEASE.fullmatch(name) is None:
        node.expected("a release such as 4.1.2", "give all three numbers")
    return name


Knobs: TypeAlias = Annotated[Mapping[str, Any], NodeReader(knob_values)]
Variant: TypeAlias = Annotated[str, NodeReader(variant_name)]
Release: TypeAlias = Annotated[str, NodeReader(release)]
