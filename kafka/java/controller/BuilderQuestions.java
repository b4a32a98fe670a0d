package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.placement.PartitionAssignment;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.ArrayList;
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

    /** partition acceptable minIsr elr election isr replicas adding removing unclean recovery version */
    void change(Words words, StringBuilder out) {
        PartitionRegistration partition =
            new PartitionRegistration(Registrations.read(words, TOPIC, PARTITION));
        int[] acceptable = words.numbers();
        int minIsr = words.number();
        boolean elr = words.flag();
        PartitionChangeBuilder.Election election = PartitionChangeBuilder.Election.valueOf(words.word());
        List<Integer> isr = words.optionalList();
        List<Integer> replicas = words.optionalList();
        List<Integer> adding = words.optionalList();
        List<Integer> removing = words.optionalList();
        List<Integer> unclean = words.optionalList();
        Boolean recovering = words.optionalFlag();
        MetadataVersion version = Versions.read(words, elr);
        words.end();
        int start = out.length();
        try {
            PartitionChangeBuilder builder = builder(partition, among(acceptable), version, minIsr, elr);
            builder.setElection(election).setDefaultDirProvider(broker -> Registrations.directory(broker, 0));
            if (isr != null) builder.setTargetIsr(isr);
            if (replicas != null) builder.setTargetReplicas(replicas);
            if (adding != null) builder.setTargetAdding(adding);
            if (removing != null) builder.setTargetRemoving(removing);
            if (unclean != null) builder.setUncleanShutdownReplicas(unclean);
            if (recovering != null) builder.setTargetLeaderRecoveryState(Versions.recovery(recovering));
            Optional<ApiMessageAndVersion> record = builder.build();
            if (record.isEmpty()) {
                out.append('-');
                return;
            }
            out.append("= ");
            Registrations.write(partition.merge(readBack(record.get())), out);
        } catch (Exception failure) {
            out.setLength(start);
            out.append("! ");
            Words.write(failure, out);
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

    private static IntPredicate among(int[] accepted) {
        return id -> {
            for (int one : accepted) if (one == id) return true;
            return false;
        };
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

    /** partition target completesWith */
    void reassignment(Words words, StringBuilder out) {
        PartitionRegistration partition =
            new PartitionRegistration(Registrations.read(words, TOPIC, PARTITION));
        List<Integer> target = words.optionalList();
        List<Integer> with = words.optionalList();
        words.end();
        int start = out.length();
        try {
            PartitionReassignmentReplicas replicas = target == null
                ? new PartitionReassignmentReplicas(list(partition.removingReplicas), list(partition.addingReplicas),
                    list(partition.replicas))
                : to(partition, target);
            out.append("= ");
            Words.write(replicas.replicas(), out);
            out.append(' ');
            Words.write(replicas.adding(), out);
            out.append(' ');
            Words.write(replicas.removing(), out);
            out.append(' ');
            completed(replicas, with == null ? list(partition.isr) : with, out);
            out.append(' ');
            reverted(partition, out);
        } catch (Exception failure) {
            out.setLength(start);
            out.append("! ");
            Words.write(failure, out);
        }
    }

    private static PartitionReassignmentReplicas to(PartitionRegistration partition, List<Integer> target) {
        return new PartitionReassignmentReplicas(assignment(list(partition.replicas)), assignment(target));
    }

    private static PartitionAssignment assignment(List<Integer> replicas) {
        return new PartitionAssignment(replicas, broker -> Registrations.directory(broker, 0));
    }

    private static void completed(PartitionReassignmentReplicas replicas, List<Integer> isr, StringBuilder out) {
        Optional<PartitionReassignmentReplicas.CompletedReassignment> done =
            replicas.maybeCompleteReassignment(isr);
        if (done.isEmpty()) {
            out.append("~ ~");
            return;
        }
        Words.write(COMPLETED_REPLICAS.of(done.get()), out);
        out.append(' ');
        Words.write(COMPLETED_ISR.of(done.get()), out);
    }

    private static void reverted(PartitionRegistration partition, StringBuilder out) {
        if (!PartitionReassignmentReplicas.isReassignmentInProgress(partition)) {
            out.append("~ ~");
            return;
        }
        PartitionReassignmentRevert revert = new PartitionReassignmentRevert(partition);
        Words.write(revert.replicas(), out);
        out.append(' ');
        Words.write(revert.isr(), out);
    }

    private static List<Integer> list(int[] ids) {
        List<Integer> list = new ArrayList<>(ids.length);
        for (int id : ids) list.add(id);
        return list;
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
