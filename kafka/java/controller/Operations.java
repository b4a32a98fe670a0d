package org.apache.kafka.controller;

import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData.ReassignablePartition;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData.ReassignableTopic;
import org.apache.kafka.common.message.AlterPartitionReassignmentsResponseData;
import org.apache.kafka.common.message.AssignReplicasToDirsRequestData;
import org.apache.kafka.common.message.AssignReplicasToDirsResponseData;
import org.apache.kafka.common.message.CreatePartitionsRequestData.CreatePartitionsAssignment;
import org.apache.kafka.common.message.CreatePartitionsRequestData.CreatePartitionsTopic;
import org.apache.kafka.common.message.CreatePartitionsResponseData.CreatePartitionsTopicResult;
import org.apache.kafka.common.message.CreateTopicsRequestData;
import org.apache.kafka.common.message.CreateTopicsResponseData;
import org.apache.kafka.common.message.ElectLeadersRequestData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;

import java.util.AbstractMap.SimpleEntry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What operators ask for, and the assignment of directories. */
final class Operations {
    private static final AnyVersion CREATE =
        AnyVersion.method(ReplicationControlManager.class, "createTopics", 3);
    private static final AnyVersion CREATE_PARTITIONS =
        AnyVersion.method(ReplicationControlManager.class, "createPartitions", 2);
    private static final AnyVersion DELETE =
        AnyVersion.method(ReplicationControlManager.class, "deleteTopics", 2);
    private static final AnyVersion CONFIGURE =
        AnyVersion.method(ConfigurationControlManager.class, "incrementalAlterConfigs", 2);
    private static final AnyVersion CONFIGURE_LEGACY =
        AnyVersion.method(ConfigurationControlManager.class, "legacyAlterConfigs", 2);
    /** Since 4.1 (KIP-860); before, every reassignment may change the replication factor. */
    private static final AnyVersion ALLOW_FACTOR =
        AnyVersion.method(AlterPartitionReassignmentsRequestData.class, "setAllowReplicationFactorChange", 1);

    private final Cluster cluster;
    private final Managers managers;

    Operations(Cluster cluster) {
        this.cluster = cluster;
        this.managers = cluster.managers();
    }

    Errors elect(ElectionType type) {
        ElectLeadersRequestData request = new ElectLeadersRequestData().setElectionType(type.value);
        request.topicPartitions().add(new ElectLeadersRequestData.TopicPartitions()
            .setTopic(cluster.name()).setPartitions(List.of(cluster.number())));
        var response = managers.run(() -> managers.replication.electLeaders(request));
        return Errors.forCode(
            response.replicaElectionResults().get(0).partitionResult().get(0).errorCode());
    }

    Errors reassign(List<Integer> replicas, boolean mayChangeFactor) {
        AlterPartitionReassignmentsRequestData request = new AlterPartitionReassignmentsRequestData();
        if (ALLOW_FACTOR != null) ALLOW_FACTOR.call(request, mayChangeFactor);
        request.topics().add(new ReassignableTopic().setName(cluster.name()).setPartitions(List.of(
            new ReassignablePartition().setPartitionIndex(cluster.number()).setReplicas(replicas))));
        AlterPartitionReassignmentsResponseData response =
            managers.run(() -> managers.replication.alterPartitionReassignments(request));
        return Errors.forCode(response.responses().get(0).partitions().get(0).errorCode());
    }

    Errors switchElr(boolean on) {
        return ElrSwitch.turn(managers, on).error();
    }

    @SuppressWarnings("unchecked")
    Errors configure(Step.Configure step) {
        String key = step.key();
        String value = step.value();
        ConfigResource resource = switch (step.level()) {
            case "topic" -> new ConfigResource(ConfigResource.Type.TOPIC, cluster.name());
            case "cluster" -> new ConfigResource(ConfigResource.Type.BROKER, "");
            case "broker" -> new ConfigResource(ConfigResource.Type.BROKER, step.broker().toString());
            default -> throw new Wire.Misunderstood("no such level: " + step.level());
        };
        return managers.run(() -> (ControllerResult<Map<ConfigResource, ApiError>>)
            (step.legacy() ? legacy(resource, key, value) : incremental(resource, key, value))).get(resource).error();
    }

