package org.apache.kafka.controller;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

/**
 * Answers questions about Kafka's controller classes, a line each, until its input ends.
 *
 * A line is a Question in JSON, or f for a flush. Every line is answered by one line: a setup by "ok", a flush by f.
 * A line that cannot be understood is a mistake of the caller, not an answer of Kafka: it ends the process with the
 * reason on stderr.
 */
public final class OracleMain {
    private static final int PROTOCOL = 3;
    private static final int BUFFER = 1 << 16;

    private OracleMain() { }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.US_ASCII), BUFFER);
        // Answers have standard output to themselves: what a logging library prints goes to standard error.
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        System.setOut(System.err);
        BuilderQuestions builders = new BuilderQuestions();
        ControllerQuestions controllers = new ControllerQuestions(
            ControllerQuestions.Mode.valueOf(arguments.length > 0 ? arguments[0] : "KEPT"),
            arguments.length > 1 ? Integer.parseInt(arguments[1]) : LiveController.RECORDS_OF_A_BATCH);
        StringBuilder text = new StringBuilder();
        text.append("elrcheck ").append(PROTOCOL).append(' ').append(version()).append('\n');
        send(text, out);
        out.flush();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            try {
                answer(line, builders, controllers, text);
            } catch (Wire.Misunderstood mistake) {
                send(text, out);
                out.flush();
                System.err.println("cannot understand: " + line);
                System.err.println(mistake.getMessage());
                System.exit(3);
            }
            text.append('\n');
            if (line.equals("f")) {
                send(text, out);
                out.flush();
            } else if (text.length() > BUFFER) {
                send(text, out);
            }
        }
        send(text, out);
        out.flush();
        controllers.close();
    }

    private static void answer(
        String line, BuilderQuestions builders, ControllerQuestions controllers, StringBuilder out
    ) {
        if (line.equals("f")) {
            out.append(line);
            return;
        }
        Object answer = "ok";
        Question question = Wire.read(line);
        if (question instanceof Question.Builder builder) {
            answer = builders.change(builder.question());
        } else if (question instanceof Question.Loading loading) {
            controllers.setup(line, loading.setup());
        } else if (question instanceof Question.Indexes) {
            answer = controllers.indexes();
        } else if (question instanceof Question.Withhold) {
            controllers.withhold();
        } else if (question instanceof Question.FailOver failOver) {
            answer = controllers.failOver(failOver);
        } else {
            answer = controllers.step((Step) question);
        }
        out.append(Wire.write(answer));
    }

    /** As kafka-clients says it; the class that reads this file for Kafka has moved. */
    private static String version() throws IOException {
        Properties properties = new Properties();
        try (InputStream file = OracleMain.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            if (file != null) properties.load(file);
        }
        return properties.getProperty("version", "unknown");
    }

    private static void send(StringBuilder text, OutputStream out) throws IOException {
        out.write(text.toString().getBytes(StandardCharsets.US_ASCII));
        text.setLength(0);
    }
}
