package org.apache.kafka.controller;

import org.apache.kafka.common.utils.Time;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A clock that stands still until it is moved.
 *
 * Time has different abstract methods in different versions, so none is marked as an override.
 */
final class Clock implements Time {
    private static final long START_MS = 1_000_000;
    private volatile long ms = START_MS;

    void restart() {
        ms = START_MS;
    }

    void pass(long milliseconds) {
        ms += milliseconds;
    }

    public long milliseconds() {
        return ms;
    }

    public long hiResClockMs() {
        return ms;
    }

    public long nanoseconds() {
        return TimeUnit.MILLISECONDS.toNanos(ms);
    }

    public void sleep(long milliseconds) {
        pass(milliseconds);
    }

    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException("nothing waits by this clock");
    }

    public <T> T waitForFuture(Future<T> future, long deadlineNs) {
        throw new UnsupportedOperationException("nothing waits by this clock");
    }
}
