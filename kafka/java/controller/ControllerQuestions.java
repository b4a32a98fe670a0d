package org.apache.kafka.controller;

import org.apache.kafka.server.common.MetadataVersion;

import java.util.HashMap;
import java.util.Map;

/**
 * Setups, and steps from them.
 *
 * Managers are made once for each metadata version and state of the ELR feature. A setup takes them back to the state
 * that they had then; the same setup again, to the state that it had loaded. In the mode FRESH every setup has managers
 * of its own, to compare the two; in the mode LIVE, a QuorumController of its own.
 */
final class ControllerQuestions {
    enum Mode { KEPT, FRESH, LIVE }

    private record Family(boolean elr, MetadataVersion version) { }

    private static final int MOST_REPEATS = 32;

    private final Mode mode;
    private final Map<Family, Cluster> families = new HashMap<>();
    private Cluster cluster;
    private String last = "";
    private int repeated;

    ControllerQuestions(Mode mode) {
        this.mode = mode;
    }

    /** elr version, then what Cluster.load reads */
    void setup(String line, Words words, StringBuilder out) {
        out.append("ok");
        if (mode == Mode.KEPT && line.equals(last) && repeated++ < MOST_REPEATS) {
            cluster.again();
            return;
        }
        last = "";
        repeated = 0;
        boolean elr = words.flag();
        Family family = new Family(elr, Versions.read(words, elr));
        if (mode == Mode.KEPT) {
            cluster = families.computeIfAbsent(family, this::empty);
        } else {
            if (cluster != null) cluster.managers().close();
            cluster = empty(family);
        }
        cluster.load(words);
        last = line;
    }

    private Cluster empty(Family family) {
        Managers managers = mode == Mode.LIVE
            ? LiveController.start(family.elr, family.version) : new Managers(family.elr, family.version);
        managers.mark(Managers.EMPTY);
        return new Cluster(managers);
    }

    void step(Words words, StringBuilder out) {
        if (cluster == null) throw new Words.Misunderstood("a step without a setup");
        cluster.take(words, out);
    }

    void close() {
        if (cluster != null) cluster.managers().close();
    }
}
