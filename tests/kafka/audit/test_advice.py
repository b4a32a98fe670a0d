"""What reports advise, followed on the controller of the model: it must have the effect that the advice promises."""

from __future__ import annotations

import pytest

from elrcheck.catalogue.packaged_findings import find_finding
from elrcheck.kafka.audit.rules import audit_rules
from support.what_if_questions import Json, ask

RELEASES = ("code_4_0", "code_4_1", "code_4_1_1", "code_4_3")
DOWN: Json = {"fenced": True}


def stored(**fields: object) -> Json:
    return {"replicas": [1, 2, 3], "isr": [], "elr": [], "last_known_elr": [], "leader": -1, **fields}


def remedy_of(rule: str) -> str:
    return audit_rules().by_name[rule].remedy


@pytest.mark.parametrize("variant", RELEASES)
def test_only_the_clusters_value_written_again_clears_what_is_stored(variant: str) -> None:
    before, live = stored(elr=[3], last_known_elr=[3]), {"1": {}, "2": {}, "3": DOWN}
    for level, left in (("topic", [3]), ("cluster", [])):
        op = {"type": "set_min_isr", "level": level, "value": 2}
        reply = ask(op, before, live, variant=variant, elr_enabled=True)
        assert (reply["partition"]["elr"], reply["partition"]["last_known_elr"]) == (left, left)


def test_advice_to_write_the_same_value_names_the_cluster() -> None:
    texts = [remedy_of(rule) for rule in ("last-known-outside-replicas", "stored-none", "elr-outside-replicas")]
    texts += [" ".join(find_finding(finding).meanwhile.split()) for finding in ("F-26", "F-59", "F-62")]
    for text in texts:
        assert "rite the cluster's min.insync.replicas" in text


@pytest.mark.parametrize("variant", RELEASES)
def test_another_member_of_the_elr_leads_beside_an_unregistered_one(variant: str) -> None:
    """An unclean election in its place would lose what only that member has."""
    live = {"1": {}, "2": DOWN, "3": {"registered": False}}
    back = ask({"type": "unfence", "broker": 2}, stored(elr=[2, 3]), live, variant=variant, elr_enabled=True)
    assert back["partition"]["leader"] == 2
    for text in (remedy_of("elr-unregistered"), find_finding("F-21").meanwhile):
        assert text.index("tart the other") < text.index("unclean election")


@pytest.mark.parametrize(("variant", "completes"), [("code_4_1_1", False), ("code_4_3", True)])
def test_since_4_3_a_move_to_as_many_replicas_leaves_a_ghost(variant: str, completes: bool) -> None:
    """F-20/swap: neither a cancellation nor fewer replicas than min.insync.replicas."""
    knobs = {"variant": variant, "elr_enabled": True}
    moved = ask(
        {"type": "reassign", "target": [2, 3, 4]},
        stored(isr=[1], elr=[3], leader=1),
        {"1": {}, "2": DOWN, "3": DOWN, "4": {}},
        **knobs,
    )
    joined = ask({"type": "alter_partition", "new_isr": [1, 4]}, moved["partition"], moved["brokers"], **knobs)
    replicas, elr = joined["partition"]["replicas"], joined["partition"]["elr"]
    assert (not set(elr) <= set(replicas)) is completes
    finding = find_finding("F-20")
    assert "since 4.3.0" in finding.happens and "since 4.3.0" in finding.meanwhile
