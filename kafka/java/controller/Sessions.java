package org.apache.kafka.controller;

import org.apache.kafka.metadata.BrokerRegistration;

import java.lang.reflect.Field;

/**
 * The sessions of brokers: renewed by a heartbeat, ended by time.
 *
 * Since 4.0 BrokerHeartbeatTracker knows when a broker was heard last; in 3.9 that is part of the broker's
 * heartbeat state, renewed by touch() with the metadata offset that it already has.
 */
final class Sessions {
    private static final AnyVersion TRACK =
        AnyVersion.method(ClusterControlManager.class, "trackBrokerHeartbeat", 2);
    private static final Field METADATA_OFFSET = TRACK == null ? metadataOffset() : null;

    private Sessions() { }

    static void renew(Managers managers, BrokerRegistration broker) {
        if (TRACK != null) {
            TRACK.call(managers.cluster, broker.id(), broker.epoch());
        } else if (!broker.fenced()) {
            BrokerHeartbeatManager heartbeats = managers.cluster.heartbeatManager();
            heartbeats.touch(broker.id(), false, offset(heartbeats, broker.id()));
        }
    }

    /** A heartbeat arrived, whatever comes of it. In 3.9 only what comes of it counts. */
    static void heard(Managers managers, int broker, long epoch) {
        if (TRACK != null) TRACK.call(managers.cluster, broker, epoch);
    }

    /**
     * So much time passes that the broker's session ends, while all others keep theirs. At no moment is the session of
     * another one over, since a controller's timer may look at any moment.
     */
    static void end(Managers managers, int broker) {
        renewOthers(managers, broker);
        managers.clock.pass(Managers.SESSION_MS / 2);
        renewOthers(managers, broker);
        managers.clock.pass(Managers.SESSION_MS / 2 + 1);
    }

    private static void renewOthers(Managers managers, int broker) {
        for (BrokerRegistration other : managers.cluster.brokerRegistrations().values())
            if (other.id() != broker) renew(managers, other);
    }

    private static Field metadataOffset() {
        try {
            Field field = BrokerHeartbeatManager.BrokerHeartbeatState.class.getDeclaredField("metadataOffset");
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException absent) {
            throw new IllegalStateException(absent);
        }
    }

    private static long offset(BrokerHeartbeatManager heartbeats, int broker) {
        try {
            for (BrokerHeartbeatManager.BrokerHeartbeatState state : heartbeats.brokers())
                if (state.id() == broker) return METADATA_OFFSET.getLong(state);
        } catch (IllegalAccessException hidden) {
            throw new IllegalStateException(hidden);
        }
        return -1;
    }
}
