package org.apache.kafka.controller;

import org.apache.kafka.server.common.MetadataVersion;

import java.util.HashMap;
import java.util.Map;

/**
 * Setups, and steps from them.
 *
 * Managers are made once for each metadata version and state of the ELR feature. A setup takes them back to the state
 * that they had then; the same setup again, to the state that it had loaded. With `fresh` every setup has managers of
 * its own, to compare the two.
 */
final class ControllerQuestions {
    private record Family(boolean elr, MetadataVersion version) { }

    private static final int MOST_REPEATS = 32;

    private final boolean fresh;
    private final Map<Family, Cluster> families = new HashMap<>();
    private Cluster cluster;
    private String last = "";
    private int repeated;

    ControllerQuestions(boolean fresh) {
        this.fresh = fresh;
    }

    /** elr version, then what Cluster.load reads */
    void setup(String line, Words words, StringBuilder out) {
        out.append("ok");
        if (!fresh && line.equals(last) && repeated++ < MOST_REPEATS) {
            cluster.again();
            return;
        }
        last = "";
        repeated = 0;
        boolean elr = words.flag();
        Family family = new Family(elr, Versions.read(words, elr));
        cluster = fresh ? empty(family) : families.computeIfAbsent(family, ControllerQuestions::empty);
        cluster.load(words);
        last = line;
    }

    private static Cluster empty(Family family) {
        Managers managers = new Managers(family.elr, family.version);
        managers.mark(Managers.EMPTY);
        return new Cluster(managers);
    }

    void step(Words words, StringBuilder out) {
        if (cluster == null) throw new Words.Misunderstood("a step without a setup");
        cluster.take(words, out);
    }
}
