package org.elrcheck.broker;

import java.util.List;

/** A follower with records hears from a new leader: kafka/broker_steps.py says what each part means. */
record Truncation(List<Integer> leader, int leaderEpoch, List<Integer> follower, boolean byFetch) implements Question {
    record Truncated(long logEnd) { }

    @Override
    public Object answer(Brokers brokers) {
        Fetcher fetcher = brokers.fetcher();
        fetcher.start(leader, leaderEpoch, follower);
        if (byFetch) fetcher.fetch();
        else fetcher.askEpochs();
        return new Truncated(fetcher.logEnd());
    }
}
