package org.elrcheck.cluster;

import java.time.Duration;
import java.util.BitSet;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;

/** Numbered records with acks=all, so many a second, until it is ended; the producer's settings are Kafka's defaults. */
final class RecordStream implements AutoCloseable {
    private static final Duration REST = Duration.ofSeconds(60);
    private final KafkaProducer<String, String> producer;
    private final Thread sender;
    private final BitSet acknowledged = new BitSet();
    private volatile boolean ending;
    private int next;

    RecordStream(String brokers, TopicPartition which, int from, int rate) {
        StringSerializer text = new StringSerializer();
        producer = new KafkaProducer<>(Map.of("bootstrap.servers", brokers, "acks", "all"), text, text);
        next = from;
        sender = new Thread(() -> send(which, 1_000_000_000L / rate), "stream");
        sender.setDaemon(true);
        sender.start();
    }

    private void send(TopicPartition which, long interval) {
        long due = System.nanoTime();
        try {
            while (!ending) {
                int number = next++;
                String value = number + ":";
                producer.send(new ProducerRecord<>(which.topic(), which.partition(), null, value), (place, error) -> {
                    if (error == null) note(number);
                });
                due += interval;
                long rest = due - System.nanoTime();
                if (rest > 0) Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException failed) {
            if (!ending) throw failed;
        }
    }

    private synchronized void note(int number) {
        acknowledged.set(number);
    }

    /** Stops sending and waits for the last answers: the number after the last, and those acknowledged. */
    String end() throws InterruptedException {
        ending = true;
        sender.join(REST.toMillis());
        producer.close(REST);
        synchronized (this) {
            return next + "\t" + Producers.ranges(acknowledged);
        }
    }

    @Override
    public void close() {
        ending = true;
        producer.close(Duration.ZERO);
    }
}
