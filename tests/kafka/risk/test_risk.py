"""`elrcheck risk`: settings in Kafka's words, answers that are in the findings, and what is kept of them."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from elrcheck.base.errors import ExitCode, UsageFault
from elrcheck.base.kafka_requests import RiskRequest
from elrcheck.base.kept import named_digests as digests
from elrcheck.base.progress import Silent
from elrcheck.catalogue.partition_picture import SENTENCES
from elrcheck.invariants.modules import load_outcome_model
from elrcheck.kafka.risk.event_sets import SetAnswer
from elrcheck.kafka.risk.risk import run_risk
from elrcheck.kafka.risk.risk_search import KeptRisk, RiskSearch, risk_key, risk_store
from elrcheck.kafka.risk.settings_group import group_of, release_named
from elrcheck.model.variants import VARIANTS
from elrcheck.report.documents.risk_document import reach_in_words
from elrcheck.report.formats import render
from elrcheck.results.risk.risk_report import OutsideFinding, RiskReport
from support.invoked import Invoke

REQUEST = RiskRequest("4.1", 3, 2, events=("kill", "reassign"), most=2, seconds=300)


@pytest.fixture(autouse=True, scope="module")
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path, None, None]:
    """These tests have a store of their own."""
    folder = tmp_path_factory.mktemp("risk")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELRCHECK_CACHE_DIR", str(folder / "cache"))
        patch.chdir(folder)
        yield folder


@pytest.fixture(scope="module")
def report(own_folders: Path) -> RiskReport:
    """The answer to `ASKED`, searched once."""
    return answered(REQUEST)


def answered(request: RiskRequest) -> RiskReport:
    return run_risk([request], Silent())


@pytest.mark.parametrize(
    ("text", "release", "variant"),
    [
        ("3.9", "3.9.1", "code_3_9"),
        ("4.0", "4.0.2", "code_4_0"),
        ("4.1.0", "4.1.0", "code_4_1_0"),
        ("4.1", "4.1.2", "code_4_1_1"),
        ("4.2", "4.2.2", "code_4_1_1"),
        ("4.4", "4.4.0", "code_4_3"),
    ],
)
def test_a_line_of_releases_stands_for_its_last_one(text: str, release: str, variant: str) -> None:
    named, model = release_named(text)
    assert (named, model.name) == (release, variant)


@pytest.mark.parametrize(("kafka", "elr"), [("3.9", False), ("4.0", False), ("4.1.0", True), ("4.4", True)])
def test_elr_is_what_new_clusters_have(kafka: str, elr: bool) -> None:
    group = group_of(RiskRequest(kafka))
    assert (group.settings.elr, group.config.elr_enabled) == (elr, elr)
    assert ("switch_elr" in [kind.name for kind in group.kinds]) == (kafka != "3.9")


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        (RiskRequest("4.9"), "4.9"),
        (RiskRequest("4"), "`4`"),
        (RiskRequest("3.9", elr=True), "no ELR"),
        (RiskRequest("4.1", 9), "replication-factor 9"),
        (RiskRequest("4.1", events=("kil",)), "kil"),
    ],
)
def test_what_no_cluster_can_have_is_refused(request_: RiskRequest, word: str) -> None:
    with pytest.raises(UsageFault, match=word):
        group_of(request_)


def test_settings_are_those_of_the_model() -> None:
    group = group_of(RiskRequest("4.3", 3, 2, unclean_leader_election_enable=True, first_partition=True))
    knobs = next(variant.knobs for variant in VARIANTS if variant.name == "code_4_3")
    assert group.config.reassign_gate == knobs["reassign_gate"]
    assert (group.config.broker_count, group.config.min_isr) == (3, 2)
    assert group.config.unclean_leader_election_enable
    assert group.config.partition_zero_replicas == 0
    assert group_of(RiskRequest("4.3", 3, 2)).config.partition_zero_replicas == 3


@pytest.mark.slow
def test_f_20_leaves_a_partition_without_a_leader(report: RiskReport) -> None:
    (answer,) = report.answers
    assert (answer.outcome, dict(answer.events)) == ("unavailable", {"kill": 1, "reassign": 1})
    assert [(cause.finding, cause.confirmed) for cause in answer.causes] == [("F-20", True)]
    assert answer.evidence == ("model", "controller", "brokers")
    assert "Do not reassign a partition to fewer replicas" in answer.remedy
    assert answer.story[-1].startswith("Every replica is up, and the partition has no leader")
    assert report.safe_up_to["lost"].events == 2
    assert report.safe_up_to["unavailable"].events == 1
    assert (report.verdict, report.exit_code) == ("unavailable", ExitCode.HOLDS)
    assert "F-51" in [one.finding for one in report.outside]
    assert answer.trace is not None
    assert json.loads(Path(answer.trace).read_text("utf-8"))["variant"] == "code_4_1_1"


@pytest.mark.slow
def test_the_page_steps_through_the_trace_that_json_has_as_a_file_only(report: RiskReport) -> None:
    page = render(report, "html")
    assert 'id="k1-t1-stepper"' in page and "unavailable after a kill and a reassignment" in page
    assert set(json.loads(render(report, "json"))["answers"][0]) == set(report.answers[0].__struct_fields__) - {"view"}


@pytest.mark.slow
def test_the_stored_trace_is_one_of_the_model(report: RiskReport, own_folders: Path, invoke: Invoke) -> None:
    (answer,) = report.answers
    code, out, err = invoke("replay", str(own_folders / str(answer.trace)), "--format", "json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["accepted"] == document["states"] > 4


@pytest.mark.slow
def test_the_command_of_an_answer_repeats_it(report: RiskReport, invoke: Invoke) -> None:
    (answer,) = report.answers
    code, out, _ = invoke(*answer.command.removesuffix(" --fresh").split()[1:], "--format", "json")
    (again,) = json.loads(out)["answers"]
    assert code == 0
    assert (again["outcome"], again["events"], again["story"]) == (
        answer.outcome,
        dict(answer.events),
        list(answer.story),
    )


@pytest.mark.slow
def test_the_second_run_searches_nothing_and_says_the_same(report: RiskReport, monkeypatch: pytest.MonkeyPatch) -> None:

    def never(*_: object) -> Any:
        raise AssertionError("a kernel is compiled")

    monkeypatch.setattr(RiskSearch, "_kernel", never)
    again = answered(REQUEST)
    assert report.searched > 0
    assert again.searched == 0 and report.kept is None and again.kept is not None
    assert again.answers == report.answers
    assert again.safe_up_to == report.safe_up_to


def test_nothing_is_kept_over_a_change_of_any_source(monkeypatch: pytest.MonkeyPatch) -> None:
    config = group_of(REQUEST).config
    risk_store().put(risk_key(config), KeptRisk({"kill": SetAnswer(held=frozenset(["LOSS-1"]))}))
    entry = risk_store().get(risk_key(config))
    assert entry is not None and entry.value.sets
    assert risk_store(fresh=True).get(risk_key(config)) is None
    assert risk_store().get(risk_key(replace(config, min_isr=1))) is None
    monkeypatch.setattr(digests, "package", lambda: "another")
    assert risk_store().get(risk_key(config)) is None


def test_a_limit_leaves_sets_open_and_exits_with_3() -> None:
    report = answered(replace(REQUEST, events=("stop", "fence"), most=1, seconds=1e-9))
    assert report.answers == ()
    assert (report.verdict, report.exit_code) == ("inconclusive", ExitCode.INCONCLUSIVE)
    assert report.safe_up_to["lost"].events == 0
    assert report.safe_up_to["lost"].undecided == 2
    assert reach_in_words(report.first, "lost") == (
        "some single events are undecided; 0 of 2 sets of 1 event are decided"
    )


def test_the_verdict_of_a_release_with_known_losses_never_reads_as_a_good_one() -> None:
    report = answered(RiskRequest("4.1", 3, 2, events=("kill",), most=1, seconds=300))
    lost = sum(one.loss_on_brokers for one in report.outside)
    assert (report.verdict, report.exit_code) == ("no_loss", ExitCode.HOLDS) and lost > 5
    assert (
        render(report, "text")
        .splitlines()[-1]
        .startswith(
            f"KNOWN LOSSES  brokers of this release lose acknowledged records in {lost} known ways;"
            " in the model nothing is lost after 1 event (kill), "
        )
    )
    assert '<span class="undecided"><span aria-hidden="true">?</span> known losses<' in render(report, "html")
    unknown = msgspec.structs.replace(report, outside=())
    last = render(unknown, "text").splitlines()[-1]
    assert last.startswith("NO LOSS  in the model nothing is lost after 1 event (kill), ")


@pytest.mark.slow
def test_f_2_loses_records_of_3_9_after_a_crash() -> None:
    report = answered(RiskRequest("3.9", 3, 2, events=("crash",), most=1, seconds=300))
    (answer,) = report.answers
    assert (answer.outcome, answer.expected, dict(answer.events)) == ("lost", False, {"crash": 1})
    assert [cause.finding for cause in answer.causes] == ["F-2"]
    assert (report.verdict, report.exit_code) == ("lost", ExitCode.FINDING)
    assert reach_in_words(report.first, "lost").startswith("a single event can be enough; ")


def test_acks_1_promises_little() -> None:
    report = answered(RiskRequest("4.1", 3, 2, acks="1", events=("kill",), most=1, seconds=300))
    (answer,) = report.answers
    assert (answer.outcome, dict(answer.events)) == ("lost", {"kill": 1})
    assert answer.causes[0].kind == "setting"
    assert "acks=all" in answer.remedy
    assert report.exit_code is ExitCode.FINDING


def test_two_lost_logs_are_more_than_min_insync_replicas_2_tolerates() -> None:
    report = answered(RiskRequest("4.1", 2, 2, events=("crash",), most=2, seconds=300))
    (answer,) = [one for one in report.answers if one.outcome == "lost"]
    assert (dict(answer.events), answer.expected) == ({"crash": 2}, True)
    assert "tolerates 1 lost log, and 2 logs are lost" in answer.causes[0].text
    assert answer.remedy.endswith("or add replicas, then raise min.insync.replicas."), "3 of 2 replicas counts as 2"
    verdict = render(msgspec.structs.replace(report, outside=()), "text").splitlines()[-1]
    assert "nothing is lost after up to 2 events (crash), except what these settings are expected to lose" in verdict


def test_an_unclean_election_on_request_is_not_a_matter_of_logs() -> None:
    report = answered(RiskRequest("4.1", 2, 1, elr=False, events=("fence", "elect_unclean"), most=3, seconds=300))
    (answer,) = (one for one in report.answers if one.outcome == "lost")
    assert dict(answer.events) == {"fence": 2, "elect_unclean": 1}
    assert answer.remedy == "Start the brokers that have the records, rather than request an unclean election."


def test_a_stored_loss_names_the_property_that_its_last_state_violates(own_folders: Path, invoke: Invoke) -> None:
    """Two lost logs leave the record nowhere; whether a leader lacks it is another matter."""
    report = answered(RiskRequest("4.1", 2, 2, events=("crash",), most=2, seconds=300))
    (answer,) = [one for one in report.answers if one.outcome == "lost"]
    code, out, _ = invoke("explain", str(own_folders / str(answer.trace)))
    assert code == 1 and out.startswith("FAIL  P-")


def test_an_outage_in_the_verdict_hides_neither_known_losses_nor_open_sets() -> None:
    """Its exit code is that of losses: 0 if every set is decided."""
    report = answered(RiskRequest("4.1", 2, 2, events=("crash",), most=2, seconds=300))
    outage = msgspec.structs.replace(report.answers[0], outcome="unavailable", expected=False)
    other_way = OutsideFinding("F-63", "a title", "acknowledged records", "docs/findings/F-63.md", True)
    open_sets = {outcome: msgspec.structs.replace(reach, undecided=1) for outcome, reach in report.safe_up_to.items()}
    whole = msgspec.structs.replace(report, verdict="unavailable", answers=(outage,), outside=(other_way,))
    part = msgspec.structs.replace(whole, safe_up_to=open_sets)
    for one, end in ((whole, "in the model nothing is lost after"), (part, "a limit left some open")):
        last = render(one, "text").splitlines()[-1]
        assert "can stay without a leader; brokers of this release lose acknowledged records in 1 known way;" in last
        assert end in last
    assert (whole.exit_code, part.exit_code) == (ExitCode.HOLDS, ExitCode.INCONCLUSIVE)


@pytest.mark.slow
def test_every_format_has_the_answer(report: RiskReport) -> None:
    text = render(report, "text")
    assert "NO LEADER    the partition can stay without a leader after a kill and a reassignment" in text
    assert "F-20: The ELR keeps brokers that are no longer replicas (`elrcheck show F-20`)" in text
    assert max(map(len, text.splitlines())) <= 110
    assert "The ELR keeps brokers" in render(report, "html")
    data = json.loads(render(report, "json"))
    assert data["answers"][0]["events"] == {"kill": 1, "reassign": 1}
    assert [json.loads(line)["record"] for line in render(report, "jsonl").splitlines()][-1] == "verdict"


def test_every_action_of_a_release_can_be_told() -> None:
    never = {
        "FlushEpochs",
        "OldCheckpoint",
        "ReturnDirectory",
        "ChangeUncleanElection",
        "StartRecovery",
        "AskForLongestLog",
        "SendLogInfo",
        "AcceptLogInfo",
        "RecoveryTimeout",
        "FinishRecovery",
        "ControllerFailover",
    }
    assert {fn.name for fn in load_outcome_model().actions} - set(SENTENCES) == never


def test_what_the_settings_allow_is_said_without_a_search(report: RiskReport) -> None:
    """Also where the time was over before any set of events was decided; then no event is listed as in no answer."""
    assert report.by_design == () and "BY DESIGN" not in render(report, "text")
    single = answered(replace(REQUEST, min_insync_replicas=1, seconds=0.01))
    assert single.verdict == "inconclusive" and [risk.setting for risk in single.by_design] == ["min.insync.replicas"]
    text = render(single, "text")
    assert text.index("BY DESIGN    min.insync.replicas: The last replica in sync") < text.index("KNOWN ")
    assert "in no answer" not in text and "the settings allow a loss by design" in text
    assert "KNOWN        brokers of this release lose acknowledged records in these ways:" in text
    assert answered(replace(REQUEST, min_insync_replicas=1, acks="1", seconds=0.01)).by_design == ()
