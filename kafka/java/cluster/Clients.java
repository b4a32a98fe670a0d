package org.elrcheck.cluster;

import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.TopicPartitionReplica;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.UnsupportedEndpointTypeException;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * What operators and applications ask of a cluster. Requests for the controller go to it directly, because a
 * client may otherwise choose a broker that is paused.
 */
final class Clients implements AutoCloseable {
    private static final Duration A_WHILE = Duration.ofSeconds(10);
    private final String brokers;
    private final Admin ofBrokers;
    private final Admin ofController;
    private final Producers producers;

    Clients(String brokers, String controller) {
        this.brokers = brokers;
        ofBrokers = Admin.create(settings("bootstrap.servers", brokers, 5000));
        ofController = Admin.create(settings("bootstrap.controllers", controller, 30000));
        producers = new Producers(brokers);
    }

    /**
     * patience: milliseconds for one request; a broker may be paused, the controller is not while it is asked.
     *
     * A client of 3.9 that learnt its nodes while some brokers had not started knows no others later, unless it is
     * told to ask again: when the brokers that it knows have stopped, it gets no answer any more.
     */
    private static Map<String, Object> settings(String bootstrap, String addresses, int patience) {
        return Map.of(bootstrap, addresses, "request.timeout.ms", patience, "default.api.timeout.ms", 3 * patience,
            "reconnect.backoff.max.ms", "300", "metadata.recovery.strategy", "rebootstrap", "metadata.max.age.ms", "2000");
    }

    @Override
    public void close() {
        producers.close();
        ofBrokers.close(Duration.ZERO);
        ofController.close(Duration.ZERO);
    }

    String run(String[] words) throws ExecutionException, InterruptedException {
        switch (words[0]) {
            case "brokers": return brokers();
            case "create": return create(words[1], words[2], pairs(words, 3));
            case "delete": ofBrokers.deleteTopics(List.of(words[1])).all().get(); return "";
            case "describe": return describe(words[1]);
            case "reassign": return reassign(partition(words[1]), words[2]);
            case "elect": return elect(partition(words[1]), words[2]);
            case "configure": return configure(words[1], words[2], pairs(words, 3));
            case "feature": return feature(words[1], Short.parseShort(words[2]), words[3]);
            case "unregister": return unregister(Integer.parseInt(words[1]));
            case "move": return move(partition(words[1]), Integer.parseInt(words[2]), words[3]);
            case "produce": return produce(partition(words[1]), words);
            case "send": producers.send(partition(words[1]), number(words[2])); return "";
            case "sent": return producers.sent(partition(words[1]), number(words[2]));
            case "begin": producers.begin(words[1], partition(words[2]), number(words[3])); return "";
            case "commit": producers.commit(words[1]); return "";
            case "stream": producers.stream(partition(words[1]), number(words[2]), number(words[3])); return "";
            case "endStream": return producers.endStream(partition(words[1]));
            case "consume": return consume(partition(words[1]));
            default: throw new IllegalArgumentException("unknown command " + words[0]);
        }
    }

    private interface Request {
        void sendBy(Admin admin) throws ExecutionException, InterruptedException;
    }

    /** Kafka 3.9 cannot send every request to the controller; brokers forward it. */
    private String atController(Request request) throws ExecutionException, InterruptedException {
        try {
            request.sendBy(ofController);
        } catch (ExecutionException refused) {
            if (!(refused.getCause() instanceof UnsupportedEndpointTypeException)) throw refused;
            request.sendBy(ofBrokers);
        }
        return "";
    }

    private static int number(String word) {
        return Integer.parseInt(word);
    }

    private static TopicPartition partition(String name) {
        int hyphen = name.lastIndexOf('-');
        return new TopicPartition(name.substring(0, hyphen), Integer.parseInt(name.substring(hyphen + 1)));
    }

    private static List<Integer> ids(String text) {
        return text.isEmpty() ? List.of() : Arrays.stream(text.split(",")).map(Integer::valueOf).collect(Collectors.toList());
    }

    private static Map<String, String> pairs(String[] words, int from) {
        Map<String, String> found = new LinkedHashMap<>();
        for (int i = from; i + 1 < words.length; i += 2) found.put(words[i], words[i + 1]);
        return found;
    }

    private String produce(TopicPartition which, String[] words) throws InterruptedException {
        int from = number(words[2]), count = number(words[3]), size = number(words[4]);
        if (words[6].isEmpty()) return producers.produce(which, from, count, size, words[5]);
        return producers.produceBy(brokers.split(",")[number(words[6])], which, from, count, size, words[5]);
    }

