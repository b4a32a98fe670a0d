"""Spark master URLs: parsing, and a check that the host answers before a JVM is started for it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from elrcheck.base.errors import EnvironmentFault, UsageFault, suggest
from elrcheck.base.system.addresses import Address, address, unreachable

Kind: TypeAlias = Literal["local", "standalone", "yarn", "k8s"]

FORMS = "local, local[N], local[*], spark://HOST:PORT[,HOST:PORT...], yarn, k8s://https://HOST:PORT"
LOCAL = re.compile(r"local(\[\s*(?P<threads>\*|[1-9][0-9]*)\s*(,\s*[1-9][0-9]*\s*)?\])?\Z")
STANDALONE = re.compile(r"spark://(?P<hosts>\S+)\Z")
PATIENCE = 5.0  # seconds for one TCP connection


@dataclass(frozen=True)
class Master:
    """A master URL that Spark understands.

    threads: number of cores of a local master, None if Spark decides. hosts: addresses of a standalone cluster's
    masters.
    """

    url: str
    kind: Kind
    threads: int | None = None
    hosts: tuple[tuple[str, int], ...] = ()

    @property
    def local(self) -> bool:
        """True if tasks run as threads of this process's JVM."""
        return self.kind == "local"

    @property
    def loopback(self) -> bool:
        """True if everything runs on this machine and listens on loopback addresses only."""
        return self.local or (bool(self.hosts) and all(_is_loopback(host) for host, _ in self.hosts))


def parse_master(url: str) -> Master:
    """Parse a master URL; raise UsageFault (exit 2) if Spark would reject it."""
    match = LOCAL.match(url)
    if match is not None:
        threads = match["threads"]
        if threads is None:
            return Master(url, "local", threads=1)
        return Master(url, "local", threads=None if threads == "*" else int(threads))
    match = STANDALONE.match(url)
    if match is not None:
        hosts = tuple(_address(url, part) for part in match["hosts"].split(","))
        return Master(url, "standalone", hosts=hosts)
    if url == "yarn":
        return Master(url, "yarn")
    if re.match(r"k8s://\S+\Z", url):
        return Master(url, "k8s")
    near = suggest(re.split(r"[\[:]", url)[0], ("local", "spark", "yarn", "k8s"))
    hint = f"did you mean `{near}`? " if near is not None and near != url else ""
    help = f"{hint}known: {FORMS}"
    raise UsageFault("spark-master", f"`{url}` is not a Spark master", where="--master", help=help)


def check_reachable(master: Master, env: Mapping[str, str], patience: float = PATIENCE) -> None:
    """Raise EnvironmentFault (exit 4) if the cluster is clearly unusable.

    Spark itself tries a standalone master three times for 20 seconds; a refused connection shows at once. This takes
    at most `patience` seconds per host.
    """
    if master.kind == "yarn" and not (env.get("HADOOP_CONF_DIR") or env.get("YARN_CONF_DIR")):
        message = "the master is yarn, but neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set"
        raise EnvironmentFault("spark-unreachable", message, help="set one to the folder with yarn-site.xml")
    if master.kind != "standalone":
        return
    if reasons := unreachable(master.hosts, patience):
        message = "no Spark master answers: " + "; ".join(reasons)
        help = "start it (sbin/start-master.sh), or check host, port and firewall, or use --master 'local[*]'"
        raise EnvironmentFault("spark-unreachable", message, where="--master", help=help)


def _address(url: str, text: str) -> Address:
    """Parse an address; Spark requires the port."""
    place = address(text)
    if place is None:
        message = f"`{text}` in `{url}` is not HOST:PORT"
        help = "write spark://HOST:PORT; a standalone master listens on port 7077 by default"
        raise UsageFault("spark-master", message, where="--master", help=help)
    return place


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
