package org.elrcheck.broker;

import java.nio.file.Path;
import java.util.List;
import org.apache.kafka.common.InvalidRecordException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * F-63: the answer to a fetch is sent after the leader has truncated its log and copied that of another one.
 *
 * Three partitions with logs in files; leader epochs 2 (broker 1), 3 (broker 0) and 4 (broker 1 again).
 */
public class LateAnswerTest {
    private static final boolean LATE = true;
    private static final List<Integer> ALL = List.of(0, 1, 2);

    @TempDir
    Path folder;

    @Test
    void testMembersOfIsrHaveWhatIsCommitted() {
        Follower zero = follower(0);
        Follower one = follower(1);
        Follower two = follower(2);
        for (Follower each : List.of(zero, one, two)) {
            each.replica.cluster("0:100:a,1:101:a,2:102:a");
            each.metadata(1, 2, 2, ALL, ALL);
        }
        // 1 leads and writes two records, which no follower fetches.
        one.replica.append(-1);
        one.replica.append(-1);
        // 0 is elected. It writes two records, and 2 copies the first of them.
        for (Follower each : List.of(zero, one, two)) each.metadata(0, 3, 3, ALL, ALL);
        zero.replica.append(-1);
        two.follow(zero);
        zero.replica.append(-1);
        // 2 fetches again, and 0 has an answer.
        Object answer = two.ask(zero);
        if (!LATE) taken(two, answer);
        // 0 is fenced, 1 is elected, and 0 follows it.
        for (Follower each : List.of(zero, one)) {
            each.replica.cluster("0:100:f,1:101:a,2:102:a");
            each.metadata(1, 4, 4, ALL, List.of(1, 2));
        }
        zero.follow(one);
        assertEquals(List.of("0@2", "1@2"), zero.batches());
        // The answer is sent. 2 has not heard of the new leader yet; then it does, and follows it.
        if (LATE) taken(two, answer);
        two.replica.cluster("0:100:f,1:101:a,2:102:a");
        two.metadata(1, 4, 4, ALL, List.of(1, 2));
        two.follow(one);
        two.follow(one);
        assertEquals(2, one.replica.highWatermark());
        assertEquals(one.batches(), two.batches(),
            "F-63, P-2 (CandidateCompleteness): every member of the ISR holds what is committed");
    }

    private Follower follower(int id) {
        return new Follower(id, folder.toFile(), 1);
    }

    /** ReplicaFetcherThread fetches again after records that are refused so. */
    private static void taken(Follower two, Object answer) {
        try {
            two.take(answer);
        } catch (InvalidRecordException refused) {
            // what a repaired append says
        }
    }
}
