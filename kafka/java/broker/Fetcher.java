package org.elrcheck.broker;

import java.io.File;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.OffsetForLeaderEpochRequestData.OffsetForLeaderPartition;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.EpochEndOffset;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;

import static scala.jdk.javaapi.CollectionConverters.asJava;
import static scala.jdk.javaapi.CollectionConverters.asScala;

/**
 * The ReplicaFetcherThread of a follower, with Kafka's Partition, UnifiedLog and LogManager below it and those of the
 * leader behind its LeaderEndPoint. The thread is not started: its methods are called. Of ReplicaManager, which starts
 * half a broker, there is only what finds a partition: its constructor does not run.
 */
final class Fetcher {
    private static final TopicPartition NAME = new TopicPartition("t", 0);
    private static final int LEADER = 0;
    private static final int FOLLOWER = 1;
    private static final List<Integer> BOTH = List.of(LEADER, FOLLOWER);
    private static final long BROKER_EPOCH = 100;
    private static final Class<?> THREAD = Reflected.any("kafka.server.ReplicaFetcherThread");
    private static final Class<?> END_POINT = parameter(THREAD, "LeaderEndPoint");
    static final Class<?> MANAGER = parameter(THREAD, "ReplicaManager");
    static final Class<?> ONLINE = Reflected.any(
        "org.apache.kafka.server.HostedPartition$Online", "kafka.server.HostedPartition$Online");

    private final Replica leader;
    private final Replica follower;
    private final Object config;
    private final Object logManager;
    private final Object replicaManager = bare(MANAGER);
    private final Object partitions = emptyMap(field(MANAGER, "allPartitions").getType());
    private final Object place;
    private final Object endPoint;
    private Object thread;
    private int leaderEpoch;
    private boolean truncatesOnFetch;

    Fetcher(File folder) {
        File logs = new File(folder, "follower");
        leader = new Replica(new File(folder, "leader"));
        follower = new Replica(logs);
        config = config(FOLLOWER, logs);
        logManager = logManager(new File(logs, "min-isr-1"));
        Class<?> moves = field(MANAGER, "replicaAlterLogDirsManager").getType();
        set(replicaManager, "allPartitions", partitions);
        set(replicaManager, "replicaAlterLogDirsManager", Reflected.build(moves, null, config, replicaManager));
        place = Reflected.callConstructor(placeType(), LEADER, "localhost", 9092);
        endPoint = Reflected.proxy(END_POINT, (self, method, arguments) -> switch (method.getName()) {
            case "brokerEndPoint" -> place;
            case "isTruncationOnFetchSupported" -> truncatesOnFetch;
            case "fetchEpochEndOffsets" -> epochEnds(arguments[0]);
            default -> null;
        });
    }

    /** Two new logs, given as the leader epochs of their records; the leader's epoch has no record yet. */
    void start(List<Integer> leaderLog, int leaderEpoch, List<Integer> followerLog) {
        this.leaderEpoch = leaderEpoch;
        write(leader, LEADER, leaderLog);
        write(follower, FOLLOWER, followerLog);
        for (Replica replica : List.of(leader, follower))
            replica.metadata(LEADER, leaderEpoch, 1 + Math.max(leaderLog.size(), followerLog.size()), BOTH, BOTH);
        set(follower.partition(), "logManager", logManager);
        put(value(logManager, "currentLogs"), follower.log());
        put(partitions, Reflected.callConstructor(ONLINE, follower.partition()));
    }

    /** Each record is appended by a leader of its epoch. */
    private static void write(Replica replica, int id, List<Integer> log) {
        replica.start(id, BROKER_EPOCH + id, 1, -1);
        for (int at = 0; at < log.size(); at++) {
            if (at == 0 || !log.get(at).equals(log.get(at - 1))) replica.metadata(id, log.get(at), 1 + at, BOTH, BOTH);
            replica.append(1);
        }
    }

    /** A fetch, and what processFetchRequest does if the response has a diverging epoch. */
    void fetch() {
        begin(true);
        Integer latest = (Integer) Reflected.option(Reflected.call(follower.log(), "latestEpoch"));
        Object read = leader.read(
            FOLLOWER, BROKER_EPOCH + FOLLOWER, logEnd(), leaderEpoch, latest == null ? -1 : latest);
        Object diverging = Reflected.option(Reflected.get(read, "divergingEpoch"));
        if (diverging == null) return;
        EpochEndOffset end = new EpochEndOffset().setPartition(NAME.partition())
            .setLeaderEpoch((Integer) Reflected.call(diverging, "epoch"))
            .setEndOffset((Long) Reflected.call(diverging, "endOffset"));
        Reflected.call(thread, "truncateOnFetchResponse", asScala(Map.of(NAME, end)));
    }

