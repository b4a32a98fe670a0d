"""Reads a file of client properties, like --command-config of Kafka's tools, for the client library.

Keys and values are Kafka's. An unknown key is refused, because a setting that is silently ignored may be the one
that was meant to protect the connection.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from elrcheck.base.errors import UsageFault, did_you_mean

CODE = "client-config"
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
WITH_PASSWORD = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS = (*WITH_PASSWORD, "GSSAPI")
NUMBERS: Mapping[str, str] = {
    "request.timeout.ms": "request_timeout_ms",
    "default.api.timeout.ms": "bootstrap_timeout_ms",
    "connections.max.idle.ms": "connections_max_idle_ms",
    "reconnect.backoff.ms": "reconnect_backoff_ms",
    "reconnect.backoff.max.ms": "reconnect_backoff_max_ms",
    "retry.backoff.ms": "retry_backoff_ms",
}
TEXTS: Mapping[str, str] = {"client.id": "client_id", "sasl.kerberos.service.name": "sasl_kerberos_service_name"}
OTHERS = (
    "security.protocol",
    "sasl.mechanism",
    "sasl.jaas.config",
    "ssl.truststore.type",
    "ssl.truststore.location",
    "ssl.truststore.certificates",
    "ssl.keystore.type",
    "ssl.keystore.location",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
)
ACCEPTED_KEYS = (*NUMBERS, *TEXTS, *OTHERS)
LIBRARY_DEFAULTS: Mapping[str, object] = {
    "client_id": "elrcheck",
    "bootstrap_timeout_ms": 30_000,
    "request_timeout_ms": 10_000,
}
CONVERT = (
    "only PEM can be read: convert the store (keytool -importkeystore -deststoretype PKCS12, then openssl"
    " pkcs12), and set the type to PEM"
)


@dataclass(frozen=True)
class ClientSettings:
    """Options of the client library, by its own names. Never printed, because they may contain passwords."""

    options: Mapping[str, object] = field(default_factory=lambda: dict(LIBRARY_DEFAULTS), repr=False)


@dataclass(frozen=True, slots=True)
class _Property:
    """The value of a property, and the place of its line."""

    value: str
    where: str


def read_settings(path: Path | None) -> ClientSettings:
    """Return the settings of a file, or those of the library if path is None; raise UsageFault."""
    if path is None:
        return ClientSettings()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else "it is not UTF-8 text"
        raise UsageFault(CODE, f"the client properties cannot be read: {reason}", where=str(path)) from fault
    settings = {key: _Property(value, f"{path}:{line}") for key, value, line in properties(text)}
    for key, each in settings.items():
        if key == "bootstrap.servers":
            help = "leave it out: --bootstrap says which brokers to ask"
            raise UsageFault(CODE, "`bootstrap.servers` is ignored in this file", where=each.where, help=help)
        if not re.fullmatch(r"[\w.-]+", key):  # perhaps the rest of a password that a line break cut off
            message = "this line is not a property; a value continues in the next line after a backslash"
            raise UsageFault(CODE, message, where=each.where)
        if key not in ACCEPTED_KEYS:
            help = did_you_mean(key, ACCEPTED_KEYS)
            raise UsageFault(CODE, f"unknown property `{key}`", where=each.where, help=help)
    return ClientSettings(_options(settings))


def properties(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the keys and values of a Java properties file, each with the number of its first line."""
    lines = iter(enumerate(text.splitlines(), 1))
    for number, raw in lines:
        line = raw.lstrip()
        if not line or line[0] in "#!":
            continue
        parts = [line]
        while _continues(parts[-1]):
            parts[-1] = parts[-1][:-1]
            parts.append(next(lines, (0, ""))[1].lstrip())
        match = re.match(r"((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)", "".join(parts), re.DOTALL)
        assert match is not None
        yield _unescaped(match[1]), _unescaped(match[2]).rstrip(), number


def _continues(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _unescaped(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        if match[1] is not None:
            return chr(int(match[1], 16))
        return {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}.get(match[2], match[2])

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.?))", one, text)


# ---------------------------------------------------------------------------- options of the library


