"""Safety properties, liveness, and a witness."""

from __future__ import annotations

from elrcheck.lang.runtime import LeadsTo, always, conj, leads_to, sometimes

from .state import Config, Role, State, epoch_before


@always("P-1")
def OneLeader(c: Config, s: State) -> bool:
    """No two servers lead in an epoch."""
    return all(a == b for a in s.elected for b in s.elected if a.epoch == b.epoch)


@always("P-2")
def VotesOnce(c: Config, s: State, t: State) -> bool:
    """A server does not change its vote in an epoch, nor forget it."""
    return all(
        t.quorum[n].voted == s.quorum[n].voted
        for n in range(c.servers)
        if s.quorum[n].voted is not None and t.quorum[n].epoch == s.quorum[n].epoch
    )


@always("P-3")
def LogsMatch(c: Config, s: State) -> bool:
    """Logs with an entry of the same epoch at an index are the same up to there."""
    return all(
        s.log[n][k].epoch != s.log[m][k].epoch or s.log[n][: k + 1] == s.log[m][: k + 1]
        for n in range(c.servers)
        for m in range(c.servers)
        for k in range(c.longest)
        if k < len(s.log[n]) and k < len(s.log[m])
    )


@always("P-4")
def CommittedIsFinal(c: Config, s: State) -> bool:
    """Each server has the entries that it knows to be committed, and two servers know the same entries."""
    return all(
        s.watermark[n] <= len(s.log[n])
        and all(
            k >= s.watermark[n] or k >= s.watermark[m] or k >= len(s.log[m]) or s.log[n][k] == s.log[m][k]
            for m in range(c.servers)
            for k in range(len(s.log[n]))
        )
        for n in range(c.servers)
    )


@always("P-5")
def LeadersHaveCommitted(c: Config, s: State) -> bool:
    """A leader has all that was committed in its epoch and before, with any voters."""
    last = epoch_before(s.committed, len(s.committed))
    return all(
        s.log[n][: len(s.committed)] == s.committed
        for n in range(c.servers)
        if s.quorum[n].role == Role.LEADER and s.quorum[n].epoch >= last
    )


@always("P-6")
def WatermarksGrow(c: Config, s: State, t: State) -> bool:
    """No watermark falls, except to none in a restart or a new leader; that of the newest leader never falls."""
    last = epoch_before(t.committed, len(t.committed))
    return conj(
        of_a_server=all(t.watermark[n] >= s.watermark[n] or t.watermark[n] == 0 for n in range(c.servers)),
        of_the_quorum=all(
            t.watermark[n] == 0 or t.watermark[n] >= len(t.committed)
            for n in range(c.servers)
            if t.quorum[n].role == Role.LEADER and t.quorum[n].epoch >= last
        ),
    )


@always("P-7")
def CutOffStaysQuiet(c: Config, s: State, t: State) -> bool:
    """A server that is cut off raises no epoch, unless it has led, so its return disturbs no server (KIP-996)."""
    return all(
        t.quorum[n].epoch == s.quorum[n].epoch or s.quorum[n].role == Role.RESIGNED
        for n in range(c.servers)
        if s.cut == n
    )


@always("P-8")
def RequestsAreLegal(c: Config, s: State) -> bool:
    """A candidate has no entry of the epoch that it stands for; its requests would be refused, and it would stop."""
    return all(
        epoch_before(s.log[n], len(s.log[n])) < s.quorum[n].epoch
        for n in range(c.servers)
        if s.quorum[n].role == Role.CANDIDATE
    )


@leads_to("V-1")
def LastLeaderCommits(c: Config, s: State) -> LeadsTo:
    """The leader of the last epoch commits an entry of it, or ceases to lead."""
    leads = any(s.quorum[n].role == Role.LEADER and s.quorum[n].epoch == c.last_epoch for n in range(c.servers))
    committed = epoch_before(s.committed, len(s.committed)) == c.last_epoch
    return LeadsTo(premise=leads, conclusion=committed or not leads)


@sometimes("W-1")
def CommittedByTwo(c: Config, s: State) -> bool:
    """Two servers know an entry of the last epoch to be committed, and one of them leads."""
    return any(
        n != m
        and s.quorum[n].role == Role.LEADER
        and epoch_before(s.log[n], s.watermark[n]) == c.last_epoch
        and epoch_before(s.log[m], s.watermark[m]) == c.last_epoch
        for n in range(c.servers)
        for m in range(c.servers)
    )
