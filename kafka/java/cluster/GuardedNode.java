package org.elrcheck.cluster;

import java.io.IOException;

/** A Kafka node that ends when its standard input does, so that it never outlives the process that started it. */
public final class GuardedNode {
    private GuardedNode() { }

    public static void main(String[] arguments) {
        Thread guard = new Thread(() -> {
            try {
                while (System.in.read() >= 0) { }
            } catch (IOException ended) {
                // as at the end of the input
            }
            Runtime.getRuntime().halt(1);
        }, "guard");
        guard.setDaemon(true);
        guard.start();
        kafka.Kafka.main(arguments);
    }
}
