package org.elrcheck.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;

/** Producers, most of them with acks=all. A record is its number, and what makes it as large as it has to be. */
final class Producers implements AutoCloseable {
    private static final int ATTEMPTS = 20;
    private final String brokers;
    private final Map<String, Future<RecordMetadata>> sent = new HashMap<>();
    private final Map<TopicPartition, RecordStream> streams = new HashMap<>();
    private final Map<String, KafkaProducer<String, String>> transactional = new HashMap<>();
    private KafkaProducer<String, String> lasting;

    Producers(String brokers) {
        this.brokers = brokers;
    }

    private KafkaProducer<String, String> open(Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", brokers, "acks", "all"));
        settings.putAll(more);
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    private static ProducerRecord<String, String> record(TopicPartition which, int number, int size) {
        return new ProducerRecord<>(which.topic(), which.partition(), null, number + ":" + "x".repeat(size));
    }

    static int number(String value) {
        return Integer.parseInt(value.substring(0, value.indexOf(':')));
    }

    /** The numbers of a set, as in 0-99,200-299. */
    static String ranges(BitSet numbers) {
        List<String> found = new ArrayList<>();
        for (int from = numbers.nextSetBit(0); from >= 0;) {
            int end = numbers.nextClearBit(from);
            found.add(from + "-" + (end - 1));
            from = numbers.nextSetBit(end);
        }
        return String.join(",", found);
    }

    /** Which records were acknowledged, and why others were not. */
    String produce(TopicPartition which, int from, int count, int size, String acks) throws InterruptedException {
        BitSet acknowledged = new BitSet();
        String error = "";
        Map<String, Object> impatient = Map.of("max.block.ms", "60000", "delivery.timeout.ms", "60000",
            "request.timeout.ms", "20000", "linger.ms", "0", "acks", acks);
        try (KafkaProducer<String, String> producer = open(impatient)) {
            List<Future<RecordMetadata>> answers = new ArrayList<>();
            for (int i = from; i < from + count; i++) answers.add(producer.send(record(which, i, size)));
            for (int i = 0; i < count; i++) {
                try {
                    answers.get(i).get();
                    acknowledged.set(from + i);
                } catch (ExecutionException failed) {
                    error = String.valueOf(failed.getCause()).replaceAll("\\s+", " ");
                }
            }
        }
        return ranges(acknowledged) + "\t" + error;
    }

    /**
     * As above, where other brokers than this one may be paused. A producer may ask any of them who leads once it
     * has heard of them, and then waits; nothing has been sent by then, and the next producer tries again.
     */
    String produceBy(String asked, TopicPartition which, int from, int count, int size, String acks)
            throws InterruptedException {
        Map<String, Object> settings = Map.of("bootstrap.servers", asked, "acks", acks, "linger.ms", "0", "max.block.ms",
            "1500");
        BitSet acknowledged = new BitSet();
        String error = "";
        for (int i = from, attempt = 0; i < from + count && attempt < ATTEMPTS; attempt++) {
            KafkaProducer<String, String> producer = open(settings);
            boolean unsent = false;
            try {
                while (i < from + count) {
                    Future<RecordMetadata> answer = producer.send(record(which, i, size));
                    unsent = answer.isDone();
                    answer.get();
                    acknowledged.set(i++);
                }
            } catch (ExecutionException failed) {
                error = String.valueOf(failed.getCause()).replaceAll("\\s+", " ");
                if (!unsent) break;
            } finally {
                producer.close(Duration.ZERO);
            }
        }
        return ranges(acknowledged) + "\t" + error;
    }

    /** Sends one record with a producer whose settings are Kafka's defaults, and does not wait. */
    void send(TopicPartition which, int number) {
        if (lasting == null) lasting = open(Map.of());
        sent.put(which + "/" + number, lasting.send(record(which, number, 0)));
    }

    /** "waiting", "acknowledged", or what went wrong. */
    String sent(TopicPartition which, int number) throws InterruptedException {
        Future<RecordMetadata> answer = sent.get(which + "/" + number);
        if (answer == null) throw new IllegalArgumentException("nothing was sent");
        if (!answer.isDone()) return "waiting";
        try {
            answer.get();
            return "acknowledged";
        } catch (ExecutionException failed) {
            return String.valueOf(failed.getCause()).replaceAll("\\s+", " ");
        }
    }

    /** Sends one record in a new transaction of the producer with this id, and waits for its answer. */
    void begin(String id, TopicPartition which, int number) throws ExecutionException, InterruptedException {
        KafkaProducer<String, String> producer = transactional.get(id);
        if (producer == null) {
            producer = open(Map.of("transactional.id", id, "transaction.timeout.ms", "600000"));
            transactional.put(id, producer);
            producer.initTransactions();
        }
        producer.beginTransaction();
        producer.send(record(which, number, 0)).get();
    }

    void commit(String id) {
        transactional.get(id).commitTransaction();
    }

    void stream(TopicPartition which, int from, int rate) {
        if (streams.containsKey(which)) throw new IllegalArgumentException("a stream is open");
        streams.put(which, new RecordStream(brokers, which, from, rate));
    }

    String endStream(TopicPartition which) throws InterruptedException {
        RecordStream open = streams.remove(which);
        if (open == null) throw new IllegalArgumentException("no stream is open");
        return open.end();
    }

    @Override
    public void close() {
        streams.values().forEach(RecordStream::close);
        transactional.values().forEach(producer -> producer.close(Duration.ZERO));
        if (lasting != null) lasting.close(Duration.ZERO);
    }
}
