package org.apache.kafka.controller;

import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.BrokerHeartbeatRequestData;
import org.apache.kafka.common.message.BrokerRegistrationRequestData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.metadata.BrokerHeartbeatReply;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.ApiMessageAndVersion;

import java.util.ArrayList;
import java.util.List;

/** What brokers and timers do. Every event is one call of Kafka, whose records are then committed. */
final class Events {
    private static final AnyVersion REGISTER =
        AnyVersion.method(ClusterControlManager.class, "registerBroker", 3);
    /** Since 4.0: whether the request is new enough to carry the previous epoch. */
    private static final boolean ASKS_FOR_DETECTION = REGISTER.length() == 4;
    private static final AnyVersion REGISTER_WITH_DETECTION =
        ASKS_FOR_DETECTION ? AnyVersion.method(ClusterControlManager.class, "registerBroker", 4) : null;

    /** The answer to the caller. reply: the flags that are set in the answer to a heartbeat; or RESIGNED. */
    record Outcome(String error, List<String> reply) {
        static final Outcome NOTHING = of(Errors.NONE);

        static Outcome of(Errors error) {
            return new Outcome(error.name(), List.of());
        }
    }

    private final Cluster cluster;
    private final Managers managers;
    private final Operations operations;

    Events(Cluster cluster) {
        this.cluster = cluster;
        this.managers = cluster.managers();
        this.operations = new Operations(cluster);
    }

    Operations operations() {
        return operations;
    }

    private interface Generates {
        void into(List<ApiMessageAndVersion> records);
    }

    private Outcome run(Generates generated) {
        managers.run(() -> {
            List<ApiMessageAndVersion> records = new ArrayList<>();
            generated.into(records);
            return ControllerResult.of(records, null);
        });
        return Outcome.NOTHING;
    }

    /** The broker's registration, checked as for a heartbeat, which is how brokers ask for all of this. */
    private BrokerRegistration checked(int broker) {
        managers.cluster.checkBrokerEpoch(broker, cluster.lastRegistration(broker).epoch());
        return cluster.registration(broker);
    }

    Outcome about(Step.AboutPartition partition) {
        cluster.about(partition.topic(), partition.partition());
        return Outcome.NOTHING;
    }

    Outcome fence(int broker) {
        if (checked(broker).fenced()) return Outcome.NOTHING;
        return run(records -> managers.replication.handleBrokerFenced(broker, records));
    }

    Outcome expire(int broker) {
        Sessions.end(managers, broker);
        managers.fenceStaleBrokers();
        return Outcome.NOTHING;
    }

    Outcome unfence(int broker) {
        if (!checked(broker).fenced()) return Outcome.NOTHING;
        long epoch = cluster.lastRegistration(broker).epoch();
        Sessions.heard(managers, broker, epoch);
        return run(records -> managers.replication.handleBrokerUnfenced(broker, epoch, records));
    }

    Outcome shutDown(int broker) {
        BrokerRegistration registered = checked(broker);
        if (registered.fenced() || registered.inControlledShutdown()) return Outcome.NOTHING;
        long epoch = cluster.lastRegistration(broker).epoch();
        return run(records -> managers.replication.handleBrokerInControlledShutdown(broker, epoch, records));
    }

    Outcome unregister(int broker) {
        managers.run(() -> managers.replication.unregisterBroker(broker));
        return Outcome.NOTHING;
    }

    Outcome balance() {
        managers.run(() -> managers.replication.maybeBalancePartitionLeaders());
        return Outcome.NOTHING;
    }

    Outcome electUncleanly() {
        managers.run(() -> managers.replication.maybeElectUncleanLeaders());
        return Outcome.NOTHING;
    }

    Outcome beat(Step.Heartbeat beat) {
        int broker = beat.broker();
        BrokerHeartbeatRequestData request = new BrokerHeartbeatRequestData()
            .setBrokerId(broker)
            .setBrokerEpoch(cluster.lastRegistration(broker).epoch())
            .setWantFence(beat.wantFence())
            .setWantShutDown(beat.wantShutDown())
            .setCurrentMetadataOffset(beat.caughtUp() ? managers.offset() : 0)
            .setOfflineLogDirs(Directories.ids(broker, beat.offline()));
        BrokerHeartbeatReply reply = managers.beat(request);
        List<String> flags = new ArrayList<>();
        if (reply.isCaughtUp()) flags.add("CAUGHT_UP");
        if (reply.isFenced()) flags.add("FENCED");
        if (reply.inControlledShutdown()) flags.add("IN_CONTROLLED_SHUTDOWN");
        if (reply.shouldShutDown()) flags.add("SHUT_DOWN");
        return new Outcome(Errors.NONE.name(), flags);
    }

    Outcome register(Step.Register step) {
        int broker = step.broker();
        Cluster.LastRegistration before = cluster.lastRegistration(broker);
        List<Integer> directories = step.directories() == null ? before.directories() : step.directories();
        if (cluster.registration(broker) != null) Sessions.end(managers, broker);
        long previousEpoch = switch (step.previous()) {
            case "last" -> before.epoch();
            case "none" -> -1;
            case "other" -> before.epoch() - 1;
            default -> throw new Wire.Misunderstood("no such previous epoch: " + step.previous());
        };
        Cluster.LastRegistration after =
            new Cluster.LastRegistration(cluster.highestEpoch() + 1, before.incarnation() + 1, directories);
        BrokerRegistrationRequestData request = Requests.registration(broker, after, previousEpoch);
        Object features = managers.features.finalizedFeatures(Long.MAX_VALUE);
        managers.run(() -> registered(ASKS_FOR_DETECTION
            ? REGISTER_WITH_DETECTION.call(managers.cluster, request, after.epoch(), features, true)
            : REGISTER.call(managers.cluster, request, after.epoch(), features)));
        cluster.remember(broker, after);
        return Outcome.NOTHING;
    }

    @SuppressWarnings("unchecked")
    private static ControllerResult<Object> registered(Object result) {
        return (ControllerResult<Object>) result;
    }

    Outcome alterPartition(Step.AlterPartition step) {
        PartitionRegistration now = cluster.partition(cluster.number());
        long senderEpoch = cluster.lastRegistration(step.sender()).epoch() + step.senderEpoch();
        AlterPartitionRequestData.PartitionData partition = new AlterPartitionRequestData.PartitionData()
            .setPartitionIndex(cluster.number())
            .setLeaderEpoch((now == null ? 0 : now.leaderEpoch) + step.leaderEpoch())
            .setPartitionEpoch((now == null ? 0 : now.partitionEpoch) + step.partitionEpoch())
            .setLeaderRecoveryState(LeaderRecoveryState.valueOf(step.recovery()).value());
        List<AlterPartitionRequestData.BrokerState> isr = new ArrayList<>();
        for (Step.Member member : step.isr()) {
            int broker = member.broker();
            long epoch = member.epoch() == null ? -1 : cluster.lastRegistration(broker).epoch() + member.epoch();
            isr.add(new AlterPartitionRequestData.BrokerState().setBrokerId(broker).setBrokerEpoch(epoch));
        }
        partition.setNewIsrWithEpochs(isr);
        return Outcome.of(Requests.alterPartition(managers, cluster.topic(), step.sender(), senderEpoch, partition));
    }
}
