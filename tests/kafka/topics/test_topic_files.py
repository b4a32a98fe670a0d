"""Topics of Strimzi and Terraform: what is read, what is named with its line, and folders of both."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.kafka.topics.described import Described, settings_of
from elrcheck.kafka.topics.strimzi_topics import read_strimzi
from elrcheck.kafka.topics.terraform_topics import read_terraform
from elrcheck.kafka.topics.topic_files import read_topics
from support.edits import replaced
from support.invoked import Invoke

TERRAFORM = """\
variable "replicas" { default = 3 }

resource "kafka_topic" "orders" {
  name               = "orders"
  partitions         = 1
  replication_factor = 3
  config = {
    "min.insync.replicas" = "2"
    "cleanup.policy"      = "compact"
  }
  lifecycle { prevent_destroy = true }
}

resource "kafka_topic" "logs" {
  for_each           = toset(["a", "b"])
  name               = "${each.key}-logs"
  partitions         = 12
  replication_factor = 2
  config             = { "unclean.leader.election.enable" = true }
}
"""
STRIMZI = """\
# two topics and a cluster
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaTopic
metadata:
  name: orders
  labels: {strimzi.io/cluster: c}
spec:
  partitions: 1
  replicas: 3
  config:
    retention.ms: 7200000
    min.insync.replicas: "2"
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
---
apiVersion: v1
kind: List
items:
  - apiVersion: kafka.strimzi.io/v1
    kind: KafkaTopic
    metadata: {name: logs-x}
    spec: {topicName: logs}
"""
CLUSTER = """\
---
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: c}
spec: {kafka: {config: {default.replication.factor: 3, min.insync.replicas: 2, unclean.leader.election.enable: true}}}
"""


def groups(described: Described) -> list[tuple[int, int, bool, bool, tuple[str, ...]]]:
    settings, problems = settings_of(described, unclean=False)
    assert problems == () and described.unread == ()
    return [(g.replication_factor, g.min_insync_replicas, g.unclean, g.single, g.names) for g in settings]


def test_topics_of_terraform() -> None:
    assert groups(read_terraform(TERRAFORM)) == [
        (3, 2, False, True, ("orders",)),
        (2, 1, True, False, ("kafka_topic.logs[*]",)),
    ]


def test_topics_of_aiven_and_those_of_a_provider_that_is_not_read() -> None:
    aiven = """\
