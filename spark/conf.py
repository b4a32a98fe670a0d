"""What a user chooses of a session: the URL of its master, and Spark properties.

The host of the URL must answer before a JVM is started for it. Properties of the user override ours, except where they
could falsify a verdict.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from elrcheck.base.errors import EnvironmentFault, UsageFault, suggest
from elrcheck.base.programs import Address, address, unreachable

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


WHERE = "--spark-conf"
SHIPPED = "elrcheck-packages"
EXECUTOR_PATH = "spark.executorEnv.PYTHONPATH"

OURS: Mapping[str, str] = {
    "spark.ui.showConsoleProgress": "false",
    # States stay in the partition to which they were hashed, so Spark must not merge or split partitions.
    "spark.sql.adaptive.enabled": "false",
    # Reused Python workers keep their compiled kernel.
    "spark.python.worker.reuse": "true",
    # A partition has its states on one executor; candidates come from all of them.
    "spark.shuffle.reduceLocality.enabled": "false",
}

# Properties controlled by other means, and the alternative.
ELSEWHERE: Mapping[str, str] = {
    "spark.master": "use --master",
    "spark.remote": "a search needs a classic session, not Spark Connect; use --master",
    "spark.api.mode": "a search needs a classic session, not Spark Connect",
    "spark.submit.deployMode": "the driver is this process",
}

# Values that could lose states without an error, so that a finding would be missed.
UNSAFE: Mapping[tuple[str, str], str] = {
    ("spark.sql.adaptive.enabled", "true"): "Spark would merge or split the partitions that own the states",
    ("spark.sql.files.ignoreCorruptFiles", "true"): "states in a damaged file would be skipped",
    ("spark.sql.files.ignoreMissingFiles", "true"): "states in a missing file would be skipped",
    ("spark.files.ignoreCorruptFiles", "true"): "states in a damaged file would be skipped",
    ("spark.files.ignoreMissingFiles", "true"): "states in a missing file would be skipped",
}


@dataclass(frozen=True)
class SparkChoice:
    """The user's choices for Spark.

    conf: properties in the order given; the last value of a property wins. threads: number of cores per task
    (spark.task.cpus), None to leave it to Spark. verbose: show Spark's own messages and a link to its web page on
    stderr. ship_packages: send the driver's packages to executors (`packages_zip`).
    """

    master: str = "local[*]"
    conf: tuple[tuple[str, str], ...] = ()
    threads: int | None = None
    verbose: bool = False
    ship_packages: bool = False
    app_name: str = "elrcheck"


def parse_conf(options: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Parse ``KEY=VALUE`` options; raise UsageFault (exit 2) for another form or a refused property."""
    pairs = []
    for text in options:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise UsageFault(
                "spark-conf", f"`{text}` is not KEY=VALUE", where=WHERE, help="e.g. spark.executor.memory=8g"
            )
        if not key.startswith("spark."):
            help = f"did you mean `spark.{key}`? Hadoop's properties start with spark.hadoop."
            raise UsageFault("spark-conf", f"`{key}` is not a Spark property", where=WHERE, help=help)
        pairs.append((key, value))
    check_conf(pairs)
    return tuple(pairs)


def check_conf(pairs: Iterable[tuple[str, str]]) -> None:
    """Raise UsageFault for a property that must not be set here, or a value that could falsify a verdict."""
    for key, value in pairs:
        if key in ELSEWHERE:
            raise UsageFault("spark-conf", f"`{key}` cannot be set here", where=WHERE, help=ELSEWHERE[key])
        danger = UNSAFE.get((key, value.strip().lower()))
        if danger is not None:
            message = f"`{key}={value}` is refused: {danger}"
            raise UsageFault("spark-conf", message, where=WHERE, help="leave it out")


def properties(choice: SparkChoice, master: Master) -> dict[str, str]:
    """Return all properties of the session; raise UsageFault for those that `check_conf` refuses."""
    check_conf(choice.conf)
    merged = {
        **OURS,
        "spark.ui.enabled": "true" if choice.verbose else "false",
        **({} if choice.threads is None else {"spark.task.cpus": str(choice.threads)}),
        **dict(choice.conf),
        "spark.master": master.url,
        "spark.app.name": choice.app_name,
    }
    _check_cores(merged, master)
    return merged


def shipped(conf: Mapping[str, str], archive: Path) -> dict[str, str]:
    """Return the properties by which executors unpack an archive in their working folder and import from it."""
    archives, path = conf.get("spark.archives"), conf.get(EXECUTOR_PATH)
    return {
        "spark.archives": ",".join(filter(None, (archives, f"{archive}#{SHIPPED}"))),
        EXECUTOR_PATH: os.pathsep.join(filter(None, (SHIPPED, path))),
    }


def _check_cores(merged: Mapping[str, str], master: Master) -> None:
    """Reject tasks that need more cores than there are; Spark would wait for ever."""
    cpus = merged.get("spark.task.cpus", "1")
    if not (cpus.isdecimal() and int(cpus) > 0):
        raise UsageFault("spark-conf", f"`spark.task.cpus={cpus}` is not a number of cores", where=WHERE)
    if master.threads is not None and int(cpus) > master.threads:
        message = f"a task would use {cpus} cores, but {master.url} has {master.threads}"
        raise UsageFault("spark-conf", message, where="--master", help=f"use local[{cpus}] or fewer threads")
