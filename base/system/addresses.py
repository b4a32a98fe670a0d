"""Addresses of servers: HOST:PORT, or [IPv6]:PORT."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from typing import TypeAlias

Address: TypeAlias = tuple[str, int]
"""A host and a port."""


def address(text: str) -> Address | None:
    """Return the address that a text names; None for any other text."""
    match = re.fullmatch(r"(?:\[([0-9A-Za-z:.%]+)\]|([^\[\]:,/@\s]+)):([0-9]{1,5})", text.strip())
    if match is None or not 0 < int(match[3]) < 65536:
        return None
    return match[1] or match[2], int(match[3])


def unreachable(addresses: Iterable[Address], seconds: float) -> list[str]:
    """Return why no server listens at these addresses; empty if one does. seconds: for each attempt."""
    reasons = []
    for host, port in addresses:
        try:
            socket.create_connection((host, port), seconds).close()
        except OSError as fault:
            reasons.append(f"{host}:{port}: {fault.strerror or fault}")
        else:
            return []
    return reasons
