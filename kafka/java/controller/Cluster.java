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

/** The managers of a controller, loaded with a cluster of one topic, and the brokers that it ever heard of. */
final class Cluster {
    static final String TOPIC = "t";
    private static final Uuid TOPIC_ID = new Uuid(7, 7);
    private static final int REGISTERED = 1;
    private static final int FENCED = 2;
    private static final int SHUTTING_DOWN = 4;
    private static final int WORDS_OF_A_BROKER = 4;

    /** What a broker's last registration said; the controller forgets it when the broker unregisters. */
    record Known(long epoch, int incarnation, int directories) { }

    private final Managers managers;
    private final Events events;
    private final Map<Integer, Known> loaded = new TreeMap<>();
    private final Map<Integer, Known> known = new TreeMap<>();
    private boolean sibling;

    Cluster(Managers managers) {
        this.managers = managers;
        this.events = new Events(this);
    }

    Managers managers() {
        return managers;
    }

    /** topicMinIsr clusterMinIsr brokerMinIsrs topicUnclean clusterUnclean brokers partition sibling */
    void load(Words words) {
        managers.empty();
        loaded.clear();
        config(ConfigResource.Type.TOPIC, TOPIC, Managers.MIN_ISR, words.optionalNumber());
        config(ConfigResource.Type.BROKER, "", Managers.MIN_ISR, words.optionalNumber());
        int[] minIsrs = words.numbers();
        for (int i = 0; i < minIsrs.length; i += 2)
            config(ConfigResource.Type.BROKER, "" + minIsrs[i], Managers.MIN_ISR, minIsrs[i + 1]);
        config(ConfigResource.Type.TOPIC, TOPIC, Managers.UNCLEAN, words.optionalFlag());
        config(ConfigResource.Type.BROKER, "", Managers.UNCLEAN, words.optionalFlag());
        int[] brokers = words.numbers();
        for (int i = 0; i < brokers.length; i += WORDS_OF_A_BROKER)
            broker(brokers[i], brokers[i + 1], brokers[i + 2], brokers[i + 3]);
        partitions(words);
        words.end();
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

    private void broker(int id, long epoch, int flags, int directories) {
        loaded.put(id, new Known(epoch, 1, directories));
        if ((flags & REGISTERED) == 0) return;
        RegisterBrokerRecord record = new RegisterBrokerRecord()
            .setBrokerId(id)
            .setBrokerEpoch(epoch)
            .setIncarnationId(incarnation(id, 1))
            .setFenced((flags & FENCED) != 0)
            .setInControlledShutdown((flags & SHUTTING_DOWN) != 0)
            .setLogDirs(directories(id, directories));
        record.endPoints().add(new RegisterBrokerRecord.BrokerEndpoint()
            .setName("PLAINTEXT").setHost("localhost").setPort(9092)
            .setSecurityProtocol(SecurityProtocol.PLAINTEXT.id));
        for (Requests.Supported feature : Requests.supported())
            record.features().add(new RegisterBrokerRecord.BrokerFeature().setName(feature.name())
                .setMinSupportedVersion(feature.min()).setMaxSupportedVersion(feature.max()));
        managers.replay(record);
    }

    private void partitions(Words words) {
        boolean exists = !words.absent();
        sibling = false;
        if (exists) {
            managers.replay(new TopicRecord().setName(TOPIC).setTopicId(TOPIC_ID));
            var asked = Registrations.read(words, TOPIC_ID, 0);
            sibling = !words.absent();
            if (sibling) {
                managers.replay(Registrations.read(words, TOPIC_ID, 0));
                asked.setPartitionId(1);
            }
            managers.replay(asked);
        }
    }

    /** The controller with this cluster becomes active, and every broker that is not fenced has just been heard. */
    private void start() {
        known.clear();
        known.putAll(loaded);
        managers.activate();
        for (BrokerRegistration broker : managers.cluster.brokerRegistrations().values())
            if (!broker.fenced()) Sessions.renew(managers, broker);
    }

    static Uuid incarnation(int broker, int number) {
        return new Uuid(0x200000L + broker, number);
    }

    static List<Uuid> directories(int broker, int bits) {
        List<Uuid> all = new ArrayList<>();
        for (int number = 0; number < Integer.SIZE - 1; number++)
            if ((bits & (1 << number)) != 0) all.add(Registrations.directory(broker, number));
        return all;
    }

    int number() {
        return sibling ? 1 : 0;
    }

    /** The topic's id, also after it was created by a step; ZERO_UUID if there is none. */
    Uuid topic() {
        Uuid id = managers.topic(TOPIC);
        return id == null ? Uuid.ZERO_UUID : id;
    }

    PartitionRegistration partition(int number) {
        Uuid id = managers.topic(TOPIC);
        return id == null ? null : managers.replication.getPartition(id, number);
    }

    BrokerRegistration registration(int broker) {
        return managers.cluster.brokerRegistrations().get(broker);
    }

    Known known(int broker) {
        return known.getOrDefault(broker, new Known(-1, 0, 1));
    }

    void remember(int broker, Known registration) {
        known.put(broker, registration);
    }

    long highestEpoch() {
        return known.values().stream().mapToLong(Known::epoch).max().orElse(0);
    }

    /** One event and what is registered after it: error minIsr elr brokers partition sibling reply failure */
    void take(Words words, StringBuilder out) {
        Throwable failure = null;
        Events.Told told;
        try {
            told = events.event(words);
            words.end();
        } catch (Words.Misunderstood mistake) {
            throw mistake;
        } catch (ApiException error) {
            told = new Events.Told(Errors.forException(error).name(), 0);
        } catch (Exception thrown) {
            failure = thrown;
            told = new Events.Told(Errors.UNKNOWN_SERVER_ERROR.name(), managers.failOver() ? Events.RESIGNED : 0);
        }
        out.append(told.error());
        out.append(' ').append(managers.topic(TOPIC) == null ? 0 : managers.replication.getTopicEffectiveMinIsr(TOPIC));
        out.append(' ').append(managers.elr() ? 1 : 0).append(' ');
        brokers(out);
        out.append(' ');
        Registrations.write(partition(number()), out);
        out.append(' ');
        Registrations.write(sibling ? partition(0) : null, out);
        out.append(' ').append(told.reply()).append(' ');
        if (failure == null) {
            out.append(Words.ABSENT);
        } else {
            out.append("! ");
            Words.write(failure, out);
        }
    }

    private void brokers(StringBuilder out) {
        if (known.isEmpty()) out.append(Words.EMPTY);
        boolean first = true;
        for (Map.Entry<Integer, Known> entry : known.entrySet()) {
            if (!first) out.append(',');
            first = false;
            BrokerRegistration broker = registration(entry.getKey());
            out.append(entry.getKey()).append(',');
            if (broker == null) {
                out.append(entry.getValue().epoch()).append(",0,").append(entry.getValue().directories());
                continue;
            }
            int flags = REGISTERED | (broker.fenced() ? FENCED : 0)
                | (broker.inControlledShutdown() ? SHUTTING_DOWN : 0);
            int bits = 0;
            for (Uuid directory : broker.directories())
                bits |= 1 << Registrations.number(broker.id(), directory);
            out.append(broker.epoch()).append(',').append(flags).append(',').append(bits);
        }
    }
}
