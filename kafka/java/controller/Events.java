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

    /** What the caller is told. reply: the flags that are set, of the answer to a heartbeat; or RESIGNED. */
    record Told(String error, List<String> reply) {
        static final Told NOTHING = of(Errors.NONE);

        static Told of(Errors error) {
            return new Told(error.name(), List.of());
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

    private Told run(Generates generated) {
        managers.run(() -> {
            List<ApiMessageAndVersion> records = new ArrayList<>();
            generated.into(records);
            return ControllerResult.of(records, null);
        });
        return Told.NOTHING;
    }

    /** The broker's registration, checked as for a heartbeat, which is how brokers ask for all of this. */
    private BrokerRegistration checked(int broker) {
        managers.cluster.checkBrokerEpoch(broker, cluster.known(broker).epoch());
        return cluster.registration(broker);
    }

    Told fence(int broker) {
        if (checked(broker).fenced()) return Told.NOTHING;
        return run(records -> managers.replication.handleBrokerFenced(broker, records));
    }

    Told expire(int broker) {
        Sessions.end(managers, broker);
        managers.fenceStaleBrokers();
        return Told.NOTHING;
    }

    Told unfence(int broker) {
        if (!checked(broker).fenced()) return Told.NOTHING;
        long epoch = cluster.known(broker).epoch();
        Sessions.heard(managers, broker, epoch);
        return run(records -> managers.replication.handleBrokerUnfenced(broker, epoch, records));
    }

    Told shutDown(int broker) {
        BrokerRegistration registered = checked(broker);
        if (registered.fenced() || registered.inControlledShutdown()) return Told.NOTHING;
        long epoch = cluster.known(broker).epoch();
        return run(records -> managers.replication.handleBrokerInControlledShutdown(broker, epoch, records));
    }

    Told unregister(int broker) {
        managers.run(() -> managers.replication.unregisterBroker(broker));
        return Told.NOTHING;
    }

    Told balance() {
        managers.run(() -> managers.replication.maybeBalancePartitionLeaders());
        return Told.NOTHING;
    }

    Told electUncleanly() {
        managers.run(() -> managers.replication.maybeElectUncleanLeaders());
        return Told.NOTHING;
    }

    Told beat(Step.Heartbeat beat) {
        int broker = beat.broker();
        BrokerHeartbeatRequestData request = new BrokerHeartbeatRequestData()
            .setBrokerId(broker)
            .setBrokerEpoch(cluster.known(broker).epoch())
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
        return new Told(Errors.NONE.name(), flags);
    }

    Told register(Step.Register asked) {
        int broker = asked.broker();
        Cluster.Known before = cluster.known(broker);
        List<Integer> directories = asked.directories() == null ? before.directories() : asked.directories();
        if (cluster.registration(broker) != null) Sessions.end(managers, broker);
        long previousEpoch = switch (asked.previous()) {
            case "last" -> before.epoch();
            case "none" -> -1;
            case "other" -> before.epoch() - 1;
            default -> throw new Wire.Misunderstood("no such previous epoch: " + asked.previous());
        };
        Cluster.Known after =
            new Cluster.Known(cluster.highestEpoch() + 1, before.incarnation() + 1, directories);
        BrokerRegistrationRequestData request = Requests.registration(broker, after, previousEpoch);
        Object features = managers.features.finalizedFeatures(Long.MAX_VALUE);
        managers.run(() -> registered(ASKS_FOR_DETECTION
            ? REGISTER_WITH_DETECTION.call(managers.cluster, request, after.epoch(), features, true)
            : REGISTER.call(managers.cluster, request, after.epoch(), features)));
        cluster.remember(broker, after);
        return Told.NOTHING;
    }

    @SuppressWarnings("unchecked")
    private static ControllerResult<Object> registered(Object result) {
        return (ControllerResult<Object>) result;
    }

    Told alterPartition(Step.AlterPartition asked) {
        PartitionRegistration now = cluster.partition(cluster.number());
        long senderEpoch = cluster.known(asked.sender()).epoch() + asked.senderEpoch();
        AlterPartitionRequestData.PartitionData partition = new AlterPartitionRequestData.PartitionData()
            .setPartitionIndex(cluster.number())
            .setLeaderEpoch((now == null ? 0 : now.leaderEpoch) + asked.leaderEpoch())
            .setPartitionEpoch((now == null ? 0 : now.partitionEpoch) + asked.partitionEpoch())
            .setLeaderRecoveryState(LeaderRecoveryState.valueOf(asked.recovery()).value());
        List<AlterPartitionRequestData.BrokerState> isr = new ArrayList<>();
        for (Step.Member member : asked.isr()) {
            int broker = member.broker();
            long epoch = member.epoch() == null ? -1 : cluster.known(broker).epoch() + member.epoch();
            isr.add(new AlterPartitionRequestData.BrokerState().setBrokerId(broker).setBrokerEpoch(epoch));
        }
        partition.setNewIsrWithEpochs(isr);
        return Told.of(Requests.alterPartition(managers, cluster.topic(), asked.sender(), senderEpoch, partition));
    }
}
