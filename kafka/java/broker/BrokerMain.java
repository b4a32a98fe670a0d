package org.elrcheck.broker;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

/**
 * Drives kafka.cluster.Partition and ReplicaFetcherThread: a line is a Question in JSON, answered by a record; f is a
 * flush. A line that cannot be understood ends the process.
 */
public final class BrokerMain {
    private static final int PROTOCOL = 3;
    private static final JsonMapper MAPPER = JsonMapper.builder()
        .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
        .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, DeserializationFeature.FAIL_ON_TRAILING_TOKENS,
            DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
            DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
        .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
        .addMixIn(Images.Registration.class, AsArray.class)
        .addMixIn(Replica.Peer.class, AsArray.class)
        .addMixIn(Replica.Member.class, AsArray.class)
        .addMixIn(Several.Sent.class, AsArray.class)
        .build();

    /** A record that is written as the list of its values. */
    @JsonFormat(shape = JsonFormat.Shape.ARRAY)
    private interface AsArray { }

    private BrokerMain() { }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII), 1 << 16);
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        System.setOut(System.err);
        Brokers brokers = new Brokers(new File(arguments[0]));
        StringBuilder text = new StringBuilder("elrcheck " + PROTOCOL + ' ' + version() + '\n');
        send(text, out);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("f")) {
                text.append("f\n");
                send(text, out);
                continue;
            }
            try {
                Question question = MAPPER.readValue(line, Question.class);
                text.append(MAPPER.writeValueAsString(question.answer(brokers)));
            } catch (RuntimeException | IOException broken) {
                send(text, out);
                System.err.println("cannot do: " + line);
                broken.printStackTrace();
                System.exit(3);
            }
            text.append('\n');
            if (text.length() > 1 << 16) send(text, out);
        }
        send(text, out);
        System.exit(0); // ReplicaManager has threads that do not end with this one
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
