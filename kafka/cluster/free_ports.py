"""Reserves ports for servers that start later and restart.

A server that restarts needs the port it had, so the ports are outside the range from which the system takes
ports for outgoing connections: a client that connects again and again would get one sooner or later. While a
`Ports` is open, other processes that look for ports here skip them: it holds the UDP ports of the same numbers.
"""

from __future__ import annotations

import contextlib
import random
import socket
from pathlib import Path

from elrcheck.base.errors import EnvironmentFault
from elrcheck.kafka.closed_at_end import ClosedAtEnd

HOST = "127.0.0.1"
LOWEST = 15_000
EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
USUAL = 32_768  # where that range begins on Linux; on others at 49,152
ATTEMPTS = 2_000


class Ports(ClosedAtEnd):
    """Free TCP ports of the loopback interface, `count` of them, reserved until the block ends."""

    def __init__(self, count: int) -> None:
        self._held: list[socket.socket] = []
        self.numbers: tuple[int, ...] = ()
        try:
            self.numbers = tuple(self._reserve(count))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        while self._held:
            self._held.pop().close()

    def _reserve(self, count: int) -> list[int]:
        end = _first_ephemeral()
        generator = random.SystemRandom()
        numbers: list[int] = []
        for _ in range(ATTEMPTS):
            if len(numbers) == count:
                return numbers
            number = generator.randrange(LOWEST, end) if end > LOWEST + 1000 else 0
            reserved = _bound(socket.SOCK_DGRAM, number)
            if reserved is None:
                continue
            self._held.append(reserved)
            number = reserved.getsockname()[1]
            free = _bound(socket.SOCK_STREAM, number)
            if free is not None:
                free.close()
                numbers.append(number)
        raise EnvironmentFault("system", f"no {count} free ports on {HOST}")


def _bound(kind: socket.SocketKind, number: int) -> socket.socket | None:
    bound = socket.socket(socket.AF_INET, kind)
    try:
        bound.bind((HOST, number))
    except OSError:
        bound.close()
        return None
    return bound


def _first_ephemeral() -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(EPHEMERAL.read_text(encoding="ascii").split()[0])
    return USUAL
