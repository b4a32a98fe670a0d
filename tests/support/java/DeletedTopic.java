package org.apache.kafka.controller;

import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

import java.util.AbstractMap.SimpleEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * F-64 on a whole QuorumController. Each argument is a story, of `write` (min.insync.replicas), `delete` (the topic),
 * `register` and `unregister` (broker 1), joined by commas. For each of the last two a line says what came of it.
 */
public class DeletedTopic {
    private static final Uuid TOPIC = new Uuid(7, 7);
    private static final long SESSION_IS_OVER_MS = 2 * Managers.SESSION_MS;

    private final LiveController live = LiveController.start(true, MetadataVersion.latestProduction());
    private long epoch = 100;

    public static void main(String[] stories) {
        for (String story : stories) {
            DeletedTopic topic = new DeletedTopic();
            topic.begin();
            for (String step : story.split(",")) topic.step(step);
            topic.live.close();
        }
        System.exit(0);
    }

    /** Broker 1 is fenced, and in the ELR. */
    private void begin() {
        for (int broker = 0; broker < 3; broker++) register(broker);
        live.replay(new ConfigRecord().setResourceType(ConfigResource.Type.BROKER.id()).setResourceName("")
            .setName(Managers.MIN_ISR).setValue("2"));
        live.replay(new TopicRecord().setName("t").setTopicId(TOPIC));
        live.replay(new PartitionRecord().setTopicId(TOPIC).setPartitionId(0).setReplicas(List.of(0, 1))
            .setIsr(List.of(0, 1)).setLeader(0).setLeaderEpoch(1).setPartitionEpoch(1)
            .setDirectories(List.of(directory(0), directory(1))));
        live.activate();
        List<ApiMessageAndVersion> records = new ArrayList<>();
        live.run(() -> {
            live.replication.handleBrokerFenced(1, records);
            return ControllerResult.of(records, null);
        });
        if (live.replication.getPartition(TOPIC, 0).elr.length != 1) throw new IllegalStateException("no ELR");
    }

    private void step(String step) {
        switch (step) {
            case "write" -> write();
            case "delete" ->
                live.run(() -> live.replication.deleteTopics(Requests.context(ApiKeys.DELETE_TOPICS), List.of(TOPIC)));
            case "register" -> tell(step, this::registerAgain);
            case "unregister" -> tell(step, () -> live.run(() -> live.replication.unregisterBroker(1)));
            default -> throw new IllegalArgumentException(step);
        }
    }

    private void tell(String step, Runnable request) {
        String outcome = "granted";
        try {
            request.run();
        } catch (RuntimeException fault) {
            outcome = fault.getMessage();
        }
        System.out.println(step + ": " + outcome + (live.failOver() ? "; resigned" : ""));
    }

    @SuppressWarnings("unchecked")
    private void write() {
        ConfigResource cluster = new ConfigResource(ConfigResource.Type.BROKER, "");
        live.run(() -> (ControllerResult<Object>)
            AnyVersion.method(ConfigurationControlManager.class, "incrementalAlterConfigs", 2).call(
                live.configuration, Map.of(cluster, Map.of(Managers.MIN_ISR, new SimpleEntry<>(OpType.SET, "2"))), false));
    }

    private void register(int broker) {
        RegisterBrokerRecord record = new RegisterBrokerRecord().setBrokerId(broker).setBrokerEpoch(++epoch)
            .setIncarnationId(new Uuid(broker + 1, epoch)).setFenced(false).setLogDirs(List.of(directory(broker)));
        record.endPoints().add(new RegisterBrokerRecord.BrokerEndpoint().setName("PLAINTEXT").setHost("localhost")
            .setPort(9092).setSecurityProtocol(SecurityProtocol.PLAINTEXT.id));
        record.features().add(new RegisterBrokerRecord.BrokerFeature().setName(MetadataVersion.FEATURE_NAME)
            .setMinSupportedVersion((short) 1).setMaxSupportedVersion(MetadataVersion.latestTesting().featureLevel()));
        record.features().add(new RegisterBrokerRecord.BrokerFeature().setName(Managers.ELR_FEATURE)
            .setMinSupportedVersion((short) 0).setMaxSupportedVersion((short) 1));
        live.replay(record);
    }

    /** Broker 1, after an unclean shutdown. */
    @SuppressWarnings("unchecked")
    private void registerAgain() {
        live.clock.pass(SESSION_IS_OVER_MS);
        BrokerRegistrationRequestData request = new BrokerRegistrationRequestData().setBrokerId(1)
            .setClusterId(Managers.CLUSTER).setIncarnationId(new Uuid(2, ++epoch)).setPreviousBrokerEpoch(-1)
            .setLogDirs(List.of(directory(1)));
        request.listeners().add(new BrokerRegistrationRequestData.Listener().setName("PLAINTEXT").setHost("localhost")
            .setPort(9092).setSecurityProtocol(SecurityProtocol.PLAINTEXT.id));
        request.features().add(new BrokerRegistrationRequestData.Feature().setName(MetadataVersion.FEATURE_NAME)
            .setMinSupportedVersion((short) 1).setMaxSupportedVersion(MetadataVersion.latestTesting().featureLevel()));
        request.features().add(new BrokerRegistrationRequestData.Feature().setName(Managers.ELR_FEATURE)
            .setMinSupportedVersion((short) 0).setMaxSupportedVersion((short) 1));
        AnyVersion detecting = AnyVersion.method(ClusterControlManager.class, "registerBroker", 4);
        live.run(() -> {
            Object known = live.features.finalizedFeatures(Long.MAX_VALUE);
            return (ControllerResult<Object>) (detecting != null
                ? detecting.call(live.cluster, request, epoch, known, true)
                : AnyVersion.method(ClusterControlManager.class, "registerBroker", 3)
                    .call(live.cluster, request, epoch, known));
        });
    }

    private static Uuid directory(int broker) {
        return new Uuid(0x100000L + broker, 1L);
    }
}
