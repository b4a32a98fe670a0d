package org.elrcheck.broker;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.KafkaException;
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
        received(sent(records(answer)));
        return false;
    }

    /** The answer comes in, or ReplicaFetcherThread has to fetch again. */
    void takes(Object answer) {
        try {
            take(answer);
        } catch (KafkaException refused) {
            // FileRecords.writeTo ends the connection, or UnifiedLog refuses what it reads
        }
    }

    /** Sends the answer at once, as PlaintextTransportLayer does, into a socket that is read later. */
    static SocketChannel send(Object answer) throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            SocketChannel reading = SocketChannel.open(server.getLocalAddress());
            try (SocketChannel writing = server.accept()) {
                write(records(answer), (file, position, count) -> file.transferTo(position, count, writing));
            }
            return reading;
        }
    }

    /** What is in the socket comes in, as an answer does. */
    void takes(SocketChannel socket) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(MOST);
        while (socket.read(bytes) >= 0) continue;
        try {
            received(bytes.flip());
        } catch (KafkaException refused) {
            // UnifiedLog refuses what it reads
        }
    }

    private void received(ByteBuffer bytes) {
        if (bytes.hasRemaining()) append(Reflected.callStatic(Replica.RECORDS, "readableRecords", bytes));
    }

    private static Object records(Object answer) {
        return Reflected.get(Reflected.get(answer, "fetchedData"), "records");
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
        List<String> batches = new ArrayList<>();
        for (long next = 0; next < end();) { // a read ends with its segment
            Object read = Reflected.call(replica.log(), "read", next, MOST, isolation, true);
            for (Object batch : (Iterable<?>) Reflected.call(Reflected.get(read, "records"), "batches")) {
                batches.add(Reflected.call(batch, "baseOffset") + "@" + Reflected.call(batch, "partitionLeaderEpoch"));
                next = (Long) Reflected.call(batch, "nextOffset");
            }
        }
        return batches;
    }

    /** What the network thread reads from the file. */
    private static ByteBuffer sent(Object records) {
        ByteBuffer bytes = ByteBuffer.allocate(MOST);
        write(records, (file, position, count) -> {
            int read = file.read(bytes.slice(bytes.position(), (int) count), position);
            bytes.position(bytes.position() + read);
            return read;
        });
        return bytes.flip();
    }

    private interface Transfer {
        long from(FileChannel file, long position, long count) throws IOException;
    }

    private static void write(Object records, Transfer transfer) {
        TransferableChannel channel = (TransferableChannel) Reflected.proxy(
            TransferableChannel.class, (self, method, arguments) -> method.getName().equals("transferFrom")
                ? transfer.from((FileChannel) arguments[0], (Long) arguments[1], (Long) arguments[2]) : null);
        int size = (Integer) Reflected.call(records, "sizeInBytes");
        for (int done = 0; done < size;)
            done += (Integer) Reflected.call(records, "writeTo", channel, done, size - done);
    }
}
