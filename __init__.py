"""elrcheck: a model checker for the partition state of Apache Kafka's KRaft controller (KIP-966)."""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]
