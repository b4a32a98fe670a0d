package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.PartitionRegistration;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The managers of a controller, loaded with a cluster of one topic, and the last registration of every broker.
 *
 * Steps are about one partition: the one that was loaded, or the one that AboutPartition names.
 */
final class Cluster {
    private static final String TOPIC = "t";
    private static final Uuid TOPIC_ID = new Uuid(7, 7);

    /** A broker's last registration; the controller forgets it when the broker unregisters. */
    record LastRegistration(long epoch, int incarnation, List<Integer> directories) { }

    /** What is registered after a step; partition, sibling and failure may be null. */
    record StepAnswer(
        String error, Partition partition, List<Question.Broker> brokers, int minIsr, boolean elr,
        Partition sibling, String failure, List<String> reply
    ) { }

    private record Written(long end, Map<Integer, LastRegistration> registrations, String name, int number) { }

    private final Managers managers;
    private final Events events;
    private final Map<Integer, LastRegistration> loaded = new TreeMap<>();
    private final Map<Integer, LastRegistration> registrations = new TreeMap<>();
    /** While commits are withheld: what was written and registered before, and after each step since then. */
    private final List<Written> written = new ArrayList<>();
    private boolean sibling;
    private String name;
    private int number;

    Cluster(Managers managers) {
        this.managers = managers;
        this.events = new Events(this);
    }

    Managers managers() {
        return managers;
    }

    void load(Question.Setup setup) {
        managers.empty();
        loaded.clear();
        config(ConfigResource.Type.TOPIC, TOPIC, Managers.MIN_ISR, setup.topicMinIsr());
        config(ConfigResource.Type.BROKER, "", Managers.MIN_ISR, setup.clusterMinIsr());
        for (List<Integer> own : setup.brokerMinIsr())
            config(ConfigResource.Type.BROKER, "" + own.get(0), Managers.MIN_ISR, own.get(1));
        config(ConfigResource.Type.TOPIC, TOPIC, Managers.UNCLEAN, setup.topicUnclean());
        config(ConfigResource.Type.BROKER, "", Managers.UNCLEAN, setup.clusterUnclean());
        for (Question.Broker broker : setup.brokers()) register(broker);
        partitions(setup);
        managers.mark(Managers.LOADED);
        start();
    }

    /** Back to what was loaded last. */
    void again() {
        managers.loaded();
        start();
    }

    private void config(ConfigResource.Type type, String name, String key, Object value) {
        if (value == null) return;
        managers.replay(new ConfigRecord().setResourceType(type.id()).setResourceName(name).setName(key)
            .setValue(value.toString()));
    }

    private void register(Question.Broker broker) {
        loaded.put(broker.id(), new LastRegistration(broker.epoch(), 1, broker.directories()));
        if (!broker.registered()) return;
        RegisterBrokerRecord record = new RegisterBrokerRecord()
            .setBrokerId(broker.id())
            .setBrokerEpoch(broker.epoch())
            .setIncarnationId(incarnation(broker.id(), 1))
            .setFenced(broker.fenced())
            .setInControlledShutdown(broker.inControlledShutdown())
            .setLogDirs(Directories.ids(broker.id(), broker.directories()));
        record.endPoints().add(new RegisterBrokerRecord.BrokerEndpoint()
            .setName("PLAINTEXT").setHost("localhost").setPort(9092)
            .setSecurityProtocol(SecurityProtocol.PLAINTEXT.id));
        for (Requests.Supported feature : Requests.supported())
            record.features().add(new RegisterBrokerRecord.BrokerFeature().setName(feature.name())
                .setMinSupportedVersion(feature.min()).setMaxSupportedVersion(feature.max()));
        managers.replay(record);
    }

    private void partitions(Question.Setup setup) {
        sibling = setup.sibling() != null;
        if (setup.partition() == null) {
            if (sibling) throw new Wire.Misunderstood("a sibling of no partition");
            return;
        }
        managers.replay(new TopicRecord().setName(TOPIC).setTopicId(TOPIC_ID));
        if (sibling) managers.replay(setup.sibling().record(TOPIC_ID, 0));
        managers.replay(setup.partition().record(TOPIC_ID, sibling ? 1 : 0));
    }