resource "aiven_kafka_topic" "orders" {
  project      = "p"
  service_name = "s"
  topic_name   = "orders"
  partitions   = 6
  replication  = 3
  config {
    min_insync_replicas            = 2
    unclean_leader_election_enable = true
    retention_ms                   = 1
  }
  tag { key = "k" }
}
"""
    assert groups(read_terraform(aiven)) == [(3, 2, True, False, ("orders",))]
    confluent = read_terraform(f'{aiven}resource "confluent_kafka_topic" "pay" {{\n  topic_name = "pay"\n}}\n')
    assert [topic.name for topic in confluent.topics] == ["orders"]
    assert confluent.unread == ("line 14: confluent_kafka_topic.pay: only kafka_topic and aiven_kafka_topic are read",)


def test_a_dynamic_block_of_settings_leaves_the_topic_out() -> None:
    start = 'resource "aiven_kafka_topic" "a" {\n  topic_name = "a"\n  replication = 3\n'
    topic = start + "  %s {\n    for_each = var.s\n  }\n}\n"
    described = read_terraform(topic % 'dynamic "config"')
    assert described.topics == (), "min.insync.replicas may be in it"
    assert described.unread == ("line 4: aiven_kafka_topic.a: config is a dynamic block; only literals are read",)
    assert [each.name for each in read_terraform(topic % 'dynamic "tag"').topics] == ["a"]


def test_clusters_that_disagree_decide_nothing(tmp_path: Path) -> None:
    """Which of them a topic belongs to is not read, so those with settings of their own are left."""
    dev = replaced(
        replaced(CLUSTER, "name: c", "name: dev"), "default.replication.factor: 3", "default.replication.factor: 1"
    )
    dev = replaced(dev, "min.insync.replicas: 2", "min.insync.replicas: 1")
    in_files = {"kafka.yaml": CLUSTER, "dev.yaml": dev, "topics.yaml": STRIMZI}
    for name, text in in_files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for described in (read_strimzi(STRIMZI + CLUSTER + dev), read_topics([tmp_path])):
        settings, problems = settings_of(described, unclean=False)
        assert [each.names for each in settings] == [("orders",)], "it has both settings"
        (problem,) = problems
        assert "topic logs: " in problem and "clusters" in problem
    assert groups(read_strimzi(STRIMZI + CLUSTER + CLUSTER)) == groups(read_strimzi(STRIMZI + CLUSTER))


def test_topics_of_strimzi_and_the_settings_of_their_brokers() -> None:
    settings, problems = settings_of(read_strimzi(STRIMZI), unclean=False)
    assert [each.names for each in settings] == [("orders",)]
    assert problems == ("topic logs: its replication factor is not given",)
    assert groups(read_strimzi(STRIMZI + CLUSTER)) == [(3, 2, True, True, ("orders",)), (3, 2, True, False, ("logs",))]


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("= 3\n  config", "= var.replicas\n  config", 6, "replication_factor is the expression `var.replicas`"),
        ('= "2"', "= var.min", 7, "min.insync.replicas is the expression `var.min`"),
        ("config = {", "config = merge(local.c, {", 12, "`}` closes nothing"),
        ("partitions         = 1\n", "shards = 1\n", 5, "unknown argument `shards`"),
        ("lifecycle {", "settings {", 11, "unknown block `settings`"),
        ("= 3\n  config", "= 0\n  config", 6, "a number from 1 to 999999999, not `0`"),
        ("= 3\n  config", "= [3]\n  config", 6, "a value of another type"),
        ('"orders"\n', '"or ders"\n', 4, "not a legal topic name"),
    ],
)
def test_what_is_not_read_of_terraform_is_named_with_its_line(old: str, new: str, line: int, why: str) -> None:
    described = read_terraform(TERRAFORM.replace(old, new, 1))
    assert TERRAFORM.count(old) >= 1
    (unread,) = described.unread
    assert unread.startswith(f"line {line}: ") and why in unread


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("replicas: 3", "replicas: three", 9, "a number from 1 to 999999999, not `three`"),
        ("replicas: 3", "replicas: [3]", 9, "not a single value"),
        ("replicas: 3", "replicas: {{ .Values.rf }}", 9, "not a single value"),
        ("  replicas: 3\n", "  replicas: 3\n  replicas: 2\n", 10, "`replicas` appears twice"),
        ("  name: orders\n", "  name: a/b\n", 5, "not a legal topic name"),
        ("  name: orders\n", "", 2, "a KafkaTopic without a name"),
        ("  partitions: 1\n", "  shards: 1\n", 8, "unknown field `shards`"),
        ("  replicas: 3\n", "\treplicas: 3\n", 9, "not YAML"),
        ("    retention.ms: 7200000\n", "    <<: {min.insync.replicas: 1}\n", 11, "`<<`"),
    ],
)
def test_what_is_not_read_of_strimzi_is_named_with_its_line(old: str, new: str, line: int, why: str) -> None:
    (unread,) = read_strimzi(replaced(STRIMZI, old, new)).unread
    assert unread.startswith(f"line {line}: ") and why in unread


@pytest.mark.parametrize("text", ["[" * 20_000, "{a: " * 20_000, "- " * 20_000, "\0", "a: &a [*a]", "&a a: *b"])
def test_no_yaml_is_an_internal_error(text: str) -> None:
    assert read_strimzi(text).topics == ()


@pytest.mark.parametrize("text", ['a { b = "' + '${"' * 20_000, "a { b = " + "(" * 20_000, "a { b = {" * 20_000])
def test_no_hcl_is_an_internal_error(text: str) -> None:
    described = read_terraform(text)
    assert described.topics == () and "the rest of the file is not read" in described.unread[0]


def test_a_folder_is_read_and_its_topics_have_places(tmp_path: Path, invoke: Invoke) -> None:
    inner = tmp_path / "modules" / "topics"
    inner.mkdir(parents=True)
    (inner / "main.tf").write_text(TERRAFORM)
    (tmp_path / "topics.yml").write_text(STRIMZI)
    (tmp_path / "chart.yaml").write_text("a: {{ b }}\n")  # has no word of Strimzi
    (tmp_path / ".terraform").mkdir()
    (tmp_path / ".terraform" / "copy.tf").write_text(TERRAFORM)
    described = read_topics([tmp_path])
    assert [(topic.name, topic.place) for topic in described.topics] == [
        ("orders", f"{inner / 'main.tf'}:3"),
        ("kafka_topic.logs[*]", f"{inner / 'main.tf'}:14"),
        ("orders", f"{tmp_path / 'topics.yml'}:2"),
        ("logs", f"{tmp_path / 'topics.yml'}:21"),
    ]
    options = ("--topics", str(inner / "main.tf"), "--topics", str(tmp_path / "topics.yml"), "-f", "github")
    code, out, _ = invoke("assess", "--kafka", "4.1", *options)
    assert code == 1 and "file=modules/topics/main.tf,line=3," in out
    assert "file=topics.yml,line=21,title=elrcheck assess::Not read: topic logs: its replication factor" in out
    assert invoke("assess", "--kafka", "4.1", "--topics", str(tmp_path), "--fail-on", "never")[0] == 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_description_in_the_encodings_of_windows(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "topics.txt"
    file.write_text("Topic: a\tPartitionCount: 1\tReplicationFactor: 3\tConfigs:\r\n", encoding=encoding)
    described = read_topics([file])
    assert [(topic.name, topic.line) for topic in described.topics] == [("a", 1)] and not described.unread


def test_a_file_of_a_folder_that_is_too_large_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elrcheck.kafka.topics.topic_files.MOST_BYTES", 10_000)
    (tmp_path / "a.tf").write_text(TERRAFORM)
    (tmp_path / "large.yaml").write_text(STRIMZI + "#\n" * 5_000)
    (tmp_path / "other.yaml").write_text("#\n" * 50_000)
    described = read_topics([tmp_path])
    assert len(described.topics) == 2 and len(described.unread) == 1 + len(read_topics([tmp_path / "a.tf"]).unread)
    assert described.unread[-1].startswith(f"{tmp_path / 'large.yaml'} is larger than")
    with pytest.raises(UsageFault, match="larger than"):
        read_topics([tmp_path / "large.yaml"])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_of_a_folder_in_utf_16_is_read_or_named(encoding: str, tmp_path: Path) -> None:
    """With a byte order mark it is read; without one it cannot be, and is not passed over in silence."""
    (tmp_path / "a.tf").write_text(TERRAFORM)
    (tmp_path / "b.yaml").write_text(STRIMZI + CLUSTER, encoding=encoding)
    (tmp_path / "other.yaml").write_text("a: 1\n", encoding=encoding)
    described = read_topics([tmp_path])
    names = [topic.name for topic in described.topics]
    assert ("logs" in names) == (encoding == "utf-16")
    named = [f"{tmp_path / 'b.yaml'}, line 1"] if encoding != "utf-16" else []
    assert [line.partition(":")[0] for line in described.unread] == named


def test_a_topic_with_two_definitions_has_a_note(invoke: Invoke, tmp_path: Path) -> None:
    topic = 'resource "kafka_topic" "{0}" {{\n  name = "{0}"\n  replication_factor = 3\n}}\n'
    (tmp_path / "a.tf").write_text(topic.format("a") + topic.format("b"))
    (tmp_path / "c.tf").write_text(topic.format("a"))
    out = invoke("assess", "--kafka", "4.1", "--topics", ".", "--fail-on", "never")[1]
    text = " ".join(out.split())
    assert "a is defined more than once, and each definition is assessed: a.tf:1, c.tf:1" in text
    assert "b is defined more" not in text


def test_what_is_not_read_is_annotated_first_and_at_its_line(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(STRIMZI + CLUSTER.replace("default.replication.factor: 3, ", ""))
    out = invoke("assess", "--kafka", "4.1", "--topics", "a.yaml", "-f", "github")[1]
    assert out.startswith("::warning file=a.yaml,line=21,title=elrcheck assess::Not read: topic logs: its replication")


def test_a_setting_is_annotated_at_its_line(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(replaced(STRIMZI.partition("---")[0], 'replicas: "2"', 'replicas: "1"'))
    out = invoke("assess", "--kafka", "4.1", "--topics", "a.yaml", "-f", "github")[1]
    assert "::error file=a.yaml,line=12,title=orders%3A min.insync.replicas::" in out and "line=2,title=F-" in out


def test_a_setting_that_is_misspelt_is_named(tmp_path: Path) -> None:
    text = STRIMZI.partition("---")[0]
    (unread,) = read_strimzi(replaced(text, "min.insync.replicas", "min.insync.replica")).unread
    assert unread == "line 12: orders: unknown setting `min.insync.replica`; did you mean `min.insync.replicas`?"
    assert not read_strimzi(replaced(text, "min.insync.replicas", "min.insync.replica")).topics, "no default is assumed"
    aiven = 'resource "aiven_kafka_topic" "a" {\n  topic_name = "a"\n  config {\n    min_insync_replcas = "2"\n  }\n}\n'
    for terraform in (replaced(TERRAFORM, "min.insync.replicas", "min.insync.replcas"), aiven):
        described = read_terraform(terraform)
        assert "replcas`; did you mean `min.insync.replicas`?" in described.unread[0]
        assert len(described.topics) == terraform.count("resource") - 1
    others = ("min.compaction.lag.ms", "min.cleanable.dirty.ratio", "leader.replication.throttled.replicas")
    assert all(not read_strimzi(replaced(text, "retention.ms", name)).unread for name in others)


def test_terraform_in_json_is_named(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "a.tf").write_text(TERRAFORM)
    (tmp_path / "j.tf.json").write_text('{"resource": {"kafka_topic": {"a": {"name": "a"}}}}\n')
    (tmp_path / "versions.tf.json").write_text('{"terraform": {}}\n')
    assert read_topics([tmp_path]).unread == (f"{tmp_path / 'j.tf.json'} is Terraform in JSON, which is not read",)
    assert invoke("assess", "--kafka", "4.1", "--topics", str(tmp_path), "--fail-on", "never")[0] == 3


@pytest.mark.parametrize("name", ["a.tf", "a.yaml"])
def test_a_file_without_a_topic_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text('resource "aws_instance" "a" {}\n' if name == "a.tf" else "a: 1\n")
    with pytest.raises(UsageFault, match="no topic that can be read"):
        read_topics([tmp_path / name])
    with pytest.raises(UsageFault, match="no topic that can be read"):
        read_topics([tmp_path])


@pytest.mark.parametrize("form", ["tf", "yaml"])
def test_a_thousand_topics_take_seconds(form: str, tmp_path: Path) -> None:
    one = TERRAFORM.partition("\n\n")[2] if form == "tf" else STRIMZI.partition("---")[0] + "---\n"
    file = tmp_path / f"topics.{form}"
    file.write_text("\n".join([one] * 1000))
    started = time.process_time()
    assert len(read_topics([file]).topics) == (2000 if form == "tf" else 1000)
    assert time.process_time() - started < 20
