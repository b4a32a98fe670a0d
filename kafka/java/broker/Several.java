package org.elrcheck.broker;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionResponseData;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AlterPartitionRequest;
import org.apache.kafka.common.requests.AlterPartitionResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;

import static scala.jdk.javaapi.CollectionConverters.asScala;

/**
 * Several partitions of one broker, with Kafka's ReplicaManager and DefaultAlterPartitionManager: metadata comes as a
 * delta, a fetch reads several partitions, and one request at a time goes to the controller.
 */
final class Several implements Replica.Shared {
    /** A partition in an AlterPartition request. */
    record Sent(int partition, Replica.Proposed proposed) { }

    /** The answer of each partition, and the requests that were sent. */
    record Answers(List<Replica.BrokerAnswer> partitions, List<List<Sent>> requests) { }

    private static final int MOST = 3;
    private static final Class<?> ALTER_MANAGER = Reflected.any(
        "org.apache.kafka.server.partition.DefaultAlterPartitionManager", "kafka.server.DefaultAlterPartitionManager");

    private final int id;
    private final Time time = Replica.timeOf(() -> this.now);
    private final Object cache;
    private final Object alterManager;
    private final Object logManager;
    private final Object manager;
    private final Map<Object, Object> hosted;
    private final Object quota;
    private final List<Replica> replicas = new ArrayList<>();
    private final List<List<Sent>> requests = new ArrayList<>();
    private MetadataImage image;
    private long now;
    private long epoch;
    private Object handler;
    private List<Sent> inFlight = List.of();
    private int partitions;

    Several(File folder, int id) {
        this.id = id;
        cache = Replica.emptyCache(id);
        Object atOnce = Reflected.proxy(Scheduler.class, (self, method, arguments) -> {
            if (method.getName().equals("scheduleOnce")) ((Runnable) arguments[1]).run();
            return null;
        });
        alterManager = alterManager(atOnce);
        File logs = new File(folder, "logs");
        logManager = Fetcher.logManager(logs);
        manager = replicaManager(logs);
        hosted = hosted(Fetcher.value(manager, "allPartitions"));
        Class<?> quotaType = Arrays.stream(Fetcher.MANAGER.getMethods())
            .filter(method -> method.getName().equals("readFromLog")).findFirst().orElseThrow().getParameterTypes()[2];
        quota = Reflected.proxy(quotaType, (self, method, arguments) -> null);
        for (int number = 0; number < MOST; number++)
            replicas.add(new Replica(new File(folder, "partition-" + number), number, this));
    }

    int id() {
        return id;
    }

    @Override
    public Time time() {
        return time;
    }

    @Override
    public Object metadataCache() {
        return cache;
    }

    @Override
    public Object submit(Object... arguments) {
        return Reflected.call(alterManager, "submit", arguments);
    }

    /** Does what happens together, and returns the answers of all partitions. */
    Answers answer(Together together) {
        List<Event> events = together.events();
        Event first = events.stream().filter(event -> event != null).findFirst().orElse(null);
        String[] outcomes = new String[events.size()];
        Arrays.fill(outcomes, Event.OK);
        requests.clear();
        if (first instanceof Event.Beginning) start(events);
        else if (first instanceof Event.FollowerFetch) fetch(events, outcomes);
        else if (first instanceof Event.Granted || first instanceof Event.Refused) controllerAnswers(events, outcomes);
        else if (first instanceof Event.Append) append(events, outcomes);
        else if (first instanceof Event.LookForLag) Reflected.call(manager, "maybeShrinkIsr");
        else if (first instanceof Event.Wait wait) now += wait.milliseconds();
        else if (first instanceof Event.Metadata || together.registered() != null) publish(together);
        else if (together.error() != null) reject(together.error(), outcomes);
        List<Replica.BrokerAnswer> answers = new ArrayList<>();
        for (int number = 0; number < partitions; number++)
            answers.add(replicas.get(number).answer(outcomes[number]));
        return new Answers(answers, List.copyOf(requests));
    }

