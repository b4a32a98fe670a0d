package org.apache.kafka.controller;

import org.apache.kafka.raft.Batch;
import org.apache.kafka.raft.BatchReader;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.raft.RaftClient;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.KRaftVersion;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** The metadata log as its only voter sees it: what is appended is committed at once, or later, or lost. */
final class CommittingLog {
    static final int NODE = 0;
    private static final int ANOTHER = 1;

    private RaftClient.Listener<ApiMessageAndVersion> listener;
    private volatile long end = 0;
    private volatile int epoch = 0;
    private volatile boolean leads = false;
    private List<ApiMessageAndVersion> prepared = List.of();
    private final List<List<ApiMessageAndVersion>> committed = new ArrayList<>();
    private final List<List<ApiMessageAndVersion>> uncommitted = new ArrayList<>();
    private volatile boolean withholds = false;
    private volatile long highWatermark = 0;

    long end() {
        return end;
    }

    List<ApiMessageAndVersion> committed() {
        return committed.stream().flatMap(List::stream).toList();
    }

    boolean withholds() {
        return withholds;
    }

    void withhold(boolean withholds) {
        this.withholds = withholds;
    }

    /** RaftClient has different methods in different versions; those that a controller calls are these. */
    @SuppressWarnings("unchecked")
    RaftClient<ApiMessageAndVersion> client() {
        return (RaftClient<ApiMessageAndVersion>) Proxy.newProxyInstance(
            RaftClient.class.getClassLoader(), new Class<?>[] {RaftClient.class}, (proxy, method, arguments) ->
                answer(method, arguments));
    }

    @SuppressWarnings("unchecked")
    private Object answer(Method method, Object[] arguments) {
        return switch (method.getName()) {
            case "register" -> {
                listener = (RaftClient.Listener<ApiMessageAndVersion>) arguments[0];
                yield null;
            }
            case "prepareAppend" -> {
                prepared = (List<ApiMessageAndVersion>) arguments[1];
                yield end + prepared.size() - 1;
            }
            case "schedulePreparedAppend" -> {
                append(prepared);
                yield null;
            }
            case "resign" -> {
                leads = false;
                listener.handleLeaderChange(leader());
                yield null;
            }
            case "leaderAndEpoch" -> leader();
            case "logEndOffset" -> end;
            case "highWatermark" -> OptionalLong.of(highWatermark);
            case "nodeId" -> OptionalInt.of(NODE);
            case "kraftVersion" -> KRaftVersion.KRAFT_VERSION_0;
            case "latestSnapshotId", "createSnapshot" -> Optional.empty();
            case "shutdown" -> CompletableFuture.completedFuture(null);
            case "close", "unregister" -> null;
            case "toString" -> "a log of one voter";
            default -> throw new UnsupportedOperationException(method.toString());
        };
    }

    private LeaderAndEpoch leader() {
        return new LeaderAndEpoch(leads ? OptionalInt.of(NODE) : OptionalInt.empty(), epoch);
    }

    void elect() {
        epoch++;
        leads = true;
        listener.handleLeaderChange(leader());
    }

    /** Another voter is elected, whose log has what is committed, and may have more. */
    void depose() {
        epoch++;
        leads = false;
        listener.handleLeaderChange(new LeaderAndEpoch(OptionalInt.of(ANOTHER), epoch));
    }

    void append(List<ApiMessageAndVersion> records) {
        if (records.isEmpty()) return;
        end += records.size();
        uncommitted.add(List.copyOf(records));
        if (!withholds) commit(end);
    }

    /** Commits the batches that end before this offset. */
    void commit(long before) {
        while (!uncommitted.isEmpty() && highWatermark + uncommitted.get(0).size() <= before) {
            List<ApiMessageAndVersion> records = uncommitted.remove(0);
            committed.add(records);
            long base = highWatermark;
            highWatermark += records.size();
            listener.handleCommit(new OneBatch(Batch.data(base, epoch, 0, 1, records)));
        }
    }

    /** The leader does not have what is not committed, and this log is truncated. */
    void truncate() {
        uncommitted.clear();
        end = highWatermark;
    }

    private static final class OneBatch implements BatchReader<ApiMessageAndVersion> {
        private final Batch<ApiMessageAndVersion> batch;
        private final Iterator<Batch<ApiMessageAndVersion>> left;

        OneBatch(Batch<ApiMessageAndVersion> batch) {
            this.batch = batch;
            this.left = List.of(batch).iterator();
        }

        @Override
        public long baseOffset() {
            return batch.baseOffset();
        }

        @Override
        public OptionalLong lastOffset() {
            return OptionalLong.of(batch.lastOffset());
        }

        @Override
        public boolean hasNext() {
            return left.hasNext();
        }

        @Override
        public Batch<ApiMessageAndVersion> next() {
            return left.next();
        }

        @Override
        public void close() { }
    }
}
