package org.elrcheck.broker;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;

/** Metadata with nothing in it but registrations: "0:7:a,1:8:f" is broker 0 of epoch 7, active, and 1, fenced. */
final class Images {
    private Images() { }

    static MetadataImage of(String brokers) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        for (String broker : brokers.split(",")) {
            String[] parts = broker.split(":");
            RegisterBrokerRecord record = new RegisterBrokerRecord()
                .setBrokerId(Integer.parseInt(parts[0])).setBrokerEpoch(Long.parseLong(parts[1]))
                .setFenced(parts[2].equals("f")).setInControlledShutdown(parts[2].equals("s"))
                .setIncarnationId(new Uuid(5L, Long.parseLong(parts[1])));
            delta.replay(record);
        }
        return delta.apply(MetadataProvenance.EMPTY);
    }
}
