package org.elrcheck.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * A Kafka node that ends when its standard input does, so that it never outlives the process that started it.
 *
 * A line of input names a file, to which the node writes the classes that it has loaded, for those that start later.
 */
public final class GuardedNode {
    private GuardedNode() { }

    public static void main(String[] arguments) {
        Thread guard = new Thread(GuardedNode::listen, "guard");
        guard.setDaemon(true);
        guard.start();
        kafka.Kafka.main(arguments);
    }

    private static void listen() {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            for (String line = in.readLine(); line != null; line = in.readLine()) writeClasses(line);
        } catch (IOException ended) {
            // as at the end of the input
        }
        Runtime.getRuntime().halt(1);
    }

    private static void writeClasses(String file) {
        Object[] words = {new String[] {"dynamic_dump", file}};
        try {
            ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
            String[] types = {String[].class.getName()};
            ManagementFactory.getPlatformMBeanServer().invoke(commands, "vmCds", words, types);
            System.out.println("elrcheck: classes written");
        } catch (JMException | RuntimeException refused) {
            System.out.println("elrcheck: no classes written: " + refused);
        }
    }
}
