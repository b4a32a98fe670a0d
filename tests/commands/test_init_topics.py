"""`elrcheck init` in a repository with definitions of topics."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from elrcheck.cli import cli
from elrcheck.commands.init import HOOK_PATH, WORKFLOW_PATH
from elrcheck.console.settings import load_settings
from support.ci_steps import steps
from support.edits import replaced
from support.invoked import Invoke

ARCHIVE = f"https://files.example.org/elrcheck-0.1.0-py3-none-any.whl#sha256={'0123456789abcdef' * 4}"


def test_topics_of_the_repository_are_assessed(invoke: Invoke, tmp_path: Path) -> None:
    topics = tmp_path / "infra" / "kafka"
    topics.mkdir(parents=True)
    text = 'resource "kafka_topic" "{0}" {{\n  name = "{0}"\n  partitions = 3\n  replication_factor = {1}\n{2}}}\n'
    config = '  config = {\n    "min.insync.replicas" = "2"\n  }\n'
    (topics / "a.tf").write_text(text.format("a", 3, config))
    (topics / "b.tf").write_text(text.format("b", 3, config))
    (tmp_path / "other.tf").write_text('resource "aws_instance" "x" {\n}\n')
    (tmp_path / "lock.py").write_text("MODEL = ProtocolModel(1)\n")
    code, out, err = invoke("init", "--kafka", "4.1")
    assert code == 0 and "elrcheck-baseline.toml" not in out and not (tmp_path / "elrcheck-baseline.toml").exists()
    assert "CI assesses the topics in this folder for Kafka 4.1, also those of files added later" in err
    assert "`elrcheck init --force --model lock.py --kafka 4.1` guards it" in err
    document = yaml.safe_load((tmp_path / WORKFLOW_PATH).read_text())
    (step,) = steps(document, "topics")
    assert "pip install" in (tmp_path / WORKFLOW_PATH).read_text()
    (hook,) = yaml.safe_load((tmp_path / HOOK_PATH).read_text())["repos"][0]["hooks"]
    named = ("infra/kafka/a.tf", "elrcheck.toml", "infra/other/a.yml", "a.tf.json", "lock.py", "notes.txt")
    assert [bool(re.search(hook["files"], name)) for name in named] == [True, True, True, True, False, False]
    assert invoke(*step["run"].split()[1:])[0] == 0 and invoke(*hook["entry"].split()[1:])[0] == 0
    (topics / "b.tf").write_text(text.format("b", 1, ""))
    code, out, _ = invoke(*step["run"].split()[1:])
    assert code == 1 and "::error file=infra/kafka/b.tf,line=4,title=b%3A replication.factor" in out
    uploaded = document["jobs"]["topics"]["steps"][-1]["with"]["path"].split()
    assert all(list(tmp_path.glob(name)) for name in uploaded)


@pytest.mark.parametrize("folder", [".", "topics"])
@pytest.mark.parametrize("later", ["bad.tf", "other/bad.tf"])
def test_a_topic_that_is_added_later_is_assessed(invoke: Invoke, tmp_path: Path, folder: str, later: str) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / later).parent.mkdir(exist_ok=True)
    text = 'resource "kafka_topic" "{0}" {{\n  name = "{0}"\n  replication_factor = {1}\n{2}}}\n'
    config = '  config = {\n    "min.insync.replicas" = "2"\n  }\n'
    (tmp_path / folder / "orders.tf").write_text(text.format("orders", 3, config))
    assert invoke("init", "--kafka", "4.1")[0] == 0
    (hook,) = yaml.safe_load((tmp_path / HOOK_PATH).read_text())["repos"][0]["hooks"]
    assert re.search(hook["files"], later)
    assert invoke("assess")[0] == 0
    (tmp_path / later).write_text(text.format("bad", 3, ""))
    assert invoke("assess")[0] == 1


def test_a_named_folder_of_topics_is_all_that_is_assessed(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "topics").mkdir()
    (tmp_path / "topics" / "a.tf").write_text(
        'resource "kafka_topic" "a" {\n  name = "a"\n  replication_factor = 3\n}\n'
    )
    code, _, err = invoke("init", "--kafka", "4.1", "--topics", "topics")
    assert code == 0 and "CI assesses the topics in topics for Kafka 4.1, also those of files added later" in err
    (hook,) = yaml.safe_load((tmp_path / HOOK_PATH).read_text())["repos"][0]["hooks"]
    named = ("topics/new/b.yaml", "other/b.yaml", "topics/readme.md")
    assert [bool(re.search(hook["files"], name)) for name in named] == [True, False, False]
    err = invoke("init", "--force", "--kafka", "4.1", "--topics", "topics/a.tf")[2]
    assert "CI assesses the topics in topics/a.tf for Kafka 4.1\n" in err


def test_a_template_is_excluded(invoke: Invoke, tmp_path: Path) -> None:
    """The commented lines of [assess] are settings, and the one about templates leaves them out."""
    config = '  config = {\n    "min.insync.replicas" = "2"\n  }\n'
    (tmp_path / "a.tf").write_text(
        f'resource "kafka_topic" "a" {{\n  name = "a"\n  replication_factor = 3\n{config}}}\n'
    )
    (tmp_path / "charts" / "kafka").mkdir(parents=True)
    template = "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaTopic\nmetadata:\n  name: {{ .Values.name }}\n"
    (tmp_path / "charts" / "kafka" / "topic.yaml").write_text(template)
    code, _, err = invoke("init", "--kafka", "4.1")
    assert code == 0 and "`exclude` in elrcheck.toml leaves files out" in err
    assert invoke("assess")[0] == 3
    settings = tmp_path / "elrcheck.toml"
    settings.write_text(replaced(settings.read_text(), "# exclude", "exclude"))
    assert invoke("assess")[0] == 0
    assert invoke("assess", "--exclude", "*/topic.yaml")[0] == 0 and invoke("assess", "--exclude", "chart")[0] == 3


def test_topics_that_cannot_be_read_are_named(invoke: Invoke, tmp_path: Path) -> None:
    one = 'resource "kafka_topic" "t{0}" {{\n  name = "t{0}"\n  replication_factor = var.factor\n}}\n'
    (tmp_path / "t.tf").write_text("".join(one.format(number) for number in range(10)))
    code, out, err = invoke("init", "--kafka", "4.1")
    assert code == 0 and "wrote    elrcheck-baseline.toml" in out
    assert "not read: t.tf, line 3: kafka_topic.t0: replication_factor is the expression `var.factor`" in err
    assert "2 more cannot be read; --topics FILE" in err


def test_a_file_without_topics_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("orders: ask the team\n")
    code, _, err = invoke("init", "--topics", "notes.txt")
    assert code == 2 and "notes.txt has no topic that can be read" in err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_workflow_that_is_kept_and_does_not_run_the_gate(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "topics.tf").write_text('resource "kafka_topic" "a" {\n  name = "a"\n  replication_factor = 3\n}\n')
    assert "is kept" not in invoke("init", "--kafka", "4.1")[2]
    assert invoke("new", "lock")[0] == 0
    code, _, err = invoke("init", "--kafka", "4.1", "--model", "lock.py")
    assert code == 0 and f"{WORKFLOW_PATH} is kept, and does not run `elrcheck gate`: --force replaces it" in err
    assert "elrcheck assess`: --force" not in err
    assert "is kept" not in invoke("init", "--force", "--kafka", "4.1", "--model", "lock.py")[2]
    assert "elrcheck gate" in (tmp_path / WORKFLOW_PATH).read_text()


def test_the_suggested_command_repeats_every_option(invoke: Invoke, tmp_path: Path) -> None:
    """What it suggests writes the same workflow, with the baseline of the model beside the topics."""
    repo = tmp_path / "a repo"
    repo.mkdir()
    assert invoke("new", "lock", "-C", str(repo))[0] == 0
    (repo / "topics.txt").write_text("Topic: a\tPartitionCount: 1\tReplicationFactor: 3\tConfigs:\n")
    options = ("--kafka", "4.1", "--topics", "a repo/topics.txt", "--install-from", ARCHIVE)
    code, _, err = invoke("init", "-C", "a repo", *options)
    assert code == 0
    (again,) = re.findall(r"`(elrcheck init .*)` guards it", err)
    before = (repo / WORKFLOW_PATH).read_text()
    assert invoke(*shlex.split(again)[1:])[0] == 0
    after = (repo / WORKFLOW_PATH).read_text()
    assert f'ELRCHECK: "{ARCHIVE}"' in before and f'ELRCHECK: "{ARCHIVE}"' in after and "elrcheck gate" in after
    assert load_settings(repo / "elrcheck.toml", repo, cli).defaults["assess"]["kafka"] == "4.1"


def test_a_file_that_is_too_large_is_named_and_left_out(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elrcheck.kafka.topics.topic_files.MOST_BYTES", 1000)
    large = "# kafka.strimzi.io\n" + "#\n" * 1000
    (tmp_path / "crds.yaml").write_text(large)
    (tmp_path / "other.yaml").write_text("#\n" * 1000)
    code, out, err = invoke("init", "--kafka", "4.1")
    assert code == 0 and "wrote    elrcheck-baseline.toml" in out
    assert "not read: crds.yaml is larger than 0 MiB" in err and "--topics FILE" in err and "other.yaml" not in err


def test_topics_outside_of_the_repository_are_refused(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "topics.txt").write_text("Topic: a\tPartitionCount: 1\tReplicationFactor: 3\tConfigs:\n")
    code, _, err = invoke("init", "-C", "repo", "--topics", "topics.txt")
    assert code == 2 and "error[init-topics]" in err and not list((tmp_path / "repo").iterdir())
