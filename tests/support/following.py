"""Whether the plain model follows a behaviour, as a number."""

from __future__ import annotations

from typing import Any

from elrcheck.traces.loaded import Loaded
from elrcheck.traces.replay import replay


def refused_step(loaded: Loaded[Any]) -> int | None:
    """The number of the first step that the plain model does not follow, 0 for a wrong first state."""
    rejection = replay(loaded.model, loaded.config, loaded.behaviour).rejection
    return None if rejection is None else rejection.step