    private Object incremental(ConfigResource resource, String key, String value) {
        Map<String, Map.Entry<OpType, String>> change = new HashMap<>();
        change.put(key, new SimpleEntry<>(value == null ? OpType.DELETE : OpType.SET, value));
        return CONFIGURE.call(managers.configuration, Map.of(resource, change), false);
    }

    /** The older request replaces all keys of the resource. */
    private Object legacy(ConfigResource resource, String key, String value) {
        Map<String, String> all = new HashMap<>(managers.configuration.getConfigs(resource));
        if (value == null) all.remove(key);
        else all.put(key, value);
        return CONFIGURE_LEGACY.call(managers.configuration, Map.of(resource, all), false);
    }

    Errors directory(int broker, int number) {
        AssignReplicasToDirsRequestData request = new AssignReplicasToDirsRequestData()
            .setBrokerId(broker)
            .setBrokerEpoch(cluster.lastRegistration(broker).epoch());
        request.directories().add(new AssignReplicasToDirsRequestData.DirectoryData()
            .setId(Directories.id(broker, number))
            .setTopics(List.of(new AssignReplicasToDirsRequestData.TopicData()
                .setTopicId(cluster.topic())
                .setPartitions(List.of(new AssignReplicasToDirsRequestData.PartitionData()
                    .setPartitionIndex(cluster.number()))))));
        AssignReplicasToDirsResponseData response =
            managers.run(() -> managers.replication.handleAssignReplicasToDirs(request));
        if (response.errorCode() != Errors.NONE.code()) return Errors.forCode(response.errorCode());
        return Errors.forCode(
            response.directories().get(0).topics().get(0).partitions().get(0).errorCode());
    }

    @SuppressWarnings("unchecked")
    Errors create(List<Integer> replicas) {
        CreateTopicsRequestData.CreatableTopic topic = new CreateTopicsRequestData.CreatableTopic()
            .setName(cluster.name()).setNumPartitions(-1).setReplicationFactor((short) -1);
        topic.assignments().add(new CreateTopicsRequestData.CreatableReplicaAssignment()
            .setPartitionIndex(0).setBrokerIds(replicas));
        CreateTopicsRequestData request = new CreateTopicsRequestData();
        request.topics().add(topic);
        CreateTopicsResponseData response = managers.run(() -> (ControllerResult<CreateTopicsResponseData>)
            CREATE.call(managers.replication, Requests.context(ApiKeys.CREATE_TOPICS), request,
                Set.of(cluster.name())));
        return Errors.forCode(response.topics().find(cluster.name()).errorCode());
    }

    @SuppressWarnings("unchecked")
    Errors createPartition(List<Integer> replicas) {
        CreatePartitionsTopic topic = new CreatePartitionsTopic()
            .setName(cluster.name())
            .setCount(cluster.partitions() + 1)
            .setAssignments(List.of(new CreatePartitionsAssignment().setBrokerIds(replicas)));
        List<CreatePartitionsTopicResult> results =
            managers.run(() -> (ControllerResult<List<CreatePartitionsTopicResult>>) CREATE_PARTITIONS.call(
                managers.replication, Requests.context(ApiKeys.CREATE_PARTITIONS), List.of(topic)));
        return Errors.forCode(results.get(0).errorCode());
    }

    @SuppressWarnings("unchecked")
    Errors delete() {
        Uuid topic = cluster.topic();
        Map<Uuid, ApiError> results = managers.run(() -> (ControllerResult<Map<Uuid, ApiError>>)
            DELETE.call(managers.replication, Requests.context(ApiKeys.DELETE_TOPICS), List.of(topic)));
        return results.get(topic).error();
    }
}
