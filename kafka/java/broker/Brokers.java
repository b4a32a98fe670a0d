package org.elrcheck.broker;

import java.io.File;

/** The brokers of this process: of a walk, with one partition or several, and a leader with its follower. */
final class Brokers {
    final Replica replica;
    private final File folder;
    private Fetcher fetcher;
    private Several several;

    Brokers(File folder) {
        this.folder = folder;
        replica = new Replica(folder);
    }

    /** Started for the first question that needs it. */
    Fetcher fetcher() {
        if (fetcher == null) fetcher = new Fetcher(folder);
        return fetcher;
    }

    /** A broker of this id, with several partitions. */
    void start(int id) {
        if (several == null || several.id() != id) several = new Several(new File(folder, "several-" + id), id);
    }

    /** The broker that was started last. */
    Several several() {
        return several;
    }
}
