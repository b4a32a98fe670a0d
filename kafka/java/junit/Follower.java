package org.elrcheck.broker;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.network.TransferableChannel;

/** A replica that also follows: what ReplicaFetcherThread does with an answer, without a network between. */
final class Follower {
    private static final int MOST = 1 << 20;
    private static final long BROKER_EPOCH = 100;

    final Replica replica;
    private final int id;
    private int leaderEpoch;

    Follower(int id, File folder, int minIsr) {
        this.id = id;
        replica = new Replica(new File(folder, "broker-" + id));
        replica.start(id, BROKER_EPOCH + id, minIsr, -1);
    }

    void metadata(int leader, int leaderEpoch, int partitionEpoch, List<Integer> replicas, List<Integer> isr) {
        this.leaderEpoch = leaderEpoch;
        replica.metadata(leader, leaderEpoch, partitionEpoch, replicas, isr);
    }

    /** A request, with what the leader answers: records are a range of its file that nothing has read yet. */
    Object ask(Follower leader) {
        return leader.replica.read(id, BROKER_EPOCH + id, end(), leaderEpoch, latestEpoch());
    }

    /** The answer is sent and comes in. Says whether the follower has to ask again because it truncated. */
    boolean take(Object answer) {
        Object diverging = Reflected.option(Reflected.get(answer, "divergingEpoch"));
        if (diverging != null) {
            truncate((Integer) Reflected.call(diverging, "epoch"), (Long) Reflected.call(diverging, "endOffset"));
            return true;
        }
        Object records = Reflected.get(Reflected.get(answer, "fetchedData"), "records");
        ByteBuffer sent = sent(records);
        if (sent.hasRemaining()) append(Reflected.callStatic(Replica.RECORDS, "readableRecords", sent));
        return false;
    }

    /** The answer comes in. ReplicaFetcherThread fetches again after records that are refused so. */
    void takes(Object answer) {
        try {
            take(answer);
        } catch (InvalidRecordException refused) {
            // what a repaired append says
        }
    }

    void follow(Follower leader) {
        while (take(ask(leader))) continue;
    }

    /** ReplicaFetcherThread.processPartitionData; some versions pass on the epoch of the request. */
    private void append(Object records) {
        String name = "appendRecordsToFollowerOrFutureReplica";
        try {
            Reflected.call(replica.partition(), name, records, false, leaderEpoch);
        } catch (IllegalStateException older) {
            if (older.getMessage() == null || !older.getMessage().startsWith("no method")) throw older;
            Reflected.call(replica.partition(), name, records, false);
        }
    }

    /** AbstractFetcherThread.getOffsetTruncationState; then what LogManager.truncateTo does to the log. */
    private void truncate(int epoch, long leaderEnd) {
        Object mine = Reflected.option(Reflected.call(replica.log(), "endOffsetForEpoch", epoch));
        long end = mine == null ? leaderEnd : Math.min(leaderEnd, (Long) Reflected.call(mine, "offset"));
        Reflected.call(replica.log(), "truncateTo", Math.min(end, end()));
    }

    private long end() {
        return (Long) Reflected.call(replica.log(), "logEndOffset");
    }

    private int latestEpoch() {
        Object latest = Reflected.option(Reflected.call(replica.log(), "latestEpoch"));
        return latest == null ? -1 : (Integer) latest;
    }

    /** Each batch as offset@epoch. */
    List<String> batches() {
        Object isolation = Reflected.callStatic(Replica.ISOLATION, "valueOf", "LOG_END");
        Object read = Reflected.call(replica.log(), "read", 0L, MOST, isolation, true);
        List<String> batches = new ArrayList<>();
        for (Object batch : (Iterable<?>) Reflected.call(Reflected.get(read, "records"), "batches"))
            batches.add(Reflected.call(batch, "baseOffset") + "@" + Reflected.call(batch, "partitionLeaderEpoch"));
        return batches;
    }

    /** What the network thread reads from the file. */
    private static ByteBuffer sent(Object records) {
        ByteBuffer bytes = ByteBuffer.allocate(MOST);
        TransferableChannel channel = (TransferableChannel) Reflected.proxy(
            TransferableChannel.class, (self, method, arguments) -> switch (method.getName()) {
                case "transferFrom" ->
                    copied((FileChannel) arguments[0], (Long) arguments[1], (Long) arguments[2], bytes);
                case "write" -> put((ByteBuffer) arguments[0], bytes);
                default -> null;
            });
        int size = (Integer) Reflected.call(records, "sizeInBytes");
        while (bytes.position() < size)
            Reflected.call(records, "writeTo", channel, bytes.position(), size - bytes.position());
        return bytes.flip();
    }

    private static long copied(FileChannel from, long position, long count, ByteBuffer to) throws IOException {
        int read = from.read(to.slice(to.position(), (int) count), position);
        to.position(to.position() + read);
        return read;
    }

    private static int put(ByteBuffer from, ByteBuffer to) {
        int count = from.remaining();
        to.put(from);
        return count;
    }
}
