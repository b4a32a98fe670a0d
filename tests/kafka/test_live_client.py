"""A cluster asked over the wire: the client library, its errors, TLS, SASL, files of client properties."""

from __future__ import annotations

import importlib
import ssl
from pathlib import Path

import pytest

from elrcheck.base.errors import ElrError, EnvironmentFault, UsageFault
from elrcheck.base.kafka_requests import AuditRequest
from elrcheck.base.progress import Silent
from elrcheck.cli import cli
from elrcheck.console.shell import run
from elrcheck.kafka.audit import live_audit
from elrcheck.kafka.audit.audit import run_audit
from elrcheck.results.audit_report import AuditReport
from support.edits import replaced
from support.live_cluster import FakeCluster, partition, shrunk, topic
from support.wire_broker import WireBroker, library_or_skip, listening


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_audit, "PAUSE", 0.0)


def audited(broker: WireBroker, config: Path | None = None, context: ssl.SSLContext | None = None) -> AuditReport:
    with listening(broker, context) as address:
        return run_audit(AuditRequest(bootstrap=address, client_config=config), Silent())


def test_the_wire_gives_the_report_that_the_answers_give() -> None:
    moving = {"replicas": [2, 0, 1], "adding_replicas": [2], "removing_replicas": [0, 1]}
    joined = partition(replicas=(2, 0, 1), isr_nodes=[0, 1])
    cluster = FakeCluster(
        [topic("lost", shrunk([2], [0, 1], replicas=(2,), leader=2)), topic("moved", joined)],
        moving={("moved", 0): moving},
        lag={0: 9_000},
        unclean="true",
    )
    over_the_wire, direct = audited(WireBroker(cluster)), cluster.audited()
    flags = [(f.rule, f.topic, f.partition, f.message, f.offset) for f in over_the_wire.flags]
    assert flags == [(f.rule, f.topic, f.partition, f.message, f.offset) for f in direct.flags]
    assert {"elr-outside-replicas", "completion-leaves-elr", "leader-lags"} < {rule for rule, *_ in flags}
    assert over_the_wire.verdict == "violated"


def test_pages_over_the_wire() -> None:
    cluster = FakeCluster([topic(f"t{n}", partition(0), partition(1)) for n in range(5)], page=3)
    broker = WireBroker(cluster)
    assert audited(broker).partitions == 10
    assert broker.heard.count("DescribeTopicPartitions") == 4


def test_a_broker_without_the_newer_requests_is_asked_by_metadata() -> None:
    broker = WireBroker(FakeCluster(level=21, elr=0), lacks=frozenset({"DescribeTopicPartitions"}))
    report = audited(broker)
    assert report.partitions == 1 and "Metadata" in broker.heard
    assert report.cluster is not None
    assert report.cluster.unseen == ("ELR and LastKnownELR: the brokers do not offer this request",)


def test_what_the_user_may_not_ask_is_said() -> None:
    report = audited(WireBroker(FakeCluster(denied=frozenset({"configs", "reassignments"}))))
    assert report.verdict == "inconclusive" and report.cluster is not None
    assert report.cluster.unseen == (
        "reassignments: the user is not authorized",
        "min.insync.replicas of 1 topic: the user is not authorized",
    )


