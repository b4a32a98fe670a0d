"""Every property of every protocol can break, and every promise needs the fairness that its protocol declares."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import elrcheck
from elrcheck.base.requests import Selection
from elrcheck.declared.select import resolve
from support.edits import replaced
from support.invoked import Invoke
from support.places import protocol, protocol_files

FAIR = ("alternating_bit", "async_termination", "chang_roberts", "disruptor", "ewd840", "kraft", "peterson")
"""Those with a property of liveness, V-1, which holds under the fairness that they declare."""
SETTINGS = {
    ("bakery", "P-1"): "waits_for_flags=false",
    ("btree", "P-4"): "nodes=3",
    ("btree", "P-5"): "moves=false",
    ("chang_roberts", "P-1"): "drops=false",
    ("disruptor", "P-1"): "waits=false",
    ("disruptor", "P-2"): "waits=false",
    ("disruptor_writers", "P-1"): "waits=false",
    ("disruptor_writers", "P-2"): "waits=false",
    ("ewd840", "P-1"): "blackens=false",
    ("ewd840", "P-2"): "blackens=false",
    ("ewd998", "P-1"): "blackens=false",
    ("ewd998_bags", "P-1"): "blackens=false",
    ("kraft", "P-7"): "pre_vote=false cuts=1",
    ("kraft", "P-8"): "restarts=1",
    ("paxos", "P-1"): "reports=false",
    ("paxos_servers", "P-1"): "adopts=false",
    ("paxos_servers", "P-2"): "adopts=false",
    ("peterson", "P-1"): "yields=false",
    ("raft", "P-3"): "compares=false longest=2",
    ("replicated_log", "P-2"): "waits=false",
    ("request_store", "P-1"): "overwrites=true",
    ("simplified_paxos", "P-2"): "keeps=false",
    ("single_copy_register", "P-1"): "servers=2",
    ("snapshot_store", "P-2"): "detects=false",
    ("write_through_cache", "P-1"): "updates=false",
}
"""A property -> the settings that break it."""
GUARDS = {
    ("alternating_bit", "P-1"): "the last value is acknowledged",
    ("async_termination", "P-1"): "what is detected is true",
    ("async_termination", "P-2"): "n is active",
    ("atomic_commit", "P-1"): "p has voted no",
    ("atomic_commit", "P-2"): "all votes are yes",
    ("barrier", "P-1"): "every process waits",
    ("fast_paxos", "P-1"): "by has accepted v",
    ("fast_paxos", "P-2"): "all votes are for v",
    ("internal_memory", "P-1"): "p has asked for the address",
    ("kraft", "P-1"): "a majority has voted for n",
    ("kraft", "P-5"): "the log of the candidate is up to date",
    ("lock_with_history", "P-1"): "the lock is free",
    ("multi_paxos", "P-1"): "a majority has accepted it",
    ("nbac_guerraoui", "P-1"): "a yes is on its way to p",
    ("nbac_raynal", "P-1"): "all have voted yes",
    ("paxos", "P-2"): "v is proposed in the ballot",
    ("paxos_commit", "P-1"): "r is working",
    ("paxos_voting", "P-1"): "the ballot is later than that which p takes part in",
    ("paxos_voting", "P-2"): "all votes of the ballot are for v",
    ("peterson", "P-2"): "p is outside",
    ("raft", "P-1"): "a majority has voted for n",
    ("raft", "P-2"): "n is in the leader's term",
    ("raft", "P-4"): "a majority has stored it",
    ("raft", "P-5"): "the log of the candidate is up to date",
    ("replicated_log", "P-1"): "n has not executed the whole log",
    ("reusable_barrier", "P-1"): "p is outside",
    ("reusable_barrier", "P-2"): "p is the last one to arrive",
    ("safe_voting", "P-1"): "v is safe",
    ("safe_voting", "P-2"): "all votes of the ballot are for v",
    ("safe_voting", "P-3"): "v is safe",
    ("simple_regular", "P-2"): "p has written",
    ("simplified_paxos", "P-1"): "v is proposed in the ballot",
    ("span_tree", "P-1"): "n and m are neighbours",
    ("span_tree", "P-2"): "the way is shorter, and longer than that of m",
    ("transaction_commit", "P-1"): "every manager is prepared or has committed",
    ("two_phase", "P-1"): "r has sent that it is prepared",
    ("two_phase_backup", "P-1"): "the decision is to commit",
}
"""A property -> a guard without which it breaks."""
EDITS = {
    ("btree", "P-1"): ("last=put(s.last, root, new)", "last=s.last"),
    ("btree", "P-2"): ("child=put(s.child, (root, pivot), old)", "child=put(s.child, (root, pivot), new)"),
    ("btree", "P-3"): ("| {pivot}), old, s.keys[old] - upper)", "| {pivot}), old, s.keys[old])"),
    ("crdt", "P-1"): ("max(s.seen[n][m], s.seen[o][m])", "s.seen[n][m] + s.seen[o][m]"),
    ("echo", "P-1"): ("{message.sender} if message.answers else s.children[n]", "{message.sender}"),
    ("echo", "P-2"): ("s.received[n] == c.nodes - 1, ", "s.received[n] >= 1, "),
    ("ewd998", "P-2"): ("s.balance[n] - 1", "s.balance[n]"),
    ("ewd998_bags", "P-2"): ("s.balance[n] - 1", "s.balance[n]"),
    ("ewd998_bags", "P-3"): ("add(taken[m], new)", "taken[m]"),
    ("inner_fifo", "P-1"): ("buffer=s.buffer[1:]", "buffer=s.buffer[:0]"),
    ("kraft", "P-2"): ("unattached(q.epoch, q.voted)", "unattached(q.epoch, None)"),
    ("kraft", "P-3"): ("last and length <= end)", "last)"),
    ("kraft", "P-4"): ("or lengths[m] >= k", "or lengths[m] >= 0"),
    ("kraft", "P-6"): ("watermark=put(s.watermark, n, 0)", "watermark=s.watermark"),
    ("quorum_register", "P-1"): ("last - last % c.servers + c.servers + n if", "0 if"),
    ("sailfish", "P-1"): ("is_quorum(c, delivered - without_vote(c, s, r - 1, delivered))", "delivered != EMPTY"),
    ("sailfish", "P-2"): ("log=put(s.log, n, committed)", "log=s.log"),
    ("simple_regular", "P-1"): ("register=put(s.register, p, Register.ONE)", "register=s.register"),
    ("snapshot_store", "P-1"): ("s.missed[o] | s.written[t] if", "s.missed[o] if"),
}
"""A property -> an edit of the file that breaks it."""
LONG = (
    *("btree", "fast_paxos", "kraft", "multi_paxos", "paxos_servers", "paxos_voting"),
    *("quorum_register", "raft", "simplified_paxos"),
)
"""Protocols of which a search takes seconds."""
IN = {("kraft", "P-3"): "longest=3 pre_vote=false", ("kraft", "P-6"): "longest=3 pre_vote=false"}
"""Settings in which a guard or an edit shows."""
SEARCHED = 1_000_000
"""A search for a broken property stops after so many states."""


@pytest.mark.parametrize(
    ("name", "property"),
    [pytest.param(*each, marks=pytest.mark.slow if each[0] in LONG else ()) for each in (*SETTINGS, *GUARDS, *EDITS)],
)
def test_every_property_can_break(name: str, property: str, tmp_path: Path) -> None:
    """By a setting, without a guard, or by another edit."""
    file, key = protocol(name), (name, property)
    settings = dict(part.split("=") for part in {**SETTINGS, **IN}.get(key, "").split())
    if key in GUARDS:
        file = _edited(file, tmp_path, GUARDS[key], lambda text: _without_guard(text, GUARDS[key]))
    elif key in EDITS:
        old, new = EDITS[key]
        file = _edited(file, tmp_path, old, lambda text: replaced(text, old, new, 1))
    report = elrcheck.check(model=file, settings=settings, properties=property, max_states=SEARCHED)
    assert [each.verdict for each in report.properties] == ["violated"]


def test_no_property_is_left_out() -> None:
    every = {
        (file.stem, fn.ident)
        for file in protocol_files()
        for fn in resolve(Selection(model=file)).declared.whole().always
    }
    assert every == {*SETTINGS, *GUARDS, *EDITS} and len(every) == len(SETTINGS) + len(GUARDS) + len(EDITS)


def _edited(protocol: Path, folder: Path, within: str, edit: Callable[[str], str]) -> Path:
    """Return a copy of a protocol, with an edit of those of its files that say so."""
    copy = folder / protocol.name
    (shutil.copytree if protocol.is_dir() else shutil.copy)(protocol, copy)
    edited = [file for file in (sorted(copy.rglob("*.py")) if copy.is_dir() else [copy]) if within in file.read_text()]
    assert edited, within
    for file in edited:
        file.write_text(edit(file.read_text()))
    return copy


def _without_guard(text: str, words: str) -> str:
    """Return the text without every `require` that says so."""
    lines = text.splitlines(keepends=True)
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    guards = [node for node in calls if ast.unparse(node.func) == "require"]
    meant = [node for node in guards if ast.literal_eval(node.args[-1]) == words]
    assert meant, words
    gone = {number for node in meant for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    return "".join(line for number, line in enumerate(lines, 1) if number not in gone)


@pytest.mark.parametrize("name", FAIR)
def test_what_is_promised_happens_under_the_declared_fairness_only(name: str, invoke: Invoke, tmp_path: Path) -> None:
    file = protocol(name)
    assert invoke("check", "--liveness", "--model", str(file))[0] == 0
    fair = r"@action\(fairness=[^\n]*\)\n"
    unfair = _edited(file, tmp_path, "@action(fairness=", lambda text: re.sub(fair, "@action\n", text))
    code, out, _ = invoke("check", "--liveness", "--model", str(unfair))
    assert code == 1 and "V-1" in out and "violated" in out


@pytest.mark.parametrize(
    ("property", "guard"), {"P-1": "the coordinator has decided", "P-2": "all votes are yes"}.items()
)
def test_both_properties_of_a_variant_can_break(property: str, guard: str, tmp_path: Path) -> None:
    file = _edited(protocol("atomic_commit"), tmp_path, guard, lambda text: _without_guard(text, guard))
    settings = {"participants": 2, "forwards": True}
    report = elrcheck.check(model=file, settings=settings, properties=property, max_states=SEARCHED)
    assert [each.verdict for each in report.properties] == ["violated"]
