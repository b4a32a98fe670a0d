package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;

import java.util.ArrayList;
import java.util.List;

/** A PartitionRegistration on the wire. directories: numbers or reserved ids; null for directory 0 of each. */
record Partition(
    List<Integer> replicas, List<Integer> isr, List<Integer> elr, List<Integer> lastKnownElr,
    List<Integer> adding, List<Integer> removing, int leader, int leaderEpoch, int partitionEpoch,
    LeaderRecoveryState recovery, List<Integer> directories
) {
    /** null for none. */
    static Partition of(PartitionRegistration registered) {
        if (registered == null) return null;
        List<Integer> directories = new ArrayList<>(registered.directories.length);
        for (int i = 0; i < registered.directories.length; i++)
            directories.add(Directories.number(registered.replicas[i], registered.directories[i]));
        return new Partition(
            list(registered.replicas), list(registered.isr), list(registered.elr), list(registered.lastKnownElr),
            list(registered.addingReplicas), list(registered.removingReplicas), registered.leader,
            registered.leaderEpoch, registered.partitionEpoch, registered.leaderRecoveryState, directories);
    }

    PartitionRecord record(Uuid topic, int number) {
        List<Uuid> places = new ArrayList<>(replicas.size());
        if (directories != null && directories.size() != replicas.size())
            throw new Wire.Misunderstood("not as many directories as replicas");
        for (int i = 0; i < replicas.size(); i++)
            places.add(Directories.id(replicas.get(i), directories == null ? 0 : directories.get(i)));
        return new PartitionRecord()
            .setTopicId(topic)
            .setPartitionId(number)
            .setReplicas(replicas)
            .setIsr(isr)
            .setEligibleLeaderReplicas(elr)
            .setLastKnownElr(lastKnownElr)
            .setAddingReplicas(adding)
            .setRemovingReplicas(removing)
            .setLeader(leader)
            .setLeaderEpoch(leaderEpoch)
            .setPartitionEpoch(partitionEpoch)
            .setLeaderRecoveryState(recovery.value())
            .setDirectories(places);
    }

    static List<Integer> list(int[] ids) {
        List<Integer> list = new ArrayList<>(ids.length);
        for (int id : ids) list.add(id);
        return list;
    }
}
