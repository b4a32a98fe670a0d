"""A plotting backend for pandas that keeps what is plotted, for machines without matplotlib.

`pandas.set_option("plotting.backend", "support.recorded_plots")` chooses it.
"""

from __future__ import annotations

from typing import Any

PLOTTED: list[tuple[str, Any]] = []
"""The kind of each plot, and its data: a Series or a DataFrame."""


def plot(data: Any, kind: str, **_: Any) -> None:
    PLOTTED.append((kind, data))
