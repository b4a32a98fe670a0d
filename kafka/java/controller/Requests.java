package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionResponseData;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.server.common.MetadataVersion;

import java.util.List;
import java.util.OptionalLong;

/** Requests as brokers and clients of this version send them. */
final class Requests {
    /** A feature and the levels of it that brokers support. */
    record Supported(String name, short min, short max) { }

    private static final List<Supported> SUPPORTED = List.of(
        new Supported(MetadataVersion.FEATURE_NAME, (short) 1, MetadataVersion.latestTesting().featureLevel()),
        new Supported(Managers.ELR_FEATURE, (short) 0, (short) 1));

    private Requests() { }

    static List<Supported> supported() {
        return SUPPORTED;
    }

    static ControllerRequestContext context(ApiKeys key) {
        RequestHeaderData header =
            new RequestHeaderData().setRequestApiKey(key.id).setRequestApiVersion(key.latestVersion());
        return new ControllerRequestContext(header, KafkaPrincipal.ANONYMOUS, OptionalLong.empty(), changes -> { });
    }

    static BrokerRegistrationRequestData registration(int broker, Cluster.LastRegistration after, long previousEpoch) {
        BrokerRegistrationRequestData request = new BrokerRegistrationRequestData()
            .setBrokerId(broker)
            .setClusterId(Managers.CLUSTER)
            .setIncarnationId(Cluster.incarnation(broker, after.incarnation()))
            .setPreviousBrokerEpoch(previousEpoch)
            .setLogDirs(Directories.ids(broker, after.directories()));
        for (Supported feature : SUPPORTED)
            request.features().add(new BrokerRegistrationRequestData.Feature().setName(feature.name)
                .setMinSupportedVersion(feature.min).setMaxSupportedVersion(feature.max));
        request.listeners().add(new BrokerRegistrationRequestData.Listener().setName("PLAINTEXT")
            .setHost("localhost").setPort(9092).setSecurityProtocol(SecurityProtocol.PLAINTEXT.id));
        return request;
    }

    static Errors alterPartition(
        Managers managers, Uuid topic, int sender, long senderEpoch, AlterPartitionRequestData.PartitionData partition
    ) {
        AlterPartitionRequestData request = new AlterPartitionRequestData()
            .setBrokerId(sender)
            .setBrokerEpoch(senderEpoch)
            .setTopics(List.of(new AlterPartitionRequestData.TopicData()
                .setTopicId(topic)
                .setPartitions(List.of(partition))));
        AlterPartitionResponseData response =
            managers.run(() -> managers.replication.alterPartition(context(ApiKeys.ALTER_PARTITION), request));
        if (response.errorCode() != Errors.NONE.code()) return Errors.forCode(response.errorCode());
        return Errors.forCode(response.topics().get(0).partitions().get(0).errorCode());
    }
}
