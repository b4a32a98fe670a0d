package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.BrokerIdNotRegisteredException;
import org.apache.kafka.common.errors.StaleBrokerEpochException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.message.BrokerHeartbeatRequestData;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.metadata.BrokerHeartbeatReply;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.metadata.VersionRange;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.timeline.SnapshotRegistry;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Supplier;

/**
 * The four managers of a controller that decide about partitions, wired as QuorumController wires them.
 *
 * All their hard state is in timeline collections, so SnapshotRegistry.revertToSnapshot takes it back. What a
 * controller only knows while it is active, the heartbeats, is made anew by activate().
 */
class Managers {
    static final String ELR_FEATURE = "eligible.leader.replicas.version";
    static final String MIN_ISR = "min.insync.replicas";
    static final String UNCLEAN = "unclean.leader.election.enable";
    static final String CLUSTER = "elrcheck";
    static final long SESSION_MS = 1000;
    /** 3.9 switches ELRs on by an argument, since 4.0 they are a feature. */
    static final AnyVersion ELR_AS_ARGUMENT = AnyVersion.method(
        ReplicationControlManager.Builder.class, "setEligibleLeaderReplicasEnabled", 1);

    private static final AnyVersion REGISTRY = AnyVersion.constructor(SnapshotRegistry.class, 1);
    private static final AnyVersion LOG_CONTEXT =
        AnyVersion.constructor(onlyParameter(SnapshotRegistry.class), 0);
    private static final AnyVersion LOCAL_FEATURES = firstOf(
        AnyVersion.method(QuorumFeatures.class, "defaultSupportedFeatureMap", 1),
        AnyVersion.method(QuorumFeatures.class, "defaultFeatureMap", 1));
    private static final AnyVersion SNAPSHOT = firstOf(
        AnyVersion.method(SnapshotRegistry.class, "idempotentCreateSnapshot", 1),
        AnyVersion.method(SnapshotRegistry.class, "getOrCreateSnapshot", 1));
    static final KafkaConfigSchema SCHEMA = schema();
    static final long EMPTY = 1;
    static final long LOADED = 2;
    private static final long REPLAYED_BEFORE = 1000;

    final Clock clock;
    final SnapshotRegistry registry;
    final FeatureControlManager features;
    final ClusterControlManager cluster;
    final ConfigurationControlManager configuration;
    final ReplicationControlManager replication;
    final MetadataVersion version;
    private final AnyVersion.Replays replays;
    private final List<ApiMessage> committed = new ArrayList<>();
    private final Map<Long, Integer> committedAt = new HashMap<>();
    private long offset = REPLAYED_BEFORE;
    private long loadedOffset = REPLAYED_BEFORE;

    Managers(boolean elr, MetadataVersion version) {
        clock = new Clock();
        this.version = version;
        Object log = LOG_CONTEXT.call(null);
        registry = (SnapshotRegistry) REGISTRY.call(null, log);
        features = features();
        cluster = cluster();
        configuration = configuration();
        replication = replication(elr);
        replays = new AnyVersion.Replays(features, cluster, configuration, replication);
        replayFeatures(elr, version);
    }

    /** The managers of a controller, which commits and replays records itself. */
    Managers(QuorumController controller, Clock clock, MetadataVersion version) {
        this.clock = clock;
        this.version = version;
        registry = (SnapshotRegistry) field(controller, "snapshotRegistry");
        features = (FeatureControlManager) field(controller, "featureControl");
        cluster = (ClusterControlManager) field(controller, "clusterControl");
        configuration = (ConfigurationControlManager) field(controller, "configurationControl");
        replication = (ReplicationControlManager) field(controller, "replicationControl");
        replays = null;
    }

    private static Object field(QuorumController controller, String name) {
        try {
            Field field = QuorumController.class.getDeclaredField(name);
            field.setAccessible(true);
            return field.get(controller);
        } catch (ReflectiveOperationException absent) {
            throw new IllegalStateException(absent);
        }
    }

