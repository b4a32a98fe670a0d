package org.apache.kafka.controller;

import org.apache.kafka.common.metadata.AbortTransactionRecord;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The first controller of a cluster writes five bootstrap records, and loses its leadership when some are committed.
 * Then it is active again (`again`), or another one is and aborts the transaction (`aborted`).
 *
 * Arguments: the records of a batch, how many records are committed, and which of the two. Printed are the records that
 * are committed in the end, and what the fatal fault handler was called with.
 */
public class LostBootstrap {
    private static final long PATIENCE_SECONDS = 30;
    private static final int EVENTS_THAT_FOLLOW = 4;

    private final CommittingLog log = new CommittingLog();
    private final List<String> faults = new ArrayList<>();
    private final QuorumController controller;

    public static void main(String[] arguments) throws Exception {
        LostBootstrap bootstrap = new LostBootstrap(Integer.parseInt(arguments[0]));
        bootstrap.lose(Long.parseLong(arguments[1]));
        if (arguments[2].equals("again")) bootstrap.log.elect();
        else bootstrap.log.append(List.of(new ApiMessageAndVersion(new AbortTransactionRecord(), (short) 0)));
        bootstrap.settle();
        System.out.println(bootstrap.log.committed().stream()
            .map(record -> record.message().getClass().getSimpleName().replace("Record", ""))
            .collect(Collectors.joining(",")));
        System.out.println(String.join("; ", bootstrap.faults));
        System.exit(0);
    }

    private LostBootstrap(int recordsOfABatch) throws Exception {
        List<ApiMessageAndVersion> features = List.of(
            feature(MetadataVersion.FEATURE_NAME, MetadataVersion.latestProduction().featureLevel()),
            feature(Managers.ELR_FEATURE, (short) 1));
        controller = new QuorumController.Builder(CommittingLog.NODE, Managers.CLUSTER)
            .setTime(new Clock())
            .setRaftClient(log.client())
            .setQuorumFeatures(Managers.quorumFeatures())
            .setConfigSchema(Managers.SCHEMA)
            .setBootstrapMetadata(BootstrapMetadata.fromRecords(features, "elrcheck"))
            .setMaxRecordsPerBatch(recordsOfABatch)
            .setNonFatalFaultHandler((message, cause) -> new IllegalStateException(message, cause))
            .setFatalFaultHandler((message, cause) -> {
                faults.add(cause.getMessage());
                return new IllegalStateException(message, cause);
            })
            .build();
    }

    private static ApiMessageAndVersion feature(String name, short level) {
        return new ApiMessageAndVersion(new FeatureLevelRecord().setName(name).setFeatureLevel(level), (short) 0);
    }

    private void lose(long after) throws Exception {
        log.withhold(true);
        log.elect();
        settle();
        log.commit(after);
        settle();
        log.depose();
        settle();
        log.truncate();
        log.withhold(false);
    }

    private void settle() throws Exception {
        for (int event = 0; event < EVENTS_THAT_FOLLOW; event++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            controller.appendControlEvent("settle", () -> done.complete(null));
            done.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }
}
