"""A command that a test runs in its own process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Invoke: TypeAlias = Callable[..., tuple[int, str, str]]
"""Takes the words of a command; returns its exit code, stdout and stderr."""
