package org.elrcheck.broker;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.server.util.Scheduler;

/**
 * What a UnifiedLog and its leader epoch cache say of small logs, a line for each question.
 * A log is written as the epochs of its records, such as 113; `own` is an epoch that begins at its end, 0 for none.
 */
final class EpochAnswers {
    private static final int LENGTH = 3;
    private static final int EPOCHS = 3;

    private final Path folder;
    private final List<String> lines = new ArrayList<>();
    private int made;

    private EpochAnswers(Path folder) {
        this.folder = folder;
    }

    static void write(Path folder, Path out) throws IOException {
        EpochAnswers answers = new EpochAnswers(folder);
        for (String log : logs()) {
            for (int own : new int[] {0, EPOCHS + 1}) {
                answers.ends(log, own);
                for (int keep = 0; keep <= log.length(); keep++) answers.truncated(log, own, keep);
            }
        }
        Files.write(out, answers.lines);
    }

    /** Every log whose epochs do not fall. */
    static List<String> logs() {
        List<String> all = new ArrayList<>(List.of(""));
        for (int i = 0; i < all.size(); i++) {
            String log = all.get(i);
            int last = log.isEmpty() ? 1 : log.charAt(log.length() - 1) - '0';
            if (log.length() < LENGTH) for (int epoch = last; epoch <= EPOCHS; epoch++) all.add(log + epoch);
        }
        return all;
    }

    private void ends(String log, int own) {
        Object made = filled(log, own);
        for (int epoch = 1; epoch <= EPOCHS + 1; epoch++) lines.add("end " + log + " " + own + " " + epoch + " " + end(made, epoch));
    }

    /** Cut, then longer by a record of the epoch before the cut, then loaded by the next process. */
    private void truncated(String log, int own, int keep) {
        Object cut = filled(log, own);
        Reflected.call(cut, "truncateTo", (long) keep);
        lines.add("cut " + log + " " + own + " " + keep + " " + known(cut));
        if (keep > 0) EpochFile.append(cut, keep, log.charAt(keep - 1) - '0');
        lines.add("grown " + log + " " + own + " " + keep + " " + known(cut));
        lines.add("loaded " + log + " " + own + " " + keep + " " + known(EpochFile.load(place(made), idle(), true)));
    }

    private static Object asked(Object log, int epoch) {
        return Reflected.call(log, "endOffsetForEpoch", epoch);
    }

    private Object filled(String log, int own) {
        made++;
        Object filled = EpochFile.load(place(made), idle(), true);
        for (int at = 0; at < log.length(); at++) EpochFile.append(filled, at, log.charAt(at) - '0');
        if (own > 0) EpochFile.assign(filled, own, log.length());
        return filled;
    }

    private File place(int number) {
        File parent = folder.resolve("log-" + number).toFile();
        if (!parent.isDirectory() && !parent.mkdir()) throw new IllegalStateException("cannot make " + parent);
        return new File(parent, "t-0");
    }

    private static Scheduler idle() {
        return (Scheduler) Reflected.proxy(Scheduler.class, (self, method, given) -> null);
    }

    /** The log end, the latest epoch, and the end of each epoch. */
    private static String known(Object log) {
        Object latest = Reflected.option(Reflected.call(log, "latestEpoch"));
        StringBuilder all = new StringBuilder(Reflected.call(log, "logEndOffset") + " " + (latest == null ? 0 : latest));
        for (int epoch = 1; epoch <= EPOCHS + 1; epoch++) all.append(" ").append(end(log, epoch));
        return all.toString();
    }

    private static String end(Object log, int epoch) {
        Object found = Reflected.option(asked(log, epoch));
        return found == null ? "none" : epochOf(found) + ":" + Reflected.get(found, "offset");
    }

    private static Object epochOf(Object found) {
        try {
            return Reflected.get(found, "epoch");
        } catch (IllegalStateException other) {
            return Reflected.get(found, "leaderEpoch");
        }
    }
}
