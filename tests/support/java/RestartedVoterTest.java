package org.apache.kafka.raft;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.message.VoteRequestData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.server.common.KRaftVersion;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** A voter that has lost an election, and followed its winner, follows again after a restart. */
public class RestartedVoterTest {
    private static final int EPOCH = 5;
    private static final Set<Integer> VOTERS = Set.of(0, 1, 2);
    private static final RaftClientTestContext.RaftProtocol PROTOCOL =
        RaftClientTestContext.RaftProtocol.KIP_996_PROTOCOL;

    @Test
    void testVoterThatFollowedInItsEpochFollowsAgain() throws Exception {
        RaftClientTestContext before = new RaftClientTestContext.Builder(0, VOTERS)
            .withRaftProtocol(PROTOCOL).withUnknownLeader(EPOCH - 1).build();
        before.unattachedToCandidate();
        before.client.poll();
        before.deliverRequest(before.beginEpochRequest(EPOCH, 2));
        before.pollUntilResponse();
        before.pollUntilRequest();
        RaftRequest.Outbound fetch = before.assertSentFetchRequest();
        before.deliverResponse(fetch.correlationId(), fetch.destination(),
            before.fetchResponse(EPOCH, 2, before.buildBatch(0L, EPOCH, List.of("a")), 0L, Errors.NONE));
        before.client.poll();

        RaftClientTestContext.Builder restart = new RaftClientTestContext.Builder(0, VOTERS)
            .withRaftProtocol(PROTOCOL).appendToLog(EPOCH, List.of("a"));
        store(restart).writeElectionState(store(before).readElectionState().get(), KRaftVersion.KRAFT_VERSION_0);
        RaftClientTestContext after = restart.build();
        after.pollUntilRequest();

        // 1 voted for 2, and does not know yet that 2 was elected.
        RaftClientTestContext other = new RaftClientTestContext.Builder(1, VOTERS)
            .withRaftProtocol(PROTOCOL).withVotedCandidate(EPOCH, ReplicaKey.of(2, ReplicaKey.NO_DIRECTORY_ID)).build();
        for (RaftRequest.Outbound vote : after.collectVoteRequests(EPOCH, EPOCH, 1)) {
            if (vote.destination().id() == 1) {
                other.deliverRequest(((VoteRequestData) vote.data()).setClusterId(other.clusterId));
                other.pollUntilResponse();
                after.deliverResponse(vote.correlationId(), vote.destination(),
                    other.drainSentResponses(ApiKeys.VOTE).get(0).data());
                after.client.poll();
            }
        }
        assertTrue(after.client.quorum().isFollower());
    }

    private static QuorumStateStore store(Object owner) throws Exception {
        Field field = owner.getClass().getDeclaredField("quorumStateStore");
        field.setAccessible(true);
        return (QuorumStateStore) field.get(owner);
    }
}
