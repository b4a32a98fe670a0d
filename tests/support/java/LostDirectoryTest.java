package org.elrcheck.broker;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** F-52: what the files of a clean shutdown prove when a log directory is lost and dropped from log.dirs. */
public class LostDirectoryTest {
    private static final long EPOCH = 7;

    @TempDir
    Path folder;

    @Test
    void testShutdownCountsWhileEveryDirectoryIsThere() {
        File one = directory("d1");
        File two = directory("d2");
        stoppedInOrder(one, two);
        assertEquals(OptionalLong.of(EPOCH), epochOf(one, two));
        assertEquals(OptionalLong.empty(), epochOf(one, directory("d3")), "d2 is replaced by an empty directory");
        assertEquals(OptionalLong.empty(), epochOf(one),
            "F-52: a broker without one of its log directories does not say that it stopped cleanly");
    }

    private File directory(String name) {
        File made = folder.resolve(name).toFile();
        if (!made.isDirectory() && !made.mkdir()) throw new IllegalStateException("cannot make " + made);
        return made;
    }

    /** A broker starts, with nothing in its directories, and stops. */
    private static void stoppedInOrder(File... directories) {
        Object manager = manager(directories);
        Reflected.call(manager, "loadLogs", config(), scala.collection.immutable.Map$.MODULE$.empty(), null);
        Reflected.call(manager, "shutdown", EPOCH);
    }

    /** The broker epoch that it brings along at its next start with these directories. */
    private static OptionalLong epochOf(File... directories) {
        Object manager = manager(directories);
        try {
            return (OptionalLong) Reflected.call(manager, "readBrokerEpochFromCleanShutdownFiles");
        } finally {
            // It has loaded nothing, so that this writes no file and only gives the directories free.
            Reflected.call(manager, "shutdown", EPOCH + 1);
        }
    }

    private static Object manager(File... directories) {
        Object named = scala.jdk.javaapi.CollectionConverters.asScala(List.of(directories)).toList();
        Object none = scala.jdk.javaapi.CollectionConverters.asScala(List.of()).toList();
        Scheduler scheduler = (Scheduler) Reflected.proxy(Scheduler.class, (self, method, given) -> null);
        return Reflected.build(Reflected.any("kafka.log.LogManager"), null,
            named, none, config(), 1, scheduler, new LogDirFailureChannel(2), Time.SYSTEM);
    }

    private static LogConfig config() {
        return new LogConfig(java.util.Map.of());
    }
}
