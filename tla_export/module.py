"""Write the TLA+ module of a model and configuration into a folder."""

from __future__ import annotations

from pathlib import Path

from elrcheck.base.atomic import write_files
from elrcheck.lang.load import Model
from elrcheck.lang.runtime import ModelConfig
from elrcheck.tla_export.names import camel
from elrcheck.tla_export.reading.values import identifier
from elrcheck.tla_export.spec import Spec, reading_text, spec_text


def module_name(variant: str, scope: str) -> str:
    """Name the module of a variant and scope: KipFullThreeBrokers for kip_full and three-brokers."""
    return identifier(camel(f"{variant}_{Path(scope).stem}".replace("-", "_")), fallback="Elrcheck")


def write_spec(
    model: Model,
    config: ModelConfig,
    folder: Path,
    name: str,
    comment: str = "",
    symmetry: bool = False,
    whole: bool = True,
) -> Spec:
    """Write NAME.tla and NAME.cfg into a folder. symmetry: see `spec_text`; whole: see `reading_text`."""
    spec = (spec_text if whole else reading_text)(model, config, name, comment, symmetry)
    write_files(folder, {f"{name}.tla": spec.tla, f"{name}.cfg": spec.cfg})
    return spec
