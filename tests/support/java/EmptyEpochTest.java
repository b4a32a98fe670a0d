package org.elrcheck.broker;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** A leader that has written nothing in its epoch copies records of earlier ones when it follows. */
public class EmptyEpochTest {
    private static final List<Integer> BOTH = List.of(0, 1);

    @TempDir
    Path folder;

    @Test
    void testFormerLeaderCopiesRecordsOfEarlierEpochs() {
        Follower zero = new Follower(0, folder.toFile(), 1);
        Follower one = new Follower(1, folder.toFile(), 1);
        elected(1, 2, zero, one);
        one.replica.append(1);
        elected(0, 3, zero, one);
        elected(1, 4, zero, one);
        one.replica.append(1);
        zero.follow(one);
        assertEquals(List.of("0@2", "1@4"), one.batches());
        assertEquals(one.batches(), zero.batches());
    }

    private static void elected(int leader, int epoch, Follower... all) {
        for (Follower each : all) {
            each.replica.cluster(List.of(
                new Images.Registration(0, 100, "active"), new Images.Registration(1, 101, "active")));
            each.metadata(leader, epoch, epoch, BOTH, BOTH);
        }
    }
}
