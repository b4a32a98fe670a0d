package org.apache.kafka.controller;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonSubTypes.Type;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

import java.util.List;

/** What a line asks: kafka/wire.py has the same types. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
    @Type(name = "Builder", value = Question.Builder.class),
    @Type(name = "Setup", value = Question.Loading.class),
    @Type(name = "Fence", value = Step.Fence.class),
    @Type(name = "Expire", value = Step.Expire.class),
    @Type(name = "Unfence", value = Step.Unfence.class),
    @Type(name = "ShutDown", value = Step.ShutDown.class),
    @Type(name = "Heartbeat", value = Step.Heartbeat.class),
    @Type(name = "Register", value = Step.Register.class),
    @Type(name = "Unregister", value = Step.Unregister.class),
    @Type(name = "AlterPartition", value = Step.AlterPartition.class),
    @Type(name = "Elect", value = Step.Elect.class),
    @Type(name = "Balance", value = Step.Balance.class),
    @Type(name = "ElectUncleanly", value = Step.ElectUncleanly.class),
    @Type(name = "Reassign", value = Step.Reassign.class),
    @Type(name = "Configure", value = Step.Configure.class),
    @Type(name = "SwitchElr", value = Step.SwitchElr.class),
    @Type(name = "AssignDirectory", value = Step.AssignDirectory.class),
    @Type(name = "CreateTopic", value = Step.CreateTopic.class),
    @Type(name = "CreatePartition", value = Step.CreatePartition.class),
    @Type(name = "DeleteTopic", value = Step.DeleteTopic.class),
    @Type(name = "AboutPartition", value = Step.AboutPartition.class),
    @Type(name = "Indexes", value = Question.Indexes.class),
    @Type(name = "Withhold", value = Question.Withhold.class),
    @Type(name = "FailOver", value = Question.FailOver.class),
})
interface Question {
    record Builder(Change question) implements Question { }

    /** One use of PartitionChangeBuilder; a target of null is one that is not set. */
    record Change(
        Partition partition, List<Integer> acceptable, int minIsr, boolean elr, String election,
        List<Integer> targetIsr, List<Integer> targetReplicas, List<Integer> targetAdding,
        List<Integer> targetRemoving, List<Integer> uncleanShutdown, String targetRecovery, String metadataVersion
    ) { }

    record Loading(Setup setup) implements Question { }

    /** What the controller's indexes hold now. */
    record Indexes() implements Question { }

    /** Not an event: what the controller writes is not committed. */
    record Withhold() implements Question { }

    /**
     * surviving: how many steps since then are committed; before: by this controller, which then loses leadership.
     * records: how many of the next step are committed besides, in batches that do not go beyond.
     */
    record FailOver(int surviving, boolean before, int records) implements Question { }

    /** A cluster with one topic; configuration that is null is not set at that level. */
    record Setup(
        List<Broker> brokers, Partition partition, boolean elr, Integer topicMinIsr, Integer clusterMinIsr,
        List<List<Integer>> brokerMinIsr, Boolean topicUnclean, Boolean clusterUnclean, Partition sibling,
        String metadataVersion
    ) { }

    /** A BrokerRegistration; directories: the numbers of those that are online. */
    record Broker(
        int id, long epoch, boolean registered, boolean fenced, boolean inControlledShutdown,
        List<Integer> directories
    ) { }
}