    /** A request OffsetsForLeaderEpoch and its response. */
    void askEpochs() {
        begin(false);
        Reflected.call(thread, "maybeTruncate");
    }

    private void begin(boolean onFetch) {
        truncatesOnFetch = onFetch;
        Object failed = Reflected.build(parameter(THREAD, "FailedPartitions"), null);
        List<Object> parts = new ArrayList<>(List.of("fetcher", endPoint, config, failed, replicaManager, ""));
        scala.Function0<Object> newest = MetadataVersion::latestProduction;
        for (Class<?> type : THREAD.getDeclaredConstructors()[0].getParameterTypes())
            if (type == scala.Function0.class) parts.add(newest);
        thread = Reflected.build(THREAD, null, parts.toArray());
        Object state = Reflected.callConstructor(Reflected.any("kafka.server.InitialFetchState"),
            scala.Option.empty(), place, leaderEpoch, logEnd());
        Reflected.call(thread, "addPartitions", asScala(Map.of(NAME, state)));
    }

    /** What the leader answers to OffsetsForLeaderEpoch; asked is a Scala or a Java map, as is the answer. */
    private Object epochEnds(Object asked) {
        Map<?, ?> all = asked instanceof Map<?, ?> java ? java : asJava((scala.collection.Map<?, ?>) asked);
        OffsetForLeaderPartition one = (OffsetForLeaderPartition) all.get(NAME);
        Object end = Reflected.call(leader.partition(), "lastOffsetForLeaderEpoch",
            Optional.of(one.currentLeaderEpoch()), one.leaderEpoch(), true);
        Map<TopicPartition, Object> ends = Map.of(NAME, end);
        return asked instanceof Map ? ends : asScala(ends);
    }

    long logEnd() {
        return (Long) Reflected.call(follower.log(), "logEndOffset");
    }

    static Object config(int id, File logs) {
        return Reflected.callConstructor(parameter(THREAD, "KafkaConfig"), Map.of(
            "process.roles", "broker", "node.id", id + "", "controller.quorum.voters", "9@localhost:9",
            "controller.listener.names", "CONTROLLER", "listeners", "PLAINTEXT://localhost:9092",
            "log.dirs", logs.getPath()));
    }

    static Object logManager(File directory) {
        Class<?> type = parameter(Reflected.any("kafka.cluster.Partition"), "LogManager");
        boolean inScala = type.getName().startsWith("kafka.log");
        List<File> live = List.of(directory);
        List<File> offline = List.of();
        Object scheduler = Reflected.proxy(
            Reflected.any("org.apache.kafka.server.util.Scheduler"), (self, method, arguments) -> null);
        return Reflected.build(type, null, inScala ? asScala(live).toList() : live,
            inScala ? asScala(offline).toList() : offline, scheduler, new LogDirFailureChannel(1), Time.SYSTEM);
    }

    // ------------------------------------------------------------------------ classes of each version

    private static Class<?> placeType() {
        return Arrays.stream(END_POINT.getMethods()).filter(method -> method.getName().equals("brokerEndPoint"))
            .findFirst().orElseThrow().getReturnType();
    }

    static Class<?> parameter(Class<?> owner, String name) {
        return Arrays.stream(owner.getDeclaredConstructors()[0].getParameterTypes())
            .filter(type -> type.getSimpleName().equals(name)).findFirst().orElseThrow();
    }

    private static Object bare(Class<?> type) {
        try {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field only = field(unsafe, "theUnsafe");
            return unsafe.getMethod("allocateInstance", Class.class).invoke(only.get(null), type);
        } catch (ReflectiveOperationException unusable) {
            throw new IllegalStateException(unusable);
        }
    }

    private static Field field(Class<?> owner, String name) {
        try {
            Field field = owner.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException unusable) {
            throw new IllegalStateException(unusable);
        }
    }

    static Object value(Object of, String name) {
        try {
            return field(of.getClass(), name).get(of);
        } catch (IllegalAccessException unusable) {
            throw new IllegalStateException(unusable);
        }
    }

    static void set(Object of, String name, Object value) {
        try {
            field(of.getClass(), name).set(of, value);
        } catch (IllegalAccessException unusable) {
            throw new IllegalStateException(unusable);
        }
    }

    /** A map of Java, or a kafka.utils.Pool. */
    private static Object emptyMap(Class<?> type) {
        return type.isAssignableFrom(ConcurrentHashMap.class) ? new ConcurrentHashMap<>() : Reflected.build(type, null);
    }

    private static void put(Object map, Object value) {
        Reflected.call(map, "put", NAME, value);
    }
}