    /** A new process, whose partitions have empty logs. */
    private void start(List<Event> events) {
        partitions = events.size();
        now = 1_000_000L;
        handler = null;
        ((Map<?, ?>) Fetcher.value(alterManager, "unsentIsrUpdates")).clear();
        ((AtomicBoolean) Fetcher.value(alterManager, "inflightRequest")).set(false);
        hosted.clear();
        for (int number = 0; number < partitions; number++) {
            Event.Beginning beginning = (Event.Beginning) events.get(number);
            epoch = beginning.epoch();
            Replica replica = replicas.get(number);
            replica.start(id, epoch, beginning.minIsr(), beginning.lag());
            Fetcher.set(replica.partition(), "logManager", logManager);
            hosted.put(name(number), Reflected.callConstructor(Fetcher.ONLINE, replica.partition()));
        }
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        delta.replay(new FeatureLevelRecord().setName(MetadataVersion.FEATURE_NAME)
            .setFeatureLevel(MetadataVersion.latestProduction().featureLevel()));
        delta.replay(new TopicRecord().setName(Replica.TOPIC_NAME).setTopicId(Replica.TOPIC));
        image = delta.apply(MetadataProvenance.EMPTY);
        Reflected.call(cache, "setImage", image);
    }

    /** One delta with registrations and records of partitions, as BrokerMetadataPublisher applies it. */
    private void publish(Together together) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        if (together.registered() != null)
            for (Images.Registration broker : together.registered()) delta.replay(Images.record(broker));
        for (int number = 0; number < partitions; number++) {
            if (!(together.events().get(number) instanceof Event.Metadata record)) continue;
            delta.replay(new PartitionRecord().setTopicId(Replica.TOPIC).setPartitionId(number)
                .setLeader(record.leader()).setLeaderEpoch(record.leaderEpoch())
                .setPartitionEpoch(record.partitionEpoch()).setReplicas(record.replicas()).setIsr(record.isr())
                .setDirectories(record.replicas().stream().map(replica -> Uuid.ZERO_UUID).toList()));
        }
        image = delta.apply(MetadataProvenance.EMPTY);
        Reflected.call(cache, "setImage", image);
        if (delta.topicsDelta() != null) Reflected.call(manager, "applyDelta", delta.topicsDelta(), image);
    }

    /** One request of a follower, for all partitions with an event. */
    private void fetch(List<Event> events, String[] outcomes) {
        List<Object> asked = new ArrayList<>();
        Object params = null;
        for (int number = 0; number < partitions; number++) {
            if (!(events.get(number) instanceof Event.FollowerFetch fetch)) continue;
            params = Replica.fetchParams(fetch.follower(), fetch.brokerEpoch());
            asked.add(new scala.Tuple2<>(new TopicIdPartition(Replica.TOPIC, name(number)),
                Replica.fetchData(fetch.offset(), fetch.leaderEpoch(), fetch.lastEpoch())));
        }
        Object read = Reflected.call(manager, "readFromLog", params, asScala(asked).toSeq(), quota, false);
        for (Object pair : Reflected.collection(read)) {
            scala.Tuple2<?, ?> one = (scala.Tuple2<?, ?>) pair;
            Errors error = (Errors) Reflected.call(one._2(), "error");
            outcomes[((TopicIdPartition) one._1()).partition()] =
                error == Errors.NONE ? Replica.text(one._2(), "info") : error.name();
        }
    }

    private void append(List<Event> events, String[] outcomes) {
        for (int number = 0; number < partitions; number++) {
            if (!(events.get(number) instanceof Event.Append append)) continue;
            try {
                replicas.get(number).append(append.acks());
            } catch (ApiException refused) {
                outcomes[number] = Errors.forException(refused).name();
            }
        }
    }

    // ------------------------------------------------------------------------ the controller

    /** One response to the request in flight; a partition of the request may be left out. */
    private void controllerAnswers(List<Event> events, String[] outcomes) {
        AlterPartitionResponseData.TopicData topic =
            new AlterPartitionResponseData.TopicData().setTopicId(Replica.TOPIC);
        for (int number = 0; number < partitions; number++) {
            if (events.get(number) == null) continue;
            if (handler == null || !carries(number)) {
                outcomes[number] = Event.NOTHING_IN_FLIGHT;
                continue;
            }
            AlterPartitionResponseData.PartitionData part =
                new AlterPartitionResponseData.PartitionData().setPartitionIndex(number);
            if (events.get(number) instanceof Event.Granted granted)
                part.setLeaderId(id).setLeaderEpoch(granted.leaderEpoch()).setIsr(granted.isr())
                    .setPartitionEpoch(granted.partitionEpoch());
            else part.setErrorCode(Errors.valueOf(((Event.Refused) events.get(number)).error()).code());
            topic.partitions().add(part);
        }
        if (!topic.partitions().isEmpty()) respond(new AlterPartitionResponseData().setTopics(List.of(topic)));
    }

    /** The controller refuses the request as a whole. */
    private void reject(String error, String[] outcomes) {
        if (handler == null) Arrays.fill(outcomes, Event.NOTHING_IN_FLIGHT);
        else respond(new AlterPartitionResponseData().setErrorCode(Errors.valueOf(error).code()));
    }

    private boolean carries(int number) {
        return inFlight.stream().anyMatch(sent -> sent.partition() == number);
    }

    private void respond(AlterPartitionResponseData data) {
        Object answered = handler;
        handler = null;
        RequestHeader header =
            new RequestHeader(ApiKeys.ALTER_PARTITION, ApiKeys.ALTER_PARTITION.latestVersion(), "", 0);
        Reflected.call(answered, "onComplete",
            new ClientResponse(header, null, null, 0, 0, false, null, null, new AlterPartitionResponse(data)));
    }

    private void send(AbstractRequest.Builder<?> builder, Object callback) {
        List<Sent> sent = new ArrayList<>();
        for (AlterPartitionRequestData.TopicData topic : ((AlterPartitionRequest) builder.build()).data().topics())
            for (AlterPartitionRequestData.PartitionData part : topic.partitions())
                sent.add(new Sent(part.partitionIndex(), new Replica.Proposed(part.leaderEpoch(),
                    part.partitionEpoch(), part.newIsrWithEpochs().stream()
                        .map(member -> new Replica.Member(member.brokerId(), member.brokerEpoch()))
                        .sorted(Comparator.comparingInt(Replica.Member::id)).toList())));
        sent.sort(Comparator.comparingInt(Sent::partition));
        handler = callback;
        inFlight = sent;
        requests.add(sent);
    }

    // ------------------------------------------------------------------------ Kafka's managers

    private Object alterManager(Object scheduler) {
        Class<?>[] types = ALTER_MANAGER.getDeclaredConstructors()[0].getParameterTypes();
        Object channel = Reflected.proxy(types[0], (self, method, arguments) -> {
            if (method.getName().equals("sendRequest")) send((AbstractRequest.Builder<?>) arguments[0], arguments[1]);
            return null;
        });
        List<Object> parts = new ArrayList<>(List.of(channel, scheduler, id));
        scala.Function0<Object> epochs = () -> epoch;
        scala.Function0<Object> newest = MetadataVersion::latestProduction;
        for (Class<?> type : types) {
            if (type == Time.class) parts.add(time);
            if (type == Supplier.class) parts.add((Supplier<Object>) () -> epoch);
            if (type == scala.Function0.class) parts.add(parts.contains(epochs) ? newest : epochs);
        }
        return Reflected.build(ALTER_MANAGER, null, parts.toArray());
    }

    private Object replicaManager(File logs) {
        scala.Function0<Object> epochs = () -> epoch;
        Object scheduler = Reflected.proxy(Scheduler.class, (self, method, arguments) -> null);
        List<Object> parts = new ArrayList<>(List.of(Fetcher.config(id, logs), new Metrics(), time, scheduler,
            logManager, Reflected.build(Fetcher.parameter(Fetcher.MANAGER, "QuotaManagers"), null),
            cache, new LogDirFailureChannel(1), Reflected.build(Replica.STATS, null), epochs));
        parts.add(Reflected.proxy(Replica.ALTER, (self, method, arguments) -> submit(arguments)));
        for (Class<?> type : Fetcher.MANAGER.getDeclaredConstructors()[0].getParameterTypes()) {
            if (type == AtomicBoolean.class) parts.add(new AtomicBoolean());
            if (type.getSimpleName().equals("DirectoryEventHandler"))
                parts.add(Reflected.proxy(type, (self, method, arguments) -> null));
        }
        return Reflected.build(Fetcher.MANAGER, null, parts.toArray());
    }

    /** The partitions of a ReplicaManager: a map of Java, or the one in a kafka.utils.Pool. */
    @SuppressWarnings("unchecked")
    private static Map<Object, Object> hosted(Object partitions) {
        if (partitions instanceof Map) return (Map<Object, Object>) partitions;
        return (Map<Object, Object>) Fetcher.value(partitions, "kafka$utils$Pool$$pool");
    }

    private static TopicPartition name(int number) {
        return new TopicPartition(Replica.TOPIC_NAME, number);
    }
}
