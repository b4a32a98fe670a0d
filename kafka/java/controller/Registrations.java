package org.apache.kafka.controller;

import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;

import java.util.ArrayList;
import java.util.List;

/** Partitions in words: read as a PartitionRecord, written from a PartitionRegistration. */
final class Registrations {
    private static final long DIRECTORIES = 0x100000L;
    private static final int UNASSIGNED = -1;
    private static final int LOST = -2;
    private static final int MIGRATING = -3;

    private Registrations() { }

    /** The id of a broker's log directory by its number, or one of the reserved ids. */
    static Uuid directory(int broker, int number) {
        return switch (number) {
            case UNASSIGNED -> DirectoryId.UNASSIGNED;
            case LOST -> DirectoryId.LOST;
            case MIGRATING -> DirectoryId.MIGRATING;
            default -> {
                if (number < 0) throw new Words.Misunderstood("no directory has the number " + number);
                yield new Uuid(DIRECTORIES + broker, number + 1L);
            }
        };
    }

    static int number(int broker, Uuid directory) {
        if (directory.getMostSignificantBits() == DIRECTORIES + broker)
            return (int) directory.getLeastSignificantBits() - 1;
        if (directory.equals(DirectoryId.UNASSIGNED)) return UNASSIGNED;
        if (directory.equals(DirectoryId.LOST)) return LOST;
        if (directory.equals(DirectoryId.MIGRATING)) return MIGRATING;
        throw new IllegalStateException("broker " + broker + " has no directory " + directory);
    }

    static PartitionRecord read(Words words, Uuid topic, int partition) {
        List<Integer> replicas = words.list();
        PartitionRecord record = new PartitionRecord()
            .setTopicId(topic)
            .setPartitionId(partition)
            .setReplicas(replicas)
            .setIsr(words.list())
            .setEligibleLeaderReplicas(words.list())
            .setLastKnownElr(words.list())
            .setAddingReplicas(words.list())
            .setRemovingReplicas(words.list())
            .setLeader(words.number())
            .setLeaderEpoch(words.number())
            .setPartitionEpoch(words.number())
            .setLeaderRecoveryState(recovery(words).value());
        int[] numbers = words.absent() ? new int[replicas.size()] : words.numbers();
        if (numbers.length != replicas.size())
            throw new Words.Misunderstood("not as many directories as replicas");
        List<Uuid> directories = new ArrayList<>(numbers.length);
        for (int i = 0; i < numbers.length; i++) directories.add(directory(replicas.get(i), numbers[i]));
        return record.setDirectories(directories);
    }

    static LeaderRecoveryState recovery(Words words) {
        return words.flag() ? LeaderRecoveryState.RECOVERING : LeaderRecoveryState.RECOVERED;
    }

    static void write(PartitionRegistration partition, StringBuilder out) {
        if (partition == null) {
            out.append(Words.ABSENT);
            return;
        }
        Words.write(partition.replicas, out);
        out.append(' ');
        Words.write(partition.isr, out);
        out.append(' ');
        Words.write(partition.elr, out);
        out.append(' ');
        Words.write(partition.lastKnownElr, out);
        out.append(' ');
        Words.write(partition.addingReplicas, out);
        out.append(' ');
        Words.write(partition.removingReplicas, out);
        out.append(' ').append(partition.leader);
        out.append(' ').append(partition.leaderEpoch);
        out.append(' ').append(partition.partitionEpoch);
        out.append(' ').append(partition.leaderRecoveryState == LeaderRecoveryState.RECOVERING ? 1 : 0);
        out.append(' ');
        int[] directories = new int[partition.directories.length];
        for (int i = 0; i < directories.length; i++)
            directories[i] = number(partition.replicas[i], partition.directories[i]);
        Words.write(directories, out);
    }
}