    /** The brokers that are not fenced. */
    private String brokers() throws ExecutionException, InterruptedException {
        Collection<Node> nodes = ofBrokers.describeCluster().nodes().get();
        return text(new TreeSet<>(nodes.stream().map(Node::id).collect(Collectors.toSet())));
    }

    private String create(String topic, String assignment, Map<String, String> config)
            throws ExecutionException, InterruptedException {
        Map<Integer, List<Integer>> replicas = new TreeMap<>();
        for (String one : assignment.split(";")) replicas.put(replicas.size(), ids(one));
        ofBrokers.createTopics(List.of(new NewTopic(topic, replicas).configs(config))).all().get();
        return "";
    }

    /** A word for each partition: number, leader, replicas, ISR, ELR and LastKnownELR. */
    private String describe(String topic) throws ExecutionException, InterruptedException {
        TopicDescription found = ofBrokers.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
        return found.partitions().stream().map(Clients::describe).collect(Collectors.joining("\t"));
    }

    private static String describe(TopicPartitionInfo found) {
        int leader = found.leader() == null ? -1 : found.leader().id();
        return String.join(";", String.valueOf(found.partition()), String.valueOf(leader), nodes(found.replicas()),
            nodes(found.isr()), nodes(found.elr()), nodes(found.lastKnownElr()));
    }

    private static String nodes(List<Node> nodes) {
        return nodes == null ? "" : text(nodes.stream().map(Node::id).collect(Collectors.toList()));
    }

    private static String text(Collection<Integer> ids) {
        return ids.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    private String reassign(TopicPartition which, String to) throws ExecutionException, InterruptedException {
        Optional<NewPartitionReassignment> wanted =
            to.equals("cancel") ? Optional.empty() : Optional.of(new NewPartitionReassignment(ids(to)));
        return atController(admin -> admin.alterPartitionReassignments(Map.of(which, wanted)).all().get());
    }

    private String elect(TopicPartition which, String type) throws ExecutionException, InterruptedException {
        Optional<Throwable> error =
            ofBrokers.electLeaders(ElectionType.valueOf(type.toUpperCase()), Set.of(which)).partitions().get().get(which);
        if (error != null && error.isPresent()) throw new ExecutionException(error.get());
        return "";
    }

    /** kind: topic or broker; name: empty for all brokers; an empty value removes the setting. */
    private String configure(String kind, String name, Map<String, String> values)
            throws ExecutionException, InterruptedException {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.valueOf(kind.toUpperCase()), name);
        List<AlterConfigOp> changes = values.entrySet().stream().map(entry -> new AlterConfigOp(
            new ConfigEntry(entry.getKey(), entry.getValue()),
            entry.getValue().isEmpty() ? AlterConfigOp.OpType.DELETE : AlterConfigOp.OpType.SET)).collect(Collectors.toList());
        return atController(admin -> admin.incrementalAlterConfigs(Map.of(resource, changes)).all().get());
    }

    private String feature(String name, short level, String type) throws ExecutionException, InterruptedException {
        FeatureUpdate update = new FeatureUpdate(level, FeatureUpdate.UpgradeType.valueOf(type.toUpperCase()));
        return atController(admin -> admin.updateFeatures(Map.of(name, update), new UpdateFeaturesOptions()).all().get());
    }

    private String unregister(int broker) throws ExecutionException, InterruptedException {
        return atController(admin -> admin.unregisterBroker(broker).all().get());
    }

    private String move(TopicPartition which, int broker, String folder)
            throws ExecutionException, InterruptedException {
        TopicPartitionReplica replica = new TopicPartitionReplica(which.topic(), which.partition(), broker);
        ofBrokers.alterReplicaLogDirs(Map.of(replica, folder)).all().get();
        return "";
    }

    /** First offset, the last stable one, and which of the numbered records are there and committed. */
    private String consume(TopicPartition which) {
        Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", brokers, "auto.offset.reset",
            "earliest", "enable.auto.commit", "false", "default.api.timeout.ms", "10000", "request.timeout.ms", "5000",
            "isolation.level", "read_committed"));
        StringDeserializer text = new StringDeserializer();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings, text, text)) {
            consumer.assign(List.of(which));
            long first = consumer.beginningOffsets(List.of(which), A_WHILE).get(which);
            long end = consumer.endOffsets(List.of(which), A_WHILE).get(which);
            consumer.seek(which, first);
            BitSet found = new BitSet();
            long until = System.nanoTime() + A_WHILE.toNanos();
            while (consumer.position(which) < end) {
                if (System.nanoTime() > until) throw new IllegalStateException("no end after " + A_WHILE);
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    found.set(Producers.number(record.value()));
                    until = System.nanoTime() + A_WHILE.toNanos();
                }
            }
            return first + "\t" + end + "\t" + Producers.ranges(found);
        }
    }
}
