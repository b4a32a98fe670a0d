package org.elrcheck.broker;

import java.io.File;

/** The brokers of this process: the one of a walk, and a leader with its follower. */
final class Brokers {
    final Replica replica;
    private final File folder;
    private Fetcher fetcher;

    Brokers(File folder) {
        this.folder = folder;
        replica = new Replica(folder);
    }

    /** Started for the first question that needs it. */
    Fetcher fetcher() {
        if (fetcher == null) fetcher = new Fetcher(folder);
        return fetcher;
    }
}
