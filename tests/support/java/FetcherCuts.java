package org.elrcheck.broker;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import kafka.cluster.Partition;
import kafka.server.FailedPartitions;
import kafka.server.InitialFetchState;
import kafka.server.KafkaConfig;
import kafka.server.ReplicaAlterLogDirsManager;
import kafka.server.ReplicaFetcherThread;
import kafka.server.ReplicaManager;
import kafka.server.ReplicaQuota;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.EpochEndOffset;
import org.apache.kafka.server.LeaderEndPoint;
import org.apache.kafka.server.common.OffsetAndEpoch;
import org.apache.kafka.server.network.BrokerEndPoint;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.mockito.Mockito;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyLong;
import static scala.jdk.javaapi.CollectionConverters.asScala;

/**
 * How far a ReplicaFetcherThread truncates a small log at the answer of a leader with another one, a line for each pair:
 * on the answer to its fetch (truncateOnFetchResponse), or on that to OffsetsForLeaderEpoch (truncateToEpochEndOffsets).
 * The thread, and both logs with their leader epoch caches, are Kafka's. The leader's epoch has no record yet.
 */
final class FetcherCuts {
    private static final TopicPartition T0 = new TopicPartition("t", 0);
    private static final int LEADER_EPOCH = 4;

    private final Path folder;
    private int made;

    private FetcherCuts(Path folder) {
        this.folder = folder;
    }

    static void write(Path folder, Path out) throws IOException {
        FetcherCuts cuts = new FetcherCuts(folder);
        List<String> lines = new ArrayList<>();
        for (String leader : EpochAnswers.logs()) {
            UnifiedLog leading = cuts.filled(leader);
            EpochFile.assign(leading, LEADER_EPOCH, leader.length());
            for (String follower : EpochAnswers.logs())
                if (!follower.isEmpty())
                    for (boolean onFetch : new boolean[] {true, false})
                        lines.add((onFetch ? "fetch " : "asked ") + follower + " " + cuts.cut(leading, follower, onFetch) + " " + leader);
        }
        Files.write(out, lines);
    }

    /** The log end after one truncation. */
    private long cut(UnifiedLog leading, String follower, boolean onFetch) {
        UnifiedLog log = filled(follower);
        LeaderEndPoint leader = Mockito.mock(LeaderEndPoint.class);
        BrokerEndPoint place = new BrokerEndPoint(0, "localhost", 1);
        Mockito.when(leader.brokerEndPoint()).thenReturn(place);
        Mockito.when(leader.isTruncationOnFetchSupported()).thenReturn(onFetch);
        int latest = log.latestEpoch().get();
        OffsetAndEpoch end = leading.endOffsetForEpoch(latest).get();
        EpochEndOffset said = new EpochEndOffset().setPartition(0).setLeaderEpoch(end.epoch()).setEndOffset(end.offset());
        Mockito.when(leader.fetchEpochEndOffsets(any())).thenReturn(Map.of(T0, said));
        ReplicaFetcherThread thread = new ReplicaFetcherThread("fetcher", leader, Mockito.mock(KafkaConfig.class),
            new FailedPartitions(), manager(log), Mockito.mock(ReplicaQuota.class), "");
        thread.addPartitions(asScala(Map.of(T0, new InitialFetchState(
            scala.Option.empty(), place, LEADER_EPOCH, log.logEndOffset()))));
        if (onFetch) thread.truncateOnFetchResponse(asScala(Map.of(T0, said)));
        else Reflected.call(thread, "maybeTruncate");
        return log.logEndOffset();
    }

    private static ReplicaManager manager(UnifiedLog log) {
        Partition partition = Mockito.mock(Partition.class);
        Mockito.when(partition.localLogOrException()).thenReturn(log);
        Mockito.doAnswer(asked -> log.truncateTo(asked.getArgument(0))).when(partition).truncateTo(anyLong(), anyBoolean());
        ReplicaManager manager = Mockito.mock(ReplicaManager.class);
        Mockito.when(manager.localLogOrException(T0)).thenReturn(log);
        Mockito.when(manager.getPartitionOrException(T0)).thenReturn(partition);
        Mockito.when(manager.replicaAlterLogDirsManager()).thenReturn(Mockito.mock(ReplicaAlterLogDirsManager.class));
        return manager;
    }

    private UnifiedLog filled(String log) {
        File parent = folder.resolve("log-" + made++).toFile();
        if (!parent.mkdir()) throw new IllegalStateException("cannot make " + parent);
        Scheduler idle = (Scheduler) Reflected.proxy(Scheduler.class, (self, method, given) -> null);
        Object filled = EpochFile.load(new File(parent, "t-0"), idle, true);
        for (int at = 0; at < log.length(); at++) EpochFile.append(filled, at, log.charAt(at) - '0');
        return (UnifiedLog) filled;
    }
}
