package org.apache.kafka.controller;

import org.apache.kafka.common.message.BrokerHeartbeatRequestData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.metadata.BrokerHeartbeatReply;
import org.apache.kafka.metadata.bootstrap.BootstrapMetadata;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * A QuorumController with its event queue, its timer for stale brokers and its handling of faults, over a log that
 * commits at once or withholds that. Every operation is one of its write events; it replays the records itself.
 */
final class LiveController extends Managers {
    /** As a QuorumController has it (MAX_RECORDS_PER_BATCH). */
    static final int RECORDS_OF_A_BATCH = 10_000;
    private static final long PATIENCE_SECONDS = 30;
    /** The timer looks for one stale broker at a time, and for the next one after a short while. */
    private static final int TURNS_OF_THE_TIMER = 8;
    private static final long BETWEEN_TURNS_MS = 10;

    private final QuorumController controller;
    private final CommittingLog log;
    private final List<Throwable> faults;
    private List<ApiMessageAndVersion> waiting = new ArrayList<>();

    static LiveController start(boolean elr, MetadataVersion version) {
        return start(elr, version, RECORDS_OF_A_BATCH);
    }

    static LiveController start(boolean elr, MetadataVersion version, int recordsOfABatch) {
        Clock clock = new Clock();
        CommittingLog log = new CommittingLog();
        List<Throwable> faults = new ArrayList<>();
        QuorumController.Builder builder = new QuorumController.Builder(CommittingLog.NODE, CLUSTER)
            .setTime(clock)
            .setRaftClient(log.client())
            .setMaxRecordsPerBatch(recordsOfABatch)
            .setQuorumFeatures(quorumFeatures())
            .setConfigSchema(SCHEMA)
            .setSessionTimeoutNs(TimeUnit.MILLISECONDS.toNanos(SESSION_MS))
            .setBootstrapMetadata(BootstrapMetadata.fromVersion(version, "elrcheck"))
            .setNonFatalFaultHandler((message, cause) -> fault(faults, message, cause))
            .setFatalFaultHandler((message, cause) -> fault(faults, message, cause));
        AnyVersion elrAsArgument = AnyVersion.method(builder.getClass(), "setEligibleLeaderReplicasEnabled", 1);
        if (elrAsArgument != null) elrAsArgument.call(builder, elr);
        try {
            LiveController live = new LiveController(builder.build(), clock, version, log, faults);
            live.replayFeatures(elr, version);
            return live;
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    private LiveController(
        QuorumController controller, Clock clock, MetadataVersion version, CommittingLog log, List<Throwable> faults
    ) {
        super(controller, clock, version);
        this.controller = controller;
        this.log = log;
        this.faults = faults;
    }

    private static RuntimeException fault(List<Throwable> faults, String message, Throwable cause) {
        faults.add(cause);
        return new IllegalStateException(message, cause);
    }

    @Override
    void replay(ApiMessage record) {
        waiting.add(new ApiMessageAndVersion(record, (short) 0));
    }

    @Override
    void empty() { }

    @Override
    void mark(long state) { }

    /** What was loaded is committed by an earlier leader; then this controller is elected. */
    @Override
    void activate() {
        log.append(waiting);
        waiting = new ArrayList<>();
        log.elect();
        settle();
        if (controller.curClaimEpoch() < 0) throw new IllegalStateException("not active: " + faults);
    }

    @Override
    boolean failOver() {
        settle();
        if (controller.curClaimEpoch() >= 0) return false;
        log.truncate();
        log.elect();
        settle();
        return true;
    }

    @Override
    void withhold() {
        settle();
        log.withhold(true);
    }

    @Override
    void failOver(long end, boolean before) {
        settle();
        if (before) {
            log.commit(end);
            settle();
        }
        log.depose();
        settle();
        log.commit(end);
        log.truncate();
        log.withhold(false);
        log.elect();
        settle();
        if (controller.curClaimEpoch() < 0) throw new IllegalStateException("not active: " + faults);
    }

    @Override
    long offset() {
        return log.end() - 1;
    }

    @Override
    List<ApiMessage> committed() {
        return log.committed().stream().map(ApiMessageAndVersion::message).toList();
    }

    /** While commits are withheld the controller answers no caller, and the answer it would give is returned. */
    @Override
    <T> T run(Supplier<ControllerResult<T>> operation) {
        AtomicReference<ControllerResult<T>> result = new AtomicReference<>();
        CompletableFuture<T> answer = controller.appendWriteEvent("elrcheck", OptionalLong.empty(), () -> {
            result.set(operation.get());
            return result.get();
        });
        if (log.withholds()) settle();
        return log.withholds() && !answer.isDone() ? result.get().response() : finished(answer);
    }

    @Override
    BrokerHeartbeatReply beat(BrokerHeartbeatRequestData request) {
        if (log.withholds()) return super.beat(request);
        return finished(controller.processBrokerHeartbeat(Requests.context(ApiKeys.BROKER_HEARTBEAT), request));
    }

    @Override
    void fenceStaleBrokers() {
        for (int turn = 0; turn < TURNS_OF_THE_TIMER; turn++) {
            settle();
            clock.pass(BETWEEN_TURNS_MS);
        }
        settle();
    }

    /** Until the controller has handled everything that is in its queue now. */
    private void settle() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        controller.appendControlEvent("settle", () -> done.complete(null));
        finished(done);
    }

    /** The caller of a controller whose operation was a fault is told UNKNOWN_SERVER_ERROR; here, the fault. */
    private <T> T finished(CompletableFuture<T> future) {
        try {
            T result = future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (faults.isEmpty()) return result;
        } catch (ExecutionException failure) {
            if (faults.isEmpty()) throw AnyVersion.<RuntimeException>asIs(failure.getCause());
        } catch (InterruptedException | TimeoutException stuck) {
            throw new IllegalStateException("the controller is stuck", stuck);
        }
        Throwable fault = faults.get(0);
        faults.clear();
        throw AnyVersion.<RuntimeException>asIs(fault);
    }

    @Override
    void close() {
        try {
            controller.close();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
