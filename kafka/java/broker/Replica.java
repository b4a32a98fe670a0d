package org.elrcheck.broker;

import java.io.File;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.OperationNotAttemptedException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/** A kafka.cluster.Partition with a real log in a folder, and the world around it: time, metadata, the controller. */
final class Replica {
    /** The outcome of an event, and what the partition knows afterwards; epochStart and sent may be null. */
    record BrokerAnswer(
        String outcome, boolean leads, int leaderEpoch, int partitionEpoch, long logEnd, long highWatermark,
        Long epochStart, List<Integer> isr, List<Integer> maximalIsr, boolean inFlight, List<Peer> peers,
        Proposed sent, List<String> produce
    ) { }

    record Peer(int id, long logEnd, long brokerEpoch) { }

    record Member(int id, long brokerEpoch) { }

    /** An AlterPartition that was sent. */
    record Proposed(int leaderEpoch, int partitionEpoch, List<Member> members) { }

    /** What the partitions of a process share. */
    interface Shared {
        Time time();

        Object metadataCache();

        /** Takes a proposal to the AlterPartitionManager, with its own arguments. */
        Object submit(Object... arguments);
    }

    static final String TOPIC_NAME = "t";
    static final Uuid TOPIC = new Uuid(1L, 2L);
    private static final Class<?> PURGATORY = Reflected.any(
        "org.apache.kafka.server.purgatory.DelayedOperationPurgatory", "kafka.server.DelayedOperationPurgatory");
    private static final Class<?> LOG = Reflected.any(
        "kafka.log.UnifiedLog", "org.apache.kafka.storage.internals.log.UnifiedLog");
    private static final boolean LOG_IN_SCALA = LOG.getName().startsWith("kafka.log");
    static final Class<?> CACHE = Reflected.any(
        "org.apache.kafka.metadata.KRaftMetadataCache", "kafka.server.metadata.KRaftMetadataCache");
    static final Class<?> ALTER = Reflected.any(
        "org.apache.kafka.server.partition.AlterPartitionManager", "kafka.server.AlterPartitionManager");
    private static final Class<?> LISTENER = Reflected.any(
        "org.apache.kafka.server.partition.AlterPartitionListener", "kafka.cluster.AlterPartitionListener");
    private static final Class<?> LEADER_AND_ISR = Reflected.any(
        "org.apache.kafka.metadata.LeaderAndIsr", "kafka.api.LeaderAndIsr");
    private static final Class<?> FETCH_PARAMS = Reflected.any(
        "org.apache.kafka.server.storage.log.FetchParams", "org.apache.kafka.storage.internals.log.FetchParams");
    static final Class<?> ISOLATION = Reflected.any(
        "org.apache.kafka.server.storage.log.FetchIsolation", "org.apache.kafka.storage.internals.log.FetchIsolation");
    static final Class<?> RECORDS = Reflected.any(
        "org.apache.kafka.common.record.internal.MemoryRecords", "org.apache.kafka.common.record.MemoryRecords");
    private static final Class<?> RECORD = Reflected.any(
        "org.apache.kafka.common.record.internal.SimpleRecord", "org.apache.kafka.common.record.SimpleRecord");
    private static final Class<?> REQUEST_LOCAL = Reflected.any(
        "org.apache.kafka.server.common.RequestLocal", "kafka.server.RequestLocal");
    static final Class<?> STATS = Reflected.any(
        "org.apache.kafka.storage.log.metrics.BrokerTopicStats", "kafka.server.BrokerTopicStats");
    private static final Class<?> PARTITION = Reflected.any("kafka.cluster.Partition");
    private static final boolean BY_REGISTRATION = takesRegistration();

    private final File folder;
    private final TopicPartition name;
    private final Shared shared;
    private final Map<Integer, Object> logs = new HashMap<>();
    private final Map<List<Images.Registration>, Object> images = new HashMap<>();
    private final Object delayed;
    private final Time time;
    private Object cache;
    private Object partition;
    private Object log;
    private long now;
    private int id;
    private long epoch;
    private Proposed request;
    private CompletableFuture<Object> inFlight;

    Replica(File folder) {
        this(folder, 0, null);
    }

    /** shared: null for the only partition of a process. */
    Replica(File folder, int number, Shared shared) {
        this.folder = folder;
        this.name = new TopicPartition(TOPIC_NAME, number);
        this.shared = shared;
        this.time = shared == null ? timeOf(() -> now) : shared.time();
        Class<?> operations = Reflected.any("kafka.cluster.DelayedOperations");
        List<Object> parts = new ArrayList<>(List.of(name));
        for (Class<?> type : operations.getDeclaredConstructors()[0].getParameterTypes())
            if (type == PURGATORY) parts.add(purgatory());
        this.delayed = Reflected.build(operations, null, parts.toArray());
    }