def _options(settings: Mapping[str, _Property]) -> dict[str, object]:
    options = dict(LIBRARY_DEFAULTS)
    for key, name in NUMBERS.items():
        if key in settings:
            options[name] = _parsed(key, settings[key], _natural, "a whole number of milliseconds")
    for key, name in TEXTS.items():
        if key in settings:
            options[name] = settings[key].value
    protocol = _one_of("security.protocol", settings, PROTOCOLS, "PLAINTEXT")
    options["security_protocol"] = protocol
    if protocol.endswith("SSL"):
        options["ssl_context"] = _ssl_context(settings)
    else:
        _unused(settings, "ssl.", "the security.protocol is one with SSL")
    if protocol.startswith("SASL"):
        options |= _sasl(settings)
    else:
        _unused(settings, "sasl.", "the security.protocol is one with SASL")
    return options


def _unused(settings: Mapping[str, _Property], prefix: str, unless: str) -> None:
    """Refuse a property that has no effect, since its author expects one."""
    for key, each in settings.items():
        if key.startswith(prefix):
            raise UsageFault(CODE, f"`{key}` has no effect unless {unless}", where=each.where)


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(text)
    return int(text)


def _parsed(key: str, setting: _Property, parse: Callable[[str], int], what: str) -> int:
    try:
        return parse(setting.value)
    except ValueError as fault:
        raise UsageFault(CODE, f"`{key}` is not {what}", where=setting.where) from fault


def _one_of(key: str, settings: Mapping[str, _Property], choices: tuple[str, ...], default: str) -> str:
    each = settings.get(key)
    if each is None:
        return default
    if each.value not in choices:
        raise UsageFault(CODE, f"`{key}` must be one of {', '.join(choices)}", where=each.where)
    return each.value


def _sasl(settings: Mapping[str, _Property]) -> dict[str, object]:
    mechanism = _one_of("sasl.mechanism", settings, MECHANISMS, "GSSAPI")
    if mechanism not in WITH_PASSWORD:
        return {"sasl_mechanism": mechanism}
    jaas = settings.get("sasl.jaas.config")
    if jaas is None:
        help = 'sasl.jaas.config=..LoginModule required username=".." password="..";'
        raise UsageFault(CODE, f"{mechanism} needs `sasl.jaas.config`", help=help)
    options = dict(re.findall(r"(?<!\w)(\w++)\s*+=\s*+\"((?:[^\"\\]|\\.)*)\"", jaas.value))
    if not {"username", "password"} <= set(options):
        message = "`sasl.jaas.config` names no username and password in double quotes"
        raise UsageFault(CODE, message, where=jaas.where)
    return {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": _unescaped(options["username"]),
        "sasl_plain_password": _unescaped(options["password"]),
    }


def _ssl_context(settings: Mapping[str, _Property]) -> ssl.SSLContext:
    for store in ("truststore", "keystore"):
        kind, where = settings.get(f"ssl.{store}.type"), settings.get(f"ssl.{store}.location")
        if where is not None and (kind is None or kind.value != "PEM"):
            store_type = f"JKS, because `ssl.{store}.type` is not set" if kind is None else kind.value
            raise UsageFault(CODE, f"the {store} is of type {store_type}", where=where.where, help=CONVERT)
    trusted, inline = settings.get("ssl.truststore.location"), settings.get("ssl.truststore.certificates")
    keys, password = settings.get("ssl.keystore.location"), settings.get("ssl.key.password")
    try:
        context = ssl.create_default_context(
            cafile=None if trusted is None else trusted.value, cadata=None if inline is None else inline.value
        )
    except (OSError, ValueError) as fault:  # an SSLError is an OSError
        at = trusted or inline
        place = None if at is None else at.where
        raise UsageFault(CODE, f"the truststore cannot be read: {fault}", where=place) from fault
    if keys is not None:
        try:
            context.load_cert_chain(keys.value, password=None if password is None else password.value)
        except (OSError, ValueError) as fault:
            raise UsageFault(CODE, f"the keystore cannot be read: {fault}", where=keys.where) from fault
    algorithm = settings.get("ssl.endpoint.identification.algorithm")
    if algorithm is not None and algorithm.value not in ("", "https"):
        message = "`ssl.endpoint.identification.algorithm` must be https or empty"
        raise UsageFault(CODE, message, where=algorithm.where)
    context.check_hostname = algorithm is None or algorithm.value != ""
    return context
