package org.apache.kafka.controller;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.function.IntPredicate;

/** Asks PartitionChangeBuilder about a single partition. */
final class BuilderQuestions {
    private static final Uuid TOPIC = new Uuid(7, 7);
    private static final int PARTITION = 0;

    /** Up to 4.2 a method says whether ELRs are enabled, since then a seventh argument of the constructor. */
    private static final AnyVersion SET_ELR =
        AnyVersion.method(PartitionChangeBuilder.class, "setEligibleLeaderReplicasEnabled", 1);
    private static final AnyVersion BUILDER =
        AnyVersion.constructor(PartitionChangeBuilder.class, SET_ELR == null ? 7 : 6);

    private final ObjectSerializationCache cache = new ObjectSerializationCache();

    /** partition: null if the builder made no record, or failed. */
    record BuilderAnswer(Partition partition, String failure) { }

    BuilderAnswer change(Question.Change question) {
        PartitionRegistration partition = new PartitionRegistration(question.partition().record(TOPIC, PARTITION));
        PartitionChangeBuilder.Election election = PartitionChangeBuilder.Election.valueOf(question.election());
        MetadataVersion version = Versions.named(question.metadataVersion(), question.elr());
        try {
            PartitionChangeBuilder builder =
                builder(partition, question.acceptable()::contains, version, question.minIsr(), question.elr());
            builder.setElection(election).setDefaultDirProvider(broker -> Directories.id(broker, 0));
            if (question.targetIsr() != null) builder.setTargetIsr(question.targetIsr());
            if (question.targetReplicas() != null) builder.setTargetReplicas(question.targetReplicas());
            if (question.targetAdding() != null) builder.setTargetAdding(question.targetAdding());
            if (question.targetRemoving() != null) builder.setTargetRemoving(question.targetRemoving());
            if (question.uncleanShutdown() != null) builder.setUncleanShutdownReplicas(question.uncleanShutdown());
            if (question.targetRecovery() != null)
                builder.setTargetLeaderRecoveryState(LeaderRecoveryState.valueOf(question.targetRecovery()));
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
}