    /** A clock that does not go by itself. */
    static Time timeOf(LongSupplier now) {
        return (Time) Reflected.proxy(Time.class, (self, method, arguments) -> switch (method.getName()) {
            case "milliseconds", "hiResClockMs" -> now.getAsLong();
            case "nanoseconds" -> now.getAsLong() * 1_000_000L;
            default -> null;
        });
    }

    static Object emptyCache(int id) {
        KRaftVersion[] raft = KRaftVersion.values();
        return Reflected.build(CACHE, null, id, (Supplier<?>) () -> raft[raft.length - 1]);
    }

    private static boolean takesRegistration() {
        return Arrays.stream(PARTITION.getMethods()).anyMatch(method ->
            method.getName().equals("makeLeader") && method.getParameterTypes()[0] == PartitionRegistration.class);
    }

    private static Object purgatory() {
        Timer timer = (Timer) Reflected.proxy(Timer.class, (self, method, arguments) -> null);
        return Reflected.build(PURGATORY, null, "none", timer);
    }

    /** A new process: an empty log, nothing applied yet. */
    void start(int id, long epoch, int minIsr, long lag) {
        this.id = id;
        this.epoch = epoch;
        now = 1_000_000L;
        request = null;
        inFlight = null;
        log = logs.computeIfAbsent(minIsr, this::newLog);
        Reflected.call(log, "truncateFullyAndStartAt", 0L, LOG_IN_SCALA ? scala.Option.empty() : Optional.empty());
        cache = shared == null ? emptyCache(id) : shared.metadataCache();
        Object alter = Reflected.proxy(ALTER, (self, method, arguments) ->
            method.getName().equals("submit") ? submit(arguments) : null);
        Object listener = Reflected.proxy(LISTENER, (self, method, arguments) -> null);
        scala.Function0<Object> epochs = () -> this.epoch;
        List<Object> parts = new ArrayList<>(List.of(
            name, lag, id, epochs, time, listener, delayed, cache, alter, scala.Option.apply(TOPIC)));
        for (Class<?> type : PARTITION.getDeclaredConstructors()[0].getParameterTypes())
            if (type == MetadataVersion.class) parts.add(MetadataVersion.latestProduction());
        partition = Reflected.build(PARTITION, null, parts.toArray());
        Reflected.call(partition, "log_$eq", scala.Option.apply(log));
    }

    private Object newLog(int minIsr) {
        File place = new File(folder, "min-isr-" + minIsr + "/" + name);
        if (!place.mkdirs()) throw new IllegalStateException("cannot make " + place);
        LogConfig config = new LogConfig(Map.of("min.insync.replicas", Integer.toString(minIsr)));
        Scheduler scheduler = (Scheduler) Reflected.proxy(Scheduler.class, (self, method, arguments) -> null);
        List<Object> parts = new ArrayList<>(List.of(
            place, config, scheduler, Reflected.build(STATS, null), time, 3_600_000,
            new ProducerStateManagerConfig(86_400_000, false),
            600_000, new LogDirFailureChannel(1), true, new ConcurrentHashMap<String, Integer>(),
            LogOffsetsListener.NO_OP_OFFSETS_LISTENER));
        return Reflected.build(LOG, LOG_IN_SCALA ? "apply" : "create", parts.toArray());
    }

    /** The topic has another min.insync.replicas. */
    void minIsr(int value) {
        Reflected.call(log, "updateConfig", new LogConfig(Map.of("min.insync.replicas", Integer.toString(value))));
    }

    /** DefaultAlterPartitionManager has at most one request for a partition. */
    private Object submit(Object[] arguments) {
        if (shared != null) {
            CompletableFuture<?> taken = (CompletableFuture<?>) shared.submit(arguments);
            if (!taken.isDone()) request = proposed(arguments[1]);
            return taken;
        }
        if (inFlight != null)
            return CompletableFuture.failedFuture(new OperationNotAttemptedException("a request is in flight"));
        inFlight = new CompletableFuture<>();
        request = proposed(arguments[1]);
        return inFlight;
    }

    private static Proposed proposed(Object leaderAndIsr) {
        List<Member> members = new ArrayList<>();
        for (Object state : Reflected.collection(Reflected.call(leaderAndIsr, "isrWithBrokerEpoch")))
            members.add(new Member(
                (Integer) Reflected.call(state, "brokerId"), (Long) Reflected.call(state, "brokerEpoch")));
        members.sort(Comparator.comparingInt(Member::id));
        return new Proposed((Integer) Reflected.call(leaderAndIsr, "leaderEpoch"),
            (Integer) Reflected.call(leaderAndIsr, "partitionEpoch"), members);
    }

