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
    private final int recordsOfABatch;
    private final Map<Family, Cluster> families = new HashMap<>();
    private final IndexQuestions indexes = new IndexQuestions();
    private Cluster cluster;
    private String last = "";
    private int repeated;

    /** recordsOfABatch: the most that a live controller writes at once. */
    ControllerQuestions(Mode mode, int recordsOfABatch) {
        this.mode = mode;
        this.recordsOfABatch = recordsOfABatch;
    }

    /** line: of the setup, by which a repeated one is known. */
    void setup(String line, Question.Setup setup) {
        if (mode == Mode.KEPT && line.equals(last) && repeated++ < MOST_REPEATS) {
            cluster.again();
            return;
        }
        last = "";
        repeated = 0;
        Family family = new Family(setup.elr(), Versions.named(setup.metadataVersion(), setup.elr()));
        if (mode == Mode.KEPT) {
            cluster = families.computeIfAbsent(family, this::empty);
        } else {
            if (cluster != null) cluster.managers().close();
            cluster = empty(family);
        }
        cluster.load(setup);
        last = line;
    }

    private Cluster empty(Family family) {
        Managers managers = mode == Mode.LIVE
            ? LiveController.start(family.elr, family.version, recordsOfABatch)
            : new Managers(family.elr, family.version);
        managers.mark(Managers.EMPTY);
        return new Cluster(managers);
    }

    Cluster.StepAnswer step(Step step) {
        if (cluster == null) throw new Wire.Misunderstood("a step without a setup");
        return cluster.take(step);
    }

    IndexQuestions.Answer indexes() {
        if (cluster == null) throw new Wire.Misunderstood("a question about indexes without a setup");
        return indexes.answer(cluster.managers());
    }

    void withhold() {
        if (cluster == null) throw new Wire.Misunderstood("a withheld commit without a setup");
        cluster.withhold();
    }

    Cluster.StepAnswer failOver(Question.FailOver failOver) {
        if (cluster == null) throw new Wire.Misunderstood("a failover without a setup");
        return cluster.failOver(failOver);
    }

    void close() {
        if (cluster != null) cluster.managers().close();
    }
}