    /** The controller with this cluster becomes active, and every broker that is not fenced has just been heard. */
    private void start() {
        registrations.clear();
        registrations.putAll(loaded);
        about(TOPIC, sibling ? 1 : 0);
        managers.activate();
        for (BrokerRegistration broker : managers.cluster.brokerRegistrations().values())
            if (!broker.fenced()) Sessions.renew(managers, broker);
    }

    static Uuid incarnation(int broker, int number) {
        return new Uuid(0x200000L + broker, number);
    }

    void about(String topic, int partition) {
        name = topic;
        number = partition;
    }

    String name() {
        return name;
    }

    int number() {
        return number;
    }

    int partitions() {
        var topic = managers.replication.getTopic(topic());
        return topic == null ? 0 : topic.numPartitions(Long.MAX_VALUE);
    }

    /** The topic's id, also after it was created by a step; ZERO_UUID if there is none. */
    Uuid topic() {
        Uuid id = managers.topic(name);
        return id == null ? Uuid.ZERO_UUID : id;
    }

    PartitionRegistration partition(int number) {
        Uuid id = managers.topic(name);
        return id == null ? null : managers.replication.getPartition(id, number);
    }

    BrokerRegistration registration(int broker) {
        return managers.cluster.brokerRegistrations().get(broker);
    }

    LastRegistration lastRegistration(int broker) {
        return registrations.getOrDefault(broker, new LastRegistration(-1, 0, List.of(0)));
    }

    void remember(int broker, LastRegistration registration) {
        registrations.put(broker, registration);
    }

    long highestEpoch() {
        return registrations.values().stream().mapToLong(LastRegistration::epoch).max().orElse(0);
    }

    /** One event, and what is registered after it. */
    StepAnswer take(Step step) {
        Throwable failure = null;
        Events.Outcome outcome;
        try {
            outcome = step.on(events);
        } catch (Wire.Misunderstood mistake) {
            throw mistake;
        } catch (ApiException error) {
            outcome = Events.Outcome.of(Errors.forException(error));
        } catch (Exception thrown) {
            failure = thrown;
            boolean resigned = managers.failOver();
            if (resigned && !written.isEmpty()) lose();
            outcome = new Events.Outcome(
                Errors.UNKNOWN_SERVER_ERROR.name(), resigned ? List.of("RESIGNED") : List.of());
        }
        if (!written.isEmpty()) written.add(written());
        return answer(outcome, failure);
    }

    private Written written() {
        return new Written(managers.offset() + 1, Map.copyOf(registrations), name, number);
    }

    /** The controller commits nothing from now on. */
    void withhold() {
        managers.withhold();
        written.clear();
        written.add(written());
    }

    /** Another controller has the first steps since then, and later this one is active again. */
    StepAnswer failOver(Question.FailOver failOver) {
        Written last = written.get(failOver.surviving());
        written.clear();
        managers.failOver(last.end + failOver.records(), failOver.before());
        restore(last);
        return answer(Events.Outcome.NOTHING, null);
    }

    /** A controller that resigns has lost what was written since commits were withheld. */
    private void lose() {
        Written first = written.get(0);
        written.replaceAll(later -> first);
        restore(first);
    }

    private void restore(Written then) {
        registrations.clear();
        registrations.putAll(then.registrations);
        about(then.name, then.number);
    }

    private StepAnswer answer(Events.Outcome outcome, Throwable failure) {
        int minIsr = managers.topic(name) == null ? 0 : managers.replication.getTopicEffectiveMinIsr(name);
        return new StepAnswer(
            outcome.error(), Partition.of(partition(number)), brokers(), minIsr, managers.elr(),
            sibling ? Partition.of(partition(0)) : null, failure == null ? null : Wire.text(failure), outcome.reply());
    }

    private List<Question.Broker> brokers() {
        List<Question.Broker> all = new ArrayList<>(registrations.size());
        registrations.forEach((id, last) -> {
            BrokerRegistration broker = registration(id);
            all.add(broker == null
                ? new Question.Broker(id, last.epoch(), false, false, false, last.directories())
                : new Question.Broker(id, broker.epoch(), true, broker.fenced(), broker.inControlledShutdown(),
                    Directories.numbers(id, broker.directories())));
        });
        return all;
    }
}
