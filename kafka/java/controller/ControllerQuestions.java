package org.apache.kafka.controller;

import org.apache.kafka.server.common.MetadataVersion;

import java.util.HashMap;
import java.util.Map;

/**
 * Setups, and steps from them.
 *
 * Managers are made once for each metadata version and state of the ELR feature, and every setup takes them back to
 * the state that they had then. With `fresh` every setup has managers of its own, to compare the two.
 */
final class ControllerQuestions {
    private record Family(boolean elr, MetadataVersion version) { }

    private final boolean fresh;
    private final Map<Family, Cluster> families = new HashMap<>();
    private Cluster cluster;

    ControllerQuestions(boolean fresh) {
        this.fresh = fresh;
    }

    /** elr version, then what Cluster.load reads */
    void setup(Words words, StringBuilder out) {
        boolean elr = words.flag();
        Family family = new Family(elr, Versions.read(words, elr));
        cluster = fresh ? empty(family) : families.computeIfAbsent(family, ControllerQuestions::empty);
        cluster.load(words);
        out.append("ok");
    }

    private static Cluster empty(Family family) {
        Managers managers = new Managers(family.elr, family.version);
        managers.mark();
        return new Cluster(managers);
    }

    void step(Words words, StringBuilder out) {
        if (cluster == null) throw new Words.Misunderstood("a step without a setup");
        cluster.take(words, out);
    }
}