    void cluster(List<Images.Registration> brokers) {
        Reflected.call(cache, "setImage", images.computeIfAbsent(brokers, Images::of));
    }

    void later(long milliseconds) {
        now += milliseconds;
    }

    void metadata(int leader, int leaderEpoch, int partitionEpoch, List<Integer> replicas, List<Integer> isr) {
        String change = leader == id ? "makeLeader" : "makeFollower";
        Object none = scala.Option.empty();
        if (BY_REGISTRATION) {
            Uuid[] directories = replicas.stream().map(replica -> new Uuid(3L, 4L)).toArray(Uuid[]::new);
            PartitionRegistration registration = new PartitionRegistration.Builder()
                .setReplicas(ints(replicas)).setIsr(ints(isr)).setDirectories(directories).setLeader(leader)
                .setLeaderRecoveryState(LeaderRecoveryState.RECOVERED)
                .setLeaderEpoch(leaderEpoch).setPartitionEpoch(partitionEpoch).build();
            Reflected.call(partition, change, registration, false, null, none, none);
            return;
        }
        Object state = Reflected.callConstructor(Reflected.any(
            "org.apache.kafka.common.requests.LeaderAndIsrRequest$PartitionState",
            "org.apache.kafka.common.message.LeaderAndIsrRequestData$LeaderAndIsrPartitionState"));
        for (Object[] part : new Object[][] {
            {"setLeader", leader}, {"setLeaderEpoch", leaderEpoch}, {"setPartitionEpoch", partitionEpoch},
            {"setReplicas", replicas}, {"setIsr", isr}, {"setControllerEpoch", 0}, {"setIsNew", false}})
            Reflected.call(state, (String) part[0], part[1]);
        Reflected.call(partition, change, state, null, none, none);
    }

    private static int[] ints(List<Integer> numbers) {
        return numbers.stream().mapToInt(Integer::intValue).toArray();
    }

    private static Object records(byte value) {
        Object some = Array.newInstance(RECORD, 1);
        Array.set(some, 0, Reflected.callConstructor(RECORD, (Object) new byte[] {value}));
        return Reflected.callStatic(RECORDS, "withRecords", Compression.NONE, some);
    }

    void append(int acks) {
        Object local = Reflected.callStatic(REQUEST_LOCAL, "withThreadConfinedCaching");
        Object some = records((byte) acks);
        try {
            Reflected.call(partition, "appendRecordsToLeader", some, AppendOrigin.CLIENT, acks, local,
                VerificationGuard.SENTINEL);
        } catch (IllegalStateException newer) {
            if (newer.getMessage() == null || !newer.getMessage().startsWith("no method")) throw newer;
            Reflected.call(partition, "appendRecordsToLeader", some, AppendOrigin.CLIENT, acks, local,
                VerificationGuard.SENTINEL, (short) 0);
        }
    }

    /** A LogReadInfo: what the answer to the fetch is made of. */
    Object read(int follower, long brokerEpoch, long offset, int leaderEpoch, int lastEpoch) {
        return Reflected.call(partition, "fetchRecords", fetchParams(follower, brokerEpoch),
            fetchData(offset, leaderEpoch, lastEpoch), now, 1 << 20, true, true);
    }

    String fetch(int follower, long brokerEpoch, long offset, int leaderEpoch, int lastEpoch) {
        return text(read(follower, brokerEpoch, offset, leaderEpoch, lastEpoch), "fetchedData");
    }

    /** What was read: the high watermark, how many records, or where the logs part. data: the field with records. */
    static String text(Object read, String data) {
        Object diverging = Reflected.option(Reflected.get(read, "divergingEpoch"));
        if (diverging != null)
            return "diverging:" + Reflected.call(diverging, "epoch") + ":" + Reflected.call(diverging, "endOffset");
        int records = 0;
        Object fetched = Reflected.get(Reflected.get(read, data), "records");
        for (Object record : (Iterable<?>) Reflected.call(fetched, "records")) if (record != null) records++;
        return "read:" + Reflected.get(read, "highWatermark") + ":" + records;
    }

    static FetchRequest.PartitionData fetchData(long offset, int leaderEpoch, int lastEpoch) {
        return new FetchRequest.PartitionData(TOPIC, offset, 0L, 1 << 20, Optional.of(leaderEpoch),
            lastEpoch < 0 ? Optional.empty() : Optional.of(lastEpoch));
    }