    final void replayFeatures(boolean elr, MetadataVersion version) {
        replay(new FeatureLevelRecord().setName(MetadataVersion.FEATURE_NAME).setFeatureLevel(version.featureLevel()));
        if (elr && ELR_AS_ARGUMENT == null)
            replay(new FeatureLevelRecord().setName(ELR_FEATURE).setFeatureLevel((short) 1));
    }

    static QuorumFeatures quorumFeatures() {
        @SuppressWarnings("unchecked")
        Map<String, VersionRange> local = (Map<String, VersionRange>) LOCAL_FEATURES.call(null, true);
        return new QuorumFeatures(0, local, List.of(0));
    }

    private FeatureControlManager features() {
        return new FeatureControlManager.Builder()
            .setSnapshotRegistry(registry)
            .setQuorumFeatures(quorumFeatures())
            .setClusterFeatureSupportDescriber(new ClusterFeatureSupportDescriber() {
                @Override
                public Iterator<Map.Entry<Integer, Map<String, VersionRange>>> brokerSupported() {
                    return cluster.brokerSupportedFeatures();
                }

                @Override
                public Iterator<Map.Entry<Integer, Map<String, VersionRange>>> controllerSupported() {
                    return cluster.controllerSupportedFeatures();
                }
            })
            .build();
    }

    private ClusterControlManager cluster() {
        ClusterControlManager.Builder builder = new ClusterControlManager.Builder()
            .setClusterId(CLUSTER)
            .setTime(clock)
            .setSnapshotRegistry(registry)
            .setSessionTimeoutNs(SESSION_MS * 1_000_000)
            .setReplicaPlacer(new StripedReplicaPlacer(new Random(1)))
            .setFeatureControlManager(features);
        return ShutdownHandler.attach(builder, () -> replication).build();
    }

    private ConfigurationControlManager configuration() {
        ConfigurationControlManager.Builder builder = new ConfigurationControlManager.Builder()
            .setSnapshotRegistry(registry)
            .setStaticConfig(Map.of())
            .setExistenceChecker(this::mustExist)
            .setKafkaConfigSchema(SCHEMA);
        AnyVersion withFeatures = AnyVersion.method(builder.getClass(), "setFeatureControl", 1);
        if (withFeatures != null) withFeatures.call(builder, features);
        return builder.build();
    }

    /** What QuorumController checks before it changes a configuration. */
    private void mustExist(ConfigResource resource) {
        if (resource.type() == ConfigResource.Type.TOPIC) {
            if (topic(resource.name()) == null)
                throw new UnknownTopicOrPartitionException("The topic '" + resource.name() + "' does not exist.");
        } else if (!resource.name().isEmpty()) {
            if (!cluster.brokerRegistrations().containsKey(Integer.parseInt(resource.name())))
                throw new BrokerIdNotRegisteredException("no broker " + resource.name());
        }
    }

    private ReplicationControlManager replication(boolean elr) {
        ReplicationControlManager.Builder builder = new ReplicationControlManager.Builder()
            .setSnapshotRegistry(registry)
            .setConfigurationControl(configuration)
            .setClusterControl(cluster)
            .setFeatureControl(features);
        if (ELR_AS_ARGUMENT != null) ELR_AS_ARGUMENT.call(builder, elr);
        return builder.build();
    }

    /** The keys that decide about partitions, with Kafka's defaults. */
    private static KafkaConfigSchema schema() {
        ConfigDef keys = new ConfigDef()
            .define(UNCLEAN, ConfigDef.Type.BOOLEAN, "false", ConfigDef.Importance.HIGH, "")
            .define(MIN_ISR, ConfigDef.Type.INT, "1", ConfigDef.Importance.HIGH, "");
        Map<String, List<ConfigSynonym>> synonyms = new HashMap<>();
        for (String key : List.of(UNCLEAN, MIN_ISR)) synonyms.put(key, List.of(new ConfigSynonym(key)));
        return new KafkaConfigSchema(
            Map.of(ConfigResource.Type.BROKER, keys, ConfigResource.Type.TOPIC, keys), synonyms);
    }

