package org.elrcheck.broker;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;

/**
 * Drives kafka.cluster.Partition: a line is an event, and is answered by what came of it and what is known then.
 *
 * s ID EPOCH MIN_ISR LAG starts a walk; c BROKERS are the registrations; m LEADER LEADER_EPOCH PARTITION_EPOCH
 * REPLICAS ISR is metadata; a ACKS an append; r FOLLOWER BROKER_EPOCH OFFSET LEADER_EPOCH LAST_EPOCH a fetch; h a
 * look for followers that lag; w MS waits; g LEADER_EPOCH PARTITION_EPOCH ISR and e ERROR answer AlterPartition;
 * f is a flush. A line that cannot be understood ends the process.
 */
public final class BrokerMain {
    private static final int PROTOCOL = 1;

    private BrokerMain() { }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII), 1 << 16);
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        System.setOut(System.err);
        Replica replica = new Replica(new File(arguments[0]));
        StringBuilder text = new StringBuilder("elrcheck " + PROTOCOL + ' ' + version() + '\n');
        send(text, out);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("f")) {
                text.append("f\n");
                send(text, out);
                continue;
            }
            try {
                text.append(outcome(replica, line.split(" "))).append(' ');
                replica.describe(text);
            } catch (RuntimeException broken) {
                send(text, out);
                System.err.println("cannot do: " + line);
                broken.printStackTrace();
                System.exit(3);
            }
            text.append('\n');
            if (text.length() > 1 << 16) send(text, out);
        }
        send(text, out);
    }

    /** "ok", what was read, or the error that a client would be told. */
    private static String outcome(Replica replica, String[] words) {
        if ((words[0].equals("g") || words[0].equals("e")) && !replica.waits()) return "nothing-in-flight";
        try {
            switch (words[0]) {
                case "s" -> replica.start(number(words[1]), number(words[2]), number(words[3]), number(words[4]));
                case "c" -> replica.cluster(words[1]);
                case "m" -> replica.metadata(
                    number(words[1]), number(words[2]), number(words[3]), numbers(words[4]), numbers(words[5]));
                case "a" -> replica.append(number(words[1]));
                case "r" -> {
                    return replica.fetch(
                        number(words[1]), number(words[2]), number(words[3]), number(words[4]), number(words[5]));
                }
                case "h" -> replica.shrink();
                case "w" -> replica.later(number(words[1]));
                case "g" -> replica.granted(number(words[1]), number(words[2]), numbers(words[3]));
                case "e" -> replica.refused(words[1]);
                default -> throw new IllegalArgumentException("unknown event " + words[0]);
            }
        } catch (ApiException error) {
            return Errors.forException(error).name();
        }
        return "ok";
    }

    private static int number(String word) {
        return Integer.parseInt(word);
    }

    private static List<Integer> numbers(String word) {
        List<Integer> found = new ArrayList<>();
        if (!word.equals("-")) for (String part : word.split(",")) found.add(number(part));
        return found;
    }

    private static String version() throws IOException {
        Properties properties = new Properties();
        try (InputStream file = BrokerMain.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            if (file != null) properties.load(file);
        }
        return properties.getProperty("version", "unknown");
    }

    private static void send(StringBuilder text, OutputStream out) throws IOException {
        out.write(text.toString().getBytes(StandardCharsets.US_ASCII));
        text.setLength(0);
        out.flush();
    }
}