    static Object fetchParams(int follower, long brokerEpoch) {
        Object isolation = Reflected.callStatic(ISOLATION, "valueOf", "LOG_END");
        for (var constructor : FETCH_PARAMS.getConstructors()) {
            Class<?>[] types = constructor.getParameterTypes();
            if (types[types.length - 1] == boolean.class) continue;
            List<Object> values = new ArrayList<>();
            if (types[0] == short.class) values.add((short) 16);
            values.addAll(List.of(follower, brokerEpoch, 0L, 1, 1 << 20, isolation, Optional.empty()));
            try {
                return constructor.newInstance(values.toArray());
            } catch (ReflectiveOperationException unusable) {
                throw new IllegalStateException(unusable);
            }
        }
        throw new IllegalStateException("no constructor of FetchParams");
    }

    void shrink() {
        Reflected.call(partition, "maybeShrinkIsr");
    }

    /** Whether a request waits for an answer. */
    boolean waits() {
        return inFlight != null;
    }

    void granted(int leaderEpoch, int partitionEpoch, List<Integer> isr) {
        Object answer = LEADER_AND_ISR.getName().startsWith("kafka.")
            ? Reflected.callStatic(LEADER_AND_ISR, "apply", id, leaderEpoch,
                scala.jdk.javaapi.CollectionConverters.asScala(new ArrayList<Object>(isr)).toList(),
                LeaderRecoveryState.RECOVERED, partitionEpoch)
            : Reflected.callConstructor(LEADER_AND_ISR, id, leaderEpoch, isr, LeaderRecoveryState.RECOVERED,
                partitionEpoch);
        taken().complete(answer);
    }

    void refused(String error) {
        taken().completeExceptionally(Errors.valueOf(error).exception());
    }

    private CompletableFuture<Object> taken() {
        CompletableFuture<Object> answered = inFlight;
        inFlight = null;
        return answered;
    }

    /** What the partition knows now; the request is the one sent since the last answer. */
    BrokerAnswer answer(String outcome) {
        Object state = Reflected.call(partition, "partitionState");
        Object start = Reflected.option(Reflected.call(partition, "leaderEpochStartOffsetOpt"));
        List<Peer> peers = new ArrayList<>();
        for (Object replica : Reflected.collection(Reflected.call(partition, "remoteReplicas"))) {
            Object snapshot = Reflected.call(replica, "stateSnapshot");
            Object epoch = Reflected.option(Reflected.call(snapshot, "brokerEpoch"));
            peers.add(new Peer((Integer) Reflected.call(replica, "brokerId"),
                (Long) Reflected.call(snapshot, "logEndOffset"), epoch == null ? -1L : (Long) epoch));
        }
        peers.sort(Comparator.comparingInt(Peer::id));
        Proposed sent = request;
        request = null;
        return new BrokerAnswer(
            outcome, (Boolean) Reflected.call(partition, "isLeader"),
            (Integer) Reflected.call(partition, "getLeaderEpoch"),
            (Integer) Reflected.call(partition, "getPartitionEpoch"), (Long) Reflected.call(log, "logEndOffset"),
            (Long) Reflected.call(log, "highWatermark"), (Long) start, ids(Reflected.call(state, "isr")),
            ids(Reflected.call(state, "maximalIsr")), (Boolean) Reflected.call(state, "isInflight"), peers, sent,
            answers());
    }

    private static List<Integer> ids(Object numbers) {
        return Reflected.collection(numbers).stream().map(number -> (Integer) number).sorted().toList();
    }

    /** The answer to the producer of each record, NONE if it is acknowledged. */
    private List<String> answers() {
        List<String> answers = new ArrayList<>();
        long end = (Long) Reflected.call(log, "logEndOffset");
        for (long offset = 1; offset <= end; offset++) {
            scala.Tuple2<?, ?> answer =
                (scala.Tuple2<?, ?>) Reflected.call(partition, "checkEnoughReplicasReachOffset", offset);
            // DelayedProduce waits unless there is an error or enough replicas have it
            Errors error = (Errors) answer._2();
            answers.add(error != Errors.NONE || (Boolean) answer._1() ? error.name() : "WAITING");
        }
        return answers;
    }

    Object partition() {
        return partition;
    }

    Object log() {
        return log;
    }

    long highWatermark() {
        return (Long) Reflected.call(log, "highWatermark");
    }

    /** What the partition knows now, for people. */
    String state() {
        Collection<?> isr = Reflected.collection(Reflected.call(Reflected.call(partition, "partitionState"), "isr"));
        return "leaderEpoch=" + Reflected.call(partition, "getLeaderEpoch") + " isr=" + new TreeSet<>(isr)
            + " logEnd=" + Reflected.call(log, "logEndOffset") + " highWatermark=" + highWatermark()
            + " producers=" + answers();
    }
}
