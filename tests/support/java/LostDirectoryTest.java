package org.elrcheck.broker;

import java.io.File;
import java.nio.channels.ClosedChannelException;
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
import static org.junit.jupiter.api.Assertions.assertThrows;

/** F-52: what the files of a clean shutdown prove when a log directory is lost and dropped from log.dirs. */
public class LostDirectoryTest {
    private static final long EPOCH = 7;
    private static final Class<?> SCALA = Reflected.any("kafka.log.LogManager");
    /** In 4.4 it is in Java, and the class in Scala only makes one. */
    private static final boolean IN_SCALA = SCALA.getDeclaredConstructors().length > 0;

    @TempDir
    Path folder;

    @Test
    void testShutdownCountsWhileEveryDirectoryIsThere() {
        File one = directory("d1");
        File two = directory("d2");
        Reflected.call(started(one, two), "shutdown", EPOCH);
        assertEquals(OptionalLong.of(EPOCH), epochOf(one, two));
        assertEquals(OptionalLong.empty(), epochOf(one, directory("d3")), "d2 is replaced by an empty directory");
        assertEquals(OptionalLong.empty(), epochOf(one),
            "F-52: a broker without one of its log directories does not say that it stopped cleanly");
        // The same where the directory fails before the broker stops.
        File four = directory("d4");
        File five = directory("d5");
        Object manager = started(four, five);
        Reflected.call(manager, "handleLogDirFailure", five.getAbsolutePath());
        assertThrows(ClosedChannelException.class, () -> Reflected.call(manager, "shutdown", EPOCH),
            "after the files are written, the lock of d5 is given free a second time");
        assertEquals(OptionalLong.empty(), epochOf(four), "d5 has failed");
    }

    private File directory(String name) {
        File made = folder.resolve(name).toFile();
        if (!made.isDirectory() && !made.mkdir()) throw new IllegalStateException("cannot make " + made);
        return made;
    }

    /** A broker starts, with nothing in its directories. */
    private static Object started(File... directories) {
        Object manager = manager(directories);
        Object nothing = IN_SCALA ? scala.collection.immutable.Map$.MODULE$.empty() : java.util.Map.of();
        Reflected.call(manager, "loadLogs", config(), nothing, null);
        return manager;
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
        Scheduler scheduler = (Scheduler) Reflected.proxy(Scheduler.class, (self, method, given) -> null);
        return Reflected.build(IN_SCALA ? SCALA : Reflected.any("org.apache.kafka.storage.internals.log.LogManager"),
            null, list(List.of(directories)), list(List.of()), config(), 1, scheduler, new LogDirFailureChannel(2), Time.SYSTEM);
    }

    private static Object list(List<File> files) {
        return IN_SCALA ? scala.jdk.javaapi.CollectionConverters.asScala(files).toList() : files;
    }

    private static LogConfig config() {
        return new LogConfig(java.util.Map.of());
    }
}
