"""Which modules make the checked model and the model of the proof."""

from __future__ import annotations

from elrcheck.invariants import (
    acknowledgements,
    lemmas_logs,
    lemmas_quorums,
    lemmas_views,
    properties,
    witnesses,
)
from elrcheck.lang.load import Model
from elrcheck.model.protocol import load_model

CHECKED = (properties, acknowledgements, witnesses)
LEMMAS = (lemmas_views, lemmas_logs, lemmas_quorums)


def load_checked_model() -> Model:
    """The protocol with its properties and witnesses."""
    return load_model(*CHECKED)


def load_proof_model() -> Model:
    """The protocol with its properties and the lemmas they are proved from."""
    return load_model(*CHECKED, *LEMMAS)
