package org.apache.kafka.controller;

import org.apache.kafka.common.ElectionType;

import java.util.List;

/** One event: kafka/controller_steps.py says what each means. */
interface Step extends Question {
    Events.Outcome on(Events events);

    record Fence(int broker) implements Step {
        public Events.Outcome on(Events events) {
            return events.fence(broker);
        }
    }

    record Expire(int broker) implements Step {
        public Events.Outcome on(Events events) {
            return events.expire(broker);
        }
    }

    record Unfence(int broker) implements Step {
        public Events.Outcome on(Events events) {
            return events.unfence(broker);
        }
    }

    record ShutDown(int broker) implements Step {
        public Events.Outcome on(Events events) {
            return events.shutDown(broker);
        }
    }

    record Heartbeat(int broker, boolean wantFence, boolean wantShutDown, boolean caughtUp, List<Integer> offline)
        implements Step {
        public Events.Outcome on(Events events) {
            return events.beat(this);
        }
    }

    /** previous: last, none or other; directories: null for those of the last registration. */
    record Register(int broker, String previous, List<Integer> directories) implements Step {
        public Events.Outcome on(Events events) {
            return events.register(this);
        }
    }

    record Unregister(int broker) implements Step {
        public Events.Outcome on(Events events) {
            return events.unregister(broker);
        }
    }

    /** epoch: relative to the registration, null for -1. */
    record Member(int broker, Integer epoch) { }

    /** All epochs are relative to what is registered now. */
    record AlterPartition(
        int sender, List<Member> isr, int senderEpoch, int leaderEpoch, int partitionEpoch, String recovery
    ) implements Step {
        public Events.Outcome on(Events events) {
            return events.alterPartition(this);
        }
    }

    record Elect(ElectionType kind) implements Step {
        public Events.Outcome on(Events events) {
            return Events.Outcome.of(events.operations().elect(kind));
        }
    }

    record Balance() implements Step {
        public Events.Outcome on(Events events) {
            return events.balance();
        }
    }

    record ElectUncleanly() implements Step {
        public Events.Outcome on(Events events) {
            return events.electUncleanly();
        }
    }

    record Reassign(List<Integer> replicas, boolean mayChangeReplicationFactor) implements Step {
        public Events.Outcome on(Events events) {
            return Events.Outcome.of(events.operations().reassign(replicas, mayChangeReplicationFactor));
        }
    }

    record Configure(String level, String value, String key, Integer broker, boolean legacy) implements Step {
        public Events.Outcome on(Events events) {
            return Events.Outcome.of(events.operations().configure(this));
        }
    }

    record SwitchElr(boolean on) implements Step {
        public Events.Outcome on(Events events) {
            return Events.Outcome.of(events.operations().switchElr(on));
        }
    }

    record AssignDirectory(int broker, int directory) implements Step {
        public Events.Outcome on(Events events) {
            return Events.Outcome.of(events.operations().directory(broker, directory));
        }
    }

    record CreateTopic(List<Integer> replicas) implements Step {
        public Events.Outcome on(Events events) {
            return Events.Outcome.of(events.operations().create(replicas));
        }
    }

    /** The topic's next partition. */
    record CreatePartition(List<Integer> replicas) implements Step {
        public Events.Outcome on(Events events) {
            return Events.Outcome.of(events.operations().createPartition(replicas));
        }
    }

    record DeleteTopic() implements Step {
        public Events.Outcome on(Events events) {
            return Events.Outcome.of(events.operations().delete());
        }
    }

    /** No event: the steps that follow are about this partition. */
    record AboutPartition(String topic, int partition) implements Step {
        public Events.Outcome on(Events events) {
            return events.about(this);
        }
    }
}
