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

    static final int RESIGNED = 16;

    /** What the caller is told. reply: the flags that are set, of the answer to a heartbeat or RESIGNED. */
    record Told(String error, int reply) {
        static final Told NOTHING = new Told(Errors.NONE.name(), 0);
    }

    private final Cluster cluster;
    private final Managers managers;
    private final Operations operations;

    Events(Cluster cluster) {
        this.cluster = cluster;
        this.managers = cluster.managers();
        this.operations = new Operations(cluster);
    }

    Told event(Words words) {
        String name = words.word();
        switch (name) {
            case "fence" -> fence(words.number());
            case "expire" -> expire(words.number());
            case "unfence" -> unfence(words.number());
            case "shutdown" -> shutDown(words.number());
            case "register" -> register(words.number(), words.word(), words.optionalNumber());
            case "unregister" -> {
                int broker = words.number();
                managers.run(() -> managers.replication.unregisterBroker(broker));
            }
            case "balance" -> managers.run(() -> managers.replication.maybeBalancePartitionLeaders());
            case "unclean" -> managers.run(() -> managers.replication.maybeElectUncleanLeaders());
            case "beat" -> {
                return new Told(Errors.NONE.name(), beat(words));
            }
            case "alter" -> {
                return new Told(alterPartition(words).name(), 0);
            }
            default -> {
                return new Told(operations.operation(name, words).name(), 0);
            }
        }
        return Told.NOTHING;
    }

    private interface Generates {
        void into(List<ApiMessageAndVersion> records);
    }

    private void run(Generates generated) {
        managers.run(() -> {
            List<ApiMessageAndVersion> records = new ArrayList<>();
            generated.into(records);
            return ControllerResult.of(records, null);
        });
    }

    /** The broker's registration, checked as for a heartbeat, which is how brokers ask for all of this. */
    private BrokerRegistration checked(int broker) {
        managers.cluster.checkBrokerEpoch(broker, cluster.known(broker).epoch());
        return cluster.registration(broker);
    }

    private void fence(int broker) {
        if (checked(broker).fenced()) return;
        run(records -> managers.replication.handleBrokerFenced(broker, records));
    }

    private void expire(int broker) {
        Sessions.end(managers, broker);
        managers.fenceStaleBrokers();
    }

    private void unfence(int broker) {
        if (!checked(broker).fenced()) return;
        long epoch = cluster.known(broker).epoch();
        Sessions.heard(managers, broker, epoch);
        run(records -> managers.replication.handleBrokerUnfenced(broker, epoch, records));
    }

    private void shutDown(int broker) {
        BrokerRegistration registered = checked(broker);
        if (registered.fenced() || registered.inControlledShutdown()) return;
        long epoch = cluster.known(broker).epoch();
        run(records -> managers.replication.handleBrokerInControlledShutdown(broker, epoch, records));
    }

    /** broker wantFence wantShutDown caughtUp offline */
    private int beat(Words words) {
        int broker = words.number();
        long epoch = cluster.known(broker).epoch();
        BrokerHeartbeatRequestData request = new BrokerHeartbeatRequestData()
            .setBrokerId(broker)
            .setBrokerEpoch(epoch)
            .setWantFence(words.flag())
            .setWantShutDown(words.flag())
            .setCurrentMetadataOffset(words.flag() ? managers.offset() : 0)
            .setOfflineLogDirs(Cluster.directories(broker, words.number()));
        BrokerHeartbeatReply reply = managers.beat(request);
        return (reply.isCaughtUp() ? 1 : 0) | (reply.isFenced() ? 2 : 0)
            | (reply.inControlledShutdown() ? 4 : 0) | (reply.shouldShutDown() ? 8 : 0);
    }

    private void register(int broker, String previous, Integer directories) {
        Cluster.Known before = cluster.known(broker);
        int bits = directories == null ? before.directories() : directories;
        if (cluster.registration(broker) != null) Sessions.end(managers, broker);
        long previousEpoch = switch (previous) {
            case "last" -> before.epoch();
            case "none" -> -1;
            case "other" -> before.epoch() - 1;
            default -> throw new Words.Misunderstood("no such previous epoch: " + previous);
        };
        Cluster.Known after = new Cluster.Known(cluster.highestEpoch() + 1, before.incarnation() + 1, bits);
        BrokerRegistrationRequestData request = Requests.registration(broker, after, previousEpoch);
        Object features = managers.features.finalizedFeatures(Long.MAX_VALUE);
        managers.run(() -> registered(ASKS_FOR_DETECTION
            ? REGISTER_WITH_DETECTION.call(managers.cluster, request, after.epoch(), features, true)
            : REGISTER.call(managers.cluster, request, after.epoch(), features)));
        cluster.remember(broker, after);
    }

    @SuppressWarnings("unchecked")
    private static ControllerResult<Object> registered(Object result) {
        return (ControllerResult<Object>) result;
    }

    /** sender senderEpoch leaderEpoch partitionEpoch recovering members; a member is its id, whether its epoch is
     *  given, and that epoch relative to its registration */
    private Errors alterPartition(Words words) {
        PartitionRegistration now = cluster.partition(cluster.number());
        int sender = words.number();
        long senderEpoch = cluster.known(sender).epoch() + words.number();
        AlterPartitionRequestData.PartitionData partition = new AlterPartitionRequestData.PartitionData()
            .setPartitionIndex(cluster.number())
            .setLeaderEpoch((now == null ? 0 : now.leaderEpoch) + words.number())
            .setPartitionEpoch((now == null ? 0 : now.partitionEpoch) + words.number())
            .setLeaderRecoveryState(words.flag()
                ? LeaderRecoveryState.RECOVERING.value() : LeaderRecoveryState.RECOVERED.value());
        List<AlterPartitionRequestData.BrokerState> isr = new ArrayList<>();
        int[] members = words.numbers();
        for (int i = 0; i < members.length; i += 3) {
            long epoch = members[i + 1] == 0 ? -1 : cluster.known(members[i]).epoch() + members[i + 2];
            isr.add(new AlterPartitionRequestData.BrokerState().setBrokerId(members[i]).setBrokerEpoch(epoch));
        }
        partition.setNewIsrWithEpochs(isr);
        return Requests.alterPartition(managers, cluster.topic(), sender, senderEpoch, partition);
    }
}
