"""ElectLeaders as bytes: what a broker would read, and its answers. A socket of Python plays the broker."""

from __future__ import annotations

import socket
import struct
import threading

import pytest

from elrcheck.kafka.cluster.cluster_clients import RefusedByKafka, elect_by_request, encoded

HEAD = bytes([0, 43, 0, 1, 0, 0, 0, 7, 0, 8]) + b"elrcheck"
BODY = bytes([0, 0, 0, 0, 1, 0, 6]) + b"orders" + bytes([0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0x27, 0x10])


def answer(whole: int, error: int) -> bytes:
    """Correlation id, throttle time, error, and one topic with one partition."""
    partition = struct.pack(">iihh", 1, 3, error, -1)
    return struct.pack(">iihi", 7, 0, whole, 1) + struct.pack(">h", 6) + b"orders" + partition


def request_after(reply: bytes) -> bytes:
    """What a broker that sends this reply is asked."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        heard = bytearray()

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.settimeout(20)
                (length,) = struct.unpack(">i", connection.recv(4))
                while len(heard) < length:
                    heard.extend(connection.recv(length - len(heard)))
                connection.sendall(reply)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            elect_by_request(server.getsockname()[1], "orders", 3, "preferred")
        finally:
            thread.join(20)
    return bytes(heard)


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def test_the_request_and_an_answer_without_error() -> None:
    assert request_after(framed(answer(0, 0))) == HEAD + BODY == encoded("orders", 3, "preferred")
    assert encoded("orders", 3, "unclean")[len(HEAD)] == 1


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (framed(answer(41, 0)), "NOT_CONTROLLER"),
        (framed(answer(0, 84)), "ELECTION_NOT_NEEDED"),
        (framed(answer(0, 99)), "error 99"),
        (b"", "closed the connection"),
    ],
)
def test_errors(reply: bytes, says: str) -> None:
    with pytest.raises(RefusedByKafka, match=says):
        request_after(reply)


def test_a_broker_that_does_not_listen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(RefusedByKafka):
        elect_by_request(port, "orders", 0, "preferred")