    private static Class<?> onlyParameter(Class<?> owner) {
        for (var constructor : owner.getConstructors())
            if (constructor.getParameterCount() == 1) return constructor.getParameterTypes()[0];
        throw new IllegalStateException("no constructor of " + owner + " with one argument");
    }

    private static AnyVersion firstOf(AnyVersion newer, AnyVersion older) {
        return newer != null ? newer : older;
    }

    long offset() {
        return offset;
    }

    /** Everything that was replayed since the controller was empty, features included. */
    List<ApiMessage> committed() {
        return committed;
    }

    void replay(ApiMessage record) {
        replays.replay(record, ++offset);
        committed.add(record);
    }

    /** Runs an operation, commits its records and returns its response. */
    <T> T run(Supplier<ControllerResult<T>> operation) {
        ControllerResult<T> result = operation.get();
        for (ApiMessageAndVersion record : result.records()) replay(record.message());
        return result.response();
    }

    /** A heartbeat, as in QuorumController.processBrokerHeartbeat. */
    BrokerHeartbeatReply beat(BrokerHeartbeatRequestData request) {
        int broker = request.brokerId();
        Sessions.heard(this, broker, request.brokerEpoch());
        OptionalLong registeredAt = cluster.registerBrokerRecordOffset(broker);
        if (registeredAt.isEmpty()) throw new StaleBrokerEpochException("broker " + broker + " is not registered");
        BrokerHeartbeatReply reply =
            run(() -> replication.processBrokerHeartbeat(request, registeredAt.getAsLong()));
        if (reply.inControlledShutdown())
            cluster.heartbeatManager().maybeUpdateControlledShutdownOffset(broker, offset());
        return reply;
    }

    /** What the timer does that looks for sessions that ended. */
    void fenceStaleBrokers() {
        boolean more = true;
        while (more) {
            ControllerResult<?> result = replication.maybeFenceOneStaleBroker();
            for (ApiMessageAndVersion record : result.records()) replay(record.message());
            more = Boolean.TRUE.equals(result.response()) || !result.records().isEmpty();
        }
    }

    /** After an operation that is a fault of the controller: as when it resigned. Returns whether it really did. */
    boolean failOver() {
        activate();
        return false;
    }

    /** From now on nothing is committed, until the next failOver(end, before). */
    void withhold() {
        throw new Wire.Misunderstood("only a live controller writes before it commits");
    }

    /**
     * This controller loses its leadership and gets it back. What it wrote before the offset `end` is committed: by
     * itself, or by the controller that is active in between; the rest is lost.
     */
    void failOver(long end, boolean before) {
        throw new Wire.Misunderstood("only a live controller loses what it has not committed");
    }

    /** As when this controller becomes the active one: what it knows of heartbeats starts over. */
    void activate() {
        cluster.deactivate();
        cluster.activate();
    }

    /** Marks a state to go back to: EMPTY first, then LOADED. */
    void mark(long state) {
        SNAPSHOT.call(registry, state);
        committedAt.put(state, committed.size());
        if (state == LOADED) loadedOffset = offset;
    }

    /** Back to EMPTY. Its snapshot is made anew, since the old one keeps a note of everything that ever changed. */
    void empty() {
        registry.revertToSnapshot(EMPTY);
        registry.deleteSnapshot(EMPTY);
        forgetSince(EMPTY);
        mark(EMPTY);
        clock.restart();
        offset = REPLAYED_BEFORE;
    }

    /** Back to LOADED. The snapshot keeps notes, so a caller goes back to EMPTY every now and then. */
    void loaded() {
        registry.revertToSnapshot(LOADED);
        forgetSince(LOADED);
        clock.restart();
        offset = loadedOffset;
    }

    private void forgetSince(long state) {
        committed.subList(committedAt.get(state), committed.size()).clear();
    }

    void close() { }

    boolean elr() {
        return ElrSwitch.isOn(this);
    }

    Uuid topic(String name) {
        return replication.getTopicId(name);
    }
}