def test_plain_sasl(tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    text = f"""security.protocol=SASL_PLAINTEXT
sasl.mechanism = PLAIN
default.api.timeout.ms=1500
sasl.jaas.config={login} \\
    username="ann" \\
    password="PASSWORD";
"""
    config.write_text(replaced(text, "PASSWORD", "b=c"))
    lacks = frozenset[str]()
    assert audited(WireBroker(FakeCluster(), lacks, "ann:b=c"), config).verdict == "no_sign"
    config.write_text(replaced(text, "PASSWORD", "wrong"))
    with pytest.raises(EnvironmentFault) as fault:
        audited(WireBroker(FakeCluster(), lacks, "ann:b=c"), config)
    assert fault.value.code == "cluster-unreachable" and "wrong" not in fault.value.render()


def test_tls_with_a_certificate_in_pem(tmp_path: Path) -> None:
    certificate, key = own_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    config = tmp_path / "client.properties"
    trust = f"ssl.truststore.type=PEM\nssl.truststore.location={certificate}\ndefault.api.timeout.ms=1500\n"
    config.write_text(f"security.protocol=SSL\n{trust}")
    assert audited(WireBroker(FakeCluster()), config, context).verdict == "no_sign"
    config.write_text("security.protocol=SSL\ndefault.api.timeout.ms=1500\n")  # nobody known signed it
    with pytest.raises(EnvironmentFault) as fault:
        audited(WireBroker(FakeCluster()), config, context)
    assert "certificate" in (fault.value.excerpt or "")


def own_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that signs itself, with its key."""
    x509 = pytest.importorskip("cryptography.x509")
    import datetime
    import ipaddress

    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    command = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - day, now + day)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    pem, encoding = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    paths[0].write_bytes(command.public_bytes(pem))
    paths[1].write_bytes(key.private_bytes(pem, encoding, serialization.NoEncryption()))
    return paths


def test_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    with listening(WireBroker(FakeCluster())) as address:
        pass
    with pytest.raises(EnvironmentFault) as fault:
        run_audit(AuditRequest(bootstrap=f"{address},127.0.0.1:1"), Silent())
    assert fault.value.excerpt is not None and f"{address}: Connection refused" in fault.value.excerpt
    assert capsys.readouterr().err == ""


def test_something_else_listens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Deaf(WireBroker):
        def answer(self, frame: bytes) -> bytes | None:
            return None

    config = tmp_path / "client.properties"
    config.write_text("default.api.timeout.ms=700\nrequest.timeout.ms=500\n")
    with pytest.raises(EnvironmentFault, match="does not answer as a broker"):
        audited(Deaf(FakeCluster()), config)
    assert capsys.readouterr().err == ""


def test_a_broker_that_hangs_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    class Deaf(WireBroker):
        def answer(self, frame: bytes) -> bytes | None:
            self.heard.append("something")
            return None

    library_or_skip()
    manager = importlib.import_module("kafka.net.manager").KafkaConnectionManager
    monkeypatch.setitem(manager.DEFAULT_CONFIG, "socket_connection_setup_timeout_ms", 300)
    deaf, broker = Deaf(FakeCluster()), WireBroker(FakeCluster())
    with listening(deaf) as address:
        broker.others = [(1, "127.0.0.1", int(address.rpartition(":")[2]), None)]
        report = audited(broker)
    assert report.verdict == "no_sign" and report.cluster is not None and report.cluster.unseen == ()
    assert deaf.heard


@pytest.mark.parametrize(
    "text",
    [
        "",
        "localhost",
        "localhost:",
        "localhost:0",
        "localhost:65536",
        "a b:9092",
        "localhost:9092,",
        "::1:9092",
        "http://localhost:9092",
    ],
)
def test_an_address_that_is_none(text: str) -> None:
    with pytest.raises(UsageFault) as fault:
        run_audit(AuditRequest(bootstrap=text), Silent())
    assert fault.value.code == "bootstrap-address"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("securty.protocol=SSL", "did you mean `security.protocol`?"),
        ("\n# comment\nssl.truststore.password=x", "client.properties:3"),
        ("bootstrap.servers=a:1", "leave it out"),
        ("security.protocol=TLS", "must be one of PLAINTEXT, SSL"),
        ("request.timeout.ms=soon", "is not a whole number of milliseconds"),
        ("sasl.mechanism=PLAIN", "has no effect unless the security.protocol is one with SASL"),
        ("ssl.key.password=hush", "has no effect unless the security.protocol is one with SSL"),
        ("security.protocol=SSL\nssl.truststore.location=/x.jks", "the truststore is of type JKS"),
        ("security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=/no/such", "cannot be read"),
        ("security.protocol=SSL\nssl.truststore.certificates=nonsense", "the truststore cannot be read"),
        ("security.protocol=SSL\nssl.endpoint.identification.algorithm=none", "must be https or empty"),
        ("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN", "PLAIN needs `sasl.jaas.config`"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=x required;", "names no username"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER", "must be one of PLAIN, SCRAM"),
    ],
)
def test_properties_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    config = tmp_path / "client.properties"
    config.write_text(text)
    with pytest.raises(ElrError) as fault:
        run_audit(AuditRequest(bootstrap="localhost:1", client_config=config), Silent())
    assert fault.value.code == "client-config" and message in fault.value.render()
    assert "hush" not in fault.value.render()


def test_no_secret_of_the_properties_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the file is broken, and whatever the command says then, in any format."""
    monkeypatch.chdir(tmp_path)
    login = 'sasl.jaas.config=x.PlainLoginModule required username="u" password='
    sasl = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
    for text in (
        f'{sasl}{login}"hunter22";',
        f"{sasl}{login}hunter22;",
        f'{sasl}{login}\n  "hunter22";',
        f'{sasl}sasl.jaas.config=\nusername="u" password="hunter22";',
        f"{sasl}password=hunter22",
        "security.protocol=hunter22",
        "sasl.mechanism=hunter22",
        "request.timeout.ms=hunter22",
        "security.protocol=SSL\nssl.key.password=hunter22\nssl.keystore.type=PEM\nssl.keystore.location=/none",
    ):
        (tmp_path / "client.properties").write_text(text)
        for form in ("text", "json", "github", "html"):
            argv = ["audit", "--bootstrap", "127.0.0.1:1", "--client-config", "client.properties", "-f", form]
            assert run(cli, ["--no-progress", *argv]) in (2, 4)
            out, err = capsys.readouterr()
            assert "hunter22" not in out + err and err.startswith("error[")
