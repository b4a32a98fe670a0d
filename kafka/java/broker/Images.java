package org.elrcheck.broker;

import java.util.List;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;

/** Metadata with nothing in it but registrations. */
final class Images {
    /** state: active, fenced or shutting down. */
    record Registration(int id, long epoch, String state) { }

    private Images() { }

    static MetadataImage of(List<Registration> brokers) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        for (Registration broker : brokers) delta.replay(record(broker));
        return delta.apply(MetadataProvenance.EMPTY);
    }

    static RegisterBrokerRecord record(Registration broker) {
        return new RegisterBrokerRecord()
            .setBrokerId(broker.id()).setBrokerEpoch(broker.epoch())
            .setFenced(broker.state().equals("fenced"))
            .setInControlledShutdown(broker.state().equals("shutting down"))
            .setIncarnationId(new Uuid(5L, broker.epoch()));
    }
}
