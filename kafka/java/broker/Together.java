package org.elrcheck.broker;

import java.util.List;

/**
 * What happens to the partitions of one broker at once: kafka/broker_steps.py says what each part means. An event is
 * null for a partition to which nothing happens; registered and error may be null.
 */
record Together(List<Event> events, List<Images.Registration> registered, String error) implements Question {
    @Override
    public Object answer(Brokers brokers) {
        if (events.get(0) instanceof Event.Beginning first) brokers.start(first.id());
        return brokers.several().answer(this);
    }
}
