package org.apache.kafka.controller;

import org.apache.kafka.raft.Batch;
import org.apache.kafka.raft.BatchReader;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.raft.RaftClient;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.KRaftVersion;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** The metadata log as its only voter sees it: what is appended is committed at once. */
final class CommittingLog {
    static final int NODE = 0;

    private RaftClient.Listener<ApiMessageAndVersion> listener;
    private volatile long end = 0;
    private volatile int epoch = 0;
    private volatile boolean leads = false;
    private List<ApiMessageAndVersion> prepared = List.of();

    long end() {
        return end;
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
                commit(prepared);
                yield null;
            }
            case "resign" -> {
                leads = false;
                listener.handleLeaderChange(leader());
                yield null;
            }
            case "leaderAndEpoch" -> leader();
            case "logEndOffset" -> end;
            case "highWatermark" -> OptionalLong.of(end);
            case "nodeId" -> OptionalInt.of(NODE);
            case "kraftVersion" -> KRaftVersion.KRAFT_VERSION_0;
            case "latestSnapshotId", "createSnapshot" -> Optional.empty();
            case "shutdown" -> CompletableFuture.completedFuture(null);
            case "close", "unregister" -> null;
            case "toString" -> "a log that commits at once";
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

    void commit(List<ApiMessageAndVersion> records) {
        if (records.isEmpty()) return;
        long base = end;
        end += records.size();
        listener.handleCommit(new OneBatch(Batch.data(base, epoch, 0, 1, List.copyOf(records))));
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
