package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.placement.PartitionAssignment;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.function.IntPredicate;

/** Asks PartitionChangeBuilder and the classes beside it about a single partition. */
final class BuilderQuestions {
    private static final Uuid TOPIC = new Uuid(7, 7);
    private static final int PARTITION = 0;

    /** Up to 4.2 a method says whether ELRs are enabled, since then a seventh argument of the constructor. */
    private static final AnyVersion SET_ELR =
        AnyVersion.method(PartitionChangeBuilder.class, "setEligibleLeaderReplicasEnabled", 1);
    private static final AnyVersion BUILDER =
        AnyVersion.constructor(PartitionChangeBuilder.class, SET_ELR == null ? 7 : 6);

    /** A class with visible fields up to 4.1, a record since then. */
    private static final Part COMPLETED_REPLICAS = new Part("replicas");
    private static final Part COMPLETED_ISR = new Part("isr");

    private final ObjectSerializationCache cache = new ObjectSerializationCache();

    /** partition: null if the builder made no record, or failed. */
    record BuilderAnswer(Partition partition, String failure) { }

    /** completed and reverted: replicas and ISR; null if it goes on, or if nothing is under way. */
    record ReassignmentAnswer(
        List<Integer> replicas, List<Integer> adding, List<Integer> removing, List<List<Integer>> completed,
        List<List<Integer>> reverted, String failure
    ) { }

    BuilderAnswer change(Question.Change asked) {
        PartitionRegistration partition = new PartitionRegistration(asked.partition().record(TOPIC, PARTITION));
        PartitionChangeBuilder.Election election = PartitionChangeBuilder.Election.valueOf(asked.election());
        MetadataVersion version = Versions.named(asked.metadataVersion(), asked.elr());
        try {
            PartitionChangeBuilder builder =
                builder(partition, asked.acceptable()::contains, version, asked.minIsr(), asked.elr());
            builder.setElection(election).setDefaultDirProvider(broker -> Directories.id(broker, 0));
            if (asked.targetIsr() != null) builder.setTargetIsr(asked.targetIsr());
            if (asked.targetReplicas() != null) builder.setTargetReplicas(asked.targetReplicas());
            if (asked.targetAdding() != null) builder.setTargetAdding(asked.targetAdding());
            if (asked.targetRemoving() != null) builder.setTargetRemoving(asked.targetRemoving());
            if (asked.uncleanShutdown() != null) builder.setUncleanShutdownReplicas(asked.uncleanShutdown());
            if (asked.targetRecovery() != null)
                builder.setTargetLeaderRecoveryState(LeaderRecoveryState.valueOf(asked.targetRecovery()));
            Optional<ApiMessageAndVersion> record = builder.build();
            return new BuilderAnswer(
                record.isEmpty() ? null : Partition.of(partition.merge(readBack(record.get()))), null);
        } catch (Exception failure) {
            return new BuilderAnswer(null, Wire.text(failure));
        }
    }

    private static PartitionChangeBuilder builder(
        PartitionRegistration partition, IntPredicate acceptable, MetadataVersion version, int minIsr, boolean elr
    ) {
        if (SET_ELR == null) {
            return (PartitionChangeBuilder) BUILDER.call(
                null, partition, TOPIC, PARTITION, acceptable, version, minIsr, elr);
        }
        PartitionChangeBuilder builder = (PartitionChangeBuilder) BUILDER.call(
            null, partition, TOPIC, PARTITION, acceptable, version, minIsr);
        SET_ELR.call(builder, elr);
        return builder;
    }

    /** The record as it comes back from the metadata log. */
    private PartitionChangeRecord readBack(ApiMessageAndVersion written) {
        PartitionChangeRecord record = (PartitionChangeRecord) written.message();
        int size = record.size(cache, written.version());
        ByteBuffer buffer = ByteBuffer.allocate(size);
        record.write(new ByteBufferAccessor(buffer), cache, written.version());
        buffer.flip();
        return new PartitionChangeRecord(new ByteBufferAccessor(buffer), written.version());
    }

    ReassignmentAnswer reassignment(Question.Target asked) {
        PartitionRegistration partition = new PartitionRegistration(asked.partition().record(TOPIC, PARTITION));
        List<Integer> with = asked.completesWith();
        try {
            PartitionReassignmentReplicas replicas = asked.target() == null
                ? new PartitionReassignmentReplicas(Partition.list(partition.removingReplicas),
                    Partition.list(partition.addingReplicas), Partition.list(partition.replicas))
                : to(partition, asked.target());
            return new ReassignmentAnswer(
                replicas.replicas(), replicas.adding(), replicas.removing(),
                completed(replicas, with == null ? Partition.list(partition.isr) : with), reverted(partition), null);
        } catch (Exception failure) {
            return new ReassignmentAnswer(List.of(), List.of(), List.of(), null, null, Wire.text(failure));
        }
    }

    private static PartitionReassignmentReplicas to(PartitionRegistration partition, List<Integer> target) {
        return new PartitionReassignmentReplicas(assignment(Partition.list(partition.replicas)), assignment(target));
    }

    private static PartitionAssignment assignment(List<Integer> replicas) {
        return new PartitionAssignment(replicas, broker -> Directories.id(broker, 0));
    }

    private static List<List<Integer>> completed(PartitionReassignmentReplicas replicas, List<Integer> isr) {
        Optional<PartitionReassignmentReplicas.CompletedReassignment> done =
            replicas.maybeCompleteReassignment(isr);
        return done.isEmpty() ? null : List.of(COMPLETED_REPLICAS.of(done.get()), COMPLETED_ISR.of(done.get()));
    }

    private static List<List<Integer>> reverted(PartitionRegistration partition) {
        if (!PartitionReassignmentReplicas.isReassignmentInProgress(partition)) return null;
        PartitionReassignmentRevert revert = new PartitionReassignmentRevert(partition);
        return List.of(revert.replicas(), revert.isr());
    }

    /** A list in a CompletedReassignment. */
    private static final class Part {
        private final Field field;

        Part(String name) {
            try {
                field = PartitionReassignmentReplicas.CompletedReassignment.class.getDeclaredField(name);
                field.setAccessible(true);
            } catch (NoSuchFieldException absent) {
                throw new IllegalStateException(absent);
            }
        }

        @SuppressWarnings("unchecked")
        List<Integer> of(PartitionReassignmentReplicas.CompletedReassignment completed) {
            try {
                return (List<Integer>) field.get(completed);
            } catch (IllegalAccessException hidden) {
                throw new IllegalStateException(hidden);
            }
        }
    }
}
