package org.apache.kafka.controller;

import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.Uuid;

import java.util.List;

/** Log directories by their numbers on a broker. */
final class Directories {
    private static final long FIRST = 0x100000L;
    private static final int UNASSIGNED = -1;
    private static final int LOST = -2;
    private static final int MIGRATING = -3;

    private Directories() { }

    /** The id of a broker's log directory by its number, or one of the reserved ids. */
    static Uuid id(int broker, int number) {
        return switch (number) {
            case UNASSIGNED -> DirectoryId.UNASSIGNED;
            case LOST -> DirectoryId.LOST;
            case MIGRATING -> DirectoryId.MIGRATING;
            default -> {
                if (number < 0) throw new Wire.Misunderstood("no directory has the number " + number);
                yield new Uuid(FIRST + broker, number + 1L);
            }
        };
    }

    /** The broker that has a directory. */
    static int broker(Uuid directory) {
        return (int) (directory.getMostSignificantBits() - FIRST);
    }

    /** In ascending order of their numbers. */
    static List<Uuid> ids(int broker, List<Integer> numbers) {
        return numbers.stream().sorted().map(number -> id(broker, number)).toList();
    }

    static int number(int broker, Uuid directory) {
        if (directory.getMostSignificantBits() == FIRST + broker)
            return (int) directory.getLeastSignificantBits() - 1;
        if (directory.equals(DirectoryId.UNASSIGNED)) return UNASSIGNED;
        if (directory.equals(DirectoryId.LOST)) return LOST;
        if (directory.equals(DirectoryId.MIGRATING)) return MIGRATING;
        throw new IllegalStateException("broker " + broker + " has no directory " + directory);
    }

    static List<Integer> numbers(int broker, List<Uuid> directories) {
        return directories.stream().map(directory -> number(broker, directory)).sorted().toList();
    }
}
