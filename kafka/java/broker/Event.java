package org.elrcheck.broker;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonSubTypes.Type;
import java.util.List;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;

/** What happens to one broker: kafka/broker_steps.py has the same types, and says what each means. */
@JsonSubTypes({
    @Type(name = "Beginning", value = Event.Beginning.class),
    @Type(name = "Registered", value = Event.Registered.class),
    @Type(name = "Metadata", value = Event.Metadata.class),
    @Type(name = "Append", value = Event.Append.class),
    @Type(name = "FollowerFetch", value = Event.FollowerFetch.class),
    @Type(name = "LookForLag", value = Event.LookForLag.class),
    @Type(name = "Wait", value = Event.Wait.class),
    @Type(name = "Granted", value = Event.Granted.class),
    @Type(name = "Refused", value = Event.Refused.class),
})
interface Event extends Question {
    String OK = "ok";
    String NOTHING_IN_FLIGHT = "nothing-in-flight";

    /** "ok", or what was read; an ApiException is the error that a client would get. */
    String on(Replica replica);

    @Override
    default Object answer(Brokers brokers) {
        return brokers.replica.answer(outcome(brokers.replica));
    }

    private String outcome(Replica replica) {
        try {
            return on(replica);
        } catch (ApiException error) {
            return Errors.forException(error).name();
        }
    }

    record Beginning(int id, long epoch, int minIsr, long lag) implements Event {
        public String on(Replica replica) {
            replica.start(id, epoch, minIsr, lag);
            return OK;
        }
    }

    record Registered(List<Images.Registration> brokers) implements Event {
        public String on(Replica replica) {
            replica.cluster(brokers);
            return OK;
        }
    }

    record Metadata(int leader, int leaderEpoch, int partitionEpoch, List<Integer> replicas, List<Integer> isr)
        implements Event {
        public String on(Replica replica) {
            replica.metadata(leader, leaderEpoch, partitionEpoch, replicas, isr);
            return OK;
        }
    }

    record Append(int acks) implements Event {
        public String on(Replica replica) {
            replica.append(acks);
            return OK;
        }
    }

    record FollowerFetch(int follower, long brokerEpoch, long offset, int leaderEpoch, int lastEpoch)
        implements Event {
        public String on(Replica replica) {
            return replica.fetch(follower, brokerEpoch, offset, leaderEpoch, lastEpoch);
        }
    }

    record LookForLag() implements Event {
        public String on(Replica replica) {
            replica.shrink();
            return OK;
        }
    }

    record Wait(long milliseconds) implements Event {
        public String on(Replica replica) {
            replica.later(milliseconds);
            return OK;
        }
    }

    record Granted(int leaderEpoch, int partitionEpoch, List<Integer> isr) implements Event {
        public String on(Replica replica) {
            if (!replica.waits()) return NOTHING_IN_FLIGHT;
            replica.granted(leaderEpoch, partitionEpoch, isr);
            return OK;
        }
    }

    record Refused(String error) implements Event {
        public String on(Replica replica) {
            if (!replica.waits()) return NOTHING_IN_FLIGHT;
            replica.refused(error);
            return OK;
        }
    }
}
