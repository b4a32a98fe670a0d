package org.elrcheck.broker;

import java.io.File;
import java.lang.reflect.Array;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** F-69, to be extended by a test of each method: the leader epoch cache that a log is loaded with, after a truncation and a record of an older epoch. */
abstract class EpochFile {
    private static final Class<?> LOG = Reflected.any(
        "org.apache.kafka.storage.internals.log.UnifiedLog", "kafka.log.UnifiedLog");
    private static final boolean IN_SCALA = LOG.getName().startsWith("kafka.log");
    private static final Class<?> STATS = Reflected.any(
        "org.apache.kafka.storage.log.metrics.BrokerTopicStats", "kafka.server.BrokerTopicStats");
    private static final Class<?> RECORDS = Reflected.any(
        "org.apache.kafka.common.record.internal.MemoryRecords", "org.apache.kafka.common.record.MemoryRecords");
    private static final Class<?> RECORD = Reflected.any(
        "org.apache.kafka.common.record.internal.SimpleRecord", "org.apache.kafka.common.record.SimpleRecord");

    @TempDir
    Path folder;

    /** The order of BrokerServer.shutdown: the scheduler ends first, then the fetchers, then the logs are closed. */
    void afterAnOrderlyShutdown() throws InterruptedException {
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        Object log = led(scheduler);
        scheduler.shutdown();
        followed(log);
        Reflected.call(log, "flush", true);
        Reflected.call(log, "close");
        assertEpochs(true);
    }

    /** The process dies before the scheduler comes to the task; the operating system survives. */
    void afterAKill() {
        Scheduler idle = (Scheduler) Reflected.proxy(Scheduler.class, (self, method, given) -> null);
        followed(led(idle));
        assertEpochs(false);
    }

    /** The same where the task runs. */
    void onceTheTaskHasRun() throws InterruptedException {
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        followed(led(scheduler));
        // Wait for the task, whatever is behind it in the queue.
        java.util.concurrent.CountDownLatch ran = new java.util.concurrent.CountDownLatch(1);
        scheduler.schedule("after", ran::countDown, 0, -1);
        ran.await();
        scheduler.shutdown();
        assertEpochs(false);
    }

    /** One record of epoch 1; then the broker leads in epoch 2 and writes nothing. */
    private Object led(Scheduler scheduler) {
        Object log = load(scheduler, true);
        append(log, 0, 1);
        assign(log, 2, 1);
        return log;
    }

    /** It follows a leader that has never heard of epoch 2, and copies the next record of epoch 1. */
    private static void followed(Object log) {
        Reflected.call(log, "truncateTo", 1L);
        append(log, 1, 1);
        assertEquals(1, latestEpoch(log), "in memory");
    }

    private void assertEpochs(boolean clean) {
        Scheduler idle = (Scheduler) Reflected.proxy(Scheduler.class, (self, method, given) -> null);
        Object log = load(idle, clean);
        assertEquals(2L, Reflected.call(log, "logEndOffset"));
        assertEquals(1, latestEpoch(log), "F-69: the latest epoch is that of the last record");
        assertEquals(2L, end(log, 1), "F-69: epoch 1 ends with the log");
    }

    Object load(Scheduler scheduler, boolean clean) {
        return load(folder.resolve("t-0").toFile(), scheduler, clean);
    }

    static Object load(File place, Scheduler scheduler, boolean clean) {
        if (!place.isDirectory() && !place.mkdir()) throw new IllegalStateException("cannot make " + place);
        return Reflected.build(LOG, IN_SCALA ? "apply" : "create", place, new LogConfig(Map.of()), scheduler,
            Reflected.build(STATS, null), Time.SYSTEM, 3_600_000, new ProducerStateManagerConfig(86_400_000, false),
            600_000, new LogDirFailureChannel(1), clean, new ConcurrentHashMap<String, Integer>(),
            LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
    }

    static void append(Object log, long offset, int epoch) {
        Object some = Array.newInstance(RECORD, 1);
        Array.set(some, 0, Reflected.callConstructor(RECORD, (Object) new byte[] {1}));
        Object records = Reflected.callStatic(RECORDS, "withRecords", offset, Compression.NONE, (Integer) epoch, some);
        try {
            Reflected.call(log, "appendAsFollower", records, epoch);
        } catch (IllegalStateException older) {
            Reflected.call(log, "appendAsFollower", records);
        }
    }

    static void assign(Object log, int epoch, long start) {
        try {
            Reflected.call(log, "assignEpochStartOffset", epoch, start);
        } catch (IllegalStateException older) {
            Reflected.call(log, "maybeAssignEpochStartOffset", epoch, start);
        }
    }

    private static int latestEpoch(Object log) {
        return (Integer) Reflected.option(Reflected.call(log, "latestEpoch"));
    }

    private static long end(Object log, int epoch) {
        Object found = Reflected.option(Reflected.call(log, "endOffsetForEpoch", epoch));
        return (Long) Reflected.get(found, "offset");
    }
}
