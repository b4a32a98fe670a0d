package org.apache.kafka.controller;

import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.TopicIdPartition;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The maps that a controller keeps beside its partitions and registrations, each entry with how often the partitions
 * and the registrations say that it is due.
 */
final class Indexes {
    private static final int NO_LEADER = -1;
    private static final int PARTITION = 0x7fff_ffff;

    /** of: a broker, a directory as broker/number, or a topic; held: how often the index has it. */
    record Entry(String index, String of, String partition, int held, int due) { }

    record Key(String index, String of, String partition) implements Comparable<Key> {
        @Override
        public int compareTo(Key other) {
            return toString().compareTo(other.toString());
        }
    }

    private final Managers managers;
    private final Map<Uuid, String> names;
    private final Map<Key, int[]> entries = new TreeMap<>();

    private Indexes(Managers managers, Map<Uuid, String> names) {
        this.managers = managers;
        this.names = names;
    }

    /** names: of topics, also of deleted ones. */
    static List<Entry> of(Managers managers, Map<Uuid, String> names) {
        Indexes indexes = new Indexes(managers, names);
        indexes.held();
        indexes.due();
        List<Entry> all = new ArrayList<>();
        indexes.entries.forEach((key, counts) ->
            all.add(new Entry(key.index, key.of, key.partition, counts[0], counts[1])));
        return all;
    }

    /** A topic that has the name of a deleted one is told apart by a number. */
    static Map<Uuid, String> names(List<ApiMessage> committed) {
        Map<Uuid, String> names = new HashMap<>();
        Map<String, Integer> used = new HashMap<>();
        for (ApiMessage record : committed) {
            if (!(record instanceof TopicRecord topic)) continue;
            int number = used.merge(topic.name(), 1, Integer::sum);
            names.put(topic.topicId(), number == 1 ? topic.name() : topic.name() + "(" + number + ")");
        }
        return names;
    }

    static Map<Uuid, ReplicationControlManager.TopicControlInfo> topics(Managers managers) {
        return field(managers.replication, "topics");
    }

    static Map<Integer, PartitionRegistration> partitions(ReplicationControlManager.TopicControlInfo topic) {
        return field(topic, "parts");
    }

    private void held() {
        ReplicationControlManager replication = managers.replication;
        held("brokersToIsrs", field(field(replication, "brokersToIsrs"), "isrMembers"));
        held("brokersToElrs", field(field(replication, "brokersToElrs"), "elrMembers"));
        Map<Uuid, int[]> reassigning = field(replication, "reassigningTopics");
        reassigning.forEach((topic, numbers) -> {
            for (int number : numbers) count("reassigningTopics", "", label(topic, number), 0);
        });
        Iterable<TopicIdPartition> imbalanced = field(replication, "imbalancedPartitions");
        imbalanced.forEach(partition -> count("imbalancedPartitions", "", label(partition), 0));
        Map<Uuid, Iterable<TopicIdPartition>> directories = field(replication, "directoriesToPartitions");
        directories.forEach((directory, partitions) -> partitions.forEach(partition ->
            count("directoriesToPartitions", place(directory), label(partition), 0)));
        Map<String, Uuid> byName = field(replication, "topicsByName");
        byName.forEach((name, id) -> count("topicsByName", name, names.get(id), 0));
        Map<Uuid, Integer> brokers = field(managers.cluster, "directoryToBroker");
        brokers.forEach((directory, broker) -> count("directoryToBroker", place(directory), "broker " + broker, 0));
    }

    private void held(String index, Map<Integer, Map<Uuid, int[]>> members) {
        members.forEach((broker, topics) -> topics.forEach((topic, numbers) -> {
            for (int number : numbers)
                count(index, number < 0 ? broker + " as leader" : "" + broker, label(topic, number & PARTITION), 0);
        }));
    }

    private void due() {
        topics(managers).forEach((id, topic) -> {
            count("topicsByName", topic.name(), names.get(id), 1);
            partitions(topic).forEach((number, partition) -> due(label(id, number), partition));
        });
        for (BrokerRegistration broker : managers.cluster.brokerRegistrations().values())
            for (Uuid directory : broker.directories())
                count("directoryToBroker", place(directory), "broker " + broker.id(), 1);
    }

    private void due(String label, PartitionRegistration partition) {
        for (int broker : partition.isr)
            count("brokersToIsrs", broker == partition.leader ? broker + " as leader" : "" + broker, label, 1);
        if (partition.leader == NO_LEADER) count("brokersToIsrs", NO_LEADER + " as leader", label, 1);
        for (int broker : partition.elr) count("brokersToElrs", "" + broker, label, 1);
        if (PartitionReassignmentReplicas.isReassignmentInProgress(partition)) count("reassigningTopics", "", label, 1);
        if (!partition.hasPreferredLeader()) count("imbalancedPartitions", "", label, 1);
        for (Uuid directory : partition.directories)
            if (!DirectoryId.reserved(directory)) count("directoriesToPartitions", place(directory), label, 1);
    }

    private void count(String index, String of, String partition, int side) {
        entries.computeIfAbsent(new Key(index, of, partition), none -> new int[2])[side]++;
    }

    private static String place(Uuid directory) {
        int broker = Directories.broker(directory);
        return broker + "/" + Directories.number(broker, directory);
    }

    private String label(TopicIdPartition partition) {
        return label(partition.topicId(), partition.partitionId());
    }

    private String label(Uuid topic, int number) {
        return names.get(topic) + "-" + number;
    }

    @SuppressWarnings("unchecked")
    private static <T> T field(Object owner, String name) {
        try {
            Field field = owner.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return (T) field.get(owner);
        } catch (ReflectiveOperationException absent) {
            throw new IllegalStateException(absent);
        }
    }
}
