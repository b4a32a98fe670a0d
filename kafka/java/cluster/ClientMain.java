package org.elrcheck.cluster;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.kafka.clients.admin.Admin;

/**
 * The clients of a cluster: a line is a command, with tabs between its words, and is answered by one line.
 *
 * An answer is "ok" and words, or "error", the class of the error and what it says. The line f is answered by f.
 * The process ends when its input does, even while a command waits.
 */
public final class ClientMain {
    private static final int PROTOCOL = 1;
    private static final String END = new String("end");

    private ClientMain() { }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> read(lines), "reader");
        reader.setDaemon(true);
        reader.start();
        try (Clients clients = new Clients(arguments[0], arguments[1])) {
            out.println("elrcheck " + PROTOCOL + ' ' + version());
            for (String line = lines.take(); line != END; line = lines.take())
                out.println(line.equals("f") ? "f" : answer(clients, line));
        }
        Runtime.getRuntime().halt(0);
    }

    private static String version() throws IOException {
        Properties found = new Properties();
        try (InputStream file = Admin.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            found.load(file);
        }
        return found.getProperty("version");
    }

    private static void read(BlockingQueue<String> lines) {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            for (String line = in.readLine(); line != null; line = in.readLine()) lines.add(line);
        } catch (IOException ended) {
            // as at the end of the input
        }
        Runtime.getRuntime().halt(0);
    }

    private static String answer(Clients clients, String line) {
        Throwable failure;
        try {
            String said = clients.run(line.split("\t", -1));
            return said.isEmpty() ? "ok" : "ok\t" + said;
        } catch (ExecutionException wrapped) {
            failure = wrapped.getCause();
        } catch (Exception thrown) {
            failure = thrown;
        }
        String message = String.valueOf(failure.getMessage()).replaceAll("\\s+", " ");
        return "error\t" + failure.getClass().getSimpleName() + '\t' + message;
    }
}
